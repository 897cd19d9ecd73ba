"""Two sets of observations beside each other: which facts drifted, which figures moved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fourplane.records.index import ObservationIndex
from fourplane.records.metrics import METRICS
from fourplane.records.observation import Observation, State

__all__ = ["Change", "Difference", "compare", "is_figure"]

# rates and times vary from run to run; what has another unit, or none, is a property of the machine
_VARYING_UNITS = frozenset({"MB/s", "GB/s", "1/s", "us", "s"})
_VARYING = frozenset({"storage.scratch.free", "network.allreduce.curve"})


class Change(StrEnum):
    """What became of an observation from the first run to the second."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Difference:
    """One (subject, metric) that differs.

    Attributes:
        subject: what it is about.
        metric: name of the metric.
        change: changed, added or removed.
        figure: a measured rate or time, which varies; else a fact, whose change is drift.
        before: in the first run, None if it wasn't looked at.
        after: in the second run.
        relative: (after - before) / |before| where both are numbers and before isn't 0, else None.
    """

    subject: str
    metric: str
    change: Change
    figure: bool
    before: Observation | None
    after: Observation | None
    relative: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        unit = METRICS[self.metric].unit if self.metric in METRICS else ""
        return {
            "subject": self.subject,
            "metric": self.metric,
            "change": str(self.change),
            "kind": "figure" if self.figure else "fact",
            "unit": unit,
            "a": _side(self.before),
            "b": _side(self.after),
            "relative": self.relative,
        }


def is_figure(metric: str) -> bool:
    """Tell whether a metric varies by nature: a rate, a time, free space."""
    known = METRICS.get(metric)
    return metric in _VARYING or (known is not None and known.unit in _VARYING_UNITS)


def compare(first: Iterable[Observation], second: Iterable[Observation]) -> list[Difference]:
    """Return what differs, per (subject, metric): drift of facts first, then figures, largest change first.

    Where a run holds several observations of one (subject, metric), its latest word counts.
    """
    a, b = _latest(first), _latest(second)
    out = []
    for subject, metric in sorted(a.keys() | b.keys()):
        before, after = a.get((subject, metric)), b.get((subject, metric))
        change = Change.ADDED if before is None else Change.REMOVED if after is None else Change.CHANGED
        if before is not None and after is not None and _same(before, after):
            continue
        out.append(Difference(subject, metric, change, is_figure(metric), before, after, _relative(before, after)))
    return sorted(out, key=_order)


def _order(one: Difference) -> tuple[bool, float, str, str]:
    return (one.figure, -abs(one.relative or 0.0) if one.figure else 0.0, one.subject, one.metric)


def _latest(observations: Iterable[Observation]) -> dict[tuple[str, str], Observation]:
    index = ObservationIndex(observations)
    keys = {(one.subject, one.metric) for one in index}
    return {key: one for key in keys if (one := index.latest(key[1], key[0])) is not None}


def _same(before: Observation, after: Observation) -> bool:
    if before.state is not after.state:
        return False
    return before.state is not State.MEASURED or (before.value == after.value and before.unit == after.unit)


def _relative(before: Observation | None, after: Observation | None) -> float | None:
    if before is None or after is None or before.number is None or after.number is None or before.number == 0:
        return None
    return (after.number - before.number) / abs(before.number)


def _side(one: Observation | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"state": str(one.state), "value": one.value, "reason": one.reason}
