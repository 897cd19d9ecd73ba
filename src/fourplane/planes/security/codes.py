"""Codes of the rules on security."""

from __future__ import annotations

from fourplane.base.codes import define

__all__: list[str] = []

define(
    "gpu-shared-across-teams",
    "Teams share one GPU without a decision on isolation",
    "Time-slicing isolates nothing: memory is not divided, a fault of one process ends the others, and use is not "
    "counted "
    "by tenant. MIG divides memory and compute, but changes telemetry, scheduling and performance.",
    "Give teams whole GPUs, or MIG with security.isolation stated; keep time-slicing inside one team.",
    "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html",
    "A2",
)
define(
    "teams-without-isolation",
    "Several teams, and no decision on isolation",
    "Whether teams are kept apart by namespace, account or cluster decides what each can read, delete and slow down.",
    "State security.isolation with its owner.",
    "https://kubernetes.io/docs/concepts/security/multi-tenancy/",
    "A1",
)
define(
    "decision-without-owner",
    "A security decision has no owner",
    "A rule that nobody stands for is not renewed, not audited, and first in doubt when an exception is asked for.",
    "Name the owner of the decision.",
    "",
    "A1",
)
