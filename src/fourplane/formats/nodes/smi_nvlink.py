"""``nvidia-smi nvlink --status`` and ``--errorcounters``: the NVLinks of each GPU.

    GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)
             Link 0: 26.562 GB/s
             Link 1: <inactive>
             Link 0: Replay Errors: 0

The rate is that of one link in one direction. GPUs that are not listed are unknown, neither good nor missing.

Source: ``nvidia-smi nvlink --help``.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, number_or_none

__all__ = ["KIND", "GpuLinks", "read", "sniff", "summarise"]

KIND = "nvidia-smi-nvlink"
MAX_GPUS = 4096
MAX_LINKS = 1024

_GPU = re.compile(r"GPU (\d{1,5}): (.{1,200}?) \(UUID: ([^()\s]{1,80})\)", re.ASCII)
_LINK = re.compile(r"Link (\d{1,4}): (.{1,100})", re.ASCII)
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?) GB/s", re.ASCII)
_COUNTER = re.compile(r"([A-Z][\w /-]{1,60}Errors?|[A-Z][\w /-]{1,60}Count): (\d{1,20})", re.ASCII)


@dataclass(slots=True)
class GpuLinks:
    """NVLinks of one GPU: rate by link in GB/s, None for a link that is down; error counters by link and name."""

    line: int
    index: int
    name: str
    uuid: str
    rates: dict[int, float | None] = field(default_factory=dict)
    errors: dict[tuple[int, str], int] = field(default_factory=dict)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is ``nvidia-smi nvlink``."""
    gpu = False
    for line in head[:65536].split("\n", 100)[:100]:
        stripped = line.strip()
        gpu = gpu or _GPU.fullmatch(stripped) is not None
        if gpu and _LINK.fullmatch(stripped) is not None:
            return 0.95
    return 0.0


def read(text: str) -> Reading[GpuLinks]:
    """Read the links; one record for each GPU, what is counted are the links."""
    reading: Reading[GpuLinks] = Reading(KIND)
    for number, line in lines_of(text, reading):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        gpu, link = _GPU.fullmatch(stripped), _LINK.fullmatch(stripped)
        if gpu is not None and len(reading.records) < MAX_GPUS:
            reading.records.append(GpuLinks(number, int(gpu[1]), gpu[2].strip(), gpu[3]))
        elif link is not None and reading.records:
            _take(reading.records[-1], int(link[1]), link[2].strip(), number, reading)
        elif reading.records or not stripped.startswith("$"):
            reading.refuse("nvidia-smi-not-understood", number, line)
    links = [rate for gpu in reading.records for rate in gpu.rates.values()]
    reading.counted = len(links)
    _finish(text, reading)
    return reading


def _take(gpu: GpuLinks, index: int, value: str, number: int, reading: Reading[GpuLinks]) -> None:
    rate, counter = _RATE.fullmatch(value), _COUNTER.fullmatch(value)
    if index >= MAX_LINKS:
        reading.refuse("nvidia-smi-not-understood", number, value)
    elif rate is not None:
        gpu.rates[index] = number_or_none(rate[1])
    elif "inactive" in value.lower():
        gpu.rates[index] = None
        reading.note("nvlink-inactive", number, f"GPU {gpu.index}, link {index} is inactive")
    elif counter is not None:
        gpu.errors[index, counter[1]] = int(counter[2])
        if int(counter[2]):
            reading.note("nvlink-errors", number, f"GPU {gpu.index}, link {index}: {counter[1]} {counter[2]}")
    else:
        reading.refuse("nvidia-smi-not-understood", number, value)


def _finish(text: str, reading: Reading[GpuLinks]) -> None:
    if not reading.records:
        reading.refuse("nvidia-smi-not-understood" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no link")
        return
    counts = [len(gpu.rates) for gpu in reading.records]
    slow = Counter(rate for gpu in reading.records for rate in gpu.rates.values() if rate is not None)
    if len(slow) > 1:
        shown = ", ".join(f"{count} at {rate:g} GB/s" for rate, count in slow.most_common(10))
        reading.note("nvlink-rates-differ", reading.records[0].line, shown)
    if counts[-1] < max(counts):
        reading.end(Status.TRUNCATED, f"GPU {reading.records[-1].index} has {counts[-1]} links, others {max(counts)}")
    elif reading.refusals:
        reading.end(Status.TRUNCATED, "some lines could not be read")


def summarise(reading: Reading[GpuLinks]) -> dict[str, Any]:
    """Return GPUs, links, and the rate of a link where all that are up share one."""
    gpus = reading.records
    if not gpus:
        return {}
    names = {gpu.name for gpu in gpus}
    counts = {len(gpu.rates) for gpu in gpus}
    up = {rate for gpu in gpus for rate in gpu.rates.values() if rate is not None}
    return {
        "gpus": len(gpus),
        "gpu_indexes": [gpu.index for gpu in gpus],
        "gpu": names.pop() if len(names) == 1 else None,
        "links": reading.count,
        "links_per_gpu": counts.pop() if len(counts) == 1 else None,
        "gb_per_s_per_link": up.pop() if len(up) == 1 else None,
        "inactive": sum(rate is None for gpu in gpus for rate in gpu.rates.values()),
        "errors": sum(count for gpu in gpus for count in gpu.errors.values()),
    }
