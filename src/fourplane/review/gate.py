"""The gate: rows, judgements and findings become nine areas with one verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fourplane.base.codes import Code
from fourplane.base.findings import Finding, Level, sorted_findings
from fourplane.base.text import plural, printable
from fourplane.base.verdicts import Verdict
from fourplane.planes.model import Case, FactRow, Judgement
from fourplane.review.actions import next_actions
from fourplane.review.codes import CLOCK, DAMAGED
from fourplane.review.desk import Desk
from fourplane.review.gaps import find_gaps
from fourplane.review.model import Area, Condition, Review
from fourplane.review.outcome import Outcome, Part, Remedy, join
from fourplane.review.table import AREAS, ConditionSpec, all_conditions
from fourplane.review.waivers import check_waivers, waive
from fourplane.review.wording import listing

__all__ = ["review", "review_case"]

_OPEN = (Verdict.FAILED, Verdict.UNPROVEN, Verdict.STALE)


def review_case(case: Case) -> Review:
    """Compare, judge and check the case, then review it."""
    from fourplane.planes.judge import judge
    from fourplane.planes.rules import check_all
    from fourplane.planes.threeway import compare

    return review(case, compare(case), judge(case), check_all(case.workspace, case.catalog, case.now.date()))


def review(case: Case, rows: Sequence[FactRow], judgements: Sequence[Judgement], findings: Sequence[Finding]) -> Review:
    """Return the review of a case; pure: the same arguments always give the same review.

    Args:
        case: the cluster declared, promised and found.
        rows: facts three times, from ``planes.threeway``.
        judgements: what measurements say, from ``planes.judge``.
        findings: of the design, from ``planes.rules``; an error fails the condition that it speaks to.
    """
    desk = Desk(case, rows, judgements, findings)
    outcomes: dict[str, Outcome] = {}
    areas = []
    for area in AREAS:
        conditions = []
        for spec in area.conditions:
            key = f"{area.id}.{spec.name}"
            outcome = join(_parts(desk, key, spec))
            if spec.only_failed and outcome.verdict is not Verdict.FAILED:
                continue
            condition = Condition(key, spec.title, outcome.verdict, outcome.reason, outcome.evidence, outcome.fix)
            if _can_be_waived(desk, spec, outcome):
                condition = waive(condition, case.declaration.waivers, desk.today)
            if condition.verdict in _OPEN:
                outcomes[key] = outcome
            conditions.append(condition)
        areas.append(Area(area.id, area.title, tuple(conditions)))
    # a gap under a waiver is accepted by its owner, so it no longer stands in the way
    gaps = [gap for key, gap in find_gaps(case.declaration.brief) if key in outcomes]
    return Review(
        name=case.declaration.name,
        at=case.now,
        areas=tuple(areas),
        gaps=tuple(gaps),
        actions=tuple(next_actions(outcomes, desk, gaps)),
        findings=tuple(sorted_findings(dict.fromkeys([*case.workspace.findings, *findings, *_own_findings(desk)]))),
    )


def _parts(desk: Desk, key: str, spec: ConditionSpec) -> list[Part]:
    parts = spec.parts(desk)
    if not spec.facts:
        parts = parts + desk.contradictions(key)
    if spec.gpu and not desk.gpus_seen:
        # first, since it is the reason that a reader looks for; what failed still fails
        parts = [_no_gpu(desk), *parts]
    if desk.case.damage:
        parts = _without_evidence(desk, parts)
    return parts + desk.design_errors(key)


def _without_evidence(desk: Desk, parts: Iterable[Part]) -> list[Part]:
    """Replace everything that rests on the damaged store; one sentence, however many parts there were."""
    first = desk.case.damage[0]
    reason = f"the evidence is damaged, so nothing in it counts ({first.code}: {printable(first.message).rstrip('. ')})"
    places = tuple(finding.place for finding in desk.case.damage if finding.place)[:5]
    fix = "run 'fourplane evidence verify'"
    damaged = Part(Verdict.UNPROVEN, reason, places, fix, Remedy.REPAIR_EVIDENCE, measured=True)
    return [damaged if part.measured else part for part in parts]


def _no_gpu(desk: Desk) -> Part:
    looked = desk.case.observations.every("compute.gpu.count")
    if desk.gpus_elsewhere:
        where = listing([printable(node) for node in desk.gpus_elsewhere])
        reason = f"GPUs were found only on {where}, which is no target hardware"
    elif looked:
        reason = (
            f"no GPU was found on {plural(len(looked), 'node')} that {'was' if len(looked) == 1 else 'were'} looked at"
        )
    else:
        reason = "nobody has looked for GPUs yet"
    fix = "rent a small slice of the target hardware and run 'fourplane prove' on it"
    return Part(
        Verdict.UNPROVEN, reason, tuple(one.reference for one in looked), fix, Remedy.MEASURE_GPU, measured=True
    )


def _can_be_waived(desk: Desk, spec: ConditionSpec, outcome: Outcome) -> bool:
    """Tell whether an owner may accept the risk: of a gap that is known, never of a record that may be forged."""
    return spec.waivable and Remedy.REPAIR_EVIDENCE not in outcome.remedies


def _own_findings(desk: Desk) -> list[Finding]:
    case = desk.case
    ids = {key for key, _ in all_conditions()}
    fixed = {key for key, spec in all_conditions() if not spec.waivable}

    def cite(path: str) -> tuple[str, int, int]:
        line, column = case.workspace.positions.place(path)
        return case.workspace.file, line, column

    out = check_waivers(case.declaration.waivers, ids, fixed, cite)
    if case.damage:
        out += case.damage
        out.append(_finding(DAMAGED, Level.ERROR, f"{plural(len(case.damage), 'fault')} in the evidence store"))
    ahead = desk.calendar.in_future(case.observations)
    if ahead:
        newest = max(ahead, key=lambda one: one.at)
        message = f"{plural(len(ahead), 'observation')} dated later than now, the newest {newest.at:%Y-%m-%d %H:%M} UTC"
        found = replace(
            _finding(CLOCK, Level.WARNING, message),
            path=newest.subject,
            evidence=tuple(one.reference for one in ahead[:20]),
        )
        out.append(found)
    return out


def _finding(code: Code, level: Level, message: str) -> Finding:
    return Finding(code.code, level, message, fix=code.fix, link=code.link)
