"""squeue: jobs that wait or run; with a heading, or with the command that names the columns.

A pending job holds nothing: its TRES are what it asks for. ``%b`` (TRES_PER_NODE) says N/A also for jobs that hold
GPUs by ``--gpus``, so N/A there is unknown and ``tres-alloc`` decides.

Source: man page squeue(1), options -o and -O.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from fourplane.formats.model import Reading, Status
from fourplane.formats.slurm.asking import gpus_in_specification
from fourplane.formats.slurm.commands import Command, command_of, is_remark
from fourplane.formats.slurm.tables import Columns, Row, Vocabulary, find_heading, read_table
from fourplane.formats.slurm.tres import count_gpus
from fourplane.formats.slurm.values import (
    KNOWN_STATES,
    WAITING,
    Moment,
    is_unset,
    parse_count,
    parse_job_id,
    parse_moment,
    parse_state,
    tasks_of,
)

__all__ = ["KIND", "QueuedJob", "read", "sniff", "summarise"]

KIND = "squeue"
MAX_SHOWN = 100

# letter of -o: (heading, our name); several letters share a heading
_LETTERS = {
    "A": ("JOBID", "raw"), "a": ("ACCOUNT", "account"), "B": ("EXEC_HOST", "batch_host"),
    "b": ("TRES_PER_NODE", "per_node"),
    "C": ("CPUS", "cpus"), "D": ("NODES", "nodes"), "E": ("DEPENDENCY", "dependency"), "e": ("END_TIME", "end"),
    "F": ("ARRAY_JOB_ID", "array_job"), "f": ("FEATURES", "features"), "G": ("GROUP", "gid"), "g": ("GROUP", "group"),
    "i": ("JOBID", "job"), "j": ("NAME", "name"), "K": ("ARRAY_TASK_ID", "array_task"), "k": ("COMMENT", "comment"),
    "L": ("TIME_LEFT", "time_left"), "l": ("TIME_LIMIT", "time_limit"), "M": ("TIME", "time"),
    "m": ("MIN_MEMORY", "memory"), "N": ("NODELIST", "node_list"), "n": ("REQ_NODES", "asked_nodes"),
    "o": ("COMMAND", "command"), "P": ("PARTITION", "partition"), "p": ("PRIORITY", "priority_share"),
    "Q": ("PRIORITY", "priority"), "q": ("QOS", "qos"), "R": ("NODELIST(REASON)", "node_list_or_reason"),
    "r": ("REASON", "reason"), "S": ("START_TIME", "start"), "T": ("STATE", "state"), "t": ("ST", "state"),
    "U": ("UID", "uid"), "u": ("USER", "user"), "V": ("SUBMIT_TIME", "submit"), "v": ("RESERVATION", "reservation"),
    "W": ("LICENSES", "licenses"), "w": ("WCKEY", "wckey"), "x": ("EXC_NODES", "excluded_nodes"),
    "Y": ("SCHEDNODES", "scheduled_nodes"), "Z": ("WORK_DIR", "work_dir"), "z": ("S:C:T", "sct"), "y": ("NICE", "nice"),
    "h": ("OVER_SUBSCRIBE", "oversubscribe"), "c": ("MIN_CPUS", "min_cpus"), "d": ("MIN_TMP_DISK", "min_tmp_disk"),
    "H": ("SOCKETS_PER_NODE", "sockets"), "I": ("CORES_PER_SOCKET", "cores"), "J": ("THREADS_PER_CORE", "threads"),
    "O": ("CONTIGUOUS", "contiguous"), "X": ("CORE_SPEC", "core_spec"),
}  # fmt: skip
_LONG = {
    "account": "account", "arrayjobid": "array_job", "arraytaskid": "array_task", "jobarrayid": "job", "jobid": "raw",
    "name": "name", "nodelist": "node_list", "numcpus": "cpus", "numnodes": "nodes", "partition": "partition",
    "qos": "qos", "reason": "reason", "reasonlist": "node_list_or_reason", "state": "state", "statecompact": "state",
    "starttime": "start", "submittime": "submit", "endtime": "end", "timeused": "time", "timelimit": "time_limit",
    "timeleft": "time_left", "tres-alloc": "tres", "tres": "tres", "tres-per-node": "per_node", "gres": "per_node",
    "tres-per-job": "per_job", "username": "user", "userid": "uid", "comment": "comment", "command": "command",
    "workdir": "work_dir", "dependency": "dependency", "prioritylong": "priority", "restartcnt": "restarts",
    "minmemory": "memory", "admin_comment": "admin_comment",
}  # fmt: skip
_NAMES = dict(_LETTERS.values()) | {
    "JOBID": "job", "GROUP": "group", "PRIORITY": "priority", "TRES_ALLOC": "tres", "TRES-ALLOC": "tres",
    "GRES": "per_node",
    "TRES_PER_JOB": "per_job", "TRES_PER_TASK": "per_task", "TRES_PER_SOCKET": "per_socket",
    "RESTART_COUNT": "restarts",
    "ADMIN_COMMENT": "admin_comment", "ARRAY_TASK_ID": "array_task", "MIN_MEMORY": "memory", "FEATURES": "features",
    "SHARED": "oversubscribe", "STDOUT": "stdout", "STDERR": "stderr", "CLUSTER": "cluster", "ACCRUE_TIME": "accrue",
}  # fmt: skip
_FREE = frozenset({"name", "comment", "command", "work_dir", "node_list_or_reason", "reason", "admin_comment",
                   "features", "stdout", "stderr", "licenses", "dependency"})  # fmt: skip
_LETTER = re.compile(r"%(\.?\d{0,4})([A-Za-z])")


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A row of squeue.

    Attributes:
        line: 1-based.
        job: displayed id, "" when no column gives one.
        raw: id without array, "" when it isn't listed.
        state: token, "" when it isn't listed.
        reason: as printed, "" when it isn't listed.
        gpus: held; 0 for a job that waits, None when no column says.
        gpus_asked: of the whole job (one task of an array), None when no column says.
        tasks: of an array that wait behind this row; None when they can't be counted.
        cells: by our names of the columns.
    """

    line: int
    job: str
    raw: str
    state: str
    reason: str
    nodes: int | None
    cpus: int | None
    gpus: int | None
    gpus_asked: int | None
    tasks: int | None
    start: Moment | None
    cells: dict[str, str]


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is output of squeue as a table."""
    if head.lstrip()[:1] in ("{", "["):
        return 0.0
    states = rows = 0
    for line in head[:65_536].split("\n")[:64]:
        line = line.rstrip("\r")
        if not line.strip() or len(line) > 16_384:
            continue
        command = command_of(line)
        if command is not None:
            if command.tool != "squeue" or "--json" in command.words:
                return 0.0
            return 0.95
        columns = find_heading(line, _NAMES)
        if columns is not None and ("job" in columns.names or {"st", "state", "reason"} & set(columns.names)):
            return 0.95 if "job" in columns.names else 0.55
        if not is_remark(line):
            rows += 1
            states += any(part.strip("# ") in KNOWN_STATES for part in line.split("|")) and line.count("|") >= 2
    return 0.55 if rows and states == rows else 0.0


def read(text: str) -> Reading[QueuedJob]:
    """Read squeue's table; without a heading and without its command it is refused."""
    reading: Reading[QueuedJob] = Reading(KIND)
    table = read_table(text, reading, Vocabulary("squeue", _NAMES, _FREE, _of_command))
    for row in table.rows:
        job = _job(row)
        if job is None:
            reading.refuse("slurm-row-not-understood", row.line, " ".join(row.cells.values()))
        else:
            reading.records.append(job)
    if table.bare and not reading.records:
        reading.refuse("slurm-columns-unnamed", table.bare[0][0], table.bare[0][1])
        reading.end(Status.REFUSED, "nothing names the columns")
        return reading
    for number, line in table.bare:
        reading.refuse("slurm-line-not-understood", number, line)
    if not reading.records and table.columns is None:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no row could be read")
    return reading


