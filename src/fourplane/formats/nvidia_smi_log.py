"""``nvidia-smi -q``: an indented list of names and values, four spaces a level, one section per GPU.

Here it serves for what the CSV lacks: the newest CUDA version that the driver supports, the architecture, the MIG
devices. The text changes from release to release; only names that have been stable since driver 450 are used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fourplane.formats.model import Reading, Status, lines_of

__all__ = ["KIND", "LoggedGpu", "QueryLog", "read", "sniff"]

KIND = "nvidia-smi-q"
MAX_DEPTH = 12
MAX_FIELDS = 20_000

_BANNER = "NVSMI LOG"
_GPU = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])", re.ASCII)
_PAIR = re.compile(r"(\S[^:]{0,99}?) {0,80}: ?(.{0,400})")


@dataclass(slots=True)
class LoggedGpu:
    """One GPU of the log.

    Attributes:
        line: 1-based line of its heading.
        bus: PCI address, as written.
        values: value by path, such as ``MIG Mode/Current``; the first of a path stays.
        mig_devices: number of ``MIG Device`` sections.
    """

    line: int
    bus: str
    values: dict[str, str] = field(default_factory=dict)
    mig_devices: int = 0


@dataclass(slots=True)
class QueryLog:
    """The whole log: driver, newest CUDA that it supports, GPUs it announces and GPUs it describes."""

    line: int
    driver: str = ""
    cuda: str = ""
    attached: int | None = None
    gpus: list[LoggedGpu] = field(default_factory=list)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is ``nvidia-smi -q``."""
    head = head[:65536]
    if _BANNER in head:
        return 0.95
    return 0.7 if "Attached GPUs" in head and "Driver Version" in head else 0.0


def read(text: str) -> Reading[QueryLog]:
    """Read ``nvidia-smi -q``; the reading holds one record, or none when the text is something else."""
    reading: Reading[QueryLog] = Reading(KIND)
    log = QueryLog(1)
    path: list[tuple[int, str]] = []
    fields = 0
    for number, line in lines_of(text, reading):
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "=")):
            continue
        indent = len(line) - len(line.lstrip(" "))
        heading = _GPU.fullmatch(stripped)
        if heading is not None and indent == 0:
            log.gpus.append(LoggedGpu(number, heading[1]))
            path = []
            continue
        fields += 1
        if fields > MAX_FIELDS:
            reading.refuse("nvidia-smi-not-understood", number, f"more than {MAX_FIELDS} fields")
            break
        while path and path[-1][0] >= indent:
            path.pop()
        pair = _PAIR.fullmatch(stripped)
        if pair is None:
            _open(log, path, indent, stripped)
        elif log.gpus:
            key = "/".join((*(name for _, name in path), pair[1]))
            log.gpus[-1].values.setdefault(key, pair[2].strip())
        else:
            _top(log, pair[1], pair[2].strip())
    _finish(log, text, reading)
    return reading


def _open(log: QueryLog, path: list[tuple[int, str]], indent: int, name: str) -> None:
    if len(path) < MAX_DEPTH:
        path.append((indent, name[:100]))
    if log.gpus and name == "MIG Device":
        log.gpus[-1].mig_devices += 1


def _top(log: QueryLog, name: str, value: str) -> None:
    if name == "Driver Version":
        log.driver = log.driver or value
    elif name == "CUDA Version":
        log.cuda = log.cuda or value
    elif name == "Attached GPUs" and value.isascii() and value.isdigit() and len(value) < 6:
        log.attached = int(value)


def _finish(log: QueryLog, text: str, reading: Reading[QueryLog]) -> None:
    if not (log.driver or log.gpus or log.attached is not None):
        if "No devices were found" in text[:4096]:
            reading.records.append(QueryLog(1, attached=0))
            return
        failed = "has failed" in text[:4096] or "Failed to initialize NVML" in text[:4096]
        code = "nvidia-smi-failed" if failed else "nvidia-smi-not-understood" if text.strip() else "format-text-empty"
        reading.refuse(code, 0, text.strip())
        reading.end(Status.REFUSED, "not a log of nvidia-smi -q")
        return
    reading.records.append(log)
    if log.attached is not None and log.attached != len(log.gpus):
        reading.end(Status.TRUNCATED, f"{log.attached} GPUs announced, {len(log.gpus)} described")
