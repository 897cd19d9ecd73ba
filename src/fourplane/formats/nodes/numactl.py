"""``numactl --hardware``: NUMA nodes with their CPUs, memory and distances.

Source: numactl ``numactl.c``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, natural_or_none

__all__ = ["KIND", "NumaNode", "NumaReport", "read", "sniff", "summarise"]

KIND = "numactl"
MAX_NODES = 4096

_AVAILABLE = re.compile(r"available: (\d{1,5}) nodes? \(", re.ASCII)
_CPUS = re.compile(r"node (\d{1,5}) cpus:(.{0,16000})", re.ASCII)
_SIZE = re.compile(r"node (\d{1,5}) (size|free): (\d{1,12}) MB", re.ASCII)
_DISTANCE = re.compile(r"(\d{1,5}): {1,8}(\d{1,5}(?: {1,8}\d{1,5}){0,4095})", re.ASCII)


@dataclass(slots=True)
class NumaNode:
    """One node: its CPUs, memory and free memory in MB of 2^20 bytes, distances to all nodes."""

    line: int
    index: int
    cpus: list[int] = field(default_factory=list)
    size_mb: int | None = None
    free_mb: int | None = None
    distances: list[int] = field(default_factory=list)


@dataclass(slots=True)
class NumaReport:
    """One machine: nodes announced, and nodes described by index."""

    line: int
    announced: int | None = None
    nodes: dict[int, NumaNode] = field(default_factory=dict)

    def node(self, index: int, line: int) -> NumaNode:
        """Return the node of an index, made when it is new."""
        return self.nodes.setdefault(index, NumaNode(line, index))


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of ``numactl --hardware``."""
    head = head[:16384]
    return 0.95 if _AVAILABLE.search(head) is not None and " cpus:" in head else 0.0


def read(text: str) -> Reading[NumaReport]:
    """Read one machine; what is counted are its nodes."""
    reading: Reading[NumaReport] = Reading(KIND)
    report = NumaReport(1)
    for number, raw in lines_of(text, reading):
        line = raw.strip()
        if (available := _AVAILABLE.match(line)) is not None:
            report.announced = int(available[1])
        elif len(report.nodes) >= MAX_NODES:
            continue
        elif (cpus := _CPUS.fullmatch(line)) is not None:
            words = cpus[2].split()
            listed = [index for word in words if (index := natural_or_none(word, 7)) is not None]
            if len(listed) == len(words):
                report.node(int(cpus[1]), number).cpus = listed
            else:
                reading.refuse("numactl-line-refused", number, raw)
        elif (size := _SIZE.fullmatch(line)) is not None:
            setattr(report.node(int(size[1]), number), f"{size[2]}_mb", int(size[3]))
        elif (distance := _DISTANCE.fullmatch(line)) is not None:
            report.node(int(distance[1]), number).distances = [int(word) for word in distance[2].split()]
    if report.announced is None and not report.nodes:
        if not reading.refusals:
            reading.refuse("numactl-not-understood" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "not the output of numactl --hardware")
        return reading
    reading.records.append(report)
    reading.counted = len(report.nodes)
    for node in report.nodes.values():
        if node.cpus and node.size_mb == 0:
            reading.note("numactl-node-without-memory", node.line, f"node {node.index} has CPUs and no memory")
    if report.announced is not None and len(report.nodes) != report.announced:
        reading.end(Status.TRUNCATED, f"{report.announced} nodes announced, {len(report.nodes)} described")
    elif any(len(node.distances) != len(report.nodes) for node in report.nodes.values()):
        reading.end(Status.TRUNCATED, "the table of distances is not whole")
    return reading


def summarise(reading: Reading[NumaReport]) -> dict[str, Any]:
    """Return nodes, CPUs, memory in MB, and the largest distance."""
    if not reading.records:
        return {}
    nodes = list(reading.records[0].nodes.values())
    sizes = [node.size_mb for node in nodes if node.size_mb is not None]
    return {
        "numa_nodes": len(nodes),
        "cpus": sum(len(node.cpus) for node in nodes),
        "memory_mb": sum(sizes) if sizes else None,
        "nodes": [
            {"node": node.index, "cpus": len(node.cpus), "size_mb": node.size_mb, "free_mb": node.free_mb}
            for node in nodes
        ],
        "max_distance": max((distance for node in nodes for distance in node.distances), default=None),
    }
