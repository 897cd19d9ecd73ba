"""JSON of AMD's tools: ``amd-smi static --json`` and ``rocm-smi … --json``; one record per GPU.

amd-smi writes a list of GPUs, later releases an object with that list under ``gpu_data``; sizes come as value and
unit, where MB stands for MiB. rocm-smi writes an object with ``card0``, ``card1``, … and ``system``, all values as
text. Link types between cards (``--showtopotype``) are keyed by a sentence and given for the upper triangle only.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, finite_json, natural_or_none, number_or_none

__all__ = ["KIND", "AmdGpu", "AmdNode", "read", "sniff", "summarise"]

KIND = "amd-smi"
MAX_GPUS = 1024

_MIB = 1024 * 1024
_SIZES = {"B": 1, "KB": 1024, "MB": _MIB, "GB": 1024 * _MIB, "MiB": _MIB, "GiB": 1024 * _MIB}
_CARD = re.compile(r"card(\d{1,4})", re.ASCII)
_PAIR = re.compile(r"\(Topology\) Link type between DRM devices (\d{1,4}) and (\d{1,4})", re.ASCII)


@dataclass(frozen=True, slots=True)
class AmdGpu:
    """One GPU: index, product name, memory in bytes, PCI address, power cap in W, uncorrected ECC errors."""

    index: int
    name: str | None = None
    memory: int | None = None
    bus: str | None = None
    power_cap_w: float | None = None
    ecc_uncorrected: int | None = None
    partition: str | None = None


@dataclass(slots=True)
class AmdNode:
    """GPUs of one node, the driver, and the link types by pair of indices."""

    driver: str = ""
    gpus: list[AmdGpu] = field(default_factory=list)
    links: dict[tuple[int, int], str] = field(default_factory=dict)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is JSON of amd-smi or rocm-smi."""
    head = head[:65536].lstrip()
    if not head.startswith(("{", "[")):
        return 0.0
    if '"market_name"' in head or '"gpu_data"' in head:
        return 0.9
    return 0.9 if re.search(r'"card\d{1,4}": ?\{', head) or "(Topology)" in head else 0.0


