"""Rules on what is kept, where and for how long: checkpoints, weights, outputs, backup (S1 to S5)."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from fourplane.base.findings import Level
from fourplane.base.text import plural
from fourplane.base.units import Quantity, format_bytes, format_seconds
from fourplane.planes.design import PRECISION_BYTES, Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.planes.storage import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.spec.brief import WhyCluster, WorkloadType

__all__ = ["checkpoint_cost"]

_SERVING = (WorkloadType.ONLINE_INFERENCE, WorkloadType.BATCH_INFERENCE)
_LOCAL = ("local", "nvme", "ephemeral", "tmpfs", "scratch")
COSTLY = 0.05
"""Share of the time above the best interval's that is worth a word."""


@rule("training-without-checkpoints", Plane.STORAGE, Level.ERROR)
def training_without_checkpoints(design: Design) -> Iterator[Problem]:
    """Training on GPU pools, and neither an interval nor a place of checkpoints."""
    if design.trains and design.gpu_pools and design.declaration.storage.checkpoints is None:
        message = f"{design.brief.workload} on {plural(design.job_nodes, 'node')}, and no checkpoints are declared"
        level = Level.ERROR if design.job_nodes > 1 else Level.WARNING
        yield Problem("storage", message, "no checkpoints", "storage.checkpoints with interval and place", level)


@rule("checkpoint-on-local-disk", Plane.STORAGE)
def checkpoint_on_local_disk(design: Design) -> Iterator[Problem]:
    """Checkpoints whose only place dies with the node."""
    storage = design.declaration.storage
    place = storage.checkpoints.place if storage.checkpoints else None
    if not place or not design.gpu_pools:
        return
    kinds = {name: (fs.kind or "") for fs in storage.filesystems for name in (fs.name, fs.mount) if name}
    kind = kinds.get(place, "").casefold()
    if place == storage.scratch or any(word in kind for word in _LOCAL):
        message = f"checkpoints lie in {place}, which is {kind or 'scratch'}: a lost node takes them along"
        yield Problem("storage.checkpoints.place", message, place, "a place that outlives the node")


def checkpoint_cost(interval_s: float, stall_s: float, failures_per_s: float) -> float:
    """Return the share of time that checkpoints and lost work take, to first order (Young 1974).

    Args:
        interval_s: time between two checkpoints.
        stall_s: time that training stands still for one.
        failures_per_s: rate at which the job is interrupted.
    """
    return stall_s / interval_s + failures_per_s * interval_s / 2


@rule("checkpoint-interval-costly", Plane.STORAGE)
def checkpoint_interval_costly(design: Design) -> Iterator[Problem]:
    """Interval against the best one for the job's size, by published failure rates."""
    checkpoints, wish = design.declaration.storage.checkpoints, design.brief.storage
    interval = (checkpoints.interval if checkpoints else None) or (wish.checkpoint_interval if wish else None)
    size, rate = design.checkpoint_size, design.checkpoint_write
    fact = design.catalog.fact("llama3-training", "failures_per_1000_node_days")
    if not (design.trains and interval and interval.base and size and rate and rate.value and fact):
        return
    stall = size.value / rate.value
    if checkpoints and checkpoints.tolerated_stall:
        # an asynchronous writer declares the stall that is left
        stall = min(stall, checkpoints.tolerated_stall.base)
    failures = fact.low / 1000 / 86_400 * design.job_nodes
    if not stall or not failures:
        return
    best = sqrt(2 * stall / failures)
    cost, least = checkpoint_cost(interval.base, stall, failures), checkpoint_cost(best, stall, failures)
    if cost > least + COSTLY:
        message = (
            f"checkpoints every {interval} with a stall of {format_seconds(stall)} cost {cost:.0%} of the time on "
            f"{plural(design.job_nodes, 'node')}; every {format_seconds(best)} cost {least:.0%} "
            f"(failures as in {fact.sources[0].title})"
        )
        path = "storage.checkpoints.interval" if checkpoints and checkpoints.interval else "brief.storage"
        yield Problem(path, message, str(interval), f"about {format_seconds(best)}")


@rule("weights-size-implausible", Plane.STORAGE)
def weights_size_implausible(design: Design) -> Iterator[Problem]:
    """Declared size of the weights against parameters × bytes of the precision."""
    storage, wish = design.declaration.storage, design.brief.storage
    sizes: list[tuple[str, Quantity | None]] = [
        ("storage.weights.size", storage.weights.size if storage.weights else None),
        ("brief.storage.weights_size", wish.weights_size if wish else None),
    ]
    need = design.parameters * PRECISION_BYTES.get(design.precision, 0.0)
    stated = next(((path, size) for path, size in sizes if size), None)
    if need and stated and stated[1] and stated[1].base < 0.5 * need:
        path, size = stated
        params = f"{design.parameters / 1e9:g} billion parameters in {design.precision}"
        message = f"weights of {size}; {params} are {format_bytes(need)}"
        yield Problem(path, message, str(size), f"about {format_bytes(need)}")


@rule("weights-cache-incomplete", Plane.STORAGE)
def weights_cache_incomplete(design: Design) -> Iterator[Problem]:
    """A weight cache for serving that leaves out tokenizer or engine artefacts."""
    weights = design.declaration.storage.weights
    if not weights or not weights.covers or design.brief.workload not in _SERVING:
        return
    told = " ".join(weights.covers).casefold()
    missing = [name for name, words in _CACHED.items() if not any(word in told for word in words)]
    if missing:
        message = f"the weight cache covers {', '.join(weights.covers)}, and not {', '.join(missing)}"
        yield Problem("storage.weights.covers", message, ", ".join(weights.covers), f"also {', '.join(missing)}")


_CACHED = {"tokenizer": ("tokenizer", "tokeniser"), "engine artefacts": ("engine", "compiled", "graph")}


@rule("output-incomplete", Plane.STORAGE)
def output_incomplete(design: Design) -> Iterator[Problem]:
    """Outputs without place, retention or owner."""
    for index, output in enumerate(design.declaration.storage.outputs):
        parts = {"place": output.place, "retention": output.retention, "owner": output.owner}
        missing = [name for name, value in parts.items() if not value]
        if missing:
            message = f"output {output.name} has no {', no '.join(missing)}"
            yield Problem(f"storage.outputs[{index}]", message, f"no {', no '.join(missing)}", ", ".join(parts))


@rule("backup-undefined", Plane.STORAGE)
def backup_undefined(design: Design) -> Iterator[Problem]:
    """Own weights, or training that makes some, without a backup."""
    own = design.trains or WhyCluster.OWN_WEIGHTS in design.brief.why_cluster
    if own and design.gpu_pools and design.declaration.storage.backup is None:
        message = "weights are made or owned here, and no backup is declared"
        yield Problem("storage", message, "no backup", "storage.backup with place, interval and owner")


@rule("object-store-region-differs", Plane.STORAGE)
def object_store_region_differs(design: Design) -> Iterator[Problem]:
    """Region that the brief asks for against the regions of the object stores."""
    wish = design.brief.storage
    region = wish.object_store_region if wish else None
    stores = [(i, s) for i, s in enumerate(design.declaration.storage.object_stores) if s.region]
    if region and stores and not any(s.region and s.region.casefold() == region.casefold() for _, s in stores):
        index, store = stores[0]
        message = f"the brief asks for an object store in {region}; {store.name} lies in {store.region}"
        yield Problem(f"storage.object_stores[{index}].region", message, str(store.region), region)
