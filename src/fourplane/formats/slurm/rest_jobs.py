"""Jobs of Slurm's JSON: ``/slurm/*/jobs``, ``/slurmdb/*/jobs``, ``squeue --json``, ``sacct --json``.

Both sources give one record. slurmdbd knows TRES only as far as they are tracked; slurmctld's ``gres_detail`` knows
the devices of live jobs even when they are not. ``end_time`` of a running job is its time limit.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from fourplane.formats.documents import text_of
from fourplane.formats.model import Reading, Status
from fourplane.formats.slurm.asking import gpus_in_specification, gpus_in_submit_line
from fourplane.formats.slurm.rest import Envelope, number, open_document, text_or_empty, time_of, words
from fourplane.formats.slurm.tres import count_gpus, parse_gres, parse_tres, tres_of_list
from fourplane.formats.slurm.values import ENDED, WAITING, parse_count

__all__ = ["KIND", "ApiJob", "ApiStep", "read", "sniff", "summarise"]

KIND = "slurmrestd-jobs"

_LIST = re.compile(r'"jobs"\s{0,20}:\s{0,20}\[')
MAX_SHOWN = 100
MAX_STEPS = 10_000

_MARKS = (
    '"job_state"',
    '"submit_line"',
    '"allocation_nodes"',
    '"gres_detail"',
    '"association_id"',
    '"derived_exit_code"',
)


@dataclass(frozen=True, slots=True)
class ApiStep:
    """A step in slurmdbd's record: id, state, TRES by key."""

    step: str
    name: str
    state: str
    tres: dict[str, str]
    elapsed_s: int | None


