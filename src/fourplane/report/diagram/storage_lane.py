"""Lane of storage: four flows, places, protection (S1 to S5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fourplane.base.text import plural
from fourplane.report.diagram.holes import Draft, lines
from fourplane.report.diagram.model import Box, BoxKind, Lane, Panel, Row
from fourplane.review.wording import is_set, listing

__all__ = ["MOST_PLACES", "storage_lane"]

MOST_PLACES = 4
"""File systems, object stores and caches drawn of each kind; the rest is folded."""


def storage_lane(draft: Draft) -> Lane:
    """Return the bottom lane."""
    rows = (
        Row((_staging(draft), _weights(draft), _checkpoints(draft), _outputs(draft)), label="Four flows"),
        Row(tuple(_places(draft)), label="Places"),
        Row(tuple(_protection(draft)), label="Protection and clean-up"),
    )
    return Lane("storage", "Storage", (Panel("storage", rows),))


def _staging(draft: Draft) -> Box:
    one, path = draft.declaration.storage.staging, "storage.staging"
    if one is None:
        return Box(
            "flow:staging", "Dataset staging", hole=draft.hole("nobody declared the staging", path, "R4.staging")
        )
    rate, size = one.throughput, one.dataset_size
    return Box(
        "flow:staging",
        "Dataset staging",
        lines(
            one.source and f"from {one.source}",
            " at ".join(str(x) for x in (size, rate) if x),
            one.deadline and f"due in {one.deadline}",
        ),
        gaps=draft.gap(one.source, "nobody says where the data lies", f"{path}.source", "R4.staging"),
        subjects=(path,),
    )


def _weights(draft: Draft) -> Box:
    one, path = draft.declaration.storage.weights, "storage.weights"
    if one is None:
        hole = draft.hole("nobody declared how weights are loaded", path, "R4.weight_cache")
        return Box("flow:weights", "Weights and caches", hole=hole)
    return Box(
        "flow:weights",
        "Weights and caches",
        lines(
            " in ".join(str(x) for x in (one.size, one.load_time) if x),
            one.cache and f"cache: {one.cache}",
            listing(one.covers, limit=3),
        ),
        gaps=draft.gap(one.cache, "nobody says where weights are cached", f"{path}.cache", "R4.weight_cache"),
        subjects=(path,),
    )


def _checkpoints(draft: Draft) -> Box:
    one, path = draft.declaration.storage.checkpoints, "storage.checkpoints"
    if one is None:
        hole = draft.hole("nobody declared the checkpoints", path, "R4.checkpoint_write")
        return Box("flow:checkpoints", "Checkpoints", hole=hole)
    return Box(
        "flow:checkpoints",
        "Checkpoints",
        lines(
            " every ".join(str(x) for x in (one.size, one.interval) if x),
            one.place and f"to {one.place}",
            one.tolerated_stall and f"stall up to {one.tolerated_stall}",
            one.restore_time and f"restored in {one.restore_time}",
        ),
        gaps=draft.gap(one.place, "nobody says where checkpoints lie", f"{path}.place", "R4.checkpoint_write"),
        subjects=(path,),
    )


def _outputs(draft: Draft) -> Box:
    outputs = draft.declaration.storage.outputs
    if not outputs:
        hole = draft.hole("nobody declared outputs and logs", "storage.outputs", "R4.outputs")
        return Box("flow:outputs", "Outputs and logs", hole=hole)
    ownerless = [(o.name, f"storage.outputs[{i}].owner") for i, o in enumerate(outputs) if not is_set(o.owner)]
    shown = [f"{o.name}: {o.owner or o.place or 'place not stated'}" for o in outputs[: 3 if len(outputs) > 4 else 4]]
    more = (f"and {len(outputs) - len(shown):,} more",) if len(outputs) > len(shown) else ()
    return Box(
        "flow:outputs",
        "Outputs and logs",
        (*shown, *more),
        gaps=draft.gap_of(ownerless, "nobody owns the output", "R4.outputs"),
        subjects=tuple(f"storage.outputs[{i}]" for i in range(len(outputs))),
    )


def _places(draft: Draft) -> Iterator[Box]:
    storage = draft.declaration.storage
    if not storage.filesystems:
        hole = draft.hole("nobody declared a file system", "storage.filesystems")
        yield Box("filesystems", "File systems", hole=hole)
    yield from _fold("filesystems", "file system", [
        Box(
            f"filesystem:{i}", one.name,
            lines(
                ", ".join(x for x in (one.kind, str(one.size or ""), one.mount and f"at {one.mount}") if x),
                _both(one.read, one.write),
            ),
            subjects=(f"storage.filesystems[{i}]",),
        )
        for i, one in enumerate(storage.filesystems)
    ])  # fmt: skip
    if not storage.object_stores:
        hole = draft.hole("nobody declared an object store", "storage.object_stores", "R4.object_store")
        yield Box("object_stores", "Object stores", hole=hole)
    yield from _fold("object_stores", "object store", [
        Box(
            f"object_store:{i}", one.name,
            lines(" in ".join(x for x in ("object store", one.region) if x), _both(one.read, one.write)),
            subjects=(f"storage.object_stores[{i}]",),
        )
        for i, one in enumerate(storage.object_stores)
    ])  # fmt: skip
    if not storage.caches:
        hole = draft.hole("nobody declared a cache of weights", "storage.caches", "R4.weight_cache")
        yield Box("caches", "Caches", hole=hole)
    yield from _fold("caches", "cache", [
        Box(
            f"cache:{i}", f"{one.name} cache",
            lines(" on ".join(x for x in (str(one.size or ""), one.place) if x)),
            subjects=(f"storage.caches[{i}]",),
        )
        for i, one in enumerate(storage.caches)
    ])  # fmt: skip


def _fold(key: str, noun: str, boxes: Sequence[Box]) -> Iterator[Box]:
    shown = boxes if len(boxes) <= MOST_PLACES else boxes[: MOST_PLACES - 1]
    yield from shown
    rest = boxes[len(shown) :]
    if rest:
        subjects = tuple(path for box in rest for path in box.subjects)
        names = listing([box.title for box in rest], limit=2)
        yield Box(f"fold:{key}", f"and {plural(len(rest), f'more {noun}')}", (names,), BoxKind.FOLD, subjects=subjects)


def _both(read: object, write: object) -> str:
    return ", ".join(f"{way} {rate}" for way, rate in (("read", read), ("write", write)) if rate)


def _protection(draft: Draft) -> Iterator[Box]:
    storage = draft.declaration.storage
    for key, title, keeper in (("snapshots", "Snapshots", storage.snapshots), ("backup", "Backup", storage.backup)):
        path = f"storage.{key}"
        if keeper is None:
            verb = "take" if key == "snapshots" else "keep"
            what = "snapshots" if key == "snapshots" else "a backup"
            yield Box(path, title, hole=draft.hole(f"nobody {verb}s {what}", path, "R4.snapshots"))
            continue
        yield Box(
            path,
            title,
            lines(
                keeper.interval and f"every {keeper.interval}",
                keeper.retention and f"kept {keeper.retention}",
                f"in {storage.backup.place}" if key == "backup" and storage.backup and storage.backup.place else None,
            ),
            gaps=draft.gap(keeper.owner, f"nobody owns the {key}", f"{path}.owner", "R4.snapshots"),
            subjects=(path,),
            owner=keeper.owner or "",
        )
    cleanup = storage.cleanup
    if is_set(cleanup):
        yield Box("storage.cleanup", "Clean-up of scratch", lines(cleanup, storage.scratch), subjects=(
            "storage.cleanup",))  # fmt: skip
    else:
        hole = draft.hole("nobody cleans scratch up", "storage.cleanup", "R4.cleanup",
                          ("shared-scratch-without-cleanup",))  # fmt: skip
        yield Box("storage.cleanup", "Clean-up of scratch", lines(storage.scratch), hole=hole)
    gds = storage.gds
    if gds is None:
        hole = draft.hole("nobody decided on GPUDirect Storage", "storage.gds", "R4.gds")
        yield Box("storage.gds", "GPUDirect Storage", hole=hole)
    else:
        yield Box("storage.gds", "GPUDirect Storage", lines(str(gds.choice).replace("-", " "), gds.reason),
                  subjects=("storage.gds",))  # fmt: skip
