"""Rules on isolation and access (A1, A2)."""

from __future__ import annotations

from collections.abc import Iterator

from fourplane.base.findings import Level
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.planes.security import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.spec.compute import Sharing
from fourplane.spec.security import Security

__all__: list[str] = []


@rule("gpu-shared-across-teams", Plane.SECURITY, Level.ERROR)
def gpu_shared_across_teams(design: Design) -> Iterator[Problem]:
    """Time-slicing across teams is an error; MIG and vGPU ask for a stated isolation."""
    declaration = design.declaration
    for view in design.pools:
        sharing = view.pool.sharing
        if sharing in (None, Sharing.WHOLE):
            continue
        teams = [team.name for team in declaration.teams if view.pool.name in team.quotas or not team.quotas]
        if len(teams) < 2:
            continue
        message = f"pool {view.pool.name}: {len(teams)} teams share GPUs by {sharing}"
        if sharing is Sharing.TIME_SLICING:
            yield Problem(f"{view.path}.sharing", message, str(sharing), "whole-gpu or mig")
        elif declaration.security.isolation is None:
            expected = "security.isolation stated"
            yield Problem(
                f"{view.path}.sharing", f"{message}, isolation undecided", str(sharing), expected, Level.WARNING
            )


@rule("teams-without-isolation", Plane.SECURITY)
def teams_without_isolation(design: Design) -> Iterator[Problem]:
    """Two or more teams without security.isolation."""
    teams = len(design.declaration.teams)
    if teams > 1 and design.declaration.security.isolation is None:
        yield Problem("security", f"{teams} teams, and isolation is undecided", "no decision", "security.isolation")


@rule("decision-without-owner", Plane.SECURITY)
def decision_without_owner(design: Design) -> Iterator[Problem]:
    """Decisions that were taken and belong to nobody."""
    security = design.declaration.security
    for name in Security.model_fields:
        decision = getattr(security, name)
        if decision is not None and not decision.owner:
            yield Problem(f"security.{name}", f"nobody owns the decision on {name}", "no owner", "an owner")
