"""The report of Azure's distributed node health checks: one line for each node, ``node | verdict``.

    node-1 | Healthy
    node-2 | ERROR: nhc: Health check failed: check_gpu_xid: GPU Xid errors detected: ...
    node-3 | ERROR: No results reported

A node without a result is unproven, never healthy.

Source: Azure/azurehpc-health-checks ``distributed_nhc``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, number_or_none
from fourplane.formats.nodes.xids import find_event

__all__ = ["KIND", "NodeVerdict", "read", "sniff", "summarise"]

KIND = "azure-nhc"
MAX_NODES = 200_000

_LINE = re.compile(r"([A-Za-z0-9][\w.-]{0,252}) {1,8}\| {1,8}(Healthy|ERROR: .{1,4000})", re.ASCII)
_CHECK = re.compile(r"Health check failed: {1,4}(?:(check_\w{1,80}): )?(.{1,4000})", re.ASCII)
_EXPECTED = re.compile(
    r"expected >= ?(\d{1,9}(?:\.\d{1,9})?) ?GB/s, but measured (\d{1,9}(?:\.\d{1,9})?) ?GB/s", re.ASCII
)
_LOW = re.compile(r"on device (\d{1,5})\. Reported bandwidth is (\d{1,9}(?:\.\d{1,9})?) ?GB/s", re.ASCII)


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """One node: healthy, faulty or without result; the check that failed and its message."""

    line: int
    node: str
    verdict: str
    check: str | None = None
    message: str = ""


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is such a report."""
    lines = [line for line in head[:65536].split("\n", 60)[:50] if line.strip()]
    found = sum(_LINE.match(line.strip()) is not None for line in lines)
    return 0.9 if found and found * 4 >= len(lines) * 3 else 0.0


def read(text: str) -> Reading[NodeVerdict]:
    """Read the report; one record for each node."""
    reading: Reading[NodeVerdict] = Reading(KIND)
    for number, raw in lines_of(text, reading):
        line = raw.strip()
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None or len(reading.records) >= MAX_NODES:
            reading.refuse("azure-nhc-line-refused", number, raw)
            continue
        one = _verdict(number, match[1], match[2])
        reading.records.append(one)
        if one.verdict == "faulty":
            reading.note("azure-nhc-node-faulty", number, f"{one.node}: {one.check or 'a check'}: {one.message}")
        elif one.verdict == "no-result":
            reading.note("azure-nhc-no-result", number, f"{one.node} reported nothing")
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no node")
    elif reading.refusals:
        reading.end(Status.TRUNCATED, "some lines could not be read")
    return reading


def _verdict(number: int, node: str, text: str) -> NodeVerdict:
    if text == "Healthy":
        return NodeVerdict(number, node, "healthy")
    message = text.removeprefix("ERROR:").strip()
    if message.startswith("No results reported"):
        return NodeVerdict(number, node, "no-result", message=message)
    check = _CHECK.search(message)
    return NodeVerdict(number, node, "faulty", check[1] if check else None, check[2] if check else message)


def summarise(reading: Reading[NodeVerdict]) -> dict[str, Any]:
    """Return nodes by verdict and, for each fault, what its message says in figures."""
    if not reading.records:
        return {}
    named: dict[str, list[str]] = {"healthy": [], "faulty": [], "no-result": []}
    for one in reading.records:
        named[one.verdict].append(one.node)
    return {
        "nodes": len(reading.records),
        "healthy": named["healthy"],
        "faulty": named["faulty"],
        "no_result": named["no-result"],
        "faults": [_fault(one) for one in reading.records if one.verdict == "faulty"][:10_000],
    }


def _fault(one: NodeVerdict) -> dict[str, Any]:
    fault: dict[str, Any] = {"node": one.node, "check": one.check, "message": one.message[:500]}
    event = find_event(one.message, one.line)
    expected, low = _EXPECTED.search(one.message), _LOW.search(one.message)
    if event is not None:
        fault |= {"xid": event.number, "pci": event.pci, "pid": event.pid, "process": event.process}
        fault["meaning"] = event.meaning
    if expected is not None:
        fault |= {
            "expected_min_gb_per_s": number_or_none(expected[1]),
            "measured_gb_per_s": number_or_none(expected[2]),
        }
    if low is not None:
        fault |= {"device": int(low[1]), "measured_gb_per_s": number_or_none(low[2])}
    return fault
