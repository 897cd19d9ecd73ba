"""Rules on rails, owners and borders of the network, and on targets that nobody has reached (N1, N5)."""

from __future__ import annotations

from collections.abc import Iterator

from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.network import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.registry import Problem, rule
from fourplane.spec.network import Fabric, FabricKind

__all__: list[str] = []

_FABRIC = "network.fabric"
PUBLISHED_SHARE = 0.5
"""A GPU's share of the NICs below this share of what published nodes with the same GPU have is called out."""


def _fabric(design: Design) -> Fabric:
    return design.declaration.network.fabric or Fabric()


def _between_nodes(design: Design) -> bool:
    """Tell whether jobs cross a declared fabric."""
    return bool(design.synchronous and design.gpu_pools and _fabric(design).kind not in (None, FabricKind.NONE))


@rule("rail-mapping-undefined", Plane.NETWORK)
def rail_mapping_undefined(design: Design) -> Iterator[Problem]:
    """Several rails, and nothing on which NIC goes where."""
    fabric = _fabric(design)
    if _between_nodes(design) and (fabric.rails or 0) > 1 and not fabric.rail_mapping:
        message = f"{fabric.rails} rails are declared, and nothing says which NIC of a node is on which"
        yield Problem(f"{_FABRIC}.rails", message, "no rail_mapping", "rail_mapping, such as NIC i to leaf switch i")


@rule("failure-domain-undefined", Plane.NETWORK)
def failure_domain_undefined(design: Design) -> Iterator[Problem]:
    """Lock-step jobs over a fabric whose failure domains nobody named."""
    if _between_nodes(design) and not _fabric(design).failure_domains:
        message = "nothing says which nodes fail together when a switch, a rack or a power feed does"
        yield Problem(_FABRIC, message, "no failure_domains", "failure_domains, such as rack r1, rack r2")


@rule("fabric-without-owner", Plane.NETWORK)
def fabric_without_owner(design: Design) -> Iterator[Problem]:
    """A fabric between nodes without an owner."""
    fabric = _fabric(design)
    if design.gpu_pools and fabric.kind not in (None, FabricKind.NONE) and not fabric.owner:
        yield Problem(_FABRIC, f"nobody owns the {fabric.kind} fabric", "no owner", "network.fabric.owner")


@rule("fabric-unobserved", Plane.NETWORK)
def fabric_unobserved(design: Design) -> Iterator[Problem]:
    """A fabric under lock-step jobs whose errors the operator can't see."""
    seen = {str(one) for one in _fabric(design).visibility}
    missing = [one for one in ("errors", "congestion") if one not in seen]
    if _between_nodes(design) and missing:
        message = f"the operator can't see {' and '.join(missing)} of the fabric that jobs step over"
        found = ", ".join(sorted(seen)) or "nothing"
        yield Problem(f"{_FABRIC}.visibility", message, found, f"also {', '.join(missing)}")


@rule("border-without-owner", Plane.NETWORK)
def border_without_owner(design: Design) -> Iterator[Problem]:
    """Borders that a request crosses and nobody stands for."""
    for index, border in enumerate(design.declaration.network.borders):
        if not border.owner:
            message = f"nobody owns the border {border.name} that requests cross"
            yield Problem(f"network.borders[{index}]", message, "no owner", "an owner")


@rule("nic-rate-below-published", Plane.NETWORK)
def nic_rate_below_published(design: Design) -> Iterator[Problem]:
    """A GPU's share of the scale-out NICs against published nodes with that GPU."""
    for _, shape in design.gpu_shapes if design.synchronous else ():
        board = design.gpu(shape)
        node = design.published_nodes.get(board.key) if board else None
        facts = [node.fact(name) if node else None for name in ("scale_out_nics", "nic_speed", "gpus")]
        nics, speed, gpus = facts
        if not (node and nics and speed and gpus and shape.scale_out_rate):
            continue
        usual = nics.low * speed.low / gpus.low
        have = shape.scale_out_rate * 8 / 1e9 / shape.gpus
        if have < PUBLISHED_SHARE * usual:
            message = (
                f"{shape.name}: {have:.4g} Gb/s of NICs for each GPU; a published {node.title} has {usual:g} "
                f"({nics.sources[0].title})"
            )
            yield Problem(shape.path("nics"), message, f"{have:.4g} Gb/s", f"{usual:g} Gb/s a GPU")


@rule("allreduce-target-implausible", Plane.NETWORK)
def allreduce_target_implausible(design: Design) -> Iterator[Problem]:
    """Target of all-reduce against the best that was ever published for the GPU over as many nodes."""
    target = design.declaration.targets.all_reduce_busbw
    boards = {board.key: board for _, shape in design.gpu_shapes if (board := design.gpu(shape)) is not None}
    if target is None or len(boards) != 1:
        return
    key, board = next(iter(boards.items()))
    many = design.job_nodes > 1
    figures = [
        one
        for one in design.catalog.expected_figures
        if one.decides and one.op == "all_reduce" and one.gpu == key and (one.nodes > 1) == many
    ]
    best = max(figures, key=lambda one: one.high, default=None)
    if best is not None and target.base / 1e9 > best.high:
        where = f"{best.nodes} nodes" if many else "one node"
        message = (
            f"the target of all-reduce is {target}; the best published for {board.title} over {where} is "
            f"{best.high:g} GB/s ({best.source_titles})"
        )
        yield Problem("targets.all_reduce_busbw", message, str(target), f"at most {best.high:g} GB/s")


@rule("placement-wish-unanswered", Plane.NETWORK)
def placement_wish_unanswered(design: Design) -> Iterator[Problem]:
    """The brief asks for a placement group; the fabric promises none. Lock-step jobs are another rule's matter."""
    wish = design.brief.network
    if wish and wish.placement_group and not design.synchronous and design.gpu_pools and not _fabric(design).placement:
        message = "the brief asks for a placement group, and network.fabric names no placement"
        yield Problem("brief.network.placement_group", message, "no placement", "network.fabric.placement")
