"""sinfo: nodes with their GRES and state; with a heading, with its command, or by what its cells say themselves.

sinfo lists a node once per partition, so nodes are counted once by their names. Without a heading only cells that
name themselves are read: a GRES string, one with ``(IDX:…)`` is the use, a state of a node, and a number of nodes
before nothing but GRES strings.

Source: man page sinfo(1), options -o and -O; Slurm's page gres.html for GRES strings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fourplane.formats.model import Reading, Status
from fourplane.formats.slurm.commands import Command, command_of, is_remark
from fourplane.formats.slurm.tables import Columns, Row, Vocabulary, find_heading, read_table
from fourplane.formats.slurm.tres import Gres, parse_gres
from fourplane.formats.slurm.values import parse_count, word_set

__all__ = ["KIND", "NodeRow", "read", "sniff"]

KIND = "sinfo"

_LETTERS = {
    "A": ("NODES(A/I)", "nodes_ai"), "a": ("AVAIL", "avail"), "B": ("MAX_CPUS_PER_NODE", "max_cpus"),
    "C": ("CPUS(A/I/O/T)", "cpus"), "c": ("CPUS", "cpus_total"), "D": ("NODES", "nodes"), "d": ("TMP_DISK", "tmp_disk"),
    "E": ("REASON", "reason"), "e": ("FREE_MEM", "free_mem"), "F": ("NODES(A/I/O/T)", "nodes_aiot"),
    "f": ("AVAIL_FEATURES", "features"), "b": ("ACTIVE_FEATURES", "active_features"), "G": ("GRES", "gres"),
    "g": ("GROUPS", "groups"), "H": ("TIMESTAMP", "timestamp"), "h": ("OVERSUBSCRIBE", "oversubscribe"),
    "I": ("PRIO_JOB_FACTOR", "prio_job"), "i": ("RESERVATION", "reservation"), "L": ("DEFAULTTIME", "default_time"),
    "l": ("TIMELIMIT", "time_limit"), "M": ("PREEMPT_MODE", "preempt_mode"), "m": ("MEMORY", "memory"),
    "N": ("NODELIST", "hosts"), "n": ("HOSTNAMES", "hosts"), "O": ("CPU_LOAD", "cpu_load"),
    "o": ("NODE_ADDR", "address"),
    "P": ("PARTITION", "partition"), "R": ("PARTITION", "partition"), "p": ("PRIO_TIER", "prio_tier"),
    "r": ("ROOT", "root"), "S": ("ALLOCNODES", "alloc_nodes"), "s": ("JOB_SIZE", "job_size"), "T": ("STATE", "state"),
    "t": ("STATE", "state"), "U": ("USER", "user_id"), "u": ("USER", "user"), "V": ("CLUSTER", "cluster"),
    "v": ("VERSION", "version"), "w": ("WEIGHT", "weight"), "X": ("SOCKETS", "sockets"), "Y": ("CORES", "cores"),
    "Z": ("THREADS", "threads"), "z": ("S:C:T", "sct"),
}  # fmt: skip
_NAMES = dict(_LETTERS.values()) | {
    "USER": "user", "GRES_USED": "used", "ALLOCMEM": "alloc_mem", "COMMENT": "comment", "EXTRA": "extra",
    "PORT": "port",
    "NODES": "nodes", "STATELONG": "state", "STATECOMPLETE": "state", "FREEMEM": "free_mem", "CPUS(A/I/O/T) ": "cpus",
    "MAX_CPUS_PER_SOCKET": "max_cpus_socket", "DEFAULTTIME": "default_time", "REASON": "reason",
}  # fmt: skip
_LONG = {
    "nodelist": "hosts", "nodehost": "hosts", "nodes": "nodes", "gres": "gres", "gresused": "used", "state": "state",
    "statelong": "state", "statecompact": "state", "statecomplete": "state", "partition": "partition",
    "partitionname": "partition", "cpusstate": "cpus", "cpus": "cpus_total", "memory": "memory",
    "allocmem": "alloc_mem",
    "reason": "reason", "features": "features", "available": "avail", "time": "time_limit", "freemem": "free_mem",
    "cpusload": "cpu_load", "nodeaddr": "address", "cluster": "cluster", "version": "version",
}  # fmt: skip
_FREE = frozenset({"reason", "comment", "extra"})
_OWN = {"avail", "hosts", "gres", "used", "cpus", "nodes_aiot", "time_limit", "nodes_ai"}

_STATES = word_set(
    "alloc allocated blocked comp completing down drain drained draining drng fail failg failing future futr idle "
    "inval maint mix mixed no_respond npc perfctrs planned plnd pow_dn pow_up power_down power_up powered_down "
    "powering_down powering_up reboot rebooting reserved resv unk unknown"
)
_STATE = re.compile(r"([a-z_]{2,20})[*~#!%$@^+-]{0,2}", re.ASCII)
_CPUS = re.compile(r"\d{1,9}/\d{1,9}/\d{1,9}/\d{1,9}", re.ASCII)
_HOSTS = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]|\[[0-9,-]{1,2000}\]|,(?=[A-Za-z])){0,1000}", re.ASCII)
_NOTHING = {"(null)", "N/A", ""}


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A row of sinfo.

    Attributes:
        line: 1-based.
        hosts: names as written, may be a host list; "" when the listing only counts nodes.
        nodes: number of nodes, None when no column gives it.
        state: with its suffix, such as ``drained*``; "" without the column.
        partition: "" without the column.
        gres: configured; None when the node has none (``(null)``) or the column lacks.
        used: in use, likewise.
        has_gres: whether the listing has the column at all.
        has_used: likewise.
        cells: by our names of the columns; {} when nobody named them.
        columns: of the listing.
    """

    line: int
    hosts: str
    nodes: int | None
    state: str
    partition: str
    gres: Gres | None
    used: Gres | None
    has_gres: bool
    has_used: bool
    cells: dict[str, str]
    columns: int = 0


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is output of sinfo as a table."""
    if head.lstrip()[:1] in ("{", "["):
        return 0.0
    bare: list[str] = []
    for line in head[:65_536].split("\n")[:64]:
        line = line.rstrip("\r")
        if not line.strip() or len(line) > 16_384:
            continue
        command = command_of(line)
        if command is not None:
            return 0.95 if command.tool == "sinfo" and "--json" not in command.words else 0.0
        if is_remark(line):
            continue
        columns = find_heading(line, _NAMES)
        if columns is not None and not bare:
            names = set(columns.names)
            return 0.9 if names & _OWN and not names & {"jobid", "jobid(raw)", "st"} else 0.0
        bare.append(line)
    if head[65_536:] or not bare:
        bare = bare[:-1]
    return 0.7 if bare and _shape([(0, line) for line in bare]) is not None else 0.0


def read(text: str) -> Reading[NodeRow]:
    """Read sinfo's table; one without a heading by the shape of its cells, else it is refused."""
    reading: Reading[NodeRow] = Reading(KIND)
    table = read_table(text, reading, Vocabulary("sinfo", _NAMES, _FREE, _of_command))
    for row in table.rows:
        found = _named(row)
        if found is None:
            reading.refuse("slurm-row-not-understood", row.line, " ".join(row.cells.values()))
        else:
            reading.records.append(found)
    if table.bare and not table.rows:
        _read_bare(table.bare, reading)
    else:
        for number, line in table.bare:
            reading.refuse("slurm-line-not-understood", number, line)
    if not reading.records and table.columns is None:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "nothing names the columns" if table.bare else "no row could be read")
    for record in reading.records:
        for gres in (record.gres, record.used):
            if gres is not None and any(entry.count is None for entry in gres.entries):
                reading.note(
                    "slurm-value-cut", record.line, f"{record.hosts or record.nodes}: a GRES without its count"
                )
    return reading


