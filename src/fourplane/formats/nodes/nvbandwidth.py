"""nvbandwidth: copies between host and GPUs, as text and as JSON (``-j``).

    Running host_to_device_memcpy_ce.
    memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
               0         1
     0     55.60     55.63

    SUM host_to_device_memcpy_ce 111.23

SUM adds all cells, so it is not the bandwidth of one GPU. A waived test did not run. Since 0.5 the text ends with a
NOTE on the limits of the figures; without it the end is missing.

Source: NVIDIA/nvbandwidth ``output.cpp`` and ``json_output.cpp``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.documents import read_json, text_of, whole_number
from fourplane.formats.model import Reading, Status, lines_of, number_or_none

__all__ = ["KIND", "BandwidthRun", "BandwidthTest", "read", "sniff", "summarise"]

KIND = "nvbandwidth"
MAX_TESTS = 1_000
MAX_CELLS = 100_000

_VERSION = re.compile(r"nvbandwidth Version: (\S{1,40})", re.ASCII)
_FIELD = re.compile(r"(CUDA Runtime Version|CUDA Driver Version|Driver Version): (\S{1,40})", re.ASCII)
_DEVICE = re.compile(r"Device (\d{1,4}): (.{1,120}?)(?: \([0-9A-Fa-f:.]{4,20}\)(?::\d{1,4})?)?", re.ASCII)
_RUNNING = re.compile(r"Running ([a-z0-9_]{1,80})\.?", re.ASCII)
_SUM = re.compile(r"SUM ([a-z0-9_]{1,80}) (\S{1,20})", re.ASCII)
_ROW = re.compile(r"\d{1,4}(?: {1,20}(?:\d{1,9}\.\d{1,4}|N/A)){1,2048}", re.ASCII)
_UNIT = re.compile(r"\((GB/s|ns|us)\)")
_LISTED = re.compile(r"(\d{1,4}): (.{1,120}?)(?: \(.{1,80})?", re.ASCII)


@dataclass(slots=True)
class BandwidthTest:
    """One test: cells of its matrix (None where not measured), their unit, the sum, how it ended."""

    line: int
    name: str
    unit: str = ""
    cells: list[list[float | None]] = field(default_factory=list)
    sum: float | None = None
    status: str = ""

    @property
    def least(self) -> float | None:
        """Return the smallest measured cell."""
        return min((cell for row in self.cells for cell in row if cell is not None), default=None)


@dataclass(slots=True)
class BandwidthRun:
    """One run: versions, devices by index, tests in order, how many were waived; ``ended`` by its closing note."""

    line: int
    version: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    devices: dict[int, str] = field(default_factory=dict)
    tests: list[BandwidthTest] = field(default_factory=list)
    waived: int = 0
    ended: bool = False


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of nvbandwidth."""
    head = head[:65536]
    if "nvbandwidth Version:" in head or '"nvbandwidth"' in head:
        return 0.95
    return 0.7 if _SUM.search(head) is not None and "memcpy" in head else 0.0


