"""``ethtool IFACE``, ``ethtool -i`` and ``ethtool -S``: speed and state of an interface, its driver, its counters.

    Settings for ens1f0:
            Speed: 100000Mb/s
            Link detected: yes

Source: ``man ethtool``; kernel ``Documentation/networking/statistics.rst``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of

__all__ = ["KIND", "Interface", "read", "sniff", "summarise"]

KIND = "ethtool"
MAX_INTERFACES = 10_000
MAX_VALUES = 20_000

_SETTINGS = re.compile(r"Settings for ([\w.@:-]{1,40}):", re.ASCII)
_PAIR = re.compile(r"([A-Za-z][\w .()/-]{0,80}?) ?: ?(.{0,400})", re.ASCII)
_COUNTER = re.compile(r"([A-Za-z][\w.\[\]-]{0,80}): (\d{1,20})", re.ASCII)
_SPEED = re.compile(r"(\d{1,9})Mb/s", re.ASCII)
_BAD = re.compile(r"(?:err|drop|discard|crc|symbol|corrupt|timeout|retrans|out_of_buffer)", re.IGNORECASE)
_GOOD = re.compile(r"corrected|no_err", re.IGNORECASE)


@dataclass(slots=True)
class Interface:
    """One interface: name ("" for -i and -S), settings as printed, counters of its driver."""

    line: int
    name: str
    settings: dict[str, str] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def speed_mbps(self) -> int | None:
        """Return the speed in Mb/s, None when unknown or down."""
        match = _SPEED.fullmatch(self.settings.get("Speed", ""))
        return int(match[1]) if match else None

    @property
    def errors(self) -> dict[str, int]:
        """Return the counters that count errors or losses and are not zero."""
        return {
            name: count
            for name, count in self.counters.items()
            if count and _BAD.search(name) and not _GOOD.search(name)
        }


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of ``ethtool``."""
    head = head[:16384]
    if _SETTINGS.search(head) is not None or head.lstrip().startswith("NIC statistics:"):
        return 0.9
    return 0.85 if re.search(r"^driver: \S", head, re.MULTILINE) and "supports-statistics:" in head else 0.0


def read(text: str) -> Reading[Interface]:
    """Read the interfaces; lines before the first one are skipped."""
    reading: Reading[Interface] = Reading(KIND)
    statistics = False
    kept = 0
    for number, line in lines_of(text, reading):
        stripped = line.strip()
        settings = _SETTINGS.fullmatch(stripped)
        if settings is not None and len(reading.records) < MAX_INTERFACES:
            reading.records.append(Interface(number, settings[1]))
            statistics = False
        elif stripped == "NIC statistics:" or stripped.startswith("driver: "):
            statistics = stripped == "NIC statistics:"
            last = reading.records[-1] if reading.records else None
            known = last is not None and ("driver" in last.settings or bool(last.counters))
            if (last is None or (known and not statistics)) and len(reading.records) < MAX_INTERFACES:
                reading.records.append(Interface(number, ""))
        if not reading.records or kept >= MAX_VALUES or settings is not None:
            continue
        kept += _take(reading.records[-1], stripped, statistics)
    _finish(text, reading)
    return reading


def _take(interface: Interface, line: str, statistics: bool) -> bool:
    counter = _COUNTER.fullmatch(line) if statistics else None
    if counter is not None:
        interface.counters[counter[1]] = int(counter[2])
        return True
    pair = _PAIR.fullmatch(line)
    if pair is None or statistics:
        return False
    interface.settings.setdefault(pair[1].strip(), pair[2].strip())
    return True


def _finish(text: str, reading: Reading[Interface]) -> None:
    if not reading.records:
        reading.refuse("ethtool-no-interface" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no interface")
        return
    for one in reading.records:
        if one.settings.get("Link detected") == "no":
            reading.note("ethtool-no-link", one.line, f"{one.name}: no link detected")
        for name, count in one.errors.items():
            reading.note("ethtool-errors", one.line, f"{one.name or 'interface'}: {name} {count}")
    last = reading.records[-1]
    if last.name and "Link detected" not in last.settings:
        reading.end(Status.TRUNCATED, f"the settings of {last.name} are cut")


def summarise(reading: Reading[Interface]) -> dict[str, Any]:
    """Return the interfaces: speed in Mb/s, link, driver and firmware, error counters that are not zero."""
    if not reading.records:
        return {}
    return {
        "interfaces": len(reading.records),
        "ports": [
            {
                "interface": one.name or None,
                "speed_mbps": one.speed_mbps,
                "link": {"yes": True, "no": False}.get(one.settings.get("Link detected", "")),
                "duplex": one.settings.get("Duplex"),
                "driver": one.settings.get("driver"),
                "firmware": one.settings.get("firmware-version"),
                "errors": one.errors,
            }
            for one in reading.records[:1000]
        ],
    }
