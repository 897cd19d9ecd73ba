"""JSON documents inside the output of tools: found behind messages, bounded, and known when they are cut."""

from __future__ import annotations

import json
from typing import Any

from fourplane.formats.model import MAX_TEXT, Reading, Status, finite_json

__all__ = ["MAX_DEPTH", "find_json", "read_json", "text_of", "whole_number"]

MAX_DEPTH = 32
_CANDIDATES = 20


def read_json(text: str, reading: Reading[Any]) -> Any | None:
    """Return the first JSON object or array that begins a line; on failure refuse, end the reading, return None."""
    if len(text) > MAX_TEXT:
        reading.refuse("format-text-too-long", 0, f"{len(text):,} characters")
        reading.end(Status.REFUSED, "too long")
        return None
    data, cut = find_json(text)
    if data is None or not finite_json(data, MAX_DEPTH):
        reading.refuse("format-not-json" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.TRUNCATED if cut else Status.REFUSED, "the document is cut" if cut else "no JSON document")
        return None
    return data


def find_json(text: str) -> tuple[Any | None, bool]:
    """Return the first JSON object or array that begins a line, and whether the text ends inside one."""
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(_CANDIDATES):
        at = _next_start(text, at)
        if at < 0:
            break
        try:
            found = decoder.raw_decode(text, at)[0]
        except json.JSONDecodeError as error:
            # a document that fails at the very end, or inside a string without an end, was cut; objects inside of it
            # are no documents
            if error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated"):
                return None, True
        except (ValueError, RecursionError):
            pass
        else:
            return (_scrub(found) if "\\ud" in text or "\\uD" in text else found), False
        at += 1
    return None, False


def _next_start(text: str, at: int) -> int:
    """Return the next brace or bracket with nothing but blanks before it on its line, -1 without one."""
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        while at < end and text[at] in " \t\r\ufeff":
            at += 1
        if at < end and text[at] in "{[" and _plausible(text, at):
            return at
        at = end + 1
    return -1


def _plausible(text: str, at: int) -> bool:
    """Tell a JSON document from a bracketed time stamp or level, such as ``[INFO]`` or ``[1,0]<stdout>``."""
    after = text[at + 1 : at + 200].lstrip()
    if text[at] == "{":
        return after[:1] in {'"', "}", ""}
    return after[:1] in {"{", "[", "]", '"', ""}


def _scrub(value: Any) -> Any:
    """Replace lone surrogates, which JSON can write and UTF-8 can't."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_scrub(key): _scrub(inner) for key, inner in value.items()}
    return [_scrub(inner) for inner in value] if isinstance(value, list) else value


def text_of(value: Any, limit: int = 200) -> str | None:
    """Return a short text of a JSON scalar, None for anything else and for an empty one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()[:limit]
    return text or None


def whole_number(value: Any) -> int | None:
    """Return a JSON number or a text of digits as an integer; None for anything else, fractions included."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 2**63 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**63 else None
    if isinstance(value, str):
        digits = value.strip()
        unsigned = digits.removeprefix("-")
        return int(digits) if unsigned.isascii() and unsigned.isdigit() and len(unsigned) < 19 else None
    return None
