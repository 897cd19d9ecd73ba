"""Canonical JSON and the numbered manifests, each sealed by its own hash and chained to the one before."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fourplane.base.clock import format_utc, parse_utc
from fourplane.base.files import sha256_hex
from fourplane.evidence.layout import FIRST_PREV, place

__all__ = ["Entry", "FileEntry", "Head", "canonical", "parse_canonical", "parse_entry"]

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
KINDS = ("begin", "step", "end")
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FIELDS = {"seq", "kind", "run", "step", "files", "at", "prev", "sha256"}


def canonical(data: Any) -> bytes:
    """Return the one byte form of JSON data: sorted keys, no spaces, UTF-8, newline at the end.

    Raises:
        ValueError: not a finite number, a lone surrogate, or a cycle.
        TypeError: not JSON.
    """
    return (_ENCODER.encode(data) + "\n").encode()


def parse_canonical(data: bytes) -> Any:
    """Parse JSON that must be in canonical form.

    Raises:
        ValueError: not JSON, too deep, or not byte for byte what ``canonical`` writes.
    """
    try:
        value = json.loads(data)
        if canonical(value) == data:
            return value
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        raise ValueError("it is not one JSON record") from error
    raise ValueError("its JSON is not in the form that a writer leaves")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file under a manifest: path below the evidence folder, SHA-256, size in bytes."""

    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One manifest.

    Attributes:
        seq: number from 1, without gaps.
        kind: begin, step or end.
        run: identifier of the run.
        step: identifier of the step, "" for begin and end.
        files: the files that this commit added.
        at: when it was committed, UTC.
        prev: hash of the manifest before, zeros for the first.
        sha256: hash over the canonical form of all other fields.
    """

    seq: int
    kind: str
    run: str
    step: str
    files: tuple[FileEntry, ...]
    at: datetime
    prev: str
    sha256: str

    @classmethod
    def sealed(
        cls, seq: int, kind: str, run: str, step: str, files: tuple[FileEntry, ...], at: datetime, prev: str
    ) -> Entry:
        """Return a manifest with its hash filled."""
        bare = cls(seq, kind, run, step, files, at, prev, "")
        return cls(seq, kind, run, step, files, at, prev, bare.own_hash())

    def own_hash(self) -> str:
        """Return the hash that the manifest must carry."""
        fields = self._fields()
        del fields["sha256"]
        return sha256_hex(canonical(fields))

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        return canonical(self._fields())

    def _fields(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "kind": self.kind,
            "run": self.run,
            "step": self.step,
            "files": [{"path": f.path, "sha256": f.sha256, "bytes": f.bytes} for f in self.files],
            "at": format_utc(self.at),
            "prev": self.prev,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class Head:
    """Number and hash of the newest manifest; (0, zeros) before the first."""

    seq: int = 0
    sha256: str = FIRST_PREV

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        return canonical({"seq": self.seq, "sha256": self.sha256})

    @classmethod
    def parse(cls, data: bytes) -> Head:
        """Read the stored form back.

        Raises:
            ValueError: not what ``to_bytes`` writes.
        """
        value = parse_canonical(data)
        if not isinstance(value, dict) or set(value) != {"seq", "sha256"}:
            raise ValueError("its fields are not those of a head")
        if not _natural(value["seq"]) or not _is_hash(value["sha256"]):
            raise ValueError("its number or hash is malformed")
        return cls(value["seq"], value["sha256"])


def parse_entry(data: bytes) -> tuple[Entry | None, str]:
    """Read a manifest without trust.

    Returns:
        the manifest, None where its shape cannot be read, and what is wrong with it, "" where nothing is.
        A manifest with a wrong hash is returned beside its problem: what it names helps to tell the rest apart.
    """
    try:
        value = parse_canonical(data)
    except ValueError as error:
        return None, str(error)
    if not isinstance(value, dict) or set(value) != _FIELDS:
        return None, "its fields are not those of a manifest"
    try:
        at = parse_utc(value["at"])
    except (ValueError, TypeError):
        return None, "its time cannot be read"
    files = _files(value["files"])
    texts_fit = isinstance(value["run"], str) and isinstance(value["step"], str)
    if files is None or not texts_fit or not _natural(value["seq"]) or value["kind"] not in KINDS:
        return None, "a field is malformed"
    if not _is_hash(value["prev"]) or not _is_hash(value["sha256"]):
        return None, "a hash is malformed"
    entry = Entry(value["seq"], value["kind"], value["run"], value["step"], files, at, value["prev"], value["sha256"])
    if format_utc(at) != value["at"]:
        return entry, "its time is not in the form that a writer leaves"
    return entry, "" if entry.own_hash() == entry.sha256 else "its own hash does not fit"


def _files(value: Any) -> tuple[FileEntry, ...] | None:
    if not isinstance(value, list):
        return None
    out = []
    for item in value:
        if not isinstance(item, dict) or set(item) != {"path", "sha256", "bytes"}:
            return None
        path, digest, size = item["path"], item["sha256"], item["bytes"]
        # a path is taken only in the store's own form: nothing absolute, no "..", so it cannot lead outside
        if not isinstance(path, str) or place(path) is None or not _is_hash(digest) or not _natural(size):
            return None
        out.append(FileEntry(path, digest, size))
    return tuple(out)


def _natural(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None
