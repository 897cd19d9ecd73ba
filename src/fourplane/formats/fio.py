"""JSON of fio (``--output-format=json`` or ``json+``): one record per job and direction.

Warnings may stand before or after the document. fio 3 gives bytes per second and nanoseconds; fio 2 gave KiB/s and
microseconds. Latency percentiles lie under ``clat_ns`` or, with ``lat_percentiles``, under ``lat_ns``.

Source: fio documentation, section "JSON output".
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from fourplane.formats.model import MAX_TEXT, Reading, Status, finite_json, natural_or_none

__all__ = ["KIND", "FioJob", "read", "sniff", "summarise"]

KIND = "fio"
MAX_JOBS = 10_000
MAX_SHOWN = 100
_CANDIDATES = 20

_OPTIONS = ("rw", "bs", "iodepth", "numjobs", "ioengine", "direct", "size", "runtime", "filename", "directory")


@dataclass(frozen=True, slots=True)
class FioJob:
    """One direction of one job.

    Attributes:
        name: name of the job.
        direction: read, write or trim.
        version: of fio, as printed.
        error: errno of the job, 0 when it went well.
        options: rw, bs, iodepth, … as given, global ones included.
        io_bytes: bytes moved.
        bandwidth: bytes per second.
        iops: operations per second.
        runtime_s: seconds.
        latency_us: mean, and percentiles by their number such as ``99.0``, in µs.
        latency_of: ``clat`` (completion) or ``lat`` (submission included), "" without percentiles.
        position: of the job in the document; the directions of one job share it.
        utilisation: of the busiest block device during the whole run, percent; None when fio does not say.
    """

    name: str
    direction: str
    version: str
    error: int
    options: dict[str, str]
    io_bytes: int
    bandwidth: float
    iops: float
    runtime_s: float
    mean_us: float | None
    latency_us: dict[float, float]
    latency_of: str
    position: int = 0
    utilisation: float | None = None


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is JSON of fio."""
    head = head[:65536]
    if '"fio version"' in head:
        return 0.99
    return 0.3 if '"jobs"' in head and '"jobname"' in head else 0.0


def read(text: str) -> Reading[FioJob]:
    """Read fio's JSON; a document that was cut gives no record, since its figures may be half written."""
    reading: Reading[FioJob] = Reading(KIND)
    if len(text) > MAX_TEXT:
        reading.refuse("format-text-too-long", 0, f"{len(text):,} characters")
        reading.end(Status.REFUSED, "too long")
        return reading
    data = _document(text)
    if data is None:
        reading.refuse("format-not-json" if text.strip() else "format-text-empty", 0, text.strip())
        cut = '"fio version"' in text
        reading.end(Status.TRUNCATED if cut else Status.REFUSED, "the document is cut" if cut else "no JSON document")
        return reading
    jobs = data.get("jobs")
    if not isinstance(jobs, list) or not finite_json(data):
        reading.refuse("fio-no-jobs", 0, text.strip())
        reading.end(Status.REFUSED, "no list of jobs")
        return reading
    version = str(data.get("fio version", ""))[:40]
    shared = data.get("global options")
    busiest = _utilisation(data.get("disk_util"))
    for position, job in enumerate(jobs[:MAX_JOBS]):
        if isinstance(job, dict):
            before = len(reading.records)
            _job(job, position, version, shared if isinstance(shared, dict) else {}, reading)
            reading.records[before:] = [
                replace(one, position=position, utilisation=busiest) for one in reading.records[before:]
            ]
        else:
            reading.refuse("fio-job-refused", 0, f"job {position}: {str(job)[:100]}")
    reading.counted = len({record.position for record in reading.records})
    broken = [record for record in reading.records if record.error]
    if broken:
        reading.end(Status.FAILED, f"job {broken[0].name} ended with errno {broken[0].error}")
    elif reading.refusals:
        reading.end(Status.TRUNCATED, "some jobs could not be read")
    return reading


def _utilisation(devices: Any) -> float | None:
    listed = [device for device in devices[:1000] if isinstance(device, dict)] if isinstance(devices, list) else []
    return max((found for device in listed if (found := _number(device.get("util"))) is not None), default=None)


def summarise(reading: Reading[FioJob]) -> dict[str, Any]:
    """Return the figures of the jobs; those of the first one on top, all of them under ``jobs`` when there are more."""
    positions = list(dict.fromkeys(record.position for record in reading.records))[:MAX_SHOWN]
    jobs = [_figures([record for record in reading.records if record.position == one]) for one in positions]
    if not jobs:
        return {}
    return jobs[0] if len(jobs) == 1 else {**jobs[0], "jobs": jobs}


