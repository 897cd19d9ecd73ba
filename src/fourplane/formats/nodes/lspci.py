"""``lspci`` with any number of ``-v``: devices of the PCI bus, and for GPUs and adapters the width of their links.

``LnkCap`` is what a link could be, ``LnkSta`` what it is; the first of each block counts. ACS that redirects requests
sends traffic between devices through the root complex, which slows GPUDirect between a GPU and a NIC.

Source: pciutils ``lspci.c`` and ``ls-caps.c``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, natural_or_none

__all__ = ["KIND", "PciDevice", "read", "sniff", "summarise"]

KIND = "lspci"
MAX_DEVICES = 100_000

_DEVICE = re.compile(
    r"((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([A-Z0-9][^:]{1,80}?)(?: \[[0-9a-f]{4}\])?: (.{1,300})",
    re.ASCII,
)
_LINK = re.compile(
    r"Lnk(Cap|Sta):.{0,80}?Speed ([\d.]{1,6}|unknown)(?:GT/s)?(?: \(\w{1,12}\))?, Width x(\d{1,2})", re.ASCII
)
_ACS = re.compile(r"ACSCtl:\s(.{1,200})", re.ASCII)


@dataclass(slots=True)
class PciDevice:
    """One device: address, class, name, NUMA node, links (``cap``, ``sta``: GT/s and lanes), ACS controls."""

    line: int
    address: str
    kind: str
    name: str
    numa: int | None = None
    driver: str | None = None
    links: dict[str, tuple[float | None, int]] = field(default_factory=dict)
    acs: str | None = None

    @property
    def is_slow(self) -> bool:
        """Tell whether the link is narrower or slower than it could be."""
        if "cap" not in self.links or "sta" not in self.links:
            return False
        (cap_speed, cap_width), (speed, width) = self.links["cap"], self.links["sta"]
        return 0 < width < cap_width or (speed is not None and cap_speed is not None and speed < cap_speed)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of ``lspci``."""
    lines = [line for line in head[:65536].split("\n", 60)[:50] if line.strip()]
    found = sum(_DEVICE.fullmatch(line.rstrip()) is not None for line in lines)
    verbose = sum(line[:1] in "\t " for line in lines)
    return 0.85 if found and (found + verbose) * 5 >= len(lines) * 4 else 0.0


def read(text: str) -> Reading[PciDevice]:
    """Read the devices; one record each."""
    reading: Reading[PciDevice] = Reading(KIND)
    last = ""
    for number, line in lines_of(text, reading):
        device = _DEVICE.fullmatch(line.rstrip())
        if device is not None and len(reading.records) < MAX_DEVICES:
            reading.records.append(PciDevice(number, device[1], device[2], device[3]))
        elif reading.records and line[:1] in "\t ":
            _detail(reading.records[-1], line.strip())
        elif line.strip() and not line.startswith(("#", "$")):
            reading.refuse("lspci-line-refused", number, line)
        last = line if line.strip() or not line else last
    _finish(text, last, reading)
    return reading


def _detail(device: PciDevice, line: str) -> None:
    link, acs = _LINK.match(line), _ACS.match(line)
    if link is not None:
        speed = None if link[2] == "unknown" or link[2].count(".") > 1 else float(link[2].strip(".") or 0)
        device.links.setdefault(link[1].lower(), (speed, int(link[3])))
    elif acs is not None:
        device.acs = device.acs or acs[1].strip()
    elif line.startswith("NUMA node: "):
        device.numa = natural_or_none(line[11:], 6)
    elif line.startswith("Kernel driver in use: "):
        device.driver = line[22:102]


def _finish(text: str, last: str, reading: Reading[PciDevice]) -> None:
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no device")
        return
    for one in reading.records:
        if one.is_slow and _matters(one):
            shown = {key: f"{speed:g} GT/s x{width}" for key, (speed, width) in one.links.items() if speed is not None}
            reading.note(
                "lspci-link-slow", one.line, f"{one.address} {one.name}: {shown.get('sta')} of {shown.get('cap')}"
            )
        if one.acs is not None and "ReqRedir+" in one.acs:
            reading.note("lspci-acs-redirects", one.line, f"{one.address} {one.name}: {one.acs}")
    # with -v a blank line closes each device, the last one too; pasted texts lose it behind the driver's name
    if last[:1] in "\t " and last.strip() and not last.strip().startswith(("Kernel driver", "Kernel modules")):
        reading.end(Status.TRUNCATED, f"the block of {reading.records[-1].address} is cut")
    elif reading.refusals:
        reading.end(Status.TRUNCATED, "some lines could not be read")


def _matters(device: PciDevice) -> bool:
    return (
        any(word in device.name for word in ("NVIDIA", "Mellanox", "AMD/ATI", "Broadcom"))
        or "Non-Volatile" in device.kind
    )


def summarise(reading: Reading[PciDevice]) -> dict[str, Any]:
    """Return devices, those of NVIDIA and Mellanox, bridges, links and ACS controls."""
    devices = reading.records
    if not devices:
        return {}
    return {
        "devices": len(devices),
        "addresses": [one.address for one in devices[:1000]],
        "nvidia_devices": sum("NVIDIA" in one.name for one in devices),
        "mellanox_devices": sum("Mellanox" in one.name for one in devices),
        "bridges": sum(one.kind == "PCI bridge" for one in devices),
        "links": [
            {
                "address": one.address,
                "name": one.name,
                **{f"{key}_gt_per_s": speed for key, (speed, _) in one.links.items()},
                **{f"{key}_width": width for key, (_, width) in one.links.items()},
            }
            for one in devices
            if one.links
        ][:1000],
        "acs": [{"address": one.address, "controls": one.acs} for one in devices if one.acs is not None][:1000],
    }
