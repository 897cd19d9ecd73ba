"""Rules on the fabric: what a network gets wrong on paper for the job that shall run on it (N1, C3)."""

from __future__ import annotations

from collections.abc import Iterator

from fourplane.base.findings import Level
from fourplane.base.text import plural
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.network import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.registry import Problem, rule
from fourplane.planes.shapes import Shape, scale_out
from fourplane.spec.network import Fabric, FabricKind, NetworkModel

__all__ = ["prices"]

_FABRIC = "network.fabric"
_RDMA_KINDS = (FabricKind.INFINIBAND, FabricKind.ROCE, FabricKind.EFA)
_PORT_KINDS = {
    FabricKind.INFINIBAND: {"infiniband", "ib"},
    FabricKind.ROCE: {"roce", "ethernet"},
    FabricKind.EFA: {"efa", "ethernet"},
    FabricKind.ETHERNET: {"ethernet"},
}
SMALL_NODE_GPUS = 8
"""GPUs of the usual scale-up domain of one server."""


def _fabric(design: Design) -> Fabric:
    return design.declaration.network.fabric or Fabric()


@rule("fabric-missing-for-nodes", Plane.NETWORK, Level.ERROR)
def fabric_missing_for_nodes(design: Design) -> Iterator[Problem]:
    """Fabric `none` under jobs over several nodes."""
    many = design.synchronous or (design.brief.max_job_nodes or 1) > 1
    if many and _fabric(design).kind is FabricKind.NONE and design.gpu_pools:
        message = "jobs span nodes, and the fabric is declared as none"
        yield Problem(f"{_FABRIC}.kind", message, "none", "infiniband, roce or efa")


@rule("synchronous-over-ethernet", Plane.NETWORK, Level.ERROR)
def synchronous_over_ethernet(design: Design) -> Iterator[Problem]:
    """Plain Ethernet under lock-step jobs."""
    if design.synchronous and _fabric(design).kind is FabricKind.ETHERNET:
        message = "multi-node synchronous training is declared over Ethernet without RDMA"
        yield Problem(f"{_FABRIC}.kind", message, "ethernet", "infiniband, roce or efa")


@rule("synchronous-without-gpudirect", Plane.NETWORK, Level.ERROR)
def synchronous_without_gpudirect(design: Design) -> Iterator[Problem]:
    """GPUDirect RDMA ruled out under lock-step jobs."""
    if design.synchronous and _fabric(design).gpudirect_rdma is False and design.gpu_pools:
        message = "multi-node synchronous training is declared without GPUDirect RDMA"
        yield Problem(f"{_FABRIC}.gpudirect_rdma", message, "false", "true")


@rule("gpudirect-contradiction", Plane.NETWORK, Level.ERROR)
def gpudirect_contradiction(design: Design) -> Iterator[Problem]:
    """The fabric says yes, every scale-out NIC says no."""
    if not _fabric(design).gpudirect_rdma:
        return
    for _, shape in design.gpu_shapes:
        stated = [nic.gpu_direct for nic in scale_out(shape.nics)]
        if stated and all(value is False for value in stated):
            message = f"{shape.name}: no scale-out NIC is GPU-direct, the fabric is declared with GPUDirect RDMA"
            yield Problem(shape.path("nics"), message, "gpu_direct: false", "gpu_direct: true")


@rule("synchronous-oversubscribed", Plane.NETWORK)
def synchronous_oversubscribed(design: Design) -> Iterator[Problem]:
    """More than 1:1 under lock-step jobs."""
    ratio = _fabric(design).oversubscription
    if design.synchronous and ratio and ratio > 1:
        message = f"multi-node synchronous training over a fabric oversubscribed {ratio:g}:1"
        yield Problem(f"{_FABRIC}.oversubscription", message, f"{ratio:g}:1", "1:1")


@rule("placement-not-guaranteed", Plane.NETWORK)
def placement_not_guaranteed(design: Design) -> Iterator[Problem]:
    """No placement promise under lock-step jobs over a fabric."""
    fabric = _fabric(design)
    if design.synchronous and fabric.kind in _RDMA_KINDS and not fabric.placement:
        message = "multi-node synchronous training, and nothing is said about placement"
        yield Problem(_FABRIC, message, "no placement", "a placement guarantee by name")


@rule("rails-differ-from-nics", Plane.NETWORK)
def rails_differ_from_nics(design: Design) -> Iterator[Problem]:
    """Rails against the scale-out NICs of each GPU shape."""
    rails = _fabric(design).rails
    if not rails:
        return
    for _, shape in design.gpu_shapes:
        nics = shape.scale_out_count
        if nics and nics != rails:
            message = f"{shape.name}: {plural(nics, 'scale-out NIC')} for {plural(rails, 'rail')}"
            level = Level.ERROR if nics < rails else Level.WARNING
            yield Problem(shape.path("nics"), message, str(nics), str(rails), level)


