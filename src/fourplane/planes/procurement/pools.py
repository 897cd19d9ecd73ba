"""The pools that a provider is asked for: as declared, and where nothing is declared as the brief wishes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fourplane.base.units import Quantity
from fourplane.catalog.model import Subject
from fourplane.planes.comparators import MEMORY_TOLERANCE, NVME_TOLERANCE
from fourplane.planes.design import Design
from fourplane.planes.reading import walk
from fourplane.spec.brief import NodeShapeWish
from fourplane.spec.compute import Cpu, Gpu, NodeShape, Nvme, Pool, PoolRole

__all__ = ["AskedPool", "asked_pools"]


@dataclass(frozen=True)
class AskedPool:
    """One pool to ask for.

    Attributes:
        name: of the declared pool; ``target`` where none is declared.
        path: place of the pool in the declaration, ``brief.node_shape`` for a wish.
        place: file:line:column of that.
        declared: the pool; None for a wish.
        shape: facts of one node.
        nodes: how many; 0 when nobody said.
        board: the catalogue's entry of its GPU; None when it is unknown or several are allowed.
        wish: taken from the brief, since no pool of target hardware is declared.
    """

    name: str
    path: str
    place: str
    declared: Pool | None
    shape: NodeShape
    nodes: int
    board: Subject | None
    wish: bool = False

    @property
    def gpus(self) -> int:
        """Return GPUs of one node; 0 when nobody said."""
        return (self.shape.gpu.count or 0) if self.shape.gpu else 0

    @property
    def has_gpus(self) -> bool:
        """Tell whether it is asked for with GPUs."""
        gpu = self.shape.gpu
        return gpu is not None and (gpu.count != 0 if gpu.count is not None else gpu.model is not None)

    @property
    def basis(self) -> str:
        """Return where its facts come from, for a threshold."""
        return "the brief's wish: no pool of target hardware is declared" if self.wish else "as declared"

    @property
    def facts(self) -> str:
        """Return the facts of one node in a sentence, with what may be missing of each."""
        return ", ".join(_facts(self))

    def wanted(self, path: str) -> Any:
        """Return what is asked for at a line of the quoted pool, such as ``shape.gpu.count``; None when nothing is."""
        if path == "count":
            return self.nodes or None
        if path.startswith("shape."):
            return walk(self.shape, path.removeprefix("shape."))
        return walk(self.declared, path) if self.declared is not None else None


def asked_pools(design: Design) -> list[AskedPool]:
    """Return the pools of target hardware; without any, what the brief wishes for; nothing without that either."""
    workspace = design.workspace
    out = []
    for index, pool in enumerate(design.declaration.pools):
        if pool.role is not PoolRole.STAND_IN:
            view = design.pools[index]
            gpu = pool.shape.gpu if pool.shape else None
            factor = str(gpu.form_factor) if gpu and gpu.form_factor else ""
            board = design.catalog.gpu(gpu.model, factor) if gpu else None
            path = f"pools[{index}]"
            shape = pool.shape or NodeShape()
            out.append(AskedPool(pool.name, path, workspace.cite(path), pool, shape, view.nodes, board))
    return out or _wish(design)


def _wish(design: Design) -> list[AskedPool]:
    brief = design.brief
    wish = brief.node_shape or NodeShapeWish()
    if brief.node_shape is None and not brief.target_gpus:
        return []
    model = " or ".join(brief.target_gpus) or None
    shape = NodeShape(
        gpu=Gpu(model=model, count=wish.gpus, memory=wish.gpu_memory),
        cpu=Cpu(cores=wish.cpu_cores),
        memory=wish.memory,
        nvme=Nvme(total=wish.nvme),
        power=wish.power,
    )
    board = design.catalog.gpu(brief.target_gpus[0]) if len(brief.target_gpus) == 1 else None
    path = "brief.node_shape" if brief.node_shape is not None else "brief.target_gpus"
    nodes = brief.max_job_nodes or 0
    return [AskedPool("target", path, design.workspace.cite(path), None, shape, nodes, board, wish=True)]


def _facts(pool: AskedPool) -> Iterator[str]:
    shape, gpu, cpu = pool.shape, pool.shape.gpu, pool.shape.cpu
    if pool.nodes:
        yield f"{pool.nodes:,} nodes"
    if gpu is not None and (gpu.count or gpu.model):
        factor = f" {gpu.form_factor}" if gpu.form_factor else ""
        yield f"{gpu.count if gpu.count is not None else 'any number'} × {gpu.model or 'GPU'}{factor} in each"
        if gpu.memory is not None:
            yield f"{_below(gpu.memory, MEMORY_TOLERANCE)} in each GPU"
    if cpu is not None and cpu.cores is not None:
        yield f"at least {cpu.cores:,} cores"
    if shape.memory is not None:
        yield f"{_below(shape.memory, MEMORY_TOLERANCE)} of RAM"
    if shape.nvme is not None and shape.nvme.total is not None:
        yield f"{_below(shape.nvme.total, NVME_TOLERANCE)} of NVMe"
    for nic in shape.nics:
        if nic.count is not None and nic.speed is not None:
            yield f"{nic.count} NICs of {nic.speed}" + (f" for {nic.role}" if nic.role else "")


def _below(size: Quantity, tolerance: float) -> str:
    return f"{size} (at most {100 * tolerance:.0f} % below nominal)" if size.amount else f"{size}"
