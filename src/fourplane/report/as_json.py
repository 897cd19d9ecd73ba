"""The report as JSON, schema ``fourplane.report/1``: complete, stable keys, nothing capped."""

from __future__ import annotations

import json
import math
from typing import Any

from fourplane.base.clock import format_utc
from fourplane.planes.model import FactRow, Judgement
from fourplane.report.view import ReportView, RunLike

__all__ = ["SCHEMA", "report_bytes", "report_json"]

SCHEMA = "fourplane.report/1"


def report_json(view: ReportView) -> dict[str, Any]:
    """Return the whole report as JSON values; keys and their order are part of the schema."""
    data = {
        "schema": SCHEMA,
        "tool": {"name": "fourplane", "version": view.version},
        "generated": format_utc(view.generated),
        "evidence_head": view.evidence_head,
        "review": view.review.to_json(),
        "facts": [_fact(row) for row in view.rows],
        "judgements": [_judgement(one) for one in view.judgements],
        "findings": [one.to_json() for one in view.findings],
        "observations": [one.to_json() | {"reference": one.reference} for one in view.observations],
        "runs": [_run(run) for run in view.runs],
    }
    plain = _plain(data)
    assert isinstance(plain, dict)
    return plain


def report_bytes(view: ReportView) -> bytes:
    """Return the report as UTF-8; half a surrogate pair, which UTF-8 cannot hold, stays a JSON escape."""
    text = json.dumps(report_json(view), ensure_ascii=False, indent=1, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")


def _fact(row: FactRow) -> dict[str, Any]:
    return {
        "plane": str(row.plane),
        "subject": row.subject,
        "fact": row.fact,
        "declared": row.declared,
        "promised": row.promised,
        "found": row.found,
        "verdict": str(row.verdict),
        "reason": row.reason,
        "evidence": list(row.evidence),
    }


def _judgement(one: Judgement) -> dict[str, Any]:
    return {
        "id": one.id,
        "plane": str(one.plane),
        "title": one.title,
        "verdict": str(one.verdict),
        "reason": one.reason,
        "evidence": list(one.evidence),
        "measured_at": format_utc(one.measured_at) if one.measured_at else None,
        "fix": one.fix,
    }


def _run(run: RunLike) -> dict[str, Any]:
    return {
        "id": run.id,
        "started": format_utc(run.started),
        "ended": format_utc(run.ended) if run.ended else None,
        "tool": run.tool,
        "host": run.host,
        "steps": [str(step) for step in run.steps],
    }


def _plain(value: Any) -> Any:
    """Return ``value`` with floats that JSON cannot hold (NaN, infinities) as text, so that none is lost."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
