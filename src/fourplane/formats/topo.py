"""``nvidia-smi topo -m``: the matrix of link classes between GPUs and NICs, with CPU and NUMA affinity.

Columns are separated by tabs (the tool itself) or by runs of spaces (pasted texts); the header is underlined on a
terminal and in a pipe alike. NICs are named ``NIC0`` with a legend below the matrix, or directly ``mlx5_0`` by older
drivers. Affinity columns follow the devices; NIC rows leave them empty.

Link classes, nearest first: NV# (bonded NVLinks), PIX, PXB, PHB, NODE, SYS; older drivers wrote SOC for SYS.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, natural_or_none

__all__ = ["KIND", "LINK_CLASSES", "Topology", "read", "sniff", "summarise"]

KIND = "nvidia-smi-topo"
MAX_DEVICES = 512

LINK_CLASSES = ("NV", "PIX", "PXB", "PHB", "NODE", "SYS")
_LINK = re.compile(r"X|NV\d{1,3}|PIX|PXB|PHB|NODE|SYS|SOC|XGMI|C2C|DIS|N/A", re.ASCII)
_DEVICE = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,63}", re.ASCII)
_GPU = re.compile(r"GPU\d{1,4}", re.ASCII)
_LEGEND = re.compile(r"(NIC\d{1,4}): (\S{1,64})", re.ASCII)
_COLUMN_GAP = re.compile(r"\t+ *| {2,}")


@dataclass(slots=True)
class Topology:
    """One matrix.

    Attributes:
        line: 1-based line of the header.
        devices: names in the order of the columns: GPUs, then NICs.
        links: class by (row, column); the diagonal is left out.
        affinity: text by (device, column name), such as ``("GPU0", "NUMA Affinity")``.
        nics: device name of each NIC by its name in the matrix; the same name without a legend.
    """

    line: int
    devices: list[str]
    links: dict[tuple[str, str], str] = field(default_factory=dict)
    affinity: dict[tuple[str, str], str] = field(default_factory=dict)
    nics: dict[str, str] = field(default_factory=dict)

    @property
    def gpus(self) -> list[str]:
        """Return the GPUs in order."""
        return [name for name in self.devices if _GPU.fullmatch(name)]

    @property
    def gpu_links(self) -> set[str]:
        """Return the classes that occur between different GPUs."""
        gpus = set(self.gpus)
        return {kind for (row, column), kind in self.links.items() if row in gpus and column in gpus}

    def nearest_nics(self, gpu: str) -> tuple[str, list[str]]:
        """Return the nearest class between a GPU and any NIC, and the NICs at that distance."""
        found: dict[str, list[str]] = {}
        for nic, name in self.nics.items():
            found.setdefault(self.links.get((gpu, nic), ""), []).append(name)
        for kind in LINK_CLASSES[1:]:
            if kind in found:
                return kind, found[kind]
        return "", []

    def matrix(self) -> list[list[str]]:
        """Return the classes row by row, ``X`` on the diagonal, "" where nothing was read."""
        return [
            ["X" if row == column else self.links.get((row, column), "") for column in self.devices]
            for row in self.devices
        ]


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` holds a topology matrix."""
    probe: Reading[Topology] = Reading(KIND)
    for _, line in lines_of(head[:65536], probe):
        if _header(line) is not None:
            return 0.9
    return 0.0


