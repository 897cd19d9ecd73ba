"""Rules on who answers for what: owners, runbooks, labels, telemetry; and on queues and shares (K2, K7, O2, R5)."""

from __future__ import annotations

from collections.abc import Iterator

from fourplane.base.findings import Level
from fourplane.planes.control import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.spec.brief import OwnershipBoundary
from fourplane.spec.control import ControlOwners, Queue, Telemetry
from fourplane.spec.network import Fabric, FabricKind

__all__: list[str] = []


def _words(names: list[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


@rule("ownership-hole", Plane.CONTROL)
def ownership_hole(design: Design) -> Iterator[Problem]:
    """Responsibilities of the brief that nobody holds."""
    held = design.brief.ownership or OwnershipBoundary()
    missing = [name for name in OwnershipBoundary.model_fields if not getattr(held, name)]
    if design.pools and missing:
        message = f"nobody holds {_words(missing)}"
        yield Problem("brief.ownership", message, f"no owner of {_words(missing)}", "a person, team or provider each")


@rule("policy-owner-missing", Plane.CONTROL)
def policy_owner_missing(design: Design) -> Iterator[Problem]:
    """Parts of the scheduler's policy without a named owner."""
    control = design.declaration.control
    held = control.owners or ControlOwners()
    missing = [name for name in ControlOwners.model_fields if not getattr(held, name)]
    if (control.slurm or control.kubernetes) and missing:
        message = f"nobody decides on {_words(missing)} of the scheduler"
        yield Problem("control.owners", message, f"no owner of {_words(missing)}", "a named owner each")


@rule("runbook-incomplete", Plane.CONTROL)
def runbook_incomplete(design: Design) -> Iterator[Problem]:
    """Runbooks without escalation, first commands or a target recovery."""
    for index, runbook in enumerate(design.declaration.control.runbooks):
        parts = {
            "escalation": runbook.escalation,
            "first_commands": runbook.first_commands,
            "target_recovery": runbook.target_recovery,
        }
        missing = [name for name, value in parts.items() if not value]
        if missing:
            message = f"the runbook for {runbook.failure} has no {_words(missing)}"
            yield Problem(f"control.runbooks[{index}]", message, f"no {_words(missing)}", ", ".join(parts))


@rule("team-without-label", Plane.CONTROL)
def team_without_label(design: Design) -> Iterator[Problem]:
    """Teams whose spend nobody can name, or that nobody speaks for."""
    for index, team in enumerate(design.declaration.teams):
        missing = [name for name in ("owner", "cost_label") if not getattr(team, name)]
        if missing:
            message = f"team {team.name} has no {_words(missing)}"
            yield Problem(f"teams[{index}]", message, f"no {_words(missing)}", "owner and cost_label")


@rule("telemetry-hole", Plane.CONTROL)
def telemetry_hole(design: Design) -> Iterator[Problem]:
    """Groups of signals without a source or an owner; nothing at all is the launcher rule's matter."""
    telemetry, control = design.declaration.telemetry, design.declaration.control
    bare = telemetry == Telemetry() and (control.slurm or control.kubernetes)
    if not design.pools or bare:
        return
    names = [name for name in Telemetry.model_fields if name != "labels"]
    fabric = (design.declaration.network.fabric or Fabric()).kind
    if fabric in (None, FabricKind.NONE):
        names.remove("fabric")
    signals = {name: getattr(telemetry, name) for name in names}
    dark = [name for name, signal in signals.items() if signal is None or not signal.source]
    orphans = [name for name, signal in signals.items() if signal and signal.source and not signal.owner]
    told = [f"no source for {_words(dark)}"] if dark else []
    told += [f"no owner of {_words(orphans)}"] if orphans else []
    told += [] if telemetry.labels else ["no labels that join use to teams"]
    if told:
        yield Problem("telemetry", f"telemetry has {'; '.join(told)}", told[0], "source and owner each, and labels")


@rule("retry-without-causes", Plane.CONTROL)
def retry_without_causes(design: Design) -> Iterator[Problem]:
    """Retries for whatever happens, or without a pause."""
    for index, queue in enumerate(design.declaration.control.queues):
        retry = queue.retry
        if retry and retry.count:
            missing = [name for name, value in (("causes", retry.causes), ("backoff", retry.backoff)) if not value]
            if missing:
                message = f"queue {queue.name} retries {retry.count} times, without {_words(missing)}"
                path = f"control.queues[{index}].retry"
                yield Problem(path, message, f"no {_words(missing)}", "causes, such as node lost, and a backoff")


def _on_slurm(design: Design, queue: Queue) -> bool:
    control = design.declaration.control
    return queue.scheduler == "slurm" or (queue.scheduler is None and bool(control.slurm and not control.kubernetes))


@rule("queue-without-wall-limit", Plane.CONTROL)
def queue_without_wall_limit(design: Design) -> Iterator[Problem]:
    """Slurm queues whose jobs may run for ever."""
    for index, queue in enumerate(design.declaration.control.queues):
        if _on_slurm(design, queue) and queue.max_wall is None:
            message = f"queue {queue.name} has no wall time: backfill can't plan around its jobs"
            yield Problem(f"control.queues[{index}]", message, "no max_wall", "max_wall, such as 24 h")


@rule("wall-limit-below-checkpoint", Plane.CONTROL, Level.ERROR)
def wall_limit_below_checkpoint(design: Design) -> Iterator[Problem]:
    """Even the longest queue ends a job before its first checkpoint."""
    checkpoints, queues = design.declaration.storage.checkpoints, design.declaration.control.queues
    limits = [(queue.max_wall, index) for index, queue in enumerate(queues) if queue.max_wall]
    interval = checkpoints.interval if checkpoints else None
    if not design.trains or not interval or not limits or len(limits) < len(queues):
        return
    longest, index = max(limits, key=lambda pair: pair[0].amount)
    if longest.base < interval.base:
        message = f"the longest queue ends jobs after {longest}, and a checkpoint is due every {interval}"
        yield Problem(f"control.queues[{index}].max_wall", message, str(longest), f"more than {interval}")


@rule("team-shares-exceed-whole", Plane.CONTROL, Level.ERROR)
def team_shares_exceed_whole(design: Design) -> Iterator[Problem]:
    """Shares of all teams in sum."""
    shares = [team.share.amount for team in design.declaration.teams if team.share]
    total = sum(shares)
    if total > 1:
        message = f"the shares of {len(shares)} teams add up to {float(total):.0%}"
        yield Problem("teams", message, f"{float(total):.0%}", "at most 100 %")
