"""Conditions that a decision on file settles: the brief, owners, security decisions, alternatives (R1, R5, R7, R9).

A decision is proven by being written down with its owner. What the decision *leads to* is a capability, and that
only measurements prove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from fourplane.base.findings import Level
from fourplane.base.text import plural, printable, shorten
from fourplane.base.verdicts import Verdict
from fourplane.review.desk import Desk
from fourplane.review.gaps import BRIEF_FIELDS, missing_fields, value_at
from fourplane.review.outcome import Part, Remedy
from fourplane.review.wording import is_named, is_set, listing
from fourplane.spec.brief import WhyCluster
from fourplane.spec.economics import Alternative, AlternativeKind
from fourplane.spec.security import Decision

__all__ = [
    "alternative", "brief_field", "decision", "files", "no_facts", "owner", "queues", "quotas", "retries",
    "same_denominator", "scheduler", "user_access", "why_cluster",
]  # fmt: skip

Parts = Callable[[Desk], list[Part]]


def no_facts(_desk: Desk) -> list[Part]:
    """Return nothing: for rows that only errors of the design fill."""
    return []


def files(desk: Desk) -> list[Part]:
    """Judge whether the declaration and the quotes could be read."""
    workspace = desk.case.workspace
    errors = [finding for finding in workspace.findings if finding.level is Level.ERROR]
    if errors:
        fix = "run 'fourplane check' and mend each error that it prints"
        return [
            Part(
                Verdict.FAILED,
                f"{plural(len(errors), 'error')} in the files, first {errors[0].code} at {printable(errors[0].place)}",
                tuple(finding.place for finding in errors),
                fix,
                Remedy.MEND_FILES,
            )
        ]
    read = [workspace.file, *(document.file for document in desk.case.quotes)]
    return [Part(Verdict.PASSED, f"{listing([printable(name) for name in read])} read without errors", tuple(read))]


def brief_field(condition: str) -> Parts:
    """Return the judge of one field of the brief: set as a whole, with every part that applies."""

    def parts(desk: Desk) -> list[Part]:
        brief = desk.declaration.brief
        missing = missing_fields(brief, condition)
        mine = [one.path for one in BRIEF_FIELDS if one.condition == condition]
        if missing:
            paths = [f"brief.{path}" for path in missing]
            return [desk.lacking(paths, f"brief.{mine[0]}", remedy=Remedy.FILL_BRIEF)]
        stated = [path for path in mine if is_set(value_at(brief, path))]
        said = [f"{_label(path)} {_shown(value_at(brief, path))}" for path in stated]
        return [desk.paper(listing(said, limit=8), *(f"brief.{path}" for path in stated))]

    return parts


_SPELT = {"gpu": "GPU", "gpus": "GPUs", "cpu": "CPU", "nvme": "NVMe", "nics": "NICs"}


def _label(path: str) -> str:
    """Return the last key of a path as people write it: ``target GPUs`` for ``target_gpus``."""
    return " ".join(_SPELT.get(word, word) for word in path.rsplit(".", 1)[-1].split("_"))


def _shown(value: object) -> str:
    """Return a value of the brief as its author wrote it, short enough for a table."""
    if isinstance(value, tuple):
        return listing([shorten(str(item), 30) for item in value])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else shorten(str(value), 40)


def why_cluster(desk: Desk) -> list[Part]:
    """Judge the reason for a cluster: one that only a cluster meets, not ``none`` (P0)."""
    reasons = desk.declaration.brief.why_cluster
    if WhyCluster.NONE in reasons:
        return [
            Part(
                Verdict.FAILED,
                "the brief says that model output alone would do"
                if len(reasons) == 1
                else "the brief names a reason and 'none' at once",
                desk.cite("brief.why_cluster"),
                "price the model API for the same work before any cluster, or state the need that only a cluster meets",
                Remedy.FILL_BRIEF,
            )
        ]
    return brief_field("R1.why_cluster")(desk)


# ── R5: scheduler and owners ────────────────────────────────────────────────────────────────────────────────────────


def scheduler(desk: Desk) -> list[Part]:
    """Judge the choice of scheduler: named with its version and the reason, and found on the nodes."""
    control = desk.declaration.control
    chosen = _chosen(desk)
    if not chosen:
        fix = "write control.slurm or control.kubernetes with a version, and control.reason"
        return [desk.open("no scheduler is chosen", fix, "control")]
    missing = [f"control.{name}.version" for name in chosen if not is_set(value_at(control, f"{name}.version"))]
    if not is_named(control.reason):
        missing.append("control.reason")
    parts = [_complete(desk, missing, f"{listing(chosen)} chosen with version and reason", "control")]
    parts.append(
        desk.judged(
            "control.scheduler",
            f"nobody looked whether {listing(chosen)} runs on the nodes",
            "run 'fourplane prove' on a node of the cluster",
        )
    )
    return parts


def queues(desk: Desk) -> list[Part]:
    """Judge the queues: an owner of queue policy, and at least one queue for each scheduler chosen."""
    declared = desk.declaration.control.queues
    chosen = _chosen(desk)
    missing = _owner_missing(desk, "queues")
    if not declared:
        missing.append("control.queues")
    elif len(chosen) > 1:
        served = {queue.scheduler for queue in declared}
        missing += [f"a queue of {name} in control.queues" for name in chosen if name not in served]
    return _owned(desk, missing, "queues", plural(len(declared), "queue"), "control.queues")


def quotas(desk: Desk) -> list[Part]:
    """Judge the quotas: an owner, and a quota for every team."""
    teams = desk.declaration.teams
    missing = _owner_missing(desk, "quotas")
    if not teams:
        missing.append("teams")
    missing += [f"teams[{i}].quotas" for i, team in enumerate(teams) if not team.quotas]
    return _owned(desk, missing, "quotas", f"quotas of {plural(len(teams), 'team')}", "teams")


def retries(desk: Desk) -> list[Part]:
    """Judge the retries: an owner, and count, causes and back-off for every queue."""
    declared = desk.declaration.control.queues
    missing = _owner_missing(desk, "retries")
    if not declared:
        missing.append("control.queues")
    for i, queue in enumerate(declared):
        if queue.retry is not None and queue.retry.count == 0:
            continue  # 'never retried' is a decision, and needs neither causes nor a pause
        missing += [
            f"control.queues[{i}].retry.{key}"
            for key in ("count", "causes", "backoff")
            if not is_set(value_at(queue, f"retry.{key}"))
        ]
    return _owned(desk, missing, "retries", f"retries of {plural(len(declared), 'queue')}", "control.queues")


def user_access(desk: Desk) -> list[Part]:
    """Judge user access: a named owner of who may use the scheduler."""
    return _owned(desk, _owner_missing(desk, "user_access"), "user_access", "user access", "control.owners.user_access")


def owner(desk: Desk, key: str) -> str:
    """Return the named owner of ``control.owners.KEY``; "" where nobody is named."""
    holder = value_at(desk.declaration.control, f"owners.{key}")
    return printable(holder) if isinstance(holder, str) and is_named(holder) else ""


def _chosen(desk: Desk) -> list[str]:
    control = desk.declaration.control
    return [name for name in ("slurm", "kubernetes") if getattr(control, name) is not None]


def _owner_missing(desk: Desk, key: str) -> list[str]:
    missing = [] if _chosen(desk) else ["control.slurm or control.kubernetes"]
    return missing if owner(desk, key) else [*missing, f"control.owners.{key}"]


def _owned(desk: Desk, missing: list[str], key: str, what: str, path: str) -> list[Part]:
    said = f"{owner(desk, key)} owns {what} on {listing(_chosen(desk))}"
    return [_complete(desk, missing, said, f"control.owners.{key}", path)]


def _complete(desk: Desk, missing: list[str], said: str, *paths: str) -> Part:
    """Return a passed part that says ``said``, or an open one that names what is missing."""
    if not missing:
        return desk.paper(said, *paths)
    return desk.lacking(missing, *paths)


# ── R7: security ────────────────────────────────────────────────────────────────────────────────────────────────────


_LABELS = {"ssh": "SSH", "audit_retention": "retention of audit logs", "data_cleanup": "data clean-up"}
"""Decisions whose key isn't how people call them."""


