"""Rows of sacct, read one by one from any iterable of lines, in constant memory.

The reader splits a line, checks the number of cells and the job's id, and keeps the cells as they are; everything
else is parsed when it is asked for. Lines that don't fit take a slow path: repair, heading, remark or refusal.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from fourplane.formats.model import MAX_LINE_CHARS, Refusal, plain
from fourplane.formats.slurm.commands import command_of, is_remark
from fourplane.formats.slurm.sacct_layout import (
    XDMOD_LAYOUT,
    Layout,
    layout_from_heading,
    layout_of_columns,
    layout_of_command,
    looks_like_xdmod,
)
from fourplane.formats.slurm.sacct_row import BAD_BYTES, ODD, REPAIRED, SacctRow
from fourplane.formats.slurm.values import JOB_ID, parse_job_id

__all__ = ["lines_of_file", "read_rows"]

_HEAD_LINES = 64
_MAX_PIECES = 64
_SHOWN = 200


def lines_of_file(handle: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a binary file, the rest of one above ``MAX_LINE_CHARS`` cut away: memory stays bounded."""
    limit = MAX_LINE_CHARS + 2
    while line := handle.readline(limit):
        if len(line) == limit and not line.endswith(b"\n"):
            while (rest := handle.readline(limit)) and not rest.endswith(b"\n"):
                pass
        yield line


def read_rows(
    lines: Iterable[str | bytes], *, columns: Sequence[str] | None = None, delimiter: str | None = None
) -> Iterator[SacctRow | Refusal]:
    r"""Yield the rows of a sacct listing, and a refusal for every line that isn't one.

    Args:
        lines: lines, with or without line ends; bytes are taken as UTF-8, bad ones kept as escapes.
        columns: names of the columns where the listing has no heading (``sacct -n``).
        delimiter: between cells, such as ``|`` or ``\x1f``; found in the heading when None.
    """
    return _Reader(lines, columns, delimiter).rows()


