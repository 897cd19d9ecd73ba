"""Gates: what a measured figure must reach, who says so, and what the worst node reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.planes.design import Design
from fourplane.planes.found import Found, name_list
from fourplane.planes.model import Case, Judgement, Plane
from fourplane.records.observation import Observation, State

__all__ = ["Bench", "Gate", "Judge", "judgement", "newest"]


@dataclass(frozen=True, slots=True)
class Gate:
    """One bound: the figure in base units, the sentence that says where it comes from, the place it stands."""

    least: float
    said: str
    place: str


@dataclass(frozen=True)
class Bench:
    """What every judge works on: the case, the evidence by pool, the design, and the tolerance of figures."""

    case: Case
    found: Found
    design: Design

    @property
    def tolerance(self) -> float:
        """Return the declared tolerance of measured figures; 0 when nobody allowed any."""
        tolerance = self.case.declaration.targets.tolerance
        return tolerance.base if tolerance else 0.0

    def measured(self, metric: str) -> list[Observation]:
        """Return the measured words on a metric, one for each subject."""
        return [one for one in self.found.every(metric) if one.state is State.MEASURED]

    def not_looked_at(self, observations: Iterable[Observation]) -> int:
        """Return how many declared nodes are missing from ``observations``.

        Counted in the pools that they speak of; in all pools when they speak of no declared node at all.
        """
        nodes = {one.subject.removeprefix("node:").split("/", 1)[0] for one in observations}
        spoken = [pool for pool in self.found.pools if nodes & set(pool.nodes)] or self.found.pools
        return sum(max(0, pool.declared_nodes - len(nodes & set(pool.nodes))) for pool in spoken)

    def words_of_last_run(self, metric: str) -> list[Observation]:
        """Return every word on a metric that the newest run said of each subject, one for each method."""
        last = {one.subject: one.run for one in self.found.every(metric)}
        return [one for one in self.case.observations if one.metric == metric and last[one.subject] == one.run]

    def why_not(self, metric: str) -> str:
        """Return why there is no figure: the reason of the newest attempt, or that nobody looked."""
        attempts = [one for one in self.words_of_last_run(metric) if one.state is not State.MEASURED]
        if not attempts:
            return f"nobody measured {metric}"
        last = max(attempts, key=lambda one: one.at)
        return printable(f"{metric} is {last.state}: {last.reason or 'no reason given'}")

    def stand_in_note(self, observations: Iterable[Observation]) -> str:
        """Return the remark that a figure was measured on stand-ins, or ""."""
        nodes = sorted({one.subject.removeprefix("node:").split("/", 1)[0] for one in observations})
        standing = [n for n in nodes if (pool := self.found.pool_of(n)) is not None and pool.view.is_stand_in]
        if not standing:
            return ""
        return f"; measured on {name_list(standing)}, a stand-in: it holds for that machine only"


Judge = Callable[[Bench], Judgement]


def newest(observations: Sequence[Observation]) -> datetime | None:
    """Return the time of the newest observation; None without any."""
    return max((one.at for one in observations), default=None)


def judgement(
    key: str, plane: Plane, title: str, verdict: Verdict, reason: str, observations: Sequence[Observation] = (),
    places: Iterable[str] = (), fix: str = "",
) -> Judgement:  # fmt: skip
    """Return a judgement with its evidence; ``fix`` is dropped when it passed."""
    return Judgement(
        id=key,
        plane=plane,
        title=title,
        verdict=verdict,
        reason=printable(reason),
        evidence=(*places, *(one.reference for one in observations[:20])),
        measured_at=newest(observations),
        fix="" if verdict is Verdict.PASSED else fix,
    )
