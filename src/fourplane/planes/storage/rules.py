"""Rules on the four flows: sizes over rates against the times that were declared (S1 to S4)."""

from __future__ import annotations

from collections.abc import Iterator

from fourplane.base.findings import Level
from fourplane.base.units import Quantity, format_bytes, format_seconds
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.planes.registry import Problem, rule
from fourplane.planes.storage import codes as _codes  # noqa: F401 - defines what the findings cite
from fourplane.spec.brief import WorkloadType

__all__: list[str] = []


@rule("checkpoint-stall-too-long", Plane.STORAGE, Level.ERROR)
def checkpoint_stall_too_long(design: Design) -> Iterator[Problem]:
    """Checkpoint size over write throughput against the tolerated stall."""
    checkpoints = design.declaration.storage.checkpoints
    size, rate = design.checkpoint_size, design.checkpoint_write
    if not checkpoints or not checkpoints.tolerated_stall or not size or not rate or not rate.value:
        return
    stall, most = size.value / rate.value, checkpoints.tolerated_stall
    if stall > most.base:
        need = f"at least {format_bytes(size.value / most.base, suffix='/s')}" if most.base else "no stall"
        message = (
            f"a checkpoint of {format_bytes(size.value)} ({size.origin}) at {rate.origin} takes "
            f"{format_seconds(stall)}; training may stall {most}"
        )
        yield Problem(rate.path, message, format_bytes(rate.value, suffix="/s"), need)


@rule("checkpoint-size-implausible", Plane.STORAGE)
def checkpoint_size_implausible(design: Design) -> Iterator[Problem]:
    """Declared checkpoint size against the least that mixed-precision Adam leaves."""
    checkpoints = design.declaration.storage.checkpoints
    low, _ = design.bytes_per_parameter("checkpoint_bytes_per_parameter")
    least = design.parameters * low
    if design.brief.workload is not WorkloadType.PRE_TRAINING or not checkpoints or not checkpoints.size:
        return
    if checkpoints.size.base < 0.9 * least:
        message = (
            f"checkpoints of {checkpoints.size}; {design.parameters / 1e9:g} billion parameters with Adam "
            f"leave at least {format_bytes(least)}"
        )
        yield Problem("storage.checkpoints.size", message, str(checkpoints.size), f"at least {format_bytes(least)}")


@rule("checkpoint-interval-too-short", Plane.STORAGE, Level.ERROR)
def checkpoint_interval_too_short(design: Design) -> Iterator[Problem]:
    """Write time of a checkpoint against the interval between two."""
    checkpoints = design.declaration.storage.checkpoints
    wish = design.brief.storage
    size, rate = design.checkpoint_size, design.checkpoint_write
    interval = (checkpoints.interval if checkpoints else None) or (wish.checkpoint_interval if wish else None)
    if interval and size and rate and rate.value and size.value / rate.value >= interval.base:
        took = format_seconds(size.value / rate.value)
        path = "storage.checkpoints.interval" if checkpoints and checkpoints.interval else "brief.storage"
        message = f"a checkpoint takes {took} to write ({rate.origin}), and one is due every {interval}"
        yield Problem(path, message, str(interval), f"more than {took}")


@rule("restore-too-slow", Plane.STORAGE, Level.ERROR)
def restore_too_slow(design: Design) -> Iterator[Problem]:
    """Read time of a checkpoint, or the declared restore time, against the target recovery time."""
    checkpoints = design.declaration.storage.checkpoints
    for target, path in _recovery_targets(design):
        declared = checkpoints.restore_time if checkpoints else None
        if declared and declared.base > target.base and path != "storage.checkpoints.restore_time":
            message = f"a restore may take {declared}, and recovery {target} in sum"
            yield Problem("storage.checkpoints.restore_time", message, str(declared), f"less than {target}")
            return
        size, rate = design.checkpoint_size, design.checkpoint_read
        if size and rate and rate.value and size.value / rate.value > target.base:
            message = (
                f"reading {format_bytes(size.value)} back at {rate.origin} takes "
                f"{format_seconds(size.value / rate.value)}; {target} are allowed"
            )
            yield Problem(rate.path, message, format_bytes(rate.value, suffix="/s"), f"readable in {target}")
            return


