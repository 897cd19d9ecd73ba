"""``perfquery``: counters of InfiniBand ports, standard or extended.

    # Port extended counters: Lid 1719 port 1 (CapMask: 0x5300 CapMask2: 0x0000002)
    PortXmitData:....................36298026860928

Data counters count words of four bytes. PortXmitWait is congestion, in ticks, and no error.

Source: InfiniBand Architecture Specification volume 1, chapter 16; rdma-core ``infiniband-diags/perfquery.c``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of

__all__ = ["KIND", "PortCounters", "read", "sniff", "summarise"]

KIND = "perfquery"
MAX_PORTS = 200_000
MAX_COUNTERS = 200

_HEAD = re.compile(r"# Port (?:extended )?counters: (?:Lid (\d{1,6})|.{1,80}?) port (\d{1,3})\b", re.ASCII)
_COUNTER = re.compile(r"([A-Z][A-Za-z0-9]{1,60}):\.{1,60}(0x[0-9a-fA-F]{1,16}|\d{1,20})", re.ASCII)

_ERRORS = (
    "SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
    "PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors", "PortXmitDiscards", "PortXmitConstraintErrors",
    "PortRcvConstraintErrors", "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "VL15Dropped",
)  # fmt: skip
_SPELLINGS = {
    "RcvErrors": "PortRcvErrors", "XmtDiscards": "PortXmitDiscards", "XmtWait": "PortXmitWait",
    "LinkRecovers": "LinkErrorRecoveryCounter", "LinkDowned": "LinkDownedCounter", "XmtData": "PortXmitData",
    "RcvData": "PortRcvData",
}  # fmt: skip
_SHOWN = {
    "xmit_data": "PortXmitData", "rcv_data": "PortRcvData", "xmit_wait": "PortXmitWait",
    "symbol_errors": "SymbolErrorCounter", "link_downed": "LinkDownedCounter", "rcv_errors": "PortRcvErrors",
    "xmit_discards": "PortXmitDiscards",
}  # fmt: skip


@dataclass(slots=True)
class PortCounters:
    """Counters of one port by name, under the names of the extended counters."""

    line: int
    lid: int | None
    port: int
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> dict[str, int]:
        """Return the error counters that are not zero."""
        return {name: self.counters[name] for name in _ERRORS if self.counters.get(name)}


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of ``perfquery``."""
    return 0.95 if _HEAD.search(head[:16384]) is not None else 0.0


def read(text: str) -> Reading[PortCounters]:
    """Read the ports; lines before the first one are skipped."""
    reading: Reading[PortCounters] = Reading(KIND)
    for number, line in lines_of(text, reading):
        stripped = line.strip()
        head, counter = _HEAD.match(stripped), _COUNTER.fullmatch(stripped)
        if head is not None and len(reading.records) < MAX_PORTS:
            reading.records.append(PortCounters(number, int(head[1]) if head[1] else None, int(head[2])))
        elif counter is not None and reading.records and len(reading.records[-1].counters) < MAX_COUNTERS:
            name = _SPELLINGS.get(counter[1], counter[1])
            reading.records[-1].counters[name] = int(counter[2], 0 if counter[2].startswith("0x") else 10)
        elif stripped and reading.records and not stripped.startswith("#"):
            reading.refuse("perfquery-line-refused", number, line)
    if not reading.records:
        reading.refuse("perfquery-no-port" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no port")
        return reading
    for one in reading.records:
        for name, count in one.errors.items():
            reading.note("ib-port-errors", one.line, f"lid {one.lid} port {one.port}: {name} {count}")
    counts = [len(one.counters) for one in reading.records]
    if reading.refusals or counts[-1] < max(counts) or not text.endswith("\n"):
        reading.end(Status.TRUNCATED, "the counters of the last port are not whole")
    return reading


def summarise(reading: Reading[PortCounters]) -> dict[str, Any]:
    """Return the counters of the ports and the sum of all errors."""
    if not reading.records:
        return {}
    lids = {one.lid for one in reading.records}
    return {
        "lid": lids.pop() if len(lids) == 1 else None,
        "ports": [
            {"lid": one.lid, "port": one.port, **{key: one.counters.get(name) for key, name in _SHOWN.items()}}
            for one in reading.records[:1000]
        ],
        "errors": sum(sum(one.errors.values()) for one in reading.records),
    }
