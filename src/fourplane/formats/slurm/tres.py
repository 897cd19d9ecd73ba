"""TRES and GRES strings of Slurm: what was allocated, and how many GPUs that is.

One rule counts GPUs everywhere: the total key ``gres/gpu`` when it is there, else the sum of the typed keys
``gres/gpu:TYPE``. ``gres/gpumem``, ``gres/gpuutil`` and ``gres/shard`` are never GPUs. A MIG slice stays a slice: it
is in the count, because Slurm allocates it as one, and it is listed apart with the share of a GPU that it is.

Sources: Slurm's pages tres.html and gres.html; accounting cases of Open XDMoD, jobstats and slurm-mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fourplane.formats.slurm.values import parse_count, parse_size

__all__ = [
    "GpuCount", "Gres", "GresEntry", "count_gpus", "is_mig", "mig_weight", "parse_gres", "parse_tres", "tres_of_list",
    "tres_size",
]  # fmt: skip

_MAX_ENTRIES = 4096
_MAX_CHARS = 16 * 1024
_TOTAL = "gres/gpu"
_TYPED = "gres/gpu:"

# 3g.20gb, 1g.10gb+me, 1c.3g.20gb; NVIDIA's names of MIG profiles
_MIG = re.compile(r"(?:^|[_\-.:])(\d{1,2})g\.(\d{1,4})gb(?:[+.\-_]me(?:\.all)?)?$", re.ASCII | re.IGNORECASE)
_COMPUTE_SLICES = 7
"""Compute slices of every GPU that knows MIG, A30 aside (4)."""


@dataclass(frozen=True, slots=True)
class GpuCount:
    """GPUs of one TRES string.

    Attributes:
        gpus: by the one rule; MIG slices count as Slurm counts them.
        types: typed keys, count by type; may hold less than ``gpus`` where only some types are tracked.
        mig_slices: how many of ``gpus`` are MIG slices, as far as types tell.
        mig_gpus: the slices as a share of whole GPUs, by compute slices out of seven.
    """

    gpus: int
    types: dict[str, int] = field(default_factory=dict)
    mig_slices: int = 0
    mig_gpus: float = 0.0


def mig_weight(kind: str) -> float:
    """Return the share of a whole GPU that a MIG profile's compute slices are; 1.0 for anything that is no profile."""
    found = _MIG.search(kind[-64:])
    if found is None:
        return 1.0
    of = 4 if "a30" in kind.lower() and "a300" not in kind.lower() else _COMPUTE_SLICES
    return min(1.0, int(found[1]) / of)


def is_mig(kind: str) -> bool:
    """Tell whether a GPU type names a MIG profile, such as ``a100_3g.20gb``."""
    return _MIG.search(kind[-64:]) is not None


def parse_tres(text: str) -> dict[str, str]:
    """Return a TRES string as counts by key, as written; keys in lower case, types as they are.

    A part without ``=`` is left out; of a key that comes twice with different counts nothing is known, and its value
    is "".
    """
    found: dict[str, str] = {}
    if len(text) > _MAX_CHARS:
        return found
    for part in text.split(",")[:_MAX_ENTRIES]:
        key, sign, value = part.partition("=")
        key = key.strip()
        if not sign or not key:
            continue
        head, colon, kind = key.partition(":")
        key = head.lower() + colon + kind
        value = value.strip()
        found[key] = value if found.get(key, value) == value else ""
    return found


@lru_cache(maxsize=4096)
def _count_text(text: str) -> GpuCount | None:
    return _count(parse_tres(text))


def count_gpus(tres: str | Mapping[str, str]) -> GpuCount | None:
    """Return the GPUs of a TRES string or of its parsed form; None when a count of GPUs can't be read.

    A string that names no GPU counts as 0: whether it *records* GPUs is for the caller to know.
    """
    return _count_text(tres) if isinstance(tres, str) else _count(tres)


def _count(entries: Mapping[str, str]) -> GpuCount | None:
    types: dict[str, int] = {}
    for key, value in entries.items():
        if key.startswith(_TYPED):
            count = parse_count(value)
            if count is None:
                return None
            types[key[len(_TYPED) :]] = count
    if _TOTAL in entries:
        total = parse_count(entries[_TOTAL])
        if total is None:
            return None
    else:
        total = sum(types.values())
    slices = {kind: count for kind, count in types.items() if is_mig(kind)}
    return GpuCount(total, types, sum(slices.values()), sum(mig_weight(kind) * n for kind, n in slices.items()))


def tres_size(entries: Mapping[str, str], key: str = "mem") -> int | None:
    """Return a size of a parsed TRES string in bytes; Slurm writes memory without a suffix in MiB."""
    return parse_size(entries[key], bare="M") if key in entries else None


