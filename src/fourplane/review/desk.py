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
from fourplane.planes.model import Case, FactRow, Judgement
from fourplane.records.observation import Observation
from fourplane.review.outcome import Part, Remedy
from fourplane.review.routing import condition_of_fact, condition_of_finding
from fourplane.review.staleness import DEFAULT_MAX_AGE, Calendar
from fourplane.review.wording import fill, lacks
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


class Desk:
    """A case with its rows, judgements and findings, sorted by the condition that they speak to."""

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
        self.gpus_seen = _gpus_seen(case)

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
        no_target = (PoolRole.LOGIN, PoolRole.CPU, PoolRole.STAND_IN)
        return [(i, pool) for i, pool in enumerate(self.declaration.pools) if pool.role not in no_target]

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
        """Tell whether the cluster is declared as one node without a fabric."""
        fabric = self.declaration.network.fabric
        return fabric is not None and fabric.kind is FabricKind.NONE and self.node_count == 1

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
        return self._settle(part, one.evidence, one)

    def facts(self, condition: str) -> list[Part]:
        """Return one part for each declared or promised fact of a condition."""
        return [self._fact(row) for row in self._rows[condition] if row.declared or row.promised]

    def shown_facts(self, condition: str, word: str) -> tuple[list[Part], list[Part]]:
        """Return the parts of ``facts`` whose last word is ``word``, and the others."""
        rows = [row for row in self._rows[condition] if row.declared or row.promised]
        mine = [self._fact(row) for row in rows if row.fact.rsplit(".", 1)[-1] == word]
        return mine, [self._fact(row) for row in rows if row.fact.rsplit(".", 1)[-1] != word]

    def contradictions(self, condition: str) -> list[Part]:
        """Return the facts of a condition that failed; for conditions that facts alone never prove."""
        return [self._fact(row) for row in self._rows[condition] if row.verdict is Verdict.FAILED]

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
        name = f"{printable(row.fact)} of {printable(row.subject)}"
        measured = bool(row.found)
        part = Part(
            row.verdict,
            f"{name}: {row.reason}" if row.reason else f"{name} is {printable(row.found) or 'not found'}",
            row.evidence,
            "" if row.verdict is Verdict.PASSED else _FACT_FIX[row.verdict],
            _REMEDY[row.verdict],
            measured=measured or row.verdict is not Verdict.FAILED,
        )
        if row.verdict is Verdict.PASSED and not measured:
            return replace(
                part,
                verdict=Verdict.UNPROVEN,
                reason=f"{name} is stated, but nobody looked",
                fix=_FACT_FIX[Verdict.UNPROVEN],
                remedy=Remedy.MEASURE,
            )
        return self._settle(part, row.evidence, None)

    def _settle(self, part: Part, references: tuple[str, ...], judgement: Judgement | None) -> Part:
        measured_at = judgement.measured_at if judgement else None
        return self.calendar.weigh(part, self.observations(references), measured_at)


_FACT_FIX = {
    Verdict.FAILED: "have the node, the quote or the declaration put right, then run 'fourplane prove'",
    Verdict.UNPROVEN: "run 'fourplane prove' on the nodes of the pool",
    Verdict.STALE: "run 'fourplane prove' again",
    Verdict.WAIVED: "",
}


def _gpus_seen(case: Case) -> bool:
    counted = (one.number for one in case.observations.every("compute.gpu.count"))
    return any(number is not None and number > 0 for number in counted)


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
