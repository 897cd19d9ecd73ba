"""The review for other programs: JUnit and CTRF for CI servers, SARIF for merge requests.

Each format is a pure function of the report; ``write_exports`` puts them beside the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fourplane.base.errors import ToolError
from fourplane.base.files import write_atomic
from fourplane.base.findings import Finding
from fourplane.report.codes import NOT_WRITTEN
from fourplane.report.exports.ctrf import ctrf_bytes
from fourplane.report.exports.junit import junit_bytes
from fourplane.report.exports.sarif import sarif_bytes
from fourplane.review.model import Review

__all__ = ["SUFFIXES", "export_bytes", "write_exports"]

SUFFIXES = {"junit": ".junit.xml", "sarif": ".sarif", "ctrf": ".ctrf.json"}
"""Formats, and what each one's file name ends in: ``report.junit.xml`` beside ``report.html``."""


def export_bytes(kind: str, review: Review, findings: Iterable[Finding] | None = None,
                 base: Path | None = None) -> bytes:  # fmt: skip
    """Return the review in one format.

    Args:
        kind: a key of ``SUFFIXES``.
        review: what was judged.
        findings: results of the SARIF log; the review's own by default.
        base: folder to which its absolute paths are made relative.

    Raises:
        KeyError: there is no such format.
    """
    if kind == "sarif":
        return sarif_bytes(review.findings if findings is None else findings, review, base=base)
    return {"junit": junit_bytes, "ctrf": ctrf_bytes}[kind](review, base=base)


def write_exports(page: Path, review: Review, findings: Iterable[Finding] | None = None,
                  kinds: Iterable[str] = tuple(SUFFIXES), base: Path | None = None) -> dict[str, Path]:  # fmt: skip
    """Write the review in other formats beside a page; each file is whole, the new or the old one.

    Args:
        page: the page, such as ``report.html``; its name without the ending names the files.
        review: what was judged.
        findings: results of the SARIF log; the review's own by default.
        kinds: which formats.
        base: folder to which absolute paths are made relative; the current one by default.

    Returns:
        The path of each format's file.

    Raises:
        ToolError: a file could not be written.
        KeyError: there is no such format.
    """
    listed = None if findings is None else list(findings)
    paths: dict[str, Path] = {}
    for kind in kinds:
        path = page.with_name(page.stem + SUFFIXES[kind])
        data = export_bytes(kind, review, listed, base or Path.cwd())
        try:
            write_atomic(path, data)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ToolError(NOT_WRITTEN.code, f"{path} could not be written: {reason}", NOT_WRITTEN.fix) from error
        paths[kind] = path
    return paths
