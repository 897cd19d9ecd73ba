"""Figures drawn out of the evidence: bandwidth curves, storage against its need, and the few that come first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourplane.base.units import Quantity
from fourplane.planes.design import Design
from fourplane.planes.found import Found
from fourplane.planes.gates import Bench
from fourplane.planes.model import Case, Judgement
from fourplane.planes.network.judgements import on_gpus
from fourplane.records.observation import Observation, State
from fourplane.report.values import amount, observation_text
from fourplane.spec.brief import StorageSensitivity
from fourplane.spec.storage import Checkpoints, Staging, Weights

__all__ = ["Band", "Curve", "KeyFigure", "Point", "StorageFigure", "curves", "key_figures", "storage_figures"]


@dataclass(frozen=True, slots=True)
class Point:
    """One message size of an all-reduce: bytes, microseconds, GB/s (10^9), wrong elements."""

    size: int
    time_us: float
    algbw: float
    busbw: float
    iterations: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Band:
    """What a curve is held against.

    Attributes:
        label: who expects it, such as ``declared target``.
        low: bus bandwidth in GB/s.
        high: upper end in GB/s; None where more is simply better.
        source: where it is written.
        size: bytes of the message for which alone it holds; 0 where it holds for the peak.
    """

    label: str
    low: float
    high: float | None
    source: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Curve:
    """One measured bandwidth curve; ``bands`` are the expectations on file for it."""

    observation: Observation
    points: tuple[Point, ...]
    transport: str
    world_size: str
    bands: tuple[Band, ...]
    judgement: Judgement | None

    @property
    def peak(self) -> Point:
        """Return the point of the largest bus bandwidth."""
        return max(self.points, key=lambda p: p.busbw)


@dataclass(frozen=True, slots=True)
class StorageFigure:
    """One storage figure beside its derived need.

    Attributes:
        flow: staging, weights, checkpoint or I/O.
        title: what was measured.
        observation: the measurement, or the attempt that broke.
        need: amount in the observation's unit, None where nothing declared asks for one.
        need_reason: how the need follows from the declaration, or what would have to be declared.
        judgement: the judgement that cites the measurement.
    """

    flow: str
    title: str
    observation: Observation
    need: float | None
    need_reason: str
    judgement: Judgement | None


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One figure for the top of the report."""

    label: str
    value: str
    note: str
    observation: Observation


def curves(case: Case, judgements: Sequence[Judgement], bands: Sequence[Band]) -> tuple[Curve, ...]:
    """Return the newest readable curve of each (subject, method); the whole cluster's first."""
    bench = Bench(case, Found(case), Design(case.workspace, case.catalog, case.now.date()))
    newest: dict[tuple[str, str], Observation] = {}
    for one in case.observations:
        if one.metric == "network.allreduce.curve" and one.state is State.MEASURED:
            newest[one.subject, one.method] = one
    found = []
    for one in newest.values():
        points = _points(one.value)
        if points:
            transport = case.observations.latest("network.allreduce.transport", one.subject)
            world = case.observations.latest("network.allreduce.world_size", one.subject)
            found.append(
                Curve(
                    one,
                    points,
                    observation_text(transport) if transport else "",
                    observation_text(world) if world else "",
                    (*bands, *_published(bench, one, transport)),
                    _judgement_on(one, judgements, "network.allreduce"),
                )
            )
    return tuple(
        sorted(found, key=lambda c: (c.observation.subject != "cluster", c.observation.subject, c.observation.method))
    )


def _published(bench: Bench, curve: Observation, transport: Observation | None) -> Iterable[Band]:
    """Yield figures that the catalogue holds for exactly this GPU, node count, transport and message size.

    They were measured between GPUs, so a curve of CPU ranks is never held against them.
    """
    if transport is None or not on_gpus(bench, curve):
        return
    listed = curve.conditions.get("nodes")
    named = [str(name) for name in listed] if isinstance(listed, list) else []
    names = named or (
        [curve.subject.removeprefix("node:")] if curve.subject != "cluster" else bench.case.observations.nodes()
    )
    models = [[str(one.value) for one in bench.found.devices("compute.gpu.model", name)] for name in names]
    sizes, kinds = {len(of_node) for of_node in models}, {model for of_node in models for model in of_node}
    board = bench.case.catalog.gpu(kinds.pop()) if len(kinds) == 1 and len(sizes) == 1 else None
    if board is None:
        return
    for figure in bench.case.catalog.expected(
        "all_reduce", board.key, gpus_per_node=sizes.pop(), nodes=len(names), transport=str(transport.value)
    ):
        yield Band("published", figure.low, figure.high, f"{figure.source_titles}, {figure.date}", figure.size_bytes)


def _points(value: object) -> tuple[Point, ...]:
    """Read a curve without trust: what isn't a positive finite number is left out."""
    out = {}
    for row in value if isinstance(value, list) else []:
        if not isinstance(row, dict):
            continue
        size, time_us, busbw = (_positive(row.get(k)) for k in ("bytes", "time_us", "busbw_gbps"))
        if size and time_us and busbw:
            algbw = _positive(row.get("algbw_gbps")) or 0.0
            counts = [int(_positive(row.get(k)) or 0) for k in ("iterations", "wrong")]
            out[int(size)] = Point(int(size), time_us, algbw, busbw, counts[0], counts[1])
    return tuple(out[size] for size in sorted(out))


