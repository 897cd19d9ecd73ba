"""Reading below the evidence folder without trust: no link followed, nothing special opened, sizes bounded."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fourplane.evidence.layout import folder_place

__all__ = ["Listing", "NotPlainError", "list_folder", "read_file", "sha256_of"]

RECORD_LIMIT = 64 * 1024 * 1024
"""Largest record or raw text, in bytes."""
_BLOCK = 1024 * 1024


class NotPlainError(OSError):
    """What lies at the path is a link, a folder, a pipe or a device, or is larger than allowed."""


def read_file(root: Path, path: str, limit: int = RECORD_LIMIT) -> bytes:
    """Return the content of a plain file below ``root``.

    Raises:
        FileNotFoundError: there is none.
        NotPlainError: a link or special file on the way, or larger than ``limit`` bytes.
        OSError: the operating system refused.
    """
    fd = _open_plain(root, path)
    with os.fdopen(fd, "rb") as handle:
        data = handle.read(limit + 1)
    if len(data) > limit:
        raise NotPlainError(f"{path} is larger than {limit:,} bytes")
    return data


def sha256_of(root: Path, path: str) -> tuple[str, int]:
    """Return SHA-256 and size of a plain file below ``root``, read in blocks; errors as ``read_file``."""
    digest, size = hashlib.sha256(), 0
    with os.fdopen(_open_plain(root, path), "rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def _open_plain(root: Path, path: str) -> int:
    """Open step by step, so that no folder on the way can be a link that leads out."""
    *folders, name = path.split("/")
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            try:
                below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            except NotADirectoryError as error:
                raise NotPlainError(f"{path}: {folder} is a link or not a folder") from error
            os.close(here)
            here = below
        if not stat.S_ISREG(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            raise NotPlainError(f"{path} is a link or not a plain file")
        # non-blocking: should a pipe take the file's place in between, opening it must not hang
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)


@dataclass(slots=True)
class Listing:
    """What lies below the evidence folder, as sorted relative paths; unknown folders are named, not entered.

    Attributes:
        files: plain files.
        folders: folders.
        odd: links, pipes, sockets and devices.
        unreadable: folders that could not be listed, with the reason.
    """

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)


def list_folder(root: Path) -> Listing:
    """List everything below ``root``; what vanishes meanwhile is left out."""
    out = Listing()
    _list(root, "", out)
    for part in (out.files, out.folders, out.odd):
        part.sort()
    return out


def _list(root: Path, below: str, out: Listing) -> None:
    for entry in _scan(root / below, below, out):
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.is_symlink():
            out.odd.append(path)
        elif entry.is_dir(follow_symlinks=False):
            out.folders.append(path)
            if folder_place(path) is not None:
                _list(root, path, out)
        elif entry.is_file(follow_symlinks=False):
            out.files.append(path)
        else:
            out.odd.append(path)


def _scan(folder: Path, below: str, out: Listing) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from list(entries)
    except FileNotFoundError:
        return
    except OSError as error:
        out.unreadable.append((below, error.strerror or str(error)))
