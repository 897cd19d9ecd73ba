"""``dcgmi diag``: the table for people, and the JSON of ``-j`` in the layouts of DCGM 3.x and 4.x.

3.x keeps results under ``DCGM GPU Diagnostic`` with ``gpu_ids`` or ``gpu_id``; 4.x under ``DCGM Diagnostic`` with an
entity for each result and a ``test_summary``; versions stand beside or inside. Only what ran is proven: a skipped test
has passed nothing.

Source: NVIDIA/DCGM ``dcgmi/Diag.cpp`` and its release notes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from fourplane.formats.documents import read_json, text_of, whole_number
from fourplane.formats.model import Reading, Status, natural_or_none
from fourplane.formats.nodes.dcgm_model import STATUSES, DcgmDiag, DcgmTest, status_of, worst
from fourplane.formats.nodes.dcgm_text import is_table, read_table

__all__ = ["KIND", "read", "sniff", "summarise"]

KIND = "dcgm-diag"
MAX_ITEMS = 10_000

_LAYOUTS = {"DCGM GPU Diagnostic": "3.x", "DCGM Diagnostic": "4.x"}
_GPU_ERROR = re.compile(r"GPU (\d{1,4}) has (uncorrectable memory errors)", re.IGNORECASE | re.ASCII)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is the output of ``dcgmi diag``."""
    head = head[:65536]
    if any(f'"{name}"' in head for name in _LAYOUTS):
        return 0.95
    return 0.95 if is_table(head) else 0.0


def read(text: str) -> Reading[DcgmDiag]:
    """Read one run of the diagnostic; the record is the run, what is counted are its tests and loose errors."""
    reading: Reading[DcgmDiag] = Reading(KIND)
    cut = ""
    if is_table(text[:262144]):
        diag, closed = read_table(text, reading)
        cut = "" if closed else "the table is cut"
    else:
        data = read_json(text, reading)
        if data is None:
            return reading
        found = _from_json(data)
        if found is None:
            reading.refuse("dcgm-not-understood", 0, text.strip())
            reading.end(Status.REFUSED, "no diagnostic of DCGM")
            return reading
        diag = found
    reading.records.append(diag)
    reading.counted = len(diag.tests) + len(diag.errors)
    _finish(diag, cut, reading)
    return reading


def _finish(diag: DcgmDiag, cut: str, reading: Reading[DcgmDiag]) -> None:
    for line, text in diag.errors:
        reading.note("dcgm-error", line, text)
    for test in diag.tests:
        if test.status in {"fail", "warn"}:
            named = ", ".join(map(str, test.gpus.get(test.status, [])))
            where = f" on GPU {named}" if named else ""
            why = f": {test.messages[0]}" if test.messages else ""
            code = "dcgm-test-failed" if test.status == "fail" else "dcgm-test-warned"
            reading.note(code, test.line, f"{test.name}{where}{why}")
    failing = [test.name for test in diag.tests if test.status == "fail"]
    if diag.errors:
        reading.end(Status.FAILED, diag.errors[0][1])
    elif failing:
        reading.end(Status.FAILED, f"failed: {', '.join(failing[:10])}")
    elif cut or reading.refusals:
        reading.end(Status.TRUNCATED, cut or "rows could not be read")
    elif not diag.tests:
        reading.end(Status.TRUNCATED, "no test has a result")


def _from_json(data: Any) -> DcgmDiag | None:
    if not isinstance(data, dict):
        return None
    name = next((one for one in _LAYOUTS if isinstance(data.get(one), dict)), None)
    if name is None:
        return None
    inner: dict[str, Any] = data[name]
    diag = DcgmDiag(_LAYOUTS[name])
    for place in (data.get("metadata"), inner.get("metadata"), inner, data):
        if isinstance(place, dict):
            diag.version = diag.version or text_of(place.get("DCGM Version")) or text_of(place.get("version"))
            diag.driver = diag.driver or text_of(place.get("Driver Version Detected"))
            ids = place.get("GPU Device IDs detected", place.get("GPU Device IDs Detected"))
            if isinstance(ids, list) and not diag.device_ids:
                diag.device_ids = [str(one)[:40] for one in ids[:MAX_ITEMS]]
    _entities(data.get("entity_groups", inner.get("entity_groups")), diag)
    for place in (data, inner):
        error = text_of(place.get("runtime_error"), 2000)
        if error:
            diag.errors.append((0, error))
    for category in _dicts(inner.get("test_categories")):
        title = text_of(category.get("category")) or ""
        if title not in diag.categories:
            diag.categories.append(title)
        for test in _dicts(category.get("tests")):
            _test(test, title, diag)
    for test in _dicts(inner.get("tests")):
        _test(test, text_of(test.get("category")) or "", diag)
    return diag


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value[:MAX_ITEMS] if isinstance(one, dict)] if isinstance(value, list) else []


