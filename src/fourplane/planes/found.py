"""What was found, sorted by pool and node: who belongs where, and the newest word on each metric."""

from __future__ import annotations

import re
from collections import defaultdict

from fourplane.planes.model import Case
from fourplane.planes.shapes import PoolView, Shape, view_pool
from fourplane.records.observation import Observation, State

__all__ = ["GPU_TRANSPORTS", "NAMED", "Found", "NodePool", "name_list"]

NAMED = "named by the pool"
"""How a node that the declaration names came to its pool."""

GPU_TRANSPORTS = frozenset({"nvlink", "nvls", "xgmi", "ib", "roce", "efa", "tcpxo"})
"""Transports that carry traffic of GPUs; shm and socket may be CPU ranks."""

_PLAIN_HOST = re.compile(r"[A-Za-z0-9._-]+")


def name_list(names: list[str], limit: int = 5) -> str:
    """Return up to ``limit`` names, and how many more there are."""
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit:,} more" if len(names) > limit else shown


class NodePool:
    """A declared pool with the nodes that were found for it.

    Attributes:
        view: the pool with its shapes.
        nodes: found nodes that belong to it, in order.
        declared_nodes: how many it should have; 0 when nobody said.
        how: how its nodes were told, for reasons.
    """

    def __init__(self, view: PoolView, names: dict[str, Shape]) -> None:
        self.view = view
        self.names = names
        self.nodes: list[str] = []
        self.how = NAMED
        self.declared_nodes = view.nodes
        self._default = view.shapes[0]

    def shape(self, node: str) -> Shape:
        """Return the declared shape of ``node``: its own entry's, else the pool's."""
        return self.names.get(node, self._default)

    @property
    def unseen(self) -> int:
        """Return how many declared nodes were not looked at."""
        return max(0, self.declared_nodes - len(self.nodes))


class Found:
    """Evidence by pool and node.

    Attributes:
        pools: every declared pool with its found nodes.
        strays: found nodes that no pool claims.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self._by_metric: dict[str, dict[str, Observation]] = defaultdict(dict)
        for one in case.observations:
            if one.subject not in self._by_metric[one.metric]:
                latest = case.observations.latest(one.metric, one.subject)
                assert latest is not None
                self._by_metric[one.metric][one.subject] = latest
        nodes = case.observations.nodes()
        self.pools = [self._pool(index) for index in range(len(case.declaration.pools))]
        claimed = {name: pool for pool in self.pools for name in pool.names}
        self.strays: list[str] = []
        self._owner: dict[str, NodePool] = {}
        only = self.pools[0] if len(self.pools) == 1 else None
        for node in nodes:
            owner = claimed.get(node)
            if owner is None and only is not None and not only.names:
                owner = only
                owner.how = "the only pool"
            if owner is None:
                self.strays.append(node)
            else:
                owner.nodes.append(node)
                self._owner[node] = owner

    def _pool(self, index: int) -> NodePool:
        pool = self.case.declaration.pools[index]
        view = view_pool(pool, index)
        shapes = {shape.own_path: shape for shape in view.shapes}
        default = view.shapes[0]
        names: dict[str, Shape] = {}
        names.update(dict.fromkeys(_expand(pool.hosts or ""), default))
        for number, entry in enumerate(pool.nodes):
            shape = shapes.get(f"{view.path}.nodes[{number}].shape", default)
            names.update(dict.fromkeys(_expand(entry.name), shape))
        return NodePool(view, names)

    def value(self, metric: str, subject: str) -> Observation | None:
        """Return the newest word on ``metric`` of ``subject``, broken attempts included; None if nobody tried."""
        return self._by_metric.get(metric, {}).get(subject)

    def of_node(self, metric: str, node: str) -> Observation | None:
        """Return the newest word on a metric of the node itself."""
        return self.value(metric, f"node:{node}")

    def devices(self, metric: str, node: str) -> list[Observation]:
        """Return the measured words on a metric of the node's devices, in order of subject."""
        prefix = f"node:{node}/"
        found = self._by_metric.get(metric, {})
        if len(found) > 64:
            # many nodes: the devices of one are few, so look at the prefix in an index made once
            return self._device_index(metric).get(node, [])
        return [found[s] for s in sorted(found) if s.startswith(prefix) and found[s].state is State.MEASURED]

    def _device_index(self, metric: str) -> dict[str, list[Observation]]:
        cache: dict[str, dict[str, list[Observation]]] = self.__dict__.setdefault("_device_cache", {})
        if metric not in cache:
            index: dict[str, list[Observation]] = defaultdict(list)
            for subject in sorted(self._by_metric.get(metric, {})):
                one = self._by_metric[metric][subject]
                if "/" in subject and one.state is State.MEASURED:
                    index[subject[5:].split("/", 1)[0]].append(one)
            cache[metric] = index
        return cache[metric]

    def every(self, metric: str) -> list[Observation]:
        """Return the newest word on a metric of each subject, in order of subject."""
        found = self._by_metric.get(metric, {})
        return [found[subject] for subject in sorted(found)]

    def pool_of(self, node: str) -> NodePool | None:
        """Return the pool that the node belongs to, or None."""
        return self._owner.get(node)

    def has_gpu(self, node: str) -> bool:
        """Tell whether a GPU was measured on the node."""
        count = self.of_node("compute.gpu.count", node)
        if count is not None:
            return bool(count.number)  # a count that failed is no GPU, whatever a tool names one by one
        return bool(self.devices("compute.gpu.model", node))


def _expand(text: str) -> list[str]:
    from fourplane.base.hostlists import expand

    if not text:
        return []
    return [text] if _PLAIN_HOST.fullmatch(text) else expand(text)