def _of_command(command: Command) -> Columns | None:
    if not command.has("h", "noheader"):
        return None
    long, short = command.value("O", "Format"), command.value("o", "format")
    if long:
        names, delimiters = [], set()
        for part in long.split(","):
            name, _, rest = part.partition(":")
            names.append(_LONG.get(name.strip().lower(), name.strip().lower()))
            delimiters.add(rest.lstrip(".0123456789").strip())
        return Columns(tuple(names), next(iter(delimiters - {""}), "")) if len(delimiters - {""}) < 2 else None
    if short:
        letters = re.findall(r"%\.?\d{0,4}([A-Za-z])", short)
        between = {part for part in re.split(r"%\.?\d{0,4}[A-Za-z]", short)[1:-1] if part}
        if letters and len(between) < 2:
            names = [_LETTERS.get(letter, ("", f"%{letter}"))[1] for letter in letters]
            return Columns(tuple(names), next(iter(between), "").strip(), single=between == {" "})
    return None


def _gres(text: str | None) -> tuple[Gres | None, bool]:
    """Return a GRES cell, and whether it can be taken."""
    if text is None or text in _NOTHING:
        return None, True
    found = parse_gres(text)
    return found, found is not None


def _named(row: Row) -> NodeRow | None:
    cells = row.cells
    gres, gres_fine = _gres(cells.get("gres"))
    used, used_fine = _gres(cells.get("used"))
    if not gres_fine or not used_fine:
        return None
    counted = parse_count(cells["nodes"]) if "nodes" in cells else None
    if "nodes" in cells and counted is None:
        return None
    return NodeRow(
        row.line, cells.get("hosts", ""), counted, cells.get("state", ""), cells.get("partition", ""), gres, used,
        "gres" in cells, "used" in cells, cells, row.width,
    )  # fmt: skip