def read(text: str) -> Reading[AmdNode]:
    """Read the JSON of amd-smi or rocm-smi; warnings before the document are skipped."""
    reading: Reading[AmdNode] = Reading(KIND)
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    try:
        data = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError):
        data = None
    if data is None or not finite_json(data):
        reading.refuse("format-not-json" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no JSON document")
        return reading
    node = AmdNode()
    if isinstance(data, dict) and any(_CARD.fullmatch(key) or key == "system" for key in data):
        _from_rocm_smi(data, node)
    else:
        listed = data.get("gpu_data", [data]) if isinstance(data, dict) else data
        for position, one in enumerate(listed[:MAX_GPUS] if isinstance(listed, list) else []):
            if isinstance(one, dict) and (isinstance(one.get("asic"), dict) or isinstance(one.get("vram"), dict)):
                _from_amd_smi(one, position, node)
    if not node.gpus and not node.links and data != []:
        reading.refuse("amd-smi-not-understood", 0, text.strip())
        reading.end(Status.REFUSED, "unknown layout")
        return reading
    node.gpus.sort(key=lambda gpu: gpu.index)
    reading.records.append(node)
    reading.counted = len(node.gpus)
    for gpu in node.gpus:
        if gpu.ecc_uncorrected:
            reading.note("smi-ecc-uncorrectable", 0, f"GPU {gpu.index}: {gpu.ecc_uncorrected} uncorrectable errors")
    return reading


def summarise(reading: Reading[AmdNode]) -> dict[str, Any]:
    """Return the GPUs of the node: what all share, the least memory and power cap."""
    if not reading.records:
        return {}
    node = reading.records[0]
    names = {gpu.name for gpu in node.gpus}
    errors = [gpu.ecc_uncorrected for gpu in node.gpus if gpu.ecc_uncorrected is not None]
    return {
        "gpus": len(node.gpus),
        "gpu": names.pop() if len(names) == 1 else None,
        "driver_version": node.driver or None,
        "memory_bytes": min((gpu.memory for gpu in node.gpus if gpu.memory is not None), default=None),
        "power_limit_w": min((gpu.power_cap_w for gpu in node.gpus if gpu.power_cap_w is not None), default=None),
        "ecc_uncorrectable": sum(errors) if errors else None,
        "links": sorted(set(node.links.values())),
    }


def _from_amd_smi(one: dict[str, Any], position: int, node: AmdNode) -> None:
    asic, vram, bus, driver = (_section(one, key) for key in ("asic", "vram", "bus", "driver"))
    limit, ecc, partition = (_section(one, key) for key in ("limit", "ecc", "partition"))
    index = one.get("gpu")
    node.driver = node.driver or _text(driver.get("version") or driver.get("driver_version")) or ""
    power = _figure(limit.get("socket_power") or limit.get("max_power"))
    errors = ecc.get("total_uncorrectable_count")
    node.gpus.append(
        AmdGpu(
            index=index if isinstance(index, int) and 0 <= index < MAX_GPUS else position,
            name=_text(asic.get("market_name")),
            memory=_size(vram.get("size", vram.get("vram_size"))),
            bus=_text(bus.get("bdf")),
            power_cap_w=power[0] if power else None,
            ecc_uncorrected=errors if isinstance(errors, int) and not isinstance(errors, bool) else None,
            partition=_text(partition.get("compute_partition") or partition.get("accelerator_partition")),
        )
    )


def _from_rocm_smi(data: dict[str, Any], node: AmdNode) -> None:
    system = _section(data, "system")
    node.driver = _text(system.get("Driver version")) or ""
    for key, kind in system.items():
        pair = _PAIR.fullmatch(key)
        if pair is not None and isinstance(kind, str):
            node.links[int(pair[1]), int(pair[2])] = kind[:20]
    for key, card in data.items():
        found = _CARD.fullmatch(key)
        if found is None or not isinstance(card, dict) or len(node.gpus) >= MAX_GPUS:
            continue
        # the spelling of the product name changed between releases
        lower = {str(name).lower(): value for name, value in card.items()}
        total = _text(lower.get("vram total memory (b)"))
        power = number_or_none(_text(lower.get("max graphics package power (w)")) or "")
        node.driver = node.driver or _text(lower.get("driver version")) or ""
        node.gpus.append(
            AmdGpu(
                index=int(found[1]),
                name=_text(lower.get("card series") or lower.get("device name") or lower.get("card model")),
                memory=natural_or_none(total or ""),
                bus=_text(lower.get("pci bus")),
                power_cap_w=power,
                partition=_text(lower.get("compute partition")),
            )
        )


def _section(data: dict[str, Any], key: str) -> dict[str, Any]:
    inner = data.get(key)
    return inner if isinstance(inner, dict) else {}


def _text(value: Any) -> str | None:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    text = str(value).strip()[:200]
    return None if text in {"", "N/A", "unknown"} else text


def _figure(value: Any) -> tuple[float, str] | None:
    """Return a figure with its unit from ``{"value": 1, "unit": "W"}``, ``1`` or ``"1 W"``."""
    if isinstance(value, dict):
        inner = _figure(value.get("value"))
        return (inner[0], str(value.get("unit", ""))[:8]) if inner else None
    if isinstance(value, str):
        digits, _, unit = value.strip().partition(" ")
        number = number_or_none(digits)
        return None if number is None else (number, unit)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), ""
    return None


def _size(value: Any) -> int | None:
    found = _figure(value)
    if found is None or found[0] < 0:
        return None
    unit = found[1] or "MB"
    return int(found[0] * _SIZES[unit]) if unit in _SIZES else None
