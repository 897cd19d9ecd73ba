"""From a declaration to the diagram: lanes, edges between them, and a summary in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fourplane.base.findings import Finding
from fourplane.base.text import plural
from fourplane.report.diagram.control_lane import control_lane
from fourplane.report.diagram.holes import Draft
from fourplane.report.diagram.machine_lanes import fabric_lane, nodes_lane, users_lane
from fourplane.report.diagram.model import Box, BoxKind, Diagram, Edge, Lane
from fourplane.report.diagram.storage_lane import storage_lane
from fourplane.review.wording import listing
from fourplane.spec.compute import Pool
from fourplane.spec.declaration import Declaration
from fourplane.spec.network import FabricKind
from fourplane.spec.workspace import Workspace

__all__ = ["build"]


def build(workspace: Workspace, findings: Iterable[Finding] = ()) -> Diagram:
    """Put the diagram of a declared cluster together.

    Args:
        workspace: the declaration; quotes and evidence don't change the picture.
        findings: what rules say about the design; a hole is linked to the finding about it.
    """
    draft = Draft(workspace, findings)
    lanes = (users_lane(draft), control_lane(draft), nodes_lane(draft), fabric_lane(draft), storage_lane(draft))
    diagram = Diagram(draft.declaration.name, lanes, tuple(_edges(draft.declaration, lanes)), "")
    return Diagram(diagram.name, diagram.lanes, diagram.edges, _summary(draft.declaration, diagram))


def _edges(declaration: Declaration, lanes: Sequence[Lane]) -> Iterable[Edge]:
    users, control, nodes, fabric, storage = lanes
    said = {"actor:users": "jobs", "actor:ci": "images", "actor:traffic": "requests", "actor:api": "API calls"}
    yield from (Edge(box.id, control.id, said.get(box.id, "")) for box in users.boxes)
    pools = {f"pool:{pool.name}": pool for pool in declaration.pools}
    for box in nodes.boxes:
        pool = pools.get(box.id)
        yield Edge(control.id, box.id, _queues_of(declaration, pool) if pool and box.kind is BoxKind.POOL else "")
    for box in nodes.boxes:
        pool = pools.get(box.id)
        yield Edge(box.id, fabric.id, _fabric_nics(pool) if pool and box.kind is BoxKind.POOL else "")
    yield Edge(fabric.id, storage.id, _rates(declaration))


def _queues_of(declaration: Declaration, pool: Pool) -> str:
    """Return the queues that lead to a pool; one without a pool leads to all of them."""
    names = [queue.name for queue in declaration.control.queues if queue.pool in (None, pool.name)]
    return listing(names, limit=3)


def _fabric_nics(pool: Pool) -> str:
    """Return the interfaces that carry the most, such as ``8 × 400 Gb/s``."""
    nics = [nic for nic in (pool.shape.nics if pool.shape else ()) if nic.count and nic.speed]
    if not nics:
        return ""
    best = max(nics, key=lambda nic: (nic.speed.base if nic.speed else 0) * (nic.count or 0))
    return f"{best.count} × {best.speed} each"


def _rates(declaration: Declaration) -> str:
    storage = declaration.storage
    staging = storage.staging.throughput if storage.staging else None
    writes = storage.checkpoints.write_throughput if storage.checkpoints else None
    said = [f"staging {staging}"] if staging else []
    return " · ".join([*said, f"checkpoints {writes}"] if writes else said)


def _summary(declaration: Declaration, diagram: Diagram) -> str:
    control, fabric = declaration.control, declaration.network.fabric
    chosen = [name.capitalize() for name in ("slurm", "kubernetes") if getattr(control, name) is not None]
    nodes = sum(box.figure.nodes for box in _pools(diagram.lanes[2]) if box.figure)
    parts = [
        plural(len(declaration.teams), "team"),
        listing(chosen) or "no scheduler",
        f"{plural(nodes, 'node')} in {plural(len(declaration.pools), 'pool')}",
        "one node without a fabric"
        if fabric and fabric.kind is FabricKind.NONE
        else f"{fabric.kind} fabric"
        if fabric and fabric.kind
        else "no fabric declared",
        plural(len(declaration.storage.filesystems), "file system"),
        plural(len(declaration.storage.object_stores), "object store"),
    ]
    holes = len(diagram.holes)
    missing = f"{plural(holes, 'missing responsibility')}." if holes == 1 else f"{holes:,} missing responsibilities."
    return (
        f"From users and clients over control plane, nodes and fabric to storage: {', '.join(parts)}; "
        f"{missing if holes else 'every responsibility that is drawn has an owner.'}"
    )


def _pools(lane: Lane) -> Iterable[Box]:
    return (box for box in lane.boxes if box.figure)
