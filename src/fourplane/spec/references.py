"""Checks across one file and between files: names that are used twice, refer to nothing, or contradict a count.

Whether the design is a good one is not judged here; that is for the planes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from fourplane.base.codes import similar
from fourplane.base.documents.positions import Positions
from fourplane.base.findings import Finding, Level
from fourplane.base.hostlists import expand, fold
from fourplane.base.text import plural, shorten
from fourplane.spec import codes
from fourplane.spec.compute import Pool, Sharing
from fourplane.spec.declaration import Declaration, Quote
from fourplane.spec.network import FabricKind
from fourplane.spec.problems import plane_of
from fourplane.spec.schema import nearest_value

__all__ = ["check_declaration", "check_quote"]

_INTERCONNECTS = ["nvswitch", "nvlink", "infinity-fabric", "pcie"]
_QUEUEING = ["kueue", "volcano", "kai", "none"]
_GPU_STACKS = ["gpu-operator", "device-plugin", "dra"]
_SCHEDULERS = ["slurm", "kubernetes"]


class _File:
    """One file with its places, and the findings on it."""

    def __init__(self, file: str, positions: Positions) -> None:
        self.file = file
        self.positions = positions
        self.findings: list[Finding] = []

    def add(self, code: codes.Code, path: str, message: str, found: str, expected: str, fix: str = "",
            level: Level = Level.ERROR, of_key: bool = False) -> None:  # fmt: skip
        """Record a finding at the value of ``path``, or at its key."""
        place = self.positions.keys.get(path) if of_key else None
        line, column = place or self.positions.place(path)
        plane = plane_of((path.split(".")[0].split("[")[0],))
        path = self.positions.written(path)
        self.findings.append(
            codes.finding(code, message, level=level, file=self.file, line=line, column=column, path=path,
                          found=shorten(found, 80), expected=shorten(expected, 200), fix=fix, plane=plane)
        )  # fmt: skip

    def unique(self, what: str, names: Iterable[tuple[str, str]]) -> None:
        """Find names that occur twice among (path, name)."""
        first: dict[str, str] = {}
        for path, name in names:
            earlier = first.setdefault(name, path)
            if earlier != path:
                line = self.positions.place(earlier)[0]
                shown = shorten(name, 60)
                message = f"the {what} '{shown}' is named twice; the first is in line {line}"
                self.add(codes.DUPLICATE_NAME, path, message, f"'{shown}' again", f"another name than in line {line}")

    def one_of(self, path: str, value: str | None, choices: list[str], level: Level = Level.ERROR) -> None:
        """Find a value outside the words that rules compare with."""
        if value is None or value in choices:
            return
        near = nearest_value(choices, value)
        shown = shorten(value, 60)
        hint = f"did you mean '{near}'?" if near else ""
        message = f"{path.rsplit('.', 1)[-1]} is not known: {shown}"
        self.add(codes.UNKNOWN_VALUE, path, message, shown, "one of: " + ", ".join(choices), hint, level)

    def refers(self, path: str, name: str, known: Iterable[str], what: str, *, of_key: bool = False) -> None:
        """Find a name that is not among those known."""
        names = list(known)
        if name in names:
            return
        near = similar(name, names, limit=1)
        hint = f"did you mean '{near[0]}'?" if near else ""
        message = f"there is no {what} '{shorten(name, 60)}'"
        expected = ("one of: " + ", ".join(names)) if names else f"a declared {what}"
        self.add(codes.UNKNOWN_REFERENCE, path, message, f"'{name}'", expected, hint, of_key=of_key)


def check_declaration(
    declaration: Declaration, file: str, positions: Positions, pool_names: frozenset[str], today: date
) -> list[Finding]:
    """Return what is wrong between the parts of a declaration.

    Args:
        declaration: as validated.
        file: name by which findings cite it.
        positions: its places.
        pool_names: every name that stands under ``pools``, those of entries that were left out included.
        today: the day against which end dates are held.
    """
    out = _File(file, positions)
    names = sorted({pool.name for pool in declaration.pools} | pool_names)
    out.unique("pool", ((f"pools[{i}].name", pool.name) for i, pool in enumerate(declaration.pools)))
    out.unique("team", ((f"teams[{i}].name", team.name) for i, team in enumerate(declaration.teams)))
    _check_storage_names(out, declaration.storage, "storage")
    borders = enumerate(declaration.network.borders)
    out.unique("border", ((f"network.borders[{i}].name", border.name) for i, border in borders))
    _check_hosts(out, declaration.pools)
    _check_control(out, declaration, names)
    for index, team in enumerate(declaration.teams):
        for pool in team.quotas:
            out.refers(f"teams[{index}].quotas.{pool}", pool, names, "pool", of_key=True)
    _check_words(out, declaration.pools, "pools")
    _check_waivers(out, declaration, today)
    _check_end(out, "prices.valid_until", declaration.prices.valid_until, "the prices end", today)
    return out.findings


def check_quote(
    quote: Quote, file: str, positions: Positions, pool_names: frozenset[str] | None, today: date
) -> list[Finding]:
    """Return what is wrong between the parts of a quote, and between it and the declaration.

    Args:
        quote: as validated.
        file: name by which findings cite it.
        positions: its places.
        pool_names: names of the declaration's pools; None where there is no declaration to hold it against.
        today: the day against which end dates are held.
    """
    out = _File(file, positions)
    out.unique("pool", ((f"pools[{i}].name", pool.name) for i, pool in enumerate(quote.pools)))
    if pool_names is not None:
        for index, pool in enumerate(quote.pools):
            out.refers(f"pools[{index}].name", pool.name, sorted(pool_names), "pool")
    if quote.storage is not None:
        _check_storage_names(out, quote.storage, "storage")
    _check_words(out, quote.pools, "pools")
    if quote.received and quote.valid_until and quote.received > quote.valid_until:
        message = f"the quote ends on {quote.valid_until}, before it was received on {quote.received}"
        expected = f"{quote.received} or later"
        out.add(codes.CONTRADICTION, "valid_until", message, str(quote.valid_until), expected)
    else:
        _check_end(out, "valid_until", quote.valid_until, "the quote ended", today)
    return out.findings


def _check_storage_names(out: _File, storage: Any, prefix: str) -> None:
    kinds = {"outputs": "output", "filesystems": "file system", "object_stores": "object store", "caches": "cache"}
    for key, what in kinds.items():
        entries = enumerate(getattr(storage, key))
        out.unique(what, ((f"{prefix}.{key}[{i}].name", entry.name) for i, entry in entries))


def _check_hosts(out: _File, pools: tuple[Pool, ...]) -> None:
    """Hold counts, host lists and node entries against each other, over all pools."""
    seen: dict[str, str] = {}
    for index, pool in enumerate(pools):
        path = f"pools[{index}]"
        listed = expand(pool.hosts) if pool.hosts else []
        _check_count(out, pool, path, len(listed))
        for host in _first_repeat(listed, seen, f"{path}.hosts"):
            _duplicate_host(out, f"{path}.hosts", host, seen[host])
        in_pool = set(listed)
        in_nodes: dict[str, str] = {}
        for number, entry in enumerate(pool.nodes):
            entry_path = f"{path}.nodes[{number}].name"
            hosts = expand(entry.name)
            for host in _first_repeat(hosts, in_nodes, entry_path):
                _duplicate_host(out, entry_path, host, in_nodes[host])
            if listed:
                strangers = [host for host in hosts if host not in in_pool]
                if strangers:
                    _unknown_host(out, entry_path, strangers, pool)
            else:
                for host in _first_repeat(hosts, seen, entry_path):
                    if in_nodes.get(host) == entry_path:
                        _duplicate_host(out, entry_path, host, seen[host])
        if not listed and pool.count is not None and len(in_nodes) > pool.count:
            message = f"the pool '{pool.name}' has {len(in_nodes):,} node entries, but its count is {pool.count:,}"
            expected = f"at most {plural(pool.count, 'host')}"
            out.add(codes.COUNT_MISMATCH, f"{path}.nodes", message, plural(len(in_nodes), "host"), expected)


def _check_count(out: _File, pool: Pool, path: str, listed: int) -> None:
    if listed and pool.count is not None and pool.count != listed:
        counted, named = plural(pool.count, "node"), plural(listed, "host")
        message = f"the pool '{pool.name}' counts {counted}, but its host list names {named}"
        fix = f"write 'count: {listed}', or correct the host list"
        out.add(codes.COUNT_MISMATCH, f"{path}.count", message, f"{pool.count:,}", f"{listed:,}", fix)


def _first_repeat(hosts: list[str], seen: dict[str, str], path: str) -> Iterator[str]:
    """Enter hosts into ``seen``; yield the first that another place has already."""
    repeated = False
    for host in hosts:
        if seen.setdefault(host, path) != path and not repeated:
            repeated = True
            yield host


def _duplicate_host(out: _File, path: str, host: str, earlier: str) -> None:
    line = out.positions.place(earlier)[0]
    message = f"the host '{host}' is listed twice; the first is in line {line}"
    out.add(codes.DUPLICATE_HOST, path, message, f"'{host}' again", "each host once")


def _unknown_host(out: _File, path: str, strangers: list[str], pool: Pool) -> None:
    shown = shorten(fold(strangers), 60)
    message = f"{shown} is not among the hosts of the pool '{pool.name}'"
    out.add(codes.UNKNOWN_HOST, path, message, shown, f"hosts of {shorten(pool.hosts or '', 60)}")


def _check_control(out: _File, declaration: Declaration, pool_names: list[str]) -> None:
    control = declaration.control
    queues = enumerate(control.queues)
    # a Slurm partition and a Kubernetes queue may share a name: they are told apart by their scheduler
    out.unique("queue", ((f"control.queues[{i}].name", f"{q.scheduler}/{q.name}") for i, q in queues))
    out.unique("runbook", ((f"control.runbooks[{i}].failure", str(r.failure)) for i, r in enumerate(control.runbooks)))
    chosen = [name for name in _SCHEDULERS if getattr(control, name) is not None]
    for index, queue in enumerate(control.queues):
        path = f"control.queues[{index}]"
        if queue.pool is not None:
            out.refers(f"{path}.pool", queue.pool, pool_names, "pool")
        if queue.scheduler in _SCHEDULERS and chosen:
            out.refers(f"{path}.scheduler", queue.scheduler, chosen, "scheduler")
        else:
            out.one_of(f"{path}.scheduler", queue.scheduler, _SCHEDULERS)
    if control.kubernetes is not None:
        out.one_of("control.kubernetes.queueing", control.kubernetes.queueing, _QUEUEING, Level.WARNING)
        out.one_of("control.kubernetes.gpu_stack", control.kubernetes.gpu_stack, _GPU_STACKS, Level.WARNING)


def _check_words(out: _File, pools: Iterable[Any], prefix: str) -> None:
    """Check the free texts whose words rules compare with, and what contradicts within one pool."""
    kinds = [str(kind) for kind in FabricKind if kind is not FabricKind.NONE]
    for index, pool in enumerate(pools):
        shapes = [(f"{prefix}[{index}].shape", pool.shape)]
        shapes += [(f"{prefix}[{index}].nodes[{i}].shape", e.shape) for i, e in enumerate(getattr(pool, "nodes", ()))]
        for path, shape in shapes:
            if shape is None:
                continue
            if shape.gpu is not None:
                out.one_of(f"{path}.gpu.interconnect", shape.gpu.interconnect, _INTERCONNECTS, Level.WARNING)
            for number, nic in enumerate(shape.nics):
                out.one_of(f"{path}.nics[{number}].kind", nic.kind, kinds)
        if isinstance(pool, Pool) and pool.mig_profile is not None and pool.sharing not in (None, Sharing.MIG):
            message = f"the pool '{pool.name}' names a MIG profile, but its GPUs are shared as {pool.sharing}"
            path = f"{prefix}[{index}].mig_profile"
            out.add(codes.CONTRADICTION, path, message, pool.mig_profile, "sharing: mig, or no MIG profile")


def _check_waivers(out: _File, declaration: Declaration, today: date) -> None:
    waivers = declaration.waivers
    out.unique("waiver of", ((f"waivers[{i}].condition", w.condition) for i, w in enumerate(waivers)))
    for index, waiver in enumerate(waivers):
        _check_end(out, f"waivers[{index}].until", waiver.until, f"the waiver of {waiver.condition} ended", today)


def _check_end(out: _File, path: str, end: date | None, what: str, today: date) -> None:
    if end is not None and end < today:
        out.add(codes.EXPIRED, path, f"{what} on {end}", str(end), f"{today} or later", level=Level.WARNING)
