"""``lsblk --json``: block devices as a tree.

Children are parts of their parent: their sizes are never added to it. With ``-b`` sizes are bytes; without, texts
such as ``894.3G`` in powers of 1024, rounded by the tool.

Source: util-linux ``misc-utils/lsblk.c``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.documents import read_json, text_of, whole_number
from fourplane.formats.model import Reading, Status

__all__ = ["KIND", "BlockDevice", "read", "sniff", "summarise"]

KIND = "lsblk"
MAX_DEVICES = 100_000
MAX_DEPTH = 16

_SIZE = re.compile(r"(\d{1,12}(?:[.,]\d{1,6})?)([BKMGTPE]?)", re.ASCII)
_POWERS = {unit: 1024**power for power, unit in enumerate("BKMGTPE")} | {"": 1}


@dataclass(slots=True)
class BlockDevice:
    """One device: name, type (disk, part, loop, raid1 ...), bytes, model, mount points, rotating or not, children."""

    name: str
    type: str
    size: int | None
    model: str | None
    mounts: list[str]
    rotating: bool | None
    children: list[BlockDevice] = field(default_factory=list)

    def walk(self) -> Iterator[BlockDevice]:
        """Yield the device and everything below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is JSON of ``lsblk``."""
    return 0.95 if '"blockdevices"' in head[:4096] else 0.0


def read(text: str) -> Reading[BlockDevice]:
    """Read the tree; one record for each device at its top."""
    reading: Reading[BlockDevice] = Reading(KIND)
    data = read_json(text, reading)
    if data is None:
        return reading
    devices = data.get("blockdevices") if isinstance(data, dict) else None
    if not isinstance(devices, list):
        reading.refuse("lsblk-not-understood", 0, text.strip())
        reading.end(Status.REFUSED, "no list of block devices")
        return reading
    left = [MAX_DEVICES]
    for position, one in enumerate(devices[:MAX_DEVICES]):
        device = _device(one, 0, left)
        if device is None:
            reading.refuse("lsblk-device-refused", 0, f"device {position}: {str(one)[:150]}")
        else:
            reading.records.append(device)
    if reading.refusals:
        reading.end(Status.TRUNCATED, "some devices could not be read")
    return reading


def _device(one: Any, depth: int, left: list[int]) -> BlockDevice | None:
    name = text_of(one.get("name")) if isinstance(one, dict) else None
    if name is None or depth > MAX_DEPTH or left[0] <= 0:
        return None
    left[0] -= 1
    several = one.get("mountpoints")
    mounts = several if isinstance(several, list) else [one.get("mountpoint")]
    rotating = one.get("rota")
    children = one.get("children")
    return BlockDevice(
        name=name,
        type=text_of(one.get("type")) or "",
        size=_size(one.get("size")),
        model=text_of(one.get("model")),
        mounts=[mount for mount in mounts[:1000] if isinstance(mount, str) and mount],
        rotating=rotating if isinstance(rotating, bool) else {"0": False, "1": True}.get(str(rotating)),
        children=[
            found
            for child in (children[:MAX_DEVICES] if isinstance(children, list) else [])
            if (found := _device(child, depth + 1, left)) is not None
        ],
    )


def _size(value: Any) -> int | None:
    number = whole_number(value)
    if number is not None:
        return number if number >= 0 else None
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    return int(float(match[1].replace(",", ".")) * _POWERS[match[2]]) if match else None


def summarise(reading: Reading[BlockDevice]) -> dict[str, Any]:
    """Return disks with their models and bytes, loops, partitions, mounted devices."""
    if not reading.records:
        return {}
    disks = [one for one in reading.records if one.type == "disk"]
    every = [device for one in reading.records for device in one.walk()]
    models = Counter((one.model, one.size) for one in disks)
    sizes = [one.size for one in disks if one.size is not None]
    return {
        "top_level": len(reading.records),
        "disks": len(disks),
        "loops": sum(one.type == "loop" for one in reading.records),
        "partitions": sum(one.type == "part" for one in every),
        "disk_bytes_total": sum(sizes) if len(sizes) == len(disks) else None,
        "models": [{"model": model, "count": count, "bytes": size} for (model, size), count in models.items()][:1000],
        "mounted": sum(bool(one.mounts) for one in every),
    }
