"""What all JSON of Slurm shares: envelope, numbers with their state, lists of TRES, and documents that were cut.

``slurmrestd`` and the ``--json`` options of the tools print the same documents. Data parsers 0.0.38 and older write
plain numbers and null; since 0.0.39 a number is ``{set, infinite, number}``. Field names changed with Slurm's
versions, and one reader takes them all.

Source: Slurm's OpenAPI descriptions, v0.0.38 to v0.0.45.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from fourplane.formats.documents import find_json, text_of, whole_number
from fourplane.formats.model import MAX_TEXT, Reading, Status, finite_json

__all__ = ["MAX_DEPTH", "Envelope", "number", "open_document", "text_or_empty", "time_of", "words"]

MAX_DEPTH = 48

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_VERSION = re.compile(r"v\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class Envelope:
    """A document around its entries.

    Attributes:
        entries: jobs or nodes, as decoded.
        cut: whether the document ended inside the last entry.
        slurm: release, None when the document doesn't say.
        data_parser: such as ``v0.0.43``, None likewise.
        cluster: None when not said.
        database: whether slurmdbd is the source; None when not said.
    """

    entries: list[Any]
    cut: bool
    slurm: str | None
    data_parser: str | None
    cluster: str | None
    database: bool | None


def open_document(text: str, reading: Reading[Any], names: tuple[str, ...], own_key: str) -> Envelope | None:
    """Return the entries of a document, or of a bare entry; None when it is none, with the reading ended.

    A document that was cut is read as far as its last whole value.

    Args:
        text: whole text; messages may stand before and after the document.
        reading: takes refusals and notes.
        names: keys of the list, such as ``jobs``.
        own_key: key that a bare entry has.
    """
    if len(text) > MAX_TEXT:
        reading.refuse("format-text-too-long", 0, f"{len(text):,} characters")
        reading.end(Status.REFUSED, "too long")
        return None
    data, cut = find_json(text)
    if data is None and cut:
        data = _salvage(text)
    if data is None or not finite_json(data, MAX_DEPTH):
        reading.refuse("format-not-json" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.TRUNCATED if cut else Status.REFUSED, "the document is cut" if cut else "no JSON document")
        return None
    entries = _entries(data, names, own_key)
    if entries is None:
        reading.refuse("slurm-record-refused", 0, text.strip())
        reading.end(Status.REFUSED, f"no list of {names[0]}")
        return None
    envelope = _envelope(data if isinstance(data, dict) else {}, entries, cut)
    for error in _errors(data):
        reading.note("slurm-api-error", 0, error)
    if cut:
        reading.end(Status.TRUNCATED, "the document is cut")
    elif reading.notes and not entries:
        reading.end(Status.FAILED, reading.notes[0].text)
    return envelope


def _entries(data: Any, names: tuple[str, ...], own_key: str) -> list[Any] | None:
    if isinstance(data, list):
        return data
    for name in names:
        if isinstance(data.get(name), list):
            return list(data[name])
    return [data] if own_key in data else None


def _errors(data: Any) -> list[str]:
    listed = data.get("errors") if isinstance(data, dict) else None
    found: list[str] = []
    for error in listed[:100] if isinstance(listed, list) else []:
        if isinstance(error, dict):
            parts = [text_of(error.get(key)) for key in ("error", "description", "source")]
            found.append(": ".join(part for part in parts if part) or "an error without a text")
        else:
            found.append(str(error)[:200])
    return found


def _envelope(data: dict[str, Any], entries: list[Any], cut: bool) -> Envelope:
    meta = data.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    slurm = meta.get("slurm", meta.get("Slurm"))
    slurm = slurm if isinstance(slurm, dict) else {}
    plugin = meta.get("plugin")
    plugin = plugin if isinstance(plugin, dict) else {}
    parser = _VERSION.search(f"{plugin.get('data_parser', '')} {plugin.get('type', '')}"[:200])
    kind = f"{plugin.get('type', '')}"[:80]
    return Envelope(
        entries=entries,
        cut=cut,
        slurm=text_of(slurm.get("release")),
        data_parser=parser[0] if parser else None,
        cluster=text_of(slurm.get("cluster")),
        database=None if not kind else "slurmdbd" in kind or "/dbv" in kind,
    )


def _salvage(text: str) -> Any | None:
    """Return a document that was cut, as far as its last whole value, with its brackets closed; None when hopeless.

    Everything before a comma is whole. One pass over strings and brackets finds the last comma outside strings.
    """
    start = text.find("{")
    if start < 0:
        return None
    stack: list[str] = []
    safe, closing = -1, ""
    for match in _TOKENS.finditer(text, start):
        sign = match[0]
        if sign in "{[":
            if len(stack) >= MAX_DEPTH:
                return None
            stack.append("}" if sign == "{" else "]")
        elif sign in "}]":
            if not stack or stack.pop() != sign:
                return None
        elif sign == ",":
            safe, closing = match.start(), "".join(reversed(stack))
    if safe < 0:
        return None
    try:
        return json.loads(text[start:safe] + closing)
    except (ValueError, RecursionError):
        return None


def number(value: Any) -> int | None:
    """Return a whole number, plain or ``{set, infinite, number}``; None when it isn't set, infinite or below zero."""
    if isinstance(value, dict):
        if not value.get("set") or value.get("infinite"):
            return None
        value = value.get("number")
    found = whole_number(value)
    return None if found is None or found < 0 else found


def time_of(value: Any) -> int | None:
    """Return an epoch in seconds; 0 means that there is none, not 1970."""
    return number(value) or None


def words(value: Any) -> list[str]:
    """Return a list of words from a list, or from one word; upper case."""
    listed = value if isinstance(value, list) else [value]
    return [word.upper() for one in listed[:50] if (word := text_of(one, 60)) is not None]


def text_or_empty(value: Any, limit: int = 1000) -> str:
    """Return a text, "" for null and for anything that is no scalar."""
    return text_of(value, limit) or ""
