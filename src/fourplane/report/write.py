"""From a workspace to ``report.html`` and ``report.json`` beside it; used by ``report`` and ``prove``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fourplane.base.errors import ToolError, UsageError
from fourplane.base.files import write_atomic
from fourplane.planes.model import Case
from fourplane.report.as_json import report_bytes
from fourplane.report.codes import NOT_WRITTEN, OUTPUT_UNUSABLE
from fourplane.report.html import render_html
from fourplane.report.terminal import render_summary
from fourplane.report.view import ReportView, RunLike, build

__all__ = ["PAGE", "Written", "assemble", "write_report", "write_view"]

PAGE = "report.html"
"""Name of the page in a workspace; the JSON is ``report.json`` beside it."""


@dataclass(frozen=True, slots=True)
class Written:
    """A report on disk.

    Attributes:
        path: the page.
        json_path: the same content as JSON, complete.
        view: what both were made from.
    """

    path: Path
    json_path: Path
    view: ReportView

    def summary(self, width: int = 80, colour: bool = False) -> str:
        """Return the summary for a terminal of ``width`` cells."""
        return render_summary(self.view, width=width, colour=colour)


def write_report(root: Path, case: Case | None = None, output: Path | None = None) -> Written:
    """Judge the workspace, review it, and write the page and its JSON.

    Args:
        root: folder that holds ``fourplane.yaml``.
        case: the loaded workspace; loaded from ``root`` by default.
        output: the page's name, or a folder for it; ``report.html`` in the workspace by default.

    Raises:
        UsageError: there is no declaration, or ``output`` can't be used.
        StoreError: the evidence can't be read.
        ToolError: a file could not be written.
    """
    path = _place(root, output)
    return write_view(assemble(root, case), path)


def assemble(root: Path, case: Case | None = None) -> ReportView:
    """Load, compare, judge, check and review a workspace, and put the report together; writes nothing.

    Raises:
        UsageError: there is no declaration.
        StoreError: the evidence can't be read.
    """
    from fourplane.planes.judge import judge
    from fourplane.planes.rules import check_all
    from fourplane.planes.threeway import compare
    from fourplane.review.gate import review
    from fourplane.review.loading import load_case

    case = case or load_case(root)
    rows, judgements = compare(case), judge(case)
    result = review(case, rows, judgements, check_all(case.workspace, case.catalog, case.now.date()))
    runs, head = _evidence(root, damaged=bool(case.damage))
    return build(case, result, rows, judgements, runs=runs, evidence_head=head)


def write_view(view: ReportView, path: Path) -> Written:
    """Write a report that is put together already; the JSON first, so that no page lacks what it refers to.

    Raises:
        ToolError: a file could not be written; each file is whole, the new or the old one.
    """
    written = Written(path, path.with_suffix(".json"), view)
    page = render_html(view).encode("utf-8", "backslashreplace")
    for target, data in ((written.json_path, report_bytes(view)), (path, page)):
        try:
            write_atomic(target, data)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ToolError(NOT_WRITTEN.code, f"{target} could not be written: {reason}", NOT_WRITTEN.fix) from error
    return written


def _place(root: Path, output: Path | None) -> Path:
    """Return where the page goes.

    Raises:
        UsageError: the folder is missing, or the name is the one of the JSON.
    """
    path = root / PAGE if output is None else output / PAGE if output.is_dir() else output
    if not path.parent.is_dir():
        raise UsageError(OUTPUT_UNUSABLE.code, f"there is no folder {path.parent}", OUTPUT_UNUSABLE.fix)
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(OUTPUT_UNUSABLE.code, f"{path} does not end in .html", OUTPUT_UNUSABLE.fix)
    return path


def _evidence(root: Path, *, damaged: bool) -> tuple[Sequence[RunLike], str]:
    """Return the runs on file and the hash that seals them; neither without a store, or with a damaged one."""
    from fourplane.evidence.store import RunStore
    from fourplane.review.loading import EVIDENCE_FOLDER

    folder = root / EVIDENCE_FOLDER
    if damaged or not folder.exists():
        return (), ""
    with RunStore.open(folder) as store:
        number, sha256 = store.head
        return store.runs(), sha256 if number else ""
