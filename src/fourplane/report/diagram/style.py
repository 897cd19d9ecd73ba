"""Colours and type of the diagram: one set of rules, and a palette for where no page brings its own."""

from __future__ import annotations

__all__ = ["FALLBACK", "PALETTE", "RULES"]

FALLBACK = {
    "paper": "#fbfaf7", "sheet": "#ffffff", "ink": "#1c2126", "soft": "#545e68", "rule": "#dcdad3", "hair": "#ebe9e3",
    "link": "#0b4f75", "unproven": "#74490a", "unproven-wash": "#fbf1dc",
}  # fmt: skip
"""The light palette; also written as attributes, for viewers that read no style sheet."""

_DARK = {
    "paper": "#14171a", "sheet": "#1a1e22", "ink": "#e6e4de", "soft": "#a5adb5", "rule": "#454c53", "hair": "#22272b",
    "link": "#8cc4e6", "unproven": "#edc273", "unproven-wash": "#34280f",
}  # fmt: skip
_PRINT = {
    "paper": "#ffffff", "sheet": "#ffffff", "ink": "#000000", "soft": "#444444", "rule": "#999999", "hair": "#f4f4f4",
    "link": "#0b3d5c", "unproven": "#74490a", "unproven-wash": "#ffffff",
}  # fmt: skip


def _variables(palette: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in palette.items())


PALETTE = (
    f".arch {{ color-scheme: light dark; {_variables(FALLBACK)} }}\n"
    f"@media screen and (prefers-color-scheme: dark) {{ .arch {{ {_variables(_DARK)} }} }}\n"
    f"@media print {{ .arch {{ {_variables(_PRINT)} }} }}\n"
)
"""Custom properties for a drawing that stands alone; on a page the page's own decide."""


def _colour(name: str) -> str:
    return f"var(--{name}, {FALLBACK[name]})"


RULES = f"""\
.arch {{ display: block; width: 100%; height: auto; print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
.arch text {{ fill: {_colour("ink")}; }}
.arch-paper {{ fill: {_colour("paper")}; }}
.arch-lane {{ fill: {_colour("hair")}; }}
.arch-panel {{ fill: none; stroke: {_colour("rule")}; }}
.arch-box {{ fill: {_colour("sheet")}; stroke: {_colour("soft")}; stroke-width: 1; }}
.arch-actor {{ stroke: {_colour("ink")}; stroke-width: 1.4; }}
.arch-owner {{ stroke: {_colour("link")}; stroke-width: 1.4; }}
.arch-fold {{ fill: none; stroke: {_colour("soft")}; }}
.arch-hole {{ fill: {_colour("unproven-wash")}; stroke: {_colour("unproven")}; stroke-width: 1.5;
  stroke-dasharray: 5 3.5; }}
.arch-mark {{ fill: {_colour("unproven")}; }}
.arch text.arch-ask {{ fill: {_colour("unproven-wash")}; font-weight: 700; }}
.arch text.arch-t-hole {{ fill: {_colour("unproven")}; }}
.arch text:is(.arch-t-line, .arch-t-note, .arch-t-label, .arch-t-edge) {{ fill: {_colour("soft")}; }}
.arch-line {{ stroke: {_colour("soft")}; stroke-width: 1.4; }}
.arch-head {{ fill: {_colour("soft")}; }}
.arch text.arch-t-by {{ fill: {_colour("link")}; }}
.arch-sign {{ fill: none; stroke: {_colour("link")}; }}
.arch-sign.arch-lost {{ stroke: {_colour("unproven")}; }}
.arch-node {{ fill: {_colour("sheet")}; stroke: {_colour("soft")}; stroke-width: 1; }}
.arch-gpu {{ fill: {_colour("link")}; }}
.arch-bus {{ stroke: {_colour("link")}; stroke-width: 2; }}
.arch a:hover .arch-hole {{ stroke-dasharray: none; }}
.arch a:hover text.arch-t-hole {{ text-decoration: underline; }}
.arch a:focus-visible {{ outline: none; }}
.arch a:focus-visible .arch-hole {{ stroke-dasharray: none; stroke-width: 3; }}
"""
"""Rules for every drawing; each name begins with ``arch``, so that they leave the rest of a page alone."""
