"""One case in which every condition passes, and ways to take something away from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from fourplane.base.documents.positions import Positions
from fourplane.base.findings import Finding
from fourplane.base.verdicts import Verdict
from fourplane.catalog.facts import Catalog
from fourplane.planes.model import Case, FactRow, Judgement, Plane
from fourplane.records.index import ObservationIndex
from fourplane.records.observation import Observation, State
from fourplane.review.gate import review
from fourplane.review.model import Condition, Review
from fourplane.spec.declaration import Declaration
from fourplane.spec.workspace import Workspace

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
MEASURED = NOW - timedelta(hours=1)
RUN = "run-1"
FILE = "fourplane.yaml"

_OWNED = {"choice": "decided", "owner": "ann"}
_LAYER = {
    "version": "1",
    "owner": "ann",
    "upgrade_window": "Sunday",
    "end_of_support": date(2028, 1, 1),
    "rollback": "previous image",
}

FULL: dict[str, Any] = {
    "name": "demo",
    "brief": {
        "workload": "pre-training",
        "frameworks": ("PyTorch",),
        "target_gpus": ("H100",),
        "node_shape": {
            "gpus": 8, "gpu_memory": "80 GB", "cpu_cores": 96, "memory": "2 TiB", "nvme": "30 TB", "nics": 8,
            "power": "10 kW",
        },
        "scale": "multi-node-synchronous",
        "max_job_nodes": 2,
        "network": {
            "all_reduce": True, "latency": "20 us", "placement_group": True, "isolation": "own fabric",
            "egress_path": "NAT",
        },
        "storage": {
            "dataset_size": "10 TB", "weights_size": "140 GB", "checkpoint_interval": "30 min",
            "recovery_time": "15 min", "filesystem": "lustre", "object_store_region": "eu-north",
        },
        "ownership": dict.fromkeys(
            ("drivers", "images", "scheduler_policy", "telemetry", "support", "upgrades", "access", "incidents"), "ann"
        ),
        "denominator": "completed-training-run",
        "model": {"name": "m", "parameters_billion": 70, "precision": "bf16", "licence": "own"},
        "data_path": {"source": "bucket", "node": "/scratch", "output": "bucket"},
        "target_utilisation": "60 %",
        "why_cluster": ("long-training",),
    },
    "pools": [
        {
            "name": "train",
            "role": "training",
            "count": 2,
            "hosts": "n[1-2]",
            "shape": {
                "gpu": {
                    "model": "H100", "count": 8, "memory": "80 GB", "form_factor": "sxm", "interconnect": "nvswitch",
                },
                "cpu": {"cores": 96},
                "memory": "2 TiB",
                "nvme": {"total": "30 TB"},
                "nics": [{"count": 8, "speed": "400 Gb/s"}],
            },
            "lifecycle": {
                key: dict(_LAYER) for key in ("driver", "cuda", "container_toolkit", "container_runtime", "os_image")
            },
            "replacement": {"time": "4 h", "like_for_like": True, "owner": "provider"},
        }
    ],
    "network": {
        "fabric": {
            "kind": "infiniband", "oversubscription": "1:1", "placement": "one leaf", "failure_domains": ("rack",),
        }
    },
    "storage": {
        "gds": {"choice": "ordinary", "reason": "staging is not the bottleneck", "figure": "5 GB/s"},
        "outputs": [
            {"name": "logs", "place": "bucket", "write_rate": "1 MB/s", "retention": "90 d", "owner": "ann"}
        ],
    },
    "control": {
        "slurm": {"version": "25.05"},
        "reason": "batch training",
        "owners": {"queues": "ann", "quotas": "bob", "retries": "ann", "user_access": "bob"},
        "queues": [
            {
                "name": "main", "scheduler": "slurm",
                "retry": {"count": 2, "causes": ("node-lost",), "backoff": "5 min"},
            }
        ],
    },
    "teams": [{"name": "research", "quotas": {"train": 16}, "cost_label": "research"}],
    "security": {
        key: dict(_OWNED)
        for key in (
            "identity", "isolation", "ssh", "image_registry", "image_signing", "image_scanning", "secrets",
            "network_policy", "egress", "data_cleanup", "audit_retention", "break_glass", "vendor_access",
            "remote_hands",
        )
    },
    "telemetry": {
        **{key: {"source": "prometheus", "owner": "ann"} for key in ("jobs", "gpus", "fabric", "storage", "cost")},
        "labels": ("team", "workload"),
    },
    "alternatives": [
        {"kind": kind, "unit_cost": 1000, "units_per_month": 4, "source": "quote of November"}
        for kind in ("on-demand-cloud", "colocation", "on-premises", "model-api")
    ],
}  # fmt: skip

CAPABILITIES: dict[str, tuple[Plane, str]] = {
    "compute.gpu": (Plane.COMPUTE, "compute.gpu.count"),
    "compute.homogeneity": (Plane.COMPUTE, "compute.gpu.model"),
    "compute.production_container": (Plane.COMPUTE, "compute.container.runtime"),
    "network.allreduce": (Plane.NETWORK, "network.allreduce.busbw_peak"),
    "network.latency": (Plane.NETWORK, "network.allreduce.latency"),
    "storage.staging": (Plane.STORAGE, "storage.staging.throughput"),
    "storage.checkpoint_write": (Plane.STORAGE, "storage.checkpoint.stall"),
    "storage.checkpoint_restore": (Plane.STORAGE, "storage.checkpoint.restore_verified"),
    "storage.crash_consistency": (Plane.STORAGE, "storage.checkpoint.crash_consistent"),
    "storage.weights_load": (Plane.STORAGE, "storage.weights.cold_throughput"),
    "storage.scratch_clean": (Plane.STORAGE, "storage.scratch.clean"),
    "storage.object_store": (Plane.STORAGE, "storage.staging.source"),
    "storage.snapshots": (Plane.STORAGE, "storage.scratch.filesystem"),
    "control.scheduler": (Plane.CONTROL, "control.scheduler.kind"),
    "control.logs_exported": (Plane.CONTROL, "control.clock.offset"),
    "telemetry.jobs": (Plane.CONTROL, "control.slurm.version"),
    "telemetry.gpus": (Plane.CONTROL, "compute.gpu.driver"),
    "telemetry.fabric": (Plane.CONTROL, "network.fabric.kind"),
    "telemetry.storage": (Plane.CONTROL, "storage.io.random_read"),
    "telemetry.cost": (Plane.CONTROL, "control.kubernetes.version"),
    "security.secrets": (Plane.SECURITY, "compute.os.image"),
    "security.image_policy": (Plane.SECURITY, "compute.kernel.version"),
    "security.network_policy": (Plane.SECURITY, "network.nic.count"),
    "economics.unit_cost": (Plane.CONTROL, "compute.memory.total"),
}
"""Judgement and a metric that it cites; what the metric is doesn't matter to the review."""

