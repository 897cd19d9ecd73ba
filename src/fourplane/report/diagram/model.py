"""The architecture diagram before it has a shape: lanes of panels, panels of rows, rows of boxes, and the holes.

A box stands for something that is declared. What is not declared, though somebody has to answer for it, is a
hole: a whole box where the thing itself is missing, or a gap inside a box where only its owner or a part of it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Box", "BoxKind", "Diagram", "Edge", "Hole", "Lane", "NodeFigure", "Panel", "Row", "RowKind"]


class BoxKind(StrEnum):
    """What a box stands for; decides how it is drawn."""

    ACTOR = "actor"
    """Somebody or something outside that uses the cluster."""
    OWNER = "owner"
    """Who answers for the chain that starts here."""
    PART = "part"
    """A part of the cluster, or a decision."""
    POOL = "pool"
    """Nodes of one shape."""
    FOLD = "fold"
    """Stands for the rest of a long list."""


class RowKind(StrEnum):
    """How the boxes of a row belong together."""

    CHAIN = "chain"
    """Each leads to the next; an arrow joins them."""
    SET = "set"
    """They stand beside each other."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A missing responsibility.

    Attributes:
        text: what is missing, as a sentence without a stop: ``nobody owns the image policy``.
        path: place in the declaration that would fill it, such as ``security.image_signing.owner``.
        condition: id of the review condition that stays open because of it, "" where there is none.
        code: code of the finding about it, "" where there is none.
        anchor: id of that finding on the page, "" where there is none.
        drawn: shorter words for the picture, where the box around them says the rest; "" for ``text``.
    """

    text: str
    path: str
    condition: str = ""
    code: str = ""
    anchor: str = ""
    drawn: str = ""


@dataclass(frozen=True, slots=True)
class NodeFigure:
    """What the little drawing of a node shows: its GPUs, whether a switch joins them, and how many nodes there are."""

    gpus: int
    joined: bool
    nodes: int


@dataclass(frozen=True, slots=True)
class Box:
    """One box.

    Attributes:
        id: unique in the diagram.
        title: name of the thing.
        lines: facts about it, most important first.
        owner: who answers for it, "" where that is said elsewhere or not at all.
        kind: decides how it is drawn.
        hole: set where the thing itself is missing; the box is then drawn dashed.
        gaps: what is missing about a thing that is there.
        subjects: paths in the declaration that the box stands for, folded ones included.
        figure: the drawing of a node, for pools.
    """

    id: str
    title: str
    lines: tuple[str, ...] = ()
    kind: BoxKind = BoxKind.PART
    hole: Hole | None = None
    gaps: tuple[Hole, ...] = ()
    subjects: tuple[str, ...] = ()
    figure: NodeFigure | None = None
    owner: str = ""

    @property
    def holes(self) -> tuple[Hole, ...]:
        """Return everything that is missing here."""
        return ((self.hole,) if self.hole else ()) + self.gaps


@dataclass(frozen=True, slots=True)
class Row:
    """Boxes that stand in one row, or below each other where the drawing is narrow."""

    boxes: tuple[Box, ...]
    kind: RowKind = RowKind.SET
    label: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A framed part of a lane; panels that are ``beside`` may share the lane's width with their neighbours."""

    id: str
    rows: tuple[Row, ...]
    title: str = ""
    note: str = ""
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """One layer of the architecture, from wall to wall."""

    id: str
    title: str
    panels: tuple[Panel, ...]

    @property
    def boxes(self) -> Iterator[Box]:
        """Yield the lane's boxes in reading order."""
        return (box for panel in self.panels for row in panel.rows for box in row.boxes)


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow from one lane to the next below it.

    Attributes:
        source: id of a lane, or of a box in it where the arrow starts at that box.
        target: id of the next lane, or of a box in it.
        label: what travels along it, "" for nothing worth saying.
    """

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Diagram:
    """The whole picture.

    Attributes:
        name: name of the declared cluster.
        lanes: users, control plane, nodes, fabric, storage; from top to bottom.
        edges: arrows between neighbouring lanes.
        summary: the picture in one or two sentences, for those who don't see it.
    """

    name: str
    lanes: tuple[Lane, ...]
    edges: tuple[Edge, ...]
    summary: str

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Return every box in reading order."""
        return tuple(box for lane in self.lanes for box in lane.boxes)

    @property
    def holes(self) -> tuple[Hole, ...]:
        """Return every hole once, in reading order."""
        return tuple(dict.fromkeys(hole for box in self.boxes for hole in box.holes))
