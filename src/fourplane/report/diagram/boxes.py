"""One box laid out: its figure, its texts, its owner and its holes, from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourplane.report.diagram.geometry import PlacedBox, Rect, Strip, TextLine
from fourplane.report.diagram.model import Box, BoxKind, Hole
from fourplane.report.diagram.text import clean, fit, is_measured, text_width

__all__ = ["FIGURE", "STYLES", "label_line", "paragraph", "place_box", "stretch"]

STYLES: dict[str, tuple[float, float, bool]] = {
    # name: size of the font, line height, bold
    "lane": (14.5, 19, True),
    "panel": (15, 20, True),
    "note": (13, 17, False),
    "label": (13, 17, False),
    "title": (14, 18, True),
    "line": (13, 16.5, False),
    "by": (13, 16.5, False),
    "hole": (13, 16.5, False),
    "edge": (13, 17, False),
}
"""How each kind of text is set; no text is smaller than 13 units."""

FIGURE = 40.0
"""Height of the drawing of nodes."""
_PAD = 10.0
_MARK = 21.0
"""Room for the question mark of a hole, and for the sign of an owner."""
_SMALL_SIGN = 15.0
_SLIM = 180.0
"""Boxes with less room than this for text cut each fact after two lines instead of three."""


def paragraph(text: str, x: float, y: float, width: float, style: str, most: int = 3) -> tuple[TextLine, ...]:
    """Return the lines of a text whose top is at ``y``; at least one."""
    size, height, bold = STYLES[style]
    fitted = fit(text, width, size, bold=bold, most=most)
    out = []
    for number, line in enumerate(fitted.lines or ("",)):
        last = number == len(fitted.lines) - 1
        wide = min(width, text_width(line, size, bold=bold))
        forced = not is_measured(line) or text_width(line, size, bold=bold) > width
        full = clean(text) if last and fitted.cut else ""
        out.append(TextLine(x, y + number * height + size, line, style, size, wide, full, forced))
    return tuple(out)


def label_line(text: str, x: float, y: float, width: float) -> TextLine:
    """Return the label above a row."""
    return paragraph(text, x, y, width, "label", most=1)[0]


def place_box(box: Box, x: float, y: float, width: float) -> PlacedBox:
    """Return the box with its natural height."""
    indent = _MARK + 3 if box.kind is BoxKind.OWNER else 0.0
    left, room = x + _PAD + indent, width - 2 * _PAD - indent
    most = 2 if room < _SLIM else 3
    strips: list[Strip] = []
    figure = None
    at = y + _PAD - 1
    if box.figure is not None and box.kind is BoxKind.POOL:
        figure = Rect(left, at, room, FIGURE)
        at = figure.bottom + 7
    texts = list(paragraph(box.title, left, at, room, "title", most=3 if room < _SLIM else 2))
    at = texts[-1].y + 6
    columns = 1 if figure is None else max(1, min(3, int(room // 300)))
    at = _facts(box.lines, left, at, room, columns, most, texts)
    if box.owner:
        texts += paragraph(box.owner, left + _SMALL_SIGN, at + 1, room - _SMALL_SIGN, "by", most)
        at = texts[-1].y + 5.5
    if box.hole is not None:
        mark = 0 if indent else _MARK
        lines = paragraph(box.hole.drawn or box.hole.text, left + mark, at, room - mark, "hole")
        at = lines[-1].y + 6
        strips.append(Strip(box.hole, Rect(x, y, width, at + _PAD - 5 - y), lines, whole=True))
    for hole in box.gaps:
        strip = _strip(hole, x + 6, at + 2, width - 12)
        strips.append(strip)
        at = strip.rect.bottom + 3
    bottom = at + (4 if box.gaps else _PAD - 5)
    return PlacedBox(box, Rect(x, y, width, bottom - y), tuple(texts), tuple(strips), figure)


def _facts(facts: Sequence[str], left: float, top: float, room: float, columns: int, most: int,
           texts: list[TextLine]) -> float:  # fmt: skip
    """Set facts in columns, read from top to bottom; return where they end."""
    each = (room - 16 * (columns - 1)) / columns
    high = -(-len(facts) // columns) or 1
    bottom = top
    for start in range(0, len(facts), high):
        at = top
        for fact in facts[start : start + high]:
            texts += paragraph(fact, left + (start // high) * (each + 16), at, each, "line", most)
            at = texts[-1].y + 4.5
        bottom = max(bottom, at)
    return bottom


def _strip(hole: Hole, x: float, y: float, width: float) -> Strip:
    lines = paragraph(hole.drawn or hole.text, x + _MARK + 4, y + 3, width - _MARK - 10, "hole")
    return Strip(hole, Rect(x, y, width, lines[-1].y + 7 - y), lines)


def stretch(boxes: Sequence[PlacedBox]) -> list[PlacedBox]:
    """Return boxes of one row with the height of the highest; owners keep theirs and stand half-way."""
    tall = max(box.rect.h for box in boxes)
    out = []
    for box in boxes:
        if box.box.kind is BoxKind.OWNER:
            out.append(_lower(box, (tall - box.rect.h) / 2))
            continue
        rect = replace(box.rect, h=tall)
        strips = tuple(replace(strip, rect=rect) if strip.whole else strip for strip in box.strips)
        out.append(replace(box, rect=rect, strips=strips))
    return out


def _lower(box: PlacedBox, by: float) -> PlacedBox:
    def rect(one: Rect) -> Rect:
        return replace(one, y=one.y + by)

    def text(lines: tuple[TextLine, ...]) -> tuple[TextLine, ...]:
        return tuple(replace(line, y=line.y + by) for line in lines)

    strips = tuple(replace(strip, rect=rect(strip.rect), texts=text(strip.texts)) for strip in box.strips)
    return replace(box, rect=rect(box.rect), texts=text(box.texts), strips=strips)
