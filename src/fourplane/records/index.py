"""Look-up over observations: the newest word on each (subject, metric)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fourplane.records.observation import Observation

__all__ = ["ObservationIndex"]


class ObservationIndex:
    """Observations of one or more runs, searchable by metric and subject; the newest word wins.

    A failed or skipped attempt is a word too: it is never hidden behind an older measurement, since what worked
    last week and broke today is not proven today.
    """

    def __init__(self, observations: Iterable[Observation] = ()) -> None:
        self._all = sorted(observations, key=lambda o: o.at)
        self._latest = {(one.subject, one.metric): one for one in self._all}

    def __iter__(self) -> Iterator[Observation]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def latest(self, metric: str, subject: str) -> Observation | None:
        """Return the newest observation, whatever its state, or None when nobody tried."""
        return self._latest.get((subject, metric))

    def every(self, metric: str) -> list[Observation]:
        """Return the latest observation of ``metric`` for each subject, in order of subject."""
        subjects = sorted(s for s, m in self._latest if m == metric)
        return [self._latest[s, metric] for s in subjects]

    def nodes(self) -> list[str]:
        """Return the names of the nodes that were looked at, in order."""
        names = {s[5:].split("/", 1)[0] for s, _ in self._latest if s.startswith("node:")}
        return sorted(names)
