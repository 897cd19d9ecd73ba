"""When a measurement no longer counts: too old, made before a change, or dated in the future.

Only what would pass is questioned: a failure doesn't heal by growing old.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.records.index import ObservationIndex
from fourplane.records.observation import Observation, State
from fourplane.review.outcome import Part, Remedy

__all__ = ["CHANGE_METRICS", "CLOCK_TOLERANCE", "DEFAULT_MAX_AGE", "Calendar", "newest_of_each"]

DEFAULT_MAX_AGE = timedelta(days=30)
"""Age beyond which evidence is stale where ``targets.evidence_max_age`` says nothing."""

CLOCK_TOLERANCE = timedelta(minutes=5)
"""How far ahead a node's clock may be; Kerberos (RFC 4120) tolerates the same skew by default."""

CHANGE_METRICS = (
    "compute.gpu.driver",
    "compute.cuda.version",
    "compute.nccl.version",
    "compute.kernel.version",
    "compute.os.image",
    "compute.container.runtime",
    "compute.container.toolkit",
)
"""Software whose change makes earlier measurements stale: the figure was another system's."""

_MEASURE_AGAIN = "run 'fourplane prove' again"


@dataclass(frozen=True, slots=True)
class _Fact:
    at: datetime
    run: str
    value: str


class Calendar:
    """Judges the time of evidence against now, the largest age allowed, and changes of software."""

    def __init__(self, observations: ObservationIndex, now: datetime, max_age: timedelta) -> None:
        self._now = now
        self._max_age = max_age
        self._series: dict[str, dict[tuple[str, str], list[_Fact]]] = defaultdict(lambda: defaultdict(list))
        self._changes: dict[tuple[str, str, datetime], str] = {}
        for one in observations:
            if one.metric in CHANGE_METRICS and one.state in (State.MEASURED, State.ABSENT):
                # one series per tool: two tools may word the same version differently. The tool's own version
                # stays out, since nvidia-smi carries the driver's.
                tool = one.method.split(" ", 1)[0]
                fact = _Fact(one.at, one.run, "absent" if one.state is State.ABSENT else str(one.value))
                self._series[_node(one.subject)][(one.metric, tool)].append(fact)

    def weigh(self, part: Part, observations: Sequence[Observation], measured_at: datetime | None = None) -> Part:
        """Return the part as it stands today.

        Args:
            part: a part that rests on measurements; returned as it is unless it would pass.
            observations: what it cites.
            measured_at: its newest measurement where the citation alone doesn't tell.
        """
        if part.verdict is not Verdict.PASSED:
            return part
        cited = newest_of_each(observations)
        times = [one.at for one in cited] + ([measured_at] if measured_at else [])
        if not times:
            return replace(
                part,
                verdict=Verdict.UNPROVEN,
                reason=f"{part.reason}, but nothing that was measured is cited",
                fix="run 'fourplane prove'",
                remedy=Remedy.MEASURE,
            )
        if max(times) > self._now + CLOCK_TOLERANCE:
            ahead = _span(max(times) - self._now)
            return replace(
                part,
                verdict=Verdict.UNPROVEN,
                reason=f"the evidence is dated {ahead} in the future, so its age can't be told",
                fix="synchronise the clocks, then run 'fourplane prove' again",
                remedy=Remedy.MEASURE_AGAIN,
            )
        age = self._now - min(times)
        if age > self._max_age:
            return self._stale(
                part, f"measured {_span(age)} ago, which is more than {_span(self._max_age)} ({part.reason})"
            )
        for one in cited:
            change = self._change_since(one)
            if change:
                return self._stale(part, f"measured before {change} ({part.reason})")
        return part

    def in_future(self, observations: Iterable[Observation]) -> list[Observation]:
        """Return observations dated further ahead than clocks may differ."""
        return [one for one in observations if one.at > self._now + CLOCK_TOLERANCE]

    @staticmethod
    def _stale(part: Part, reason: str) -> Part:
        return replace(part, verdict=Verdict.STALE, reason=reason, fix=_MEASURE_AGAIN, remedy=Remedy.MEASURE_AGAIN)

    def _change_since(self, one: Observation) -> str:
        """Say which software changed on the nodes of an observation after it was made; "" if none did."""
        node = _node(one.subject)
        for name in [node] if node else sorted(self._series):
            key = (name, one.run, one.at)
            if key not in self._changes:
                self._changes[key] = self._change_on(name, one)
            if self._changes[key]:
                return self._changes[key]
        return ""

    def _change_on(self, node: str, one: Observation) -> str:
        for (metric, _tool), facts in self._series.get(node, {}).items():
            before = _before(facts, one)
            latest = facts[-1]
            if before is not None and latest.value != before.value:
                what = metric.split(".", 1)[1].replace(".", " ")
                values = f"from {printable(before.value)} to {printable(latest.value)}"
                return f"{what} of node {printable(node)} changed {values}"
        return ""


def newest_of_each(observations: Iterable[Observation]) -> list[Observation]:
    """Return, for each (subject, metric), the newest observation that says what is there."""
    newest: dict[tuple[str, str], Observation] = {}
    for one in observations:
        if one.state not in (State.MEASURED, State.ABSENT):
            continue
        key = (one.subject, one.metric)
        if key not in newest or one.at > newest[key].at:
            newest[key] = one
    return list(newest.values())


def _before(facts: list[_Fact], one: Observation) -> _Fact | None:
    """Return the fact that held when ``one`` was measured: of the same run, else the last one before it."""
    same_run = [fact for fact in facts if one.run and fact.run == one.run]
    if same_run:
        return same_run[-1]
    position = bisect_right(facts, one.at, key=lambda fact: fact.at)
    return facts[position - 1] if position else None


def _node(subject: str) -> str:
    """Return the node of ``node:NAME/gpu:0``; "" for what concerns the whole cluster."""
    return subject[5:].split("/", 1)[0] if subject.startswith("node:") else ""


def _span(delta: timedelta) -> str:
    seconds = int(delta.total_seconds())
    if seconds >= 2 * 86_400:
        days = delta / timedelta(days=1)
        # one decimal where it isn't whole, so that 30.4 days never reads as '30 days, more than 30 days'
        text = f"{days:.0f}" if delta % timedelta(days=1) == timedelta(0) else f"{int(days * 10) / 10:.1f}"
        return f"{text} days"
    if seconds >= 2 * 3600:
        return f"{seconds // 3600} hours"
    return f"{max(1, seconds // 60)} minutes" if seconds >= 120 else f"{max(0, seconds)} seconds"
