"""The report before it has a form: everything that any renderer shows, in the order in which it is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fourplane import __version__
from fourplane.base.findings import Finding, sorted_findings
from fourplane.base.verdicts import Verdict
from fourplane.planes.model import Case, FactRow, Judgement, Plane
from fourplane.records.observation import Observation
from fourplane.report.figures import Band, Curve, KeyFigure, StorageFigure, curves, key_figures, storage_figures
from fourplane.review.model import Area, Condition, Review

__all__ = ["READING_ORDER", "PlaneView", "ReportView", "RunLike", "build", "open_conditions", "tally"]

READING_ORDER = (Verdict.FAILED, Verdict.UNPROVEN, Verdict.STALE, Verdict.WAIVED, Verdict.PASSED)
"""What needs a reader comes first."""

_RANK = {verdict: rank for rank, verdict in enumerate(READING_ORDER)}


class RunLike(Protocol):
    """What the report needs to know of a run of measurements."""

    @property
    def id(self) -> str:
        """Return the run's identifier."""

    @property
    def started(self) -> datetime:
        """Return when it began, UTC."""

    @property
    def ended(self) -> datetime | None:
        """Return when it was sealed; None while it is open or was cut."""

    @property
    def steps(self) -> Sequence[str]:
        """Return the names of the finished steps."""

    @property
    def tool(self) -> str:
        """Return name and version of the program that measured."""

    @property
    def host(self) -> str:
        """Return the machine that the run was started on."""


@dataclass(frozen=True, slots=True)
class PlaneView:
    """One plane: what was judged, and its facts three times; both with the open ones first."""

    plane: Plane
    judgements: tuple[Judgement, ...]
    rows: tuple[FactRow, ...]


@dataclass(frozen=True)
class ReportView:
    """Everything that a report holds.

    Attributes:
        review: the nine areas.
        planes: judgements and facts by plane, in the planes' order; planes without either are left out.
        findings: of the design and of the evidence, heaviest first.
        observations: all of them, by subject and metric.
        runs: oldest first.
        key_figures: the few for the top.
        curves: measured bandwidth curves.
        storage: storage figures beside their needs.
        generated: moment of judgement, UTC.
        evidence_head: hash that seals the evidence, "" where there is none.
        damage: what is wrong with the evidence store; while there is any, nothing in it was judged on.
        root: the workspace's folder as given; places in its files are shown below it.
        version: version of the tool.
    """

    review: Review
    planes: tuple[PlaneView, ...]
    findings: tuple[Finding, ...]
    observations: tuple[Observation, ...]
    runs: tuple[RunLike, ...]
    key_figures: tuple[KeyFigure, ...]
    curves: tuple[Curve, ...]
    storage: tuple[StorageFigure, ...]
    generated: datetime
    evidence_head: str
    damage: tuple[Finding, ...] = ()
    root: str = ""
    version: str = __version__

    @property
    def headline(self) -> tuple[str, str]:
        """Return the verdict's first sentence, and the rest of it."""
        first, stop, rest = self.review.headline.partition(". ")
        return (f"{first}.", rest) if stop else (first, "")

    @property
    def rows(self) -> tuple[FactRow, ...]:
        """Return the fact rows of all planes."""
        return tuple(row for plane in self.planes for row in plane.rows)

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """Return the judgements of all planes."""
        return tuple(one for plane in self.planes for one in plane.judgements)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Return the conditions of all areas, in order."""
        return tuple(c for area in self.review.areas for c in area.conditions)


def build(
    case: Case,
    review: Review,
    rows: Iterable[FactRow] = (),
    judgements: Iterable[Judgement] = (),
    findings: Iterable[Finding] | None = None,
    runs: Iterable[RunLike] = (),
    *,
    bands: Sequence[Band] = (),
    evidence_head: str = "",
) -> ReportView:
    """Put a report together; nothing is judged here.

    Args:
        case: the cluster declared, promised and found.
        review: what was judged on the case.
        rows: facts, three times each.
        judgements: what measurements say about capabilities.
        findings: of the design and of the evidence; the review's own by default.
        runs: runs of measurements on file.
        bands: expectations for the all-reduce curves, beside the declared target that is taken from the case.
        evidence_head: hash that seals the evidence.
    """
    facts, judged = list(rows), list(judgements)
    return ReportView(
        review=review,
        planes=_planes(facts, judged),
        findings=tuple(sorted_findings(review.findings if findings is None else findings)),
        observations=tuple(sorted(case.observations, key=lambda o: (o.subject, o.metric, o.at, o.method, o.run))),
        runs=tuple(sorted(runs, key=lambda r: (r.started, r.id))),
        key_figures=key_figures(case),
        curves=curves(case, judged, (*_declared_band(case), *bands)),
        storage=storage_figures(case, judged),
        generated=case.now,
        evidence_head=evidence_head,
        damage=case.damage,
        root=str(case.workspace.root),
    )


def _planes(rows: list[FactRow], judgements: list[Judgement]) -> tuple[PlaneView, ...]:
    views = (
        PlaneView(
            plane,
            tuple(sorted((j for j in judgements if j.plane is plane), key=lambda j: (_RANK[j.verdict], j.id))),
            tuple(sorted((r for r in rows if r.plane is plane), key=_row_order)),
        )
        for plane in Plane
    )
    return tuple(view for view in views if view.judgements or view.rows)


def _row_order(row: FactRow) -> tuple[int, str, str]:
    return (_RANK[row.verdict], row.subject, row.fact)


def _declared_band(case: Case) -> tuple[Band, ...]:
    target = case.declaration.targets.all_reduce_busbw
    if target is None:
        return ()
    return (Band("declared target", target.to("GB/s"), None, case.workspace.cite("targets.all_reduce_busbw")),)


def tally(conditions: Iterable[Condition | FactRow | Judgement]) -> dict[Verdict, int]:
    """Return how many have each verdict, in reading order; verdicts that nobody has are left out."""
    verdicts = [c.verdict for c in conditions]
    return {verdict: count for verdict in READING_ORDER if (count := verdicts.count(verdict))}


def open_conditions(areas: Iterable[Area]) -> list[Condition]:
    """Return what isn't settled: failed first, then unproven, then stale; in the areas' order."""
    unsettled = [c for area in areas for c in area.conditions if c.verdict not in (Verdict.PASSED, Verdict.WAIVED)]
    return sorted(unsettled, key=lambda c: _RANK[c.verdict])