def _of_command(command: Command) -> Columns | None:
    long, short = command.value("O", "Format"), command.value("o", "format")
    if long:
        names, delimiters = [], set()
        for part in long.split(","):
            name, _, rest = part.partition(":")
            names.append(_LONG.get(name.strip().lower(), name.strip().lower()))
            delimiters.add(rest.lstrip(".0123456789"))
        if len(delimiters - {""}) > 1 or not names[0]:
            return None
        return Columns(tuple(names), next(iter(delimiters - {""}), "").strip())
    if short:
        letters = _LETTER.findall(short)
        between = {part for part in _LETTER.split(short)[3:-1:3] if part}
        if not letters or len(between) > 1:
            return None
        names = [_LETTERS.get(letter, ("", f"%{letter}"))[1] for _, letter in letters]
        return Columns(tuple(names), next(iter(between), "").strip(), single=between == {" "})
    return None


def _job(row: Row) -> QueuedJob | None:
    cells = row.cells
    job, raw = cells.get("job") or cells.get("raw", ""), cells.get("raw", "")
    identity = parse_job_id(job) if job else None
    if job and identity is None:
        return None
    state = parse_state(cells["state"]) if "state" in cells else None
    if "state" in cells and state is None:
        return None
    nodes = parse_count(cells.get("nodes", ""))
    reason = cells.get("reason", "")
    combined = cells.get("node_list_or_reason", "")
    if not reason and combined.startswith("("):
        reason = combined.strip("()")
    waiting = state is not None and state.name in WAITING
    asked = _asked(cells, nodes)
    held: int | None = None
    if waiting:
        held = 0
    elif cells.get("tres") and not is_unset(cells["tres"]):
        count = count_gpus(cells["tres"])
        held = None if count is None or (count.gpus == 0 and asked) else count.gpus
    return QueuedJob(
        line=row.line,
        job=job,
        raw=raw,
        state=state.name if state else "",
        reason=reason,
        nodes=nodes,
        cpus=parse_count(cells.get("cpus", "")),
        gpus=held,
        gpus_asked=asked,
        tasks=tasks_of(identity.array) if identity and identity.array else (1 if identity else None),
        start=parse_moment(cells["start"]) if "start" in cells else None,
        cells=cells,
    )


