"""What measurements say about the fabric: all-reduce bandwidth and latency (N2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import Any

from fourplane.base.units import format_bytes
from fourplane.base.verdicts import Verdict
from fourplane.catalog.model import Expected
from fourplane.planes.found import GPU_TRANSPORTS, name_list
from fourplane.planes.gates import Bench, judgement
from fourplane.planes.model import Judgement, Plane
from fourplane.records.observation import Observation, State

__all__ = ["CLIFF", "DEFAULT_TOLERANCE", "judge_network"]

_N = Plane.NETWORK
DEFAULT_TOLERANCE = 0.10
"""Shortfall against a published figure that is let pass, as nccl-tests does with NCCL_TESTS_MIN_BW."""
CLIFF = 0.5
"""Bus bandwidth below this share of the size before is a cliff."""
CLIFF_FROM_BYTES = 64 * 1024
"""Below this size latency rules, and the curve is noise."""
STRAGGLER = 0.85
"""A node below this share of the fleet's median is named."""
_TARGET = "run 'fourplane prove' with nccl-tests on nodes of the target shape"


def judge_network(bench: Bench) -> Iterator[Judgement]:
    """Yield the judgements of the network plane."""
    yield _allreduce(bench)
    yield _latency(bench)


def nodes_of(one: Observation) -> int:
    """Return over how many nodes the ranks of a run were spread."""
    nodes = one.conditions.get("nodes", 1)
    if isinstance(nodes, list | tuple):
        return len(set(map(str, nodes)))
    return nodes if isinstance(nodes, int) and not isinstance(nodes, bool) else 1


def on_gpus(bench: Bench, one: Observation) -> bool:
    """Tell whether a run moved GPU memory: by device, by method, or by a transport that only GPUs use."""
    device = str(one.conditions.get("device", "")).casefold()
    if device:
        return device in ("gpu", "cuda", "rocm", "hip")
    method = one.method.casefold()
    return "nccl" in method or "rccl" in method or _transport(bench, one) in GPU_TRANSPORTS


def _transport(bench: Bench, one: Observation) -> str:
    seen = bench.found.value("network.allreduce.transport", one.subject)
    if seen is not None and seen.state is State.MEASURED:
        return str(seen.value).casefold()
    return str(one.conditions.get("transport", "")).casefold()


def _curve(bench: Bench, one: Observation) -> list[tuple[int, float]]:
    seen = bench.found.value("network.allreduce.curve", one.subject)
    rows: list[tuple[int, float]] = []
    for row in seen.value if seen is not None and isinstance(seen.value, list) else ():
        if isinstance(row, dict) and _is_number(row.get("bytes")) and _is_number(row.get("busbw_gbps")):
            rows.append((int(row["bytes"]), float(row["busbw_gbps"])))
    return sorted(rows)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def cliffs(curve: list[tuple[int, float]]) -> list[tuple[int, float, int, float]]:
    """Return (bytes, GB/s, next bytes, next GB/s) wherever bandwidth falls below half of the size before."""
    return [
        (before, high, after, low)
        for (before, high), (after, low) in pairwise(curve)
        if before >= CLIFF_FROM_BYTES and low < CLIFF * high
    ]


