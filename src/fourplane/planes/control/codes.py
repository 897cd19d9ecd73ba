"""Codes of the control plane's rules."""

from __future__ import annotations

from fourplane.base.codes import define

__all__: list[str] = []

_LIMITS = "https://slurm.schedmd.com/resource_limits.html"
_KUEUE = "https://kueue.sigs.k8s.io/docs/concepts/"

define(
    "scheduler-is-a-launcher",
    "The scheduler only launches jobs",
    "Without quotas one team takes all GPUs; without telemetry nobody can say who used them and for what; without "
    "runbooks a failure waits for the person who remembers. What is left starts jobs, and explains nothing.",
    "Declare teams with quotas, telemetry with owners, and runbooks for the failure classes.",
    _LIMITS,
    "X1",
)
define(
    "scheduler-missing",
    "Teams share GPUs, and no scheduler is declared",
    "Without one, whoever starts first holds the GPUs, and nothing is queued, counted or refused.",
    "Declare control.slurm or control.kubernetes, with the reason for the choice.",
    "https://slurm.schedmd.com/overview.html",
    "K0",
)
define(
    "quota-exceeds-pool",
    "Quotas are larger than the pool",
    "One team's quota above the pool never refuses anything. Quotas above it in sum can't all be met at once: as a "
    "guarantee they are false, as a ceiling they are fine; say which by share and priority.",
    "Lower the quotas, or make them ceilings with a share and a priority for each team.",
    _KUEUE,
    "K1",
)
define(
    "queue-without-retry",
    "A queue does not say how failures are retried",
    "Without a count, causes and a pause, either every node failure needs a person, or a job that always fails burns "
    "GPU "
    "time for ever.",
    "Declare retry with count, causes and backoff for each queue.",
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy",
    "K7",
)
define(
    "failure-without-runbook",
    "A class of failure has no runbook",
    "What is not written down before it happens is found out while all GPUs of the job idle.",
    "Write a runbook with owner, escalation, first commands and target recovery for each class.",
    "https://sre.google/workbook/incident-response/",
    "K7",
)
define(
    "two-schedulers-without-design",
    "Slurm and Kubernetes side by side without a common design",
    "Both need one identity, one view of the data, one telemetry and one cost label; otherwise a user is two users, "
    "and "
    "the bill has two halves that don't add up.",
    "State control.reason, security.identity and telemetry.labels for both.",
    "https://slurm.schedmd.com/slinky.html",
    "K3",
)
define(
    "kubernetes-without-queueing",
    "Batch work on Kubernetes without a queue",
    "The default scheduler places pods one by one: two multi-node jobs can each hold half of the nodes they need and "
    "wait "
    "for the other half. A queue admits a job as a whole, and holds quotas.",
    "Choose kueue, volcano or kai in control.kubernetes.queueing.",
    _KUEUE,
    "K1",
)
