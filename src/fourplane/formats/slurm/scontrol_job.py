"""``scontrol show job``, with ``-d`` and ``-o``: the job, its state, what it holds and on which device of which node.

Source: man page scontrol(1).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fourplane.base.hostlists import HostListError, expand
from fourplane.formats.model import Reading, Status
from fourplane.formats.slurm.asking import gpus_in_specification
from fourplane.formats.slurm.scontrol import ScontrolRecord, records_of
from fourplane.formats.slurm.tres import GpuCount, count_gpus, parse_gres
from fourplane.formats.slurm.values import (
    WAITING,
    Moment,
    parse_count,
    parse_duration,
    parse_job_id,
    parse_moment,
    parse_state,
)

__all__ = ["KIND", "GresShare", "ShownJob", "read", "sniff", "summarise"]

KIND = "scontrol-job"
MAX_SHOWN = 100
_ENDLESS = {"RUNNING", "SUSPENDED", "COMPLETING", "STOPPED"} | WAITING


@dataclass(frozen=True, slots=True)
class GresShare:
    """GPUs on the nodes of one ``-d`` line: per node, with indices as written."""

    node: str
    nodes: int
    gpus: int | None
    slices: int | None
    indexes: str | None
    cpu_ids: str
    kind: str


@dataclass(frozen=True, slots=True)
class ShownJob:
    """One job.

    Attributes:
        line: 1-based, of its first line.
        job: id; ``array`` is ``JOB_TASK`` when it is a task of an array, "" otherwise.
        state: token, "" when the line is missing.
        gpus: held; 0 while it waits, None when accounting doesn't track GPUs or the text doesn't say.
        gpus_asked: by its TRES or request, 0 when none is asked for.
        end: None while it runs: EndTime is the time limit then, kept as ``limit_end``.
        details: of ``-d``.
        fields: everything else, by Slurm's own keys.
    """

    line: int
    job: str
    array: str
    name: str
    user: str
    account: str
    partition: str
    state: str
    reason: str
    nodes: int | None
    node_list: str
    cpus: int | None
    gpus: int | None
    gpus_asked: int
    restarts: int | None
    submit: Moment | None
    start: Moment | None
    end: Moment | None
    limit_end: Moment | None
    run_time_s: float | None
    exit_code: str
    details: tuple[GresShare, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is ``scontrol show job``."""
    for line in head[:65_536].split("\n")[:40]:
        if line.lstrip().startswith("JobId=") and ("JobName=" in line or "ArrayJobId=" in line):
            return 0.97
    return 0.0


def read(text: str) -> Reading[ShownJob]:
    """Read jobs in block or one-line form; parts replaced by dots make the text truncated."""
    reading: Reading[ShownJob] = Reading(KIND)
    elided = False
    for record in records_of(text, reading, "JobId", frozenset()):
        job = _job(record)
        if job is None:
            reading.refuse("slurm-record-refused", record.line, f"JobId={record.fields.get('JobId', '')}")
            continue
        reading.records.append(job)
        if record.ambiguous:
            reading.note("slurm-key-twice", record.line, f"job {job.job}: {', '.join(sorted(record.ambiguous))}")
        if record.elided:
            elided = True
            reading.note("slurm-record-elided", record.line, f"job {job.job}")
        if job.gpus is None and job.gpus_asked and job.state not in WAITING:
            reading.note("slurm-gpu-not-tracked", record.line, f"job {job.job} asks for {job.gpus_asked} GPUs")
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no job could be read")
    elif elided or not reading.records[-1].state:
        reading.end(Status.TRUNCATED, "parts of a record are missing")
    return reading