def _allreduce(bench: Bench) -> Judgement:
    key, title = "network.allreduce", "all-reduce bandwidth"
    wrong = [one for one in bench.measured("network.allreduce.wrong") if one.number]
    if wrong:
        where = name_list([one.subject.removeprefix("node:") for one in wrong])
        reason = f"{sum(one.number or 0 for one in wrong):,.0f} elements came out wrong on {where}"
        fix = "take the node out, run DCGM diagnostics and the all-reduce again: wrong sums spoil training silently"
        return judgement(key, _N, title, Verdict.FAILED, reason, wrong, fix=fix)
    peaks = [one for one in bench.measured("network.allreduce.busbw_peak") if one.number is not None]
    if not peaks:
        why = bench.why_not("network.allreduce.busbw_peak")
        return judgement(key, _N, title, Verdict.UNPROVEN, why, fix=_TARGET)
    best = max(peaks, key=lambda one: (on_gpus(bench, one), nodes_of(one), one.at))
    peak, transport = best.number or 0.0, _transport(bench, best)
    world = bench.found.value("network.allreduce.world_size", best.subject)
    ranks = int(world.number) if world is not None and world.number else 0
    checked = bench.found.value("network.allreduce.wrong", best.subject)
    evidence = [
        one for one in (best, world, checked, bench.found.value("network.allreduce.curve", best.subject)) if one
    ]
    told = f"{peak:.4g} GB/s over {transport or 'an unknown transport'} with {ranks or 'an unknown number of'} ranks"
    if not on_gpus(bench, best):
        reason = f"measured {told.replace('ranks', 'CPU ranks')}: says nothing about a GPU fabric"
        return judgement(key, _N, title, Verdict.UNPROVEN, reason, evidence, fix=_TARGET)
    wanted = best.conditions.get("ranks")
    if ranks < 2 or (isinstance(wanted, int) and ranks != wanted):
        reason = f"{told}: not one world of {wanted or 'two or more'} ranks"
        return judgement(
            key, _N, title, Verdict.UNPROVEN, reason, evidence, fix="build nccl-tests with MPI and run again"
        )
    if checked is None or checked.number is None:
        reason = f"{told}: results were not checked"
        return judgement(key, _N, title, Verdict.UNPROVEN, reason, evidence, fix="run with the check of results on")
    fallen = cliffs(_curve(bench, best))
    if fallen:
        before, high, after, low = fallen[0]
        reason = f"a cliff: {high:.4g} GB/s at {format_bytes(before)}, {low:.4g} GB/s at {format_bytes(after)}"
        fix = "compare NCCL's algorithm and protocol at both sizes; look for a link that fell back"
        return judgement(key, _N, title, Verdict.FAILED, reason, evidence, fix=fix)
    return _against_gates(bench, best, peaks, told, evidence)


def _against_gates(
    bench: Bench, best: Observation, peaks: list[Observation], told: str, evidence: list[Observation]
) -> Judgement:
    key, title, peak = "network.allreduce", "all-reduce bandwidth", best.number or 0.0
    fleet = _stragglers(peaks)
    target = bench.case.declaration.targets.all_reduce_busbw
    figure, seen, remark = _published(bench, best)
    catalogue = f"; {remark}" if remark else ""
    if target is not None:
        least = target.base / 1e9 * (1 - bench.tolerance)
        passed = peak >= least
        reason = f"{told}; the target is {target}{fleet}{catalogue}"
        place = [bench.case.workspace.cite("targets.all_reduce_busbw")]
        fix = "compare the seen transport, NIC count and placement with the quote; search the slow node in pairs"
        return judgement(key, _N, title, Verdict.PASSED if passed else Verdict.FAILED, reason, evidence, place, fix)
    if figure is None or seen is None:
        fix = "set targets.all_reduce_busbw, or measure at a size and node count for which a figure is published"
        reason = f"{told}; no target is declared, and {remark or 'the catalogue has no figure for this case'}{fleet}"
        return judgement(key, _N, title, Verdict.UNPROVEN, reason, evidence, fix=fix)
    tolerance = bench.tolerance or DEFAULT_TOLERANCE
    passed = seen >= figure.low * (1 - tolerance)
    reason = f"{told}; {remark}, {tolerance:.0%} tolerated{fleet}"
    fix = "compare the seen transport, NIC count and placement with the quote; search the slow node in pairs"
    return judgement(key, _N, title, Verdict.PASSED if passed else Verdict.FAILED, reason, evidence, (), fix)


