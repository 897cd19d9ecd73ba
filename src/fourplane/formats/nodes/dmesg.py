"""The kernel log: Xid and SXid with what they mean, and other lines that tell of failing hardware.

Time stamps are those of ``dmesg`` (seconds since boot), ``dmesg -T``, ``dmesg --time-format=iso``, syslog or journal.
A log has no end of its own: what is there is whole. The driver limits how often it prints; counts are lower bounds.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of
from fourplane.formats.nodes.dates import iso_date
from fourplane.formats.nodes.xids import XidEvent, find_event

__all__ = ["KIND", "KernelEvent", "KernelLog", "read", "sniff", "summarise"]

KIND = "dmesg"
MAX_EVENTS = 20_000
"""Events kept; all of them are counted."""
MAX_FAULTS = 10_000
MAX_SHOWN = 200
MAX_GPUS = 1_000

_STAMP = re.compile(
    r"(?:<\d{1,3}>)?\[(?: *(\d{1,10}\.\d{6})|\w{3} (\w{3}) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4}))\] ?"
    r"|(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? "
    r"|(\w{3} [ \d]\d \d\d:\d\d:\d\d) [\w.-]{1,80} kernel: ?",
    re.ASCII,
)
_UUID = re.compile(r"NVRM: GPU at PCI:([0-9A-Fa-f:.]{4,20}): (GPU-[0-9a-f-]{36})", re.ASCII)
_MACHINE = re.compile(r"Hardware name: ([^,/]{1,120})(?:/[^,]{0,60})?, BIOS")
_OTHERS = (
    ("memory", re.compile(r"EDAC .{0,80}\bUE\b|Machine check events logged|\[Hardware Error\]: .{0,80}[Uu]ncorrect")),
    ("PCIe", re.compile(r"AER: .{0,40}(?:Uncorrect|Fatal)|PCIe Bus Error: severity=Uncorrect")),
    ("link", re.compile(r"mlx5_core .{0,80}Link down|mlx5_\d{1,3}.{0,40}port \d{1,2} .{0,20}DOWN")),
    ("NVMe", re.compile(r"nvme nvme\d{1,3}: .{0,40}(?:timeout, |controller is down|Removing after probe failure)")),
    ("out of memory", re.compile(r"Out of memory: Killed process|oom-kill:")),
    ("driver", re.compile(r"NVRM: (?:RmInitAdapter failed|GPU .{0,60} has fallen off the bus|rm_init_adapter failed)")),
)


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """One Xid or SXid with its time: as ISO text without zone where the log gives a date, else as printed."""

    time: str
    event: XidEvent


@dataclass(slots=True)
class KernelLog:
    """One log.

    Attributes:
        line: 1-based line where it begins.
        lines: number of its lines.
        events: first Xid and SXid events in order.
        faults: first event and number of events by switch, number and PCI address.
        uuids: UUID by PCI address.
        machine: product name.
    """

    line: int
    lines: int = 0
    events: list[KernelEvent] = field(default_factory=list)
    faults: dict[tuple[str, int, str], tuple[XidEvent, int]] = field(default_factory=dict)
    uuids: dict[str, str] = field(default_factory=dict)
    machine: str = ""


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a kernel log."""
    head = head[:65536]
    if find_event(head, 1) is not None and _STAMP.match(head.lstrip()[:200]) is not None:
        return 0.85
    lines = [line for line in head.split("\n", 60)[:50] if line.strip()]
    stamped = sum(1 for line in lines if _is_kernel_line(line))
    return 0.7 if lines and stamped * 4 >= len(lines) * 3 else 0.0


def _is_kernel_line(line: str) -> bool:
    match = _STAMP.match(line[:200])
    # a plain ISO stamp begins lines of many programs; seconds since boot and "kernel:" do not
    return match is not None and (match[6] is None or " kernel: " in line[:200])


