"""Rules on node shapes: what a pool gets wrong before anything was measured (C1, C3, C4)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from fourplane.base.findings import Level
from fourplane.base.text import plural
from fourplane.base.units import format_bytes
from fourplane.catalog.model import Subject
from fourplane.planes.compute import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.design import PRECISION_BYTES, Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.spec.brief import WorkloadType
from fourplane.spec.compute import LifeCycle

__all__: list[str] = []

FALLBACK_CORES_PER_GPU = 4
"""Least cores a GPU where the catalogue knows no node with it: one process, its loaders and the proxy thread."""
SUPPORT_WARNING = timedelta(days=90)


@rule("gpu-model-ambiguous", Plane.COMPUTE)
def gpu_model_ambiguous(design: Design) -> Iterator[Problem]:
    """A bare family name with several boards and no form factor."""
    for _, shape in design.gpu_shapes:
        if shape.gpu_model and not shape.form_factor:
            boards = design.boards(shape.gpu_model)
            if len(boards) > 1:
                names = ", ".join(board.title for board in boards)
                message = f"{shape.name}: {shape.gpu_model} may be {names}"
                yield Problem(shape.path("gpu.model"), message, shape.gpu_model, "model with form_factor")


@rule("gpu-form-factor-unknown", Plane.COMPUTE, Level.ERROR)
def gpu_form_factor_unknown(design: Design) -> Iterator[Problem]:
    """A known model on a board that the catalogue has not."""
    for _, shape in design.gpu_shapes:
        if shape.gpu_model and shape.form_factor:
            boards = design.boards(shape.gpu_model)
            factors = sorted({board.form_factor for board in boards})
            if factors and shape.form_factor not in factors:
                message = f"{shape.name}: {shape.gpu_model} is known as {', '.join(factors)}, not {shape.form_factor}"
                yield Problem(shape.path("gpu.form_factor"), message, shape.form_factor, " or ".join(factors))


@rule("gpu-memory-differs", Plane.COMPUTE)
def gpu_memory_differs(design: Design) -> Iterator[Problem]:
    """Declared memory more than a tenth off the catalogue's range."""
    for _, shape in design.gpu_shapes:
        board = design.gpu(shape)
        fact = board.fact("memory") if board else None
        if board and fact and shape.gpu_memory and not 0.9 * fact.low <= shape.gpu_memory / 1e9 <= 1.1 * fact.high:
            message = (
                f"{shape.name}: {format_bytes(shape.gpu_memory)} declared for {board.title}, which has {fact.shown}"
            )
            yield Problem(shape.path("gpu.memory"), message, f"{shape.gpu_memory / 1e9:.4g} GB", fact.shown)


@rule("gpu-memory-too-small", Plane.COMPUTE, Level.ERROR)
def gpu_memory_too_small(design: Design) -> Iterator[Problem]:
    """Weights, or training state, larger than the GPU memory of the largest job on the roomiest shape."""
    nodes = max(1, design.job_nodes)
    weights = design.parameters * PRECISION_BYTES.get(design.precision, 2.0)
    state = design.parameters * design.bytes_per_parameter("state_bytes_per_parameter")[0]
    rooms = [(design.gpu_memory(shape) * shape.gpus * nodes, shape) for _, shape in design.gpu_shapes]
    if not weights or not rooms or not all(room for room, _ in rooms):
        return
    memory, shape = max(rooms, key=lambda pair: pair[0])
    room = f"{plural(nodes, 'node')} × {plural(shape.gpus, 'GPU')} of {shape.name} hold {format_bytes(memory)}"
    size = f"{design.parameters / 1e9:g} billion parameters"
    if weights > memory:
        need = f"{size} in {design.precision or '2-byte precision'} need {format_bytes(weights)}"
        message = f"the weights alone do not fit: {need}, {room}"
        yield Problem(shape.path("gpu.memory"), message, format_bytes(memory), f"at least {format_bytes(weights)}")
    elif design.trains and state > memory:
        full = design.brief.workload is WorkloadType.PRE_TRAINING
        need = f"{size} need {format_bytes(state)} of weights, gradients and optimizer state"
        hint = "" if full else "; adapters or a smaller optimizer state would need less"
        level = Level.ERROR if full else Level.WARNING
        message = f"training state does not fit: {need}, {room}{hint}"
        yield Problem(shape.path("gpu.memory"), message, format_bytes(memory), f"at least {format_bytes(state)}", level)


