"""Rules across planes: what each plane bears alone and the whole does not (X1, P0, P5)."""

from __future__ import annotations

from collections.abc import Iterator

from fourplane.base.findings import Level
from fourplane.base.units import format_bytes, format_seconds
from fourplane.planes import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.spec.brief import WhyCluster

__all__: list[str] = []

LONG_COMMITMENT_S = 366 * 86_400
"""Twelve months, a leap year allowed."""


@rule("why-cluster-none", Plane.CONTROL)
def why_cluster_none(design: Design) -> Iterator[Problem]:
    """The brief says that nothing needs a cluster."""
    if WhyCluster.NONE in design.brief.why_cluster:
        message = "the brief states no need that only a cluster meets: price the model API first"
        yield Problem("brief.why_cluster", message, "none", "a stated need")


@rule("commitment-before-evidence", Plane.CONTROL)
def commitment_before_evidence(design: Design) -> Iterator[Problem]:
    """Commitments over 12 months in declaration or quotes while the evidence folder is empty."""
    offers = [(design.declaration.prices, None), *((doc.quote.prices, doc) for doc in design.workspace.quotes)]
    long = [(p, doc) for p, doc in offers if p and p.commitment and p.commitment.base > LONG_COMMITMENT_S]
    if not long or _has_evidence(design):
        return
    for prices, document in long:
        message = f"a commitment of {prices.commitment}, and no evidence is on file"
        yield Problem("prices.commitment", message, str(prices.commitment), "at most 12 months", quote=document)


def _has_evidence(design: Design) -> bool:
    folder = design.workspace.root / "evidence"
    try:
        return any(folder.iterdir())
    except OSError:
        return False


@rule("storage-eats-utilisation", Plane.STORAGE, Level.ERROR)
def storage_eats_utilisation(design: Design) -> Iterator[Problem]:
    """Share of time in checkpoint stalls against what the target utilisation leaves."""
    checkpoints, wish = design.declaration.storage.checkpoints, design.brief.storage
    interval = (checkpoints.interval if checkpoints else None) or (wish.checkpoint_interval if wish else None)
    target, size, rate = design.brief.target_utilisation, design.checkpoint_size, design.checkpoint_write
    if not (interval and interval.base and target and size and rate and rate.value):
        return
    stall = size.value / rate.value
    if checkpoints and checkpoints.tolerated_stall:
        # an asynchronous writer declares the stall that is left; the write itself then runs beside the training
        stall = min(stall, checkpoints.tolerated_stall.base)
    share, budget = stall / (stall + interval.base), 1 - target.base
    if share > budget:
        message = (
            f"a stall of {format_seconds(stall)} every {interval} takes {share:.1%} of the time, and a target "
            f"utilisation of {target} leaves {budget:.1%}: storage binds"
        )
        yield Problem("brief.target_utilisation", message, f"{share:.1%} stalled", f"at most {budget:.1%}")


@rule("binding-plane", Plane.STORAGE, Level.INFO)
def binding_plane(design: Design) -> Iterator[Problem]:
    """Time to move one checkpoint through GPU memory, fabric and storage; the slowest is named."""
    size, rate = design.checkpoint_size, design.checkpoint_write
    if not (design.synchronous and size and rate and rate.value and design.gpu_shapes):
        return
    view, shape = max(design.gpu_shapes, key=lambda pair: pair[0].nodes)
    board = design.gpu(shape)
    memory = board.fact("memory_bandwidth") if board else None
    nodes = max(1, min(design.job_nodes, view.nodes or design.job_nodes))
    if memory is None or not shape.scale_out_rate:
        return
    times = {
        "GPU memory": size.value / (memory.low * 1e12 * shape.gpus * nodes),
        "the fabric": size.value / (shape.scale_out_rate * nodes),
        "storage": size.value / rate.value,
    }
    slowest = max(times, key=lambda name: times[name])
    told = ", ".join(f"{format_seconds(seconds)} through {name}" for name, seconds in times.items())
    second = sorted(times.values())[-2]
    message = (
        f"{format_bytes(size.value)} of training state on {nodes} nodes: "
        f"{told.replace('through storage', 'to storage')}; "
        f"{slowest} binds, {times[slowest] / second:.3g} times the next"
    )
    yield Problem(rate.path, message)


@rule("recovery-out-of-reach", Plane.COMPUTE)
def recovery_out_of_reach(design: Design) -> Iterator[Problem]:
    """Replacement time without spares against the target recovery time."""
    wish = design.brief.storage
    target = design.declaration.targets.recovery_time or (wish.recovery_time if wish else None)
    if not target:
        return
    for view in design.gpu_pools:
        replacement = view.pool.replacement
        needs_all = design.synchronous and design.job_nodes >= view.nodes > 0
        if not needs_all or not replacement or not replacement.time or replacement.spares:
            continue
        if replacement.time.base > target.base:
            message = (
                f"pool {view.pool.name}: a replacement takes {replacement.time} and there is no spare; "
                f"recovery is due in {target}"
            )
            found, expected = str(replacement.time), f"less than {target}, or a spare"
            yield Problem(f"{view.path}.replacement", message, found, expected)


MARKET_SHARE = 0.7
"""Offers of one GPU differ by 40 % around their middle; below this share of the lowest, something is left out."""


@rule("price-below-market", Plane.CONTROL)
def price_below_market(design: Design) -> Iterator[Problem]:
    """Price of a GPU-hour, declared or quoted, against the lowest that was published for the board."""
    boards = {board.key: board for _, shape in design.gpu_shapes if (board := design.gpu(shape)) is not None}
    spans = [fact for board in boards.values() if (fact := board.fact("price_range")) is not None]
    if not spans:
        return
    lowest = min(spans, key=lambda fact: fact.low)
    offers = [(design.declaration.prices, None), *((doc.quote.prices, doc) for doc in design.workspace.quotes)]
    for prices, document in offers:
        if (
            prices
            and prices.gpu_hour
            and prices.currency == "USD"
            and float(prices.gpu_hour) < MARKET_SHARE * lowest.low
        ):
            message = (
                f"{prices.gpu_hour} USD for a GPU-hour; the lowest on-demand price published is {lowest.low:g} "
                f"({lowest.sources[0].title}, {lowest.date})"
            )
            expected = f"at least {MARKET_SHARE * lowest.low:.2f}, or the reason in the quote"
            yield Problem("prices.gpu_hour", message, f"{prices.gpu_hour}", expected, quote=document)
