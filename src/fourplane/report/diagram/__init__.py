"""The architecture diagram, drawn from the declaration: model, layout and SVG."""

from __future__ import annotations

from fourplane.report.diagram.build import build
from fourplane.report.diagram.holes import finding_anchor
from fourplane.report.diagram.svg import page_style, render

__all__ = ["build", "finding_anchor", "page_style", "render"]
