"""Durable files: what is written is either wholly there after a crash, or not there at all."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__all__ = ["fsync_directory", "sha256_hex", "write_atomic"]


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of ``data`` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def fsync_directory(path: Path) -> None:
    """Make renames inside ``path`` durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_atomic(path: Path, data: bytes, *, scratch: Path | None = None) -> None:
    """Write ``data`` to ``path``: temporary file, fsync, rename, fsync of the directory.

    Args:
        path: final place; replaced if it exists.
        data: the whole content.
        scratch: folder on the same file system for the temporary file; the target's own by default.
    """
    temporary = (scratch or path.parent) / f".{path.name}.{os.getpid()}.tmp"
    try:
        with temporary.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)
