"""The laid-out diagram as SVG: text stays text, every name is escaped, nothing is fetched.

Colours come as attributes first, which any viewer reads, and by a style sheet above them, which knows light, dark and
print. A drawing that stands alone carries the sheet; on a page whose policy refuses inline styles the page carries it
(``page_style``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from fourplane.base.text import plural
from fourplane.report.diagram.boxes import FIGURE, STYLES
from fourplane.report.diagram.geometry import Arrow, Drawing, PlacedBox, PlacedLane, PlacedPanel, Rect, Strip, TextLine
from fourplane.report.diagram.layout import WIDE, layout
from fourplane.report.diagram.model import BoxKind, Diagram, Hole, NodeFigure
from fourplane.report.diagram.style import FALLBACK, PALETTE, RULES

__all__ = ["page_style", "render"]

_FONTS = "'Helvetica Neue', Arial, 'Liberation Sans', 'Noto Sans', system-ui, sans-serif"
_TEXT_COLOURS = {"line": "soft", "note": "soft", "label": "soft", "edge": "soft", "hole": "unproven", "by": "link"}
_MOST_SQUARES = 16


def page_style() -> str:
    """Return the style sheet of the diagram for a page that brings the custom properties of the report."""
    return RULES


def render(
    diagram: Diagram,
    *,
    width: float = WIDE,
    standalone: bool = True,
    base: str = "",
    conditions: Mapping[str, str] | None = None,
) -> str:
    """Return the diagram as an SVG document or element.

    Args:
        diagram: what ``build`` returned.
        width: width of the layout; ``layout.NARROW`` for a phone.
        standalone: carry the style sheet and the XML namespace's declaration, for a file of its own. Without it the
            page must hold ``page_style()``.
        base: what stands before ``#`` in links, such as ``report.html`` for a file beside the page.
        conditions: id on the page of each review condition; a hole without a finding is linked to its condition. No
            such link is drawn for a condition that is not among them.
    """
    drawing = layout(diagram, width)
    links = _Links(base, conditions or {})
    linked = any(links.of(hole) for hole in diagram.holes)
    name = f"arch-{drawing.width:.0f}"
    # children of role "img" are hidden from assistive technology, and links must not be
    role = "group" if linked else "img"
    size = f"{drawing.width:.0f} {drawing.height:.0f}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="arch" viewBox="0 0 {size}" role="{role}" '
        f'aria-labelledby="{name}-title" aria-describedby="{name}-desc" font-family="{escape(_FONTS)}">'
    )
    parts = [
        head,
        f'<title id="{name}-title">{escape(f"Architecture of {diagram.name}")}</title>',
        f'<desc id="{name}-desc">{escape(diagram.summary)}</desc>',
    ]
    if standalone:
        parts.append(f"<style>{PALETTE}{RULES}</style>")
        parts.append(_rect(Rect(0, 0, drawing.width, drawing.height), "arch-paper", FALLBACK["paper"]))
    parts += _lanes(drawing, links)
    return "".join(parts) + "</svg>\n"


class _Links:
    """Where a hole leads to."""

    def __init__(self, base: str, conditions: Mapping[str, str]) -> None:
        self._base = base
        self._conditions = conditions

    def of(self, hole: Hole) -> str:
        """Return the address of the finding, else of the condition; "" for neither."""
        anchor = hole.anchor or self._conditions.get(hole.condition, "")
        return f"{self._base}#{anchor}" if anchor else ""

    def around(self, hole: Hole, content: str) -> str:
        """Return the drawing of a hole inside its link."""
        address = self.of(hole)
        about = f"finding {hole.code}" if hole.anchor else f"condition {hole.condition}"
        if not address:
            return f"<g>{content}</g>"
        return f'<a href="{escape(address)}" aria-label="{escape(f"{hole.text}: {about}")}">{content}</a>'


def _lanes(drawing: Drawing, links: _Links) -> Iterator[str]:
    down = list(drawing.arrows)
    for lane in drawing.lanes:
        yield from _lane(lane, links)
        mine = [arrow for arrow in down if arrow.y1 >= lane.rect.bottom]
        yield from (_arrow(arrow) for arrow in mine if arrow.y1 - lane.rect.bottom < 10)


def _lane(lane: PlacedLane, links: _Links) -> Iterator[str]:
    yield f'<g class="arch-lane-{lane.id}">{_rect(lane.rect, "arch-lane", FALLBACK["hair"], radius=4)}'
    yield from (_text(line) for line in lane.texts)
    for panel in lane.panels:
        yield from _panel(panel, links)
    yield "</g>"


def _panel(panel: PlacedPanel, links: _Links) -> Iterator[str]:
    if panel.framed:
        yield _rect(panel.rect, "arch-panel", "none", FALLBACK["rule"], radius=3)
    yield from (_text(line) for line in panel.texts)
    yield from (_arrow(arrow) for arrow in panel.arrows)
    for box in panel.boxes:
        yield from _box(box, links)


def _box(placed: PlacedBox, links: _Links) -> Iterator[str]:
    box, whole = placed.box, [strip for strip in placed.strips if strip.whole]
    radius = 3.0
    if box.kind is BoxKind.OWNER:
        radius = 12.0 if box.gaps else min(24.0, placed.rect.h / 2)
    content = _owner_sign(placed) + "".join(_text(line) for line in placed.texts)
    sign = _person(placed.rect, lost=bool(whole)) if box.kind is BoxKind.OWNER else ""
    if whole:
        strip = whole[0]
        frame = _rect(strip.rect, "arch-hole", FALLBACK["unproven-wash"], FALLBACK["unproven"], radius, dashed=True)
        texts = "".join(_text(line) for line in strip.texts)
        mark = sign or _question(strip)
        yield links.around(strip.hole, frame + mark + content + texts)
    else:
        stroke = FALLBACK["link"] if box.kind is BoxKind.OWNER else FALLBACK["soft"]
        fill = "none" if box.kind is BoxKind.FOLD else FALLBACK["sheet"]
        yield _rect(placed.rect, f"arch-box arch-{box.kind}", fill, stroke, radius)
        if placed.figure is not None:
            yield _nodes(placed)
        yield sign + content
    for strip in placed.strips:
        if not strip.whole:
            frame = _rect(strip.rect, "arch-hole", FALLBACK["unproven-wash"], FALLBACK["unproven"], 3, dashed=True)
            texts = "".join(_text(line) for line in strip.texts)
            yield links.around(strip.hole, frame + _question(strip) + texts)


def _question(strip: Strip) -> str:
    x, y = strip.texts[0].x - 13, strip.texts[0].y - 4.5
    return (
        f'<circle class="arch-mark" cx="{x:.1f}" cy="{y:.1f}" r="8" fill="{FALLBACK["unproven"]}"/>'
        f'<text class="arch-ask" x="{x:.1f}" y="{y + 4.6:.1f}" font-size="13" font-weight="700" text-anchor="middle" '
        f'fill="{FALLBACK["unproven-wash"]}" aria-hidden="true">?</text>'
    )


def _person(rect: Rect, *, lost: bool) -> str:
    """Draw the sign of an owner; a question mark stands in its place where there is none."""
    x, y = rect.x + 20, rect.y + min(rect.h / 2, 28)
    colour = FALLBACK["unproven"] if lost else FALLBACK["link"]
    kind = "arch-sign arch-lost" if lost else "arch-sign"
    if lost:
        return (
            f'<circle class="arch-mark" cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{colour}"/>'
            f'<text class="arch-ask" x="{x:.1f}" y="{y + 4.8:.1f}" font-size="14" font-weight="700" '
            f'text-anchor="middle" fill="{FALLBACK["unproven-wash"]}" aria-hidden="true">?</text>'
        )
    return (
        f'<path class="{kind}" fill="none" stroke="{colour}" stroke-width="1.5" d="M{x - 7:.1f} {y + 9:.1f}'
        f'a7 7.5 0 0 1 14 0M{x - 3.7:.1f} {y - 4:.1f}a3.7 3.7 0 1 0 7.4 0a3.7 3.7 0 1 0 -7.4 0"/>'
    )


def _owner_sign(placed: PlacedBox) -> str:
    """Draw the small sign before the owner of a box, with its meaning for those who don't see it."""
    line = next((one for one in placed.texts if one.style == "by"), None)
    if line is None:
        return ""
    x, y = line.x - 10, line.y - 4
    return (
        f'<path class="arch-sign" role="img" aria-label="owner:" fill="none" stroke="{FALLBACK["link"]}" '
        f'stroke-width="1.3" d="M{x - 4.5:.1f} {y + 4:.1f}a4.5 4.6 0 0 1 9 0M{x - 2.3:.1f} {y - 4:.1f}'
        f'a2.3 2.3 0 1 0 4.6 0a2.3 2.3 0 1 0 -4.6 0"/>'
    )


