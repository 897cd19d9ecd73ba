"""What to import: files, folders, archives and standard input, opened without trust.

Archives are read in memory, member by member, one level deep; nothing is unpacked to disk, so no name in an archive
can reach a file. Bytes, members and the ratio of unpacking are bounded.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from bz2 import BZ2File
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from fourplane.base.errors import UsageError
from fourplane.importers import codes as _codes

__all__ = ["Bounds", "Source", "open_sources"]

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one import: bytes of a file, bytes of all, files, and how far an archive may unpack."""

    file_bytes: int = 64 << 20
    all_bytes: int = 2 << 30
    files: int = 20_000
    ratio: int = 200
    depth: int = 32


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to import.

    Attributes:
        path: where it came from, as the user named it; members as ``archive.tar.gz!folder/name``.
        content: its bytes, None when it was refused.
        code: why it was refused, "" otherwise.
        detail: what was found, for the refusal.
    """

    path: str
    content: bytes | None
    code: str = ""
    detail: str = ""


@dataclass(slots=True)
class _Budget:
    bounds: Bounds
    bytes_left: int
    files_left: int = field(default=0)

    def take(self, count: int) -> bool:
        self.bytes_left -= count
        return self.bytes_left >= 0


def open_sources(paths: list[str], stdin: BinaryIO, bounds: Bounds | None = None) -> Iterator[Source]:
    """Yield everything below ``paths``, in order of name; ``-`` is standard input.

    Raises:
        UsageError: a path names nothing; said before anything is read.
    """
    bounds = bounds or Bounds()
    for path in paths:
        if path != "-" and not os.path.lexists(path):
            code = _codes.NOT_FOUND
            raise UsageError(code.code, f"there is nothing at {path}", code.fix)
    budget = _Budget(bounds, bounds.all_bytes, bounds.files)
    return _all(paths, stdin, budget)


def _all(paths: list[str], stdin: BinaryIO, budget: _Budget) -> Iterator[Source]:
    for path in paths:
        if path == "-":
            yield from _content("-", stdin, budget, archive=True)
            continue
        for found in _walk(Path(path), budget.bounds.depth):
            if budget.files_left <= 0:
                yield Source(str(found), None, _codes.TOO_LARGE.code, f"more than {budget.bounds.files:,} files")
                return
            budget.files_left -= 1
            yield from _file(found, budget, top=str(found) == path)


def _walk(path: Path, depth: int) -> Iterator[Path]:
    """Yield files below ``path``; hidden folders and links inside a folder are left alone, ``path`` may be one."""
    if not path.is_dir():
        yield path
        return
    try:
        entries = sorted(path.iterdir())
    except OSError:
        yield path
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            if depth > 0:
                yield from _walk(entry, depth - 1)
        else:
            yield entry


def _file(path: Path, budget: _Budget, top: bool) -> Iterator[Source]:
    try:
        # O_NONBLOCK: a named pipe without a writer must not hold the import up
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | (0 if top else os.O_NOFOLLOW))
    except OSError as error:
        yield Source(str(path), None, _codes.UNREADABLE.code, error.strerror or str(error))
        return
    with os.fdopen(fd, "rb") as handle:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            yield Source(str(path), None, _codes.UNREADABLE.code, "not a regular file")
            return
        yield from _content(str(path), handle, budget, archive=True)


def _content(name: str, handle: IO[bytes], budget: _Budget, archive: bool) -> Iterator[Source]:
    """Yield the content of one stream: itself, or the members of the archive that it is."""
    try:
        data = _bounded(handle, min(budget.bounds.file_bytes, max(0, budget.bytes_left)))
    except OSError as error:
        yield Source(name, None, _codes.UNREADABLE.code, error.strerror or str(error))
        return
    if data is None or not budget.take(len(data)):
        yield Source(name, None, _codes.TOO_LARGE.code, f"more than {budget.bounds.file_bytes:,} bytes")
        return
    opener = _opener(data)
    if opener is None:
        yield Source(name, data)
    elif not archive:
        yield Source(name, None, _codes.NESTED.code, "an archive inside an archive")
    elif opener == "zip":
        yield from _zip(name, data, budget)
    else:
        yield from _compressed(name, data, opener, budget)


def _bounded(handle: IO[bytes], limit: int) -> bytes | None:
    """Read to the end, or return None when there is more than ``limit``."""
    parts: list[bytes] = []
    size = 0
    while chunk := handle.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            return None
        parts.append(chunk)
    return b"".join(parts)


def _opener(data: bytes) -> str | None:
    """Return what kind of container the bytes are, by their magic numbers; None for plain content."""
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "zip"
    if data[:2] == b"\x1f\x8b":
        return "gzip"
    if data[:3] == b"BZh":
        return "bzip2"
    if data[:6] == b"\xfd7zXZ\x00":
        return "xz"
    return "tar" if data[257:262] == b"ustar" else None


def _zip(name: str, data: bytes, budget: _Budget) -> Iterator[Source]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as box:
            for member in box.infolist():
                if member.is_dir():
                    continue
                inside = f"{name}!{member.filename}"
                kind = stat.S_IFMT(member.external_attr >> 16)
                if kind not in (0, stat.S_IFREG) or _escapes(member.filename):
                    yield Source(inside, None, _codes.UNSAFE.code, member.filename)
                    continue
                if not _member_allowed(budget):
                    yield Source(inside, None, _codes.TOO_LARGE.code, f"more than {budget.bounds.files:,} files")
                    return
                with box.open(member) as handle:
                    yield from _member(inside, handle, len(data), budget)
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        OSError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        yield Source(name, None, _codes.BROKEN.code, str(error) or type(error).__name__)


def _compressed(name: str, data: bytes, opener: str, budget: _Budget) -> Iterator[Source]:
    """Yield the members of a tar, compressed or not, or the one file that a compressed stream is."""
    try:
        stream = _stream(data, opener)
        if opener != "tar":
            head = stream.read(512)
            stream = _stream(data, opener)
            if head[257:262] != b"ustar":
                yield from _member(_without_suffix(name), stream, len(data), budget)
                return
        with tarfile.open(fileobj=stream, mode="r|") as box:
            for member in box:
                if member.isdir():
                    continue
                inside = f"{name}!{member.name}"
                if not member.isreg() or _escapes(member.name):
                    yield Source(inside, None, _codes.UNSAFE.code, member.name)
                    continue
                if not _member_allowed(budget):
                    yield Source(inside, None, _codes.TOO_LARGE.code, f"more than {budget.bounds.files:,} files")
                    return
                handle = box.extractfile(member)
                assert handle is not None
                yield from _member(inside, handle, len(data), budget)
    except (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError) as error:
        yield Source(name, None, _codes.BROKEN.code, str(error) or type(error).__name__)


def _stream(data: bytes, opener: str) -> BinaryIO:
    raw = io.BytesIO(data)
    if opener == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if opener == "bzip2":
        return cast(BinaryIO, BZ2File(raw))
    if opener == "xz":
        return cast(BinaryIO, lzma.LZMAFile(raw))
    return raw


def _member(name: str, handle: IO[bytes], packed: int, budget: _Budget) -> Iterator[Source]:
    """Yield one unpacked file, unless it unpacks beyond reason."""
    limit = min(budget.bounds.file_bytes, max(1 << 20, packed * budget.bounds.ratio), max(0, budget.bytes_left))
    data = _bounded(handle, limit)
    if data is None:
        budget.take(limit)
        yield Source(name, None, _codes.TOO_LARGE.code, f"unpacks to more than {limit:,} bytes")
    elif _opener(data) is not None:
        budget.take(len(data))
        yield Source(name, None, _codes.NESTED.code, "an archive inside an archive")
    else:
        budget.take(len(data))
        yield Source(name, data)


def _member_allowed(budget: _Budget) -> bool:
    budget.files_left -= 1
    return budget.files_left >= 0


def _escapes(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or "\x00" in name or (len(name) > 1 and name[1] == ":")


def _without_suffix(name: str) -> str:
    for suffix in (".gz", ".bz2", ".xz"):
        if name.endswith(suffix):
            return name[: -len(suffix)]
    return name
