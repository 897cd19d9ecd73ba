"""Nodes of Slurm's JSON: ``/slurm/*/nodes``, ``scontrol show node --json``, or one bare node.

GRES are the authority for what a node has; its TRES name GPUs only when accounting tracks them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from fourplane.formats.model import Reading, Status
from fourplane.formats.slurm.rest import Envelope, number, open_document, text_or_empty, time_of, words
from fourplane.formats.slurm.scontrol_node import bad_state
from fourplane.formats.slurm.tres import Gres, parse_gres, parse_tres

__all__ = ["KIND", "ApiNode", "read", "sniff", "summarise"]

KIND = "slurmrestd-nodes"

_LIST = re.compile(r'"nodes"\s{0,20}:\s{0,20}\[')
MAX_SHOWN = 1000


@dataclass(frozen=True, slots=True)
class ApiNode:
    """One node.

    Attributes:
        name: of the node.
        states: words in upper case, flags of 0.0.38 included.
        gres: configured, None without; ``used`` likewise.
        tracked: whether its TRES name gres/gpu; None without GPUs.
        memory_mib: real memory.
        boot: epoch, None when unknown.
        whole: False when the document was cut inside this record.
    """

    name: str
    states: tuple[str, ...]
    gres: Gres | None
    used: Gres | None
    tracked: bool | None
    cpus: int | None
    cpus_allocated: int | None
    memory_mib: int | None
    version: str
    boot: int | None
    reason: str
    reason_by: str
    partitions: tuple[str, ...]
    slurm: str | None
    data_parser: str | None
    whole: bool = True


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a list of nodes from Slurm as JSON."""
    if "{" not in head[:65_536]:
        return 0.0
    if '"job_id"' in head or '"job_state"' in head:
        return 0.0
    if _LIST.search(head) is not None and ('"openapi' in head or "data_parser" in head):
        return 0.97
    marks = sum(
        mark in head for mark in ('"gres_used"', '"real_memory"', '"alloc_cpus"', '"cpu_binding"', '"gres_drained"')
    )
    return 0.95 if marks >= 3 else 0.0


def read(text: str) -> Reading[ApiNode]:
    """Read nodes of any version."""
    reading: Reading[ApiNode] = Reading(KIND)
    envelope = open_document(text, reading, ("nodes", "sinfo"), "real_memory")
    if envelope is None:
        return reading
    for place, entry in enumerate(envelope.entries):
        last_cut = envelope.cut and place == len(envelope.entries) - 1
        node = _node(entry, envelope, whole=not last_cut) if isinstance(entry, dict) else None
        if last_cut:
            reading.refuse(
                "slurm-document-cut", text.count("\n") + 1, f"node {node.name}" if node else f"entry {place}"
            )
        if node is None:
            if not last_cut:
                reading.refuse("slurm-record-refused", 0, f"entry {place}: {str(entry)[:120]}")
            continue
        reading.records.append(node)
        if node.tracked is False:
            reading.note("slurm-gres-not-in-tres", 0, node.name)
        if any(bad_state(state) for state in node.states):
            reading.note("slurm-node-unavailable", 0, f"{node.name} {'+'.join(node.states)}: {node.reason}")
    if not reading.records and envelope.entries and not envelope.cut:
        reading.end(Status.REFUSED, "no entry is a node")
    return reading


def _node(entry: dict[str, Any], envelope: Envelope, *, whole: bool) -> ApiNode | None:
    name = text_or_empty(entry.get("name"), 255)
    if not name:
        return None
    gres, used = (parse_gres(text_or_empty(entry.get(key), 4000)) for key in ("gres", "gres_used"))
    tres = entry.get("tres")
    has_gpus = gres is not None and any(one.is_gpu and (one.count or 0) > 0 for one in gres.entries)
    tracked = None
    if isinstance(tres, str) and has_gpus:
        tracked = any(key.startswith("gres/gpu") for key in parse_tres(tres))
    partitions = entry.get("partitions")
    return ApiNode(
        name=name,
        states=tuple(words(entry.get("state")) + words(entry.get("state_flags") or [])),
        gres=gres,
        used=used,
        tracked=tracked,
        cpus=number(entry.get("cpus")),
        cpus_allocated=number(entry.get("alloc_cpus")),
        memory_mib=number(entry.get("real_memory")),
        version=text_or_empty(entry.get("version", entry.get("slurmd_version")), 40),
        boot=time_of(entry.get("boot_time")),
        reason=text_or_empty(entry.get("reason"), 400),
        reason_by=text_or_empty(entry.get("reason_set_by_user"), 100),
        partitions=tuple(text_or_empty(one, 200) for one in partitions[:200]) if isinstance(partitions, list) else (),
        slurm=envelope.slurm,
        data_parser=envelope.data_parser,
        whole=whole,
    )


def summarise(reading: Reading[ApiNode]) -> dict[str, Any]:
    """Return GPUs over all nodes, states and reasons; the figures of a single node on top."""
    nodes = reading.records
    if not nodes:
        return {}
    kinds = list(
        dict.fromkeys(one.kind for node in nodes if node.gres for one in node.gres.entries if one.is_gpu and one.kind)
    )
    tracked = {node.tracked for node in nodes} - {None}
    found: dict[str, Any] = {
        "slurm": nodes[0].slurm,
        "data_parser": nodes[0].data_parser,
        "nodes": [node.name for node in nodes[:MAX_SHOWN]],
        "states": dict(Counter("+".join(node.states) for node in nodes)),
        "gpus": _sum([node.gres.gpus if node.gres else 0 for node in nodes]),
        "mig_slices": _sum([node.gres.slices if node.gres else 0 for node in nodes]),
        "gpus_used": _sum([node.used.gpus if node.used else 0 for node in nodes]),
        "gpu_type": kinds[0] if len(kinds) == 1 else None,
        "gpu_tracked": tracked.pop() if len(tracked) == 1 else None,
        "unavailable": [
            {"node": node.name, "state": "+".join(node.states), "reason": node.reason or None}
            for node in nodes
            if any(bad_state(state) for state in node.states)
        ][:MAX_SHOWN],
    }
    if len(nodes) == 1:
        only = nodes[0]
        found |= {
            "node": only.name, "states": list(only.states), "cpus": only.cpus, "memory_mib": only.memory_mib,
            "version": only.version or None, "gpus_used_indexes": only.used.index if only.used else None,
            "reason": only.reason or None,
        }  # fmt: skip
    return found


def _sum(values: list[int | None]) -> int | None:
    return None if None in values else sum(value for value in values if value is not None)
