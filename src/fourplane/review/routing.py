"""Which condition a fact, a finding of the design or a judgement speaks to; kept as data."""

from __future__ import annotations

from fourplane.base.findings import Finding
from fourplane.planes.model import FactRow, Plane

__all__ = ["DESIGN_CONDITIONS", "ROUTED_CODES", "condition_of_fact", "condition_of_finding"]

DESIGN_CONDITIONS = {
    Plane.COMPUTE: "R2.design",
    Plane.NETWORK: "R3.design",
    Plane.STORAGE: "R4.design",
    Plane.CONTROL: "R5.design",
    Plane.SECURITY: "R7.design",
}
"""Where what has no condition of its own lands; such a row appears only when it fails."""

_PREFIXES = ("shape", "network", "fabric", "storage", "control")
"""First words of a dotted name that only say where the fact is written."""

_WORDS: dict[Plane, dict[str, str]] = {
    Plane.COMPUTE: {
        "gpu": "R2.gpu_topology",
        "cpu": "R2.cpu_ram",
        "numa": "R2.cpu_ram",
        "memory": "R2.cpu_ram",
        "nvme": "R2.local_nvme",
        "nic": "R2.nics",
        "nics": "R2.nics",
        "lifecycle": "R2.lifecycle",
        "driver": "R2.lifecycle",
        "replacement": "R2.replacement",
        "homogeneous": "R2.homogeneity",
        "homogeneity": "R2.homogeneity",
    },
    Plane.NETWORK: {
        "nic": "R2.nics",
        "nics": "R2.nics",
        "kind": "R3.fabric",
        "rails": "R3.fabric",
        "rail_mapping": "R3.fabric",
        "gpudirect_rdma": "R3.fabric",
        "sharp": "R3.fabric",
        "placement": "R3.placement",
        "oversubscription": "R3.oversubscription",
        "failure_domains": "R3.failure_domains",
    },
    Plane.STORAGE: {
        "staging": "R4.staging",
        "weights": "R4.weight_cache",
        "caches": "R4.weight_cache",
        "checkpoints": "R4.checkpoint_write",
        "object_stores": "R4.object_store",
        "snapshots": "R4.snapshots",
        "backup": "R4.snapshots",
        "scratch": "R4.cleanup",
        "cleanup": "R4.cleanup",
        "outputs": "R4.outputs",
        "gds": "R4.gds",
    },
    Plane.CONTROL: {
        "slurm": "R5.scheduler",
        "kubernetes": "R5.scheduler",
        "scheduler": "R5.scheduler",
        "queues": "R5.queues",
        "quotas": "R5.quotas",
        "teams": "R5.quotas",
        "telemetry": "R6.jobs",
    },
    Plane.SECURITY: {
        "identity": "R7.identity",
        "secrets": "R7.secrets",
        "image_registry": "R7.image_policy",
        "image_signing": "R7.image_policy",
        "image_scanning": "R7.image_policy",
        "isolation": "R7.network_policy",
        "network_policy": "R7.network_policy",
        "egress": "R7.network_policy",
        "audit_retention": "R7.audit_logs",
        "data_cleanup": "R7.data_cleanup",
        "ssh": "R7.access",
        "break_glass": "R7.access",
        "vendor_access": "R7.access",
        "remote_hands": "R7.access",
    },
}

ROUTED_CODES = {
    "target-gpu-absent": "R2.gpu_topology",
    "precision-unsupported": "R2.gpu_topology",
    "checkpoint-stall-too-long": "R4.checkpoint_write",
    "checkpoint-interval-too-short": "R4.checkpoint_write",
    "restore-too-slow": "R4.checkpoint_restore",
    "staging-misses-deadline": "R4.staging",
    "weights-load-too-slow": "R4.weight_cache",
    "scheduler-missing": "R5.scheduler",
}
"""Findings whose code says more than the place they point at."""


def condition_of_fact(row: FactRow) -> str:
    """Return the id of the condition that a row of the three-way table speaks to."""
    return _WORDS[row.plane].get(_word(row.fact), DESIGN_CONDITIONS[row.plane])


def condition_of_finding(finding: Finding) -> str:
    """Return the id of the condition that an error of the design speaks to; ``R1.design`` for one without a plane."""
    if finding.code in ROUTED_CODES:
        return ROUTED_CODES[finding.code]
    if finding.plane not in set(Plane):
        return "R1.design"
    plane = Plane(finding.plane)
    return _WORDS[plane].get(_word(finding.path), DESIGN_CONDITIONS[plane])


def _word(path: str) -> str:
    """Return the first telling word: ``gpu`` of ``pools[0].shape.gpu.count``, ``kind`` of ``network.fabric.kind``."""
    words = [word.split("[", 1)[0] for word in path.split(".")]
    while len(words) > 1 and (words[0] in _PREFIXES or words[0] in ("pools", "nodes", "security")):
        words.pop(0)
    return words[0]