def _recovery_targets(design: Design) -> Iterator[tuple[Quantity, str]]:
    checkpoints, wish = design.declaration.storage.checkpoints, design.brief.storage
    if checkpoints and checkpoints.restore_time:
        yield checkpoints.restore_time, "storage.checkpoints.restore_time"
    if wish and wish.recovery_time:
        yield wish.recovery_time, "brief.storage.recovery_time"
    if design.declaration.targets.recovery_time:
        yield design.declaration.targets.recovery_time, "targets.recovery_time"


@rule("staging-misses-deadline", Plane.STORAGE, Level.ERROR)
def staging_misses_deadline(design: Design) -> Iterator[Problem]:
    """Dataset size over staging throughput against the deadline."""
    staging, wish = design.declaration.storage.staging, design.brief.storage
    if not staging or not staging.throughput or not staging.deadline or not staging.throughput.base:
        return
    size = staging.dataset_size or (wish.dataset_size if wish else None)
    if size and size.base / staging.throughput.base > staging.deadline.base:
        took = format_seconds(size.base / staging.throughput.base)
        message = f"staging {size} at {staging.throughput} takes {took}; the deadline is {staging.deadline}"
        need = format_bytes(size.base / staging.deadline.base, suffix="/s") if staging.deadline.base else "no staging"
        yield Problem("storage.staging.throughput", message, str(staging.throughput), f"at least {need}")


@rule("weights-load-too-slow", Plane.STORAGE, Level.ERROR)
def weights_load_too_slow(design: Design) -> Iterator[Problem]:
    """Weight size over the fastest declared read rate against the load time."""
    storage, wish = design.declaration.storage, design.brief.storage
    weights = storage.weights
    size = (weights.size if weights else None) or (wish.weights_size if wish else None)
    rates = [system.read for system in storage.filesystems if system.read]
    rates += [store.read for store in storage.object_stores if store.read]
    if not weights or not weights.load_time or not size or not rates:
        return
    fastest = max(rates, key=lambda rate: rate.amount)
    if fastest.base and size.base / fastest.base > weights.load_time.base:
        took = format_seconds(size.base / fastest.base)
        message = f"{size} of weights at {fastest}, the fastest declared, take {took}; {weights.load_time} are allowed"
        yield Problem("storage.weights.load_time", message, took, str(weights.load_time))


@rule("gds-decision-without-figure", Plane.STORAGE)
def gds_decision_without_figure(design: Design) -> Iterator[Problem]:
    """A decision on GPUDirect Storage with neither figure nor rate behind it."""
    gds = design.declaration.storage.gds
    if gds and not gds.figure:
        yield Problem(
            "storage.gds", f"GPUDirect Storage is decided as {gds.choice} without a rate", "no figure", "a rate"
        )


@rule("backup-in-same-place", Plane.STORAGE)
def backup_in_same_place(design: Design) -> Iterator[Problem]:
    """Place of the backup against the place of the checkpoints and the file systems."""
    storage = design.declaration.storage
    place = storage.backup.place if storage.backup else None
    if not place:
        return
    checkpoints = storage.checkpoints.place if storage.checkpoints else None
    homes = {checkpoints, *(fs.name for fs in storage.filesystems), *(fs.mount for fs in storage.filesystems)}
    if place in homes - {None}:
        message = f"the backup lies in {place}, beside what it should save"
        yield Problem("storage.backup.place", message, place, "another system")


@rule("shared-scratch-without-cleanup", Plane.STORAGE)
def shared_scratch_without_cleanup(design: Design) -> Iterator[Problem]:
    """Scratch of two or more teams without a clean-up."""
    storage = design.declaration.storage
    if storage.scratch and not storage.cleanup and len(design.declaration.teams) > 1:
        teams = len(design.declaration.teams)
        message = f"{teams} teams share scratch {storage.scratch}, and nothing cleans it"
        yield Problem("storage.scratch", message, "no cleanup", "storage.cleanup")
