"""A declared design with what rules derive from it once: pools with filled shapes, needs in bytes and seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from fourplane.base.units import Quantity
from fourplane.catalog.facts import Catalog
from fourplane.catalog.model import Subject
from fourplane.planes.shapes import PoolView, Shape, view_pool
from fourplane.spec.brief import Brief, ScaleShape, WorkloadType
from fourplane.spec.declaration import Declaration
from fourplane.spec.workspace import Workspace

__all__ = ["PRECISION_BYTES", "Design", "Need"]

PRECISION_BYTES = {
    "fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "fp4": 0.5, "nvfp4": 0.5, "int4": 0.5,
}  # fmt: skip
"""Bytes of one weight by precision."""


@dataclass(frozen=True, slots=True)
class Need:
    """A quantity that a rule needs: the value in base units, the place it stands, and how it came about."""

    value: float
    path: str
    origin: str


@dataclass(frozen=True)
class Design:
    """A workspace, the catalogue, the day of the check, and derived facts."""

    workspace: Workspace
    catalog: Catalog
    today: date
    _gpus: dict[tuple[str, str], Subject | None] = field(default_factory=dict, repr=False)
    _boards: dict[str, tuple[Subject, ...]] = field(default_factory=dict, repr=False)

    @property
    def declaration(self) -> Declaration:
        """Return the declared cluster."""
        return self.workspace.declaration

    @property
    def brief(self) -> Brief:
        """Return the workload brief."""
        return self.workspace.declaration.brief

    @cached_property
    def pools(self) -> tuple[PoolView, ...]:
        """Return every pool with filled shapes."""
        return tuple(view_pool(pool, index) for index, pool in enumerate(self.declaration.pools))

    @cached_property
    def gpu_pools(self) -> tuple[PoolView, ...]:
        """Return the pools with GPUs that are meant to do the work: stand-ins are left out."""
        return tuple(pool for pool in self.pools if pool.has_gpus and not pool.is_stand_in)

    @cached_property
    def gpu_shapes(self) -> tuple[tuple[PoolView, Shape], ...]:
        """Return each GPU shape with its pool."""
        return tuple((pool, shape) for pool in self.gpu_pools for shape in pool.shapes if shape.gpus > 0)

    def gpu(self, shape: Shape) -> Subject | None:
        """Return the catalogue's entry for the GPU of ``shape``; None when it is unknown or ambiguous."""
        key = (shape.gpu_model, shape.form_factor)
        if key not in self._gpus:
            self._gpus[key] = self.catalog.gpu(*key)
        return self._gpus[key]

    def boards(self, model: str) -> tuple[Subject, ...]:
        """Return every board of the catalogue that ``model`` may stand for, form factor aside."""
        if model not in self._boards:
            self._boards[model] = self.catalog.candidates(model)
        return self._boards[model]

    @cached_property
    def published_nodes(self) -> dict[str, Subject]:
        """Return the catalogue's node shape by the key of its GPU; the first of several, which is the vendor's own."""
        nodes: dict[str, Subject] = {}
        for node in self.catalog.subjects.values():
            if node.kind == "node":
                nodes.setdefault(node.gpu, node)
        return nodes

    def gpu_memory(self, shape: Shape) -> float:
        """Return bytes of one GPU: as declared, else the most that the catalogue gives; 0 when neither knows."""
        if shape.gpu_memory:
            return shape.gpu_memory
        entry = self.gpu(shape)
        fact = entry.fact("memory") if entry else None
        return fact.high * 1e9 if fact else 0.0

    @property
    def trains(self) -> bool:
        """Tell whether the workload trains."""
        return self.brief.workload in (WorkloadType.PRE_TRAINING, WorkloadType.FINE_TUNING)

    @property
    def synchronous(self) -> bool:
        """Tell whether one job steps in lock-step over several nodes."""
        return self.brief.scale is ScaleShape.MULTI_NODE_SYNCHRONOUS

    @property
    def job_nodes(self) -> int:
        """Return the nodes of the largest job: as declared, else one or the largest pool by scale shape."""
        if self.brief.max_job_nodes:
            return self.brief.max_job_nodes
        if self.brief.scale is ScaleShape.ONE_NODE:
            return 1
        return max((pool.nodes for pool in self.gpu_pools), default=0)

    @property
    def parameters(self) -> float:
        """Return the model's parameters; 0 when nobody said."""
        model = self.brief.model
        return (model.parameters_billion or 0.0) * 1e9 if model else 0.0

    @property
    def precision(self) -> str:
        """Return the model's precision in lower case, "" when nobody said."""
        model = self.brief.model
        return (model.precision or "").strip().lower() if model else ""

    def bytes_per_parameter(self, fact: str) -> tuple[float, float]:
        """Return the catalogue's range for training in mixed precision with Adam; (0, 0) without the fact."""
        found = self.catalog.fact("mixed-precision-adam", fact)
        return (found.low, found.high) if found else (0.0, 0.0)

    @cached_property
    def checkpoint_size(self) -> Need | None:
        """Return the size of one checkpoint: as declared, else the least that the model implies."""
        checkpoints = self.declaration.storage.checkpoints
        if checkpoints and checkpoints.size:
            return Need(checkpoints.size.base, "storage.checkpoints.size", f"{checkpoints.size} as declared")
        low, _ = self.bytes_per_parameter("checkpoint_bytes_per_parameter")
        if self.parameters and self.trains and low:
            origin = f"{self.parameters / 1e9:g} billion parameters × {low:g} B"
            return Need(self.parameters * low, "brief.model.parameters_billion", origin)
        return None

    @cached_property
    def checkpoint_write(self) -> Need | None:
        """Return the planned write rate of checkpoints: as declared, else the file system that holds them."""
        storage = self.declaration.storage
        checkpoints = storage.checkpoints
        if checkpoints and checkpoints.write_throughput:
            rate = checkpoints.write_throughput
            return Need(rate.base, "storage.checkpoints.write_throughput", f"{rate} as declared")
        return self._file_system_rate("write")

    @cached_property
    def checkpoint_read(self) -> Need | None:
        """Return the planned read rate of the file system that holds the checkpoints."""
        return self._file_system_rate("read")

    def _file_system_rate(self, way: str) -> Need | None:
        storage = self.declaration.storage
        place = storage.checkpoints.place if storage.checkpoints else None
        if not place:
            return None
        for index, system in enumerate(storage.filesystems):
            rate: Quantity | None = getattr(system, way)
            inside = system.mount and (place + "/").startswith(system.mount.rstrip("/") + "/")
            if rate and (place == system.name or inside):
                return Need(rate.base, f"storage.filesystems[{index}].{way}", f"{rate} of file system {system.name}")
        return None
