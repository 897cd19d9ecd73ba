"""Lanes of users, nodes and fabric."""

from __future__ import annotations

from collections.abc import Iterator

from fourplane.base.hostlists import expand
from fourplane.base.text import plural
from fourplane.report.diagram.holes import Draft, lines
from fourplane.report.diagram.model import Box, BoxKind, Hole, Lane, NodeFigure, Panel, Row, RowKind
from fourplane.review.wording import is_set, listing
from fourplane.spec.brief import WorkloadType
from fourplane.spec.compute import NodeShape, Pool, PoolRole, Sharing
from fourplane.spec.network import Fabric, FabricKind

__all__ = ["MOST_BORDERS", "MOST_POOLS", "fabric_lane", "is_target", "node_count", "nodes_lane", "users_lane"]

MOST_POOLS = 8
"""Pools drawn; the rest is folded into one box."""
MOST_BORDERS = 6

_SERVING = (WorkloadType.ONLINE_INFERENCE, WorkloadType.SEARCH, WorkloadType.EMBEDDINGS, WorkloadType.MEDIA_GENERATION)
_SHARED = {
    Sharing.WHOLE: "whole GPUs", Sharing.MIG: "GPUs divided by MIG", Sharing.VGPU: "GPUs shared as vGPU",
    Sharing.TIME_SLICING: "GPUs shared in time slices",
}  # fmt: skip
_NO_TARGET = (PoolRole.LOGIN, PoolRole.CPU, PoolRole.STAND_IN)


def is_target(pool: Pool) -> bool:
    """Tell whether a pool holds the GPUs that the cluster is built for."""
    return pool.role not in _NO_TARGET


def node_count(pool: Pool) -> int | None:
    """Return how many nodes a pool has, by count, host list or entries; None where nobody said."""
    if pool.count is not None:
        return pool.count
    if pool.hosts:
        return len(expand(pool.hosts))
    return sum(len(expand(entry.name)) for entry in pool.nodes) or None


# ── users ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def users_lane(draft: Draft) -> Lane:
    """Return the top lane: users, CI, product traffic and API clients, and how each comes in."""
    declaration = draft.declaration
    network, security, control = declaration.network, declaration.security, declaration.control
    serving = declaration.brief.workload in _SERVING or any(p.role is PoolRole.INFERENCE for p in declaration.pools)
    teams = [team.name for team in declaration.teams]
    chosen = [name.capitalize() for name in ("slurm", "kubernetes") if getattr(control, name)]
    users = Box(
        "actor:users",
        "Users",
        lines(
            f"{plural(len(teams), 'team')}: {listing(teams, limit=3)}" if teams else "no team is declared",
            security.ssh and f"SSH: {security.ssh.choice}",
        ),
        BoxKind.ACTOR,
    )
    ci = Box(
        "actor:ci",
        "CI",
        lines("builds and pushes images", security.image_registry and f"to: {security.image_registry.choice}"),
        BoxKind.ACTOR,
    )
    ingress = draft.gap(network.ingress, "nobody declared the ingress", "network.ingress") if serving else ()
    ways = lines(network.ingress and f"ingress: {network.ingress}", network.dns and f"DNS: {network.dns}")
    traffic = Box(
        "actor:traffic",
        "Product traffic",
        ways if ways or serving else ("none declared",),
        BoxKind.ACTOR,
        gaps=ingress,
    )
    api = Box(
        "actor:api",
        "API clients",
        lines(
            f"call {listing(chosen)}" if chosen else "no API is declared",
            network.mesh and f"mesh: {network.mesh}",
            network.egress and f"egress: {network.egress}",
        ),
        BoxKind.ACTOR,
    )
    return Lane("users", "Users and clients", (Panel("users", (Row((users, ci, traffic, api)),)),))


