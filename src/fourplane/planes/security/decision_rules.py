"""Rules on decisions that are open, and on sharing that the hardware or the job does not allow (A1, A2)."""

from __future__ import annotations

from collections.abc import Iterator

from fourplane.base.findings import Level
from fourplane.catalog.model import Subject
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.planes.security import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.shapes import PoolView
from fourplane.spec.compute import PoolRole, Sharing
from fourplane.spec.security import Security

__all__: list[str] = []


@rule("security-decision-missing", Plane.SECURITY)
def security_decision_missing(design: Design) -> Iterator[Problem]:
    """Decisions on identity, isolation and access that nobody took."""
    security, several = design.declaration.security, len(design.declaration.teams) > 1
    # isolation between teams has a rule of its own
    names = [name for name in Security.model_fields if not (several and name == "isolation")]
    missing = [name.replace("_", " ") for name in names if getattr(security, name) is None]
    if design.pools and missing:
        message = f"undecided: {', '.join(missing)}"
        yield Problem("security", message, f"{len(missing)} open", "a choice and an owner each")


def _boards(design: Design, view: PoolView) -> list[Subject]:
    return [board for shape in view.shapes if (board := design.gpu(shape)) is not None]


@rule("mig-unsupported", Plane.SECURITY, Level.ERROR)
def mig_unsupported(design: Design) -> Iterator[Problem]:
    """MIG on a board that has none."""
    for view in design.gpu_pools:
        for board in _boards(design, view) if view.pool.sharing is Sharing.MIG else ():
            fact = board.fact("mig_instances")
            if fact and fact.high == 0:
                message = f"pool {view.pool.name} is shared by MIG, and {board.title} has none"
                yield Problem(f"{view.path}.sharing", message, "mig", "whole-gpu, or a board with MIG")


@rule("mig-without-profile", Plane.SECURITY)
def mig_without_profile(design: Design) -> Iterator[Problem]:
    """MIG without the geometry."""
    for view in design.gpu_pools:
        if view.pool.sharing is Sharing.MIG and not view.pool.mig_profile:
            message = f"pool {view.pool.name} is shared by MIG, and no profile is named"
            yield Problem(f"{view.path}.sharing", message, "no mig_profile", "mig_profile, such as 1g.10gb")


@rule("sharing-under-synchronous", Plane.SECURITY, Level.ERROR)
def sharing_under_synchronous(design: Design) -> Iterator[Problem]:
    """Parts of GPUs under jobs that step together over nodes."""
    for view in design.gpu_pools if design.synchronous else ():
        sharing = view.pool.sharing
        if sharing in (None, Sharing.WHOLE) or view.pool.role not in (None, PoolRole.TRAINING):
            continue
        message = f"pool {view.pool.name} serves multi-node synchronous jobs, and its GPUs are shared by {sharing}"
        yield Problem(f"{view.path}.sharing", message, str(sharing), "whole-gpu")


@rule("cleanup-decided-not-built", Plane.SECURITY)
def cleanup_decided_not_built(design: Design) -> Iterator[Problem]:
    """Data clean-up decided, scratch declared, and nothing that cleans it; several teams are another rule's matter."""
    security, storage = design.declaration.security, design.declaration.storage
    if security.data_cleanup and storage.scratch and not storage.cleanup and len(design.declaration.teams) < 2:
        message = f"security decides '{security.data_cleanup.choice}', and nothing cleans scratch {storage.scratch}"
        yield Problem("security.data_cleanup", message, "no storage.cleanup", "storage.cleanup: what does it, and when")


@rule("sharing-undefined", Plane.SECURITY)
def sharing_undefined(design: Design) -> Iterator[Problem]:
    """Several teams on a GPU pool that does not say how a GPU is divided."""
    for view in design.gpu_pools:
        teams = [t.name for t in design.declaration.teams if view.pool.name in t.quotas or not t.quotas]
        if len(teams) > 1 and view.pool.sharing is None:
            message = f"pool {view.pool.name}: {len(teams)} teams, and nothing says whether a GPU is shared"
            yield Problem(f"{view.path}", message, "no sharing", "sharing: whole-gpu, mig, vgpu or time-slicing")
