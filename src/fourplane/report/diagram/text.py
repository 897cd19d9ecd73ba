"""Text measured without a font: widths that no common sans-serif face exceeds, so that no word leaves its box.

The widths are upper bounds over DejaVu Sans (as wide as Verdana) and Liberation Sans (as wide as Arial and
Helvetica), measured in a browser and rounded up to 0.05 em. Scripts outside the table get a generous width, and the
drawing forces such a line to it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from fourplane.base.text import printable

__all__ = ["Fitted", "clean", "fit", "is_measured", "text_width"]

_CLASSES = {
    0.30: "IJijl'",
    0.35: " \u00a0,./:;\\|’·",
    0.40: "()-[]ft",
    0.45: "!r",
    0.50: '"*_`–',
    0.55: "?csz“”",
    0.60: "FLkvxy",
    0.65: "$0123456789EPSTYabdeghnopqu{}µ",
    0.70: "ABCKRVXZ",
    0.75: "NU",
    0.80: "&DGHOQ",
    0.85: "#+<=>^w~×",
    0.90: "M",
    1.00: "%Wm…—→",
    1.05: "@",
}
_WIDTHS = {char: width for width, chars in _CLASSES.items() for char in chars}
_BOLD = 1.18
"""Bold faces are wider by this at most, but for a few narrow letters that seldom stand alone."""
_LATIN, _WIDE, _OTHER = 1.07, 1.05, 1.25
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[kMGTP]?i?B(?:/s)?|[kMGT]?b/s|k?W|min|[hds]|GPUs?|nodes?|×)(?![\w/]))")
"""Space before a unit, at which no line may break."""
_LONGEST = 600
"""Characters of one text that are looked at; more never fits a box."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Text cut into lines; ``cut`` tells that something was left out."""

    lines: tuple[str, ...]
    cut: bool


def clean(text: str) -> str:
    """Return untrusted text fit for one paragraph: printable, single spaces, no towers of combining marks."""
    out: list[str] = []
    marks = 0
    for char in " ".join(printable(text[:_LONGEST]).split()):
        marks = marks + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if marks <= 1:
            out.append(char)
    return _UNIT.sub("\u00a0", "".join(out)) + ("…" if len(text) > _LONGEST else "")


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return an upper bound of the width of ``text`` at ``size``, in the unit of ``size``."""
    return sum(map(_char_width, text)) * size * (_BOLD if bold else 1.0)


def is_measured(text: str) -> bool:
    """Tell whether every character's width is known, so that the line need not be forced to it."""
    return all(char in _WIDTHS or ord(char) < 0x180 for char in text)


def _char_width(char: str) -> float:
    known = _WIDTHS.get(char)
    if known is not None:
        return known
    if ord(char) < 0x530:  # Latin with marks, Greek, Cyrillic
        return 0.0 if unicodedata.category(char) in ("Mn", "Me") else _LATIN
    return _WIDE if unicodedata.east_asian_width(char) in ("W", "F") else _OTHER


def fit(text: str, width: float, size: float, *, bold: bool = False, most: int = 3) -> Fitted:
    """Wrap ``text`` to at most ``most`` lines of ``width``; an ellipsis ends the last one where text was left out."""
    scale = size * (_BOLD if bold else 1.0)
    room = width / scale
    lines: list[str] = []
    line, used = "", 0.0
    for piece in _pieces(clean(text), room):
        if piece.isspace() and not line:
            continue  # no line begins with the space at which the one before was broken
        wide = sum(map(_char_width, piece))
        if line and used + sum(map(_char_width, piece.rstrip(" "))) > room:
            lines.append(line.rstrip(" "))
            line, used = "", 0.0
            if len(lines) > most:
                break
        line += piece
        used += wide
    if line.strip():
        lines.append(line.rstrip(" "))
    if len(lines) <= most:
        return Fitted(tuple(lines), len(text) > _LONGEST)
    last = lines[most - 1]
    while last and sum(map(_char_width, last + "…")) > room:
        last = last[:-1]
    return Fitted((*lines[: most - 1], last.rstrip() + "…"), True)


_BREAKS = re.compile(r"[^ ]{3,}?[-/,](?=[^ \d])| +|[^ ]+? ?(?= |$)")
"""Pieces between which a line may break: after a space, and inside a word after a hyphen, slash or comma."""


def _pieces(text: str, room: float) -> Iterator[str]:
    """Yield the parts between which a line may break; a part wider than ``room`` (in em) comes in pieces that fit."""
    for piece in _BREAKS.findall(text):
        rest = piece
        while sum(map(_char_width, rest.rstrip(" "))) > room:
            head = _head(rest, room) or rest[0]  # narrower than one character: show it, and come to an end
            yield head
            rest = rest[len(head) :]
        if rest:
            yield rest


def _head(text: str, room: float) -> str:
    """Return the longest start of ``text`` that fits ``room``."""
    used = 0.0
    for index, char in enumerate(text):
        used += _char_width(char)
        if used > room:
            return text[:index]
    return text