def _positive(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 < value < 1e18 else None


_STORAGE = (
    ("staging", "Dataset staging", "storage.staging.throughput"),
    ("staging", "Staging, files", "storage.staging.file_rate"),
    ("weights", "Weights, cold", "storage.weights.cold_throughput"),
    ("weights", "Weights, warm", "storage.weights.warm_throughput"),
    ("checkpoint", "Checkpoint write", "storage.checkpoint.write_throughput"),
    ("checkpoint", "Checkpoint stall", "storage.checkpoint.stall"),
    ("checkpoint", "Checkpoint restore", "storage.checkpoint.restore_throughput"),
    ("checkpoint", "Recovery after a kill", "storage.checkpoint.recovery"),
    ("I/O", "Sequential write", "storage.io.sequential_write"),
    ("I/O", "Sequential read", "storage.io.sequential_read"),
    ("I/O", "Random read, 4 KiB", "storage.io.random_read"),
    ("I/O", "Random read, p99", "storage.io.random_read_p99"),
    ("I/O", "Random write, 4 KiB", "storage.io.random_write"),
)


def storage_figures(case: Case, judgements: Sequence[Judgement]) -> tuple[StorageFigure, ...]:
    """Return storage figures by flow, each subject on its own, with the need that the declaration implies."""
    needs = _needs(case)
    return tuple(
        StorageFigure(flow, title, one, *needs.get(metric, (None, "")), _judgement_on(one, judgements))
        for flow, title, metric in _STORAGE
        for one in case.observations.every(metric)
    )


def _needs(case: Case) -> dict[str, tuple[float | None, str]]:
    """Return needed MB/s by metric: size divided by the time that the declaration tolerates (S2)."""
    storage, brief = case.declaration.storage, case.declaration.brief.storage or StorageSensitivity()
    staging, weights, saves = storage.staging or Staging(), storage.weights or Weights(), storage.checkpoints
    saves = saves or Checkpoints()
    dataset, model = staging.dataset_size or brief.dataset_size, weights.size or brief.weights_size
    design = Design(case.workspace, case.catalog, case.now.date())
    checkpoint, nodes = design.checkpoint_size, design.job_nodes
    whole = f", for all {nodes:,} nodes of a job" if nodes > 1 else ""
    shard = (checkpoint.value, checkpoint.origin) if checkpoint else None
    return {
        "storage.staging.throughput": _rate("dataset", _size(dataset), "staging deadline", staging.deadline),
        "storage.weights.cold_throughput": _rate("weights", _size(model), "load time", weights.load_time),
        "storage.checkpoint.write_throughput": _rate(
            "checkpoint", shard, "tolerated stall", saves.tolerated_stall, whole
        ),
        "storage.checkpoint.restore_throughput": _rate("checkpoint", shard, "restore time", saves.restore_time, whole),
    }


def _size(size: Quantity | None) -> tuple[float, str] | None:
    return (size.base, str(size)) if size else None


def _rate(
    what: str, size: tuple[float, str] | None, within: str, time: Quantity | None, whole: str = ""
) -> tuple[float | None, str]:
    """Return MB/s and how they follow; None and what is missing where they don't."""
    missing = [name for name, value in ((f"{what} size", size), (within, time)) if not value]
    if size is None or time is None or time.amount == 0:
        return None, f"not declared: {' and '.join(missing) or within}"
    return size[0] / time.base / 1e6, f"{what} of {size[1]} within a {within} of {time}{whole}"


def _judgement_on(one: Observation, judgements: Sequence[Judgement], key: str = "") -> Judgement | None:
    """Return the judgement of that id, else the first that cites the observation."""
    named = [j for j in judgements if j.id == key]
    return next(iter(named or [j for j in judgements if one.reference in j.evidence]), None)


_KEY = (
    ("All-reduce bus bandwidth", "network.allreduce.busbw_peak"),
    ("All-reduce of 8 bytes", "network.allreduce.latency"),
    ("Checkpoint write", "storage.checkpoint.write_throughput"),
    ("Checkpoint stall", "storage.checkpoint.stall"),
    ("Recovery after a kill", "storage.checkpoint.recovery"),
    ("Dataset staging", "storage.staging.throughput"),
    ("Weights, cold", "storage.weights.cold_throughput"),
    ("Weights, warm", "storage.weights.warm_throughput"),
)

_LOWER_IS_BETTER = {"us", "s"}


def key_figures(case: Case) -> tuple[KeyFigure, ...]:
    """Return the few figures for the top of the report; over several subjects the worst, with its name."""
    out = []
    for label, metric in _KEY:
        measured = [(n, one) for one in case.observations.every(metric) if (n := one.number) is not None]
        if not measured:
            continue
        pick = max if measured[0][1].unit in _LOWER_IS_BETTER else min
        value, one = pick(measured, key=lambda pair: pair[0])
        note = one.subject if len(measured) == 1 else f"worst of {len(measured):,}: {one.subject}"
        out.append(KeyFigure(label, amount(value, one.unit), note, one))
    return tuple(out)
