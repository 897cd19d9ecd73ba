"""What every parser returns: records, refusals and how the text ended; and the helpers that all parsers share.

A parser never raises on content and never guesses: what it cannot read becomes a refusal with a code, a line
and the text seen, and the rest of the text is still read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from fourplane.formats import codes as _codes

__all__ = [
    "MAX_LINES", "MAX_LINE_CHARS", "MAX_NOTES", "MAX_REFUSALS", "MAX_TEXT", "Format", "Note", "Reading", "Refusal",
    "Status", "finite_json", "lines_of", "natural_or_none", "number_or_none", "plain",
]  # fmt: skip

MAX_TEXT = 64 * 1024 * 1024
"""Characters that a parser looks at; what lies beyond is refused, not read."""
MAX_LINES = 2_000_000
MAX_REFUSALS = 1_000
MAX_NOTES = 1_000
MAX_LINE_CHARS = 16 * 1024
"""A longer line of a line format is refused as a whole."""
_SHOWN = 200

R = TypeVar("R")


class Status(StrEnum):
    """How a text ended, worst first in ``refused``."""

    COMPLETE = "complete"
    """The tool finished and said so, as far as its format lets it."""
    TRUNCATED = "truncated"
    """The text stops before the tool's own end."""
    FAILED = "failed"
    """The tool ran and reported a failure."""
    NOT_ONE_WORLD = "not-one-world"
    """Ranks that should have formed one world ran side by side: nothing in the text is a bandwidth."""
    REFUSED = "refused"
    """Nothing could be read."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that could not be taken over: code, 1-based line (0: the whole text), the text seen (cut)."""

    code: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was read well and is bad news: code, 1-based line (0: the whole text), what it says (cut)."""

    code: str
    line: int
    text: str


@dataclass(slots=True)
class Reading(Generic[R]):
    """Outcome of one parse.

    Attributes:
        kind: name of the format, such as ``nvidia-smi-csv``.
        records: what was understood, in the order of the text.
        refusals: what was not, in the order of the text.
        status: how the text ended.
        reason: one sentence when the status is not complete.
        unlisted: refusals and notes beyond the bounds, counted but not kept.
        notes: what was understood and is bad news: a fault that the tool reports, a hole in its figures.
        counted: how many things the text holds, where one record stands for several (a matrix, a table of rows).
    """

    kind: str
    records: list[R] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    status: Status = Status.COMPLETE
    reason: str = ""
    unlisted: int = 0
    notes: list[Note] = field(default_factory=list)
    counted: int | None = None

    @property
    def count(self) -> int:
        """Return how many things the text holds: rows, links, GPUs, events, as the format counts."""
        return len(self.records) if self.counted is None else self.counted

    def note(self, code: str, line: int, text: str) -> None:
        """Note bad news that was read well.

        Raises:
            KeyError: the code is not defined; that is a mistake of the parser, not of the text.
        """
        if _codes.find(code) is None:
            raise KeyError(code)
        if len(self.notes) >= MAX_NOTES:
            self.unlisted += 1
        else:
            self.notes.append(Note(code, line, text[:_SHOWN]))

    def refuse(self, code: str, line: int, text: str) -> None:
        """Note something that was not understood.

        Raises:
            KeyError: the code is not defined; that is a mistake of the parser, not of the text.
        """
        if _codes.find(code) is None:
            raise KeyError(code)
        if len(self.refusals) >= MAX_REFUSALS:
            self.unlisted += 1
        else:
            self.refusals.append(Refusal(code, line, text[:_SHOWN]))

    def end(self, status: Status, reason: str) -> None:
        """Set how the text ended, with the reason."""
        self.status, self.reason = status, reason


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of text: its name, how sure a look at the beginning is, and its parser.

    Attributes:
        kind: kebab-case name.
        title: what it is, for people.
        sniff: beginning of a text → confidence from 0 (surely not) to 1.
        read: whole text → reading; never raises on content.
    """

    kind: str
    title: str
    sniff: Callable[[str], float]
    read: Callable[[str], Reading[Any]]


# CSI sequences (colours, cursor), OSC sequences (titles, links) and the two-character escapes, ECMA-48.
_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\-_])")


def plain(line: str) -> str:
    """Return a line without terminal escapes, carriage returns and NULs."""
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    return line.replace("\r", "").replace("\x00", "")


def lines_of(text: str, reading: Reading[Any]) -> Iterator[tuple[int, str]]:
    """Yield 1-based numbers and plain lines; lines and texts above the bounds are refused, not yielded."""
    if len(text) > MAX_TEXT:
        reading.refuse("format-text-too-long", 0, f"{len(text):,} characters")
        text = text[:MAX_TEXT]
    start, number, size = 0, 0, len(text)
    while start < size:
        end = text.find("\n", start)
        end = size if end < 0 else end
        number += 1
        if number > MAX_LINES:
            reading.refuse("format-text-too-long", number, f"more than {MAX_LINES:,} lines")
            return
        if end - start > MAX_LINE_CHARS:
            reading.refuse("format-line-too-long", number, text[start : start + _SHOWN])
        else:
            yield number, plain(text[start:end])
        start = end + 1


_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?", re.ASCII)


def number_or_none(text: str) -> float | None:
    """Return a finite number written in plain decimal or exponent form, else None."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def natural_or_none(text: str, digits: int = 18) -> int | None:
    """Return a number written in at most ``digits`` plain ASCII digits, else None; isdigit alone is true for ``²``."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def finite_json(value: Any, depth: int = 32) -> bool:
    """Tell whether a decoded JSON value holds finite numbers only and nests no deeper than ``depth``."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return depth > 0 and all(finite_json(inner, depth - 1) for inner in value.values())
    if isinstance(value, list):
        return depth > 0 and all(finite_json(inner, depth - 1) for inner in value)
    return True