@rule("precision-unsupported", Plane.COMPUTE, Level.ERROR)
def precision_unsupported(design: Design) -> Iterator[Problem]:
    """FP8 on a GPU whose catalogue entry says that it has none."""
    if design.precision != "fp8":
        return
    for _, shape in design.gpu_shapes:
        board = design.gpu(shape)
        fact = board.fact("fp8") if board else None
        if board and fact and fact.high == 0:
            message = f"{shape.name}: the model is declared in FP8, and {board.title} has no FP8 arithmetic"
            yield Problem("brief.model.precision", message, "fp8", "a precision of the GPU, such as bf16")


@rule("host-memory-below-gpu-memory", Plane.COMPUTE)
def host_memory_below_gpu_memory(design: Design) -> Iterator[Problem]:
    """Host memory below the sum of the GPU memory."""
    for _, shape in design.gpu_shapes:
        # nominal GPU memory is the smaller figure of the catalogue: a warning needs certainty
        board = design.gpu(shape)
        fact = board.fact("memory") if board else None
        one = shape.gpu_memory or (fact.low * 1e9 if fact else 0.0)
        total = one * shape.gpus
        if shape.memory and shape.memory < total:
            host, gpus = format_bytes(shape.memory), format_bytes(total)
            message = f"{shape.name}: {host} of host memory for {gpus} of GPU memory"
            yield Problem(shape.path("memory"), message, host, f"at least {gpus}")


@rule("cpu-cores-too-few", Plane.COMPUTE)
def cpu_cores_too_few(design: Design) -> Iterator[Problem]:
    """Fewer than half the cores a GPU that published nodes have."""
    for _, shape in design.gpu_shapes:
        least, why = _least_cores(design, design.gpu(shape))
        if shape.cores and shape.cores < least * shape.gpus:
            has = shape.cores / shape.gpus
            message = f"{shape.name}: {shape.cores} cores for {plural(shape.gpus, 'GPU')} are {has:.3g} each; {why}"
            yield Problem(shape.path("cpu.cores"), message, str(shape.cores), f"at least {least * shape.gpus:g}")


def _least_cores(design: Design, board: Subject | None) -> tuple[float, str]:
    node = design.published_nodes.get(board.key) if board else None
    cores, gpus = (node.fact("cpu_cores"), node.fact("gpus")) if node else (None, None)
    if node and cores and gpus:
        usual = cores.low / gpus.low
        return usual / 2, f"a published {node.title} has {usual:g} ({cores.sources[0].title})"
    return FALLBACK_CORES_PER_GPU, f"{FALLBACK_CORES_PER_GPU} are the least"


@rule("nvme-too-small", Plane.COMPUTE)
def nvme_too_small(design: Design) -> Iterator[Problem]:
    """No local NVMe, or less than the dataset that is staged to each node."""
    staging = design.declaration.storage.staging
    wish = design.brief.storage
    size = staging.dataset_size if staging and staging.dataset_size else wish.dataset_size if wish else None
    for _, shape in design.gpu_shapes:
        nvme = shape.nvme
        if nvme == 0:
            yield Problem(shape.path("nvme"), f"{shape.name} has no local NVMe", "none", "local NVMe for staging")
        elif nvme is not None and staging and size and size.base > nvme:
            message = f"{shape.name}: a dataset of {size} is staged to {format_bytes(nvme)} of local NVMe"
            yield Problem(shape.path("nvme.total"), message, format_bytes(nvme), f"at least {size}")