# tables without a heading


@dataclass(frozen=True, slots=True)
class _Shape:
    width: int
    bars: bool
    gres: int | None
    used: int | None
    state: int | None
    counts: int | None
    hosts: int | None
    partition: int | None


def _split(line: str, bars: bool) -> list[str]:
    return [part.strip() for part in line.strip().rstrip("|").split("|")] if bars else line.split()


def _shape(bare: list[tuple[int, str]]) -> _Shape | None:
    """Return which column is what, as far as every cell of it says so; None when that isn't enough or is ambiguous."""
    bars = all("|" in line for _, line in bare)
    rows = [_split(line, bars) for _, line in bare[:2000]]
    width = len(rows[0])
    if not 1 <= width <= 64 or any(len(row) != width for row in rows):
        return None
    columns = list(zip(*rows, strict=True))
    parsed = [[_gres(cell) for cell in column] for column in columns]
    with_gpus = [
        at
        for at in range(width)
        if all(fine for _, fine in parsed[at])
        and any(gres and any(e.is_gpu for e in gres.entries) for gres, _ in parsed[at])
    ]
    indexed = [at for at in with_gpus if any(gres is not None and gres.indexed for gres, _ in parsed[at])]
    if len(with_gpus) not in (1, 2) or len(indexed) > 1 or (len(with_gpus) == 2 and len(indexed) != 1):
        return None
    used = indexed[0] if indexed else None
    gres = next((at for at in with_gpus if at != used), None)
    states = [at for at in range(width) if at not in with_gpus and all(_is_state(cell) for cell in columns[at])]
    if len(states) > 1:
        return None
    state = states[0] if states else None
    numbers = [
        at for at in range(width) if all(cell.isascii() and cell.isdigit() and len(cell) < 10 for cell in columns[at])
    ]
    others = set(range(width)) - set(with_gpus)
    counts = 0 if others == {0} and numbers == [0] else None
    hosts = 0 if counts is None and 0 not in numbers and all(_HOSTS.fullmatch(cell) for cell in columns[0]) else None
    if counts is None and (hosts is None or state is None):
        return None
    return _Shape(
        width,
        bars,
        gres,
        used,
        state,
        counts,
        hosts,
        _partition(columns, others - {0, -1 if state is None else state}, hosts),
    )


def _is_state(cell: str) -> bool:
    match = _STATE.fullmatch(cell)
    return match is not None and match[1] in _STATES


def _partition(columns: list[tuple[str, ...]], rest: set[int], hosts: int | None) -> int | None:
    """Return the column of words that alone differs between the rows of one node: sinfo repeats a node by partition."""
    if hosts is None:
        return None
    seen: dict[str, int] = {}
    differing: set[int] = set()
    repeated = False
    words = [
        at for at in rest if at is not None and not all(_CPUS.fullmatch(cell) or cell.isdigit() for cell in columns[at])
    ]
    for row, name in enumerate(columns[hosts]):
        first = seen.setdefault(name, row)
        if first != row:
            repeated = True
            differing |= {at for at in words if columns[at][row] != columns[at][first]}
    return differing.pop() if repeated and len(differing) == 1 else None


def _read_bare(bare: list[tuple[int, str]], reading: Reading[NodeRow]) -> None:
    shape = _shape(bare)
    if shape is None:
        reading.refuse("slurm-columns-unnamed", bare[0][0], bare[0][1])
        return
    for number, line in bare:
        cells = _split(line, shape.bars)
        if len(cells) != shape.width:
            reading.refuse("slurm-row-width", number, line)
            continue
        gres, gres_fine = _gres(cells[shape.gres]) if shape.gres is not None else (None, True)
        used, used_fine = _gres(cells[shape.used]) if shape.used is not None else (None, True)
        count = parse_count(cells[shape.counts]) if shape.counts is not None else None
        if not gres_fine or not used_fine or (shape.counts is not None and count is None):
            reading.refuse("slurm-row-not-understood", number, line)
            continue
        reading.records.append(
            NodeRow(
                number,
                cells[shape.hosts] if shape.hosts is not None else "",
                count,
                cells[shape.state] if shape.state is not None else "",
                cells[shape.partition] if shape.partition is not None else "",
                gres,
                used,
                shape.gres is not None,
                shape.used is not None,
                {},
                shape.width,
            )
        )