def _asked(cells: dict[str, str], nodes: int | None) -> int | None:
    tres = cells.get("tres", "")
    if tres and not is_unset(tres) and "gres/gpu" in tres.lower():
        count = count_gpus(tres)
        return count.gpus if count else None
    for name, times in (("per_job", 1), ("per_node", nodes)):
        value = cells.get(name, "")
        if value and not is_unset(value):
            count_each = gpus_in_specification(value)
            if count_each is not None:
                return None if times is None else count_each * times
    return 0 if tres and not is_unset(tres) else None


def summarise(reading: Reading[QueuedJob]) -> dict[str, Any]:
    """Return counts by state, partition and reason, and jobs; rows of one job in two listings are one job."""
    rows = reading.records
    jobs: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.job:
            entry = {
                "job": row.job, "raw": row.raw or None, "state": row.state or None, "reason": row.reason or None,
                "nodes": row.nodes, "cpus": row.cpus, "gpus": row.gpus, "gpus_asked": row.gpus_asked,
                "tasks_pending": row.tasks if row.state in WAITING else None,
            }  # fmt: skip
            known = jobs.setdefault(row.job, entry)
            known.update({key: value for key, value in entry.items() if known[key] is None})
    listed = list(jobs.values())
    running = [job["gpus"] for job in listed if job["state"] not in WAITING]
    waiting = [
        None if job["gpus_asked"] is None or job["tasks_pending"] is None else job["gpus_asked"] * job["tasks_pending"]
        for job in listed
        if job["state"] in WAITING
    ]
    return {
        "rows": len(rows),
        "jobs": listed[:MAX_SHOWN],
        "states": dict(Counter(row.state for row in rows if row.state)),
        "partitions": dict(Counter(row.cells["partition"] for row in rows if "partition" in row.cells)),
        "reasons": dict(Counter(row.reason for row in rows if row.reason)),
        "gpus": _sum(running) if listed else None,
        "gpus_running": _sum(running) if listed else None,
        "gpus_pending": _sum(waiting) if listed else None,
    }


def _sum(values: list[int | None]) -> int | None:
    return None if None in values else sum(value for value in values if value is not None)
