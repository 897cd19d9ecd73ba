"""Network interfaces by speed: eight of 400 Gb/s and two of 100 Gb/s, as stated and as found."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fourplane.catalog.facts import Catalog
from fourplane.planes.comparators import Answer
from fourplane.planes.found import Found
from fourplane.records.observation import Observation

__all__ = ["NicSpeeds", "answers_speeds", "found_speeds", "stated_speeds"]


class NicSpeeds:
    """How many interfaces of which speed in bits per second; ``unknown`` ones have no speed stated."""

    def __init__(self, counts: dict[float, int]) -> None:
        self.counts = counts

    def __str__(self) -> str:
        return ", ".join(
            f"{count} × {speed / 1e9:g} Gb/s" for speed, count in sorted(self.counts.items(), reverse=True)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NicSpeeds) and self.counts == other.counts

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.counts.items())))


def stated_speeds(nics: Any) -> NicSpeeds | None:
    """Return speeds with counts of a declared or promised list; None when no entry has both."""
    counts: Counter[float] = Counter()
    for nic in nics or ():
        if nic.speed is not None and nic.count:
            counts[nic.speed.base] += nic.count
    return NicSpeeds(dict(counts)) if counts else None


def found_speeds(found: Found, node: str) -> tuple[Any, Observation | None]:
    """Return the measured link speeds of the node's interfaces."""
    links = found.devices("network.nic.speed", node)
    counts = Counter(float(link.number) for link in links if link.number)
    first = links[0] if links else found.of_node("network.nic.speed", node)
    return (NicSpeeds(dict(counts)) if counts else None), first


def answers_speeds(want: Any, have: Any, _: Catalog) -> Answer:
    """Enough interfaces for each wanted speed; a faster one may stand for a slower, and counts once."""
    left = sorted((speed for speed, count in have.counts.items() for _i in range(count)), reverse=True)
    for speed, count in sorted(want.counts.items(), reverse=True):
        fitting = [one for one in left if one >= speed]
        if len(fitting) < count:
            return False, ""
        # the fastest were asked for first, so the slowest that fit are spent first
        for one in sorted(fitting)[:count]:
            left.remove(one)
    return True, ""
