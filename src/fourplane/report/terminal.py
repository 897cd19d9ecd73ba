"""The review and the summary in a terminal: plain text, never wider than asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fourplane.base.findings import Finding
from fourplane.base.text import plural
from fourplane.base.verdicts import Verdict
from fourplane.planes.model import FactRow
from fourplane.report.cells import cell_width, cut, pad, wrap
from fourplane.report.values import moment
from fourplane.report.view import READING_ORDER, ReportView, open_conditions, tally
from fourplane.review.model import Condition, Review

__all__ = ["render_review", "render_summary"]

_SGR = {
    Verdict.PASSED: "32",
    Verdict.FAILED: "31",
    Verdict.UNPROVEN: "33",
    Verdict.STALE: "35",
    Verdict.WAIVED: "36",
}
_LABEL = max(len(v) for v in Verdict) + 1
_NARROWEST = 24
_ACTIONS = 3
_SUMMARY_CONDITIONS = 6
_REVIEW_ROWS = 40


class _Page:
    """Lines of at most ``width`` cells; colour is added after measuring."""

    def __init__(self, width: int, colour: bool) -> None:
        self.width = max(_NARROWEST, width)
        self.colour = colour
        self.lines: list[str] = []

    def paint(self, text: str, sgr: str) -> str:
        return f"\x1b[{sgr}m{text}\x1b[0m" if self.colour and text else text

    def tag(self, verdict: Verdict, width: int = 0) -> str:
        return self.paint(str(verdict), f"1;{_SGR[verdict]}") + " " * max(0, width - len(verdict))

    def heading(self, text: str) -> None:
        if self.lines:
            self.lines.append("")
        self.lines.append(self.paint(cut(text, self.width), "1"))

    def text(self, text: str, first: str = "", rest: str | None = None, sgr: str = "") -> None:
        for line in wrap(text, self.width, first=first, rest=rest):
            self.lines.append(self.paint(line, sgr) if sgr else line)

    def labelled(self, verdict: Verdict, text: str, indent: str = "  ") -> None:
        """Add a verdict in its column with wrapped text beside it."""
        blank = indent + " " * _LABEL
        for number, line in enumerate(wrap(text, self.width, first=blank)):
            self.lines.append(indent + self.tag(verdict, _LABEL) + line[len(blank) :] if number == 0 else line)


def render_review(review: Review, rows: Sequence[FactRow] = (), width: int = 80, colour: bool = False) -> str:
    """Return the review: verdict, next actions, areas, then every condition, and the facts that don't agree.

    Args:
        review: what was judged.
        rows: facts declared, promised and found; those that failed are shown.
        width: cells of a line; below 24 it is taken as 24.
        colour: add ANSI colours; the verdict always stands there in words too.
    """
    page = _Page(width, colour)
    _head(page, review)
    _areas(page, review)
    for area in review.areas:
        page.heading(f"{area.id}  {area.title}")
        for condition in area.conditions:
            _condition(page, condition)
    _gaps(page, review)
    _rows(page, rows)
    return "\n".join(page.lines)


def render_summary(view: ReportView, width: int = 80, colour: bool = False) -> str:
    """Return what ``prove`` and ``report`` print: verdict, next actions, areas, key figures, what isn't settled."""
    page = _Page(width, colour)
    _head(page, view.review, view.damage)
    _areas(page, view.review)
    _figures(page, view)
    unsettled = open_conditions(view.review.areas)
    if unsettled:
        page.heading("Not settled")
        for condition in unsettled[:_SUMMARY_CONDITIONS]:
            _condition(page, condition)
        _more(page, len(unsettled) - _SUMMARY_CONDITIONS, "fourplane review")
    _gaps(page, view.review)
    return "\n".join(page.lines)