def read(text: str) -> Reading[Topology]:
    """Read the first matrix of a text; lines around it are skipped."""
    reading: Reading[Topology] = Reading(KIND)
    topology: Topology | None = None
    extra: list[str] = []
    for number, line in lines_of(text, reading):
        if topology is None:
            header = _header(line)
            if header is not None:
                topology, extra = Topology(number, header[0]), header[1]
            continue
        words = line.split()
        legend = _LEGEND.fullmatch(line.strip())
        if legend is not None:
            topology.nics[legend[1]] = legend[2]
        elif words and words[0] in topology.devices and len(words) > 1:
            _row(words, number, line, topology, extra, reading)
        elif words and _GPU.fullmatch(words[0]) and len(words) > 1 and _LINK.fullmatch(words[1]):
            reading.refuse("topo-row-refused", number, line)
    if topology is None:
        reading.refuse("topo-no-matrix" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no topology matrix")
        return reading
    _finish(topology, reading)
    return reading


def _header(line: str) -> tuple[list[str], list[str]] | None:
    """Return the device and the affinity columns when the line is a header, else None."""
    cells = [cell.strip() for cell in _COLUMN_GAP.split(line.strip()) if cell.strip()]
    if not cells or cells[0] != "GPU0":
        return None
    devices: list[str] = []
    for position, cell in enumerate(cells):
        if "Affinity" in cell or "NUMA" in cell:
            return devices, cells[position:]
        if not _DEVICE.fullmatch(cell) or cell in devices or _LINK.fullmatch(cell) or len(devices) >= MAX_DEVICES:
            return None
        devices.append(cell)
    # a single-GPU row has the same first word; without affinity columns a header must name a second device
    return (devices, []) if len(devices) > 1 or line[:1] in "\t " else None


def _row(
    words: list[str], number: int, line: str, topology: Topology, extra: list[str], reading: Reading[Topology]
) -> None:
    name, count = words[0], len(topology.devices)
    kinds, rest = words[1 : count + 1], words[count + 1 :]
    known = len(kinds) == count and all(_LINK.fullmatch(kind) for kind in kinds)
    if not known or (name, topology.devices[-1 if name != topology.devices[-1] else 0]) in topology.links:
        reading.refuse("topo-row-refused", number, line)
        return
    for column, kind in zip(topology.devices, kinds, strict=True):
        if (column == name) != (kind == "X"):
            reading.refuse("topo-row-refused", number, line)
            return
    for column, kind in zip(topology.devices, kinds, strict=True):
        if column != name:
            topology.links[name, column] = "SYS" if kind == "SOC" else kind
    for title, value in zip(extra, rest, strict=False):
        topology.affinity[name, title] = value
    topology.affinity.setdefault((name, ""), "")


def _finish(topology: Topology, reading: Reading[Topology]) -> None:
    rows = {name for name, title in topology.affinity if not title}
    topology.affinity = {key: value for key, value in topology.affinity.items() if key[1]}
    for name in topology.devices:
        if name not in rows:
            reading.refuse("topo-row-missing", topology.line, name)
        if not _GPU.fullmatch(name):
            topology.nics.setdefault(name, name)
    topology.nics = {nic: name for nic, name in topology.nics.items() if nic in topology.devices}
    reading.records.append(topology)
    reading.counted = len(rows)
    lopsided = [
        f"{a}-{b}: {topology.links[a, b]} and {topology.links[b, a]}"
        for a, b in combinations(topology.devices, 2)
        if (a, b) in topology.links and (b, a) in topology.links and topology.links[a, b] != topology.links[b, a]
    ]
    if lopsided:
        reading.note("topo-not-symmetric", topology.line, "; ".join(lopsided[:10]))
    if reading.refusals:
        reading.end(Status.TRUNCATED, "the matrix is not whole")


def summarise(reading: Reading[Topology]) -> dict[str, Any]:
    """Return how many pairs share each class of link, the NIC beside each GPU, and the affinity of each GPU."""
    if not reading.records:
        return {}
    found = reading.records[0]
    gpus, nics = found.gpus, list(found.nics)
    between = _classes(found, combinations(gpus, 2))
    bonds = {int(kind[2:]) if kind.startswith("NV") else 0 for kind in between}
    nearest = {gpu: found.nearest_nics(gpu) for gpu in gpus}
    return {
        "gpus": len(gpus),
        "nics": len(nics),
        "nic_names": list(found.nics.values()),
        "gpu_gpu": between,
        "gpu_nic": _classes(found, ((gpu, nic) for gpu in gpus for nic in nics)),
        "nic_nic": _classes(found, combinations(nics, 2)),
        # None for a single GPU, and where pairs differ: the classes tell more
        "nvlinks": bonds.pop() if len(bonds) == 1 else None,
        # a rail is a NIC behind the same PCIe switch; a NIC across the host bridge serves several GPUs
        "rails": {
            gpu: names[0] for gpu, (kind, names) in nearest.items() if kind in {"PIX", "PXB"} and len(names) == 1
        },
        "numa": {
            gpu: natural_or_none(found.affinity[gpu, "NUMA Affinity"])
            for gpu in gpus
            if (gpu, "NUMA Affinity") in found.affinity
        },
        "cpu_affinity": {
            gpu: found.affinity[gpu, "CPU Affinity"] for gpu in gpus if (gpu, "CPU Affinity") in found.affinity
        },
    }


def _classes(found: Topology, pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return how many of the pairs have each class; a class that only one direction tells counts too."""
    kinds = (found.links.get(pair) or found.links.get((pair[1], pair[0])) for pair in pairs)
    return dict(Counter(kind for kind in kinds if kind))
