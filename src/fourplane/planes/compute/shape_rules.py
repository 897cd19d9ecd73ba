"""Rules on what a node shape says of itself, and on what the brief asked of it (C1, C3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fourplane.base.findings import Level
from fourplane.base.text import plural
from fourplane.base.units import Quantity, format_bytes
from fourplane.planes.compute import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.design import PRECISION_BYTES, Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.planes.shapes import Shape
from fourplane.spec.brief import NodeShapeWish

__all__: list[str] = []

_SWITCHED = ("nvswitch", "nvlink", "infinity-fabric")


@rule("interconnect-contradicts-board", Plane.COMPUTE, Level.ERROR)
def interconnect_contradicts_board(design: Design) -> Iterator[Problem]:
    """Interconnect inside the node against the form factor of its boards."""
    for _, shape in design.gpu_shapes:
        board = design.gpu(shape)
        form, said = shape.form_factor or (board.form_factor if board else ""), shape.interconnect
        wrong = (form == "pcie" and said == "nvswitch") or (form in ("sxm", "oam", "superchip") and said == "pcie")
        if wrong:
            message = f"{shape.name}: {form.upper()} boards are declared to talk over {said}"
            fitting = "pcie, or nvlink for bridged pairs" if form == "pcie" else " or ".join(_SWITCHED)
            yield Problem(shape.path("gpu.interconnect"), message, said, fitting)


@rule("homogeneity-contradiction", Plane.COMPUTE, Level.ERROR)
def homogeneity_contradiction(design: Design) -> Iterator[Problem]:
    """Nodes that differ in GPU, memory or cores in a pool that is declared as alike."""
    for view in design.gpu_pools:
        if not view.pool.homogeneous:
            continue
        first = view.shapes[0]
        for shape in view.shapes[1:]:
            told = [name for name, read in _ALIKE.items() if read(shape) != read(first)]
            if told:
                message = f"{shape.name} differs in {', '.join(told)}, and the pool is declared homogeneous"
                yield Problem(shape.own_path, message, f"another {told[0]}", "homogeneous: false, or like nodes")


_ALIKE: dict[str, Callable[[Shape], object]] = {
    "GPU model": lambda shape: shape.gpu_model.casefold(),
    "GPU count": lambda shape: shape.gpus,
    "GPU memory": lambda shape: shape.gpu_memory,
    "cores": lambda shape: shape.cores,
    "memory": lambda shape: shape.memory,
    "scale-out NICs": lambda shape: shape.scale_out_rate,
}


@rule("node-shape-below-brief", Plane.COMPUTE)
def node_shape_below_brief(design: Design) -> Iterator[Problem]:
    """What the brief asks of a node against the roomiest GPU pool, fact by fact."""
    wish = design.brief.node_shape
    shapes = [shape for _, shape in design.gpu_shapes]
    for name, read in _WISHES.items() if wish and shapes else ():
        wanted = getattr(wish, name)
        if wanted is None:
            continue
        least = wanted.base if isinstance(wanted, Quantity) else float(wanted)
        stated = [value for shape in shapes if (value := read(shape))]
        # TB and TiB differ by 9 %, and a pool that leaves the fact open is another rule's matter
        if stated and max(stated) < 0.9 * least:
            word = name.replace("_", " ")
            have = _shown(wanted, max(stated))
            message = f"the brief asks for {wanted} of {word} in a node; the best pool has {have}"
            yield Problem(f"brief.node_shape.{name}", message, have, f"at least {wanted}")


_WISHES: dict[str, Callable[[Shape], float]] = {
    "gpus": lambda shape: float(shape.gpus),
    "gpu_memory": lambda shape: shape.gpu_memory,
    "cpu_cores": lambda shape: float(shape.cores),
    "memory": lambda shape: shape.memory,
    "nvme": lambda shape: shape.nvme or 0.0,
    "nics": lambda shape: float(shape.scale_out_count),
    "power": lambda shape: shape.power,
}
assert set(_WISHES) == set(NodeShapeWish.model_fields)


def _shown(wanted: object, value: float) -> str:
    if not isinstance(wanted, Quantity):
        return f"{value:g}"
    return f"{value / 1e3:g} kW" if wanted.dimension == "W" else format_bytes(value)


@rule("no-link-between-gpus", Plane.COMPUTE)
def no_link_between_gpus(design: Design) -> Iterator[Problem]:
    """A model over several GPUs of a node whose GPUs only have PCIe between them."""
    weights = design.parameters * PRECISION_BYTES.get(design.precision, 2.0)
    state = design.parameters * design.bytes_per_parameter("state_bytes_per_parameter")[0]
    need = state if design.trains else weights
    for _, shape in design.gpu_shapes:
        memory, link = design.gpu_memory(shape), _pcie(design, shape)
        if need and memory and need > memory and shape.gpus > 1 and link:
            what = "training state" if design.trains else "weights"
            message = (
                f"{shape.name}: {format_bytes(need)} of {what} spread over GPUs of {format_bytes(memory)} that only "
                f"have {link} between them"
            )
            yield Problem(shape.path("gpu.interconnect"), message, link, "NVLink or Infinity Fabric")


def _pcie(design: Design, shape: Shape) -> str:
    """Return what stands for PCIe between the GPUs of a shape; "" where there is something faster, or nobody knows."""
    board = design.gpu(shape)
    link = board.fact("link") if board else None
    kind = link.conditions.get("kind", "") if link else ""
    if link and kind.startswith("PCIe") and shape.interconnect in ("", "pcie"):
        return f"{kind} at {link.shown} both ways"
    return "PCIe" if shape.interconnect == "pcie" else ""


@rule("gpus-split-unevenly", Plane.COMPUTE)
def gpus_split_unevenly(design: Design) -> Iterator[Problem]:
    """GPUs of a node against its NUMA nodes."""
    for _, shape in design.gpu_shapes:
        numa = shape.numa_nodes
        if numa > 1 and shape.gpus > 1 and shape.gpus % numa and numa % shape.gpus:
            message = f"{shape.name}: {plural(shape.gpus, 'GPU')} on {plural(numa, 'NUMA node')}"
            yield Problem(shape.path("cpu.numa_nodes"), message, str(numa), "a divisor or a multiple of the GPUs")
