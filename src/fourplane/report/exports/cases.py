"""The conditions of a review as cases for tools that know tests only; what both test formats share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.review.model import Condition, Review

__all__ = ["TOOL", "Case", "cases_of", "details", "place_of"]

TOOL = "fourplane"

_PLACE = re.compile(r"(?P<file>[^\n:][^\n]{0,500}?):(?P<line>[1-9]\d{0,8}):\d{1,9}")
"""Place in a file as the review cites it, ``file:line:column``."""


@dataclass(frozen=True, slots=True)
class Case:
    """One condition with the area that it belongs to, as ``R4 Storage plane, tested``."""

    suite: str
    condition: Condition


def cases_of(review: Review) -> Iterator[Case]:
    """Yield every condition in the areas' order.

    An area without conditions, and a review without areas, were judged on nothing. Each becomes one unproven case:
    a file without cases is green to every tool that reads it.
    """
    for area in review.areas:
        suite = f"{area.id} {area.title}"
        if not area.conditions:
            yield Case(suite, _nothing(f"{area.id}.judged", "this area holds no condition"))
        yield from (Case(suite, condition) for condition in area.conditions)
    if not review.areas:
        yield Case("R Review", _nothing("R.judged", "the review holds no area"))


def _nothing(key: str, reason: str) -> Condition:
    return Condition(key, "Something was judged", Verdict.UNPROVEN, f"nothing was judged: {reason}")


def details(condition: Condition) -> str:
    """Return what a reader needs below the message: verdict, reason, fix, evidence; one thing a line."""
    lines = [f"{condition.verdict}: {condition.reason or 'no reason on file'}"]
    if condition.fix:
        lines.append(f"fix: {condition.fix}")
    lines += [f"evidence: {one}" for one in condition.evidence]
    return "\n".join(printable(line) for line in lines)


def place_of(condition: Condition, base: PurePath | None = None) -> tuple[str, int] | None:
    """Return file and line of the first evidence that lies in a file, relative to ``base``; None without one."""
    for reference in condition.evidence:
        match = _PLACE.fullmatch(reference)
        if match:
            file = match["file"] if base is None else match["file"].removeprefix(f"{base.as_posix()}/")
            return printable(file), int(match["line"])
    return None
