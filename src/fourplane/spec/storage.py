"""Storage plane as declared and as promised: four flows, places, protection (S1–S5)."""

from __future__ import annotations

from enum import StrEnum

from fourplane.spec.types import Duration, Model, Rate, Size, Text

__all__ = [
    "Backup", "Cache", "Checkpoints", "FileSystem", "GdsChoice", "GdsDecision", "ObjectStore", "Outputs", "Snapshots",
    "Staging", "Storage", "Weights",
]  # fmt: skip


class GdsChoice(StrEnum):
    """GPUDirect Storage is decided, not left open (S3)."""

    ORDINARY = "ordinary"
    OPTIMISED = "optimised"
    ACCEPTED_BOTTLENECK = "accepted-bottleneck"


class Staging(Model):
    """Flow 1: dataset from its source to the node; ``deadline`` is the longest tolerable staging time."""

    source: Text | None = None
    dataset_size: Size | None = None
    throughput: Rate | None = None
    deadline: Duration | None = None


class Weights(Model):
    """Flow 2: base and tuned weights, tokenizer, engine cache; ``load_time`` to the first request."""

    size: Size | None = None
    cache: Text | None = None
    covers: tuple[Text, ...] = ()
    load_time: Duration | None = None


class Checkpoints(Model):
    """Flow 3: how often, how big, how long training may stall, how long a restore may take."""

    interval: Duration | None = None
    size: Size | None = None
    tolerated_stall: Duration | None = None
    restore_time: Duration | None = None
    write_throughput: Rate | None = None
    place: Text | None = None
    keep: Text | None = None


class Outputs(Model):
    """Flow 4: results, metrics, traces, audit logs: place, rate, retention, owner."""

    name: Text
    place: Text | None = None
    write_rate: Rate | None = None
    retention: Duration | None = None
    owner: Text | None = None


class FileSystem(Model):
    """One shared or local file system; ``read`` and ``write`` are the promised or planned sums."""

    name: Text
    kind: Text | None = None
    mount: Text | None = None
    size: Size | None = None
    read: Rate | None = None
    write: Rate | None = None


class ObjectStore(Model):
    """One object store."""

    name: Text
    endpoint: Text | None = None
    region: Text | None = None
    read: Rate | None = None
    write: Rate | None = None


class Cache(Model):
    """One cache in front of a slower place."""

    name: Text
    place: Text | None = None
    size: Size | None = None


class Snapshots(Model):
    """Snapshots: how often, how long kept, who restores them."""

    interval: Duration | None = None
    retention: Duration | None = None
    owner: Text | None = None


class Backup(Model):
    """Backup: where it lies, how often, who restores it."""

    place: Text | None = None
    interval: Duration | None = None
    retention: Duration | None = None
    owner: Text | None = None


class GdsDecision(Model):
    """Decision on GPUDirect Storage with the figure behind it."""

    choice: GdsChoice
    reason: Text | None = None
    figure: Rate | None = None


class Storage(Model):
    """Storage plane."""

    staging: Staging | None = None
    weights: Weights | None = None
    checkpoints: Checkpoints | None = None
    outputs: tuple[Outputs, ...] = ()
    filesystems: tuple[FileSystem, ...] = ()
    object_stores: tuple[ObjectStore, ...] = ()
    caches: tuple[Cache, ...] = ()
    scratch: Text | None = None
    cleanup: Text | None = None
    snapshots: Snapshots | None = None
    backup: Backup | None = None
    gds: GdsDecision | None = None
