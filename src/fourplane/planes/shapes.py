"""Node shapes with their gaps filled: what a node entry leaves out, its pool states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fourplane.base.hostlists import expand
from fourplane.spec.compute import Cpu, Gpu, Nic, NodeShape, Nvme, Pool, PoolRole

__all__ = ["PoolView", "Shape", "host_count", "scale_out", "view_pool"]

_PLAIN_HOST = re.compile(r"[A-Za-z0-9._-]+")
_NO_GPU = Gpu()
_NO_CPU = Cpu()
_NO_NVME = Nvme()
_NO_SHAPE = NodeShape()
_SIDE_ROLES = re.compile(r"storage|manage|mgmt|oob|bmc|ipmi|front|login|in-band|service", re.IGNORECASE)


def host_count(hosts: str) -> int:
    """Return how many hosts a host list stands for; a plain name needs no expansion."""
    return 1 if _PLAIN_HOST.fullmatch(hosts) else len(expand(hosts))


def scale_out(nics: tuple[Nic, ...]) -> tuple[Nic, ...]:
    """Return the interfaces that carry job traffic between nodes: those not named for storage or management."""
    return tuple(nic for nic in nics if not (nic.role and _SIDE_ROLES.search(nic.role)))


@dataclass(frozen=True)
class Shape:
    """Facts of one kind of node.

    Attributes:
        name: pool, or pool and node, for sentences.
        count: how many nodes have this shape; 0 when nobody said.
        own: shape written at ``own_path``; its facts come first.
        base: shape of the pool, at ``base_path``; fills the gaps.
    """

    name: str
    count: int
    own: NodeShape
    own_path: str
    base: NodeShape
    base_path: str

    def _part(self, part: str, key: str, empty: Any) -> Any:
        value = getattr(getattr(self.own, part) or empty, key)
        return value if value is not None else getattr(getattr(self.base, part) or empty, key)

    def path(self, fact: str) -> str:
        """Return where ``fact``, such as ``gpu.memory``, was written; the shape itself if nowhere."""
        for shape, path in ((self.own, self.own_path), (self.base, self.base_path)):
            value: Any = shape
            for key in fact.split("."):
                value = getattr(value, key, None)
            if value is not None and value != ():
                return f"{path}.{fact}"
        return self.base_path

    @cached_property
    def gpus(self) -> int:
        """Return GPUs of the node; 0 when nobody said or there are none."""
        return self._part("gpu", "count", _NO_GPU) or 0

    @cached_property
    def gpu_model(self) -> str:
        """Return the model as written, or ""."""
        return self._part("gpu", "model", _NO_GPU) or ""

    @cached_property
    def form_factor(self) -> str:
        """Return the form factor as written, or ""."""
        return str(self._part("gpu", "form_factor", _NO_GPU) or "")

    @cached_property
    def gpu_memory(self) -> float:
        """Return bytes of one GPU as written; 0 when nobody said."""
        size = self._part("gpu", "memory", _NO_GPU)
        return size.base if size else 0.0

    @cached_property
    def interconnect(self) -> str:
        """Return what joins the GPUs inside the node, in lower case, or ""."""
        return (self._part("gpu", "interconnect", _NO_GPU) or "").casefold()

    @cached_property
    def numa_nodes(self) -> int:
        """Return NUMA nodes; 0 when nobody said."""
        return self._part("cpu", "numa_nodes", _NO_CPU) or 0

    @cached_property
    def cores(self) -> int:
        """Return physical cores; 0 when nobody said."""
        return self._part("cpu", "cores", _NO_CPU) or 0

    @cached_property
    def memory(self) -> float:
        """Return bytes of host memory; 0 when nobody said."""
        size = self.own.memory or self.base.memory
        return size.base if size else 0.0

    @cached_property
    def nvme(self) -> float | None:
        """Return bytes of local NVMe; None when nobody said, 0 when it is said that there is none."""
        size = self._part("nvme", "total", _NO_NVME)
        if size is not None:
            return float(size.base)
        return 0.0 if self._part("nvme", "devices", _NO_NVME) == 0 else None

    @cached_property
    def power(self) -> float:
        """Return watts of the node; 0 when nobody said."""
        power = self.own.power or self.base.power
        return power.base if power else 0.0

    @cached_property
    def nics(self) -> tuple[Nic, ...]:
        """Return the interfaces."""
        return self.own.nics or self.base.nics

    @cached_property
    def scale_out_count(self) -> int:
        """Return how many interfaces carry job traffic; 0 when nobody said."""
        return sum(nic.count or 0 for nic in scale_out(self.nics))

    @cached_property
    def scale_out_rate(self) -> float:
        """Return the sum of their rates, one way, in bytes per second; 0 when nobody said."""
        return sum((nic.count or 0) * nic.speed.base / 8 for nic in scale_out(self.nics) if nic.speed)


@dataclass(frozen=True)
class PoolView:
    """A pool with its place, its node count and its shapes: the pool's own first, then differing nodes."""

    pool: Pool
    path: str
    nodes: int
    shapes: tuple[Shape, ...]

    @property
    def is_stand_in(self) -> bool:
        """Tell whether the pool only stands in for the target hardware."""
        return self.pool.role is PoolRole.STAND_IN

    @cached_property
    def has_gpus(self) -> bool:
        """Tell whether GPUs are declared for it."""
        return any(shape.gpus > 0 or shape.gpu_model for shape in self.shapes)

    @cached_property
    def gpus(self) -> int:
        """Return GPUs of the whole pool; 0 when counts are missing."""
        return sum(shape.gpus * shape.count for shape in self.shapes)


def view_pool(pool: Pool, index: int) -> PoolView:
    """Return the view of ``pools[index]``."""
    path = f"pools[{index}]"
    base = pool.shape or _NO_SHAPE
    entries = list(_entries(pool, path, base))
    listed = sum(host_count(entry.name) for entry in pool.nodes)
    nodes = pool.count or (host_count(pool.hosts) if pool.hosts else listed)
    rest = max(0, nodes - sum(shape.count for shape in entries))
    shapes = []
    if rest or not entries:
        shapes.append(Shape(f"pool {pool.name}", rest, base, f"{path}.shape", base, f"{path}.shape"))
    return PoolView(pool, path, nodes, (*shapes, *entries))


def _entries(pool: Pool, path: str, base: NodeShape) -> Iterator[Shape]:
    for number, entry in enumerate(pool.nodes):
        if entry.shape is not None:
            own_path = f"{path}.nodes[{number}].shape"
            name = f"{entry.name} of pool {pool.name}"
            yield Shape(name, host_count(entry.name), entry.shape, own_path, base, f"{path}.shape")
