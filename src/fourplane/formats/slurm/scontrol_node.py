"""``scontrol show node``, with ``-d`` and ``-o``: GPUs, their use, state with reason, and whether TRES track them.

Source: man page scontrol(1).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status
from fourplane.formats.slurm.scontrol import ScontrolRecord, records_of
from fourplane.formats.slurm.tres import Gres, count_gpus, parse_gres, parse_tres
from fourplane.formats.slurm.values import Moment, parse_count, parse_moment

__all__ = ["KIND", "ShownNode", "bad_state", "read", "sniff", "summarise"]

KIND = "scontrol-node"
MAX_SHOWN = 1000

_KEYS = frozenset({"CfgTRES", "AllocTRES", "GresUsed", "GresDrain", "CPUAlloc", "NodeAddr", "CPUTot", "RealMemory"})
_REASON = re.compile(r"(?P<reason>.*?)\s*\[(?P<by>[^\[\]@]{1,64})@(?P<time>[^\[\]]{1,40})\]\s*", re.DOTALL)
_BAD = ("DOWN", "DRAIN", "FAIL", "INVAL", "NOT_RESPONDING", "NO_RESPOND", "ERROR")


@dataclass(frozen=True, slots=True)
class ShownNode:
    """One node.

    Attributes:
        line: 1-based, of its first line.
        name: "" when the beginning of the record is missing.
        state: with flags, such as ``IDLE+DRAIN``.
        gres: configured; None without, or when the line is missing.
        used: GresUsed (``-d``), None without.
        gpus: configured whole GPUs; None when unknown.
        slices: MIG slices.
        gpus_used: from GresUsed, else from AllocTRES when GPUs are tracked; None when unknown.
        tracked: whether CfgTRES names gres/gpu; None when the node has no GPU or the line is missing.
        reason: why it is not available, with who said so and when.
        fields: everything, by Slurm's own keys.
    """

    line: int
    name: str
    state: str
    gres: Gres | None
    used: Gres | None
    gpus: int | None
    slices: int | None
    gpus_used: int | None
    tracked: bool | None
    cpus: int | None
    cpus_allocated: int | None
    memory_mib: int | None
    version: str
    boot: Moment | None
    reason: str
    reason_by: str
    reason_time: str
    fields: dict[str, str] = field(default_factory=dict)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is ``scontrol show node``."""
    head = head[:65_536]
    if re.search(r"^\s{0,8}NodeName=\S", head, re.MULTILINE):
        return 0.97 if re.search(r"\s(?:CPUAlloc|CPUTot|CfgTRES|NodeAddr)=\S", head) and "CPUTot=" in head else 0.3
    lines = [line.strip() for line in head.split("\n")[:20] if line.strip()]
    keys = {line.partition("=")[0].rpartition(" ")[2] for line in lines}
    return 0.8 if lines and len(keys & {"CfgTRES", "AllocTRES", "GresUsed"}) >= 2 and "JobId" not in keys else 0.0


def bad_state(state: str) -> bool:
    """Tell whether a node in this state takes no work because something is wrong."""
    return any(word in state.upper() for word in _BAD) or state.endswith("*")


def read(text: str) -> Reading[ShownNode]:
    """Read nodes in block or one-line form."""
    reading: Reading[ShownNode] = Reading(KIND)
    cut = False
    for record in records_of(text, reading, "NodeName", _KEYS):
        node = _node(record)
        reading.records.append(node)
        cut = cut or record.elided or not node.name or not node.state
        if record.ambiguous:
            reading.note("slurm-key-twice", record.line, f"{node.name}: {', '.join(sorted(record.ambiguous))}")
        if record.elided:
            reading.note("slurm-record-elided", record.line, node.name)
        if node.tracked is False:
            reading.note("slurm-gres-not-in-tres", record.line, f"{node.name or 'a node'}: {_cell(node)}")
        if bad_state(node.state):
            reading.note("slurm-node-unavailable", record.line, f"{node.name} {node.state}: {node.reason}")
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no node could be read")
    elif cut:
        reading.end(Status.TRUNCATED, "parts of a record are missing")
    return reading


def _cell(node: ShownNode) -> str:
    return node.fields.get("Gres") or node.fields.get("GresUsed") or ""