# ── nodes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def nodes_lane(draft: Draft) -> Lane:
    """Return the lane of nodes: a box for each pool, many pools folded."""
    pools = list(enumerate(draft.declaration.pools))
    if not pools:
        hole = draft.hole("nobody declared a node", "pools", "R2.gpu_topology")
        boxes: tuple[Box, ...] = (Box("pools", "Nodes", hole=hole, kind=BoxKind.POOL),)
        return Lane("nodes", "Nodes", (Panel("nodes", (Row(boxes),)),))
    shown = pools if len(pools) <= MOST_POOLS else pools[: MOST_POOLS - 1]
    boxes = tuple(_pool(draft, i, pool) for i, pool in shown)
    rest = pools[len(shown) :]
    if rest:
        counts = [node_count(pool) or 0 for _, pool in rest]
        gaps = tuple(hole for i, pool in rest for hole in _pool_gaps(draft, i, pool))
        first = f"pools[{rest[0][0]}]"
        folded = (draft.hole(f"{len(gaps):,} more holes in these pools", first, gaps[0].condition),) if gaps else ()
        boxes += (
            Box(
                "fold:pools",
                f"and {plural(len(rest), 'more pool')}",
                (plural(sum(counts), "node"),),
                BoxKind.FOLD,
                gaps=folded,
                subjects=tuple(f"pools[{i}]" for i, _ in rest),
                figure=NodeFigure(0, False, sum(counts)),
            ),
        )
    return Lane("nodes", "Nodes", (Panel("nodes", (Row(boxes),)),))


def _pool(draft: Draft, index: int, pool: Pool) -> Box:
    count, shape = node_count(pool), pool.shape
    role = str(pool.role) if pool.role else ""
    gpu = shape.gpu if shape else None
    known = f"{plural(count, 'node')}{', ' + role if role else ''}" if count is not None else role
    return Box(
        f"pool:{pool.name}",
        pool.name,
        lines(known, *_shape_lines(shape), _SHARED[pool.sharing] if pool.sharing and gpu and gpu.count else None),
        BoxKind.POOL,
        gaps=_pool_gaps(draft, index, pool),
        subjects=(f"pools[{index}]",),
        figure=NodeFigure(
            gpu.count or 0 if gpu else 0,
            bool(gpu and gpu.interconnect and gpu.interconnect != "pcie"),
            count or 0,
        ),
    )


def _shape_lines(shape: NodeShape | None) -> Iterator[str]:
    if shape is None:
        return
    gpu, cpu = shape.gpu, shape.cpu
    if gpu and gpu.count == 0:
        yield "no GPU"
    elif gpu and (gpu.model or gpu.count):
        words = [f"{gpu.count} ×" if gpu.count else "", gpu.model or "GPU", str(gpu.memory or ""),
                 str(gpu.form_factor or "")]  # fmt: skip
        yield " ".join(word for word in words if word)
    host = [f"{plural(cpu.cores, 'core')}" if cpu and cpu.cores else "", f"{shape.memory} RAM" if shape.memory else "",
            f"{shape.nvme.total} NVMe" if shape.nvme and shape.nvme.total else ""]  # fmt: skip
    if any(host):
        yield ", ".join(word for word in host if word)
    for nic in shape.nics[:3]:
        yield " ".join(word for word in (f"{nic.count} ×" if nic.count else "", str(nic.speed or ""), nic.kind or "NIC")
                       if word)  # fmt: skip


def _pool_gaps(draft: Draft, index: int, pool: Pool) -> tuple[Hole, ...]:
    def gap(value: object, text: str, key: str, condition: str = "", codes: tuple[str, ...] = ()) -> tuple[Hole, ...]:
        return draft.gap(value, f"{text} of pool {pool.name}", f"pools[{index}].{key}", condition, codes, text)

    gaps = gap(node_count(pool), "nobody counts the nodes", "count")
    if not is_target(pool):
        return gaps
    queues = draft.declaration.control.queues
    if queues and not any(queue.pool in (None, pool.name) for queue in queues):
        text = f"no queue leads to pool {pool.name}"
        gaps += (draft.hole(text, "control.queues", "R5.queues", drawn="no queue leads here"),)
    gpu = pool.shape.gpu if pool.shape else None
    gaps += gap(gpu and gpu.model, "nobody states the GPU model", "shape.gpu.model", "R2.gpu_topology",
                ("target-gpu-absent",))  # fmt: skip
    gaps += gap(pool.sharing, "nobody decided on sharing the GPUs", "sharing")
    care = pool.replacement.owner if pool.replacement else None
    return gaps + gap(care, "nobody owns the replacement", "replacement.owner", "R2.replacement")


