"""The writer's lock: an exclusive flock on the evidence folder, gone with its process however that ends."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from fourplane.base.errors import StoreError
from fourplane.evidence import codes
from fourplane.evidence.layout import LOCK

__all__ = ["take_lock"]

# NFS carries flock as a byte-range lock, which wants a descriptor open for writing: a folder never is one
_NOT_ON_FOLDERS = {errno.EBADF, errno.EINVAL, errno.EISDIR, errno.ENOLCK, errno.ENOTSUP}


def take_lock(root: Path) -> int:
    """Lock the evidence folder; return the descriptor that holds the lock until it is closed.

    Where the file system cannot lock a folder (NFS), a file in ``tmp/`` is locked instead.

    Raises:
        StoreError: another writer holds it, or the file system cannot lock at all.
    """
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(fd, root)
        return fd
    except OSError as error:
        os.close(fd)
        if error.errno not in _NOT_ON_FOLDERS:
            raise
    except StoreError:
        os.close(fd)
        raise
    fd = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        _lock(fd, root)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _lock(fd: int, root: Path) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StoreError(codes.LOCKED.code, f"another process is writing to {root}", codes.LOCKED.fix) from error
