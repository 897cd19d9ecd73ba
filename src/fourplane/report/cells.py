"""Text measured and wrapped in terminal cells: East Asian wide characters fill two, combining marks none."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from fourplane.base.text import printable

__all__ = ["cell_width", "cut", "pad", "wrap"]

_VARIATION_EMOJI = "\ufe0f"


def cell_width(text: str) -> int:
    """Return how many terminal cells ``text`` fills (Unicode Standard Annex 11; ambiguous counts as narrow)."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def _char_width(char: str) -> int:
    if char == _VARIATION_EMOJI:
        return 1  # may turn the character before it into a wide one; counting the cell can only leave a gap
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def cut(text: str, width: int) -> str:
    """Return ``text`` printable and in at most ``width`` cells, with an ellipsis where it was cut."""
    clean = printable(text)
    if cell_width(clean) <= width:
        return clean
    return (_head(clean, width - 1) + "…") if width > 0 else ""


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return ``text`` cut and filled with spaces to exactly ``width`` cells; ``right`` aligns it right."""
    clean = cut(text, width)
    space = " " * (width - cell_width(clean))
    return space + clean if right else clean + space


def wrap(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Wrap ``text`` to lines of at most ``width`` cells.

    Args:
        text: untrusted text; it is made printable.
        width: cells of a whole line, prefixes included.
        first: what stands before the first line; trusted.
        rest: what stands before the following lines; as many spaces as ``first`` by default.
    """
    rest = " " * cell_width(first) if rest is None else rest
    lines: list[str] = []
    line, room, used = first, width - cell_width(first), 0
    for piece in _pieces(printable(text), max(2, width - max(cell_width(first), cell_width(rest)))):
        size = cell_width(piece)
        gap = 1 if used else 0
        if used and used + gap + size > room:
            lines.append(line)
            line, room, used, gap = rest, width - cell_width(rest), 0, 0
        line += " " * gap + piece
        used += gap + size
    return [*lines, line.rstrip()]


def _pieces(text: str, width: int) -> Iterator[str]:
    """Yield the words of ``text``; a word wider than ``width`` comes in parts that fit."""
    for word in text.split():
        while cell_width(word) > width:
            head = _head(word, width)
            yield head
            word = word[len(head) :]
        yield word


def _head(text: str, width: int) -> str:
    """Return the longest start of ``text`` that fits ``width`` cells; at least one character when width allows it."""
    used = 0
    for index, char in enumerate(text):
        used += _char_width(char)
        if used > width:
            return text[:index]
    return text
