"""Tables of squeue, sinfo and sacctmgr: heading or command gives the columns, delimited or padded with blanks.

A row is taken only when its cells stand under the right heading without doubt; everything else is refused. A table
whose columns nobody names is handed back as bare lines: only the caller may know what its cells say by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, lines_of
from fourplane.formats.slurm.commands import Command, command_of, is_remark

__all__ = ["Columns", "Row", "Table", "Vocabulary", "find_heading", "read_table"]

MAX_COLUMNS = 512
MAX_BARE = 200_000
_DELIMITERS = ("|#", "|", "\t", "\x1f", ";", ",")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a tool calls its columns.

    Attributes:
        tool: name of the command.
        names: heading in upper case → our name of the column.
        free: our names of the columns that may hold blanks and delimiters.
        of_command: command → columns, None when it names none.
    """

    tool: str
    names: Mapping[str, str]
    free: frozenset[str]
    of_command: Callable[[Command], Columns | None]


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of one listing: our names, the delimiter ("" for blanks), where padded headings start.

    Attributes:
        names: our names; headings that aren't known in lower case.
        delimiter: between cells, "" for any number of blanks.
        starts: of the headings in a padded line, () when they aren't known.
        single: whether one blank is the delimiter, so that two blanks hold an empty cell.
        extra: whether a delimiter ends the heading.
        spans: of fixed columns, from a ruler of dashes under the heading.
    """

    names: tuple[str, ...]
    delimiter: str
    starts: tuple[int, ...] = ()
    single: bool = False
    extra: bool = False
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its line, its cells by column (of columns with one name, the first), and how many columns there are."""

    line: int
    cells: dict[str, str]
    width: int = 0

    def get(self, name: str) -> str | None:
        """Return a cell, None without that column."""
        return self.cells.get(name)


@dataclass(slots=True)
class Table:
    """Rows of all listings of one kind in a text.

    Attributes:
        rows: in the order of the text.
        columns: of the first listing; None without any.
        bare: lines under no heading, with their numbers.
        commands: that were seen, in order.
    """

    rows: list[Row] = field(default_factory=list)
    columns: Columns | None = None
    bare: list[tuple[int, str]] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)


def find_heading(line: str, names: Mapping[str, str], least: float = 0.6) -> Columns | None:
    """Return the columns of a heading line; None when too few of its words are headings of the tool."""
    if len(line) > 16_384:
        return None
    for delimiter in _DELIMITERS:
        if delimiter in line:
            words = line.split(delimiter)
            extra = not words[-1].strip()
            words = [word.strip() for word in (words[:-1] if extra else words)]
            if len(words) <= MAX_COLUMNS and _known(words, names) >= least * max(1, len(words)):
                return Columns(_ours(words, names), delimiter, extra=extra)
    found = [(match[0], match.start()) for match in re.finditer(r"\S+", line)]
    words = [word for word, _ in found]
    if not words or len(words) > MAX_COLUMNS or _known(words, names) < least * len(words):
        return None
    single = "  " not in line.strip() and len(words) > 1
    return Columns(_ours(words, names), "", tuple(start for _, start in found), single)


_RULER = re.compile(r"-+(?: -+)*")


def _ruled(heading: str, ruler: str, names: Mapping[str, str]) -> Columns | None:
    """Return fixed columns from a heading and the dashes under it; headings may hold blanks (``Def QOS``)."""
    ruler = ruler.rstrip()
    if _RULER.fullmatch(ruler) is None or ruler.count(" ") >= MAX_COLUMNS:
        return None
    spans: list[tuple[int, int]] = []
    at = 0
    for dashes in ruler.split(" "):
        spans.append((at, at + len(dashes)))
        at += len(dashes) + 1
    words = [heading[start:end].strip() for start, end in spans]
    if any(heading[end : end + 1].strip() for _, end in spans) or 2 * _known(words, names) < len(words):
        return None
    return Columns(_ours(words, names), "", spans=tuple(spans))


def _known(words: list[str], names: Mapping[str, str]) -> int:
    """Count known headings; a word in another case than the tool's own is none."""
    return sum(word in names for word in words)


def _ours(words: list[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(names.get(word, word.lower()) for word in words)


def read_table(text: str, reading: Reading[Any], vocabulary: Vocabulary) -> Table:
    """Return the rows of all listings in a text; rows that fit no heading are refused in ``reading``."""
    table = Table()
    columns: Columns | None = None
    before = ""
    for number, line in lines_of(text.removeprefix("\ufeff"), reading):
        if not line.strip():
            continue
        command = command_of(line)
        if command is not None and command.tool == vocabulary.tool:
            table.commands.append(command)
            columns = vocabulary.of_command(command)
            continue
        if is_remark(line):
            continue
        ruled = _ruled(before, line, vocabulary.names) if line.startswith("-") and before else None
        before = line
        if ruled is not None:
            columns = ruled
            table.columns = columns if table.columns is None or not table.rows else table.columns
            if table.bare and table.bare[-1][0] == number - 1:
                table.bare.pop()
            continue
        heading = find_heading(line, vocabulary.names)
        if heading is not None:
            columns = heading
            table.columns = table.columns or columns
            continue
        if columns is None:
            if len(table.bare) < MAX_BARE:
                table.bare.append((number, line))
            else:
                reading.refuse("format-text-too-long", number, line)
            continue
        table.columns = table.columns or columns
        cells = _cells(line, columns, vocabulary.free)
        if cells is None:
            reading.refuse("slurm-row-width", number, line)
            continue
        named: dict[str, str] = {}
        for name, cell in zip(columns.names, cells, strict=True):
            named.setdefault(name, cell)
        table.rows.append(Row(number, named, len(columns.names)))
    return table


def _cells(line: str, columns: Columns, free: frozenset[str]) -> list[str] | None:
    width = len(columns.names)
    if columns.spans:
        if any(line[end : end + 1].strip() for _, end in columns.spans):
            return None
        return [line[start:end].strip() for start, end in columns.spans]
    if columns.delimiter:
        parts = [part.strip() for part in line.split(columns.delimiter)]
        if len(parts) == width + 1 and not parts[-1]:
            parts.pop()
        return _joined(parts, columns, free, columns.delimiter)
    if columns.single:
        parts = line.rstrip("\n").split(" ")
        if len(parts) == width:
            return parts
    parts = line.split()
    if len(parts) == width:
        return parts
    return _by_place(line, columns) or _joined(parts, columns, free, " ")


def _by_place(line: str, columns: Columns) -> list[str] | None:
    """Cut a padded row where its headings start; None when a value reaches across a border."""
    starts = columns.starts
    if not starts or columns.single or any(start and line[start - 1 : start].strip() for start in starts):
        return None
    ends = [*starts[1:], len(line)]
    if starts[0] and line[: starts[0]].strip():
        return None
    return [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _joined(parts: list[str], columns: Columns, free: frozenset[str], glue: str) -> list[str] | None:
    """Put surplus cells back into the one column of free text; None when there is none, or more than one."""
    surplus = len(parts) - len(columns.names)
    if surplus == 0:
        return parts
    loose = [at for at, name in enumerate(columns.names) if name in free]
    if surplus < 0 or len(loose) != 1:
        return None
    at = loose[0]
    return [*parts[:at], glue.join(parts[at : at + surplus + 1]), *parts[at + surplus + 1 :]]
