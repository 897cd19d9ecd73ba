"""A map of host names to system image GUIDs, as scripts collect it for topology-aware pairing of nodes.

    VM_hostname node-a
    0ff08c4321664e96

GUIDs stay text: one that is all digits is no number and keeps its leading zero.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of

__all__ = ["KIND", "HostGuid", "read", "sniff", "summarise"]

KIND = "ib-guid-map"
MAX_HOSTS = 200_000

_HOST = re.compile(r"(?:VM_)?hostname:? {1,8}([A-Za-z0-9][\w.-]{0,252})", re.ASCII | re.IGNORECASE)
_GUID = re.compile(r"(?:0x)?([0-9a-fA-F]{16})", re.ASCII)


@dataclass(frozen=True, slots=True)
class HostGuid:
    """One host and its GUID, 16 hexadecimal digits."""

    line: int
    host: str
    guid: str


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is such a map."""
    lines = [line.strip() for line in head[:4096].split("\n", 8)[:8] if line.strip()]
    if len(lines) < 2:
        return 0.0
    return 0.9 if _HOST.fullmatch(lines[0]) and _GUID.fullmatch(lines[1]) else 0.0


def read(text: str) -> Reading[HostGuid]:
    """Read pairs of lines; a host that is named twice keeps its first GUID."""
    reading: Reading[HostGuid] = Reading(KIND)
    host: tuple[int, str] | None = None
    seen: set[str] = set()
    for number, line in lines_of(text, reading):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, guid = _HOST.fullmatch(stripped), _GUID.fullmatch(stripped)
        if name is not None:
            if host is not None:
                reading.refuse("ib-guid-map-line-refused", host[0], f"{host[1]} has no GUID")
            host = (number, name[1])
        elif guid is not None and host is not None and host[1] not in seen and len(seen) < MAX_HOSTS:
            seen.add(host[1])
            reading.records.append(HostGuid(host[0], host[1], guid[1].lower()))
            host = None
        else:
            reading.refuse("ib-guid-map-line-refused", number, line)
            host = None
    if host is not None:
        reading.refuse("ib-guid-map-line-refused", host[0], f"{host[1]} has no GUID")
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no pair of host and GUID")
    elif reading.refusals:
        reading.end(Status.TRUNCATED, "some lines could not be read")
    return reading


def summarise(reading: Reading[HostGuid]) -> dict[str, Any]:
    """Return the GUID of each host."""
    if not reading.records:
        return {}
    return {"hosts": len(reading.records), "guids": {one.host: one.guid for one in reading.records[:10_000]}}