def tres_of_list(entries: Any) -> dict[str, str] | None:
    """Return Slurm's JSON list ``[{type, name, count}]`` as counts by key; None when it is no list.

    A count below zero is Slurm's mark for unknown (-2) or unlimited (-1); such an entry is left out.
    """
    if not isinstance(entries, list):
        return None
    found: dict[str, str] = {}
    for entry in entries[:_MAX_ENTRIES]:
        if not isinstance(entry, dict):
            continue
        kind, name, count = entry.get("type"), entry.get("name"), entry.get("count")
        if isinstance(count, dict):  # a number with its state
            count = count.get("number") if count.get("set") and not count.get("infinite") else None
        if not isinstance(kind, str) or isinstance(count, bool) or not isinstance(count, int) or count < 0:
            continue
        key = f"{kind.lower()}/{name}" if isinstance(name, str) and name else kind.lower()
        found[key[:200]] = str(count)
    return found


@dataclass(frozen=True, slots=True)
class GresEntry:
    """One part of a GRES string.

    Attributes:
        name: gpu, mig, shard, mps, …
        kind: type, "" when untyped.
        count: None when it can't be read, as when a column cut it.
        index: indices in use as written, such as ``0,2-3``; None without any.
        sockets: sockets as written in ``(S:0-1)``, "" without.
    """

    name: str
    kind: str
    count: int | None
    index: str | None = None
    sockets: str = ""

    @property
    def is_gpu(self) -> bool:
        """Tell a GPU or a slice of one from anything else."""
        return self.name in ("gpu", "mig")

    @property
    def is_slice(self) -> bool:
        """Tell a MIG slice, also one that is written as a GPU."""
        return self.name == "mig" or (self.name == "gpu" and is_mig(self.kind))


@dataclass(frozen=True, slots=True)
class Gres:
    """A GRES string: its parts, and whether it is one of a node's use (it has indices)."""

    entries: tuple[GresEntry, ...]
    indexed: bool = False

    def _sum(self, slices: bool) -> int | None:
        counts = [one.count for one in self.entries if one.is_gpu and one.is_slice is slices]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def gpus(self) -> int | None:
        """Whole GPUs; None when a count is unknown."""
        return self._sum(slices=False)

    @property
    def slices(self) -> int | None:
        """MIG slices; None when a count is unknown."""
        return self._sum(slices=True)

    def types(self, *, slices: bool = False) -> dict[str, int]:
        """Return counts of whole GPUs, or of slices, by type; untyped ones under ``untyped``."""
        found: dict[str, int] = {}
        for one in self.entries:
            if one.is_gpu and one.is_slice is slices and one.count is not None:
                kind = one.kind or "untyped"
                found[kind] = found.get(kind, 0) + one.count
        return found

    @property
    def index(self) -> str | None:
        """Indices of whole GPUs in use, joined; None without any."""
        return ",".join(one.index for one in self.entries if one.is_gpu and one.index) or None


_ENTRY = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_]{0,39})"
    r"(?::(?P<kind>[^:(),\s]{1,100}|\(null\)))?"
    r"(?::(?P<count>\d{1,9}[kKmMgG]?))?"
    r"(?P<marks>(?:\([^()\s]{0,400}\)){0,8})",
    re.ASCII,
)
_MARK = re.compile(r"\(([A-Za-z]{1,9}):([^()\s]{0,400})\)")
_NO_INDEX = {"N/A", ""}


def parse_gres(text: str) -> Gres | None:
    """Parse ``gpu:h100:8(S:0-1)``, ``gres/gpu:2``, ``gres:gpu:h100:8``, ``gpu:a:2(IDX:0-1),shard:8``, else None.

    ``(null)`` and ``N/A`` are not GRES strings here: the caller knows whether they mean none or unknown.
    """
    if not text or len(text) > _MAX_CHARS:
        return None
    entries: list[GresEntry] = []
    indexed = False
    for part in _parts(text):
        match = _ENTRY.fullmatch(_bare(part))
        if match is None:
            return None
        kind, count = match["kind"], match["count"]
        if kind is not None and count is None and kind.isdigit():
            kind, count = None, kind
        if kind is None and count is None and len(entries) == 0 and not match["marks"]:
            return None  # a bare word is no GRES
        marks = dict(_MARK.findall(match["marks"]))
        indexed = indexed or "IDX" in marks
        index = marks.get("IDX", "")
        entries.append(
            GresEntry(
                match["name"].lower(),
                "" if kind in (None, "(null)") else str(kind),
                None if count is None else parse_count(count),
                None if index in _NO_INDEX else index,
                marks.get("S", ""),
            )
        )
    return Gres(tuple(entries), indexed) if entries else None


def _bare(part: str) -> str:
    part = part.strip()
    for prefix in ("gres/", "gres:"):
        if part.startswith(prefix):
            return part[len(prefix) :].replace("=", ":", 1)
    return part


def _parts(text: str) -> Iterable[str]:
    """Split at commas outside parentheses: ``(IDX:0,2-3)`` is one part."""
    depth, start = 0, 0
    for match in re.finditer(r"[(),]", text):
        sign = match[0]
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth = max(0, depth - 1)
        elif depth == 0:
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]
