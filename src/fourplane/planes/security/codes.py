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
_MIG_GUIDE = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-gpus.html"

define(
    "security-decision-missing",
    "Security decisions are open",
    "Identity, images, secrets, egress, clean-up, audit, break-glass and vendor access are decided by the first "
    "shortcut when nobody decides them; afterwards the shortcut is in every job script.",
    "Decide each entry of security, with an owner, before the first user has access.",
    "https://csrc.nist.gov/pubs/sp/800/223/final",
    "A1",
)
define(
    "mig-unsupported",
    "This GPU can't be divided by MIG",
    "MIG is a function of some boards only. On others the mode can't be switched on; what is left is time-slicing, "
    "which isolates neither memory nor faults.",
    "Give whole GPUs, or choose a board with MIG.",
    _MIG_GUIDE,
    "A2",
)
define(
    "mig-without-profile",
    "MIG is declared without a profile",
    "The profile decides how many tenants a GPU holds and how much memory each has; quotas in GPUs mean nothing until "
    "it is known, and a node whose geometry differs drops out of its queue.",
    "State mig_profile in the pool, such as 1g.10gb.",
    "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html",
    "A2",
)
define(
    "sharing-under-synchronous",
    "Jobs that step together run on parts of GPUs",
    "Between MIG instances there is no peer-to-peer over NVLink or PCIe, so collectives pass through host memory; "
    "time-sliced ranks wait for each other's slices on every step. The whole job runs at the pace of the worst part.",
    "Give synchronous jobs whole GPUs, and keep sharing for pools of notebooks or small models.",
    "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
    "A2",
)
define(
    "cleanup-decided-not-built",
    "Clean-up is decided, and nothing does it",
    "A policy without a mechanism holds until the first disk is full or the first node is returned: what the last job "
    "left is there for the next one, and for whoever gets the hardware afterwards.",
    "State in storage.cleanup what removes the data: epilog, ephemeral volume, wipe at return.",
    "https://csrc.nist.gov/pubs/sp/800/88/r1/final",
    "A1",
)
define(
    "sharing-undefined",
    "Several teams, and nothing says whether a GPU is shared",
    "Whole GPU, MIG, vGPU and time-slicing differ in isolation, telemetry, scheduling and speed. Left open, the "
    "default of whatever plugin is installed decides it, and may change with its next release.",
    "State sharing in the pool.",
    "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html",
    "A2",
)
