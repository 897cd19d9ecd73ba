"""Geometry of any diagram: nothing overlaps, nothing leaves its frame, the same input lies in the same place."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import pytest
from diagram_samples import complete, kubernetes, mixed, steps, without, workspace
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourplane.report.diagram import build
from fourplane.report.diagram.boxes import STYLES, paragraph
from fourplane.report.diagram.geometry import Arrow, Drawing, Rect, TextLine
from fourplane.report.diagram.layout import NARROW, WIDE, layout
from fourplane.report.diagram.text import clean, fit, text_width

BASES = (complete(), kubernetes(complete()), mixed())
HOSTILE = (
    "<script>alert(1)</script>", "\"quoted' & <b>", "W" * 300, "a" + "\u0301" * 60, "\u202egnp.exe", "漢字" * 40,
    "\ufdfd" * 20, "a-b-c-d-" * 40, "x", "日本 GPU 70 %", "m" * 40 + " " + "M" * 40, "👩‍👩‍👧‍👦" * 10,
)  # fmt: skip


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path of every value, containers included."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")


FREE = ("owner", "choice", "source", "technology", "place", "placement", "reason", "version", "cleanup", "ingress")
"""Keys whose value is any text."""
NEEDED = ("name", "failure", "choice")
"""Keys without which the entry around them is refused."""


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a declaration: one of ours with parts gone, texts replaced, pools, teams and queues multiplied."""
    document = copy.deepcopy(draw(st.sampled_from(BASES)))
    parts = [path for path, _ in leaves(document) if not path.startswith("alternatives")]
    for path in draw(st.lists(st.sampled_from(parts), max_size=12)):
        try:
            document = without(document, path) if path.rsplit(".", 1)[-1] not in NEEDED else document
        except (KeyError, IndexError, TypeError):
            continue  # something above it went before
    for path, _ in [one for one in leaves(document) if one[0].rsplit(".", 1)[-1] in FREE and isinstance(one[1], str)]:
        if "gds" not in path and draw(st.integers(0, 5)) == 0:
            *parents, last = steps(path)
            at: Any = document
            for key in parents:
                at = at[key]
            at[last] = draw(st.sampled_from(HOSTILE))
    for key in ("pools", "teams"):
        if document.get(key):
            many, first = draw(st.integers(1, 14)), document[key][0]
            document[key] += [first | {"name": f"{key[0]}{i}" * draw(st.integers(1, 20))} for i in range(many)]
    return document


WIDTHS = st.sampled_from([NARROW, WIDE, 500.0, 800.0, 1600.0])


def inside(outer: Rect, texts: Sequence[TextLine]) -> None:
    for line in texts:
        assert outer.holds(line.rect), (line.text, line.rect, outer)


def apart(rects: Sequence[Rect]) -> None:
    for one, other in combinations(rects, 2):
        assert not one.overlaps(other), (one, other)


def span(arrow: Arrow) -> Rect:
    """Return the area of an arrow with its head."""
    if arrow.y1 == arrow.y2:
        assert arrow.x2 - arrow.x1 >= 10
        return Rect(arrow.x1, arrow.y1 - 5, arrow.x2 - arrow.x1, 10)
    assert arrow.x1 == arrow.x2 and arrow.y2 - arrow.y1 >= 10
    return Rect(arrow.x1 - 5, arrow.y1, 10, arrow.y2 - arrow.y1)


def check(drawing: Drawing) -> None:
    whole = Rect(0, 0, drawing.width, drawing.height)
    boxes = drawing.boxes
    assert [one.box for one in boxes] == list(drawing.diagram.boxes)
    apart([one.rect for one in boxes])
    apart([lane.rect for lane in drawing.lanes])
    for lane in drawing.lanes:
        assert whole.holds(lane.rect)
        inside(lane.rect, lane.texts)
        assert " ".join(line.text for line in lane.texts) in ("Users and clients", "Control plane", "Nodes",
                                                              "Fabric and network", "Storage")  # fmt: skip
        apart([*(panel.rect for panel in lane.panels), *(line.rect for line in lane.texts)])
        for panel in lane.panels:
            assert lane.rect.holds(panel.rect)
            inside(panel.rect, panel.texts)
            assert all(panel.rect.holds(one.rect) for one in panel.boxes)
            solid = [one.rect for one in panel.boxes] + [line.rect for line in panel.texts]
            apart([*solid, *(span(arrow) for arrow in panel.arrows)])
    for placed in boxes:
        texts = [*placed.texts, *(line for strip in placed.strips for line in strip.texts)]
        inside(placed.rect, texts)
        figures = [placed.figure] if placed.figure else []
        apart([*(Rect(t.x, t.y - t.size * 0.75, t.width, t.size * 0.8) for t in texts), *figures])
        assert all(placed.rect.holds(figure) for figure in figures)
        strips = [strip for strip in placed.strips if not strip.whole]
        apart([strip.rect for strip in strips])
        for strip in strips:
            assert placed.rect.holds(strip.rect)
            inside(strip.rect, strip.texts)
        signs = [*(line for strip in placed.strips for line in strip.texts), *(t for t in texts if t.style == "by")]
        assert all(line.x >= placed.rect.x + 25 for line in signs), "a sign stands before it"
        assert [strip.hole for strip in placed.strips] == list(placed.box.holes)
    solid = [lane.rect for lane in drawing.lanes]
    for arrow in drawing.arrows:
        apart([span(arrow), *solid, *([arrow.label.rect] if arrow.label else [])])
        assert arrow.label is None or whole.holds(arrow.label.rect)


@pytest.mark.parametrize("width", [NARROW, 700.0, WIDE])
@pytest.mark.parametrize("document", BASES, ids=["slurm", "kubernetes", "mixed"])
def test_our_samples_lie_as_they_should(document: dict[str, Any], width: float) -> None:
    check(layout(build(workspace(document)), width))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(documents(), WIDTHS)
