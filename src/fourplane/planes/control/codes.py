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
_SLURM_CONF = "https://slurm.schedmd.com/slurm.conf.html"
_DRA = "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
_KUEUE_DRA = "https://kueue.sigs.k8s.io/docs/concepts/dynamic_resource_allocation/"
_SRE = "https://sre.google/workbook/incident-response/"

define(
    "scheduler-fit",
    "What speaks for each scheduler",
    "Slurm fits batch training, one central queue, MPI and few services; Kubernetes fits services, tenants in "
    "namespaces, API automation and policy. Each criterion is named with the field it comes from, so that the choice "
    "can be argued with.",
    "Nothing to mend: hold control.reason against it.",
    "https://slurm.schedmd.com/slinky.html",
    "K0",
)
define(
    "scheduler-against-criteria",
    "The brief speaks for the other scheduler",
    "A scheduler bent to work it was not made for is paid for in glue: gang start, fair share and accounting rebuilt "
    "on Kubernetes, or ingress, roll-out and tenancy rebuilt around Slurm.",
    "Choose the other one, or name in the brief what speaks for this one.",
    "https://slurm.schedmd.com/slinky.html",
    "K0",
)
define(
    "scheduler-choice-without-reason",
    "Nothing says why this scheduler was chosen",
    "A choice without a reason is fought again at each incident, and nobody can tell when its ground has gone.",
    "State control.reason in one sentence, with the criteria it rests on.",
    "https://slurm.schedmd.com/overview.html",
    "K0",
)
define(
    "slurm-without-accounting",
    "Quotas and shares on a Slurm without accounting",
    "Limits, QOS and fair share live in the accounting database; without slurmdbd and AccountingStorageEnforce they "
    "are written down and never enforced, and nobody can say who used what.",
    "Set control.slurm.accounting to true, run slurmdbd, and enforce associations, limits and QOS.",
    "https://slurm.schedmd.com/accounting.html",
    "K2",
)
define(
    "slurm-reconfigure-unsafe",
    "A wrong configuration takes this Slurm's controller down",
    "From 23.11 on a reconfigure starts new daemons and keeps the old ones when the new configuration fails. Before "
    "that the controller reads the file in place and may end on a slip, with all queues.",
    "Move to 23.11 or newer, or rehearse each change on a controller that nobody needs.",
    "https://slurm.schedmd.com/scontrol.html",
    "K2",
)
define(
    "kubernetes-gpu-stack-undefined",
    "Nothing says what brings GPUs into Kubernetes",
    "Without a device plugin or a DRA driver the scheduler sees no GPU at all; with two of them it sees each twice. "
    "Driver, toolkit, telemetry and MIG follow from this choice.",
    "State control.kubernetes.gpu_stack: gpu-operator, device-plugin or dra.",
    "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/",
    "K1",
)
define(
    "dra-needs-newer-kubernetes",
    "Dynamic resource allocation before its stable API",
    "Before 1.34 the API was alpha or beta, off by default and changed between releases: drivers, quotas and manifests "
    "written for it break at the next upgrade.",
    "Use Kubernetes 1.34 or newer, or the device plugin until then.",
    _DRA,
    "K1",
)
define(
    "kueue-dra-limits",
    "Kueue can't combine device claims with what the design needs",
    "Kueue counts claims of an exact number of devices. Topology-aware placement and per-claim settings such as "
    "time-slicing are not combined with them: such jobs are refused, or placed without regard to the fabric.",
    "Use the device plugin for these pools, or do without the feature named.",
    _KUEUE_DRA,
    "K1",
)
define(
    "ownership-hole",
    "A responsibility belongs to nobody",
    "Driver, image, policy, telemetry, support, upgrade, access and incident lie on the border between team and "
    "provider. What neither holds is found out at the first incident, with both waiting for the other.",
    "Name a person, a team or the provider for each field of brief.ownership, and put it into the contract.",
    "https://sre.google/sre-book/managing-incidents/",
    "B1",
)
define(
    "policy-owner-missing",
    "A part of the scheduler's policy has no owner",
    "Queues, quotas, retries and access are decisions about other people's time. Without a named owner they are made "
    "by whoever has root, and changed by whoever shouts.",
    "Name an owner of queues, quotas, retries and user_access in control.owners.",
    _LIMITS,
    "R5",
)
define(
    "runbook-incomplete",
    "A runbook lacks escalation, first commands or a target",
    "At night nobody invents: whom to call at the vendor, what to type first, and when to give up must stand there, "
    "or the runbook is a title.",
    "Give each runbook escalation, first_commands and target_recovery.",
    _SRE,
    "K7",
)
define(
    "team-without-label",
    "A team has no owner or no cost label",
    "Spend is joined to teams by a label on every job. A team without one lands in the row 'other', which grows until "
    "finance stops believing the rest.",
    "Give each team owner and cost_label, and have the scheduler refuse jobs without it.",
    "https://www.finops.org/framework/capabilities/allocation/",
    "O2",
)
define(
    "telemetry-hole",
    "Signals that the seven questions need have no source or no owner",
    "Jobs, GPUs, fabric, storage, scheduler and cost answer together who used what, what waited, what failed and what "
    "a result cost. One missing makes its question unanswerable for the time that is past.",
    "Declare source, owner and retention for each group of telemetry, and the labels that join them.",
    "https://docs.nvidia.com/datacenter/dcgm/latest/gpu-telemetry/dcgm-exporter.html",
    "O2",
)
define(
    "retry-without-causes",
    "Failures are retried whatever caused them",
    "A lost node is worth a retry, a wrong path in a script is not: retried without regard to the cause it burns the "
    "count on all its GPUs, and without a pause it meets the same broken node again.",
    "Declare retry.causes and retry.backoff for the queue.",
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy",
    "K7",
)
define(
    "queue-without-wall-limit",
    "A Slurm queue has no wall time",
    "Backfill starts small jobs in the gaps before a large one, and must know when running jobs end. Without a limit "
    "every job may run for ever: the large one waits for luck, and the gaps stay empty.",
    "Set max_wall on each queue, and a default time below it.",
    _SLURM_CONF,
    "K2",
)
define(
    "wall-limit-below-checkpoint",
    "Jobs end before their first checkpoint",
    "A job that is stopped at its wall time keeps what it saved; when the interval is longer than the longest queue "
    "allows, that is nothing, however often it is started again.",
    "Raise max_wall of a queue above the interval, or checkpoint more often and before the limit (--signal).",
    "https://slurm.schedmd.com/sbatch.html",
    "K2",
)
define(
    "team-shares-exceed-whole",
    "The shares of the teams add up to more than the whole",
    "A share says what a team gets when all ask at once; shares above 100 % in sum promise the same GPUs twice, and "
    "the scheduler silently scales them down.",
    "Lower the shares until they add up to 100 % or less.",
    "https://slurm.schedmd.com/fair_tree.html",
    "K1",
)
