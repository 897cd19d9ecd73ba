"""The desk: everything that conditions are judged on, looked up in constant time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from fourplane.base.findings import Finding, Level
from fourplane.base.hostlists import expand
from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.planes.found import Found
from fourplane.planes.model import Case, FactRow, Judgement
from fourplane.records.observation import Observation
from fourplane.review.outcome import Part, Remedy
from fourplane.review.routing import condition_of_fact, condition_of_finding
from fourplane.review.staleness import DEFAULT_MAX_AGE, Calendar
from fourplane.review.wording import fill, lacks, listing
from fourplane.spec.compute import Pool, PoolRole
from fourplane.spec.declaration import Declaration
from fourplane.spec.network import FabricKind

__all__ = ["Desk"]

_REMEDY = {
    Verdict.FAILED: Remedy.MEND_CLUSTER,
    Verdict.UNPROVEN: Remedy.MEASURE,
    Verdict.STALE: Remedy.MEASURE_AGAIN,
    Verdict.WAIVED: None,
    Verdict.PASSED: None,
}


_NO_TARGET = (PoolRole.LOGIN, PoolRole.CPU, PoolRole.STAND_IN)
"""Roles of pools whose GPUs, if any, aren't the ones to be bought or rented."""


class Desk:
    """A case with its rows, judgements and findings, sorted by the condition that they speak to.

    Attributes:
        calendar: weighs evidence by its time.
        gpus_seen: a GPU was found on a node of a pool of target hardware.
        gpus_elsewhere: other nodes on which one was found: stand-ins, and nodes that no pool names.
    """

    def __init__(
        self,
        case: Case,
        rows: Sequence[FactRow],
        judgements: Sequence[Judgement],
        findings: Sequence[Finding],
    ) -> None:
        self.case = case
        limit = case.declaration.targets.evidence_max_age
        max_age = timedelta(seconds=limit.base) if limit is not None else DEFAULT_MAX_AGE
        self.calendar = Calendar(case.observations, case.now, max_age)
        self._judgements = {one.id: one for one in judgements}
        self._rows: dict[str, list[FactRow]] = defaultdict(list)
        for row in rows:
            self._rows[condition_of_fact(row)].append(row)
        self._errors: dict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            if finding.level is Level.ERROR:
                self._errors[condition_of_finding(finding)].append(finding)
        self._by_reference: dict[str, Observation] = {}
        for one in case.observations:  # in order of time, so that the newest of one reference stays
            self._by_reference[one.reference] = one
        found = Found(case)
        self._target_nodes = {
            node for pool in found.pools if pool.view.pool.role not in _NO_TARGET for node in pool.nodes
        }
        with_gpus = [node for node in case.observations.nodes() if found.has_gpu(node)]
        self.gpus_seen = any(node in self._target_nodes for node in with_gpus)
        self.gpus_elsewhere = [node for node in with_gpus if node not in self._target_nodes]

    @property
    def declaration(self) -> Declaration:
        """Return the declared cluster."""
        return self.case.declaration

    @property
    def today(self) -> date:
        """Return the day of the review, UTC."""
        return self.case.now.date()

    @property
    def target_pools(self) -> list[tuple[int, Pool]]:
        """Return (position, pool) of the pools whose GPUs are to be bought or rented."""
        return [(i, pool) for i, pool in enumerate(self.declaration.pools) if pool.role not in _NO_TARGET]

    @property
    def node_pools(self) -> list[tuple[int, Pool]]:
        """Return (position, pool) of every pool that runs jobs."""
        return [(i, pool) for i, pool in enumerate(self.declaration.pools) if pool.role is not PoolRole.LOGIN]

    @property
    def node_count(self) -> int | None:
        """Return how many nodes run jobs as declared; None while a pool leaves it open or there is no pool."""
        counts = [_count(pool) for _, pool in self.node_pools]
        known = [count for count in counts if count is not None]
        return sum(known) if counts and len(known) == len(counts) else None

    @property
    def single_node(self) -> bool:
        """Tell whether the cluster is declared as one node without a fabric, and not as a stand-in for another."""
        fabric = self.declaration.network.fabric
        alone = fabric is not None and fabric.kind is FabricKind.NONE and self.node_count == 1
        return alone and all(pool.role is not PoolRole.STAND_IN for _, pool in self.node_pools)

    def cite(self, *paths: str) -> tuple[str, ...]:
        """Return ``file:line:column`` of each path of the declaration."""
        return tuple(self.case.workspace.cite(path) for path in paths)

    def observations(self, references: Iterable[str]) -> list[Observation]:
        """Return the observations among the references; places in files are left out."""
        return [found for ref in references if (found := self._by_reference.get(ref)) is not None]

    def paper(self, reason: str, *paths: str) -> Part:
        """Return a part that a decision on file settles."""
        return Part(Verdict.PASSED, reason, self.cite(*paths))

    def open(self, reason: str, fix: str, *paths: str, remedy: Remedy = Remedy.DECIDE) -> Part:
        """Return a part that nobody decided or showed yet."""
        return Part(Verdict.UNPROVEN, reason, self.cite(*paths), fix, remedy)

    def lacking(self, missing: Sequence[str], *paths: str, remedy: Remedy = Remedy.DECIDE) -> Part:
        """Return a part that is open since fields of the declaration have no value."""
        return self.open(lacks(missing), fill(missing, printable(self.case.workspace.file)), *paths, remedy=remedy)

    def judged(self, key: str, otherwise: str, fix: str, remedy: Remedy = Remedy.MEASURE) -> Part:
        """Return what measurements say on a capability.

        Args:
            key: id of the judgement.
            otherwise: reason when nobody judged it.
            fix: what would prove it then.
            remedy: kind of that fix.
        """
        one = self._judgements.get(key)
        if one is None:
            return Part(Verdict.UNPROVEN, otherwise, (), fix, remedy, measured=True)
        open_remedy = remedy if one.verdict is Verdict.UNPROVEN else _REMEDY[one.verdict]
        part = Part(one.verdict, one.reason or one.title, one.evidence, one.fix or fix, open_remedy, measured=True)
        cited = self.observations(one.evidence)
        return self._on_target(self.calendar.weigh(part, cited, one.measured_at), cited)

    def rows(self, condition: str) -> list[FactRow]:
        """Return the rows of a condition in which somebody declared or promised something."""
        return [row for row in self._rows[condition] if row.declared or row.promised]

    def facts(self, condition: str) -> list[Part]:
        """Return what the declared and promised facts of a condition come to."""
        return self.weigh_rows(self.rows(condition))

    def contradictions(self, condition: str) -> list[Part]:
        """Return the facts of a condition that failed; for conditions that facts alone never prove."""
        return self.weigh_rows(row for row in self._rows[condition] if row.verdict is Verdict.FAILED)

    def weigh_rows(self, rows: Iterable[FactRow]) -> list[Part]:
        """Return one part for all facts of one subject of which the same is to be said."""
        alike: dict[tuple[str, Part], list[FactRow]] = defaultdict(list)
        for row in rows:
            alike[row.subject, replace(self._fact(row), evidence=())].append(row)
        out = []
        for (subject, part), group in alike.items():
            where = "the cluster" if subject == "cluster" else printable(subject.replace(":", " ", 1))
            name = f"{listing([printable(row.fact) for row in group], limit=6)} of {where}"
            evidence = tuple(dict.fromkeys(ref for row in group for ref in row.evidence))
            out.append(replace(part, reason=f"{name}: {part.reason}" if part.reason else name, evidence=evidence))
        return out

    def design_errors(self, condition: str) -> list[Part]:
        """Return one failed part for each error of the design that speaks to a condition."""
        return [
            Part(
                Verdict.FAILED,
                f"{finding.code}: {printable(finding.message).rstrip('. ')}",
                tuple(filter(None, (finding.place, *finding.evidence))),
                finding.fix,
                Remedy.MEND_DESIGN,
            )
            for finding in self._errors[condition]
        ]

    def spanned(self, key: str) -> int:
        """Return how many nodes took part in the measurements that a judgement cites; 0 if it cites none."""
        one = self._judgements.get(key)
        cited = self.observations(one.evidence) if one else []
        return max((_span(seen) for seen in cited if seen.number is not None), default=0)

    def _fact(self, row: FactRow) -> Part:
        """Return what one row comes to; the reason doesn't name the fact yet."""
        verdict, reason, fix, found = row.verdict, row.reason, _FACT_FIX[row.verdict], bool(row.found)
        if verdict is Verdict.PASSED and not found:
            verdict, reason, fix = Verdict.UNPROVEN, "stated, but nobody looked", _FACT_FIX[Verdict.UNPROVEN]
        if verdict is Verdict.UNPROVEN:
            # a row names what would prove it at the end of its reason; here that has a place of its own
            reason, command, rest = reason.partition("; run '")
            fix = f"run '{rest}" if command else fix
        # a quote that contradicts the declaration needs no measurement to fail
        measured = found or verdict is not Verdict.FAILED
        part = Part(verdict, reason, row.evidence, fix, _REMEDY[verdict], measured)
        return self.calendar.weigh(part, self.observations(row.evidence))

    def _on_target(self, part: Part, cited: list[Observation]) -> Part:
        """Return the part as unproven where target hardware is declared and none of it was measured."""
        nodes = {one.subject[5:].split("/", 1)[0] for one in cited if one.subject.startswith("node:")}
        if part.verdict is not Verdict.PASSED or not self.target_pools or not nodes or nodes & self._target_nodes:
            return part
        where = listing([printable(node) for node in sorted(nodes)])
        return replace(
            part,
            verdict=Verdict.UNPROVEN,
            reason=f"measured only on {where}, which is no target hardware ({part.reason.rstrip('. ')})",
            fix="run 'fourplane prove' on a node of the target hardware",
            remedy=Remedy.MEASURE_GPU,
        )


_FACT_FIX = {
    Verdict.FAILED: "have the node, the quote or the declaration put right, then run 'fourplane prove'",
    Verdict.UNPROVEN: "run 'fourplane prove' on the nodes of the pool",
    Verdict.STALE: "run 'fourplane prove' again",
    Verdict.WAIVED: "",
    Verdict.PASSED: "",
}


def _count(pool: Pool) -> int | None:
    if pool.count is not None:
        return pool.count
    if pool.hosts is not None:
        return len(expand(pool.hosts))
    return sum(len(expand(entry.name)) for entry in pool.nodes) or None


def _span(one: Observation) -> int:
    """Return on how many nodes the ranks ran; one where the probe doesn't say."""
    nodes = one.conditions.get("nodes", 1)
    if isinstance(nodes, list | tuple):
        return len(set(map(str, nodes)))
    return nodes if isinstance(nodes, int) and not isinstance(nodes, bool) else 1
