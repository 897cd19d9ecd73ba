"""``lscpu`` as text or JSON (``-J``), alone or followed by its parsable tables (``-p``).

The tables list the same CPUs again, by logical and by physical numbers of their cores: they are counted apart. CPUs
that are off line stay in the total and do no work.

Source: util-linux ``sys-utils/lscpu.c``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.documents import read_json, text_of, whole_number
from fourplane.formats.model import Reading, Status, lines_of

__all__ = ["KIND", "CpuReport", "count_of", "read", "sniff", "summarise"]

KIND = "lscpu"
MAX_FIELDS = 5_000
MAX_CPUS = 1_000_000

_PAIR = re.compile(r"([A-Za-z][\w ()/.-]{0,60}?): {0,80}(.{0,8000})")
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_NODE = re.compile(r"NUMA node(\d{1,5}) CPU\(s\)", re.ASCII)


@dataclass(slots=True)
class CpuReport:
    """One machine: values by name, as printed, and the rows of each parsable table."""

    line: int
    values: dict[str, str] = field(default_factory=dict)
    tables: list[int] = field(default_factory=list)


def count_of(ranges: str) -> int | None:
    """Return how many CPUs a list such as ``0-127,129-255`` holds, None when it is not one."""
    total = 0
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            return None
        total += int(match[2] or match[1]) - int(match[1]) + 1
    return total if 0 < total <= MAX_CPUS else None


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of ``lscpu``."""
    head = head[:65536]
    if '"lscpu"' in head[:200]:
        return 0.95
    words = sum(
        re.search(pattern, head, re.MULTILINE) is not None
        for pattern in (
            r"^CPU\(s\): ",
            r"^On-line CPU\(s\) list: ",
            r"^Vendor ID: ",
            r"^Socket\(s\): ",
            r"^Architecture: ",
        )
    )
    return 0.9 if words >= 3 else 0.0


def read(text: str) -> Reading[CpuReport]:
    """Read one machine."""
    reading: Reading[CpuReport] = Reading(KIND)
    report = CpuReport(1)
    if text.lstrip()[:1] == "{":
        data = read_json(text, reading)
        if data is None:
            return reading
        fields = data.get("lscpu") if isinstance(data, dict) else None
        _from_json(fields, report, 0)
    else:
        _from_text(text, report, reading)
    if not report.values:
        reading.refuse("lscpu-not-understood" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "not the output of lscpu")
        return reading
    reading.records.append(report)
    offline = report.values.get("Off-line CPU(s) list")
    if offline:
        reading.note("lscpu-cpus-offline", report.line, f"CPUs off line: {offline}")
    if not any(name.startswith(("Socket(s)", "Thread(s) per core", "Cluster(s)")) for name in report.values):
        reading.end(Status.TRUNCATED, "sockets and cores are missing")
    return reading


def _from_text(text: str, report: CpuReport, reading: Reading[CpuReport]) -> None:
    for _, line in lines_of(text, reading):
        if line.startswith("#"):
            if line.startswith("# CPU,") and len(report.tables) < 100:
                report.tables.append(0)
        elif report.tables and line[:1].isdigit() and "," in line:
            report.tables[-1] += 1
        elif (pair := _PAIR.fullmatch(line.strip())) is not None and len(report.values) < MAX_FIELDS:
            report.values.setdefault(pair[1], pair[2].strip())


def _from_json(fields: Any, report: CpuReport, depth: int) -> None:
    for one in fields[:MAX_FIELDS] if isinstance(fields, list) and depth < 8 else []:
        if not isinstance(one, dict):
            continue
        name, value = text_of(one.get("field")), text_of(one.get("data"), 8000)
        if name and value and len(report.values) < MAX_FIELDS:
            report.values.setdefault(name.removesuffix(":"), value)
        _from_json(one.get("children"), report, depth + 1)


def summarise(reading: Reading[CpuReport]) -> dict[str, Any]:
    """Return model, CPUs, sockets, cores, threads, NUMA nodes with their CPUs, and the last-level cache."""
    if not reading.records:
        return {}
    report = reading.records[0]
    values = report.values
    nodes = sorted((int(match[1]), cpus) for name, cpus in values.items() if (match := _NODE.fullmatch(name)))
    online = values.get("On-line CPU(s) list")
    return {
        "model": values.get("Model name"),
        "vendor": values.get("Vendor ID"),
        "architecture": values.get("Architecture"),
        "cpus": whole_number(values.get("CPU(s)")),
        "online": online,
        "online_count": count_of(online) if online else None,
        "offline": values.get("Off-line CPU(s) list"),
        "sockets": whole_number(values.get("Socket(s)")),
        "cores_per_socket": whole_number(values.get("Core(s) per socket")),
        "threads_per_core": whole_number(values.get("Thread(s) per core")),
        "numa_nodes": whole_number(values.get("NUMA node(s)")),
        "numa_cpus": [cpus for _, cpus in nodes],
        "l3": values.get("L3 cache", values.get("L3")),
        "parsable_rows": report.tables,
    }