def _figures(directions: list[FioJob]) -> dict[str, Any]:
    first = directions[0]
    options = first.options
    found: dict[str, Any] = {
        "fio_version": first.version,
        "jobname": first.name,
        **{name: options.get(name) for name in ("rw", "bs", "filename", "ioengine")},
        **{name: _whole(options.get(name)) for name in ("iodepth", "numjobs", "direct")},
        "error": max(one.error for one in directions),
        "disk_util_percent": first.utilisation,
    }
    for one in directions:
        found |= {
            f"{one.direction}_bw_bytes_per_s": one.bandwidth,
            f"{one.direction}_iops": one.iops,
            f"{one.direction}_lat_mean_ns": None if one.mean_us is None else one.mean_us * 1000,
            f"{one.direction}_lat_p99_ns": one.latency_us[99.0] * 1000 if 99.0 in one.latency_us else None,
            f"{one.direction}_lat_of": one.latency_of or None,
            f"{one.direction}_runtime_ms": one.runtime_s * 1000,
        }
    return found


def _whole(text: str | None) -> int | None:
    return None if text is None else natural_or_none(text)


def _document(text: str) -> dict[str, Any] | None:
    """Return the first JSON object that begins at the start of a line."""
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(_CANDIDATES):
        at = text.find("{", at)
        if at < 0:
            return None
        if text[text.rfind("\n", 0, at) + 1 : at].strip() == "":
            try:
                found = decoder.raw_decode(text, at)[0]
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, dict) and "jobs" in found:
                return found
        following = text.find("\n{", at)
        if following < 0:
            return None
        at = following + 1
    return None


def _job(job: dict[str, Any], position: int, version: str, shared: dict[str, Any], reading: Reading[FioJob]) -> None:
    name = str(job.get("jobname", f"job {position}"))[:200]
    own = job.get("job options")
    merged = {**shared, **(own if isinstance(own, dict) else {})}
    options = {key: str(merged[key])[:200] for key in _OPTIONS if key in merged}
    error = job.get("error", 0)
    if not isinstance(error, int):
        reading.refuse("fio-job-refused", 0, f"{name}: error {error!r}"[:200])
        return
    idle: list[FioJob] = []
    moved = False
    for direction in ("read", "write", "trim"):
        section = job.get(direction)
        if section is None:
            continue
        record = _direction(section, direction, name, version, error, options) if isinstance(section, dict) else None
        if record is None:
            reading.refuse("fio-job-refused", 0, f"{name}: {direction}")
        elif record.io_bytes > 0:
            reading.records.append(record)
            moved = True
        else:
            idle.append(record)
    if error and not moved:
        reading.records += idle[:1]  # a job that failed before it moved a byte must not vanish


def _direction(
    section: dict[str, Any], direction: str, name: str, version: str, error: int, options: dict[str, str]
) -> FioJob | None:
    io_bytes, iops, runtime = (_number(section.get(key)) for key in ("io_bytes", "iops", "runtime"))
    bandwidth = _number(section.get("bw_bytes"))
    if bandwidth is None:
        kib = _number(section.get("bw"))
        bandwidth = None if kib is None else kib * 1024
    if io_bytes is None or iops is None or runtime is None or bandwidth is None:
        return None
    if "bw_bytes" not in section and "io_kbytes" not in section and not version.startswith("fio-3"):
        io_bytes *= 1024  # fio 2 wrote KiB under the same name
    mean, percentiles, of = _latency(section)
    return FioJob(
        name, direction, version, error, options, int(io_bytes), bandwidth, iops, runtime / 1000, mean, percentiles, of
    )


def _latency(section: dict[str, Any]) -> tuple[float | None, dict[float, float], str]:
    for key, of, per_us in (("clat_ns", "clat", 1000), ("lat_ns", "lat", 1000), ("clat", "clat", 1), ("lat", "lat", 1)):
        part = section.get(key)
        percentiles = part.get("percentile") if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(percentiles, dict):
            continue
        found: dict[float, float] = {}
        for rank, value in list(percentiles.items())[:100]:
            figure = _number(value)
            try:
                if figure is not None:
                    found[float(rank)] = figure / per_us
            except ValueError:
                continue
        mean = _number(part.get("mean"))
        return (None if mean is None else mean / per_us), found, of
    part = section.get("lat_ns")
    mean = _number(part.get("mean")) if isinstance(part, dict) else None
    return (None if mean is None else mean / 1000), {}, ""


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
