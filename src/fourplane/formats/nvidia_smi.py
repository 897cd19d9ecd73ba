"""``nvidia-smi --query-gpu=… --format=csv`` and ``nvidia-smi -L``: one record per GPU.

The CSV has no quoting: cells are separated by a comma and a space. Units stand in the header (``memory.total [MiB]``)
and, without ``nounits``, again in the cell (``81559 MiB``). A cell that the driver does not answer is written in
brackets; some of these words mean "not on this product", others mean that the device is in trouble.

Source of the fields: ``nvidia-smi --help-query-gpu``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, natural_or_none, number_or_none
from fourplane.formats.smi_state import GpuState, RemappedRows, note_states, shared, whole

__all__ = [
    "CSV_KIND", "LIST_KIND", "GpuRow", "ListedGpu", "MigDevice", "read_csv", "read_list", "sniff_csv", "sniff_list",
    "summarise_csv", "summarise_list",
]  # fmt: skip

CSV_KIND = "nvidia-smi-csv"
LIST_KIND = "nvidia-smi-list"
MAX_GPUS = 4096
MAX_MIG = 64

_MIB = 1024 * 1024
_SIZES = {"B": 1, "KiB": 1024, "MiB": _MIB, "GiB": 1024 * _MIB, "kB": 1000, "MB": 10**6, "GB": 10**9}
_NOT_THERE = {"n/a", "not supported", "not available", "requested functionality has been deprecated", "none", ""}
_HEADER_CELL = re.compile(r"([A-Za-z][A-Za-z0-9_.]{0,79})(?: \[([A-Za-z%/]{1,8})\])?", re.ASCII)
_KNOWN = {
    "index", "name", "gpu_name", "uuid", "gpu_uuid", "driver_version", "memory.total", "pci.bus_id", "gpu_bus_id",
    "mig.mode.current", "timestamp", "count", "serial", "power.limit", "utilization.gpu", "temperature.gpu",
}  # fmt: skip
_LOST = re.compile(r"unable to determine the device handle|gpu is lost|fallen off the bus|err!", re.IGNORECASE)
_FAILED = re.compile(r"nvidia-smi has failed|failed to initialize nvml|couldn't communicate", re.IGNORECASE)
_WARNING = re.compile(r"warning:", re.IGNORECASE)
_NONE_FOUND = re.compile(r"no devices were found", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GpuRow:
    """One GPU of a query.

    Attributes:
        line: 1-based line of the text.
        cells: cell by field name, as written, without brackets stripped.
        units: unit by field name, from the header; "" where there is none.
    """

    line: int
    cells: dict[str, str]
    units: dict[str, str]

    def text(self, *names: str) -> str | None:
        """Return the first of these fields that holds an answer, else None."""
        for name in names:
            cell = self.cells.get(name)
            if cell is not None and cell.strip("[]").strip().lower() not in _NOT_THERE:
                return cell
        return None

    def trouble(self, name: str) -> str:
        """Return the driver's complaint in a field, such as ``[GPU requires reset]``, else ""."""
        cell = self.cells.get(name, "")
        inner = cell.strip("[]").strip().lower()
        bracketed = cell.startswith("[") and cell.endswith("]")
        return cell if (bracketed and inner not in _NOT_THERE) or _LOST.search(cell) else ""

    def number(self, name: str) -> tuple[float, str] | None:
        """Return the figure of a field and its unit, else None."""
        cell = self.text(name)
        if cell is None:
            return None
        digits, _, unit = cell.partition(" ")
        value = number_or_none(digits)
        return None if value is None else (value, unit.strip() or self.units.get(name, ""))

    def size(self, name: str) -> int | None:
        """Return the bytes of a field that holds a size, else None."""
        found = self.number(name)
        if found is None or found[1] not in _SIZES or found[0] < 0:
            return None
        return int(found[0] * _SIZES[found[1]])

    @property
    def state(self) -> GpuState:
        """Return what the row says, under the names that all layouts of nvidia-smi share."""
        rows = {
            key: self.text(f"remapped_rows.{key}") for key in ("correctable", "uncorrectable", "pending", "failure")
        }
        total, used = self.size("memory.total"), self.size("memory.used")
        return GpuState(
            line=self.line,
            name=self.text("name", "gpu_name"),
            uuid=self.text("uuid", "gpu_uuid"),
            pci=self.text("pci.bus_id", "gpu_bus_id"),
            vbios=self.text("vbios_version"),
            mig_mode=self.text("mig.mode.current"),
            persistence_mode=self.text("persistence_mode"),
            performance_state=self.text("pstate"),
            ecc_mode=self.text("ecc.mode.current"),
            ecc_uncorrectable_volatile=whole(self.text("ecc.errors.uncorrected.volatile.total")),
            ecc_uncorrectable_aggregate=whole(self.text("ecc.errors.uncorrected.aggregate.total")),
            remapped=RemappedRows(
                whole(rows["correctable"]), whole(rows["uncorrectable"]), rows["pending"], rows["failure"]
            )
            if any(rows.values())
            else None,
            pcie_gen=whole(self.text("pcie.link.gen.current", "pcie.link.gen.gpucurrent")),
            pcie_gen_max=whole(self.text("pcie.link.gen.max")),
            pcie_width=whole(self.text("pcie.link.width.current")),
            pcie_width_max=whole(self.text("pcie.link.width.max")),
            memory_total_mib=None if total is None else total // _MIB,
            memory_used_mib=None if used is None else used // _MIB,
            utilization_percent=whole(self.text("utilization.gpu")),
            temperature_c=self._figure("temperature.gpu"),
            power_w=self._figure("power.draw", "power.draw.average", "power.draw.instant"),
            power_limit_w=self._figure("enforced.power.limit", "power.limit"),
            fabric_state=self.text("fabric.state"),
            fabric_status=self.text("fabric.status"),
            recovery_action=self.cells.get("gpu_recovery_action"),
        )

    def _figure(self, *names: str) -> float | None:
        return next((found[0] for name in names if (found := self.number(name)) is not None), None)

    @property
    def index(self) -> int | None:
        """Return the GPU's index as the driver counts, None when the query did not ask for it."""
        return natural_or_none(self.cells.get("index", ""), 5)


