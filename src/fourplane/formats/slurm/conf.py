"""slurm.conf and gres.conf: directives with their parameters, continued lines and quotes.

Keys know no case. ``#`` begins a remark unless it is escaped; a line that ends in a backslash goes on. ``Include``
names a file that isn't read here.

Sources: man pages slurm.conf(5) and gres.conf(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fourplane.base.hostlists import HostListError, expand
from fourplane.formats.model import MAX_LINE_CHARS, Reading, Status, lines_of
from fourplane.formats.slurm.tres import Gres, parse_gres
from fourplane.formats.slurm.values import parse_count, word_set

__all__ = [
    "GRES_KIND", "SLURM_KIND", "Directive", "read_gres", "read_slurm", "sniff_gres", "sniff_slurm", "summarise_gres",
    "summarise_slurm",
]  # fmt: skip

SLURM_KIND = "slurm-conf"
GRES_KIND = "gres-conf"
MAX_SHOWN = 500

_PAIR = re.compile(r"\s*([A-Za-z][A-Za-z0-9_/.-]{0,63})\s*=\s*(\"[^\"]{0,8000}\"|'[^']{0,8000}'|\S*)", re.ASCII)
_SEVERAL = frozenset({"nodename", "partitionname", "downnodes", "frontendname", "nodeset", "slurmctldhost", "include",
                      "name", "prologflags"})  # fmt: skip
_TELLING = word_set(
    "clustername slurmctldhost controlmachine accountingstoragetype accountingstoragetres accountingstoragehost "
    "grestypes selecttype selecttypeparameters slurmctldport slurmdport proctracktype schedulertype preempttype "
    "jobacctgathertype slurmuser taskplugin authtype returntoservice prioritytype prologflags slurmdspooldir "
    "statesavelocation"
)
_NODE_WORDS = frozenset({"cpus", "gres", "realmemory", "sockets", "nodeaddr", "state", "procs", "socketsperboard"})
_DEVICES = re.compile(r"([^\[\]]*)\[([\d,-]{1,200})\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Directive:
    """One logical line.

    Attributes:
        line: 1-based, of its first line.
        key: of its first pair, as written.
        values: all pairs of the line, keys in lower case.
        written: keys as written, by their lower case.
    """

    line: int
    key: str
    values: dict[str, str]
    written: dict[str, str]

    def get(self, key: str) -> str | None:
        """Return a value by its key in lower case."""
        return self.values.get(key)


def sniff_slurm(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a slurm.conf."""
    head = head[:65_536]
    if "CPUTot=" in head or head.lstrip()[:1] in ("{", "["):
        return 0.0
    keys = {
        match[1].lower() for line in head.split("\n")[:1000] if (match := _PAIR.match(line)) and " = " not in line[:60]
    }
    if keys & {"dbdhost", "storagehost", "storageuser"}:
        return 0.0  # slurmdbd.conf
    known = len(keys & _TELLING)
    if known >= 2:
        return 0.9
    first = re.search(r"^NodeName=\S+(?P<rest>.*)", head, re.MULTILINE | re.IGNORECASE)
    words = {match[1].lower() for match in _PAIR.finditer(first["rest"][:4096])} if first else set()
    if first and "name" not in words and words & _NODE_WORDS:
        return 0.7
    return 0.6 if known and len(keys) <= 3 else 0.0