def test_no_two_boxes_overlap_and_no_text_leaves_its_box(document: dict[str, Any], width: float) -> None:
    check(layout(build(workspace(document)), width))


def test_an_empty_declaration_is_drawn() -> None:
    check(layout(build(workspace({"name": "bare"})), WIDE))


def test_wide_chains_run_to_the_right_and_narrow_ones_down() -> None:
    diagram = build(workspace(complete()))
    wide = next(p for p in layout(diagram, WIDE).lanes[1].panels)
    narrow = next(p for p in layout(diagram, NARROW).lanes[1].panels)
    assert all(arrow.y1 == arrow.y2 for arrow in wide.arrows) and len(wide.arrows) == 9
    assert all(arrow.x1 == arrow.x2 for arrow in narrow.arrows) and len(narrow.arrows) == 9


def test_two_schedulers_share_the_width_and_stand_below_each_other_where_there_is_none() -> None:
    diagram = build(workspace(mixed()))
    slurm, kube, common = layout(diagram, WIDE).lanes[1].panels
    assert slurm.rect.y == kube.rect.y and slurm.rect.right < kube.rect.x and common.rect.y > kube.rect.bottom
    slurm, kube, common = layout(diagram, NARROW).lanes[1].panels
    assert slurm.rect.bottom < kube.rect.y and kube.rect.bottom < common.rect.y


def test_an_arrow_leads_to_each_pool_from_the_queues_that_fill_it() -> None:
    drawing = layout(build(workspace(mixed())), WIDE)
    nodes = drawing.lanes[2]
    into = [arrow for arrow in drawing.arrows if arrow.y2 < nodes.rect.y and arrow.y1 > drawing.lanes[1].rect.bottom]
    assert [(arrow.x1, arrow.label.text if arrow.label else "") for arrow in into] == [
        (one.rect.middle, label) for one, label in zip(nodes.boxes, ["large", "chat and batch", ""], strict=True)
    ]


def test_pools_in_two_rows_are_reached_by_one_trunk() -> None:
    document = without(complete(), "pools[0].nodes")
    pool = document["pools"][0]
    document["pools"] = [pool | {"name": f"p{i}", "hosts": f"p{i}-[1-8]"} for i in range(9)]
    drawing = layout(build(workspace(document)), WIDE)
    nodes = drawing.lanes[2]
    assert len({one.rect.y for one in nodes.boxes}) == 2
    assert len([a for a in drawing.arrows if drawing.lanes[1].rect.bottom < a.y1 < nodes.rect.y]) == 1


# ── text ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=700) | st.sampled_from(HOSTILE), st.floats(8, 400), st.booleans(), st.integers(1, 4))
def test_text_is_cut_to_its_room(text: str, width: float, bold: bool, most: int) -> None:
    fitted = fit(text, width, 13, bold=bold, most=most)
    assert len(fitted.lines) <= most
    for line in fitted.lines:
        assert text_width(line, 13, bold=bold) <= width + 1e-6 or len(line) <= 1
    squeezed = "".join(clean(text).replace(" ", "").split())
    shown = "".join("".join(fitted.lines).replace(" ", "").split())
    if fitted.cut:
        assert shown.endswith("…") and len(shown) <= len(squeezed) + 1
    else:
        assert shown == squeezed


@given(st.text(max_size=200))
def test_no_line_leaves_its_paragraph(text: str) -> None:
    for line in paragraph(text, 10, 20, 90, "title"):
        assert line.width <= 90.0001 and line.y >= 20 + STYLES["title"][0]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("platform team and example-provider", ("platform team and", "example-provider")),
        ("research: 64 GPUs, 70 %", ("research: 64\u00a0GPUs,", "70\u00a0%")),
        ("superlongcompoundword-withatail", ("superlongcompound", "word-withatail")),
        ("  spaces \t and\nlines  ", ("spaces and lines",)),
        ("", ()),
    ],
)
def test_lines_break_where_people_would(text: str, lines: tuple[str, ...]) -> None:
    assert fit(text, 140, 13).lines == lines


def test_a_cut_text_is_kept_whole_beside_its_last_line() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve"
    lines = paragraph(text, 0, 0, 90, "line", most=2)
    assert lines[-1].text.endswith("…") and lines[-1].full == text and not lines[0].full


def test_a_text_that_fits_is_not_said_twice() -> None:
    assert [line.full for line in paragraph("Slurm accounting", 0, 0, 200, "line")] == [""]


WIDEST = {"a": 67.5, "e": 67.9, "m": 104.2, "M": 99.6, "W": 110.4, "0": 69.6, " ": 34.9, "w": 92.4, "H": 83.7}
"""Advance widths of DejaVu Sans Bold at 100 px, measured in a browser."""


@pytest.mark.parametrize("char", WIDEST)
def test_no_letter_is_thought_narrower_than_it_is(char: str) -> None:
    assert WIDEST[char] <= text_width(char, 100, bold=True) <= WIDEST[char] * 1.3


def test_marks_do_not_tower_and_overrides_do_nothing() -> None:
    assert clean("a" + "\u0301" * 60) == "a\u0301"
    assert "\u202e" not in clean("\u202egnp.exe")


def test_unknown_scripts_are_forced_to_their_width() -> None:
    assert paragraph("\ufdfd\ufdfd", 0, 0, 200, "line")[0].forced
    assert not paragraph("InfiniBand, 8 × 400 Gb/s", 0, 0, 200, "line")[0].forced


def test_the_layout_is_the_same_every_time() -> None:
    assert layout(build(workspace(mixed())), WIDE) == layout(build(workspace(mixed())), WIDE)