def sniff_csv(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is CSV of nvidia-smi."""
    for line in head[:65536].splitlines()[:50]:
        fields = _header(line)
        if fields is not None:
            return 0.9 if len(fields) > 2 else 0.6
    return 0.0


def read_csv(text: str) -> Reading[GpuRow]:
    """Read the CSV of ``nvidia-smi --query-gpu``; text before the header is skipped.

    A text that says "No devices were found" is complete and has no record.
    """
    reading: Reading[GpuRow] = Reading(CSV_KIND)
    header: list[tuple[str, str]] | None = None
    none_found = False
    for number, line in lines_of(text, reading):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if _NONE_FOUND.search(line):
            none_found = True
        elif _is_complaint(line, number, reading):
            continue
        elif header is None:
            header = _header(line)
        else:
            _row(line, number, header, reading)
    if header is None and not none_found and not reading.refusals:
        code = "nvidia-smi-no-header" if text.strip() else "format-text-empty"
        reading.refuse(code, 0, text.strip())
    if header is not None and not reading.records and not reading.refusals and not none_found:
        reading.refuse("nvidia-smi-not-understood", 0, "a header without a row")
    _end(reading, "some GPUs could not be read", nothing=header is None and not none_found)
    # rows that repeat an index are samples over time, of the same GPU
    latest = {row.index if row.index is not None else -1 - n: row for n, row in enumerate(reading.records)}
    note_states([row.state for row in latest.values()], reading)
    return reading


def summarise_csv(reading: Reading[GpuRow]) -> dict[str, Any]:
    """Return the figures of a query: those that all GPUs share, the worst of those that may differ."""
    states = [row.state for row in reading.records]
    if not states:
        return {}
    rows = [state.remapped for state in states if state.remapped is not None]
    drivers = {row.text("driver_version") for row in reading.records}
    return {
        "columns": len(reading.records[0].cells),
        "gpus": len({row.index if row.index is not None else -1 - n for n, row in enumerate(reading.records)}),
        "gpu": shared(states, "name"),
        "driver_version": drivers.pop() if len(drivers) == 1 else None,
        "vbios": shared(states, "vbios"),
        "memory_total_mib": shared(states, "memory_total_mib", min),
        "memory_used_mib": shared(states, "memory_used_mib", max),
        "utilization_gpu_percent": shared(states, "utilization_percent", min),
        "temperature_c": shared(states, "temperature_c", max),
        "power_draw_w": shared(states, "power_w", max),
        "power_limit_w": shared(states, "power_limit_w", min),
        "mig_mode": shared(states, "mig_mode"),
        "ecc_mode": shared(states, "ecc_mode"),
        "ecc_uncorrected_volatile_total": shared(states, "ecc_uncorrectable_volatile", sum),
        "remapped_rows_uncorrectable": sum(one.uncorrectable or 0 for one in rows) if rows else None,
        "remapped_rows_pending": max((one.pending for one in rows if one.pending is not None), default=None),
        "pcie_gen": shared(states, "pcie_gen", min),
        "pcie_width": shared(states, "pcie_width", min),
        "fabric_state": shared(states, "fabric_state"),
    }


def _end(reading: Reading[Any], reason: str, *, nothing: bool) -> None:
    """Set the status by the worst refusal; a warning alone leaves the reading complete."""
    codes = {refusal.code for refusal in reading.refusals} - {"nvidia-smi-warning"}
    if not codes:
        return
    if codes & {"nvidia-smi-device-lost", "nvidia-smi-failed"}:
        reading.end(Status.FAILED, reason)
    else:
        reading.end(Status.REFUSED if nothing else Status.TRUNCATED, reason)


def _is_complaint(line: str, number: int, reading: Reading[GpuRow]) -> bool:
    # a row may hold "ERR!" in one cell; a line that is only a complaint has no more than one comma
    if line.count(",") > 1:
        return False
    if _FAILED.search(line):
        reading.refuse("nvidia-smi-failed", number, line)
        return True
    if _LOST.search(line):
        reading.refuse("nvidia-smi-device-lost", number, line)
        return True
    if _WARNING.match(line):
        reading.refuse("nvidia-smi-warning", number, line)
        return True
    return False


def _header(line: str) -> list[tuple[str, str]] | None:
    """Return names and units when the line is a header, else None."""
    cells = [_HEADER_CELL.fullmatch(cell.strip()) for cell in line.split(",")]
    if any(cell is None for cell in cells):
        return None
    found = [(cell[1], cell[2] or "") for cell in cells if cell is not None]
    return found if any(name in _KNOWN for name, _ in found) else None


def _row(line: str, number: int, header: list[tuple[str, str]], reading: Reading[GpuRow]) -> None:
    if len(header) > 1 and _header(line) == header:
        return  # a second query pasted below the first one
    if len(reading.records) >= MAX_GPUS:
        reading.refuse("nvidia-smi-not-understood", number, f"more than {MAX_GPUS} GPUs")
        return
    cells = [cell.strip() for cell in line.split(", ")] if len(header) > 1 else [line]
    if len(cells) != len(header):
        # "nounits" and hand-edited files may lack the space after the comma
        cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != len(header):
        reading.refuse("nvidia-smi-row-length", number, line)
        return
    names = [name for name, _ in header]
    reading.records.append(GpuRow(number, dict(zip(names, cells, strict=True)), dict(header)))


@dataclass(frozen=True, slots=True)
class MigDevice:
    """One MIG device of a GPU: profile such as ``3g.40gb``, index, UUID."""

    profile: str
    index: int
    uuid: str


@dataclass(frozen=True, slots=True)
class ListedGpu:
    """One GPU of ``nvidia-smi -L``, with its MIG devices."""

    line: int
    index: int
    name: str
    uuid: str
    mig: tuple[MigDevice, ...]


_LISTED = re.compile(r"GPU (\d{1,5}): (.{1,200}?) \(UUID: ([^()\s]{1,80})\)", re.ASCII)
_MIG = re.compile(r"MIG (\S{1,40}) {1,40}Device {1,8}(\d{1,5}): \(UUID: ([^()]{1,120})\)", re.ASCII)


def sniff_list(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is ``nvidia-smi -L``."""
    lines = [line.strip() for line in head[:65536].splitlines()[:50]]
    if not any(_LISTED.fullmatch(line) for line in lines):
        return 0.0
    # nvidia-smi nvlink prints the same lines with "Link n:" below them
    return 0.2 if any(line.startswith("Link ") for line in lines) else 0.9


def read_list(text: str) -> Reading[ListedGpu]:
    """Read ``nvidia-smi -L``: GPUs and, below them, their MIG devices."""
    reading: Reading[ListedGpu] = Reading(LIST_KIND)
    none_found = False
    for number, line in lines_of(text, reading):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        gpu, mig = _LISTED.fullmatch(line), _MIG.fullmatch(line)
        if gpu is not None and len(reading.records) < MAX_GPUS:
            reading.records.append(ListedGpu(number, int(gpu[1]), gpu[2].strip(), gpu[3], ()))
        elif mig is not None and reading.records and len(reading.records[-1].mig) < MAX_MIG:
            last = reading.records[-1]
            device = MigDevice(mig[1], int(mig[2]), mig[3])
            reading.records[-1] = ListedGpu(last.line, last.index, last.name, last.uuid, (*last.mig, device))
        elif _NONE_FOUND.search(line):
            none_found = True
        elif _FAILED.search(line):
            reading.refuse("nvidia-smi-failed", number, line)
        elif _LOST.search(line):
            reading.refuse("nvidia-smi-device-lost", number, line)
        elif _WARNING.match(line):
            reading.refuse("nvidia-smi-warning", number, line)
        else:
            reading.refuse("nvidia-smi-not-understood", number, line)
    if not reading.records and not none_found and not reading.refusals:
        reading.refuse("format-text-empty", 0, "")
    _end(reading, "some lines could not be read", nothing=not reading.records and not none_found)
    return reading


def summarise_list(reading: Reading[ListedGpu]) -> dict[str, Any]:
    """Return the GPUs and the MIG devices of ``nvidia-smi -L``."""
    names = list(dict.fromkeys(gpu.name for gpu in reading.records))
    profiles = [device.profile for gpu in reading.records for device in gpu.mig]
    return {
        "gpus": len(reading.records),
        "gpu": names[0] if len(names) == 1 else None,
        "models": names,
        "mig_devices": len(profiles),
        "mig_profiles": profiles,
    }
