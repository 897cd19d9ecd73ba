"""Acceptance tests with their thresholds: from targets, from derived needs, from published figures with source (B5).

A published figure stands beside a threshold as a reference. It becomes the threshold only for the all-reduce, where no
target is declared and the figure is for exactly this GPU, node count and transport: so are measurements judged too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fourplane.base.text import plural
from fourplane.base.units import format_bytes
from fourplane.catalog.model import Expected, Fact
from fourplane.planes.gates import Bench, Gate
from fourplane.planes.network.judgements import DEFAULT_TOLERANCE
from fourplane.planes.procurement.pools import AskedPool
from fourplane.planes.storage.judgements import restore_gates, staging_gates, weights_gates, write_gates
from fourplane.spec.network import FabricKind

__all__ = ["TESTS", "AcceptanceTest", "Threshold", "thresholds_of"]

_TRANSPORTS = {
    FabricKind.INFINIBAND: ("ib",),
    FabricKind.ROCE: ("roce",),
    FabricKind.EFA: ("efa",),
    FabricKind.ETHERNET: ("socket", "tcpxo"),
}
_INSIDE = ("nvlink", "nvls", "xgmi")
_MOST_FIGURES = 4


@dataclass(frozen=True, slots=True)
class AcceptanceTest:
    """One test: how an answer of the provider is accepted."""

    key: str
    group: str
    title: str
    how: str


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a test must show.

    Attributes:
        text: the bound, or the published figure.
        basis: where it comes from: target, derived need, or source with date.
        place: file:line:column of the declaration, or the address of the source; "" for a bound that needs neither.
        reference: a figure to compare with, which decides nothing.
    """

    text: str
    basis: str
    place: str = ""
    reference: bool = False