@dataclass(frozen=True, slots=True)
class ApiJob:
    """One job, or one attempt of it in slurmdbd's record.

    Attributes:
        job: id.
        array: id and task of an array (``12_3``), or the tasks that wait behind the record; "" without.
        het: id of the heterogeneous job with the offset (``67+1``), "" without.
        state: first word; ``flags`` the others, such as COMPLETING.
        gpus: held; 0 while it waits, None when unknown, which untracked GPUs are.
        gpus_asked: by requested TRES or ``tres_per_*``; 0 when none is asked for.
        gpus_asked_in_line: by the submit line; None when it isn't recorded.
        tracked: whether its TRES name gres/gpu; False when GPUs were asked for, held and not recorded; else None.
        gres_detail: per node, as slurmctld gives it for live jobs.
        start: epoch; None when not started. ``end`` is None while it runs, ``limit_end`` when its time ends.
        restarts: None when the version doesn't say.
        slurm: release of Slurm, None when the document doesn't say; ``data_parser`` likewise.
        whole: False when the document was cut inside this record.
    """

    job: str
    array: str
    het: str
    name: str
    user: str
    account: str
    partition: str
    qos: str
    cluster: str
    state: str
    flags: tuple[str, ...]
    reason: str
    nodes: int | None
    node_list: str
    cpus: int | None
    cpus_asked: int | None
    gpus: int | None
    gpus_asked: int
    gpus_asked_in_line: int | None
    tracked: bool | None
    gres_detail: tuple[str, ...] | None
    allocated: dict[str, str] | None
    submit: int | None
    eligible: int | None
    start: int | None
    end: int | None
    limit_end: int | None
    elapsed_s: int | None
    suspended_s: int | None
    exit_code: int | None
    signal: int | None
    restarts: int | None
    submit_line: str
    steps: tuple[ApiStep, ...] = ()
    slurm: str | None = None
    data_parser: str | None = None
    whole: bool = True


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a list of jobs from Slurm as JSON."""
    if "{" not in head[:65_536]:
        return 0.0
    marks = sum(mark in head for mark in _MARKS)
    listed = _LIST.search(head) is not None
    if listed and ('"openapi' in head or "data_parser" in head):
        return 0.97
    if (marks >= 3 and '"job_id"' in head) or marks >= 4:
        return 0.95
    return 0.6 if marks >= 2 and listed else 0.0


def read(text: str) -> Reading[ApiJob]:
    """Read jobs of any version; a document that was cut keeps its whole jobs, and the last one marked as not whole."""
    reading: Reading[ApiJob] = Reading(KIND)
    envelope = open_document(text, reading, ("jobs",), "job_id")
    if envelope is None:
        return reading
    for place, entry in enumerate(envelope.entries):
        last_cut = envelope.cut and place == len(envelope.entries) - 1
        job = _job(entry, envelope, whole=not last_cut) if isinstance(entry, dict) else None
        if last_cut:
            reading.refuse("slurm-document-cut", text.count("\n") + 1, f"job {job.job}" if job else f"entry {place}")
        if job is not None:
            reading.records.append(job)
        elif not last_cut:
            reading.refuse("slurm-record-refused", 0, f"entry {place}: {str(entry)[:120]}")
    untracked = [job for job in reading.records if job.tracked is False]
    if untracked:
        reading.note("slurm-gpu-not-tracked", 0, f"{len(untracked)} jobs, first job {untracked[0].job}")
    if not reading.records and envelope.entries and not envelope.cut:
        reading.end(Status.REFUSED, "no entry is a job")
    return reading


def _job(entry: dict[str, Any], envelope: Envelope, *, whole: bool) -> ApiJob | None:
    identity = number(entry.get("job_id"))
    if identity is None:
        return None
    database = isinstance(entry.get("time"), dict) or isinstance(entry.get("tres"), dict)
    states = words(entry["state"].get("current") if isinstance(entry.get("state"), dict) else entry.get("job_state"))
    state = states[0] if states else ""
    times = _database_times(entry) if database else _controller_times(entry)
    waiting = state in WAITING and not (database and state in ENDED and times["start"])
    requested, allocated = _tres(entry, database)
    details = _texts(entry["gres_detail"]) if isinstance(entry.get("gres_detail"), list) else None
    line = entry.get("submit_line")
    nodes = number(entry.get("allocation_nodes" if database else "node_count"))
    in_line = gpus_in_submit_line(line, nodes) if isinstance(line, str) and line else (0 if line == "" else None)
    asked = _asked(entry, requested, nodes)
    gpus, tracked = _held(allocated, details, max(asked, in_line or 0), waiting=waiting)
    open_end = bool(state) and state not in ENDED
    node_list = text_or_empty(entry.get("nodes"), 4000)
    return ApiJob(
        job=str(identity),
        array=_array(entry, database),
        het=_het(entry, database),
        name=text_or_empty(entry.get("name")),
        user=text_or_empty(entry.get("user" if database else "user_name")),
        account=text_or_empty(entry.get("account")),
        partition=text_or_empty(entry.get("partition")),
        qos=text_or_empty(entry.get("qos")),
        cluster=text_or_empty(entry.get("cluster")) or envelope.cluster or "",
        state=state,
        flags=tuple(states[1:]),
        reason=text_or_empty(
            entry["state"].get("reason")
            if database and isinstance(entry.get("state"), dict)
            else entry.get("state_reason")
        ),
        nodes=nodes,
        node_list="" if node_list.lower() in ("none assigned", "(null)") else node_list,
        cpus=parse_count((allocated or {}).get("cpu", "")) if database else number(entry.get("cpus")),
        cpus_asked=parse_count((requested or {}).get("cpu", "")),
        gpus=gpus,
        gpus_asked=asked,
        gpus_asked_in_line=in_line,
        tracked=tracked,
        gres_detail=details,
        allocated=allocated,
        submit=times["submit"],
        eligible=times["eligible"],
        start=None if waiting else times["start"],
        end=None if open_end else times["end"],
        limit_end=times["end"] if open_end and not waiting and not database else None,
        elapsed_s=times["elapsed"],
        suspended_s=times["suspended"],
        **_exit(entry.get("exit_code")),
        restarts=number(entry.get("restart_cnt")),
        submit_line=line[:4000] if isinstance(line, str) else "",
        steps=_steps(entry.get("steps")) if database else (),
        slurm=envelope.slurm,
        data_parser=envelope.data_parser,
        whole=whole,
    )


def _database_times(entry: dict[str, Any]) -> dict[str, int | None]:
    time = entry.get("time")
    time = time if isinstance(time, dict) else {}
    return {
        "submit": time_of(time.get("submission")), "eligible": time_of(time.get("eligible")),
        "start": time_of(time.get("start")), "end": time_of(time.get("end")), "elapsed": number(time.get("elapsed")),
        "suspended": number(time.get("suspended")),
    }  # fmt: skip


def _controller_times(entry: dict[str, Any]) -> dict[str, int | None]:
    start, end = time_of(entry.get("start_time")), time_of(entry.get("end_time"))
    states = words(entry.get("job_state"))
    ended = bool(states) and states[0] in ENDED
    return {
        "submit": time_of(entry.get("submit_time")), "eligible": time_of(entry.get("eligible_time")), "start": start,
        "end": end, "elapsed": end - start if ended and start and end and end >= start else None,
        "suspended": None,
    }  # fmt: skip


def _tres(entry: dict[str, Any], database: bool) -> tuple[dict[str, str] | None, dict[str, str] | None]:
    """Return requested and allocated TRES; None when the record has none, an empty one when nothing is allocated."""
    if database:
        tres = entry.get("tres")
        tres = tres if isinstance(tres, dict) else {}
        return tres_of_list(tres.get("requested")), tres_of_list(tres.get("allocated"))
    texts = [entry.get(key) for key in ("tres_req_str", "tres_alloc_str")]
    requested, allocated = (parse_tres(text) if isinstance(text, str) else None for text in texts)
    return requested, allocated


def _texts(values: list[Any]) -> tuple[str, ...]:
    return tuple(text for value in values[:65_536] if (text := text_of(value, 400)) is not None)


def _asked(entry: dict[str, Any], requested: dict[str, str] | None, nodes: int | None) -> int:
    count = count_gpus(requested) if requested else None
    if count is not None and count.gpus:
        return count.gpus
    for key, times in (
        ("tres_per_job", 1),
        ("tres_per_node", nodes or 1),
        ("tres_per_task", number(entry.get("tasks")) or 1),
    ):
        value = entry.get(key)
        if isinstance(value, str) and "gpu" in value and (each := gpus_in_specification(value[:4000])) is not None:
            return each * times
    return 0


def _held(
    allocated: dict[str, str] | None, details: tuple[str, ...] | None, asked: int, *, waiting: bool
) -> tuple[int | None, bool | None]:
    """Return GPUs held, and whether accounting tracks them."""
    named = allocated is not None and any(key.startswith("gres/gpu") for key in allocated if key[8:9] in ("", ":"))
    if waiting:
        return 0, True if named else None
    if named:
        count = count_gpus(allocated or {})
        return (count.gpus if count else None), True
    live = _from_details(details)
    if live:
        return live, False if allocated else None
    if asked:
        return None, False if allocated else None
    return (0 if allocated else None), None


def _from_details(details: tuple[str, ...] | None) -> int | None:
    total = 0
    for detail in details or ():
        gres = parse_gres(detail)
        if gres is None or gres.gpus is None or gres.slices is None:
            return None
        total += gres.gpus + gres.slices
    return total


def _array(entry: dict[str, Any], database: bool) -> str:
    if database:
        array = entry.get("array")
        array = array if isinstance(array, dict) else {}
        master, task, waiting = number(array.get("job_id")), number(array.get("task_id")), array.get("task")
    else:
        master, task, waiting = (number(entry.get("array_job_id")), number(entry.get("array_task_id")),
                                 entry.get("array_task_string"))  # fmt: skip
    if not master:
        return ""
    if task is not None:
        return f"{master}_{task}"
    tasks = text_of(waiting, 400)
    return f"{master}_[{tasks}]" if tasks else str(master)


def _het(entry: dict[str, Any], database: bool) -> str:
    if database:
        het = entry.get("het")
        het = het if isinstance(het, dict) else {}
        master, offset = number(het.get("job_id")), number(het.get("job_offset"))
    else:
        master, offset = number(entry.get("het_job_id")), number(entry.get("het_job_offset"))
    return f"{master}+{offset or 0}" if master else ""


def _exit(value: Any) -> dict[str, int | None]:
    """Return exit code and signal; 0.0.38 of slurmctld writes the wait status itself."""
    if isinstance(value, dict):
        signal = value.get("signal")
        signal = signal if isinstance(signal, dict) else {}
        return {
            "exit_code": number(value.get("return_code")),
            "signal": number(signal.get("id", signal.get("signal_id"))),
        }
    status = number(value)
    if status is None or status > 0xFFFF:
        return {"exit_code": None, "signal": None}
    return {"exit_code": status >> 8, "signal": status & 0x7F or None}


def _steps(value: Any) -> tuple[ApiStep, ...]:
    found: list[ApiStep] = []
    for entry in value[:MAX_STEPS] if isinstance(value, list) else []:
        if not isinstance(entry, dict):
            continue
        step = entry.get("step")
        step = step if isinstance(step, dict) else {}
        tres, time = entry.get("tres"), entry.get("time")
        states = words(entry.get("state"))
        found.append(
            ApiStep(
                step=text_or_empty(step.get("id"), 80),
                name=text_or_empty(step.get("name"), 200),
                state=states[0] if states else "",
                tres=(tres_of_list(tres.get("allocated")) or {}) if isinstance(tres, dict) else {},
                elapsed_s=number(time.get("elapsed")) if isinstance(time, dict) else None,
            )
        )
    return tuple(found)


def summarise(reading: Reading[ApiJob]) -> dict[str, Any]:
    """Return the figures of the jobs; those of a single one on top as well."""
    jobs = reading.records
    if not jobs:
        return {}
    tracked = {job.tracked for job in jobs} - {None}
    found: dict[str, Any] = {
        "slurm": jobs[0].slurm,
        "data_parser": jobs[0].data_parser,
        "jobs": [_figures(job) for job in jobs[:MAX_SHOWN]],
        "states": dict(Counter(job.state for job in jobs if job.state)),
        "gpu_tracked": True if True in tracked else (False if False in tracked else None),
        "gpus_held": _sum([job.gpus for job in jobs]),
        "restart_cnt": jobs[0].restarts if len(jobs) == 1 else None,
    }
    return found | _figures(jobs[0]) if len(jobs) == 1 else found


def _sum(values: list[int | None]) -> int | None:
    return None if None in values else sum(value for value in values if value is not None)


def _figures(job: ApiJob) -> dict[str, Any]:
    return {
        "job": job.job,
        "array": job.array or None,
        "state": job.state or None,
        "cluster": job.cluster or None,
        "nodes": job.nodes,
        "node_list": job.node_list or None,
        "cpus": job.cpus,
        "cpus_asked": job.cpus_asked,
        "submit": job.submit,
        "eligible": job.eligible,
        "start": job.start,
        "end": job.end,
        "elapsed_s": job.elapsed_s,
        "gpus": job.gpus,
        "gpus_asked": job.gpus_asked,
        "gpus_asked_in_submit_line": job.gpus_asked_in_line,
        "gres_detail": None if job.gres_detail is None else list(job.gres_detail),
        "restarts": job.restarts,
        "whole": job.whole,
    }
