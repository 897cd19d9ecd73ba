"""Facts of the cluster as a whole: fabric, planned throughput, scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.planes.comparators import Comparator, at_least, exact, shown, version_prefix
from fourplane.planes.found import Found, name_list
from fourplane.planes.model import FactRow, Plane
from fourplane.planes.promises import Promise, root_promises
from fourplane.planes.reading import walk
from fourplane.records.observation import Observation, State

__all__ = ["cluster_rows"]


@dataclass(frozen=True)
class ClusterFact:
    """One fact of the cluster; ``metric`` is "" where no probe can see it, and ``prove`` says what would."""

    plane: Plane
    name: str
    path: str
    promised: str
    metric: str
    compare: Comparator
    prove: str
    scale: float = 1


_PROVE = "run 'fourplane prove' on the nodes"
_ACROSS = "run 'fourplane prove' across the nodes: an all-reduce at its expected rate shows it"

CLUSTER_FACTS = (
    ClusterFact(
        Plane.NETWORK, "fabric.kind", "network.fabric.kind", "fabric.kind", "network.fabric.kind", exact, _PROVE,
    ),
    ClusterFact(Plane.NETWORK, "fabric.rails", "network.fabric.rails", "fabric.rails", "", exact, _ACROSS),
    ClusterFact(
        Plane.NETWORK, "fabric.oversubscription", "network.fabric.oversubscription", "fabric.oversubscription", "",
        lambda want, have, _: (have <= want, ""), _ACROSS,
    ),
    ClusterFact(Plane.NETWORK, "fabric.placement", "network.fabric.placement", "fabric.placement", "", exact, _ACROSS),
    ClusterFact(
        Plane.NETWORK, "fabric.gpudirect_rdma", "network.fabric.gpudirect_rdma", "fabric.gpudirect_rdma", "", exact,
        "run nccl-tests across two nodes and read the path that NCCL reports",
    ),
    ClusterFact(
        Plane.NETWORK, "fabric.sharp", "network.fabric.sharp", "fabric.sharp", "", exact,
        "run all_reduce across nodes with SHARP on and off",
    ),
    ClusterFact(
        Plane.STORAGE, "staging.throughput", "storage.staging.throughput", "storage.staging.throughput",
        "storage.staging.throughput", at_least, _PROVE, 1e6,
    ),
    ClusterFact(
        Plane.STORAGE, "checkpoints.write_throughput", "storage.checkpoints.write_throughput",
        "storage.checkpoints.write_throughput", "storage.checkpoint.write_throughput", at_least, _PROVE, 1e6,
    ),
    ClusterFact(
        Plane.CONTROL, "slurm.version", "control.slurm.version", "", "control.slurm.version", version_prefix, _PROVE,
    ),
    ClusterFact(
        Plane.CONTROL, "kubernetes.version", "control.kubernetes.version", "", "control.kubernetes.version",
        version_prefix, _PROVE,
    ),
)  # fmt: skip
"""Facts outside pools, in the order of the table."""


def cluster_rows(found: Found) -> Iterator[FactRow]:
    """Yield a row for each fact of the cluster that somebody declared or promised."""
    for fact in CLUSTER_FACTS:
        declared = walk(found.case.declaration, fact.path)
        quoted = root_promises(found.case, fact.promised) if fact.promised else []
        given = [p for p in quoted if p.value is not None]
        if declared is not None or given:
            yield _row(found, fact, declared, quoted, given)


def _row(found: Found, fact: ClusterFact, declared: Any, quoted: list[Promise], given: list[Promise]) -> FactRow:
    seen = found.every(fact.metric) if fact.metric else []
    if fact.plane in (Plane.NETWORK, Plane.CONTROL) and str(declared) != "none":
        seen = [one for one in seen if not _on_stand_in(found, one)]
    measured = [one for one in seen if one.state is State.MEASURED and one.value is not None]
    verdict, reason = _decide(found, fact, declared, quoted, seen, measured)
    texts = list(dict.fromkeys(shown(one.value, one.unit) for one in measured))
    places = [found.case.workspace.cite(fact.path)] if declared is not None else []
    several = len(quoted) > 1
    return FactRow(
        plane=fact.plane,
        subject="cluster",
        fact=fact.name,
        declared=printable(_text(fact, declared)),
        promised=printable(", ".join((f"{p.provider}: " if several else "") + _text(fact, p.value) for p in given)),
        found=printable(name_list(texts, 3)),
        verdict=verdict,
        reason=printable(reason),
        evidence=(*places, *(p.place for p in given), *(one.reference for one in seen[:20])),
    )


def _on_stand_in(found: Found, one: Observation) -> bool:
    """Tell whether a word on fabric or scheduler comes from a machine that only stands in for the cluster."""
    pool = found.pool_of(one.subject.removeprefix("node:").split("/", 1)[0])
    return pool is not None and pool.view.is_stand_in


def _text(fact: ClusterFact, value: Any) -> str:
    return f"{value:g}:1" if fact.name == "fabric.oversubscription" and value is not None else shown(value)


def _decide(
    found: Found, fact: ClusterFact, declared: Any, quoted: list[Promise], seen: list[Observation],
    measured: list[Observation],
) -> tuple[Verdict, str]:  # fmt: skip
    catalog = found.case.catalog
    given = [p for p in quoted if p.value is not None]
    for promise in given:
        if declared is not None and fact.compare(declared, promise.value, catalog)[0] is False:
            said = f"{promise.provider} promises {_text(fact, promise.value)}, {_text(fact, declared)} is declared"
            return Verdict.FAILED, f"quote contradicts the declaration: {said}"
    wanted = [("declared", declared)] if declared is not None else []
    wanted += [(f"promised by {p.provider}", p.value) for p in given]
    if fact.name == "fabric.kind" and all(str(want) == "none" for _, want in wanted):
        many = sum(pool.declared_nodes for pool in found.pools)
        if many > 1:
            return Verdict.FAILED, f"{many:,} nodes are declared, and no fabric between them"
        if measured:
            return Verdict.PASSED, "declared as one node without a fabric; nothing has to leave it"
        return Verdict.UNPROVEN, f"nobody looked at the node's network; {fact.prove}"
    for who, want in wanted:
        odd = [one for one in measured if fact.compare(want, _have(found, fact, one.value), catalog)[0] is False]
        if odd:
            where = name_list([one.subject.removeprefix("node:") for one in odd])
            return Verdict.FAILED, f"{where}: found {shown(odd[0].value, odd[0].unit)}; {_text(fact, want)} is {who}"
    if not measured:
        why = next((one.reason for one in seen if one.reason), "") or "a statement so far"
        return Verdict.UNPROVEN, f"{why}; {fact.prove}"
    unanswered = [p.provider for p in quoted if p.value is None and p.expected]
    if unanswered and declared is not None:
        return Verdict.UNPROVEN, f"found as declared; the quote of {', '.join(unanswered)} leaves the line unanswered"
    nodes = {one.subject.removeprefix("node:").split("/", 1)[0] for one in measured}
    silent = [node for node in found.case.observations.nodes() if node not in nodes]
    if silent and fact.plane is not Plane.STORAGE and fact.plane is not Plane.CONTROL:
        return Verdict.UNPROVEN, f"{name_list(silent)} did not say; {fact.prove}"
    standing = any(_on_stand_in(found, one) for one in measured)
    note = ", a stand-in: it holds for that machine only" if standing else ""
    return Verdict.PASSED, f"found as {' and '.join(who for who, _ in wanted)} on {name_list(sorted(nodes))}{note}"


def _have(found: Found, fact: ClusterFact, value: Any) -> Any:
    """Return a measured value as it is compared: rates in B/s, raised by the declared tolerance."""
    if fact.scale == 1 or not isinstance(value, int | float):
        return value
    tolerance = found.case.declaration.targets.tolerance
    return value * fact.scale / (1 - tolerance.base) if tolerance and tolerance.base < 1 else value * fact.scale