def decision(keys: Iterable[str], probe: str = "", probed_by: str = "") -> Parts:
    """Return the judge of security decisions: choice and owner on file, and probed where a probe can tell.

    Args:
        keys: fields of ``security``, all of which must be decided.
        probe: id of the judgement that shows the decision at work; "" where nothing can be probed.
        probed_by: what such a probe does, to be said while it hasn't run.
    """
    names = tuple(keys)

    def parts(desk: Desk) -> list[Part]:
        missing: list[str] = []
        said: list[str] = []
        for key in names:
            one: Decision | None = getattr(desk.declaration.security, key)
            if one is None or not is_named(one.choice):
                missing.append(f"security.{key}")
            elif not is_named(one.owner):
                missing.append(f"security.{key}.owner")
            else:
                said.append(f"{_LABELS.get(key, key.replace('_', ' '))} decided by {printable(one.owner or '')}")
        out = [_complete(desk, missing, listing(said, limit=6), *(f"security.{key}" for key in names))]
        if probe:
            nobody = f"nobody showed that {probed_by}"
            part = desk.judged(probe, nobody, f"show that {probed_by}", Remedy.PROBE_JOB)
            if part.verdict is Verdict.UNPROVEN and not missing:
                part = replace(part, reason=f"decided, not probed: {part.reason}")
            out.append(part)
        return out

    return parts


