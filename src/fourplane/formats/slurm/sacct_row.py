"""One row of sacct: the cells as they are, and what they mean on demand."""

from __future__ import annotations

import re

from fourplane.formats.slurm.asking import gpus_asked
from fourplane.formats.slurm.sacct_layout import Layout
from fourplane.formats.slurm.tres import GpuCount, count_gpus
from fourplane.formats.slurm.values import (
    WAITING,
    JobId,
    Moment,
    State,
    parse_count,
    parse_duration,
    parse_job_id,
    parse_moment,
    parse_size,
    parse_state,
)

__all__ = ["BAD_BYTES", "ODD", "REPAIRED", "SacctRow"]

REPAIRED = 1
"""Flag of a row that was put together again around its free text."""
BAD_BYTES = 2
"""Flag of a row with bytes that are no UTF-8."""

ODD = re.compile("[\udc80-\udcff\ufffd]")
"""Bytes that were no UTF-8: as lone surrogates, or replaced."""


class SacctRow:
    """One line of sacct: the cells as they are, and what they mean on demand.

    Attributes:
        layout: columns.
        line: 1-based, of its first line when it was repaired.
        flags: ``REPAIRED``, ``BAD_BYTES``.
    """

    __slots__ = ("_cells", "flags", "layout", "line")

    def __init__(self, layout: Layout, fields: list[str], line: int, flags: int = 0) -> None:
        self.layout = layout
        self._cells: list[str] | str = fields
        self.line = line
        self.flags = flags

    def __repr__(self) -> str:
        return f"SacctRow(line={self.line}, {self.fields[:4]!r}…)"

    @property
    def fields(self) -> list[str]:
        """Cells as split; one more than columns when rows end in a delimiter."""
        cells = self._cells
        return cells.split(self.layout.delimiter) if isinstance(cells, str) else cells

    def pack(self) -> None:
        """Keep the cells as one text, a fifth of the memory; every access splits it again."""
        if isinstance(self._cells, list) and self.layout.simple and not self.flags & REPAIRED:
            self._cells = self.layout.delimiter.join(self._cells)

    def opened(self) -> SacctRow:
        """Return the row with its cells split, itself or a copy: for many accesses in a row."""
        return self if isinstance(self._cells, list) else SacctRow(self.layout, self.fields, self.line, self.flags)

    def cell(self, name: str) -> str | None:
        r"""Return a cell without blanks around it, by the name of its column in any case; None without that column.

        Bytes that were no UTF-8 are escapes, such as ``\xff``; a cell that its column's width cut is None.
        """
        at = self.layout.index.get(name.lower())
        if at is None:
            return None
        text = self.fields[at].strip()
        if self.flags & BAD_BYTES:
            text = ODD.sub(_escape, text)
        if self.layout.spans:
            start, end = self.layout.spans[at]
            if len(text) == end - start and text.endswith("+"):
                return None
        return text

    @property
    def job(self) -> JobId | None:
        """The displayed id; JobIDRaw where that is the only one."""
        at = self.layout.job
        return None if at is None else parse_job_id(self.fields[at].strip())

    @property
    def raw_id(self) -> str | None:
        """JobIDRaw; None when it isn't listed."""
        return self.cell("jobidraw")

    @property
    def is_step(self) -> bool:
        """Tell a step from an allocation."""
        job = self.job
        return job is not None and bool(job.step)

    @property
    def key(self) -> tuple[str, ...]:
        """What tells one attempt of one job or step from every other, as far as the columns allow.

        SLUID where it is listed; else cluster, both ids, Submit and Start: a requeued job keeps its id, and the last
        task of an array has the raw id of the array. Where no time is listed, all cells: attempts that differ in
        nothing then can't be told from a row that comes twice.
        """
        sluid = self.cell("sluid")
        job = self.fields[self.layout.job].strip() if self.layout.job is not None else ""
        if sluid:
            return (sluid, job)
        if "submit" not in self.layout.index and "start" not in self.layout.index:
            return tuple(self.fields)
        parts = (self.cell("cluster"), job, self.cell("jobidraw"), self.cell("submit"), self.cell("start"))
        return tuple(part or "" for part in parts)

    @property
    def state(self) -> State | None:
        """State with the actor of a cancellation; None when the column lacks or is empty."""
        text = self.cell("state")
        return parse_state(text) if text else None

    def moment(self, name: str) -> Moment | None:
        """Return Submit, Eligible, Start or End; None when the column lacks or the cell is no time."""
        text = self.cell(name)
        return None if text is None else parse_moment(text)

    @property
    def elapsed_s(self) -> float | None:
        """Seconds from ElapsedRaw, else from Elapsed."""
        raw = self.cell("elapsedraw")
        if raw and raw.isascii() and raw.isdigit() and len(raw) < 16:
            return float(raw)
        text = self.cell("elapsed")
        return parse_duration(text) if text else None

    @property
    def nodes(self) -> int | None:
        """Nodes of the allocation."""
        return self._count("nnodes", "allocnodes")

    @property
    def cpus(self) -> int | None:
        """CPUs of the allocation."""
        return self._count("alloccpus", "ncpus")

    @property
    def asked_memory(self) -> int | None:
        """ReqMem in bytes, per node or CPU as its suffix says; None when the unit is unknown (``16?``)."""
        text = self.cell("reqmem")
        return parse_size(text) if text else None

    @property
    def allocated(self) -> GpuCount | None:
        """GPUs that accounting recorded; None when it recorded no TRES or can't tell, which is never 0.

        A row without any GPU key counts as 0 only when nothing in the row asked for one.
        """
        text = self.cell("alloctres")
        if text is None:
            return None
        if not text:
            return GpuCount(0) if self._never_placed() else None
        count = count_gpus(text)
        if count is not None and count.gpus == 0 and "gres/gpu" not in text and self.asked_gpus:
            return None
        return count

    @property
    def asked_gpus(self) -> int:
        """GPUs that ReqTRES, ReqGRES or SubmitLine ask for, at least; 0 when none of them does."""
        text = self.cell("reqtres")
        if text and (count := count_gpus(text)) is not None and count.gpus:
            return count.gpus
        return gpus_asked(self.cell("submitline") or "", self.cell("reqgres") or "", self.nodes)

    @property
    def untracked(self) -> bool:
        """Tell whether it asked for GPUs, got an allocation, and accounting has no GPU in it."""
        text = self.cell("alloctres")
        return bool(text) and "gres/gpu" not in str(text) and self.asked_gpus > 0

    def _never_placed(self) -> bool:
        """Tell an allocation that waits, or was cancelled before it got a node: it holds nothing."""
        state = self.state
        waits = state is not None and state.name in WAITING and state.name != "REQUEUED"
        return not self.is_step and (waits or (self.cell("nodelist") or "").lower() == "none assigned")

    def _count(self, *names: str) -> int | None:
        for name in names:
            text = self.cell(name)
            if text:
                return parse_count(text)
        return None


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00:02x}" if code < 0xDD00 else match[0]
