"""Make one file out of a probe and the pieces it imports, for any node with Python 3.8 and nothing else."""

from __future__ import annotations

import ast
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["pack_probe", "pieces_of"]

_PACKAGE = "fourplane.probes."
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The same sources give the same bytes, so that the packed probe's hash names what was run."""


def pieces_of(probe: Path) -> dict[str, Path]:
    """Return every module below ``fourplane.probes`` that a probe imports, directly or through another.

    Returns:
        Path by dotted name; empty for a probe that is one file already.
    """
    root = Path(__file__).parent.parent
    found: dict[str, Path] = {}
    todo = [probe]
    while todo:
        for name in _imported(todo.pop()):
            path = root.joinpath(*name.split(".")[1:]).with_suffix(".py")
            if name not in found and path.is_file():
                found[name] = path
                todo.append(path)
    return dict(sorted(found.items()))


def pack_probe(probe: Path) -> bytes:
    """Return a probe as one file that any Python runs: its own text, or a zip application with its pieces."""
    pieces = pieces_of(probe)
    if not pieces:
        return probe.read_bytes()
    buffer = io.BytesIO()
    buffer.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        folders = {"/".join(name.split(".")[:depth]) for name in pieces for depth in range(1, name.count(".") + 1)}
        for folder in sorted(folders):
            _add(archive, f"{folder}/__init__.py", b"")
        for name, path in pieces.items():
            _add(archive, f"{name.replace('.', '/')}.py", path.read_bytes())
        _add(archive, "__main__.py", probe.read_bytes())
    return buffer.getvalue()


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith(_PACKAGE))


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)
