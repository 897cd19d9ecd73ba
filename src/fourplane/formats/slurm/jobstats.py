"""Blobs of Princeton's jobstats in AdminComment: ``JS1:`` and base64 of gzip of JSON, or ``Short``, or ``None``.

Short (fewer than two samples) and None (no data) are not zero utilisation.

Source: jobstats.py and its documentation; utilisation is the mean, memory the maximum over the job.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from dataclasses import dataclass
from typing import Any

from fourplane.formats.model import Reading, Status, finite_json, lines_of

__all__ = ["KIND", "JobStats", "NodeStats", "decode", "read", "sniff", "summarise"]

KIND = "jobstats"
MAX_UNPACKED = 4 * 1024 * 1024
"""Bytes that one blob may unpack to; the largest published ones are below 5 kB packed."""
MAX_SHOWN = 100

_BLOB = re.compile(r"JS1:(Short|None|[A-Za-z0-9+/]{4,12000}={0,2})(?![A-Za-z0-9+/=])")


@dataclass(frozen=True, slots=True)
class NodeStats:
    """One node of a job; GPU figures by minor number, bytes and percent, None when absent."""

    node: str
    cpus: int | None
    cpu_time_s: float | None
    total_memory: int | None
    used_memory: int | None
    gpu_utilisation: dict[str, float]
    gpu_total_memory: dict[str, float]
    gpu_used_memory: dict[str, float]


@dataclass(frozen=True, slots=True)
class JobStats:
    """One blob.

    Attributes:
        line: 1-based.
        kind: blob, short or none.
        gpus: of the job, None without data.
        total_time_s: run time in seconds.
        nodes: per node.
    """

    line: int
    kind: str
    gpus: int | None = None
    total_time_s: float | None = None
    nodes: tuple[NodeStats, ...] = ()


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` holds jobstats blobs, one a line."""
    lines = [line.strip() for line in head[:65_536].split("\n") if line.strip()]
    return 0.95 if lines and all(line.startswith("JS1:") for line in lines[:20]) else 0.0


def decode(text: str, line: int = 0) -> JobStats | None:
    """Return the contents of ``JS1:…``; None when it can't be unpacked within the bound."""
    match = _BLOB.fullmatch(text.strip())
    if match is None:
        return None
    if match[1] in ("Short", "None"):
        return JobStats(line, match[1].lower())
    try:
        packed = base64.b64decode(match[1], validate=True)
        unpacker = zlib.decompressobj(wbits=31)
        data = unpacker.decompress(packed, MAX_UNPACKED)
        if not unpacker.eof:
            return None
        found = json.loads(data)
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        return None
    return _stats(found, line) if isinstance(found, dict) and finite_json(found, 8) else None


def _stats(data: dict[str, Any], line: int) -> JobStats | None:
    nodes = data.get("nodes")
    if not isinstance(nodes, dict):
        return None
    listed = tuple(_node(str(name)[:200], one) for name, one in list(nodes.items())[:65_536] if isinstance(one, dict))
    gpus = data.get("gpus")
    return JobStats(line, "blob", gpus if _whole(gpus) else None, _number(data.get("total_time")), listed)


def _node(name: str, one: dict[str, Any]) -> NodeStats:
    cpus, total, used = one.get("cpus"), one.get("total_memory"), one.get("used_memory")
    return NodeStats(
        node=name,
        cpus=cpus if _whole(cpus) else None,
        cpu_time_s=_number(one.get("total_time")),
        total_memory=total if _whole(total) else None,
        used_memory=used if _whole(used) else None,
        gpu_utilisation=_by_gpu(one.get("gpu_utilization")),
        gpu_total_memory=_by_gpu(one.get("gpu_total_memory")),
        gpu_used_memory=_by_gpu(one.get("gpu_used_memory")),
    )


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _number(value: Any) -> float | None:
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18 else None
    )


def _by_gpu(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        return {}
    return {str(key)[:20]: number for key, one in list(value.items())[:1024] if (number := _number(one)) is not None}


def read(text: str) -> Reading[JobStats]:
    """Read blobs, one a line."""
    reading: Reading[JobStats] = Reading(KIND)
    for number, line in lines_of(text, reading):
        if not line.strip():
            continue
        found = decode(line, number)
        if found is None:
            reading.refuse("jobstats-blob-refused", number, line)
            continue
        reading.records.append(found)
        if found.kind != "blob":
            reading.note("jobstats-no-samples", number, line)
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no blob could be unpacked")
    return reading


def summarise(reading: Reading[JobStats]) -> dict[str, Any]:
    """Return counts, and the figures of the first blob on top."""
    blobs = [record for record in reading.records if record.kind == "blob"]
    found: dict[str, Any] = {
        "blobs": len(blobs),
        "short": sum(record.kind == "short" for record in reading.records),
        "none": sum(record.kind == "none" for record in reading.records),
    }
    if blobs:
        first = blobs[0]
        found |= {
            "gpus": first.gpus,
            "total_time_s": first.total_time_s,
            "nodes": [
                {
                    "node": one.node, "cpus": one.cpus, "cpu_time_s": one.cpu_time_s,
                    "total_memory_bytes": one.total_memory, "used_memory_bytes": one.used_memory,
                    "gpu_utilization_percent": one.gpu_utilisation, "gpu_total_memory_bytes": one.gpu_total_memory,
                    "gpu_used_memory_bytes": one.gpu_used_memory,
                }
                for one in first.nodes[:MAX_SHOWN]
            ],
        }  # fmt: skip
    return found
