"""Places for lanes, panels, boxes and arrows: layered from top to bottom, the same input in the same place.

Nothing is optimised: a lane is as high as its rows need, a row's boxes are equally wide and equally high, and a chain
that doesn't fit the width goes downwards. One set of rules so draws the wide picture of a page and the narrow one of
a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil

from fourplane.report.diagram.boxes import label_line, paragraph, place_box, stretch
from fourplane.report.diagram.geometry import Arrow, Drawing, PlacedBox, PlacedLane, PlacedPanel, Rect, TextLine
from fourplane.report.diagram.model import Box, Diagram, Lane, Panel, Row, RowKind

__all__ = ["NARROW", "WIDE", "layout"]

WIDE = 1180.0
"""Width of the picture on a page 1280 pixels wide."""
NARROW = 358.0
"""Width of the picture on a phone 390 pixels wide."""

_STAND_BESIDE = 760.0
"""From this width on a lane's title stands beside its boxes, else above them."""
_TITLE_COLUMN = 96.0
_PAD = 12.0
_GUTTER = 48.0
_CHAIN_GAP = 22.0
_SET_GAP = 12.0
_ROW_GAP = 14.0
_DOWN_GAP = 22.0
_MIN_CHAIN = 128.0
_MIN_SET = 136.0
_MIN_COLUMN = 190.0
_MOST_WIDE = 360.0


def layout(diagram: Diagram, width: float = WIDE) -> Drawing:
    """Return the diagram with every part in its place.

    Args:
        diagram: what is drawn.
        width: width of the drawing; its height follows. At least 240.
    """
    width = max(240.0, width)
    lanes: list[PlacedLane] = []
    y = 1.0
    for lane in diagram.lanes:
        placed = _lane(lane, 1.0, y, width - 2)
        lanes.append(placed)
        y = placed.rect.bottom + _GUTTER
    height = y - _GUTTER + 1
    return Drawing(diagram, width, height, tuple(lanes), tuple(_between(diagram, lanes)))


def _lane(lane: Lane, x: float, y: float, width: float) -> PlacedLane:
    beside = width >= _STAND_BESIDE
    left = x + (_TITLE_COLUMN if beside else _PAD)
    room = _TITLE_COLUMN - _PAD - 6 if beside else width - 2 * _PAD
    texts = paragraph(lane.title, x + _PAD, y + _PAD, room, "lane", most=3)
    at = y + _PAD if beside else texts[-1].y + 12
    inner = x + width - _PAD - left
    # one grid for all chains of a lane, so that their owners stand below each other
    grid = max((len(row.boxes) for p in lane.panels for row in p.rows if row.kind is RowKind.CHAIN), default=1)
    panels: list[PlacedPanel] = []
    for group in _groups(lane.panels, inner):
        share = (inner - _SET_GAP * (len(group) - 1)) / len(group)
        placed = [_panel(panel, left + i * (share + _SET_GAP), at, share, grid) for i, panel in enumerate(group)]
        tall = max(one.rect.h for one in placed)
        panels += [replace(one, rect=Rect(one.rect.x, one.rect.y, one.rect.w, tall)) for one in placed]
        at += tall + _ROW_GAP
    bottom = max(at - _ROW_GAP, texts[-1].y) + _PAD
    return PlacedLane(lane.id, Rect(x, y, width, bottom - y), texts, tuple(panels))


def _groups(panels: Sequence[Panel], width: float) -> list[list[Panel]]:
    """Return the panels by what stands in one row: neighbours that are ``beside``, where there is room."""
    groups: list[list[Panel]] = []
    for panel in panels:
        if panel.beside and groups and groups[-1][-1].beside and width >= _STAND_BESIDE:
            groups[-1].append(panel)
        else:
            groups.append([panel])
    return groups


def _panel(panel: Panel, x: float, y: float, width: float, columns: int) -> PlacedPanel:
    framed = bool(panel.title)
    pad = _PAD if framed else 0.0
    texts: list[TextLine] = []
    at, inner = y, width - 2 * pad
    if framed:
        texts += paragraph(panel.title, x + pad, y + 8, inner, "panel", most=1)
        if panel.note:
            texts += paragraph(panel.note, x + pad, texts[-1].y + 5, inner, "note", most=2)
        at = texts[-1].y + 12
    boxes: list[PlacedBox] = []
    arrows: list[Arrow] = []
    pending: list[Row] = []  # chains that go downwards, gathered so that they can stand side by side
    for row in (*panel.rows, None):
        down = row is not None and row.kind is RowKind.CHAIN and not _fits(columns, inner)
        if down and row is not None:
            pending.append(row)
            continue
        if pending:
            at = _downwards(pending, x + pad, at, inner, texts, boxes, arrows) + _ROW_GAP
            pending = []
        if row is None:
            break
        if row.label:
            line = label_line(row.label, x + pad, at, inner)
            texts.append(line)
            at = line.y + 7
        if row.kind is RowKind.CHAIN:
            at = _across(row, x + pad, at, inner, columns, boxes, arrows)
        else:
            gap = _CHAIN_GAP if len(row.boxes) == columns and _fits(columns, inner) else _SET_GAP
            at = _set(row, x + pad, at, inner, gap, boxes)
        at += _ROW_GAP
    bottom = at - _ROW_GAP + pad
    return PlacedPanel(Rect(x, y, width, bottom - y), tuple(texts), tuple(boxes), tuple(arrows), framed)


