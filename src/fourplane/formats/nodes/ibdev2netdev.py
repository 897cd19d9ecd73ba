"""``ibdev2netdev``: which network interface belongs to which RDMA device.

    mlx5_0 port 1 ==> ibp26s0 (Down)

(Down) is the state of the IP interface, never that of the link: an InfiniBand port without an IP address is Down and
works. The name of the interface tells the link layer: ``ib*`` is IP over InfiniBand.

Source: Mellanox OFED ``ibdev2netdev``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, natural_or_none

__all__ = ["KIND", "Mapping", "natural", "read", "sniff", "summarise"]

KIND = "ibdev2netdev"
MAX_LINES = 100_000

# with -v more words (PCI address, part number, firmware) stand before the arrow
_LINE = re.compile(
    r"(?:[0-9a-f:.]{7,16} )?([\w.-]{1,40}) (?:\([^()]{0,200}\) .{0,300})?port {1,4}(\d{1,3}) .{0,60}?==> {1,8}"
    r"([\w.@-]{1,40}) {1,20}\((Up|Down)\)(.{0,200})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Mapping:
    """One port: RDMA device, port number, network interface, whether its IP side is up, remark behind it."""

    line: int
    device: str
    port: int
    interface: str
    up: bool
    remark: str

    @property
    def infiniband(self) -> bool:
        """Tell whether the interface is IP over InfiniBand, by its name."""
        return self.interface.startswith("ib")


def natural(name: str) -> tuple[object, ...]:
    """Return a sort key by which mlx5_2 comes before mlx5_10."""
    parts = (part for part in re.split(r"([0-9]{1,9})", name) if part)
    return tuple((0, part) if (number := natural_or_none(part)) is None else (1, number) for part in parts)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of ``ibdev2netdev``."""
    return 0.95 if any(_LINE.match(_squeeze(line)) for line in head[:16384].split("\n", 20)[:20]) else 0.0


def _squeeze(line: str) -> str:
    return " ".join(line[:2000].split())


def read(text: str) -> Reading[Mapping]:
    """Read the lines; one record each."""
    reading: Reading[Mapping] = Reading(KIND)
    for number, line in lines_of(text, reading):
        squeezed = _squeeze(line)
        if not squeezed or squeezed.startswith(("#", "$")):
            continue
        match = _LINE.match(squeezed)
        if match is not None and len(reading.records) < MAX_LINES:
            reading.records.append(
                Mapping(number, match[1], int(match[2]), match[3], match[4] == "Up", match[5].strip(" #"))
            )
        else:
            reading.refuse("ibdev2netdev-line-refused", number, line)
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no device")
    elif reading.refusals:
        reading.end(Status.TRUNCATED, "some lines could not be read")
    return reading


def summarise(reading: Reading[Mapping]) -> dict[str, Any]:
    """Return the devices by link layer and by the state of their IP side."""
    if not reading.records:
        return {}
    ib = sorted({one.device for one in reading.records if one.infiniband}, key=natural)
    return {
        "devices": len({one.device for one in reading.records}),
        "infiniband": ib,
        "ethernet": sorted({one.device for one in reading.records if not one.infiniband}, key=natural),
        "netdev_up": sorted({one.device for one in reading.records if one.up}, key=natural),
        "netdev_down": sum(not one.up for one in reading.records),
        # on Ethernet the text does not tell a compute rail from a storage or front-end port
        "compute_rails": len(ib) or None,
    }
