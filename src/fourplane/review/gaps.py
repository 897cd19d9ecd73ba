"""Gaps of the brief (B2): which field is missing, who should know, which measurement fills it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from fourplane.base.text import printable
from fourplane.review.model import Gap
from fourplane.review.wording import is_named, is_set
from fourplane.spec.brief import Brief, ScaleShape, WorkloadType

__all__ = ["BRIEF_FIELDS", "BriefField", "find_gaps", "missing_fields", "value_at"]

_ROLES = {
    "head": "head of the product or of research",
    "finance": "finance, with the head of the product",
    "infra": "head of infrastructure",
    "model": "engineers who run the model",
    "images": "engineers who build the images",
    "data": "data engineers",
    "network": "network engineers",
    "storage": "storage engineers",
    "on-call": "engineers on call",
    "security": "security officer",
    "legal": "legal counsel",
}

# path below brief | field of brief.ownership whose holder knows | role that knows otherwise | what fills it
_TABLE = """
workload | - | head | decision
frameworks | images | images | 'pip list' inside the training or serving image
target_gpus | - | model | 'fourplane prove' on one rented node of each candidate: compute.gpu.memory
node_shape.gpus | - | model | compute.gpu.count and compute.gpu.topology of a rented node that runs the workload well
node_shape.gpu_memory | - | model | compute.gpu.memory of a rented GPU that holds model, optimiser state and activations
node_shape.cpu_cores | - | model | compute.cpu.cores of a rented node whose data loaders keep the GPUs busy
node_shape.memory | - | model | compute.memory.total of a rented node that runs the workload without swapping
node_shape.nvme | - | model | storage.local.nvme_total of a rented node that holds dataset shard and checkpoints
node_shape.nics | - | model | network.nic.count of a rented node whose all-reduce keeps up with its GPUs
node_shape.power | - | model | power draw of a rented node under the workload: nvidia-smi and the node's BMC
scale | - | model | network.allreduce.busbw_peak on one, two and four rented nodes
max_job_nodes | - | model | network.allreduce.busbw_peak on one, two and four rented nodes
network.all_reduce | - | model | share of a step spent in collectives: the framework's profiler on two rented nodes
network.latency | - | model | network.allreduce.latency of 'fourplane prove' on a rented slice
network.placement_group | - | network | network.allreduce.busbw_peak with the nodes placed together and placed apart
network.isolation | access | security | decision
network.egress_path | access | network | a decision; 'ip route' on a rented node shows the path that is used today
storage.dataset_size | - | data | 'du -sb' of the dataset; storage.staging.throughput of 'fourplane prove --dataset DIR'
storage.weights_size | - | model | 'du -sb' of the weights; storage.weights.cold_throughput of 'fourplane prove'
storage.checkpoint_interval | - | model | storage.checkpoint.stall of 'fourplane prove', weighed against work lost
storage.recovery_time | incidents | on-call | storage.checkpoint.recovery of 'fourplane prove': what is reached today
storage.filesystem | - | storage | storage.io.random_read of 'fourplane prove' on each candidate
storage.object_store_region | - | data | storage.staging.throughput of 'fourplane prove --dataset URL' from each region
ownership.drivers | - | infra | decision
ownership.images | - | infra | decision
ownership.scheduler_policy | - | infra | decision
ownership.telemetry | - | infra | decision
ownership.support | - | infra | decision
ownership.upgrades | - | infra | decision
ownership.access | - | infra | decision
ownership.incidents | - | infra | decision
denominator | - | finance | decision
model.name | - | model | decision
model.parameters_billion | - | model | the parameter count of the checkpoint in use
model.precision | - | model | the data type of the checkpoint in use
model.licence | - | legal | the licence that comes with the weights
data_path.source | - | data | storage.staging.source of 'fourplane prove --dataset DIR'
data_path.node | - | data | storage.scratch.filesystem of 'fourplane prove --scratch DIR'
data_path.output | - | data | decision
target_utilisation | telemetry | finance | GPU utilisation of a pilot job on a rented slice, from DCGM or nvidia-smi
why_cluster | - | head | a decision: price the model API for the same work first
"""

_CONDITION = {"frameworks": "framework", "max_job_nodes": "scale"}
"""Fields whose condition isn't called as they are."""


@dataclass(frozen=True, slots=True)
class BriefField:
    """One field of the brief.

    Attributes:
        path: below ``brief``, such as ``network.latency``.
        condition: id of the condition that it belongs to, such as ``R1.network``.
        ownership: field of ``brief.ownership`` whose holder should know; "" where none of them would.
        role: who should know where ownership names nobody.
        measurement: which metric or command fills it, or that it is a decision.
    """

    path: str
    condition: str
    ownership: str
    role: str
    measurement: str


def _parse() -> tuple[BriefField, ...]:
    fields = []
    for line in _TABLE.strip().splitlines():
        path, ownership, role, measurement = (cell.strip() for cell in line.split("|"))
        head = path.split(".", 1)[0]
        condition = f"R1.{_CONDITION.get(head, head)}"
        measurement = "a decision, not a measurement" if measurement == "decision" else measurement
        fields.append(BriefField(path, condition, ownership.strip("-"), _ROLES[role], measurement))
    return tuple(fields)


BRIEF_FIELDS = _parse()
"""Every field of the brief, in the order of its page."""

_WITHOUT_MODEL = frozenset({WorkloadType.SIMULATION, WorkloadType.NOTEBOOKS})
_WITH_CHECKPOINTS = frozenset({WorkloadType.PRE_TRAINING, WorkloadType.FINE_TUNING, WorkloadType.SIMULATION})
_WITH_WEIGHTS = frozenset(WorkloadType) - _WITHOUT_MODEL


def missing_fields(brief: Brief, condition: str) -> list[str]:
    """Return the paths of fields of one condition that are not filled in and apply to this workload."""
    return [f.path for f in _missing(brief, condition)]


def find_gaps(brief: Brief) -> list[tuple[str, Gap]]:
    """Return (id of the condition, gap) for every missing field, in the order of the brief's page."""
    return [(f.condition, Gap(f"brief.{f.path}", _who(brief, f), f.measurement)) for f in _missing(brief)]


def value_at(model: BaseModel | None, path: str) -> object:
    """Return the value at a dotted path; None where any part of the way is missing."""
    value: object = model
    for key in path.split("."):
        value = getattr(value, key, None) if value is not None else None
    return value


def _missing(brief: Brief, condition: str = "") -> Iterator[BriefField]:
    for one in BRIEF_FIELDS:
        if condition in ("", one.condition) and _applies(brief, one.path) and not is_set(value_at(brief, one.path)):
            yield one


def _applies(brief: Brief, path: str) -> bool:
    """Tell whether a field means anything for this workload; while the workload is open, every field does."""
    if path == "max_job_nodes":
        return brief.scale is not ScaleShape.ONE_NODE
    if brief.workload is None:
        return True
    if path == "storage.checkpoint_interval":
        return brief.workload in _WITH_CHECKPOINTS
    if (path.startswith("model.") and path != "model.name") or path == "storage.weights_size":
        return brief.workload in _WITH_WEIGHTS
    return True


def _who(brief: Brief, one: BriefField) -> str:
    if one.ownership:
        holder = value_at(brief, f"ownership.{one.ownership}")
        if isinstance(holder, str) and is_named(holder):
            return f"{printable(holder)} (owns {one.ownership.replace('_', ' ')})"
    return one.role
