"""Releases as they are written in a specification, compared number by number: ``580.95`` is not below ``580``."""

from __future__ import annotations

import re

from fourplane.catalog.model import format_number

__all__ = ["is_below", "major", "numbers_of"]

_NUMBERS = re.compile(r"\d+(?:\.\d+)*", re.ASCII)


def numbers_of(text: str | None) -> tuple[int, ...]:
    """Return the numbers of the first release in ``text``; empty where it names none."""
    match = _NUMBERS.search(text or "")
    return tuple(int(part) for part in match[0].split(".")[:8]) if match else ()


def major(text: str | None) -> int | None:
    """Return the first number of the release, such as the branch of a driver; None where there is none."""
    return next(iter(numbers_of(text)), None)


def is_below(text: str | None, least: float) -> bool:
    """Tell whether ``text`` names a release before ``least``; a text without a release is not below anything.

    A text that is less precise than the bound counts as its newest release: ``12`` is not below 12.8.
    """
    have, want = numbers_of(text), numbers_of(format_number(least))
    return bool(have) and have[: len(want)] < want[: len(have)]