@rule("node-power-too-low", Plane.COMPUTE, Level.ERROR)
def node_power_too_low(design: Design) -> Iterator[Problem]:
    """Node power below GPUs × the board's own power."""
    for _, shape in design.gpu_shapes:
        board = design.gpu(shape)
        fact = board.fact("power") if board else None
        if board and fact and shape.power and shape.power < fact.low * shape.gpus:
            least = fact.low * shape.gpus
            message = f"{shape.name}: {shape.power:,.0f} W for {shape.gpus} × {board.title}, which draw {least:,.0f} W"
            yield Problem(shape.path("power"), message, f"{shape.power:,.0f} W", f"more than {least:,.0f} W")


@rule("job-larger-than-pool", Plane.COMPUTE, Level.ERROR)
def job_larger_than_pool(design: Design) -> Iterator[Problem]:
    """The largest job against the largest pool."""
    wanted = design.brief.max_job_nodes
    largest = max((view.nodes for view in design.gpu_pools), default=0)
    if wanted and largest and wanted > largest:
        message = f"one job needs {plural(wanted, 'node')}, the largest pool has {largest:,}"
        yield Problem("brief.max_job_nodes", message, str(wanted), f"at most {largest}")


@rule("target-gpu-absent", Plane.COMPUTE, Level.ERROR)
def target_gpu_absent(design: Design) -> Iterator[Problem]:
    """Target GPUs of the brief against the GPUs of the pools; a stand-in is another rule's matter."""
    targets = design.brief.target_gpus
    models = {shape.gpu_model for view in design.gpu_pools for shape in view.shapes if shape.gpu_model}
    if not targets or not models:
        return
    if not any(_same_family(design, target, model) for target in targets for model in models):
        message = f"the brief asks for {' or '.join(targets)}; the pools have {', '.join(sorted(models))}"
        yield Problem("brief.target_gpus", message, ", ".join(sorted(models)), " or ".join(targets))


def _same_family(design: Design, one: str, other: str) -> bool:
    left = {board.key for board in design.boards(one)}
    right = {board.key for board in design.boards(other)}
    return bool(left & right) or one.casefold().strip() == other.casefold().strip()


@rule("stand-in-proves-no-gpu", Plane.COMPUTE, Level.INFO)
def stand_in_proves_no_gpu(design: Design) -> Iterator[Problem]:
    """A target GPU in the brief, and nothing but stand-ins among the pools."""
    targets = design.brief.target_gpus
    if targets and design.pools and not design.gpu_pools:
        for view in design.pools:
            if view.is_stand_in:
                message = (
                    f"pool {view.pool.name} stands in for {' or '.join(targets)}: nothing about GPUs can pass on it"
                )
                yield Problem(f"{view.path}.role", message, "stand-in", "a pool of the target shape")


@rule("lifecycle-owner-missing", Plane.COMPUTE)
def lifecycle_owner_missing(design: Design) -> Iterator[Problem]:
    """Owners of driver, CUDA and OS image in each GPU pool."""
    for view in design.gpu_pools:
        lifecycle = view.pool.lifecycle or LifeCycle()
        parts = {"driver": lifecycle.driver, "cuda": lifecycle.cuda, "os_image": lifecycle.os_image}
        without = [name for name, part in parts.items() if part is None or not part.owner]
        if without:
            message = f"pool {view.pool.name}: nobody owns {', '.join(without)}"
            yield Problem(f"{view.path}.lifecycle", message, "no owner", "an owner each")


@rule("end-of-support", Plane.COMPUTE)
def end_of_support(design: Design) -> Iterator[Problem]:
    """Support that has ended, or ends within 90 days."""
    for view in design.pools:
        lifecycle = view.pool.lifecycle
        for name in type(lifecycle).model_fields if lifecycle else ():
            part = getattr(lifecycle, name)
            if part is None or part.end_of_support is None:
                continue
            left = part.end_of_support - design.today
            if left < SUPPORT_WARNING:
                over = left.days < 0
                when = (
                    f"ended on {part.end_of_support}" if over else f"ends on {part.end_of_support}, in {left.days} days"
                )
                message = f"pool {view.pool.name}: support of {name} {part.version or ''} {when}".replace("  ", " ")
                path = f"{view.path}.lifecycle.{name}.end_of_support"
                level = Level.ERROR if over else Level.WARNING
                yield Problem(path, message, str(part.end_of_support), f"after {design.today + SUPPORT_WARNING}", level)
