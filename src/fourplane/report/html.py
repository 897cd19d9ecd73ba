"""The report as one offline HTML page: no request, no foreign font or script, a few hundred kilobytes at most.

Everything from outside is untrusted. The template engine escapes each value, and before that every string goes
through ``printable``, so that neither mark-up nor a bidirectional override does anything but stand there as text.
The page's policy allows its own style and script by hash and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.planes.model import FactRow
from fourplane.records.metrics import METRICS
from fourplane.records.observation import Observation
from fourplane.report import chart
from fourplane.report.figures import Curve, StorageFigure
from fourplane.report.values import amount, moment, number, observation_text
from fourplane.report.view import READING_ORDER, PlaneView, ReportView, open_conditions, tally
from fourplane.review.model import Area

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["MAX_FACTS", "MAX_OBSERVATIONS", "render_html"]

_HERE = Path(__file__).parent

MAX_FACTS = 150
"""Fact rows shown of one plane."""
MAX_OBSERVATIONS = 300
"""Observations shown; those that the page cites come first."""
MAX_FINDINGS = 150
MAX_JUDGEMENTS = 60
MAX_CONDITIONS = 60
MAX_RUNS = 40
MAX_ACTIONS = 3
MAX_CURVES = 4
MAX_STORAGE = 60
MAX_CITATIONS = 8
MAX_TEXT = 1_200
"""Characters of one text shown; the rest is in report.json."""


_PLACE = re.compile(r"(?P<file>[^\n]{1,500}):(?P<at>\d{1,9}:\d{1,9})")
"""Place in a file, as ``Positions.cite`` writes it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a long list that the page shows, and how many it doesn't."""

    items: Sequence[Any]
    hidden: int


def _cap(items: Sequence[Any], most: int) -> Shown:
    return Shown(items[:most], max(0, len(items) - most))


class _Anchors:
    """Which observations the page shows, and the id under which each can be cited."""

    def __init__(self, view: ReportView) -> None:
        self._folder = f"{view.root}/"
        cited = set(_citations(view))
        ordered = sorted(view.observations, key=lambda o: o.reference not in cited)  # stable: else by subject
        self.shown = sorted(ordered[:MAX_OBSERVATIONS], key=lambda o: (o.subject, o.metric, o.at))
        self.hidden = len(ordered) - len(self.shown)
        self._by_reference: dict[str, str] = {}
        self._by_identity: dict[int, str] = {}
        seen: Counter[str] = Counter()
        for one in self.shown:
            anchor = "obs-" + hashlib.sha256(one.reference.encode("utf-8", "backslashreplace")).hexdigest()[:12]
            seen[anchor] += 1
            if seen[anchor] > 1:  # the same fact by another method in the same run
                anchor = f"{anchor}-{seen[anchor]}"
            self._by_reference.setdefault(one.reference, anchor)
            self._by_identity[id(one)] = anchor

    def of(self, one: Observation) -> str:
        """Return the id of a shown observation."""
        return self._by_identity.get(id(one), "")

    def cite(self, references: Sequence[str]) -> dict[str, Any]:
        """Return citations for the page: text, and the anchor where the page holds it; places of one file together."""
        items: list[dict[str, str]] = []
        files: dict[str, dict[str, str]] = {}
        for reference in references[:MAX_CITATIONS]:
            place = _PLACE.fullmatch(reference)
            if place is None or reference in self._by_reference:
                anchor = self._by_reference.get(reference, "")
                items.append({"text": self._short(reference), "full": reference, "anchor": anchor})
            elif place["file"] in files:
                files[place["file"]]["text"] += f", {place['at']}"
            else:
                files[place["file"]] = {"text": self._short(reference), "full": reference, "anchor": ""}
                items.append(files[place["file"]])
        return {"items": items, "hidden": max(0, len(references) - MAX_CITATIONS)}

    def _short(self, reference: str) -> str:
        """Return a reference without the workspace's folder, or without the run that stands beside the observation."""
        head, _, metric = reference.rpartition(":")
        run, _, subject = head.partition(":")
        if reference in self._by_reference or (run and ":" in subject and metric in METRICS):
            return f"{subject} · {metric}"
        return reference.removeprefix(self._folder)


def _citations(view: ReportView) -> Iterable[str]:
    """Yield every reference that the page may show, figures included."""
    for condition in view.conditions:
        yield from condition.evidence[:MAX_CITATIONS]
    for plane in view.planes:
        for judgement in plane.judgements[:MAX_JUDGEMENTS]:
            yield from judgement.evidence[:MAX_CITATIONS]
        for row in plane.rows[:MAX_FACTS]:
            yield from row.evidence[:MAX_CITATIONS]
    for finding in view.findings[:MAX_FINDINGS]:
        yield from finding.evidence[:MAX_CITATIONS]
    yield from (figure.observation.reference for figure in view.key_figures)
    yield from (figure.observation.reference for figure in view.storage[:MAX_STORAGE])
    yield from (curve.observation.reference for curve in view.curves[:MAX_CURVES])