def read(text: str) -> Reading[KernelLog]:
    """Read a kernel log; the record is the log, what is counted are its Xid and SXid events."""
    reading: Reading[KernelLog] = Reading(KIND)
    log = KernelLog(1)
    others: dict[str, tuple[int, str, int]] = {}
    stamped = False
    for number, line in lines_of(text, reading):
        log.lines = number
        stamped = stamped or _is_kernel_line(line)
        event = find_event(line, number)
        if event is not None:
            _take(log, event, line)
            continue
        if (uuid := _UUID.search(line)) is not None and len(log.uuids) < MAX_GPUS:
            log.uuids.setdefault(uuid[1], uuid[2])
        elif (machine := _MACHINE.search(line)) is not None:
            log.machine = log.machine or machine[1].strip()
        else:
            _other(line, number, others)
    if not (stamped or log.faults or log.uuids or others):
        # without one line of a kernel "no Xid" would be a green word about nothing
        reading.refuse("dmesg-not-understood" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no line of a kernel log")
        return reading
    reading.records.append(log)
    reading.counted = sum(count for _, count in log.faults.values())
    _note(log, others, reading)
    return reading


def _take(log: KernelLog, event: XidEvent, line: str) -> None:
    if len(log.events) < MAX_EVENTS:
        log.events.append(KernelEvent(_time(line), event))
    key = event.switch, event.number, event.pci
    first, count = log.faults.get(key, (event, 0))
    if key in log.faults or len(log.faults) < MAX_FAULTS:
        log.faults[key] = (first, count + 1)


def _other(line: str, number: int, others: dict[str, tuple[int, str, int]]) -> None:
    for name, pattern in _OTHERS:
        if pattern.search(line) is not None:
            first, text, count = others.get(name, (number, line.strip(), 0))
            others[name] = (first, text, count + 1)
            return


def _note(log: KernelLog, others: dict[str, tuple[int, str, int]], reading: Reading[KernelLog]) -> None:
    for (switch, number, pci), (first, count) in log.faults.items():
        times = f" ({count} times)" if count > 1 else ""
        if switch:
            link = f" link {first.link}" if first.link is not None else ""
            reading.note("kernel-sxid", first.line, f"SXid {number} on {switch} {pci}{link}{times}: {first.meaning}")
        else:
            reading.note("kernel-xid", first.line, f"Xid {number} on {pci}{times}: {first.meaning}")
    for name, (number, text, count) in others.items():
        reading.note("kernel-hardware", number, f"{name}, {count} lines: {text}")


def _time(line: str) -> str:
    match = _STAMP.match(line)
    if match is None:
        return ""
    if match[1]:
        return match[1]
    if match[5]:
        return iso_date(match[5], match[2], match[3], match[4])
    return match[6] or match[7] or ""


def summarise(reading: Reading[KernelLog]) -> dict[str, Any]:
    """Return counts by Xid and SXid, the events, the GPUs hit and the machine."""
    if not reading.records:
        return {}
    log = reading.records[0]
    xids = [one for one in log.events if not one.event.switch]
    uuids = list(log.uuids.values())
    return {
        "lines": log.lines,
        "xids": _counts(log, switches=False),
        "sxids": _counts(log, switches=True),
        "events": [
            {
                "time": one.time, "pci": one.event.pci, "xid": one.event.number, "pid": one.event.pid,
                "process": one.event.process, "meaning": one.event.meaning,
            }
            for one in xids[:MAX_SHOWN]
        ],
        "gpus_hit": list(dict.fromkeys(pci for switch, _, pci in log.faults if not switch))[:MAX_SHOWN],
        "gpu_uuid": uuids[0] if len(uuids) == 1 else None,
        "machine": log.machine or None,
    }  # fmt: skip


def _counts(log: KernelLog, *, switches: bool) -> dict[int, int]:
    counts: Counter[int] = Counter()
    for (switch, number, _), (_, count) in log.faults.items():
        if bool(switch) == switches:
            counts[number] += count
    return dict(counts)
