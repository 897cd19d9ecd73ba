"""The JSON that nccl-tests writes with ``-J FILE`` (schema versions 1 to 3).

``root`` is a text padded with blanks, a missing count of wrong elements is null, NaN is the text ``nan``, ``okay`` is
true, false or ``unchecked``. The file is written piece by piece: a run that died leaves it without its end, and what
was written before is read all the same. ``env`` holds the whole environment of the process, secrets included; nothing
of it is taken over but the variables of NCCL.

Source: NVIDIA/nccl-tests ``src/util.cu``.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

from fourplane.formats.documents import find_json, text_of, whole_number
from fourplane.formats.model import MAX_TEXT, Reading, Status, finite_json, number_or_none
from fourplane.formats.nccl_model import OPERATIONS, NcclRank, NcclRow, NcclRun, Sample
from fourplane.formats.nccl_rows import TYPE_BYTES
from fourplane.formats.nccl_world import infer_operation, judge

__all__ = ["read_document", "sniff_document"]

MAX_ITEMS = 100_000

_SCALAR = re.compile(r'"(version|nccl_version)": ?(\d{1,9})\b', re.ASCII)
_SIZE = re.compile(r"(\d{1,15})([KMGkmg]?)", re.ASCII)
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_OPTIONS = {
    "-b": "minBytes", "--minbytes": "minBytes", "-e": "maxBytes", "--maxbytes": "maxBytes", "-g": "nGpus",
    "-t": "nThread", "-n": "iters", "-c": "validation",
}  # fmt: skip


def sniff_document(head: str) -> bool:
    """Tell whether a text beginning with ``head`` is a JSON of nccl-tests."""
    if head.lstrip()[:1] != "{":
        return False
    return '"bus_bw"' in head or ('"nccl_version"' in head and '"devices"' in head)


def read_document(text: str, reading: Reading[NcclRun]) -> None:
    """Add the run of a document to a reading."""
    if len(text) > MAX_TEXT:
        reading.refuse("format-text-too-long", 0, f"{len(text):,} characters")
        reading.end(Status.REFUSED, "too long")
        return
    data, _ = find_json(text)
    whole = isinstance(data, dict) and finite_json(data)
    found = data if whole and isinstance(data, dict) else _salvage(text)
    if not isinstance(found.get("results"), list) and not isinstance(found.get("devices"), list):
        reading.refuse("nccl-no-table", 0, text.strip())
        reading.end(Status.REFUSED, "not a document of nccl-tests")
        return
    run = _run(found, reading)
    run.concluded = whole and "out_of_bounds" in found
    ended = whole and "end_time" in found
    run.status, run.reason = judge(run)
    if run.status is Status.COMPLETE and not ended:
        run.status, run.reason = Status.TRUNCATED, "the document lacks its end"
    reading.records.append(run)
    reading.counted = len(run.rows)
    reading.end(run.status, run.reason)


def _salvage(text: str) -> dict[str, Any]:
    """Return the parts of a document that was cut: whole devices, whole results, numbers of versions."""
    found: dict[str, Any] = {key: int(value) for key, value in _SCALAR.findall(text[:65536])}
    for key in ("args", "env", "devices", "results"):
        at = text.find(f'"{key}"')
        at = text.find("[", at) if at >= 0 else -1
        if at >= 0:
            found[key] = _items(text, at + 1)
    return found


def _items(text: str, at: int) -> list[Any]:
    decoder = json.JSONDecoder()
    items: list[Any] = []
    while len(items) < MAX_ITEMS:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text) or text[at] == "]":
            break
        try:
            item, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if not finite_json(item):
            break
        items.append(item)
    return items


def _run(data: dict[str, Any], reading: Reading[NcclRun]) -> NcclRun:
    run = NcclRun(1)
    run.library = whole_number(data.get("nccl_version")) or 0
    _arguments(data.get("args"), run)
    for entry in _list(data.get("env")):
        name, _, value = str(entry).partition("=")
        if name.startswith("NCCL_") and len(name) < 64:
            run.transports.env[name] = value[:200]
    for position, device in enumerate(_list(data.get("devices"))[:MAX_ITEMS]):
        rank = _rank(device) if isinstance(device, dict) else None
        if rank is None:
            reading.refuse("nccl-row-refused", 0, f"device {position}: {device!r}"[:200])
        else:
            run.ranks.append(rank)
    for position, result in enumerate(_list(data.get("results"))[:MAX_ITEMS]):
        row = _row(result) if isinstance(result, dict) else None
        if row is None:
            reading.refuse("nccl-row-refused", 0, f"result {position}: {result!r}"[:200])
            run.bad_rows += 1
        else:
            run.rows.append(row)
            _name(text_of(result.get("experiment_name")), run)
    run.op = run.op or infer_operation(run)
    _footer(data, run)
    return run


def _footer(data: dict[str, Any], run: NcclRun) -> None:
    bounds, average = data.get("out_of_bounds"), data.get("average_bus_bandwidth")
    if isinstance(bounds, dict):
        run.out_of_bounds = whole_number(bounds.get("count"))
        if bounds.get("okay") is False:
            run.failures.append((0, f"out of bounds values: {run.out_of_bounds}, not okay"))
    if isinstance(average, dict):
        run.average_busbw = _number(average.get("bandwidth"))
        if average.get("okay") is False:
            run.failures.append((0, f"average bus bandwidth {run.average_busbw}, not okay"))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return number_or_none(value.strip())
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _arguments(args: Any, run: NcclRun) -> None:
    words = [str(word) for word in _list(args)[:200]]
    _name(words[0].rsplit("/", 1)[-1] if words else None, run)
    for option, value in pairwise(words):
        size = _SIZE.fullmatch(value)
        if size is None:
            continue
        number = int(size[1]) * _UNITS[size[2].upper()]
        if option in _OPTIONS:
            run.settings[_OPTIONS[option]] = number
        elif option in {"-f", "--stepfactor"}:
            run.step = ("factor", number)
        elif option in {"-i", "--stepbytes"}:
            run.step = ("bytes", number)


def _name(binary: str | None, run: NcclRun) -> None:
    name = (binary or "").removesuffix("_mpi").removesuffix("_perf")
    if name in OPERATIONS:
        run.op, run.op_stated = name, True


def _rank(device: dict[str, Any]) -> NcclRank | None:
    rank, group, index = (whole_number(device.get(key)) for key in ("rank", "group", "device"))
    host = text_of(device.get("hostname"), 255)
    if rank is None or not 0 <= rank < 1_000_000 or host is None:
        return None
    return NcclRank(
        rank,
        group or 0,
        host,
        index or 0,
        text_of(device.get("device_hex")) or "",
        text_of(device.get("device_info")) or "",
    )


def _row(result: dict[str, Any]) -> NcclRow | None:
    size, count = whole_number(result.get("size")), whole_number(result.get("count"))
    kind = text_of(result.get("type"))
    out_of_place = _sample(result.get("out_of_place"))
    if size is None or count is None or size < 0 or kind not in TYPE_BYTES or out_of_place is None:
        return None
    return NcclRow(
        line=0,
        size=size,
        count=count,
        type=kind,
        redop=text_of(result.get("redop")) or "",
        root=text_of(result.get("root")) or "",
        out_of_place=out_of_place,
        in_place=_sample(result.get("in_place")),
        iterations=whole_number(result.get("actual_iterations")),
    )


def _sample(half: Any) -> Sample | None:
    if not isinstance(half, dict):
        return None
    time, algbw, busbw, wrong = (_number(half.get(key)) for key in ("time", "alg_bw", "bus_bw", "nwrong"))
    if time is None or algbw is None or busbw is None:
        return None
    return Sample(time, algbw, busbw, None if wrong is None else int(wrong))
