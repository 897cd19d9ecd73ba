"""Figures of sinfo: nodes counted once, GPUs and MIG slices apart, what is in use."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from fourplane.base.hostlists import HostListError, expand
from fourplane.formats.model import Reading
from fourplane.formats.slurm.sinfo import NodeRow
from fourplane.formats.slurm.tres import Gres

__all__ = ["summarise"]

MAX_SHOWN = 200
MAX_NODES = 200_000


@dataclass(slots=True)
class _Group:
    """Nodes that look alike: one node by name, or several that are only counted."""

    row: NodeRow
    names: list[str]
    times: int


def summarise(reading: Reading[NodeRow]) -> dict[str, Any]:
    """Return nodes, GPUs, slices, what is used, and types; a node in several partitions counts once.

    ``gpus`` is None when the listing has no column of configured GRES, ``gpus_used`` when it has none of used ones.
    States of a listing with a column of node counts are summed as sinfo counts them, otherwise by node.
    """
    rows = reading.records
    if not rows:
        return {}
    groups = _groups(rows)
    with_gres = any(row.has_gres for row in rows)
    with_used = any(row.has_used for row in rows)
    configured = [(group.row.gres, group.times) for group in groups]
    in_use = [(group.row.used, group.times) for group in groups]
    types, mig = _types(configured, slices=False), _types(configured, slices=True)
    used_types = {kind: count for kind, count in _types(in_use, slices=False).items() if kind != "untyped" or count}
    names = [kind for kind in {**types, **used_types} if kind != "untyped"]
    found: dict[str, Any] = {
        "rows": len(rows),
        "columns": rows[0].columns,
        "nodes": sum(group.times for group in groups),
        "gpu_nodes": sum(group.times for group in groups if _has_gpus(group.row)),
        "gpus": _sum(configured, slices=False) if with_gres else None,
        "mig_slices": _sum(configured, slices=True) if with_gres else None,
        "gpus_used": _sum(in_use, slices=False) if with_used else None,
        "mig_slices_used": _sum(in_use, slices=True) if with_used else None,
        "gpu_type": names[0] if len(names) == 1 else None,
        "types": types,
        "mig_types": mig,
        "types_used": used_types,
        "shards": _others(configured, "shard"),
        "states": _states(rows, groups),
        "partitions": list(dict.fromkeys(row.partition for row in rows if row.partition)),
        "used_indexes": _indexes(groups),
        "unavailable": _unavailable(groups),
    }
    named = [group for group in groups if len(group.names) == 1][:MAX_SHOWN]
    if named and with_gres:
        found["gpus_by_node"] = {one.names[0]: one.row.gres.gpus for one in named if one.row.gres is not None}
    if named and with_used:
        found["used_by_node"] = {one.names[0]: one.row.used.gpus for one in named if one.row.used is not None}
    return found


def _groups(rows: list[NodeRow]) -> list[_Group]:
    groups: list[_Group] = []
    seen: set[str] = set()
    for row in rows:
        if not row.hosts:
            groups.append(_Group(row, [], 1 if row.nodes is None else row.nodes))
            continue
        try:
            names = expand(row.hosts) if len(seen) < MAX_NODES else [row.hosts]
        except HostListError:
            names = [row.hosts]
        fresh = [name for name in names if name not in seen]
        seen.update(fresh)
        if fresh:
            groups.append(_Group(row, fresh, len(fresh)))
    return groups


def _has_gpus(row: NodeRow) -> bool:
    return any(gres is not None and ((gres.gpus or 0) + (gres.slices or 0)) > 0 for gres in (row.gres, row.used))


def _sum(parts: list[tuple[Gres | None, int]], *, slices: bool) -> int | None:
    total = 0
    for gres, times in parts:
        count = 0 if gres is None else (gres.slices if slices else gres.gpus)
        if count is None:
            return None
        total += count * times
    return total


def _types(parts: list[tuple[Gres | None, int]], *, slices: bool) -> dict[str, int]:
    found: Counter[str] = Counter()
    for gres, times in parts:
        for kind, count in (gres.types(slices=slices) if gres is not None else {}).items():
            found[kind] += count * times
    return dict(found)


def _others(parts: list[tuple[Gres | None, int]], name: str) -> int | None:
    """Sum another GRES such as shard; None when a count of it was cut, or none is there."""
    counts = [
        (entry.count, times)
        for gres, times in parts
        if gres is not None
        for entry in gres.entries
        if entry.name == name
    ]
    if not counts or any(count is None for count, _ in counts):
        return None
    return sum(count * times for count, times in counts if count is not None)


def _states(rows: list[NodeRow], groups: list[_Group]) -> dict[str, int]:
    found: Counter[str] = Counter()
    if all(row.nodes is not None for row in rows):
        for row in rows:
            if row.state:
                found[row.state] += row.nodes or 0
    else:
        for group in groups:
            if group.row.state:
                found[group.row.state] += group.times
    return dict(found)


def _indexes(groups: list[_Group]) -> dict[str, str | None]:
    """Return indices in use by node; by type when the listing is one node with several types."""
    if len(groups) == 1 and groups[0].row.used is not None and len(groups[0].row.used.entries) > 1:
        return {entry.kind: entry.index for entry in groups[0].row.used.entries if entry.index}
    return {
        group.names[0]: group.row.used.index
        for group in groups[:MAX_SHOWN]
        if len(group.names) == 1 and group.row.used is not None and group.row.used.indexed
    }


def _unavailable(groups: list[_Group]) -> list[dict[str, Any]]:
    """Return nodes that take no work, with sinfo's reason where it is listed."""
    return [
        {"nodes": group.row.hosts or group.times, "state": group.row.state, "reason": group.row.cells.get("reason")}
        for group in groups
        if group.row.state.startswith(("down", "drain", "drng", "fail", "inval")) or group.row.state.endswith("*")
    ][:MAX_SHOWN]