def sniff_gres(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a gres.conf."""
    found = 0
    for line in head[:65_536].split("\n")[:1000]:
        body = line.strip()
        if not body or body.startswith("#"):
            continue
        words = {match[1].lower() for match in _PAIR.finditer(body[:4096])}
        if not words or not words <= _GRES_WORDS:
            return 0.0
        found += bool(words & {"name", "autodetect"})
    return 0.9 if found else 0.0


_GRES_WORDS = word_set("nodename name type file count cores cpus links flags autodetect multiplefiles include")


def _logical(text: str, reading: Reading[Any]) -> Iterator[tuple[int, str]]:
    """Yield lines without remarks, continued ones joined, with the number of their first line."""
    begun, parts, size = 0, [""][:0], 0
    for number, line in lines_of(text.removeprefix("\ufeff"), reading):
        body = re.sub(r"(?<!\\)#.*", "", line).rstrip()
        begun = begun or number
        if body.endswith("\\") and size < MAX_LINE_CHARS:
            parts.append(body[:-1])
            size += len(body)
            continue
        yield begun, "".join([*parts, body])
        begun, parts, size = 0, [], 0
    if parts:
        yield begun, "".join(parts)


def _read(text: str, kind: str) -> Reading[Directive]:
    reading: Reading[Directive] = Reading(kind)
    for number, line in _logical(text, reading):
        if not line.strip():
            continue
        directive = _directive(number, line)
        if directive is None:
            reading.refuse("slurm-conf-line-refused", number, line)
        else:
            reading.records.append(directive)
    if not reading.records:
        if not reading.refusals:
            reading.refuse("format-text-empty", 0, "")
        reading.end(Status.REFUSED, "no directive could be read")
    return reading


def _directive(number: int, line: str) -> Directive | None:
    include = re.fullmatch(r"\s*include\s+(\S{1,4000})\s*", line, re.IGNORECASE)
    if include is not None:
        return Directive(number, "Include", {"include": include[1]}, {"include": "Include"})
    values: dict[str, str] = {}
    written: dict[str, str] = {}
    at = 0
    for match in _PAIR.finditer(line):
        if line[at : match.start()].strip():
            return None
        key, value = match[1].lower(), match[2]
        if value[:1] in ("'", '"') and value[-1:] == value[:1] and len(value) > 1:
            value = value[1:-1]
        values.setdefault(key, value)
        written.setdefault(key, match[1])
        at = match.end()
    if not values or line[at:].strip():
        return None
    return Directive(number, next(iter(written.values())), values, written)


def read_slurm(text: str) -> Reading[Directive]:
    """Read a slurm.conf; directives that contradict each other, and GPUs that aren't tracked, are noted."""
    reading = _read(text, SLURM_KIND)
    seen: dict[str, str] = {}
    for directive in reading.records:
        key = directive.key.lower()
        value = directive.values[key]
        if key not in _SEVERAL and seen.setdefault(key, value) != value:
            reading.note("slurm-conf-directive-repeated", directive.line, f"{directive.key}: {seen[key]}, then {value}")
    tres = [directive.values["accountingstoragetres"] for directive in _having(reading, "accountingstoragetres")]
    has_gpus = any(gres is not None and gres.gpus for _, gres in _nodes(reading))
    if has_gpus and not any("gres/gpu" in one.lower() for one in tres) and len(reading.records) > 3:
        reading.note("slurm-conf-gpu-not-tracked", 0, f"AccountingStorageTRES={','.join(tres) or '(not set)'}")
    return reading


def read_gres(text: str) -> Reading[Directive]:
    """Read a gres.conf."""
    return _read(text, GRES_KIND)


def _having(reading: Reading[Directive], key: str) -> list[Directive]:
    return [directive for directive in reading.records if key in directive.values]


def _nodes(reading: Reading[Directive]) -> list[tuple[Directive, Gres | None]]:
    named = [
        one for one in reading.records if one.key.lower() == "nodename" and one.values["nodename"].upper() != "DEFAULT"
    ]
    return [(one, parse_gres(one.values.get("gres", ""))) for one in named]


def _count_hosts(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return len(expand(text))
    except HostListError:
        return None


def _number(text: str) -> float | str:
    return float(text) if re.fullmatch(r"\d{1,15}(?:\.\d{1,9})?", text, re.ASCII) else text


def summarise_slurm(reading: Reading[Directive]) -> dict[str, Any]:
    """Return nodes with their GPUs, what accounting tracks, and weights; the last of a repeated directive wins."""
    values: dict[str, str] = {}
    for directive in reading.records:
        values[directive.key.lower()] = directive.values[directive.key.lower()]
    tres = [one.values["accountingstoragetres"].split(",") for one in _having(reading, "accountingstoragetres")]
    weights = next((one.values["tresbillingweights"] for one in _having(reading, "tresbillingweights")), "")
    nodes = [_node(directive, gres) for directive, gres in _nodes(reading)]
    counts = [
        None if one["node_count"] is None or one["gpus_per_node"] is None else one["node_count"] * one["gpus_per_node"]
        for one in nodes
    ]
    return {
        "directives": len(reading.records),
        "cluster": values.get("clustername"),
        "accounting_storage_tres": tres,
        "accounting_storage_type": values.get("accountingstoragetype"),
        "gpu_tracked": any(part.strip().lower().split(":")[0] == "gres/gpu" for one in tres for part in one)
        if tres
        else None,
        "gres_types": values.get("grestypes"),
        "select_type": values.get("selecttype"),
        "preempt_type": values.get("preempttype"),
        "preempt_mode": values.get("preemptmode"),
        "tres_billing_weights": {
            key.strip(): _number(value.strip())
            for key, sign, value in (part.partition("=") for part in weights.split(","))
            if sign
        },
        "nodes": nodes[:MAX_SHOWN],
        "partitions": [one.values["partitionname"] for one in _having(reading, "partitionname")][:MAX_SHOWN],
        "gpus": None if None in counts else sum(count for count in counts if count is not None),
        "includes": [one.values["include"] for one in _having(reading, "include")][:MAX_SHOWN],
    }


def _node(directive: Directive, gres: Gres | None) -> dict[str, Any]:
    kinds = list(gres.types()) if gres else []
    named = directive.values["nodename"]
    return {
        "nodes": named,
        "node_count": _count_hosts(named),
        "gpus_per_node": gres.gpus if gres else 0,
        "mig_slices_per_node": gres.slices if gres else 0,
        "gpu_type": kinds[0] if len(kinds) == 1 and kinds[0] != "untyped" else None,
        "cpus": parse_count(directive.values.get("cpus") or directive.values.get("nodecpus") or ""),
        "state": directive.values.get("state"),
    }


def summarise_gres(reading: Reading[Directive]) -> dict[str, Any]:
    """Return the entries with their devices; GPUs are summed over lines that name their nodes."""
    entries: list[dict[str, Any]] = []
    named = 0
    complete = True
    for one in _having(reading, "name"):
        nodes, devices = one.get("nodename"), _devices(one)
        count = _count_hosts(nodes)
        if one.values["name"].lower() == "gpu" and nodes is not None:
            complete = complete and devices is not None and count is not None
            named += (devices or 0) * (count or 0)
        if len(entries) < MAX_SHOWN:
            entries.append(
                {
                    "nodes": nodes, "node_count": count, "name": one.values["name"], "type": one.get("type"),
                    "files": one.get("file"), "devices": devices, "cores": one.get("cores"),
                    "autodetect": one.get("autodetect"), "flags": one.get("flags"),
                }
            )  # fmt: skip
    alone = [
        one.values["autodetect"] for one in reading.records if one.key.lower() == "autodetect" and len(one.values) == 1
    ]
    return {
        "directives": len(reading.records),
        "autodetect": alone[-1] if alone else None,
        "entries": entries,
        "gpus_named_nodes": named if complete else None,
    }


def _devices(directive: Directive) -> int | None:
    """Return how many devices a line stands for: Count, else the files; None when neither says."""
    if (count := directive.get("count")) is not None:
        return parse_count(count)
    files = directive.get("file") or directive.get("multiplefiles")
    if files is None:
        return None
    total = 0
    rest = _DEVICES.sub("", files)
    for match in _DEVICES.finditer(files):
        for part in match[2].split(","):
            low, dash, high = part.partition("-")
            if not low.isdigit() or (dash and not high.isdigit()) or len(low) > 6 or len(high) > 6:
                return None
            total += int(high or low) - int(low) + 1 if int(high or low) >= int(low) else 0
    return total + sum(bool(part.strip()) for part in rest.split(","))