def _fits(columns: int, width: float) -> bool:
    return (width - _CHAIN_GAP * (columns - 1)) / columns >= _MIN_CHAIN


def _across(row: Row, x: float, y: float, width: float, columns: int, boxes: list[PlacedBox],
            arrows: list[Arrow]) -> float:  # fmt: skip
    """Place a chain from left to right on a grid of ``columns``; return where it ends below."""
    each = min(_MOST_WIDE, (width - _CHAIN_GAP * (columns - 1)) / columns)
    placed = stretch([place_box(box, x + i * (each + _CHAIN_GAP), y, each) for i, box in enumerate(row.boxes)])
    boxes += placed
    bottom = max(one.rect.bottom for one in placed)
    middle = (y + bottom) / 2
    for one, other in pairwise(placed):
        arrows.append(Arrow(one.rect.right + 3, middle, other.rect.x - 3, middle))
    return bottom


def _downwards(rows: Sequence[Row], x: float, y: float, width: float, texts: list[TextLine],
               boxes: list[PlacedBox], arrows: list[Arrow]) -> float:  # fmt: skip
    """Place chains from top to bottom, as many beside each other as there is room for; return where they end."""
    beside = max(1, min(len(rows), int((width + _CHAIN_GAP) // (_MIN_COLUMN + _CHAIN_GAP))))
    each = (width - _CHAIN_GAP * (beside - 1)) / beside
    bottom = y
    for start in range(0, len(rows), beside):
        top = bottom + (_ROW_GAP if start else 0)
        for column, row in enumerate(rows[start : start + beside]):
            at, left = top, x + column * (each + _CHAIN_GAP)
            if row.label:
                texts.append(label_line(row.label, left, at, each))
                at = texts[-1].y + 7
            for number, box in enumerate(row.boxes):
                if number:
                    arrows.append(Arrow(left + each / 2, at + 2, left + each / 2, at + _DOWN_GAP - 3))
                    at += _DOWN_GAP
                placed = place_box(box, left, at, each)
                boxes.append(placed)
                at = placed.rect.bottom
            bottom = max(bottom, at)
    return bottom


def _set(row: Row, x: float, y: float, width: float, gap: float, boxes: list[PlacedBox]) -> float:
    """Place boxes on a grid with rows as equal as can be; return where it ends below."""
    most = max(1, min(len(row.boxes), int((width + gap) // (_MIN_SET + gap))))
    columns = ceil(len(row.boxes) / ceil(len(row.boxes) / most))
    each = (width - gap * (columns - 1)) / columns
    if len(row.boxes) < 3 and row.boxes[0].figure is None:
        each = min(each, max(_MOST_WIDE, width / 3))
    at = y
    for start in range(0, len(row.boxes), columns):
        line: Sequence[Box] = row.boxes[start : start + columns]
        placed = stretch([place_box(box, x + i * (each + gap), at, each) for i, box in enumerate(line)])
        boxes += placed
        at = max(one.rect.bottom for one in placed) + gap
    return at - gap


# ── arrows between lanes ────────────────────────────────────────────────────────────────────────────────────────────


def _between(diagram: Diagram, lanes: Sequence[PlacedLane]) -> list[Arrow]:
    arrows: list[Arrow] = []
    for upper, lower in pairwise(lanes):
        # in a narrow drawing a trunk stands left, so that its label finds room
        trunk = upper.rect.middle if upper.rect.w >= _STAND_BESIDE else upper.rect.x + 3 * _PAD
        ids = {upper.id, *(one.box.id for one in upper.boxes)}
        edges = [edge for edge in diagram.edges if edge.source in ids]
        xs: dict[float, str] = {}
        for edge in edges:
            end = next((one for one in lower.boxes if one.box.id == edge.target), None)
            start = next((one for one in upper.boxes if one.box.id == edge.source), None)
            box = end or start
            if box is None:
                xs[trunk] = edge.label
            elif _at_border(box, lower if end else upper, top=end is not None):
                xs[box.rect.middle] = edge.label
        if len(xs) < len(edges):  # boxes behind others can't be reached by a straight arrow: one trunk for all
            xs = {trunk: ", ".join(dict.fromkeys(edge.label for edge in edges if edge.label))}
        arrows += _down_arrows(sorted(xs.items()), upper.rect.bottom, lower.rect.y, upper.rect.right)
    return arrows


def _at_border(box: PlacedBox, lane: PlacedLane, *, top: bool) -> bool:
    if top:
        return box.rect.y <= min(one.rect.y for one in lane.boxes) + 0.01
    return box.rect.bottom >= max(one.rect.bottom for one in lane.boxes) - 0.01


def _down_arrows(ends: Sequence[tuple[float, str]], top: float, bottom: float, right: float) -> list[Arrow]:
    arrows = []
    for number, (x, label) in enumerate(ends):
        until = ends[number + 1][0] - 10 if number + 1 < len(ends) else right - 8
        lines = paragraph(label, x + 9, (top + bottom) / 2 - 9, until - x - 9, "edge", most=1) if label else ()
        arrows.append(Arrow(x, top + 4, x, bottom - 4, lines[0] if lines else None))
    return arrows