def _entities(groups: Any, diag: DcgmDiag) -> None:
    for group in _dicts(groups):
        if group.get("entity_group") != "GPU":
            continue
        for entity in _dicts(group.get("entities")):
            index = whole_number(entity.get("entity_id"))
            if index is not None:
                diag.gpus.add(index)
            if device := text_of(entity.get("device_id")):
                diag.device_ids.append(device)


def _test(test: dict[str, Any], category: str, diag: DcgmDiag) -> None:
    name = text_of(test.get("name"))
    if name is None:
        return
    statuses: list[str] = []
    gpus: dict[str, list[int]] = {}
    messages: list[str] = []
    for result in _dicts(test.get("results")):
        status = status_of(str(result.get("status", "")))
        if status is None:
            continue
        statuses.append(status)
        for index in _indices(result):
            gpus.setdefault(status, []).append(index)
            diag.gpus.add(index)
        messages += _messages(result)
    summary = test.get("test_summary")
    if isinstance(summary, dict):
        status = status_of(str(summary.get("status", "")))
        statuses += [status] if status else []
        messages += _messages(summary)
    diag.tests.append(
        DcgmTest(0, name, category, worst(statuses) or "skip", gpus, list(dict.fromkeys(messages))[:1000])
    )


def _indices(result: dict[str, Any]) -> list[int]:
    if result.get("entity_group") == "GPU":
        index = whole_number(result.get("entity_id"))
        return [] if index is None else [index]
    words = str(result.get("gpu_ids", result.get("gpu_id", "")))[:4000].split(",")
    return [index for word in words if (index := natural_or_none(word.strip(), 6)) is not None]


def _messages(result: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for key in ("warnings", "warning", "errors"):
        value = result.get(key)
        for one in value[:100] if isinstance(value, list) else [value]:
            text = one.get("warning", one.get("message")) if isinstance(one, dict) else one
            if isinstance(text, str) and text.strip():
                found.append(text.strip()[:2000])
    return found


def summarise(reading: Reading[DcgmDiag]) -> dict[str, Any]:
    """Return versions, GPUs, results by status, tests, and what failed."""
    if not reading.records:
        return {}
    diag = reading.records[0]
    counts = Counter(test.status for test in diag.tests)
    results = {status: counts[status] for status in ("pass", "warn", "skip", "fail")}
    if diag.errors:
        results["error"] = len(diag.errors)
    return {
        "dcgm_version": diag.version,
        "driver_version": diag.driver,
        "gpus": len(diag.device_ids) or len(diag.gpus) or None,
        "gpu_device_ids": diag.device_ids,
        "layout": diag.layout,
        "results": results,
        "categories": diag.categories,
        "tests": [_shown(test) for test in diag.tests],
        "failing_tests": [test.name for test in diag.tests if test.status == "fail"],
        "errors": [_error(text) for _, text in diag.errors],
    }


def _shown(test: DcgmTest) -> dict[str, Any]:
    gpus = {f"gpus_{status}": test.gpus[status] for status in STATUSES if status in test.gpus}
    return {"name": test.name, "category": test.category, test.status: 1, **gpus, "messages": test.messages}


def _error(text: str) -> dict[str, Any]:
    pending = "row remappings are pending" in text
    gpu = _GPU_ERROR.search(text)
    return {
        "gpu": int(gpu[1]) if gpu else None,
        "what": gpu[2] if gpu else text,
        "row_remapping_pending": pending,
        "text": text,
    }