def render_html(view: ReportView) -> str:
    """Return the page as text, to be written as UTF-8."""
    from markupsafe import Markup

    css, script = _asset("report.css"), _asset("report.js")
    anchors = _Anchors(view)
    conditions = view.conditions
    page = {
        "view": view,
        "css": Markup(css),  # noqa: S704 - our own file
        "script": Markup(script),  # noqa: S704 - our own file
        "policy": (
            f"default-src 'none'; style-src {_hash(css)}; script-src {_hash(script)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
        "tally": tally(conditions),
        "opening_bar": _safe(chart.tally_bar(tally(conditions), READING_ORDER)),
        "actions": view.review.actions[:MAX_ACTIONS],
        "total": len(conditions),
        "areas": [_area(area, anchors) for area in view.review.areas],
        "open_count": len(open_conditions(view.review.areas)),
        "planes": [_plane(plane, anchors) for plane in view.planes],
        "curves": _cap([_curve(curve, anchors) for curve in view.curves[:MAX_CURVES]], MAX_CURVES),
        "curves_hidden": max(0, len(view.curves) - MAX_CURVES),
        "storage": [_storage(figure, anchors) for figure in view.storage[:MAX_STORAGE]],
        "storage_hidden": max(0, len(view.storage) - MAX_STORAGE),
        "key_figures": [{"figure": f, "anchor": anchors.of(f.observation)} for f in view.key_figures],
        "findings": _cap([{"one": f, "cites": anchors.cite(f.evidence)} for f in view.findings], MAX_FINDINGS),
        "observations": [_observation(one, anchors) for one in anchors.shown],
        "observations_hidden": anchors.hidden,
        "runs": _cap(tuple(reversed(view.runs)), MAX_RUNS),
        "condition_ids": {c.id: f"c-{n}" for n, c in enumerate(conditions)},
        "order": READING_ORDER,
    }
    return _environment().get_template("report.html.j2").render(page)


def _area(area: Area, anchors: _Anchors) -> dict[str, Any]:
    counts = tally(area.conditions)
    return {
        "one": area,
        "counts": counts,
        "conditions": _cap([{"one": c, "cites": anchors.cite(c.evidence)} for c in area.conditions], MAX_CONDITIONS),
        "bar": _safe(chart.tally_bar(counts, READING_ORDER, width=240, height=5)),
    }


def _plane(plane: PlaneView, anchors: _Anchors) -> dict[str, Any]:
    return {
        "name": str(plane.plane),
        "judgements": _cap([{"one": j, "cites": anchors.cite(j.evidence)} for j in plane.judgements], MAX_JUDGEMENTS),
        "rows": _cap([_row(row, anchors) for row in plane.rows[:MAX_FACTS]], MAX_FACTS),
        "hidden": max(0, len(plane.rows) - MAX_FACTS),
        "counts": tally(plane.rows),
        "total": len(plane.rows),
    }


def _row(row: FactRow, anchors: _Anchors) -> dict[str, Any]:
    differs = bool(row.found) and row.verdict is Verdict.FAILED
    return {"one": row, "cites": anchors.cite(row.evidence), "differs": differs}


def _curve(curve: Curve, anchors: _Anchors) -> dict[str, Any]:
    return {
        "one": curve,
        "anchor": anchors.of(curve.observation),
        "wrong": [chart.size_label(p.size) for p in curve.points if p.wrong],
        "wide": _safe(chart.bandwidth_curve(curve)),
        "narrow": _safe(chart.bandwidth_curve(curve, width=350, height=280)),
        "points": [
            (chart.size_label(p.size), number(p.time_us), number(p.algbw), number(p.busbw), p) for p in curve.points
        ],
    }


def _storage(figure: StorageFigure, anchors: _Anchors) -> dict[str, Any]:
    one, measured = figure.observation, figure.observation.number
    failed = figure.judgement is not None and figure.judgement.verdict is Verdict.FAILED
    return {
        "one": figure,
        "anchor": anchors.of(one),
        "value": amount(measured, one.unit) if measured is not None else "",
        "need": amount(figure.need, one.unit) if figure.need is not None else "",
        "bar": _safe(chart.versus_bar(measured, figure.need, failed)) if measured is not None else "",
        "ratio": number(measured / figure.need) if measured is not None and figure.need else "",
        "text": observation_text(one),
    }


def _observation(one: Observation, anchors: _Anchors) -> dict[str, Any]:
    conditions = [
        (str(k), v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)) for k, v in one.conditions.items()
    ]
    return {"one": one, "anchor": anchors.of(one), "text": observation_text(one), "conditions": conditions}


def _safe(drawing: str) -> Any:
    """Mark a drawing of ``report.chart`` as mark-up; every text in it was escaped there."""
    from markupsafe import Markup

    return Markup(drawing)  # noqa: S704


def _dotted(name: str) -> Any:
    """Let a dotted name break after its dots; every part is escaped."""
    from markupsafe import Markup, escape

    return Markup(".<wbr>").join(escape(printable(part)) for part in name[:MAX_TEXT].split("."))


def _asset(name: str) -> str:
    return (_HERE / "assets" / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    """Return the source expression by which a Content-Security-Policy allows exactly this inline text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def visible(value: Any) -> Any:
        """Make each string that the template prints safe to look at; escaping follows."""
        if isinstance(value, str) and not isinstance(value, Markup):
            clean = printable(value)
            return clean if len(clean) <= MAX_TEXT else f"{clean[:MAX_TEXT]}… (cut; whole in report.json)"
        return value

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
    )
    environment.filters["moment"] = moment
    environment.filters["dotted"] = _dotted
    environment.filters["web"] = lambda link: link if str(link).startswith(("https://", "http://")) else ""
    environment.filters["count"] = lambda n: f"{n:,}"
    return environment
