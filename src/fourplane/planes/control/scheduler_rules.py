"""Rules on the choice of scheduler and on what each of the two can't do (K0, K1, K2)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fourplane.base.findings import Level
from fourplane.catalog.model import format_number
from fourplane.planes.control import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.planes.versions import is_below
from fourplane.spec.brief import ScaleShape, WhyCluster, WorkloadType
from fourplane.spec.compute import Sharing

__all__ = ["Criterion", "criteria"]

_BATCH = (WorkloadType.PRE_TRAINING, WorkloadType.FINE_TUNING, WorkloadType.SIMULATION, WorkloadType.BATCH_INFERENCE)
_SERVICES = (WorkloadType.ONLINE_INFERENCE, WorkloadType.SEARCH, WorkloadType.EMBEDDINGS)
_HPC_TOOLS = re.compile(r"\b(?:slurm|open ?mpi|mpi|mpich)\b", re.IGNORECASE)
_SERVICE_TOOLS = re.compile(
    r"\b(?:kubernetes|kserve|knative|triton|vllm|sglang|tensorrt-llm|ray serve|own services?)\b", re.IGNORECASE
)

Criterion = tuple[str, str]
"""What speaks for a scheduler, and the field that says so."""


def criteria(design: Design) -> dict[str, list[Criterion]]:
    """Return what in the brief and the declaration speaks for Slurm and for Kubernetes, each with its field."""
    brief, security = design.brief, design.declaration.security
    tools = ", ".join(brief.frameworks)
    hpc, service = _HPC_TOOLS.search(tools), _SERVICE_TOOLS.search(tools)
    spaces = security.isolation is not None and "namespace" in security.isolation.choice.casefold()
    several = len(design.declaration.teams) > 1
    slurm = [
        (brief.workload in _BATCH, f"{brief.workload} is batch work", "brief.workload"),
        (design.synchronous, "all nodes of a job start and step together", "brief.scale"),
        (brief.scale is ScaleShape.BATCH_QUEUE, "work waits in one central queue", "brief.scale"),
        (bool(hpc), f"{hpc[0] if hpc else ''} is at home there", "brief.frameworks"),
        (WhyCluster.LONG_TRAINING in brief.why_cluster, "long runs under batch accounting", "brief.why_cluster"),
    ]
    kubernetes = [
        (brief.workload in _SERVICES, f"{brief.workload} is a service that stays up", "brief.workload"),
        (brief.workload is WorkloadType.NOTEBOOKS, "notebooks come and go by an API", "brief.workload"),
        (brief.scale is ScaleShape.SHARDED_INFERENCE, "replicas of several pods scale as one", "brief.scale"),
        (bool(service), f"{service[0] if service else ''} is deployed as a service", "brief.frameworks"),
        (WhyCluster.PRIVATE_SERVING in brief.why_cluster, "private serving needs ingress", "brief.why_cluster"),
        (spaces and several, "tenants are kept apart by namespace", "security.isolation"),
    ]
    return {
        "slurm": [(why, field) for holds, why, field in slurm if holds],
        "kubernetes": [(why, field) for holds, why, field in kubernetes if holds],
    }


def _told(found: list[Criterion]) -> str:
    return "; ".join(f"{why} ({field})" for why, field in found) or "nothing in the brief"


def _chosen(design: Design) -> list[str]:
    control = design.declaration.control
    return [name for name in ("slurm", "kubernetes") if getattr(control, name) is not None]


@rule("scheduler-fit", Plane.CONTROL, Level.INFO)
def scheduler_fit(design: Design) -> Iterator[Problem]:
    """Every criterion of the choice with the field it comes from."""
    chosen, found = _chosen(design), criteria(design)
    if chosen and any(found.values()):
        message = f"for Slurm: {_told(found['slurm'])}. For Kubernetes: {_told(found['kubernetes'])}"
        yield Problem(f"control.{chosen[0]}", message)


@rule("scheduler-against-criteria", Plane.CONTROL)
def scheduler_against_criteria(design: Design) -> Iterator[Problem]:
    """A scheduler for which nothing speaks, where two or more criteria speak for the other."""
    chosen, found = _chosen(design), criteria(design)
    if len(chosen) != 1:
        return
    other = "kubernetes" if chosen[0] == "slurm" else "slurm"
    if not found[chosen[0]] and len(found[other]) >= 2:
        message = f"{chosen[0]} is chosen; nothing in the brief speaks for it, and for {other}: {_told(found[other])}"
        yield Problem(f"control.{chosen[0]}", message, chosen[0], f"{other}, or a criterion that the brief lacks")


@rule("scheduler-choice-without-reason", Plane.CONTROL)
def scheduler_choice_without_reason(design: Design) -> Iterator[Problem]:
    """One scheduler without control.reason; two are another rule's matter."""
    chosen = _chosen(design)
    if len(chosen) == 1 and not design.declaration.control.reason:
        yield Problem("control", f"nothing says why {chosen[0]} was chosen", "no reason", "control.reason")


