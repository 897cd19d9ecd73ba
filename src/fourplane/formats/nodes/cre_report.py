"""The result of NVIDIA's cluster-readiness-engine: tests by domain and variant, each with its bandwidths.

Values are texts with units (``882.51 GB/s``, ``6m 47s``), and only the largest size is kept: there is no curve.

Source: NVIDIA/cluster-readiness-engine ``docs/api-reference/validation-results.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.documents import read_json, text_of, whole_number
from fourplane.formats.model import Reading, Status, number_or_none

__all__ = ["KIND", "CreReport", "read", "sniff", "summarise"]

KIND = "cre-report"
MAX_TESTS = 10_000

_QUANTITY = re.compile(r"(\d{1,12}(?:\.\d{1,9})?) ?([A-Za-z/]{0,8})", re.ASCII)
_DURATION = re.compile(r"(?:(\d{1,6})h ?)?(?:(\d{1,6})m ?)?(?:(\d{1,9}(?:\.\d{1,6})?)s)?", re.ASCII)
_GB_PER_S = {"GB/s": 1.0, "MB/s": 1e-3, "TB/s": 1e3}


@dataclass(slots=True)
class CreReport:
    """One report: its values, and one test for each variant and size, as figures."""

    name: str | None
    platform: str | None
    gpu: str | None
    total_nodes: int | None
    result: str | None
    failed_nodes: list[str]
    tests: list[dict[str, Any]] = field(default_factory=list)


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is such a report."""
    head = head[:65536]
    wanted = ('"categories"', '"domain"', '"variant"')
    return 0.9 if head.lstrip()[:1] == "{" and all(word in head for word in wanted) else 0.0


def read(text: str) -> Reading[CreReport]:
    """Read the report; the record is the report, what is counted are its test variants."""
    reading: Reading[CreReport] = Reading(KIND)
    data = read_json(text, reading)
    if data is None:
        return reading
    categories = data.get("categories") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(categories, list):
        reading.refuse("cre-report-not-understood", 0, text.strip())
        reading.end(Status.REFUSED, "no list of categories")
        return reading
    failed = data.get("failedNodes")
    report = CreReport(
        name=text_of(data.get("name")),
        platform=text_of(data.get("platform")),
        gpu=text_of(data.get("gpu")),
        total_nodes=whole_number(data.get("totalNodes")),
        result=text_of(data.get("result")),
        failed_nodes=[str(one)[:255] for one in failed[:100_000]] if isinstance(failed, list) else [],
    )
    variants = [one for one in categories[:MAX_TESTS] if isinstance(one, dict)]
    for variant in variants:
        report.tests += _tests(variant)
        status = text_of(variant.get("status"))
        if status not in {"Succeeded", "Passed", "PASSED"}:
            reading.note("cre-report-test-failed", 0, f"{variant.get('domain')} {variant.get('variant')}: {status}")
    reading.records.append(report)
    reading.counted = len(variants)
    if report.failed_nodes:
        reading.note("cre-report-nodes-failed", 0, ", ".join(report.failed_nodes[:20]))
    if report.result is None:
        reading.end(Status.TRUNCATED, "no result is stated")
    elif report.result.upper() != "PASSED":
        reading.end(Status.FAILED, f"result {report.result}")
    return reading


def _tests(variant: dict[str, Any]) -> list[dict[str, Any]]:
    base = {
        "domain": text_of(variant.get("domain")),
        "variant": text_of(variant.get("variant")),
        "status": text_of(variant.get("status")),
        "nodes_per_job": whole_number(variant.get("nodesPerJob")),
        "jobs": whole_number(variant.get("jobs")),
        "mnnvl": text_of(variant.get("mnnvl")),
        "runtime_s": _seconds(text_of(variant.get("runtime")) or ""),
    }
    sizes = variant.get("bandwidth")
    found = [
        {
            **base,
            "size": text_of(one.get("size")),
            "algbw_gb_per_s": _gb_per_s(one.get("algBW")),
            "busbw_gb_per_s": _gb_per_s(one.get("busBW")),
            "samples": whole_number(one.get("samples")),
        }
        for one in (sizes[:MAX_TESTS] if isinstance(sizes, list) else [])
        if isinstance(one, dict)
    ]
    return found or [base]


def _gb_per_s(value: Any) -> float | None:
    match = _QUANTITY.fullmatch((text_of(value) or "").strip())
    number = number_or_none(match[1]) if match else None
    if match is None or number is None or match[2] not in _GB_PER_S:
        return None
    return number * _GB_PER_S[match[2]]


def _seconds(text: str) -> float | None:
    match = _DURATION.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        return None
    return int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + float(match[3] or 0)


def summarise(reading: Reading[CreReport]) -> dict[str, Any]:
    """Return the report: name, platform, GPU, nodes, result, failed nodes, tests."""
    if not reading.records:
        return {}
    report = reading.records[0]
    return {
        "name": report.name,
        "platform": report.platform,
        "gpu": report.gpu,
        "total_nodes": report.total_nodes,
        "result": report.result,
        "failed_nodes": report.failed_nodes[:1000],
        "tests": report.tests[:1000],
    }