FACTS: dict[str, tuple[Plane, str]] = {
    "gpu.model": (Plane.COMPUTE, "compute.gpu.model"),
    "gpu.count": (Plane.COMPUTE, "compute.gpu.count"),
    "cpu.cores": (Plane.COMPUTE, "compute.cpu.cores"),
    "memory": (Plane.COMPUTE, "compute.memory.total"),
    "nvme.total": (Plane.COMPUTE, "storage.local.nvme_total"),
    "nics.speed": (Plane.COMPUTE, "network.nic.speed"),
    "lifecycle.driver.version": (Plane.COMPUTE, "compute.gpu.driver"),
    "fabric.kind": (Plane.NETWORK, "network.fabric.kind"),
    "fabric.failure_domains": (Plane.NETWORK, "network.rdma.devices"),
}
"""Rows of the three-way table and the metric that each cites."""


def observe(metric: str, value: Any = 1, **changes: Any) -> Observation:
    subject = "cluster" if metric.startswith("network.allreduce") else "node:n1"
    base = Observation(subject, metric, value, "", "probe 1", MEASURED, run=RUN)
    return replace(base, **changes)


def full_observations() -> list[Observation]:
    metrics = {metric for _, metric in (*CAPABILITIES.values(), *FACTS.values())}
    special = {"compute.gpu.count", "network.allreduce.busbw_peak"}
    out = [observe(metric) for metric in sorted(metrics - special)]
    out.append(observe("compute.gpu.count", 8))
    out.append(observe("network.allreduce.busbw_peak", 380.0, conditions={"nodes": 2}))
    return out