# ── fabric ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def fabric_lane(draft: Draft) -> Lane:
    """Return the lane of the fabric, and the borders that a request crosses."""
    network = draft.declaration.network
    rows = [Row(tuple(_fabric(draft, network.fabric)))]
    borders = list(enumerate(network.borders))
    if not borders:
        hole = draft.hole("nobody listed the borders that a request crosses", "network.borders")
        rows.append(Row((Box("borders", "Borders", hole=hole),), label="Borders of a request"))
        return Lane("fabric", "Fabric and network", (Panel("fabric", tuple(rows)),))
    shown = borders if len(borders) <= MOST_BORDERS else borders[: MOST_BORDERS - 1]
    boxes = [
        Box(
            f"border:{i}",
            border.name,
            lines(border.technology),
            owner=border.owner or "",
            gaps=draft.gap(
                border.owner,
                f"nobody owns the border {border.name}",
                f"network.borders[{i}].owner",
                drawn="nobody owns this border",
            ),
            subjects=(f"network.borders[{i}]",),
        )
        for i, border in shown
    ]
    rest = borders[len(shown) :]
    if rest:
        missing = [(border.name, f"network.borders[{i}].owner") for i, border in rest if not is_set(border.owner)]
        boxes.append(
            Box(
                "fold:borders",
                f"and {plural(len(rest), 'more border')}",
                (listing([border.name for _, border in rest], limit=3),),
                BoxKind.FOLD,
                gaps=draft.gap_of(missing, "nobody owns the borders"),
                subjects=tuple(f"network.borders[{i}]" for i, _ in rest),
            )
        )
    rows.append(Row(tuple(boxes), RowKind.CHAIN, "Borders of a request"))
    return Lane("fabric", "Fabric and network", (Panel("fabric", tuple(rows)),))


_KINDS = {FabricKind.INFINIBAND: "InfiniBand", FabricKind.ROCE: "RoCE", FabricKind.EFA: "EFA",
          FabricKind.ETHERNET: "Ethernet"}  # fmt: skip


def _fabric(draft: Draft, fabric: Fabric | None) -> Iterator[Box]:
    if fabric is None or fabric.kind is None:
        hole = draft.hole("nobody declared a fabric", "network.fabric", "R3.fabric", ("fabric-missing-for-nodes",))
        yield Box("fabric:kind", "Fabric between the nodes", hole=hole)
        return
    if fabric.kind is FabricKind.NONE:
        yield Box("fabric:kind", "No fabric", ("one node: nothing leaves it",), subjects=("network.fabric",))
        return
    path = "network.fabric"
    yield Box(
        "fabric:kind",
        f"{_KINDS.get(fabric.kind, str(fabric.kind))} fabric",
        lines(
            _rails(fabric),
            f"oversubscription {fabric.oversubscription:g}:1" if fabric.oversubscription else None,
            _yes_no("GPUDirect RDMA", fabric.gpudirect_rdma),
        ),
        gaps=draft.gap(fabric.oversubscription, "nobody states the oversubscription", f"{path}.oversubscription",
                       "R3.oversubscription", ("synchronous-oversubscribed",))
        + draft.gap(fabric.owner, "nobody owns the fabric", f"{path}.owner"),
        subjects=(path,),
        owner=fabric.owner or "",
    )  # fmt: skip
    yield Box(
        "fabric:placement",
        "Placement and failure domains",
        lines(fabric.placement, listing(fabric.failure_domains, limit=3), _switches(draft)),
        gaps=draft.gap(fabric.placement, "nobody promises a placement", f"{path}.placement", "R3.placement",
                       ("placement-not-guaranteed",))
        + draft.gap(fabric.failure_domains, "nobody states the failure domains", f"{path}.failure_domains",
                    "R3.failure_domains"),
    )  # fmt: skip
    yield Box(
        "fabric:visibility",
        "Job network and visibility",
        lines(
            fabric.host_network and f"host network: {fabric.host_network}",
            fabric.container_network and f"containers: {fabric.container_network}",
            fabric.visibility and f"visible: {listing([str(v) for v in fabric.visibility])}",
        ),
        gaps=draft.gap(fabric.visibility, "nobody can see fabric errors", f"{path}.visibility", "R6.fabric"),
    )


def _rails(fabric: Fabric) -> str | None:
    words = [plural(fabric.rails, "rail")] if fabric.rails else []
    return ": ".join([*words, fabric.rail_mapping] if fabric.rail_mapping else words) or None


def _yes_no(what: str, flag: bool | None) -> str | None:
    return None if flag is None else what if flag else f"no {what}"


def _switches(draft: Draft) -> str | None:
    names = dict.fromkeys(entry.switch for pool in draft.declaration.pools for entry in pool.nodes if entry.switch)
    return f"switches {listing(list(names), limit=3)}" if names else None
