"""``ibstat``: RDMA adapters and their ports.

A port that is down keeps a default rate (10) that says nothing; a link layer of Ethernet means RoCE, where a lid of 0
is normal. ``ibpanic`` in the middle means that the tool died.

Source: linux-rdma/rdma-core ``infiniband-diags/ibstat.c``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, natural_or_none, number_or_none

__all__ = ["KIND", "Adapter", "Port", "read", "sniff", "summarise"]

KIND = "ibstat"
MAX_ADAPTERS = 10_000
MAX_PORTS = 256

_CA = re.compile(r"CA '([\w.:-]{1,64})'", re.ASCII)
_PORT = re.compile(r"Port (\d{1,3}):", re.ASCII)
_PAIR = re.compile(r"([A-Z][\w ]{1,40}): ?(.{0,200})", re.ASCII)
_PORT_FIELDS = {
    "State", "Physical state", "Rate", "Base lid", "LMC", "SM lid", "Capability mask", "Port GUID", "Link layer",
}  # fmt: skip
_LAST = "Port GUID"
"""The last line that every release prints for a port; the link layer came later."""


@dataclass(slots=True)
class Port:
    """One port: values by name, as printed."""

    line: int
    number: int
    values: dict[str, str] = field(default_factory=dict)

    @property
    def active(self) -> bool:
        """Tell whether the port is up."""
        return self.values.get("State") == "Active"

    @property
    def rate(self) -> float | None:
        """Return the rate in Gb/s; meaningful for an active port only."""
        return number_or_none(self.values.get("Rate", ""))


@dataclass(slots=True)
class Adapter:
    """One adapter: name, values by name as printed, ports."""

    line: int
    name: str
    values: dict[str, str] = field(default_factory=dict)
    ports: list[Port] = field(default_factory=list)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of ``ibstat``."""
    head = head[:65536]
    return 0.9 if re.search(r"^\s{0,8}CA '[\w.:-]{1,64}'", head, re.MULTILINE) and "CA type:" in head else 0.0


def read(text: str) -> Reading[Adapter]:
    """Read the adapters; debug lines before them are skipped."""
    reading: Reading[Adapter] = Reading(KIND)
    died = ""
    for number, line in lines_of(text, reading):
        stripped = line.strip()
        if "ibpanic:" in stripped:
            died = stripped
            reading.note("ibstat-died", number, stripped)
            continue
        adapter, port, pair = _CA.fullmatch(stripped), _PORT.fullmatch(stripped), _PAIR.fullmatch(stripped)
        if adapter is not None and len(reading.records) < MAX_ADAPTERS:
            reading.records.append(Adapter(number, adapter[1]))
        elif not reading.records:
            continue
        elif port is not None and len(reading.records[-1].ports) < MAX_PORTS:
            reading.records[-1].ports.append(Port(number, int(port[1])))
        elif pair is not None:
            _take(reading.records[-1], pair[1], pair[2].strip(), number, line, reading)
        elif stripped and not stripped.startswith(("#", "$", "ibwarn")):
            reading.refuse("ibstat-line-refused", number, line)
    _finish(text, died, reading)
    return reading


def _take(adapter: Adapter, name: str, value: str, number: int, line: str, reading: Reading[Adapter]) -> None:
    if not value:
        reading.refuse("ibstat-line-refused", number, line)
    elif adapter.ports and name in _PORT_FIELDS:
        adapter.ports[-1].values.setdefault(name, value)
    elif not adapter.ports:
        adapter.values.setdefault(name, value)


def _finish(text: str, died: str, reading: Reading[Adapter]) -> None:
    if not reading.records:
        reading.refuse("ibstat-no-adapter" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no adapter")
        return
    for adapter in reading.records:
        for port in adapter.ports:
            if not port.active:
                state = f"{port.values.get('State', 'unknown')}, {port.values.get('Physical state', 'unknown')}"
                reading.note("ib-port-not-active", port.line, f"{adapter.name} port {port.number}: {state}")
    last = reading.records[-1]
    short = (natural_or_none(last.values.get("Number of ports", "")) or 0) > len(last.ports)
    if died:
        reading.end(Status.FAILED, died)
    elif short or not last.ports or _LAST not in last.ports[-1].values:
        reading.end(Status.TRUNCATED, f"the last port of {last.name} is not whole")
    elif reading.refusals:
        reading.end(Status.TRUNCATED, "some lines could not be read")


def summarise(reading: Reading[Adapter]) -> dict[str, Any]:
    """Return the ports: adapter, type, firmware, state, rate in Gb/s, link layer."""
    ports = [
        {
            "ca": adapter.name,
            "port": port.number,
            "type": adapter.values.get("CA type"),
            "firmware": adapter.values.get("Firmware version"),
            "state": port.values.get("State"),
            "physical": port.values.get("Physical state"),
            "rate_gb_per_s": port.rate,
            "layer": port.values.get("Link layer"),
        }
        for adapter in reading.records
        for port in adapter.ports
    ]
    if not reading.records:
        return {}
    return {
        "cas": len(reading.records),
        "ports": ports[:1000],
        "active_ports": sum(port.active for adapter in reading.records for port in adapter.ports),
    }
