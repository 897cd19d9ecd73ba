"""Text from untrusted places, made safe and short enough to show."""

from __future__ import annotations

import unicodedata

__all__ = ["plural", "printable", "shorten"]


def printable(text: str) -> str:
    """Replace control, format and surrogate characters, so that no name can drive a terminal.

    ESC, CR, bidirectional overrides and the like become visible escapes; a tab or newline becomes a space.
    """
    if text.isascii() and text.isprintable():
        return text
    out = []
    for char in text:
        if char in "\t\n":
            out.append(" ")
        elif unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}:
            out.append(f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return "".join(out)


def shorten(text: str, width: int) -> str:
    """Return ``text`` printable and cut to ``width`` characters, with an ellipsis where it was cut."""
    clean = printable(text)
    return clean if len(clean) <= width else clean[: max(0, width - 1)] + "…"


def plural(count: int, noun: str) -> str:
    """Return ``1 node`` or ``2 nodes``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
