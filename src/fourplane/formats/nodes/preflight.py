"""The structured log of NVSentinel's preflight checks: one JSON object a line.

    {"event": "Diagnostic summary", "passed": 0, "failed": 2, "warned": 2, "skipped": 2, "total": 6, ...}

A skipped test has passed nothing.

Source: NVIDIA/NVSentinel, preflight checks.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.documents import text_of, whole_number
from fourplane.formats.model import Reading, Status, finite_json, lines_of

__all__ = ["KIND", "PreflightEvent", "read", "sniff", "summarise"]

KIND = "preflight"
MAX_EVENTS = 100_000

_GPUS = re.compile(r"gpus=\[([\d, ]{0,400})\]", re.ASCII)
_LEVEL = re.compile(r"level=(\d)\b", re.ASCII)
_PERSISTENCE = re.compile(r"Persistence mode for GPU (\d{1,4}) is disabled", re.ASCII)
_COUNTS = ("passed", "failed", "warned", "skipped", "total")


@dataclass(frozen=True, slots=True)
class PreflightEvent:
    """One line: its message, level, module, and the other fields."""

    line: int
    event: str
    level: str
    module: str
    fields: dict[str, Any] = field(default_factory=dict)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is such a log."""
    first = head.lstrip()[:4096].split("\n", 1)[0]
    return 0.9 if first.startswith("{") and '"event"' in first and '"module"' in first and "preflight" in first else 0.0


def read(text: str) -> Reading[PreflightEvent]:
    """Read the log; one record for each event."""
    reading: Reading[PreflightEvent] = Reading(KIND)
    for number, line in lines_of(text, reading):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            data = None
        event = text_of(data.get("event"), 400) if isinstance(data, dict) and finite_json(data) else None
        if event is None or len(reading.records) >= MAX_EVENTS:
            reading.refuse("preflight-line-refused", number, line)
            continue
        level, module = text_of(data.get("level")) or "", text_of(data.get("module")) or ""
        reading.records.append(PreflightEvent(number, event, level, module, data))
        _note(reading.records[-1], reading)
    _finish(text, reading)
    return reading


def _note(one: PreflightEvent, reading: Reading[PreflightEvent]) -> None:
    test = text_of(one.fields.get("test"))
    if test is None:
        return
    text = f"{test} on {text_of(one.fields.get('gpu')) or 'the node'}: {text_of(one.fields.get('detail')) or one.event}"
    reading.note("dcgm-test-failed" if "fail" in one.event.lower() else "dcgm-test-warned", one.line, text)


def _summary(reading: Reading[PreflightEvent]) -> PreflightEvent | None:
    found = (one for one in reversed(reading.records) if whole_number(one.fields.get("total")) is not None)
    return next(found, None)


def _finish(text: str, reading: Reading[PreflightEvent]) -> None:
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no event")
        return
    summary = _summary(reading)
    failed = whole_number(summary.fields.get("failed")) if summary else None
    if failed:
        reading.note("preflight-failed", summary.line if summary else 0, f"{failed} tests failed")
        reading.end(Status.FAILED, f"{failed} tests failed")
    elif summary is None:
        reading.end(Status.TRUNCATED, "the summary is missing")
    elif reading.refusals:
        reading.end(Status.TRUNCATED, "some lines could not be read")


def summarise(reading: Reading[PreflightEvent]) -> dict[str, Any]:
    """Return check, level, GPUs, counts by result, warnings and failing tests."""
    if not reading.records:
        return {}
    summary = _summary(reading)
    counts = {name: whole_number(summary.fields.get(name)) if summary else None for name in _COUNTS}
    texts = [one.event for one in reading.records]
    gpus = next((match[1] for one in texts if (match := _GPUS.search(one))), None)
    level = next(
        (found for one in reading.records if (found := whole_number(one.fields.get("diag_level"))) is not None), None
    )
    if level is None:
        level = next((int(match[1]) for one in texts if (match := _LEVEL.search(one))), None)
    tests = [one for one in reading.records if text_of(one.fields.get("test")) is not None]
    return {
        "check": next((one.module for one in reading.records if one.module), None),
        "diag_level": level,
        "gpus": None if gpus is None else len([one for one in gpus.split(",") if one.strip()]),
        **counts,
        "warnings": [_warning(one) for one in tests if "warn" in one.event.lower()][:1000],
        "failing_tests": [str(one.fields["test"])[:200] for one in tests if "fail" in one.event.lower()][:1000],
    }


def _warning(one: PreflightEvent) -> dict[str, Any]:
    detail = text_of(one.fields.get("detail"), 1000) or ""
    persistence = _PERSISTENCE.search(detail)
    return {
        "test": text_of(one.fields.get("test")),
        "error_code": whole_number(one.fields.get("error_code")),
        "gpu": text_of(one.fields.get("gpu")),
        "what": f"persistence mode of GPU {persistence[1]} disabled" if persistence else detail,
    }
