"""Look-up over observations: the newest word on each (subject, metric)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fourplane.records.observation import Observation, State

__all__ = ["ObservationIndex"]


class ObservationIndex:
    """Observations of one or more runs, searchable by metric and subject; later ones win.

    A failed or skipped attempt never hides an earlier measurement: the two are kept apart, and
    ``latest`` prefers what was measured or found absent.
    """

    def __init__(self, observations: Iterable[Observation] = ()) -> None:
        self._all = sorted(observations, key=lambda o: o.at)
        self._decided: dict[tuple[str, str], Observation] = {}
        self._attempted: dict[tuple[str, str], Observation] = {}
        for one in self._all:
            key = (one.subject, one.metric)
            if one.state in (State.MEASURED, State.ABSENT):
                self._decided[key] = one
            else:
                self._attempted[key] = one

    def __iter__(self) -> Iterator[Observation]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def latest(self, metric: str, subject: str) -> Observation | None:
        """Return the newest measured or absent observation, else the newest broken attempt, else None."""
        key = (subject, metric)
        return self._decided.get(key) or self._attempted.get(key)

    def every(self, metric: str) -> list[Observation]:
        """Return the latest observation of ``metric`` for each subject, in order of subject."""
        subjects = sorted({s for s, m in (*self._decided, *self._attempted) if m == metric})
        return [found for s in subjects if (found := self.latest(metric, s)) is not None]

    def nodes(self) -> list[str]:
        """Return the names of the nodes that were looked at, in order."""
        names = {s[5:].split("/", 1)[0] for s, _ in (*self._decided, *self._attempted) if s.startswith("node:")}
        return sorted(names)
