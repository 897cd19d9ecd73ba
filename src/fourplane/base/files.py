"""Durable files: what is written is either wholly there after a crash, or not there at all."""

from __future__ import annotations

import errno
import hashlib
import os
from itertools import count
from pathlib import Path

__all__ = ["fsync_directory", "make_directories", "sha256_hex", "write_atomic"]


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of ``data`` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def fsync_directory(path: Path) -> None:
    """Make renames inside ``path`` durable.

    Some network and FUSE file systems cannot sync a directory and say EINVAL or ENOTSUP; there is nothing
    better to do on them than to go on, and the write itself was synced before.
    """
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(fd)


def make_directories(path: Path) -> None:
    """Create ``path`` and its missing parents; each new folder is durable before the next is made."""
    missing: list[Path] = []
    step = path
    while not step.exists():
        missing.append(step)
        step = step.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        fsync_directory(folder.parent)


def write_atomic(path: Path, data: bytes, *, scratch: Path | None = None) -> None:
    """Write ``data`` to ``path``: temporary file, fsync, rename, fsync of the directory.

    Args:
        path: final place; replaced if it exists.
        data: the whole content.
        scratch: folder on the same file system for the temporary file; the target's own by default.

    Raises:
        OSError: nothing was written; an older file at ``path`` is as it was, unless the last fsync failed.
    """
    fd, temporary = _create_temporary(scratch or path.parent, path.name)
    try:
        with os.fdopen(fd, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)


def _create_temporary(folder: Path, name: str) -> tuple[int, Path]:
    """Create ``.NAME.PID[-N].tmp`` anew: never through a link or into a file that somebody else left there."""
    for number in count():
        suffix = f"-{number}" if number else ""
        path = folder / f".{name}.{os.getpid()}{suffix}.tmp"
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666), path
        except FileExistsError:
            continue
    raise AssertionError("unreachable")