def _parse() -> dict[str, AcceptanceTest]:
    out = {}
    for line in (Path(__file__).parent / "tests.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            key, group, title, how = (cell.strip() for cell in line.split(" | "))
            out[key] = AcceptanceTest(key, group, title, how)
    return out


TESTS = _parse()
"""Every test by key, in the order of the request."""


def thresholds_of(key: str, bench: Bench, pools: list[AskedPool]) -> tuple[Threshold, ...]:
    """Return what a test must show for the declared cluster.

    Args:
        key: of ``TESTS``.
        bench: the case without quotes: what a provider promises is not what is asked of it.
        pools: the pools that are asked for.
    """
    derive = _DERIVED.get(key)
    found = tuple(derive(bench, pools)) if derive else ()
    if key in _FIXED:
        return (Threshold(_FIXED[key], ""), *found)
    return found or (Threshold("no bound is declared: agree on one before the test", _OPEN.get(key, "")),)


_FIXED = {
    "inventory": "every node as promised; a node that was not looked at counts as not delivered",
    "homogeneity": "no node differs from the others in a promised fact",
    "topology": "links between GPUs, and the NIC nearest to each, are those promised, on every node",
    "lifecycle": "the promised versions on every node",
    "rollback": "the inventory after is the inventory before",
    "transport": "no traffic between GPUs over sockets; GPUDirect in use on every NIC that promises it",
    "allreduce": "one world of all ranks, no wrong element, no cliff in the curve",
    "in_image": "within the same bounds as on the host",
    "culprit": "no node below 85 % of the fleet's median",
    "counters": "we can read them, and none rises beyond what the fabric's vendor allows",
    "checkpoint_restore": "every hash is right",
    "recovery": "the last good checkpoint is restorable",
    "snapshot_restore": "every file is there and equal",
    "backup_restore": "every file is there and equal",
    "scratch_clean": "nothing of the job is left, three times",
    "access": "in with a valid account, out with a withdrawn one, both in the log",
    "isolation": "every attempt is denied",
    "images": "both starts are refused",
    "egress": "the first is answered, the second refused and logged",
    "wipe": "the pattern is nowhere; the certificate names the serial numbers",
    "audit": "both are there, with who, when and from where",
}
_OPEN = {
    "nvme": "declare pools[].shape.nvme.read and write",
    "staging": "declare storage.staging.deadline with dataset_size, or throughput",
    "weights": "declare storage.weights.size with load_time",
    "checkpoint_write": "declare storage.checkpoints.tolerated_stall with size, or write_throughput",
    "replacement": "declare pools[].replacement.time",
    "power": "declare pools[].shape.power",
    "gds": "declare storage.gds with the figure behind the choice",
    "gpu_rates": "the catalogue has no figure for this GPU",
}


def _rate(base: float) -> str:
    return f"{base / 1e9:.3g} GB/s" if base >= 1e9 else f"{base / 1e6:.3g} MB/s"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _allowed(bench: Bench) -> str:
    return f", {_percent(bench.tolerance)} tolerated" if bench.tolerance else ""


def _hardest(gates: Callable[[Bench], list[Gate]]) -> Callable[[Bench, list[AskedPool]], Iterator[Threshold]]:
    """Return what derives a threshold from the hardest of some gates, as the judgement of the same figure does."""

    def derive(bench: Bench, _pools: list[AskedPool]) -> Iterator[Threshold]:
        found = gates(bench)
        if found:
            gate = max(found, key=lambda one: one.least)
            yield Threshold(
                f"at least {_rate(gate.least * (1 - bench.tolerance))}", gate.said + _allowed(bench), gate.place
            )

    return derive


def _inventory(_bench: Bench, pools: list[AskedPool]) -> Iterator[Threshold]:
    for pool in pools:
        if pool.facts:
            yield Threshold(f"pool {pool.name}: {pool.facts}", pool.basis, pool.place)


def _allreduce(bench: Bench, pools: list[AskedPool]) -> Iterator[Threshold]:
    target = bench.case.declaration.targets.all_reduce_busbw
    cite = bench.case.workspace.cite
    if target is not None:
        least = target.base * (1 - bench.tolerance)
        basis = f"targets.all_reduce_busbw of {target}{_allowed(bench)}"
        yield Threshold(
            f"at least {_rate(least)} of bus bandwidth at the peak", basis, cite("targets.all_reduce_busbw")
        )
    wish = bench.case.declaration.brief.network
    if wish is not None and wish.latency is not None:
        basis = f"brief.network.latency of {wish.latency}{_allowed(bench)}"
        most = wish.latency.base * 1e6 * (1 + bench.tolerance)
        yield Threshold(f"at most {most:.3g} µs for 8 bytes", basis, cite("brief.network.latency"))
    for pool in pools:
        exact, others = _figures(bench, pool)
        if target is None:
            for figure in exact:
                least = figure.low * (1 - (bench.tolerance or DEFAULT_TOLERANCE))
                tolerated = _percent(bench.tolerance or DEFAULT_TOLERANCE)
                text = f"at least {least:.4g} GB/s at {format_bytes(figure.size_bytes)}"
                yield Threshold(text, f"published {_case(figure)}, {tolerated} tolerated; {_source(figure)}", "")
        yield from (_reference(figure) for figure in ([] if target is None else exact))
        yield from (_reference(figure) for figure in others)


def _figures(bench: Bench, pool: AskedPool) -> tuple[list[Expected], list[Expected]]:
    """Return the published all-reduce figures for exactly what is asked, and those nearest to it."""
    if pool.board is None or not pool.gpus:
        return [], []
    fabric = bench.case.declaration.network.fabric
    kind = fabric.kind if fabric else None
    nodes = min(pool.nodes or 1, max(1, bench.design.job_nodes))
    between = _TRANSPORTS.get(kind, ()) if kind is not None else ("ib", "roce", "efa")
    fitting = [
        one
        for one in bench.case.catalog.expected_figures
        if one.op == "all_reduce" and one.decides and one.gpu == pool.board.key and one.gpus_per_node == pool.gpus
        if set(one.transport) & set(_INSIDE if one.nodes == 1 else between)
    ]
    exact = [one for one in fitting if one.nodes == nodes and (nodes == 1 or kind is not None)]
    best = _largest(one for one in fitting if one not in exact)
    return _largest(exact), sorted(best, key=lambda one: (one.nodes != 1, abs(one.nodes - nodes)))[:_MOST_FIGURES]


def _largest(figures: Iterable[Expected]) -> list[Expected]:
    """Return the figure at the largest message for each node count."""
    largest: dict[int, Expected] = {}
    for one in figures:
        if one.nodes not in largest or one.size_bytes > largest[one.nodes].size_bytes:
            largest[one.nodes] = one
    return list(largest.values())


def _case(figure: Expected) -> str:
    note = f" ({figure.note})" if figure.note else ""
    over = "/".join(figure.transport)
    size = format_bytes(figure.size_bytes)
    return f"{figure.shown} on {figure.nodes} × {figure.gpus_per_node} GPUs over {over} at {size}{note}"


def _source(one: Expected | Fact) -> str:
    return f"{'; '.join(source.title for source in one.sources)}, {one.date}"


def _reference(figure: Expected) -> Threshold:
    return Threshold(_case(figure), _source(figure), figure.sources[0].link, reference=True)


_RATES = {
    "pcie_h2d": "host to GPU", "pcie_d2h": "GPU to host", "d2d_read": "GPU to GPU, read", "nvlink_pair": "pair of GPUs",
    "hbm_triad": "triad over GPU memory", "nvme_read": "sequential read", "nvme_write": "sequential write",
}  # fmt: skip


def _published(bench: Bench, pool: AskedPool, names: Iterable[str]) -> Iterator[Threshold]:
    node = bench.design.published_nodes.get(pool.board.key) if pool.board else None
    for name in names:
        fact = node.fact(name) if node else None
        if fact is not None and node is not None:
            kind = fact.conditions.get("kind", "")
            text = f"{_RATES[name]}: {fact.shown} on a {node.title}" + (f", {kind}" if kind else "")
            yield Threshold(text, _source(fact), fact.sources[0].link, reference=True)


def _gpu_rates(bench: Bench, pools: list[AskedPool]) -> Iterator[Threshold]:
    for pool in pools:
        found = list(_published(bench, pool, ("pcie_h2d", "pcie_d2h", "d2d_read", "nvlink_pair", "hbm_triad")))
        if found:
            yield Threshold("agree on a share of the published rates before the test, such as 90 %", "")
            yield from found


def _nvme(bench: Bench, pools: list[AskedPool]) -> Iterator[Threshold]:
    for pool in pools:
        nvme = pool.shape.nvme
        for way in ("read", "write"):
            rate = getattr(nvme, way) if nvme else None
            if rate is not None:
                text = f"pool {pool.name}: {way} at least {_rate(rate.base * (1 - bench.tolerance))} in sum"
                place = bench.case.workspace.cite(f"{pool.path}.shape.nvme.{way}")
                yield Threshold(text, f"{rate} as declared{_allowed(bench)}", place)
        if nvme is not None and nvme.total is not None and nvme.total.amount:
            yield from _published(bench, pool, ("nvme_read", "nvme_write"))


def _power(bench: Bench, pools: list[AskedPool]) -> Iterator[Threshold]:
    for pool in pools:
        if pool.shape.power is not None:
            place = bench.case.workspace.cite(f"{pool.path}.shape.power")
            text = f"pool {pool.name}: no power or thermal throttling below {pool.shape.power}"
            yield Threshold(text, "as declared", place)


def _replacement(bench: Bench, pools: list[AskedPool]) -> Iterator[Threshold]:
    for pool in pools:
        terms = pool.declared.replacement if pool.declared else None
        if terms is not None and terms.time is not None:
            like = ", like for like" if terms.like_for_like else ""
            place = bench.case.workspace.cite(f"{pool.path}.replacement.time")
            yield Threshold(f"pool {pool.name}: at most {terms.time}{like}", "as declared", place)


def _recovery(bench: Bench, _pools: list[AskedPool]) -> Iterator[Threshold]:
    declaration, cite = bench.case.declaration, bench.case.workspace.cite
    wish = declaration.brief.storage
    said = [("targets.recovery_time", declaration.targets.recovery_time)]
    said.append(("brief.storage.recovery_time", wish.recovery_time if wish else None))
    given = [(path, time) for path, time in said if time is not None]
    if given:
        path, time = min(given, key=lambda pair: pair[1].amount)
        yield Threshold(f"at most {time}, from the lost node to the next step", f"{path} as declared", cite(path))


def _gds(bench: Bench, _pools: list[AskedPool]) -> Iterator[Threshold]:
    decision = bench.case.declaration.storage.gds
    if decision is not None and decision.figure is not None:
        place = bench.case.workspace.cite("storage.gds.figure")
        least = _rate(decision.figure.base * (1 - bench.tolerance))
        yield Threshold(
            f"at least {least} on the path that was chosen ({decision.choice})", f"{decision.figure} as declared", place
        )


def _world(_bench: Bench, pools: list[AskedPool]) -> Iterator[Threshold]:
    ranks = sum(pool.nodes * pool.gpus for pool in pools)
    if ranks:
        yield Threshold(f"{plural(ranks, 'rank')}, one for each GPU", "nodes times GPUs as declared")


_DERIVED: dict[str, Callable[[Bench, list[AskedPool]], Iterable[Threshold]]] = {
    "inventory": _inventory,
    "gpu_rates": _gpu_rates,
    "nvme": _nvme,
    "power": _power,
    "replacement": _replacement,
    "allreduce": lambda bench, pools: (*_world(bench, pools), *_allreduce(bench, pools)),
    "staging": _hardest(staging_gates),
    "weights": _hardest(weights_gates),
    "checkpoint_write": _hardest(write_gates),
    "checkpoint_restore": _hardest(restore_gates),
    "recovery": _recovery,
    "gds": _gds,
}