def _node(record: ScontrolRecord) -> ShownNode:
    gres = parse_gres(record.get("Gres") or "")
    used = parse_gres(record.get("GresUsed") or "")
    configured = record.fields.get("CfgTRES")
    has_gpus = any(
        one is not None and any(entry.is_gpu and (entry.count or 0) > 0 for entry in one.entries)
        for one in (gres, used)
    )
    tracked = None
    if configured is not None and (has_gpus or "gres/gpu" in configured):
        tracked = any(key.startswith("gres/gpu") for key in parse_tres(configured))
    known = "Gres" in record.fields
    reason, by, when = _reason(record.fields.get("Reason", ""))
    return ShownNode(
        line=record.line,
        name=record.get("NodeName") or "",
        state=record.get("State") or "",
        gres=gres,
        used=used,
        gpus=gres.gpus if gres is not None else (0 if known else None),
        slices=gres.slices if gres is not None else (0 if known else None),
        gpus_used=_used(used, record.fields.get("AllocTRES"), tracked),
        tracked=tracked,
        cpus=_cpus(record),
        cpus_allocated=parse_count(record.get("CPUAlloc") or parse_tres(record.get("AllocTRES") or "").get("cpu", "")),
        memory_mib=parse_count(record.get("RealMemory") or ""),
        version=record.get("Version") or "",
        boot=parse_moment(record.get("BootTime") or ""),
        reason=reason,
        reason_by=by,
        reason_time=when,
        fields=record.fields,
    )


def _cpus(record: ScontrolRecord) -> int | None:
    return parse_count(record.get("CPUTot") or parse_tres(record.get("CfgTRES") or "").get("cpu", ""))


def _used(used: Gres | None, allocated: str | None, tracked: bool | None) -> int | None:
    if used is not None:
        return used.gpus
    if allocated is None or not tracked:
        return None
    count = count_gpus(allocated)
    return count.gpus - count.mig_slices if count else None


def _reason(text: str) -> tuple[str, str, str]:
    text = text.strip()[:2000]
    match = _REASON.fullmatch(text)
    if match is None:
        return ("" if text in ("(null)", "none") else text), "", ""
    return match["reason"], match["by"], match["time"]


def summarise(reading: Reading[ShownNode]) -> dict[str, Any]:
    """Return GPUs over all nodes, states and reasons; the figures of a single node on top."""
    nodes = reading.records
    if not nodes:
        return {}
    kinds = list(
        dict.fromkeys(
            entry.kind for node in nodes for gres in (node.gres, node.used) if gres for entry in gres.entries
            if entry.is_gpu and entry.kind
        )
    )  # fmt: skip
    tracked = {node.tracked for node in nodes} - {None}
    per_node = {node.gpus for node in nodes}
    found: dict[str, Any] = {
        "nodes": [node.name for node in nodes[:MAX_SHOWN]],
        "states": dict(Counter(node.state for node in nodes if node.state)),
        "gpus": _sum([node.gpus for node in nodes]),
        "mig_slices": _sum([node.slices for node in nodes]),
        "gpus_used": _sum([node.gpus_used for node in nodes]),
        "gpus_per_node": per_node.pop() if len(per_node) == 1 else None,
        "gpu_type": kinds[0] if len(kinds) == 1 else None,
        "gpu_types": kinds,
        "gpu_tracked": tracked.pop() if len(tracked) == 1 else None,
        "version": _one([node.version for node in nodes]),
        "unavailable": [
            {"node": node.name, "state": node.state, "reason": node.reason or None}
            for node in nodes
            if bad_state(node.state)
        ][:MAX_SHOWN],
    }
    return found | _single(nodes[0]) if len(nodes) == 1 else found


def _single(node: ShownNode) -> dict[str, Any]:
    return {
        "node": node.name or None,
        "state": node.state or None,
        "cpus": node.cpus,
        "cpus_allocated": node.cpus_allocated,
        "memory_mib": node.memory_mib,
        "gpus_used_indexes": node.used.index if node.used else None,
        "boot_time": node.boot.text or None if node.boot else None,
        "reason": node.reason or None,
        "reason_by": node.reason_by or None,
        "reason_time": node.reason_time or None,
    }


def _sum(values: list[int | None]) -> int | None:
    return None if None in values else sum(value for value in values if value is not None)


def _one(values: list[str]) -> str | None:
    different = {value for value in values if value}
    return different.pop() if len(different) == 1 else None