class _Reader:
    def __init__(self, lines: Iterable[str | bytes], columns: Sequence[str] | None, delimiter: str | None) -> None:
        self._lines = enumerate(lines, start=1)
        self._delimiter = delimiter
        self._layout: Layout | None = None
        if columns is not None:
            self._layout = layout_of_columns(list(columns), delimiter or "|")
        self._pieces: list[str] = []
        self._first = 0
        self._ends = False

    def rows(self) -> Iterator[SacctRow | Refusal]:
        head: list[tuple[int, str]] = []
        if self._layout is None:
            head, refusals = self._find_layout()
            yield from refusals
            if self._layout is None:
                return
        for number, line in head:
            yield from self._slow(number, line)
        if self._layout is not None:
            yield from self._follow(self._layout)
        yield from self._give_up()

    def _follow(self, layout: Layout) -> Iterator[SacctRow | Refusal]:
        """Read to the end; the loop is written for speed, everything unusual goes to ``_slow``."""
        row, is_job_id, ends = SacctRow, JOB_ID.fullmatch, self._ends
        simple, delimiter, width, job = layout.simple, layout.delimiter, layout.width, layout.job or 0
        for number, raw in self._lines:
            text = raw if isinstance(raw, str) else raw.decode("utf-8", "surrogateescape")
            line = text.rstrip("\r\n")
            if simple and not self._pieces:
                fields = line.split(delimiter)
                if (
                    len(fields) == width
                    and is_job_id(fields[job])
                    and (line.isascii() or not ODD.search(line))
                    and "\x1b" not in line
                    and len(line) <= MAX_LINE_CHARS
                    and not (ends and line is text)  # the last line without a line end may be cut
                ):
                    yield row(layout, fields, number)
                    continue
            yield from self._slow(number, text)
            now = self._layout
            if now is None:
                return
            if now is not layout:
                layout = now
                simple, delimiter, width, job = layout.simple, layout.delimiter, layout.width, layout.job or 0

    # finding the columns

    def _find_layout(self) -> tuple[list[tuple[int, str]], list[Refusal]]:
        head: list[tuple[int, str]] = []
        too_long: list[Refusal] = []
        for number, raw in self._lines:
            text = raw if isinstance(raw, str) else raw.decode("utf-8", "surrogateescape")
            if len(text) > MAX_LINE_CHARS:
                too_long.append(Refusal("format-line-too-long", number, text[:_SHOWN]))
            else:
                head.append((number, text))
                self._ends = self._ends or text.endswith("\n")
            if len(head) + len(too_long) >= _HEAD_LINES:
                break
        refusals = too_long
        named: Layout | None = None
        for place, (number, text) in enumerate(head):
            line = plain(text.rstrip("\r\n")).removeprefix("\ufeff")
            command = command_of(line)
            if command is not None and command.tool == "sacct":
                if command.has("T", "truncate"):
                    return [], [Refusal("sacct-window-clipped", number, line[:_SHOWN])]
                named = layout_of_command(command)
                continue
            if not line.strip() or is_remark(line):
                continue
            dashes = head[place + 1][1] if place + 1 < len(head) else ""
            self._layout = layout_from_heading(line, self._delimiter, plain(dashes.rstrip("\r\n")))
            if self._layout is not None:
                rest = head[place + 2 :] if self._layout.spans else head[place + 1 :]
                return rest, refusals
            if named is not None:
                self._layout = named
                return head[place:], refusals
            refusals.append(Refusal("slurm-line-not-understood", number, line[:_SHOWN]))
        return self._without_heading(head, too_long)

    def _without_heading(
        self, head: list[tuple[int, str]], too_long: list[Refusal]
    ) -> tuple[list[tuple[int, str]], list[Refusal]]:
        for place, (number, text) in enumerate(head):
            line = plain(text.rstrip("\r\n"))
            if not line.strip() or is_remark(line):
                continue
            if looks_like_xdmod(line):
                self._layout = XDMOD_LAYOUT
                return head[place:], []
            return [], [Refusal("slurm-columns-unnamed", number, line[:_SHOWN])]
        return [], too_long or [Refusal("format-text-empty", 0, "")]

    # lines that aren't plain rows

    def _slow(self, number: int, text: str) -> Iterator[SacctRow | Refusal]:
        layout = self._layout
        if layout is None:
            return
        if len(text) > MAX_LINE_CHARS:
            yield from self._give_up()
            yield Refusal("format-line-too-long", number, text[:_SHOWN])
            return
        if layout.job is None and not self._pieces and is_remark(text):
            return
        last = self._ends and not text.endswith("\n")
        line = plain(text.rstrip("\r\n"))
        fields = self._split(layout, line)
        if fields is not None and len(fields) == layout.width + 1 and not fields[-1].strip():
            fields = fields[:-1]  # one delimiter too many at the end
        if fields is not None and len(fields) == layout.width and self._fits(layout, fields, last):
            yield from self._give_up()
            yield SacctRow(layout, fields, number, _flags(line))
        elif self._pieces:
            yield from self._continue(layout, number, line, fields)
        elif line.strip():
            yield from self._unusual(layout, number, line, fields)

    def _split(self, layout: Layout, line: str) -> list[str] | None:
        if layout.spans:
            return _cut(line, layout.spans)
        if not layout.delimiter:
            return line.split()
        if layout.delimiter == "," and '"' in line:
            try:
                return next(csv.reader([line]), None)
            except csv.Error:
                return None
        return line.split(layout.delimiter)

    def _fits(self, layout: Layout, fields: list[str], last: bool) -> bool:
        if layout.job is not None and parse_job_id(fields[layout.job].strip()) is None:
            return False
        if layout.job is None or last or layout.delimiter in ("", ","):
            return layout.plausible([field.strip() for field in fields])
        return True

    def _unusual(
        self, layout: Layout, number: int, line: str, fields: list[str] | None
    ) -> Iterator[SacctRow | Refusal]:
        """Handle a line that isn't a row and continues none: remark, heading, row with free text, or nothing known."""
        command = command_of(line)
        if command is not None and command.tool == "sacct":
            if command.has("T", "truncate"):
                self._layout = None
                yield Refusal("sacct-window-clipped", number, line[:_SHOWN])
            else:
                self._layout = layout_of_command(command) or layout
            return
        if is_remark(line):
            return
        again = layout_from_heading(line, self._delimiter)
        if again is not None:
            self._layout = again
            return
        if fields is None:
            yield Refusal("slurm-row-not-understood", number, line[:_SHOWN])
        elif len(fields) > layout.width:
            repaired = _collapse(layout, fields)
            if repaired is not None:
                yield SacctRow(layout, repaired, number, REPAIRED | _flags(line))
            else:
                yield Refusal("slurm-row-width", number, line[:_SHOWN])
        elif len(fields) == layout.width:
            yield Refusal("slurm-row-not-understood", number, line[:_SHOWN])
        elif (
            layout.free is not None and layout.delimiter and len(fields) > layout.free and self._begins(layout, fields)
        ):
            self._pieces, self._first = [line], number
        else:
            yield Refusal("slurm-row-width", number, line[:_SHOWN])

    def _begins(self, layout: Layout, fields: list[str]) -> bool:
        """Tell whether the cells before the free text are the beginning of a row."""
        free = layout.free
        return free is not None and (
            layout.job is None or layout.job > free or parse_job_id(fields[layout.job].strip()) is not None
        )

    def _continue(
        self, layout: Layout, number: int, line: str, fields: list[str] | None
    ) -> Iterator[SacctRow | Refusal]:
        """Add a line to a row whose free text holds a line end, or give that row up."""
        free = layout.free
        assert free is not None
        size = len(fields) if fields is not None else 0
        job = layout.job
        another = (
            fields is not None
            and job is not None
            and job <= free
            and size > job + 1
            and parse_job_id(fields[job].strip()) is not None
        )
        full = sum(map(len, self._pieces)) + len(line) > MAX_LINE_CHARS or len(self._pieces) >= _MAX_PIECES
        if another or full or (size > 1 and size < layout.width - free):
            yield from self._give_up()
            yield from self._unusual(layout, number, line, fields)
            return
        self._pieces.append(line)
        if size < layout.width - free:
            return  # the middle of the free text
        whole = "\n".join(self._pieces).split(layout.delimiter)
        first = self._first
        repaired = _collapse(layout, whole)
        if repaired is None:
            yield from self._give_up()
            return
        self._pieces = []
        yield SacctRow(layout, repaired, first, REPAIRED | _flags(repaired[free]))

    def _give_up(self) -> Iterator[Refusal]:
        """Refuse a row that was begun and not ended."""
        if self._pieces:
            text = "\\n".join(self._pieces)
            self._pieces = []
            yield Refusal("slurm-row-width", self._first, text[:_SHOWN])


def _flags(line: str) -> int:
    return BAD_BYTES if not line.isascii() and ODD.search(line) else 0


def _collapse(layout: Layout, fields: list[str]) -> list[str] | None:
    """Return the cells with the surplus put back into the free text; None unless every other cell has its form."""
    free, surplus = layout.free, len(fields) - layout.width
    if free is None or surplus < 0:
        return None
    row = [
        *fields[:free],
        layout.delimiter.join(fields[free : free + surplus + 1]),
        *fields[free + surplus + 1 :],
    ]
    if layout.trailing and row[-1].strip():
        return None
    job = layout.job
    if job is not None and parse_job_id(row[job].strip()) is None:
        return None
    return row if layout.plausible(row) else None


def _cut(line: str, spans: tuple[tuple[int, int], ...]) -> list[str] | None:
    """Return the cells of fixed columns; None when a character stands where a blank must."""
    if any(line[end : end + 1].strip() for _, end in spans):
        return None
    return [line[start:end] for start, end in spans]
