"""Facts of the nodes of a pool: where each is stated, what was measured, how the two are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fourplane.catalog.facts import Catalog
from fourplane.planes.comparators import (
    MEMORY_TOLERANCE,
    NVME_TOLERANCE,
    Answer,
    Comparator,
    at_least,
    contains,
    exact,
    model_alias,
    runtime_version,
    version_at_least,
    version_prefix,
    within,
)
from fourplane.planes.found import Found
from fourplane.planes.model import Plane
from fourplane.planes.nic_speeds import answers_speeds, found_speeds, stated_speeds
from fourplane.records.observation import Observation, State

__all__ = ["ON_TARGET", "POOL_FACTS", "PoolFact", "read_fact"]


@dataclass(frozen=True)
class PoolFact:
    """A fact of the nodes of a pool.

    Attributes:
        plane: plane of the fact.
        name: dotted name in the specification's words.
        path: where it stands below the pool, and below the quoted pool.
        metric: what was measured.
        compare: how two statements are held against each other.
        about_gpu: nothing about it passes on a stand-in.
        read: what one node has, where it isn't simply the metric of the node.
        state: how a statement is read, where it isn't simply the value at ``path``.
        prove: what would prove it.
    """

    plane: Plane
    name: str
    path: str
    metric: str
    compare: Comparator
    about_gpu: bool = False
    read: Callable[[Found, str], tuple[Any, Observation | None]] | None = None
    state: Callable[[Any], Any] | None = None
    prove: str = "run 'fourplane prove' on the nodes of the pool"


class Kinds(str):
    """Several kinds among the devices of one node, as one text; ``parts`` keeps them apart."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]


def _one_value(values: list[Any]) -> Any:
    """Return the least of numbers, the text that all share, or the kinds with their counts."""
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return min(values)
    counts = Counter(str(value) for value in values)
    if len(counts) == 1:
        return next(iter(counts))
    kinds = Kinds(", ".join(f"{count} × {kind}" for kind, count in counts.items()))
    kinds.parts = tuple(counts)
    return kinds


def _values(found: Found, metric: str, node: str) -> tuple[list[Any], Observation | None]:
    """Return a value for each device of a node; else the node's own list."""
    devices, on_node = found.devices(metric, node), found.of_node(metric, node)
    if devices:
        return [one.value for one in devices], devices[0]
    if on_node is None or on_node.state is not State.MEASURED:
        return [], on_node
    return (on_node.value if isinstance(on_node.value, list) else [on_node.value]), on_node


def _devices(metric: str) -> Callable[[Found, str], tuple[Any, Observation | None]]:
    """Return a reader of one value for all devices of a node."""

    def read(found: Found, node: str) -> tuple[Any, Observation | None]:
        values, observation = _values(found, metric, node)
        return (_one_value(values) if values else None), observation

    return read


def _form_factor(found: Found, node: str) -> tuple[Any, Observation | None]:
    models, observation = _values(found, "compute.gpu.model", node)
    boards = [found.case.catalog.gpu(str(model)) for model in models]
    factors = [board.form_factor for board in boards if board is not None]
    return (_one_value(factors) if factors and len(factors) == len(boards) else None), observation


def _each(compare: Comparator) -> Comparator:
    """Return a comparator that holds a statement against every kind of device of the node."""

    def compare_each(want: Any, have: Any, catalog: Catalog) -> Answer:
        answers = [compare(want, part, catalog) for part in (have.parts if isinstance(have, Kinds) else (have,))]
        return next((a for a in answers if a[0] is False), next((a for a in answers if a[0] is None), answers[0]))

    return compare_each


def _nic_count(nics: Any) -> int | None:
    counts = [nic.count for nic in nics or () if nic.count is not None]
    return sum(counts) if counts else None


ON_TARGET = "run 'fourplane prove' on a node of the target shape"
"""What proves a fact about GPUs."""
_C, _N = Plane.COMPUTE, Plane.NETWORK

POOL_FACTS = (
    PoolFact(
        _C, "gpu.model", "shape.gpu.model", "compute.gpu.model", _each(model_alias), True,
        _devices("compute.gpu.model"),
    ),
    PoolFact(_C, "gpu.form_factor", "shape.gpu.form_factor", "compute.gpu.model", _each(exact), True, _form_factor),
    PoolFact(_C, "gpu.count", "shape.gpu.count", "compute.gpu.count", exact, True),
    PoolFact(
        _C, "gpu.memory", "shape.gpu.memory", "compute.gpu.memory", within(MEMORY_TOLERANCE), True,
        _devices("compute.gpu.memory"),
    ),
    PoolFact(_C, "cpu.model", "shape.cpu.model", "compute.cpu.model", contains),
    PoolFact(_C, "cpu.sockets", "shape.cpu.sockets", "compute.cpu.sockets", exact),
    PoolFact(_C, "cpu.cores", "shape.cpu.cores", "compute.cpu.cores", at_least),
    PoolFact(_C, "cpu.numa_nodes", "shape.cpu.numa_nodes", "compute.numa.nodes", exact),
    PoolFact(_C, "memory", "shape.memory", "compute.memory.total", within(MEMORY_TOLERANCE)),
    PoolFact(_C, "nvme.total", "shape.nvme.total", "storage.local.nvme_total", within(NVME_TOLERANCE)),
    PoolFact(_N, "nics.count", "shape.nics", "network.nic.count", at_least, state=_nic_count),
    PoolFact(
        _N, "nics.speed", "shape.nics", "network.nic.speed", answers_speeds, read=found_speeds, state=stated_speeds,
    ),
    PoolFact(_C, "lifecycle.driver", "lifecycle.driver.version", "compute.gpu.driver", version_prefix, True),
    PoolFact(_C, "lifecycle.cuda", "lifecycle.cuda.version", "compute.cuda.version", version_at_least, True),
    PoolFact(_C, "lifecycle.nccl", "lifecycle.nccl.version", "compute.nccl.version", version_prefix, True),
    PoolFact(
        _C, "lifecycle.container_toolkit", "lifecycle.container_toolkit.version", "compute.container.toolkit",
        version_prefix, True,
    ),
    PoolFact(
        _C, "lifecycle.container_runtime", "lifecycle.container_runtime.version", "compute.container.runtime",
        runtime_version,
    ),
    PoolFact(_C, "lifecycle.os_image", "lifecycle.os_image.version", "compute.os.image", contains),
)  # fmt: skip
"""Facts of nodes, in the order of the table."""


def read_fact(fact: PoolFact, found: Found, node: str) -> tuple[Any, Observation | None]:
    """Return what the node has, None where that was not measured, and the observation behind it."""
    if fact.read:
        return fact.read(found, node)
    observation = found.of_node(fact.metric, node)
    measured = observation is not None and observation.state is State.MEASURED
    return (observation.value if observation and measured else None), observation