def _nodes(placed: PlacedBox) -> str:
    """Draw the nodes of a pool with their GPUs, as many as there is room for; the last stands for those that aren't."""
    figure, rect = placed.box.figure, placed.figure
    assert figure is not None and rect is not None
    squares = min(figure.gpus, _MOST_SQUARES)
    columns = max(4, squares if squares <= 8 else (squares + 1) // 2)
    side = min(10.0, (rect.w - 28) / columns - 3)
    wide, tall = columns * (side + 3) + 11, FIGURE - 10
    room = max(1, int((rect.w + 8 - 10) // (wide + 8)))
    drawn = min(figure.nodes, room)
    behind = min(2, figure.nodes - drawn) if drawn < figure.nodes else 0
    parts = []
    for number in range(max(1, drawn)):
        left = rect.x + number * (wide + 8)
        last = number == drawn - 1
        for step in range(behind if last else 0, -1, -1):
            shape = Rect(left + 5 * step, rect.y + 10 - 5 * step, wide, tall)
            parts.append(_rect(shape, "arch-node", FALLBACK["sheet"], FALLBACK["soft"], 2))
        parts += _gpus(figure, squares, columns, side, Rect(left, rect.y + 10, wide, tall))
    words = f"{plural(figure.nodes, 'node')}, {plural(figure.gpus, 'GPU')} each"
    if drawn < figure.nodes:
        words += f"; {drawn:,} drawn"
    return f"<g><title>{escape(words)}</title>{''.join(parts)}</g>"


def _gpus(figure: NodeFigure, squares: int, columns: int, side: float, node: Rect) -> Iterator[str]:
    rows = 1 if squares <= 8 else 2
    high = min(side, 9.0)
    top = node.y + (node.h - rows * high - (rows - 1) * 3) / 2 - (2 if figure.joined else 0)
    for number in range(squares):
        x, y = node.x + 7 + (number % columns) * (side + 3), top + (number // columns) * (high + 3)
        yield _rect(Rect(x, y, side, high), "arch-gpu", FALLBACK["link"], "", 1)
    if figure.joined and squares:
        y = node.bottom - 4
        yield (
            f'<line class="arch-bus" x1="{node.x + 7:.1f}" y1="{y:.1f}" x2="{node.right - 7:.1f}" y2="{y:.1f}" '
            f'stroke="{FALLBACK["link"]}" stroke-width="2"/>'
        )


def _arrow(arrow: Arrow) -> str:
    """Draw a straight arrow, to the right or downwards."""
    x, y = arrow.x2, arrow.y2
    if arrow.y1 == arrow.y2:
        end, head = (x - 6, y), f"{x:.1f},{y:.1f} {x - 8:.1f},{y - 4.5:.1f} {x - 8:.1f},{y + 4.5:.1f}"
    else:
        end, head = (x, y - 6), f"{x:.1f},{y:.1f} {x - 4.5:.1f},{y - 8:.1f} {x + 4.5:.1f},{y - 8:.1f}"
    line = (
        f'<line class="arch-line" x1="{arrow.x1:.1f}" y1="{arrow.y1:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="{FALLBACK["soft"]}" stroke-width="1.4"/>'
        f'<polygon class="arch-head" points="{head}" fill="{FALLBACK["soft"]}"/>'
    )
    return line + (_text(arrow.label) if arrow.label else "")


def _text(line: TextLine) -> str:
    colour = _TEXT_COLOURS.get(line.style, "ink")
    weight = ' font-weight="700"' if STYLES[line.style][2] else ""
    force = f' textLength="{line.width:.1f}" lengthAdjust="spacingAndGlyphs"' if line.forced and line.text else ""
    full = f"<title>{escape(line.full)}</title>" if line.full else ""
    return (
        f'<text class="arch-t-{line.style}" x="{line.x:.1f}" y="{line.y:.1f}" font-size="{line.size:g}"{weight}{force} '
        f'fill="{FALLBACK[colour]}">{escape(line.text)}{full}</text>'
    )


def _rect(rect: Rect, kind: str, fill: str, stroke: str = "", radius: float = 0.0, *, dashed: bool = False) -> str:
    corner = f' rx="{radius:g}"' if radius else ""
    border = f' stroke="{stroke}"' if stroke else ""
    dash = ' stroke-dasharray="5 3.5"' if dashed else ""
    return (
        f'<rect class="{kind}" x="{rect.x:.1f}" y="{rect.y:.1f}" width="{rect.w:.1f}" height="{rect.h:.1f}"{corner} '
        f'fill="{fill}"{border}{dash}/>'
    )
