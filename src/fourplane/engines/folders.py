"""Private temporary folders of one run: gone with it, and after a kill removed by the next run."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["private_folder"]

_PREFIX = "fourplane-run-"


@contextmanager
def private_folder(base: Path | None = None) -> Iterator[Path]:
    """Make a folder in ``base`` (the system's temporary folder by default), yield it, remove it.

    The folder is locked while it is used. Folders of this user that nobody locks belong to runs that were killed;
    they are removed first.
    """
    where = base or Path(tempfile.gettempdir())
    _remove_stale(where)
    folder, lock = _locked_folder(where)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked_folder(base: Path) -> tuple[Path, int]:
    """Make a folder and lock it; again, when another engine took it for stale in between."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        lock = _lock(folder)
        if lock is None:
            continue
        if folder.exists():
            return folder, lock
        os.close(lock)


def _lock(folder: Path) -> int | None:
    """Take the folder's lock; None when somebody else holds it or it is gone."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd


def _remove_stale(base: Path) -> None:
    for folder in sorted(base.glob(f"{_PREFIX}*")):
        try:
            mine = folder.lstat().st_uid == os.geteuid()
        except OSError:
            continue
        lock = _lock(folder) if mine else None
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