def full_judgements() -> list[Judgement]:
    return [judgement(key) for key in CAPABILITIES]


def judgement(key: str, verdict: Verdict = Verdict.PASSED, **changes: Any) -> Judgement:
    plane, metric = CAPABILITIES[key]
    base = Judgement(
        key, plane, f"title of {key}", verdict, f"figure of {key}", (observe(metric).reference,), MEASURED,
        "" if verdict is Verdict.PASSED else f"mend {key}",
    )  # fmt: skip
    return replace(base, **changes)


def full_rows() -> list[FactRow]:
    return [row(fact) for fact in FACTS]


def row(fact: str, verdict: Verdict = Verdict.PASSED, **changes: Any) -> FactRow:
    plane, metric = FACTS.get(fact, (Plane.COMPUTE, "compute.cpu.cores"))
    base = FactRow(
        plane, "node:n1", fact, "declared", "", "found", verdict, f"reason of {fact}", (observe(metric).reference,)
    )
    return replace(base, **changes)


def full() -> dict[str, Any]:
    return deepcopy(FULL)


def without(path: str) -> dict[str, Any]:
    """Return the full declaration without the field at a path such as ``pools.0.shape.memory``."""
    data = full()
    node: Any = data
    *way, last = path.split(".")
    for key in way:
        node = node[int(key) if isinstance(node, list) else key]
    del node[int(last) if isinstance(node, list) else last]
    return data


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the full declaration with another value at a path."""
    data = full()
    node: Any = data
    *way, last = path.split(".")
    for key in way:
        node = node[int(key)] if isinstance(node, list) else node.setdefault(key, {})
    node[int(last) if isinstance(node, list) else last] = value
    return data


def make_case(
    data: dict[str, Any] | None = None,
    observations: Iterable[Observation] | None = None,
    *,
    now: datetime = NOW,
    file_findings: tuple[Finding, ...] = (),
    damage: tuple[Finding, ...] = (),
    positions: Positions | None = None,
) -> Case:
    declaration = Declaration(**(full() if data is None else data))
    workspace = Workspace(Path(), declaration, FILE, positions or Positions(), findings=file_findings)
    seen = full_observations() if observations is None else observations
    return Case(workspace, ObservationIndex(seen), Catalog(), now, damage)


def judge_all(
    data: dict[str, Any] | None = None,
    *,
    rows: Sequence[FactRow] | None = None,
    judgements: Sequence[Judgement] | None = None,
    findings: Sequence[Finding] = (),
    **case: Any,
) -> Review:
    return review(
        make_case(data, **case),
        full_rows() if rows is None else rows,
        full_judgements() if judgements is None else judgements,
        findings,
    )


def with_judgement(key: str, verdict: Verdict, **changes: Any) -> list[Judgement]:
    return [judgement(k, verdict, **changes) if k == key else judgement(k) for k in CAPABILITIES]


def with_row(fact: str, verdict: Verdict, **changes: Any) -> list[FactRow]:
    return [row(f, verdict, **changes) if f == fact else row(f) for f in FACTS]


def conditions(result: Review) -> dict[str, Condition]:
    return {condition.id: condition for area in result.areas for condition in area.conditions}


def absent(metric: str) -> Observation:
    return observe(metric, None, state=State.ABSENT, reason="no tool")
