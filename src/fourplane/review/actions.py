"""Next actions: what is open, gathered by what settles it, the weightiest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fourplane.base.text import plural, printable
from fourplane.base.verdicts import Verdict
from fourplane.review.desk import Desk
from fourplane.review.model import Action, Gap
from fourplane.review.outcome import Outcome, Remedy
from fourplane.review.wording import listing

__all__ = ["next_actions"]

_FIRST = (Remedy.REPAIR_EVIDENCE, Remedy.MEND_FILES)
"""Nothing else is worth doing before these."""

_FAILED_WEIGHT = 3
"""A failure weighs as much as three gaps: it says no, a gap only doesn't say yes."""


def next_actions(open_outcomes: Mapping[str, Outcome], desk: Desk, gaps: Sequence[Gap]) -> list[Action]:
    """Return the actions that settle what is open.

    A condition that needs several things is listed under the one that comes last, since only that settles it.

    Args:
        open_outcomes: outcome by id of each condition that failed, is unproven or stale.
        desk: the case.
        gaps: missing fields of the brief.
    """
    groups: dict[Remedy, list[str]] = {}
    also: dict[Remedy, list[str]] = {}
    for key, outcome in open_outcomes.items():
        if not outcome.remedies:
            continue
        last = max(outcome.remedies)
        groups.setdefault(last, []).append(key)
        for remedy in outcome.remedies - {last}:
            also.setdefault(remedy, []).append(key)
    for remedy in also:
        groups.setdefault(remedy, [])

    def weight(remedy: Remedy) -> tuple[int, int, int]:
        settled = sum(_FAILED_WEIGHT if open_outcomes[key].verdict is Verdict.FAILED else 1 for key in groups[remedy])
        return (0 if remedy in _FIRST else 1, -settled, int(remedy))

    return [
        Action(_text(remedy, groups[remedy], also.get(remedy, []), open_outcomes, desk, gaps), tuple(groups[remedy]))
        for remedy in sorted(groups, key=weight)
    ]


def _text(
    remedy: Remedy,
    mine: list[str],
    also: list[str],
    outcomes: Mapping[str, Outcome],
    desk: Desk,
    gaps: Sequence[Gap],
) -> str:
    file = printable(desk.case.workspace.file)
    fixes = _fixes(remedy, mine or also, outcomes)
    text = {
        Remedy.REPAIR_EVIDENCE: "Run 'fourplane evidence verify', then restore the evidence folder from a copy or move "
        "it away and run 'fourplane prove' again.",
        Remedy.MEND_FILES: "Run 'fourplane check' and mend every error that it prints.",
        Remedy.FILL_BRIEF: _brief(file, gaps, fixes),
        Remedy.DECIDE: f"Decide and write down in {file} what {plural(len(mine) + len(also), 'condition')} "
        f"{'needs' if len(mine) + len(also) == 1 else 'need'}; 'fourplane review' names each line.",
        Remedy.MEND_DESIGN: f"Mend the design in {file}: {fixes}.",
        Remedy.PRICE: f"Price every alternative for the same units_per_month in {file}: {fixes}.",
        Remedy.MEASURE: _measure(desk, fixes),
        Remedy.MEASURE_AGAIN: "Run 'fourplane prove' again: the evidence is too old, was made before a change, or is "
        "dated in the future.",
        Remedy.MEASURE_GPU: _on_target(desk),
        Remedy.PROBE_JOB: "Run one short job with team and workload labels on the cluster and find it again in every "
        "signal, log and policy denial.",
        Remedy.MEND_CLUSTER: f"Have what failed put right, then run 'fourplane prove' again: {fixes}.",
    }[remedy]
    return text + (f" Needed first for {listing(also, limit=3)}." if also and mine and remedy is Remedy.DECIDE else "")


def _brief(file: str, gaps: Sequence[Gap], fixes: str) -> str:
    if not gaps:
        return f"Settle the brief in {file}: {fixes}."
    owners = list(dict.fromkeys(gap.owner for gap in gaps))
    return f"Fill {plural(len(gaps), 'field')} of the brief in {file}: ask {listing(owners, limit=3)}."


def _measure(desk: Desk, fixes: str) -> str:
    if not len(desk.case.observations):
        return "Run 'fourplane prove' on a node that the jobs will run on, with --scratch on the storage they will use."
    return f"Measure what is still open: {fixes}."


def _on_target(desk: Desk) -> str:
    gpus = [printable(name) for name in desk.declaration.brief.target_gpus]
    what = " or ".join(gpus[:3]) if gpus else "the target GPU"
    nodes = desk.node_count
    slice_ = "two nodes" if nodes is None or nodes > 1 or not desk.target_pools else "one node"
    return (
        f"Rent a small slice ({slice_} with {what}) and run 'fourplane prove' on it, also inside the production image, "
        "before any long contract."
    )


def _fixes(remedy: Remedy, keys: Iterable[str], outcomes: Mapping[str, Outcome]) -> str:
    fixes = list(dict.fromkeys(fix for key in keys for fix in outcomes[key].needs[remedy]))
    shown = "; ".join(fix.rstrip(". ") for fix in fixes[:3])
    return f"{shown}; and {len(fixes) - 3:,} more" if len(fixes) > 3 else shown