@rule("nics-shared-unevenly", Plane.NETWORK)
def nics_shared_unevenly(design: Design) -> Iterator[Problem]:
    """GPUs and scale-out NICs of a shape, neither a multiple of the other, under jobs that leave the node."""
    if not design.synchronous:
        return
    for _, shape in design.gpu_shapes:
        nics = shape.scale_out_count
        if nics and shape.gpus % nics and nics % shape.gpus:
            message = f"{shape.name}: {plural(shape.gpus, 'GPU')} share {plural(nics, 'scale-out NIC')}"
            yield Problem(shape.path("nics"), message, str(nics), f"{shape.gpus}, or a divisor of it")


@rule("nic-kind-differs", Plane.NETWORK, Level.ERROR)
def nic_kind_differs(design: Design) -> Iterator[Problem]:
    """Kind of the scale-out NICs against the kind of the fabric."""
    kind = _fabric(design).kind
    fitting = _PORT_KINDS.get(kind) if kind else None
    for _, shape in design.gpu_shapes if fitting else ():
        kinds = [nic.kind.casefold() for nic in scale_out(shape.nics) if nic.kind]
        if fitting and kinds and not any(one in fitting for one in kinds):
            message = f"{shape.name}: scale-out NICs are {', '.join(sorted(set(kinds)))}, the fabric is {kind}"
            yield Problem(shape.path("nics"), message, kinds[0], str(kind))


@rule("sharp-without-infiniband", Plane.NETWORK, Level.ERROR)
def sharp_without_infiniband(design: Design) -> Iterator[Problem]:
    """SHARP on a fabric that is not InfiniBand."""
    fabric = _fabric(design)
    if fabric.sharp and fabric.kind and fabric.kind is not FabricKind.INFINIBAND:
        message = f"SHARP is declared, and the fabric is {fabric.kind}"
        yield Problem(f"{_FABRIC}.sharp", message, str(fabric.kind), "infiniband, or sharp: false")


@rule("overlay-under-rdma", Plane.NETWORK, Level.ERROR)
def overlay_under_rdma(design: Design) -> Iterator[Problem]:
    """Overlay network for containers on an RDMA fabric."""
    fabric = _fabric(design)
    if fabric.container_network is NetworkModel.OVERLAY and fabric.kind in _RDMA_KINDS:
        message = f"containers reach the {fabric.kind} fabric through an overlay network, which has no RDMA device"
        yield Problem(f"{_FABRIC}.container_network", message, "overlay", "host, sr-iov, macvlan or dra")


def prices(design: Design, shape: Shape) -> tuple[float, float, str] | None:
    """Return one-way GB/s of a GPU inside the node, its share of the NICs, and the source; None if unknown."""
    board = design.gpu(shape)
    link = board.fact("link") if board else None
    if link is None or not shape.scale_out_rate or not shape.gpus:
        return None
    one_way = link.low / 2 if link.conditions.get("direction") == "both" else link.low
    return one_way, shape.scale_out_rate / shape.gpus / 1e9, link.sources[0].title


@rule("small-nodes-for-synchronous", Plane.NETWORK)
def small_nodes_for_synchronous(design: Design) -> Iterator[Problem]:
    """Lock-step jobs over nodes with few GPUs, eight or more GPUs in sum."""
    if not design.synchronous:
        return
    for _, shape in design.gpu_shapes:
        total = shape.gpus * design.job_nodes
        if shape.gpus < SMALL_NODE_GPUS // 2 and total >= SMALL_NODE_GPUS:
            price = prices(design, shape)
            cost = (
                f": a GPU has {price[0]:.4g} GB/s to its neighbour inside an {SMALL_NODE_GPUS}-GPU node ({price[2]}), "
                f"and {price[1]:.3g} GB/s of NICs here"
                if price
                else ""
            )
            message = f"{shape.name}: {plural(total, 'GPU')} of one job in nodes of {shape.gpus} each{cost}"
            yield Problem(shape.path("gpu.count"), message, str(shape.gpus), f"{SMALL_NODE_GPUS} GPUs a node")


@rule("inter-node-price", Plane.NETWORK, Level.INFO)
def inter_node_price(design: Design) -> Iterator[Problem]:
    """Link inside the node against the share of the NICs, once a pool."""
    if not design.synchronous:
        return
    for view in design.gpu_pools:
        shape = view.shapes[0]
        price = prices(design, shape)
        if price and shape.gpus >= SMALL_NODE_GPUS // 2:
            inside, outside, source = price
            message = (
                f"{shape.name}: a GPU has {inside:.4g} GB/s one way inside the node ({source}) and {outside:.3g} "
                "GB/s of "
                f"NICs: a byte that leaves the node costs {inside / outside:.3g} times one that stays"
            )
            yield Problem(shape.path("nics"), message)
