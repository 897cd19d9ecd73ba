"""The log of NVIDIA fabric manager: entries with time, level and thread; a payload may follow on the next line.

    [Feb 25 2025 14:01:18] [INFO] [tid 1808] multicast group 0 is allocated.

Source: NVIDIA "Fabric Manager for NVIDIA NVSwitch Systems User Guide".
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of
from fourplane.formats.nodes.dates import iso_date
from fourplane.formats.nodes.xids import XidEvent, find_event

__all__ = ["KIND", "FabricLog", "read", "sniff", "summarise"]

KIND = "fabric-manager"
MAX_EVENTS = 100_000

_ENTRY = re.compile(
    r"\[(\w{3}) (\d{1,2}) (\d{4}) (\d\d:\d\d:\d\d)\] \[(\w{3,10})\] \[tid (\d{1,10})\] ?(.{0,2000})", re.ASCII
)
_GPUS = re.compile(r"Number of GPUs:(\d{1,4})\b", re.ASCII)
_COUNTED = {
    "Team setup request:": "team_setup_requests",
    "Team setup response:": "team_setup_responses",
    "Team release request:": "team_release_requests",
    " is allocated.": "groups_allocated",
    " is freed.": "groups_freed",
}
_BAD_LEVELS = {"ERROR", "FATAL", "CRITICAL"}


@dataclass(slots=True)
class FabricLog:
    """One log: entries, entries by level, what was asked and done, GPUs of the teams, SXids, first and last time."""

    line: int
    entries: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    team_sizes: set[int] = field(default_factory=set)
    sxids: list[XidEvent] = field(default_factory=list)
    first_time: str = ""
    last_time: str = ""


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a log of fabric manager."""
    lines = head[:65536].split("\n", 60)[:50]
    found = sum(1 for line in lines if _ENTRY.match(line) is not None)
    return 0.9 if found * 4 >= len(lines) or found > 2 else 0.6 if found else 0.0


def read(text: str) -> Reading[FabricLog]:
    """Read the log; the record is the log, what is counted are its entries."""
    reading: Reading[FabricLog] = Reading(KIND)
    log = FabricLog(1)
    for number, line in lines_of(text, reading):
        entry = _ENTRY.match(line)
        if entry is not None:
            log.last_time = iso_date(entry[3], entry[1], entry[2], entry[4]) or log.last_time
            log.first_time = log.first_time or log.last_time
            log.entries += 1
            level = entry[5].upper()
            if level in log.levels or len(log.levels) < 20:
                log.levels[level] += 1
            if level in _BAD_LEVELS:
                reading.note("fabric-manager-error", number, entry[7])
        for phrase, name in _COUNTED.items():
            if phrase in line:
                log.counts[name] += 1
        if (gpus := _GPUS.search(line)) is not None and len(log.team_sizes) < 100:
            log.team_sizes.add(int(gpus[1]))
        event = find_event(line, number)
        if event is not None and event.switch and len(log.sxids) < MAX_EVENTS:
            log.sxids.append(event)
            reading.note("kernel-sxid", number, f"SXid {event.number} on {event.switch} {event.pci}: {event.meaning}")
    if not log.entries:
        reading.refuse("fabric-manager-no-entry" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no entry of fabric manager")
        return reading
    reading.records.append(log)
    reading.counted = log.entries
    return reading


def summarise(reading: Reading[FabricLog]) -> dict[str, Any]:
    """Return entries by level, errors, teams and multicast groups, first and last time."""
    if not reading.records:
        return {}
    log = reading.records[0]
    return {
        "entries": log.entries,
        "levels": dict(log.levels),
        "errors": sum(log.levels[level] for level in _BAD_LEVELS),
        "sxids": dict(Counter(one.number for one in log.sxids)),
        **{name: log.counts[name] for name in _COUNTED.values()},
        "gpus_per_team": next(iter(log.team_sizes)) if len(log.team_sizes) == 1 else None,
        "first_time": log.first_time,
        "last_time": log.last_time,
    }
