"""The formats that are known, and which of them a text is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fourplane.formats import gpus, nodes, slurm
from fourplane.formats.model import Format

__all__ = ["FORMATS", "HEAD", "SUMMARIES", "recognise"]

HEAD = 262_144
"""Characters of the beginning that a decision needs."""

_LEAST = 0.5
_GROUPS = (gpus, nodes, slurm)

FORMATS: dict[str, Format] = {one.kind: one for group in _GROUPS for one in group.FORMATS}

SUMMARIES: dict[str, Callable[[Any], dict[str, Any]]] = {
    kind: summarise for group in _GROUPS for kind, summarise in group.SUMMARIES.items()
}
"""What a person looks for in a reading, by kind: figures by name, None where the text does not say."""


def recognise(head: str) -> tuple[Format, float] | None:
    """Return the likeliest format of a text beginning with ``head``, with the confidence; None below one half."""
    ranked = sorted(((one.sniff(head[:HEAD]), one.kind) for one in FORMATS.values()), reverse=True)
    confidence, kind = ranked[0]
    return (FORMATS[kind], confidence) if confidence >= _LEAST else None