def _head(page: _Page, review: Review, damage: Sequence[Finding] = ()) -> None:
    page.text(review.headline, sgr=f"1;{_SGR[review.verdict]}")
    counts = ", ".join(f"{n:,} {v}" for v, n in tally(c for a in review.areas for c in a.conditions).items())
    page.text(f"{review.name} · {moment(review.at)}")
    page.text(counts or "no conditions")
    if damage:
        page.text(f"The evidence store is damaged; nothing in it was judged on: {damage[0].message}", sgr="31")
    if review.actions:
        page.heading("Next")
        for number, action in enumerate(review.actions[:_ACTIONS], start=1):
            page.text(action.text, first=f" {number}. ")
            if action.settles:
                page.text(f"settles {_some(action.settles)}", first="    ", sgr="2")


def _some(names: Sequence[str], limit: int = 6) -> str:
    rest = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + rest


def _areas(page: _Page, review: Review) -> None:
    page.heading("Areas")
    if page.width < 64:
        for area in review.areas:
            counts = ", ".join(f"{n:,} {v}" for v, n in tally(area.conditions).items())
            page.labelled(area.verdict, f"{area.id} {area.title}: {counts or 'no conditions'}", indent=" ")
        return
    used = [v for v in (Verdict.PASSED, *READING_ORDER[:-1]) if any(v in tally(a.conditions) for a in review.areas)]
    columns = [max(7, len(v) + 2) for v in used]
    room = page.width - 5 - _LABEL - sum(columns)
    page.lines.pop()
    head = " " * (5 + room - len("Areas")) + " " * _LABEL
    page.lines.append(
        page.paint("Areas", "1") + head + "".join(pad(v, w, right=True) for v, w in zip(used, columns, strict=True))
    )
    for area in review.areas:
        counts_of = tally(area.conditions)
        cells = "".join(pad(f"{counts_of.get(v, 0):,}", w, right=True) for v, w in zip(used, columns, strict=True))
        page.lines.append(f" {pad(area.id, 3)} {pad(area.title, room - 1)} {page.tag(area.verdict, _LABEL)}{cells}")


def _condition(page: _Page, condition: Condition) -> None:
    page.labelled(condition.verdict, f"{condition.title} ({condition.id})")
    inside = " " * (2 + _LABEL)
    if condition.reason:
        page.text(condition.reason, first=inside)
    if condition.fix and condition.verdict is not Verdict.PASSED:
        page.text(condition.fix, first=f"{inside}fix: ", rest=inside)


def _gaps(page: _Page, review: Review) -> None:
    if not review.gaps:
        return
    page.heading(f"Empty in the brief: {plural(len(review.gaps), 'field')}")
    for gap in review.gaps:
        page.text(f"{gap.field}: ask {gap.owner}; filled by {gap.measurement}", first="  ", rest="    ")


def _figures(page: _Page, view: ReportView) -> None:
    if not view.key_figures:
        return
    page.heading("Measured")
    label = max(cell_width(f.label) for f in view.key_figures) + 2
    value = max(cell_width(f.value) for f in view.key_figures) + 2
    for figure in view.key_figures:
        if label + value + 12 > page.width:
            page.text(f"{figure.label}: {figure.value} ({figure.note})", first=" ", rest="   ")
        else:
            note = cut(figure.note, page.width - label - value - 1)
            page.lines.append(f" {pad(figure.label, label)}{pad(figure.value, value)}{note}")


def _rows(page: _Page, rows: Iterable[FactRow]) -> None:
    failed = [row for row in rows if row.verdict is Verdict.FAILED]
    if not failed:
        return
    page.heading(f"Facts that don't agree: {len(failed):,}")
    for row in failed[:_REVIEW_ROWS]:
        page.labelled(row.verdict, f"{row.subject} {row.fact}")
        inside = " " * (2 + _LABEL)
        said = (("declared", row.declared), ("promised", row.promised), ("found", row.found))
        page.text(" · ".join(f"{who} {what or 'nothing'}" for who, what in said), first=inside)
        page.text(row.reason, first=inside)
    _more(page, len(failed) - _REVIEW_ROWS, "report.json, written by fourplane report")


def _more(page: _Page, count: int, where: str) -> None:
    if count > 0:
        page.text(f"and {count:,} more: see {where}", first="  ")