def _published(bench: Bench, best: Observation) -> tuple[Expected | None, float | None, str]:
    """Return the published figure for what was seen, the measured one at its size, and a remark on both."""
    node = best.subject.removeprefix("node:").split("/", 1)[0]
    if best.subject == "cluster":
        listed = best.conditions.get("nodes")
        node = str(listed[0]) if isinstance(listed, list | tuple) and listed else ""
        node = node or next((n for n in bench.case.observations.nodes() if bench.found.has_gpu(n)), "")
    models = bench.found.devices("compute.gpu.model", node)
    board = bench.case.catalog.gpu(str(models[0].value)) if models else None
    count = bench.found.of_node("compute.gpu.count", node)
    per_node = best.conditions.get("gpus_per_node") or (int(count.number) if count and count.number else 0)
    nodes, transport = nodes_of(best), _transport(bench, best)
    if board is None or not per_node:
        return None, None, "the GPU model is unknown, so no published figure fits"
    case = f"{nodes} × {per_node} {board.title} over {transport or 'an unknown transport'}"
    figures = bench.case.catalog.expected(
        "all_reduce", board.key, gpus_per_node=int(per_node), nodes=nodes, transport=transport
    )
    if not figures:
        return None, None, f"the catalogue has no figure for {case}"
    curve = _curve(bench, best)
    for figure in reversed(figures):
        at_size = [busbw for size, busbw in curve if abs(size - figure.size_bytes) <= 0.1 * figure.size_bytes]
        if at_size:
            size = format_bytes(figure.size_bytes)
            said = (
                f"{figure.shown} are published for {case} at {size} ({figure.source_titles}), {at_size[0]:.4g} measured"
            )
            return figure, at_size[0], said
    sizes = ", ".join(format_bytes(figure.size_bytes) for figure in figures)
    largest = format_bytes(curve[-1][0]) if curve else "none"
    return None, None, f"figures for {case} are published at {sizes}; the largest size measured is {largest}"


def _stragglers(peaks: list[Observation]) -> str:
    alone = [one for one in peaks if one.subject.startswith("node:") and nodes_of(one) == 1]
    if len(alone) < 4:
        return ""
    middle = median(one.number or 0.0 for one in alone)
    slow = [one.subject.removeprefix("node:") for one in alone if (one.number or 0.0) < STRAGGLER * middle]
    return f"; below {STRAGGLER:.0%} of the fleet's median {middle:.4g} GB/s: {name_list(slow)}" if slow else ""


def _latency(bench: Bench) -> Judgement:
    key, title = "network.latency", "small-message latency"
    measured = [one for one in bench.measured("network.allreduce.latency") if one.number is not None]
    if not measured:
        why = bench.why_not("network.allreduce.latency")
        return judgement(key, _N, title, Verdict.UNPROVEN, why, fix=_TARGET)
    best = max(measured, key=lambda one: (on_gpus(bench, one), nodes_of(one), one.at))
    value = best.number or 0.0
    told = f"{value:.4g} µs for 8 bytes over {_transport(bench, best) or 'an unknown transport'}"
    if not on_gpus(bench, best):
        reason = f"measured {told} between CPU ranks: says nothing about a GPU fabric"
        return judgement(key, _N, title, Verdict.UNPROVEN, reason, [best], fix=_TARGET)
    wish = bench.case.declaration.brief.network
    if wish is None or wish.latency is None:
        reason = f"{told}; no bound is declared"
        return judgement(key, _N, title, Verdict.UNPROVEN, reason, [best], fix="declare brief.network.latency")
    most = wish.latency.base * 1e6 * (1 + bench.tolerance)
    verdict = Verdict.PASSED if value <= most else Verdict.FAILED
    place = [bench.case.workspace.cite("brief.network.latency")]
    fix = "look at placement, at the transport that NCCL reports, and at GPUDirect RDMA"
    return judgement(key, _N, title, verdict, f"{told}; the target is {wish.latency}", [best], place, fix)