def read(text: str) -> Reading[BandwidthRun]:
    """Read one run; the record is the run, what is counted are the tests with a sum."""
    reading: Reading[BandwidthRun] = Reading(KIND)
    if text.lstrip()[:1] == "{":
        run = _from_json(text, reading)
        if run is None:
            return reading
    else:
        run = _from_text(text, reading)
    if not run.tests and not run.version and not run.waived:
        if not reading.refusals:
            reading.refuse("nvbandwidth-no-test" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no test of nvbandwidth")
        return reading
    reading.records.append(run)
    _finish(run, reading)
    return reading


def _from_text(text: str, reading: Reading[BandwidthRun]) -> BandwidthRun:
    run = BandwidthRun(1)
    cells = 0
    for number, raw in lines_of(text, reading):
        line = raw.strip()
        test = run.tests[-1] if run.tests else None
        if (version := _VERSION.match(line)) is not None:
            run.version = version[1]
        elif (pair := _FIELD.match(line)) is not None:
            run.fields.setdefault(pair[1], pair[2])
        elif (device := _DEVICE.fullmatch(line)) is not None and len(run.devices) < 4096:
            run.devices[int(device[1])] = device[2].strip()
        elif (running := _RUNNING.fullmatch(line)) is not None and len(run.tests) < MAX_TESTS:
            run.tests.append(BandwidthTest(number, running[1]))
        elif (total := _SUM.match(line)) is not None:
            _sum(run, total, number, raw, reading)
        elif line.startswith("Waived"):
            run.waived += 1
        elif line.startswith("NOTE: The reported results"):
            run.ended = True
        elif line.startswith("ERROR") or "CUDA_ERROR" in line:
            reading.note("nvbandwidth-failed", number, line)
        elif test is not None and (unit := _UNIT.search(line)) is not None:
            test.unit = test.unit or unit[1]
        elif test is not None and cells < MAX_CELLS and _ROW.fullmatch(line) is not None:
            row = [number_or_none(word) for word in line.split()[1:]]
            # the line that numbers the columns has whole numbers only and never matches
            test.cells.append(row)
            cells += len(row)
    return run


def _sum(run: BandwidthRun, total: re.Match[str], number: int, raw: str, reading: Reading[BandwidthRun]) -> None:
    test = next((one for one in reversed(run.tests) if one.name == total[1]), None)
    value = number_or_none(total[2])
    if value is None:
        reading.refuse("nvbandwidth-row-refused", number, raw)
    elif test is not None:
        test.sum = value
    elif len(run.tests) < MAX_TESTS:
        run.tests.append(BandwidthTest(number, total[1], sum=value))


def _from_json(text: str, reading: Reading[BandwidthRun]) -> BandwidthRun | None:
    data = read_json(text, reading)
    inner = data.get("nvbandwidth") if isinstance(data, dict) else None
    if not isinstance(inner, dict):
        if data is not None:
            reading.refuse("nvbandwidth-no-test", 0, text.strip())
            reading.end(Status.REFUSED, "not JSON of nvbandwidth")
        return None
    run = BandwidthRun(1, text_of(inner.get("version")) or "", ended=True)
    for name in ("CUDA Runtime Version", "CUDA Driver Version", "Driver Version"):
        if found := text_of(inner.get(name)):
            run.fields[name] = found
    devices = inner.get("GPU Device list")
    for one in devices[:4096] if isinstance(devices, list) else []:
        match = _LISTED.fullmatch(str(one))
        if match is not None:
            run.devices[int(match[1])] = match[2].strip()
    if error := text_of(inner.get("error")):
        reading.note("nvbandwidth-failed", 0, error)
    cases = inner.get("testcases")
    for case in cases[:MAX_TESTS] if isinstance(cases, list) else []:
        if isinstance(case, dict):
            _case(case, run)
    return run


def _case(case: dict[str, Any], run: BandwidthRun) -> None:
    test = BandwidthTest(0, text_of(case.get("name")) or "", status=text_of(case.get("status")) or "")
    if test.status.lower() == "waived":
        run.waived += 1
        return
    unit = _UNIT.search(str(case.get("bandwidth_description", ""))[:400])
    test.unit = unit[1] if unit else ""
    matrix = case.get("bandwidth_matrix")
    for row in matrix[:2048] if isinstance(matrix, list) else []:
        if isinstance(row, list):
            test.cells.append([number_or_none(str(cell).strip()) for cell in row[:2048]])
    total = case.get("sum")
    test.sum = float(total) if isinstance(total, int | float) and not isinstance(total, bool) else None
    run.tests.append(test)


def _finish(run: BandwidthRun, reading: Reading[BandwidthRun]) -> None:
    measured = [test for test in run.tests if test.sum is not None]
    reading.counted = len(measured)
    failed = [test.name for test in run.tests if test.status.lower() in {"failed", "error"}]
    for name in failed:
        reading.note("nvbandwidth-failed", 0, name)
    if run.waived:
        reading.note("nvbandwidth-waived", run.line, f"{run.waived} tests were waived: they did not run")
    faults = [note for note in reading.notes if note.code == "nvbandwidth-failed"]
    open_tests = [test.name for test in run.tests if test.sum is None and not test.cells]
    version = re.match(r"v?(\d{1,4})\.(\d{1,4})", run.version, re.ASCII)
    announces = version is not None and (int(version[1]), int(version[2])) >= (0, 5)
    if faults:
        reading.end(Status.FAILED, faults[0].text)
    elif reading.refusals or open_tests or not run.tests:
        reading.end(Status.TRUNCATED, f"{open_tests[-1]} has no result" if open_tests else "the results are cut")
    elif announces and not run.ended:
        reading.end(Status.TRUNCATED, "the closing note is missing")


def summarise(reading: Reading[BandwidthRun]) -> dict[str, Any]:
    """Return versions, devices, the sum of each test and its smallest cell."""
    if not reading.records:
        return {}
    run = reading.records[0]
    names = set(run.devices.values())
    return {
        "version": run.version or None,
        "cuda_runtime": whole_number(run.fields.get("CUDA Runtime Version")),
        "cuda_driver": whole_number(run.fields.get("CUDA Driver Version")),
        "driver_version": run.fields.get("Driver Version"),
        "gpus": len(run.devices) or None,
        "gpu": names.pop() if len(names) == 1 else None,
        "sums_gb_per_s": {one.name: one.sum for one in run.tests if one.sum is not None and one.unit in {"GB/s", ""}},
        "least_cell": {one.name: one.least for one in run.tests if one.least is not None},
        "waived": run.waived,
    }