# ── R9: unit economics ──────────────────────────────────────────────────────────────────────────────────────────────

_FOUR_WAYS: dict[str, frozenset[AlternativeKind]] = {
    "cloud rental": frozenset(
        {
            AlternativeKind.RESERVED_CLUSTER,
            AlternativeKind.ON_DEMAND_CLOUD,
            AlternativeKind.MANAGED_GPU,
            AlternativeKind.SERVERLESS_GPU,
        }
    ),
    "colocation": frozenset({AlternativeKind.COLOCATION}),
    "on-premises": frozenset({AlternativeKind.ON_PREMISES}),
    "model API": frozenset({AlternativeKind.MODEL_API}),
}


def alternative(way: str) -> Parts:
    """Return the judge of one way to get the work done: priced for one accepted unit, with the figure's source."""
    kinds = _FOUR_WAYS[way]

    def parts(desk: Desk) -> list[Part]:
        mine = [(i, one) for i, one in enumerate(desk.declaration.alternatives) if one.kind in kinds]
        if not mine:
            names = " or ".join(sorted(str(kind) for kind in kinds))
            return [
                desk.open(
                    f"no price of {way} is on file",
                    f"write an alternative of kind {names} with unit_cost, units_per_month and source",
                    "alternatives",
                    remedy=Remedy.PRICE,
                )
            ]
        priced = [(i, one) for i, one in mine if not _unpriced(one)]
        if not priced:
            i, first = mine[0]
            missing = [f"alternatives[{i}].{key}" for key in _unpriced(first)]
            return [desk.lacking(missing, f"alternatives[{i}]", remedy=Remedy.PRICE)]
        currency = desk.declaration.prices.currency
        return [
            desk.paper(
                f"{one.kind} priced at {one.unit_cost} {currency} for one unit, from {printable(one.source or '')}",
                f"alternatives[{i}]",
            )
            for i, one in priced
        ]

    return parts


def same_denominator(desk: Desk) -> list[Part]:
    """Judge the comparison: all four ways priced for the same work, and the cluster's own yield measured.

    Prices come from quotes and lists. What one accepted unit costs on this cluster also depends on idle time,
    retries and throughput, which nobody can quote; until those are measured the comparison is unproven.
    """
    alternatives = desk.declaration.alternatives
    priced = [one for one in alternatives if not _unpriced(one)]
    absent = [way for way, kinds in _FOUR_WAYS.items() if not any(one.kind in kinds for one in priced)]
    parts = []
    denominator = desk.declaration.brief.denominator
    if denominator is None:
        fix = "write brief.denominator: what money is divided by"
        parts.append(desk.open("brief.denominator is not set", fix, "brief", remedy=Remedy.FILL_BRIEF))
    if absent:
        fix = f"price {listing(absent)} for the same work"
        parts.append(desk.open(f"{listing(absent)} not priced", fix, "alternatives", remedy=Remedy.PRICE))
    volumes = sorted({one.units_per_month for one in priced if one.units_per_month is not None})
    if len(volumes) > 1:
        parts.append(
            Part(
                Verdict.FAILED,
                f"the alternatives are priced for different amounts of work: {listing([f'{v:,}' for v in volumes])} "
                "units a month",
                desk.cite("alternatives"),
                "price every alternative for the same units_per_month",
                Remedy.PRICE,
            )
        )
    elif not parts:
        parts.append(desk.paper(f"four ways priced for {volumes[0]:,} units a month", "alternatives"))
    parts.append(
        desk.judged(
            "economics.unit_cost",
            "compared on paper only: accepted units for a GPU-hour on this cluster are not measured",
            "run the real workload on a rented slice and divide what it cost by the units that were accepted",
            Remedy.MEASURE_GPU,
        )
    )
    return parts


def _unpriced(one: Alternative) -> list[str]:
    return [key for key in ("unit_cost", "units_per_month", "source") if not is_set(getattr(one, key))]
