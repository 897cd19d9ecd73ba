"""Figures of a sacct listing: jobs with their attempts, states, GPUs, and what is odd."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fourplane.formats.model import Reading
from fourplane.formats.slurm.sacct_row import BAD_BYTES, SacctRow
from fourplane.formats.slurm.values import JobId, Moment, is_unset, tasks_of

__all__ = ["summarise"]

MAX_SHOWN = 100


def summarise(reading: Reading[SacctRow]) -> dict[str, Any]:
    """Return the figures; rows with the same key are one, and lists are cut at ``MAX_SHOWN`` entries.

    ``gpus`` is the sum over allocations, None when one of them is unknown; ``jobs`` holds one entry per attempt, or
    the steps when the listing has no allocation at all.
    """
    rows = reading.records
    bad = len(reading.refusals) + reading.unlisted
    if not rows:
        return {"allocations": 0, "steps": 0, "bad_rows": bad, "gpus": None}
    figures = _Figures()
    for row in rows:
        figures.add(row.opened())
    first = rows[0].layout
    return {"columns": len(first.columns), "delimiter": first.delimiter or None, "bad_rows": bad} | figures.result()


class _Figures:
    """Sums over rows, one pass, with memory for names only."""

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.cancelled_by: Counter[str] = Counter()
        self.unknown: dict[str, None] = {}
        self.bad_bytes: list[dict[str, Any]] = []
        self.nodes: set[int | None] = set()
        self.tracked: bool | None = None
        self.allocations = self.steps = self.distinct_steps = 0
        self.gpus: int | None = 0
        self.attempts: Counter[str] = Counter()
        self.jobs: list[dict[str, Any]] = []
        self.shown_steps: list[dict[str, Any]] = []
        self.lonely: dict[str, dict[str, Any]] = {}
        self.ends: dict[str, Moment | None] = {}
        self.compared = False
        self.later = self.next_day = 0
        self.keys: set[str] = set()
        self.only: tuple[str | None, float | None] = (None, None)

    def add(self, row: SacctRow) -> None:
        """Take one row into the sums."""
        state, job = row.state, row.job
        if state is not None:
            self.states[state.name] += 1
            if state.by:
                self.cancelled_by[state.by] += 1
            if not state.known:
                self.unknown[state.name] = None
        if row.flags & BAD_BYTES and len(self.bad_bytes) < MAX_SHOWN:
            self.bad_bytes += _bad_bytes(row)
        if len(self.nodes) < 2:
            self.nodes.add(row.nodes)
        if self.tracked is not True:
            if "gres/gpu" in (row.cell("alloctres") or ""):
                self.tracked = True
            elif row.untracked:
                self.tracked = False
        if job is not None:
            self._identified(row, job)

    def _identified(self, row: SacctRow, job: JobId) -> None:
        key = "\x1f".join(row.key)
        new = key not in self.keys
        if new:
            self.keys.add(key)
            if len(self.keys) == 1:
                self.only = (row.cell("end"), row.elapsed_s)
        end = row.moment("end")
        if job.step:
            self.steps += 1
            self.distinct_steps += new
            self._late(job, end)
            if new:
                self._step(row, job)
            return
        self.allocations += 1
        self.ends[job.text] = end
        if not new:
            return
        self.attempts[job.text] += 1
        count = row.allocated
        self.gpus = None if self.gpus is None or count is None else self.gpus + count.gpus
        if len(self.jobs) < MAX_SHOWN:
            self.jobs.append(_job(row, job) | {"attempt": self.attempts[job.text]})

    def _late(self, job: JobId, end: Moment | None) -> None:
        """Count steps that end after their allocation: the allocation is the authority for what was held."""
        own = self.ends.get(job.allocation)
        after = own.before(end) if own is not None and end is not None else None
        if own is None or end is None or after is None:
            return
        self.compared = True
        self.later += after
        self.next_day += (
            after and own.epoch is None and own.text[:10] < end.text[:10] and not is_unset(end.text)
        )  # dates of local times; epochs have none

    def _step(self, row: SacctRow, job: JobId) -> None:
        if len(self.shown_steps) < MAX_SHOWN:
            self.shown_steps.append(_step(row, job))
        if job.allocation in self.attempts:
            return
        entry = self.lonely.setdefault(
            job.allocation, {"job": job.allocation, "gpus_in_extern_step": None, "nodes": None}
        )
        if job.step == "extern":
            count = row.allocated
            entry |= {"gpus_in_extern_step": count.gpus if count else None, "nodes": row.nodes}

    def result(self) -> dict[str, Any]:
        """Return the figures."""
        found: dict[str, Any] = {
            "allocations": self.allocations,
            "steps": self.steps,
            "distinct_steps": self.distinct_steps,
            "states": dict(self.states),
            "unknown_states": list(self.unknown),
            "cancelled_by": dict(self.cancelled_by.most_common(MAX_SHOWN)),
            "bad_bytes": self.bad_bytes,
            "gpus": self.gpus if self.attempts else None,
            "gpu_tracked": self.tracked,
            "nodes_per_row": next(iter(self.nodes)) if len(self.nodes) == 1 else None,
        }
        if self.compared:
            found |= {"steps_ending_after_allocation": self.later, "steps_ending_next_day": self.next_day}
        if self.attempts:
            missing = [entry for name, entry in self.lonely.items() if name not in self.attempts]
            found |= {
                "jobs": [job | {"attempts": self.attempts[job["job"]]} for job in self.jobs],
                "attempts": {job: count for job, count in self.attempts.most_common(MAX_SHOWN) if count > 1},
                "jobs_without_allocation_row": missing[:MAX_SHOWN],
            }
        else:
            found["jobs"] = self.shown_steps
        if len(self.keys) == 1:
            return found | {"end": self.only[0], "elapsed_s": self.only[1]}
        return found | {"elapsed_s": [job["elapsed_s"] for job in self.jobs]}


def _job(row: SacctRow, job: JobId) -> dict[str, Any]:
    count, state = row.allocated, row.state
    return {
        "job": job.text,
        "raw": row.raw_id,
        "state": state.name if state else None,
        "tasks": tasks_of(job.array) if job.array else None,
        "nodes": row.nodes,
        "cpus": row.cpus,
        "elapsed_s": row.elapsed_s,
        "exit_code": row.cell("exitcode") or None,
        "gpus": count.gpus if count else None,
        "gpus_asked": row.asked_gpus,
        "mig_slices": count.mig_slices if count else None,
        "types": count.types if count else {},
    }


def _step(row: SacctRow, job: JobId) -> dict[str, Any]:
    count = row.allocated
    raw = row.raw_id
    return {
        "job": job.allocation,
        "raw": raw.partition(".")[0] if raw else None,
        "step": job.step,
        # absent in a step isn't 0: a step shows GPUs only when they were bound to it
        "step_gpus": count.gpus if count and count.gpus else None,
        "gpus": None,
    }


def _bad_bytes(row: SacctRow) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, text in zip(row.layout.columns, row.fields, strict=False):
        odd = next((char for char in text if char == "\ufffd" or 0xDC80 <= ord(char) <= 0xDCFF), None)
        if odd is not None:
            byte = None if odd == "\ufffd" else f"0x{ord(odd) - 0xDC00:02x}"
            found.append({"line": row.line, "byte": byte, "column": name})
    return found
