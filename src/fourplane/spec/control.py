"""Control plane as declared: schedulers, queues, retries, runbooks, teams, telemetry (K, O, A2)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from fourplane.spec.types import Count, Duration, Flag, Model, Money, Name, Share, Text

__all__ = [
    "Control", "ControlOwners", "FailureClass", "Kubernetes", "Queue", "Retry", "Runbook", "Signal", "Slurm", "Team",
    "Telemetry",
]  # fmt: skip


class FailureClass(StrEnum):
    """Classes of failure that need an owner and a runbook (K7)."""

    NODE_LOST = "node-lost"
    GPU_FAULT = "gpu-fault"
    FABRIC_DEGRADED = "fabric-degraded"
    STORAGE_SLOW = "storage-slow-or-full"
    SCHEDULER_DOWN = "scheduler-down"
    QUOTA_DISPUTE = "quota-dispute"
    TENANT_LEAK = "tenant-leak"


class Slurm(Model):
    """Slurm as chosen."""

    version: Text | None = None
    accounting: Flag | None = None


class Kubernetes(Model):
    """Kubernetes as chosen.

    ``queueing`` is kueue, volcano, kai or none; ``gpu_stack`` is gpu-operator, device-plugin or dra.
    """

    version: Text | None = None
    distribution: Text | None = None
    queueing: Text | None = None
    gpu_stack: Text | None = None


class Retry(Model):
    """How failures are retried: how often, for which causes, with which pause."""

    count: Count | None = None
    causes: tuple[Text, ...] = ()
    backoff: Duration | None = None


class Queue(Model):
    """One queue: a partition and QOS, or a ClusterQueue."""

    name: Name
    scheduler: Text | None = None
    pool: Text | None = None
    owner: Text | None = None
    priority: Count | None = None
    max_wall: Duration | None = None
    retry: Retry | None = None


class ControlOwners(Model):
    """Named owners of the scheduler's policy (R5)."""

    queues: Text | None = None
    quotas: Text | None = None
    retries: Text | None = None
    user_access: Text | None = None


class Runbook(Model):
    """What is done when a class of failure happens, by whom, how fast."""

    failure: FailureClass
    owner: Text | None = None
    escalation: Text | None = None
    first_commands: tuple[Text, ...] = ()
    target_recovery: Duration | None = None


class Control(Model):
    """Control plane; ``reason`` says why this scheduler (K0)."""

    slurm: Slurm | None = None
    kubernetes: Kubernetes | None = None
    reason: Text | None = None
    owners: ControlOwners | None = None
    queues: tuple[Queue, ...] = ()
    runbooks: tuple[Runbook, ...] = ()


class Team(Model):
    """A tenant: quota in GPUs by pool, share, priority, the label that its spend carries."""

    name: Name
    owner: Text | None = None
    project: Text | None = None
    environment: Text | None = None
    cost_label: Text | None = None
    quotas: dict[str, Count] = Field(default_factory=dict)
    share: Share | None = None
    priority: Count | None = None
    budget_per_month: Money | None = None


class Signal(Model):
    """Where one group of signals comes from, who owns it, how long it is kept."""

    source: Text | None = None
    owner: Text | None = None
    retention: Duration | None = None


class Telemetry(Model):
    """Minimum telemetry (O2): jobs, GPUs, fabric, storage, scheduler, cost."""

    jobs: Signal | None = None
    gpus: Signal | None = None
    fabric: Signal | None = None
    storage: Signal | None = None
    scheduler: Signal | None = None
    cost: Signal | None = None
    labels: tuple[Text, ...] = ()
