"""Where each value of a document was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["Place", "Positions", "join_path"]

Place = tuple[int, int]
"""Line and column, both 1-based."""


def join_path(parts: tuple[str | int, ...]) -> str:
    """Return ``pools[0].shape.gpu`` for ``("pools", 0, "shape", "gpu")``."""
    out = ""
    for part in parts:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else str(part)
    return out


@dataclass(frozen=True)
class Positions:
    """Places by path: ``keys`` of the key itself, ``values`` of what it holds.

    Where an entry of a list was left out because it is wrong, paths count the entries that are left;
    ``renumber`` turns such a path into the one that holds in the file.
    """

    values: Mapping[str, Place] = field(default_factory=dict)
    keys: Mapping[str, Place] = field(default_factory=dict)
    renumber: Callable[[str], str] | None = None

    def written(self, path: str) -> str:
        """Return ``path`` as it holds in the file, entries that were left out counted."""
        return self.renumber(path) if self.renumber is not None else path

    def place(self, path: str) -> Place:
        """Return the place of the value at ``path``, or of its nearest parent; (1, 1) for the document."""
        while path:
            if path in self.values:
                return self.values[path]
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return self.values.get("", (1, 1))

    def cite(self, file: str, path: str) -> str:
        """Return ``file:line:column``."""
        line, column = self.place(path)
        return f"{file}:{line}:{column}"
