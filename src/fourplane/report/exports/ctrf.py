"""The review in the Common Test Report Format, CTRF 1.0 (https://ctrf.io, ``schema/ctrf.schema.json``).

A status is one of passed, failed, skipped, pending and other. *Unproven* and *stale* are ``other``: they ran to an end
and the end was no pass; ``pending`` and ``skipped`` would say that nobody wants to know. *Waived* is ``skipped``. The
verdict itself is kept as ``rawStatus``, and the verdict of the whole in ``extra``.
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

from fourplane import __version__
from fourplane.base.clock import format_utc
from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.report.exports.cases import TOOL, Case, cases_of, details, place_of
from fourplane.review.model import Review

__all__ = ["SPEC_VERSION", "ctrf_bytes", "ctrf_report"]

SPEC_VERSION = "1.0.0"
_STATUS = {
    Verdict.PASSED: "passed",
    Verdict.FAILED: "failed",
    Verdict.UNPROVEN: "other",
    Verdict.STALE: "other",
    Verdict.WAIVED: "skipped",
}


def ctrf_report(review: Review, *, base: PurePath | None = None) -> dict[str, Any]:
    """Return the review as a CTRF document; times are the moment of judgement, in milliseconds since 1970 UTC.

    Args:
        review: what was judged.
        base: folder to which absolute paths are made relative.
    """
    cases = list(cases_of(review))
    statuses = [_STATUS[case.condition.verdict] for case in cases]
    at = int(review.at.timestamp() * 1000)
    counts = {key: statuses.count(key) for key in ("passed", "failed", "skipped", "pending", "other")}
    summary = {"tests": len(cases), **counts, "suites": len({case.suite for case in cases}), "start": at, "stop": at}
    return {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "timestamp": format_utc(review.at),
        "generatedBy": f"{TOOL} {__version__}",
        "extra": {"verdict": str(review.verdict), "headline": printable(review.headline)},
        "results": {
            "tool": {"name": TOOL, "version": __version__},
            "summary": summary,
            "tests": [_test(case, at, base) for case in cases],
        },
    }


def ctrf_bytes(review: Review, *, base: PurePath | None = None) -> bytes:
    """Return the CTRF document as UTF-8."""
    return (json.dumps(ctrf_report(review, base=base), ensure_ascii=False, indent=1) + "\n").encode()


def _test(case: Case, at: int, base: PurePath | None) -> dict[str, Any]:
    one = case.condition
    test: dict[str, Any] = {
        "testId": printable(one.id),
        "name": printable(f"{one.id}: {one.title}"),
        "status": _STATUS[one.verdict],
        "rawStatus": str(one.verdict),
        "duration": 0,
        "start": at,
        "stop": at,
        "suite": [printable(case.suite)],
        "type": "review-condition",
    }
    if one.verdict is not Verdict.PASSED:
        test["message"] = details(one)
    place = place_of(one, base)
    if place:
        test["filePath"], test["line"] = place
    return test
