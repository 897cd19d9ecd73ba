"""What a laid-out diagram is made of: rectangles, lines of text with their place, arrows."""

from __future__ import annotations

from dataclasses import dataclass

from fourplane.report.diagram.model import Box, Diagram, Hole

__all__ = ["Arrow", "Drawing", "PlacedBox", "PlacedLane", "PlacedPanel", "Rect", "Strip", "TextLine"]


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle; x to the right, y downwards, in units of the drawing (CSS pixels at full size)."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """Return the x of the right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """Return the y of the bottom edge."""
        return self.y + self.h

    @property
    def middle(self) -> float:
        """Return the x half-way."""
        return self.x + self.w / 2

    def overlaps(self, other: Rect) -> bool:
        """Tell whether the two have an area in common."""
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom

    def holds(self, other: Rect) -> bool:
        """Tell whether ``other`` lies within this one, rounding allowed."""
        return (
            other.x >= self.x - 0.01
            and other.y >= self.y - 0.01
            and other.right <= self.right + 0.01
            and other.bottom <= self.bottom + 0.01
        )


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text, left-aligned.

    Attributes:
        x: left end.
        y: baseline.
        text: what is written.
        style: name of the style: title, line, hole, lane, panel, note, label, edge.
        size: size of the font.
        width: upper bound of what it fills.
        full: the whole text, where ``text`` is the last line of a cut one; else "".
        forced: whether the drawing must force the line to its width, since no table knows its script.
    """

    x: float
    y: float
    text: str
    style: str
    size: float
    width: float
    full: str = ""
    forced: bool = False

    @property
    def rect(self) -> Rect:
        """Return the area that the line may fill, ascenders and descenders included."""
        return Rect(self.x, self.y - self.size, self.width, self.size * 1.25)


@dataclass(frozen=True, slots=True)
class Strip:
    """A hole as drawn: its area, and its text beside a question mark; ``whole`` where it is the box itself."""

    hole: Hole
    rect: Rect
    texts: tuple[TextLine, ...]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A box in its place."""

    box: Box
    rect: Rect
    texts: tuple[TextLine, ...]
    strips: tuple[Strip, ...]
    figure: Rect | None = None


@dataclass(frozen=True, slots=True)
class PlacedPanel:
    """A panel in its place; ``framed`` where it has a title."""

    rect: Rect
    texts: tuple[TextLine, ...]
    boxes: tuple[PlacedBox, ...]
    arrows: tuple[Arrow, ...]
    framed: bool


@dataclass(frozen=True, slots=True)
class PlacedLane:
    """A lane in its place."""

    id: str
    rect: Rect
    texts: tuple[TextLine, ...]
    panels: tuple[PlacedPanel, ...]

    @property
    def boxes(self) -> tuple[PlacedBox, ...]:
        """Return the boxes of all panels."""
        return tuple(box for panel in self.panels for box in panel.boxes)


@dataclass(frozen=True, slots=True)
class Arrow:
    """A straight arrow with what travels along it."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: TextLine | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """The whole drawing."""

    diagram: Diagram
    width: float
    height: float
    lanes: tuple[PlacedLane, ...]
    arrows: tuple[Arrow, ...]

    @property
    def boxes(self) -> tuple[PlacedBox, ...]:
        """Return every box."""
        return tuple(box for lane in self.lanes for box in lane.boxes)
