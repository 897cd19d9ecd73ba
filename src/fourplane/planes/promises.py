"""What quotes promise for one fact, and which lines they leave unanswered (B5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fourplane.planes.model import Case
from fourplane.planes.reading import walk

__all__ = ["Promise", "promises", "root_promises"]


@dataclass(frozen=True, slots=True)
class Promise:
    """One quote's word on one fact.

    Attributes:
        provider: who promises.
        value: what; None when the line is not answered.
        place: where, as file:line:column.
        expected: the quote speaks of this matter at all, so that a missing line is a hole.
    """

    provider: str
    value: Any
    place: str
    expected: bool


def promises(case: Case, pool: str, path: str, state: Callable[[Any], Any] | None) -> list[Promise]:
    """Return the word of each quote that has the pool; a version is a hole only where the quote has its component."""
    out = []
    for document in case.quotes:
        for index, quoted in enumerate(document.quote.pools):
            if quoted.name == pool:
                value = walk(quoted, path)
                component = path.rsplit(".", 1)[0]
                expected = not path.startswith("lifecycle.") or walk(quoted, component) is not None
                value = state(value) if state and value is not None else value
                place = document.cite(f"pools[{index}].{path}")
                out.append(Promise(document.quote.provider, value, place, expected))
    return out


def root_promises(case: Case, path: str) -> list[Promise]:
    """Return the word of each quote on a fact outside pools, such as ``fabric.kind``; a hole if it has the section."""
    section = path.split(".", 1)[0]
    return [
        Promise(d.quote.provider, walk(d.quote, path), d.cite(path), walk(d.quote, section) is not None)
        for d in case.quotes
    ]
