"""``nvidia-smi -q``: an indented list of names and values, four spaces a level, one section per GPU.

Names repeat from section to section (``Current``, ``Total``), and with MIG there are several sections ``MIG Device``
with sections of their own inside: the path decides, not the name. The text changes from release to release; where a
name changed, all its spellings are tried.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, natural_or_none
from fourplane.formats.smi_state import GpuState, MigSlice, RemappedRows, figure, known, note_states, shared, whole

__all__ = ["KIND", "LoggedGpu", "QueryLog", "read", "sniff", "summarise"]

KIND = "nvidia-smi-query"
MAX_DEPTH = 12
MAX_FIELDS = 20_000

_BANNER = "NVSMI LOG"
_MIG_SECTION = "MIG Device"
_GPU = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])", re.ASCII)
_PAIR = re.compile(r"(\S[^:]{0,99}?) {0,80}: ?(.{0,400})")


@dataclass(slots=True)
class LoggedGpu:
    """One GPU of the log.

    Attributes:
        line: 1-based line of its heading.
        bus: PCI address, as written.
        values: value by path, such as ``MIG Mode/Current``; the first of a path stays.
        mig: values of each ``MIG Device`` section, by path inside of it.
    """

    line: int
    bus: str
    values: dict[str, str] = field(default_factory=dict)
    mig: list[dict[str, str]] = field(default_factory=list)

    @property
    def mig_devices(self) -> int:
        """Return the number of MIG devices."""
        return len(self.mig)

    def text(self, *paths: str) -> str | None:
        """Return the first of these values that is an answer."""
        return next((found for path in paths if (found := known(self.values.get(path))) is not None), None)

    def _uncorrectable(self, section: str) -> int | None:
        """Return the sum of the uncorrectable errors of a section; double-bit errors before driver 450."""
        counts = [
            whole(value)
            for path, value in self.values.items()
            if path.startswith(f"ECC Errors/{section}/") and "ncorrectable" in path
        ]
        answers = [count for count in counts if count is not None]
        return sum(answers) if answers else whole(self.values.get(f"ECC Errors/{section}/Double Bit/Total"))

    @property
    def state(self) -> GpuState:
        """Return what the section says, under the names that all layouts of nvidia-smi share."""
        link = "PCI/GPU Link Info"
        power = ("GPU Power Readings", "Power Readings")
        rows = {
            name: self.text(f"Remapped Rows/{path}")
            for name, path in (
                ("correctable", "Correctable Error"), ("uncorrectable", "Uncorrectable Error"), ("pending", "Pending"),
                ("failure", "Remapping Failure Occurred"),
            )
        }  # fmt: skip
        return GpuState(
            line=self.line,
            name=self.text("Product Name"),
            uuid=self.text("GPU UUID"),
            pci=self.bus,
            vbios=self.text("VBIOS Version"),
            gsp_firmware=self.text("GSP Firmware Version"),
            mig_mode=self.text("MIG Mode/Current"),
            mig=[_slice(values) for values in self.mig],
            persistence_mode=self.text("Persistence Mode"),
            performance_state=self.text("Performance State"),
            ecc_mode=self.text("ECC Mode/Current", "Ecc Mode/Current"),
            ecc_uncorrectable_volatile=self._uncorrectable("Volatile"),
            ecc_uncorrectable_aggregate=self._uncorrectable("Aggregate"),
            remapped=RemappedRows(
                whole(rows["correctable"]), whole(rows["uncorrectable"]), rows["pending"], rows["failure"]
            )
            if any(rows.values())
            else None,
            pcie_gen=whole(self.text(f"{link}/PCIe Generation/Current")),
            pcie_gen_max=whole(self.text(f"{link}/PCIe Generation/Max")),
            pcie_width=whole(self.text(f"{link}/Link Width/Current")),
            pcie_width_max=whole(self.text(f"{link}/Link Width/Max")),
            pcie_replays=whole(self.text("PCI/Replays Since Reset")),
            memory_total_mib=whole(self.text("FB Memory Usage/Total")),
            memory_used_mib=whole(self.text("FB Memory Usage/Used")),
            utilization_percent=whole(self.text("Utilization/GPU", "Utilization/Gpu")),
            temperature_c=figure(self.text("Temperature/GPU Current Temp")),
            power_w=figure(
                self.text(*(f"{section}/{name}" for section in power for name in ("Average Power Draw", "Power Draw")))
            ),
            power_limit_w=figure(
                self.text(*(f"{one}/{name}" for one in power for name in ("Current Power Limit", "Power Limit")))
            ),
            fabric_state=self.text("Fabric/State"),
            fabric_status=self.text("Fabric/Status"),
            # the word None is an answer here: nothing needs to be done
            recovery_action=self.values.get("GPU Recovery Action"),
        )


def _slice(values: dict[str, str]) -> MigSlice:
    return MigSlice(
        index=whole(values.get("Index")),
        gpu_instance=whole(values.get("GPU Instance ID")),
        compute_instance=whole(values.get("Compute Instance ID")),
        multiprocessors=whole(values.get("Device Attributes/Shared/Multiprocessor count")),
        memory_mib=whole(values.get("Shared FB Memory Usage/Total") or values.get("FB Memory Usage/Total")),
    )


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
            _keep(log.gpus[-1], [*(name for _, name in path), pair[1]], pair[2].strip())
        else:
            _top(log, pair[1], pair[2].strip())
    _finish(log, text, reading)
    return reading


def _open(log: QueryLog, path: list[tuple[int, str]], indent: int, name: str) -> None:
    if len(path) < MAX_DEPTH:
        path.append((indent, name[:100]))
    if log.gpus and name == _MIG_SECTION:
        log.gpus[-1].mig.append({})


def _keep(gpu: LoggedGpu, path: list[str], value: str) -> None:
    if path[0] == _MIG_SECTION and gpu.mig:
        gpu.mig[-1].setdefault("/".join(path[1:]), value)
    else:
        gpu.values.setdefault("/".join(path), value)


def _top(log: QueryLog, name: str, value: str) -> None:
    if name == "Driver Version":
        log.driver = log.driver or value
    elif name == "CUDA Version":
        log.cuda = log.cuda or value
    elif name == "Attached GPUs":
        log.attached = natural_or_none(value, 5)


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
    reading.counted = len(log.gpus)
    note_states([gpu.state for gpu in log.gpus], reading)
    if log.attached is not None and log.attached != len(log.gpus):
        reading.end(Status.TRUNCATED, f"{log.attached} GPUs announced, {len(log.gpus)} described")
    elif log.gpus and not text.endswith("\n"):
        reading.end(Status.TRUNCATED, "the text stops inside a line")
    elif len(log.gpus) > 1 and len(log.gpus[-1].values) * 2 < len(log.gpus[0].values):
        reading.end(Status.TRUNCATED, "the section of the last GPU is cut")


def summarise(reading: Reading[QueryLog]) -> dict[str, Any]:
    """Return the figures of the log: those that all GPUs share, the worst of those that may differ."""
    if not reading.records:
        return {}
    log = reading.records[0]
    states = [gpu.state for gpu in log.gpus]
    slices = [one for state in states for one in state.mig]
    return {
        "gpus": len(log.gpus),
        "attached_gpus": log.attached,
        "gpu": shared(states, "name"),
        "driver_version": log.driver or None,
        "cuda_version": known(log.cuda),
        "pci": shared(states, "pci"),
        "vbios": shared(states, "vbios"),
        "gsp_firmware": shared(states, "gsp_firmware"),
        "mig_mode": shared(states, "mig_mode"),
        "mig_devices": len(slices),
        "mig": [
            {
                "index": one.index, "gi": one.gpu_instance, "ci": one.compute_instance, "sms": one.multiprocessors,
                "memory_mib": one.memory_mib,
            }
            for one in slices
        ],
        "persistence_mode": shared(states, "persistence_mode"),
        "ecc_mode": shared(states, "ecc_mode"),
        "ecc_uncorrectable_volatile": shared(states, "ecc_uncorrectable_volatile", sum),
        "ecc_uncorrectable_aggregate": shared(states, "ecc_uncorrectable_aggregate", sum),
        "remapped_rows": _rows(states),
        "pcie_gen": shared(states, "pcie_gen", min),
        "pcie_width": shared(states, "pcie_width", min),
        "pcie_replays": shared(states, "pcie_replays", sum),
        "memory_total_mib": shared(states, "memory_total_mib", min),
        "temperature_c": shared(states, "temperature_c", max),
        "power_average_w": shared(states, "power_w", max),
        "power_limit_w": shared(states, "power_limit_w", min),
        "fabric_state": shared(states, "fabric_state"),
        "fabric_status": shared(states, "fabric_status"),
        "recovery_action": shared(states, "recovery_action"),
    }  # fmt: skip


def _rows(states: list[GpuState]) -> dict[str, Any] | None:
    rows = [state.remapped for state in states if state.remapped is not None]
    if not rows:
        return None
    return {
        "correctable": sum(one.correctable or 0 for one in rows),
        "uncorrectable": sum(one.uncorrectable or 0 for one in rows),
        "pending": max((one.pending for one in rows if one.pending is not None), default=None),
        "failure": max((one.failure for one in rows if one.failure is not None), default=None),
    }
