"""``scontrol show partition``, with ``-o``: nodes, GPUs, billing weights and preemption.

Source: man page scontrol(1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status
from fourplane.formats.slurm.scontrol import ScontrolRecord, records_of
from fourplane.formats.slurm.tres import count_gpus, parse_tres
from fourplane.formats.slurm.values import parse_count

__all__ = ["KIND", "ShownPartition", "read", "sniff", "summarise"]

KIND = "scontrol-partition"
MAX_SHOWN = 500


@dataclass(frozen=True, slots=True)
class ShownPartition:
    """One partition.

    Attributes:
        line: 1-based, of its first line.
        nodes: number of nodes; ``node_list`` as written.
        gpus: of its TRES; None when the record has no TRES, which weights don't replace.
        billing_weights: as written, by TRES.
        default: whether jobs go here when they name no partition; None when not stated.
        fields: everything, by Slurm's own keys.
    """

    line: int
    name: str
    nodes: int | None
    node_list: str
    cpus: int | None
    gpus: int | None
    billing_weights: dict[str, str]
    preempt_mode: str
    default: bool | None
    state: str
    fields: dict[str, str] = field(default_factory=dict)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is ``scontrol show partition``."""
    head = head[:65_536]
    if re.search(r"^\s{0,8}PartitionName=\S", head, re.MULTILINE) is None:
        return 0.0
    return 0.97 if "TotalNodes=" in head or ("AllowGroups=" in head and "TotalCPUs=" in head) else 0.3


def read(text: str) -> Reading[ShownPartition]:
    """Read partitions in block or one-line form."""
    reading: Reading[ShownPartition] = Reading(KIND)
    cut = False
    for record in records_of(text, reading, "PartitionName", frozenset()):
        partition = _partition(record)
        reading.records.append(partition)
        cut = cut or record.elided or "State" not in record.fields
        if record.ambiguous:
            reading.note("slurm-key-twice", record.line, f"{partition.name}: {', '.join(sorted(record.ambiguous))}")
        if record.elided:
            reading.note("slurm-record-elided", record.line, partition.name)
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no partition could be read")
    elif cut:
        reading.end(Status.TRUNCATED, "parts of a record are missing")
    return reading


def _partition(record: ScontrolRecord) -> ShownPartition:
    tres = record.get("TRES")
    count = count_gpus(tres) if tres else None
    weights = record.get("TRESBillingWeights")
    return ShownPartition(
        line=record.line,
        name=record.fields.get("PartitionName", ""),
        nodes=parse_count(record.get("TotalNodes") or ""),
        node_list=record.get("Nodes") or "",
        cpus=parse_count(record.get("TotalCPUs") or ""),
        gpus=count.gpus if count else None,
        billing_weights=parse_tres(weights) if weights else {},
        preempt_mode=record.get("PreemptMode") or "",
        default={"YES": True, "NO": False}.get(record.fields.get("Default", "")),
        state=record.get("State") or "",
        fields=record.fields,
    )


def summarise(reading: Reading[ShownPartition]) -> dict[str, Any]:
    """Return the partitions; their GPUs are not summed, since partitions share nodes."""
    return {
        "partitions": [
            {
                "name": one.name, "nodes": one.nodes, "cpus": one.cpus, "gpus": one.gpus,
                "billing_weights": one.billing_weights, "preempt_mode": one.preempt_mode or None,
                "default": one.default, "state": one.state or None,
            }
            for one in reading.records[:MAX_SHOWN]
        ]
    }  # fmt: skip
