"""Interleaved pairs and what they show: a median of ratios, beside the spread of the reference against itself.

Each round measures reference, candidate, reference. The candidate is held against the geometric mean of its two
neighbours, which cancels a slow drift of the machine; the two references against each other show what the machine
itself does. Intervals are those of the median by order statistics: distribution-free, at least 95 % where the number
of rounds allows it (2nd to 8th of nine).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["HIGH", "LOW", "Comparison", "compare", "median_interval", "table"]

LOW, HIGH = 0.9, 1.1


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against reference: the median ratio of their speeds and its interval, and the same of A against A."""

    name: str
    reference: float
    candidate: float
    ratio: float
    interval: tuple[float, float]
    same: float
    same_interval: tuple[float, float]

    @property
    def verdict(self) -> str:
        """Return within, outside or unproven: where A against A does not fit the bound, nothing can be told."""
        if not (self.same_interval[0] >= LOW and self.same_interval[1] <= HIGH):
            return "unproven"
        return "within" if LOW <= self.ratio <= HIGH else "outside"


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the narrowest symmetric pair of order statistics that holds the median with at least 95 %.

    Below six values there is none; then the extremes are returned.
    """
    ordered, n = sorted(values), len(values)
    tail, depth = 0.0, 0
    while depth < n // 2:
        tail += math.comb(n, depth) / 2**n
        if 2 * tail > 0.05:
            break
        depth += 1
    return ordered[max(0, depth - 1)], ordered[n - max(1, depth)]


def compare(name: str, rounds: Sequence[tuple[float, float, float]]) -> Comparison:
    """Compare speeds (more is better) of rounds (reference, candidate, reference)."""
    ratios = [middle / math.sqrt(first * last) for first, middle, last in rounds]
    same = [last / first for first, _, last in rounds]
    return Comparison(
        name=name,
        reference=statistics.median(value for first, _, last in rounds for value in (first, last)),
        candidate=statistics.median(middle for _, middle, _ in rounds),
        ratio=statistics.median(ratios),
        interval=median_interval(ratios),
        same=statistics.median(same),
        same_interval=median_interval(same),
    )


def table(rows: Sequence[Comparison], unit: str, reference: str, candidate: str) -> str:
    """Return the comparisons as a table for people."""
    head = f"{'':>12} {reference:>12} {candidate:>12}   {'ratio [95 %]':<22} {'A against A [95 %]':<22} {LOW}-{HIGH}"
    lines = [head, f"{'':>12} {unit:>12} {unit:>12}"]
    for row in rows:
        ratio = f"{row.ratio:.3f} [{row.interval[0]:.3f}, {row.interval[1]:.3f}]"
        same = f"{row.same:.3f} [{row.same_interval[0]:.3f}, {row.same_interval[1]:.3f}]"
        figures = f"{row.reference:12.4g} {row.candidate:12.4g}"
        lines.append(f"{row.name:>12} {figures}   {ratio:<22} {same:<22} {row.verdict}")
    return "\n".join(lines)
