"""A whole sacct listing: the rows, what is wrong with them, and the figures a person looks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from fourplane.formats.model import MAX_TEXT, Reading, Refusal, Status
from fourplane.formats.slurm import codes as _codes  # noqa: F401 (defines the codes)
from fourplane.formats.slurm.commands import command_of
from fourplane.formats.slurm.sacct_layout import layout_from_heading, looks_like_xdmod
from fourplane.formats.slurm.sacct_row import BAD_BYTES, REPAIRED, SacctRow
from fourplane.formats.slurm.sacct_rows import read_rows
from fourplane.formats.slurm.values import ENDED, Moment

__all__ = ["KIND", "SacctRow", "read", "read_rows", "sniff"]

KIND = "sacct"

_STEP = re.compile(
    r"(?:^|[|#,;\t\x1f ])\d{1,12}(?:_\d{1,10})?(?:\+\d{1,6})?\.(?:batch|extern|interactive)(?=[|#,;\t\x1f ]|$)"
)
_DST_S = 3600


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is output of sacct as a table."""
    lines = [line.rstrip("\r") for line in head[:131_072].split("\n")[:200]]
    if lines and lines[0].lstrip()[:1] in ("{", "["):
        return 0.0
    best = 0.0
    for place, line in enumerate(lines[:64]):
        if not line.strip() or len(line) > 16_384:
            continue
        command = command_of(line)
        if command is not None:
            if command.tool != "sacct":
                return 0.0
            if "--json" in command.words or command.has("e", "helpformat"):
                return 0.0
            best = max(best, 0.95)
            continue
        layout = layout_from_heading(
            line.removeprefix("\ufeff"), None, lines[place + 1] if place + 1 < len(lines) else ""
        )
        if layout is not None and layout.job is not None:
            return max(best, 0.4 if line.isupper() else 0.97)
        if looks_like_xdmod(line):
            return 0.9
    if not best and any(_STEP.search(line[:4096]) for line in lines):
        best = 0.6
    return best


def read(text: str, *, columns: Sequence[str] | None = None, delimiter: str | None = None) -> Reading[SacctRow]:
    """Read a sacct listing; ``columns`` and ``delimiter`` as in :func:`read_rows`."""
    reading: Reading[SacctRow] = Reading(KIND)
    if len(text) > MAX_TEXT:
        reading.refuse("format-text-too-long", 0, f"{len(text):,} characters")
        text = text[:MAX_TEXT]
    last = 0
    listing = _Listing()
    for found in read_rows(_lines(text), columns=columns, delimiter=delimiter):
        if isinstance(found, Refusal):
            reading.refuse(found.code, found.line, found.text)
            last = found.line
            if found.code == "sacct-window-clipped":
                reading.records.clear()
                reading.end(Status.REFUSED, "times are clipped to the window of the listing")
                return reading
        else:
            listing.look_at(found, reading)
            found.pack()
            reading.records.append(found)
    if not reading.records:
        if not reading.refusals:
            return reading  # a heading alone: no job in the window
        reading.end(Status.REFUSED, "no row could be read")
        return reading
    if last > reading.records[-1].line:
        reading.end(Status.TRUNCATED, "the listing ends in a line that is no whole row")
    listing.note(reading)
    return reading


def _lines(text: str) -> Iterator[str]:
    start, size = 0, len(text)
    while start < size:
        end = text.find("\n", start) + 1 or size
        yield text[start:end]
        start = end


class _Listing:
    """What only the whole listing shows: allocations that lack, and GPUs that accounting doesn't track."""

    def __init__(self) -> None:
        self.allocations: set[str] = set()
        self.lonely: dict[str, int] = {}
        self.untracked = 0
        self.first_untracked = (0, "", 0)

    def look_at(self, row: SacctRow, reading: Reading[SacctRow]) -> None:
        """Note what is wrong with one row, and remember what counts for the listing."""
        job = row.job
        name = job.text if job is not None else "?"
        if row.flags & REPAIRED:
            reading.note("sacct-row-repaired", row.line, f"job {name}")
        if row.flags & BAD_BYTES:
            reading.note("sacct-bytes-not-text", row.line, f"job {name}")
        state, end = row.state, row.moment("end")
        if state is not None and not state.known:
            reading.note("sacct-state-unknown", row.line, f"job {name}: {state.name}")
        if state is not None and state.name in ENDED and end is not None and not end.known:
            reading.note("sacct-end-missing", row.line, f"job {name}: {state.name}, End {row.cell('end')}")
        contradiction = _contradiction(row, end)
        if contradiction:
            reading.note("sacct-times-contradict", row.line, f"job {name}: {contradiction}")
        tres = row.cell("alloctres")
        if tres and row.allocated is None:
            if row.untracked:
                self.untracked += 1
                if self.untracked == 1:
                    self.first_untracked = (row.line, name, row.asked_gpus)
            else:
                reading.note("slurm-gpu-count-unread", row.line, f"job {name}: {tres}")
        if job is None:
            return
        if not job.step:
            self.allocations.add(job.text)
        elif job.allocation not in self.allocations:
            self.lonely.setdefault(job.allocation, row.line)

    def note(self, reading: Reading[SacctRow]) -> None:
        """Note what the whole listing shows."""
        if self.untracked:
            line, name, asked = self.first_untracked
            reading.note(
                "slurm-gpu-not-tracked", line, f"{self.untracked} rows, first job {name}: {asked} GPUs asked for"
            )
        missing = {name: line for name, line in self.lonely.items() if name not in self.allocations}
        if missing:
            name = next(iter(missing))
            reading.note("sacct-without-allocation", missing[name], f"{len(missing)} jobs, first {name}")


def _contradiction(row: SacctRow, end: Moment | None) -> str:
    """Return what is impossible about the times of a row, "" when nothing is.

    Two local times may be an hour further apart or closer than they look, because of daylight saving.
    """
    start, elapsed = row.moment("start"), row.elapsed_s
    if start is None or end is None or not start.known or not end.known:
        return ""
    length = _seconds_between(start, end)
    if length is None:
        return ""
    slack = 1.0 if start.epoch is not None else 1.0 + _DST_S * (length > 0)
    if length < -(slack + (_DST_S if start.epoch is None else 0)):
        return f"End {end.text} lies before Start {start.text}"
    if elapsed is not None and elapsed > max(0.0, length) + slack:
        return f"{elapsed:.0f} s elapsed between {start.text} and {end.text}"
    return ""


def _seconds_between(start: Moment, end: Moment) -> float | None:
    if start.epoch is not None and end.epoch is not None:
        return end.epoch - start.epoch
    if start.epoch is None and end.epoch is None:
        try:
            return (datetime.fromisoformat(end.text) - datetime.fromisoformat(start.text)).total_seconds()
        except (ValueError, TypeError):
            return None
    return None
