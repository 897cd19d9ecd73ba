"""What a storage probe writes, how it is checked, and how much of it is sensible."""

from __future__ import annotations

import array
import ctypes
import hashlib
import mmap
import os
import time
from typing import Any

from fourplane.probes.parts.frame import Guard
from fourplane.probes.parts.scratch import free_bytes

__all__ = [
    "BASE",
    "BLOCK",
    "PAGE",
    "Content",
    "cached_fraction",
    "drop_cache",
    "fsync_path",
    "room",
    "write_all",
    "write_rate",
]

BLOCK, PAGE = 1 << 20, 4096
BASE = os.urandom(BLOCK)


class Content:
    """Incompressible content of one file in blocks of 1 MiB, each page different from every other.

    One random block serves them all; the first eight bytes of each 4 KiB page name file and block, so that neither
    compression nor deduplication can make a storage look faster, and a misplaced block is noticed.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._memory = mmap.mmap(-1, BLOCK)  # page-aligned, as direct I/O wants it
        self._memory[:] = BASE
        self._view = memoryview(self._memory)
        self._stamps = self._view.cast("Q")[:: PAGE // 8]

    def block(self, index: int) -> memoryview:
        """Return block ``index``; valid until the next call."""
        tag = self._number << 32 | index
        self._stamps[:] = memoryview(array.array("Q", [tag]) * (BLOCK // PAGE))
        return self._view

    def is_block(self, index: int, found: Any) -> bool:
        """Tell whether ``found`` is block ``index``, byte by byte."""
        return bool(self.block(index) == memoryview(found))

    def digest(self, blocks: int) -> str:
        """Return the SHA-256 of the first ``blocks`` blocks."""
        total = hashlib.sha256()
        for index in range(blocks):
            total.update(self.block(index))
        return total.hexdigest()


def write_all(fd: int, data: Any) -> None:
    """Write everything, at the file's position."""
    view = memoryview(data)
    while len(view):
        view = view[os.write(fd, view) :]


def fsync_path(path: str) -> None:
    """Flush one file or folder to the device."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def drop_cache(path: str) -> None:
    """Ask the kernel to forget the cached pages of a file; pages that are not written back yet stay."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def cached_fraction(paths: list[str]) -> float | None:
    """Return which part of the files lies in the page cache, by mincore(2); None where that can't be told."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        number = ctypes.c_int
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, number, number, number, ctypes.c_longlong]
        libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
        libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    except (OSError, AttributeError):
        return None
    cached = pages = 0
    for path in paths:
        size = os.path.getsize(path)
        if not size:
            continue
        fd = os.open(path, os.O_RDONLY)
        try:
            address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
        finally:
            os.close(fd)
        if address in (None, ctypes.c_void_p(-1).value):
            return None
        count = (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE
        flags = ctypes.create_string_buffer(count)
        failed = libc.mincore(address, size, flags)
        libc.munmap(address, size)
        if failed:
            return None
        pages += count
        cached += sum(flag & 1 for flag in flags.raw[:count])
    return round(cached / pages, 4) if pages else 0.0


def write_rate(folder: str, guard: Guard, most: int) -> float:
    """Return bytes per second of a short durable write, to choose sizes by; never more than ``most`` bytes."""
    path, content = os.path.join(folder, "calibration"), Content(0xFFFF)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    started, written = time.monotonic(), 0
    try:
        while written + BLOCK <= min(most, 32 * BLOCK) and time.monotonic() - started < 0.3:
            guard.check()
            for _ in range(min(8, (most - written) // BLOCK)):
                write_all(fd, content.block(written // BLOCK))
                written += BLOCK
            os.fsync(fd)
    finally:
        os.close(fd)
        os.unlink(path)
    return max(1e6, written / max(1e-6, time.monotonic() - started))


def room(folder: str, most: int, least: int) -> tuple[int, str]:
    """Return how many bytes may be written, and why none may: a tenth of the free space, at most ``most``."""
    free = free_bytes(folder)
    allowed = min(most, free // 10)
    if allowed >= least:
        return allowed, ""
    text = "a tenth of the free %d MB, at most %d MB, is less than the %d MB that this needs"
    return 0, text % (free // 10**6, most // 10**6, least // 10**6)
