"""Findings as SARIF 2.1.0 (OASIS), by which code hosts annotate the lines of a merge request.

SARIF speaks of problems in files, not of capabilities that nobody measured. A log without results would look green, so
the verdict of the review goes along as a notification of the run wherever it isn't accepted; no result of kind
``pass`` is ever written.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath, PurePosixPath
from typing import Any
from urllib.parse import quote

from fourplane import __version__
from fourplane.base.clock import format_utc
from fourplane.base.codes import find
from fourplane.base.findings import Finding, Level, sorted_findings
from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.report.exports.cases import TOOL
from fourplane.review.model import Review

__all__ = ["SCHEMA", "sarif_bytes", "sarif_log"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}
_OPEN = {Verdict.FAILED: "error", Verdict.UNPROVEN: "warning", Verdict.STALE: "warning", Verdict.WAIVED: "note"}


def sarif_log(
    findings: Iterable[Finding],
    review: Review | None = None,
    *,
    base: PurePath | None = None,
    whole: str = "fourplane.yaml",
) -> dict[str, Any]:
    """Return a SARIF log with one run.

    Args:
        findings: what is wrong; each becomes a result.
        review: its verdict goes along as a notification of the run.
        base: folder to which absolute paths are made relative; the root of the repository, as a rule.
        whole: file that a finding without one is shown at, without a line: code hosts drop results without a file.
    """
    ordered = sorted_findings(findings)
    codes = sorted({one.code for one in ordered})
    seen: Counter[str] = Counter()
    results = [_result(one, codes.index(one.code), base, whole, seen) for one in ordered]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": TOOL,
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code, ordered) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    if review is not None:
        run["invocations"] = [_invocation(review)]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_bytes(
    findings: Iterable[Finding], review: Review | None = None, *, base: PurePath | None = None,
    whole: str = "fourplane.yaml",
) -> bytes:  # fmt: skip
    """Return the SARIF log as UTF-8."""
    log = sarif_log(findings, review, base=base, whole=whole)
    return (json.dumps(log, ensure_ascii=False, indent=1) + "\n").encode()


def _invocation(review: Review) -> dict[str, Any]:
    said = {"executionSuccessful": True, "endTimeUtc": format_utc(review.at)}
    if review.verdict is Verdict.PASSED:
        return said
    note = {"level": _OPEN[review.verdict], "message": {"text": _message(review.headline)}}
    return said | {"toolExecutionNotifications": [note]}


def _rule(code: str, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what the log says about a code; a code that nobody defined has its id only."""
    entry = find(code)
    rule: dict[str, Any] = {"id": code}
    if entry is None:
        return rule
    plane = next((one.plane for one in findings if one.code == code and one.plane), "")
    rule["shortDescription"] = {"text": entry.title}
    rule["fullDescription"] = {"text": entry.reason}
    rule["help"] = {"text": entry.fix}
    if entry.link:
        rule["helpUri"] = entry.link
    tags = [tag for tag in (plane, entry.requirement) if tag]
    return rule | ({"properties": {"tags": tags}} if tags else {})


def _result(one: Finding, index: int, base: PurePath | None, whole: str, seen: Counter[str]) -> dict[str, Any]:
    uri = _uri(one.file or whole, base)
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if one.file and one.line > 0:
        column = {"startColumn": one.column} if one.column > 0 else {}
        place["region"] = {"startLine": one.line, **column}
    location: dict[str, Any] = {"physicalLocation": place}
    if one.path:
        location["logicalLocations"] = [{"fullyQualifiedName": printable(one.path)}]
    # the line is left out: a finding stays the same one when lines move above it
    key = "\0".join((one.code, uri, one.path))
    seen[key] += 1
    digest = hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "backslashreplace")).hexdigest()
    return {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": _LEVELS[one.level],
        "message": {"text": _message(_sentence(one))},
        "locations": [location],
        "partialFingerprints": {"fourplaneFinding/v1": digest[:32]},
    }


def _sentence(one: Finding) -> str:
    parts = [one.message]
    if one.found or one.expected:
        parts.append(f"Found {one.found or 'nothing'}, expected {one.expected}." if one.expected else
                     f"Found {one.found}.")  # fmt: skip
    if one.fix:
        parts.append(f"Fix: {one.fix}")
    return " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts)


def _message(text: str) -> str:
    """Return plain text as SARIF wants it (3.11.5, 3.11.6): braces doubled, and nothing that reads as a link."""
    return printable(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _uri(file: str, base: PurePath | None) -> str:
    """Return the URI of a file: relative where it lies below ``base`` or was named so, else absolute."""
    path = PurePosixPath(posixpath.normpath(file))
    if path.is_absolute() and base is not None and path.is_relative_to(base.as_posix()):
        path = path.relative_to(base.as_posix())
    safe = quote(path.as_posix().encode("utf-8", "backslashreplace"), safe="/")
    return f"file://{safe}" if path.is_absolute() else safe