def _job(record: ScontrolRecord) -> ShownJob | None:
    identity = record.get("JobId")
    if identity is None or parse_job_id(identity) is None:
        return None
    state = parse_state(record.get("JobState") or "")
    waiting = state is not None and state.name in WAITING
    nodes = _number(record.get("NumNodes"))
    details = tuple(_share(detail.nodes, detail.gres, detail.cpu_ids) for detail in record.details)
    asked = _asked(record, nodes)
    end = parse_moment(record.get("EndTime") or "")
    open_end = state is not None and state.name in _ENDLESS
    array_job, array_task = record.get("ArrayJobId"), record.get("ArrayTaskId")
    return ShownJob(
        line=record.line,
        job=identity,
        array=f"{array_job}_{array_task}" if array_job and array_task else "",
        name=record.fields.get("JobName", ""),
        user=(record.get("UserId") or "").partition("(")[0],
        account=record.get("Account") or "",
        partition=record.get("Partition") or "",
        state=state.name if state else "",
        reason=record.get("Reason") or "",
        nodes=nodes,
        node_list=record.get("NodeList") or "",
        cpus=_number(record.get("NumCPUs")),
        gpus=0 if waiting else _held(record, details, asked),
        gpus_asked=asked,
        restarts=_number(record.get("Restarts")),
        submit=parse_moment(record.get("SubmitTime") or ""),
        start=None if waiting else parse_moment(record.get("StartTime") or ""),
        end=None if open_end else end,
        limit_end=end if open_end else None,
        run_time_s=parse_duration(record.get("RunTime") or ""),
        exit_code=record.get("ExitCode") or "",
        details=details,
        fields=record.fields,
    )


def _number(text: str | None) -> int | None:
    """Return a count; of a range such as ``2-4`` (nodes of a pending job) the lower end."""
    return parse_count((text or "").partition("-")[0])


def _share(nodes: str, gres: str, cpu_ids: str) -> GresShare:
    try:
        count = len(expand(nodes))
    except HostListError:
        count = 1
    found = parse_gres(gres) if gres and gres != "(null)" else None
    if found is None:
        return GresShare(nodes, count, 0 if gres in ("", "(null)") else None, 0, None, cpu_ids, "")
    kinds = [entry.kind for entry in found.entries if entry.is_gpu and entry.kind]
    return GresShare(nodes, count, found.gpus, found.slices, found.index, cpu_ids, kinds[0] if len(kinds) == 1 else "")


def _recorded(record: ScontrolRecord) -> GpuCount | None:
    """Return the GPUs of AllocTRES, or of TRES before Slurm 23.02; None when they name none."""
    text = record.get("AllocTRES", "TRES")
    return count_gpus(text) if text and "gres/gpu" in text.lower() else None


def _held(record: ScontrolRecord, details: tuple[GresShare, ...], asked: int) -> int | None:
    recorded = _recorded(record)
    if recorded is not None:
        return recorded.gpus
    shares = [
        None if one.gpus is None or one.slices is None else (one.gpus + one.slices) * one.nodes for one in details
    ]
    if shares and None not in shares and (total := sum(share for share in shares if share)):
        return total
    if asked or record.get("AllocTRES", "TRES") is None:
        return None
    return 0


def _asked(record: ScontrolRecord, nodes: int | None) -> int:
    text = record.get("ReqTRES") or record.get("TRES")
    if text and "gres/gpu" in text.lower():
        count = count_gpus(text)
        return count.gpus if count else 0
    for key, times in (("TresPerJob", 1), ("TresPerNode", nodes or 1), ("Gres", nodes or 1)):
        value = record.get(key)
        if value and "gpu" in value:
            return (gpus_in_specification(value) or 0) * times
    return 0


def summarise(reading: Reading[ShownJob]) -> dict[str, Any]:
    """Return the figures of the jobs; those of a single one on top as well."""
    jobs = [_figures(job) for job in reading.records[:MAX_SHOWN]]
    if not jobs:
        return {}
    found: dict[str, Any] = {
        "jobs": jobs,
        "states": dict(Counter(job.state for job in reading.records if job.state)),
    }
    return found | jobs[0] if len(reading.records) == 1 else found


def _figures(job: ShownJob) -> dict[str, Any]:
    return {
        "job": job.array or job.job,
        "raw": job.job,
        "name": job.name or None,
        "state": job.state or None,
        "reason": job.reason or None,
        "nodes": job.nodes,
        "node_list": job.node_list or None,
        "cpus": job.cpus,
        "gpus": job.gpus,
        "gpus_asked": job.gpus_asked,
        "restarts": job.restarts,
        "submit": job.submit.text or None if job.submit else None,
        "start": job.start.text or None if job.start else None,
        "end": job.end.text or None if job.end else None,
        "run_time_s": job.run_time_s,
        "exit_code": job.exit_code or None,
        "gres_detail": [
            {"node": one.node, "nodes": one.nodes, "gpus": one.gpus, "indexes": one.indexes, "cpu_ids": one.cpu_ids}
            for one in job.details
        ],
    }
