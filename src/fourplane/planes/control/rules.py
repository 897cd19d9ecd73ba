"""Rules on scheduler, queues, quotas, retries and runbooks (K0 to K7, X1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fourplane.base.findings import Level
from fourplane.base.text import plural
from fourplane.planes.control import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.spec.brief import WorkloadType
from fourplane.spec.control import FailureClass, Telemetry

__all__: list[str] = []

_BATCH = (WorkloadType.PRE_TRAINING, WorkloadType.FINE_TUNING, WorkloadType.BATCH_INFERENCE, WorkloadType.SIMULATION)


@rule("scheduler-is-a-launcher", Plane.CONTROL)
def scheduler_is_a_launcher(design: Design) -> Iterator[Problem]:
    """Scheduler without quotas, telemetry or runbooks; an error when all three are missing."""
    declaration = design.declaration
    if not (declaration.control.slurm or declaration.control.kubernetes):
        return
    missing = []
    if not any(team.quotas for team in declaration.teams):
        missing.append("quotas")
    if declaration.telemetry == Telemetry():
        missing.append("telemetry")
    if not declaration.control.runbooks:
        missing.append("runbooks")
    if missing:
        level = Level.ERROR if len(missing) == 3 else Level.WARNING
        message = f"a scheduler without {', '.join(missing)}"
        yield Problem("control", message, f"no {', no '.join(missing)}", "quotas, telemetry and runbooks", level)


@rule("scheduler-missing", Plane.CONTROL, Level.ERROR)
def scheduler_missing(design: Design) -> Iterator[Problem]:
    """Two or more teams on GPUs without Slurm or Kubernetes."""
    control = design.declaration.control
    if len(design.declaration.teams) > 1 and design.gpu_pools and not (control.slurm or control.kubernetes):
        message = f"{len(design.declaration.teams)} teams share GPUs without a scheduler"
        yield Problem("control", message, "no scheduler", "slurm or kubernetes")


@rule("quota-exceeds-pool", Plane.CONTROL)
def quota_exceeds_pool(design: Design) -> Iterator[Problem]:
    """Each quota, and the quotas in sum where no share says that they are ceilings, against the pool's GPUs."""
    sizes = {view.pool.name: view.gpus for view in design.pools if view.gpus}
    sums: dict[str, int] = defaultdict(int)
    ceilings: dict[str, bool] = defaultdict(lambda: True)
    for index, team in enumerate(design.declaration.teams):
        for pool, quota in team.quotas.items():
            sums[pool] += quota
            ceilings[pool] = ceilings[pool] and team.share is not None
            if pool in sizes and quota > sizes[pool]:
                message = f"team {team.name} may use {quota:,} GPUs of pool {pool}, which has {sizes[pool]:,}"
                path = f"teams[{index}].quotas.{pool}"
                yield Problem(path, message, str(quota), f"at most {sizes[pool]}", Level.ERROR)
    for pool, total in sums.items():
        if pool in sizes and total > sizes[pool] and not ceilings[pool]:
            message = f"quotas on pool {pool} add up to {total:,} GPUs, and it has {sizes[pool]:,}"
            yield Problem("teams", message, str(total), f"at most {sizes[pool]}, or a share for each team")


@rule("queue-without-retry", Plane.CONTROL)
def queue_without_retry(design: Design) -> Iterator[Problem]:
    """Queues without a retry policy."""
    for index, queue in enumerate(design.declaration.control.queues):
        if queue.retry is None or queue.retry.count is None:
            message = f"queue {queue.name} does not say how failures are retried"
            yield Problem(f"control.queues[{index}]", message, "no retry", "retry with count, causes, backoff")


@rule("failure-without-runbook", Plane.CONTROL)
def failure_without_runbook(design: Design) -> Iterator[Problem]:
    """Failure classes of K7 without a runbook with an owner; the tenant classes only where there are tenants."""
    control = design.declaration.control
    if not control.runbooks:
        return
    written = {runbook.failure for runbook in control.runbooks}
    needed = set(FailureClass)
    if len(design.declaration.teams) < 2:
        needed -= {FailureClass.QUOTA_DISPUTE, FailureClass.TENANT_LEAK}
    if not (control.slurm or control.kubernetes):
        needed -= {FailureClass.SCHEDULER_DOWN}
    if not design.synchronous:
        needed -= {FailureClass.FABRIC_DEGRADED}
    missing = sorted(str(failure) for failure in needed - written)
    if missing:
        message = f"no runbook for {', '.join(missing)}"
        yield Problem("control.runbooks", message, plural(len(written), "class"), f"also {', '.join(missing)}")
    for index, runbook in enumerate(control.runbooks):
        if not runbook.owner:
            message = f"the runbook for {runbook.failure} has no owner"
            yield Problem(f"control.runbooks[{index}]", message, "no owner", "an owner")


@rule("two-schedulers-without-design", Plane.CONTROL)
def two_schedulers_without_design(design: Design) -> Iterator[Problem]:
    """Slurm and Kubernetes at once: reason, identity and labels."""
    declaration = design.declaration
    if not (declaration.control.slurm and declaration.control.kubernetes):
        return
    missing = [
        name
        for name, given in (
            ("control.reason", declaration.control.reason),
            ("security.identity", declaration.security.identity),
            ("telemetry.labels", declaration.telemetry.labels),
        )
        if not given
    ]
    if missing:
        message = f"Slurm and Kubernetes are both declared, without {', '.join(missing)}"
        yield Problem("control", message, f"no {', no '.join(missing)}", "one design for both")


@rule("kubernetes-without-queueing", Plane.CONTROL)
def kubernetes_without_queueing(design: Design) -> Iterator[Problem]:
    """Batch workload on Kubernetes alone, queueing none or unsaid."""
    control = design.declaration.control
    cluster = control.kubernetes
    if cluster and not control.slurm and design.brief.workload in _BATCH and (cluster.queueing or "none") == "none":
        message = f"{design.brief.workload} on Kubernetes without a queue"
        yield Problem("control.kubernetes", message, cluster.queueing or "no queueing", "kueue, volcano or kai")