@rule("slurm-without-accounting", Plane.CONTROL, Level.ERROR)
def slurm_without_accounting(design: Design) -> Iterator[Problem]:
    """Quotas or shares on Slurm whose accounting is off; a warning where nobody said."""
    slurm, teams = design.declaration.control.slurm, design.declaration.teams
    limits = [team for team in teams if team.quotas or team.share is not None]
    if slurm is None or not limits or slurm.accounting:
        return
    off = slurm.accounting is False
    message = f"{len(limits)} teams have quotas or shares, and Slurm's accounting is {'off' if off else 'not declared'}"
    level = Level.ERROR if off else Level.WARNING
    yield Problem("control.slurm", message, "off" if off else "not said", "accounting: true", level)


@rule("slurm-reconfigure-unsafe", Plane.CONTROL)
def slurm_reconfigure_unsafe(design: Design) -> Iterator[Problem]:
    """Slurm older than the release whose reconfigure keeps the old daemons."""
    slurm, fact = design.declaration.control.slurm, design.catalog.fact("slurm", "safe_reconfigure")
    if slurm and fact and is_below(slurm.version, fact.low):
        message = f"Slurm {slurm.version}: a wrong slurm.conf takes the controller down on reconfigure"
        expected = f"{format_number(fact.low)} or newer"
        yield Problem("control.slurm.version", message, str(slurm.version), expected)


@rule("kubernetes-gpu-stack-undefined", Plane.CONTROL)
def kubernetes_gpu_stack_undefined(design: Design) -> Iterator[Problem]:
    """GPU pools on Kubernetes, and nothing on who brings driver and device plugin."""
    cluster = design.declaration.control.kubernetes
    if cluster and design.gpu_pools and not cluster.gpu_stack:
        message = "GPUs on Kubernetes, and nothing says what advertises them to the scheduler"
        yield Problem("control.kubernetes", message, "no gpu_stack", "gpu-operator, device-plugin or dra")


@rule("dra-needs-newer-kubernetes", Plane.CONTROL, Level.ERROR)
def dra_needs_newer_kubernetes(design: Design) -> Iterator[Problem]:
    """Dynamic resource allocation on a Kubernetes before its stable API."""
    cluster, fact = design.declaration.control.kubernetes, design.catalog.fact("kubernetes", "dra_stable")
    if cluster and cluster.gpu_stack == "dra" and fact and is_below(cluster.version, fact.low):
        message = f"GPUs by dynamic resource allocation on Kubernetes {cluster.version}, where its API is not stable"
        expected = f"{format_number(fact.low)} or newer"
        yield Problem("control.kubernetes.version", message, str(cluster.version), expected)


@rule("kueue-dra-limits", Plane.CONTROL)
def kueue_dra_limits(design: Design) -> Iterator[Problem]:
    """What Kueue can't combine with dynamic resource allocation, and the design needs."""
    cluster = design.declaration.control.kubernetes
    if not (cluster and cluster.gpu_stack == "dra" and cluster.queueing == "kueue"):
        return
    wish = design.brief.network
    needs = []
    if design.synchronous or (wish and wish.placement_group):
        needs.append("topology-aware placement")
    if any(view.pool.sharing is Sharing.TIME_SLICING for view in design.gpu_pools):
        needs.append("time-slicing by claim")
    if needs:
        message = f"Kueue does not combine claims of devices with {' or '.join(needs)}, which the design needs"
        yield Problem("control.kubernetes.gpu_stack", message, "dra with kueue", "gpu-operator or device-plugin")
