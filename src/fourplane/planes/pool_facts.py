"""Facts of the nodes of a pool: where each is stated, what was measured, how the two are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fourplane.planes.comparators import (
    MEMORY_TOLERANCE,
    NVME_TOLERANCE,
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


def _devices(metric: str) -> Callable[[Found, str], tuple[Any, Observation | None]]:
    """Return a reader of one value for all devices of a node; differing devices give a text that names them."""

    def read(found: Found, node: str) -> tuple[Any, Observation | None]:
        devices = found.devices(metric, node)
        on_node = found.of_node(metric, node)
        values: list[Any] = [one.value for one in devices]
        if not values and on_node is not None and on_node.state is State.MEASURED:
            values = on_node.value if isinstance(on_node.value, list) else [on_node.value]
        first = devices[0] if devices else on_node
        if not values:
            return None, first
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            return min(values), first
        kinds = Counter(str(value) for value in values)
        only = next(iter(kinds))
        return only if len(kinds) == 1 else ", ".join(f"{n} × {kind}" for kind, n in kinds.items()), first

    return read


def _form_factor(found: Found, node: str) -> tuple[Any, Observation | None]:
    model, observation = _devices("compute.gpu.model")(found, node)
    board = found.case.catalog.gpu(str(model)) if model else None
    return (board.form_factor if board else None), observation


def _nic_count(nics: Any) -> int | None:
    counts = [nic.count for nic in nics or () if nic.count is not None]
    return sum(counts) if counts else None


ON_TARGET = "run 'fourplane prove' on a node of the target shape"
"""What proves a fact about GPUs."""
_C, _N = Plane.COMPUTE, Plane.NETWORK

POOL_FACTS = (
    PoolFact(_C, "gpu.model", "shape.gpu.model", "compute.gpu.model", model_alias, True, _devices("compute.gpu.model")),
    PoolFact(_C, "gpu.form_factor", "shape.gpu.form_factor", "compute.gpu.model", exact, True, _form_factor),
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
