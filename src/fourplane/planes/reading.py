"""Reading a dotted path from a model."""

from __future__ import annotations

from typing import Any

__all__ = ["walk"]


def walk(model: Any, path: str) -> Any:
    """Return the value at ``path``, such as ``gpu.count``; None where a part is missing or empty."""
    for key in path.split("."):
        model = getattr(model, key, None)
        if model is None:
            return None
    return None if model == () else model
