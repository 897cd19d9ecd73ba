"""A small store to try things on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fourplane.evidence.store import RunStore
from fourplane.records.observation import Observation, RawRef, State, Value

START = datetime(2026, 12, 1, 4, 39, 20, tzinfo=UTC)


def seen(metric: str, value: Value, unit: str = "", *, subject: str = "node:n1", **more: Any) -> Observation:
    """Return a measured observation."""
    at = START + timedelta(minutes=more.pop("minute", 0))
    return Observation(subject, metric, value, unit, more.pop("method", "probe/1"), at, **more)


def absent(metric: str, reason: str, *, subject: str = "node:n1") -> Observation:
    return Observation(subject, metric, None, "", "probe/1", START, State.ABSENT, reason)


def record_inventory(store: RunStore, run: str = "r1") -> list[Observation]:
    """Record one step with a raw text that holds a secret in its second line."""
    return store.record(
        run,
        "inventory@n1",
        [
            seen("compute.cpu.cores", 2, raw=RawRef("lscpu", "", 3)),
            absent("compute.gpu.count", "nvidia-smi: not found"),
        ],
        {"lscpu": "model x\nHF_TOKEN=hush-hush\ncores 2\n"},
        {"seconds": 0.5},
    )


def small_store(workspace: Path, runs: int = 1) -> Path:
    """Return an evidence folder with finished runs of one step each."""
    root = workspace / "evidence"
    with RunStore.open(root, write=True) as store:
        for number in range(1, runs + 1):
            store.begin(f"r{number}", {"steps": ["inventory@n1"]})
            record_inventory(store, f"r{number}")
            store.end(f"r{number}", {"ok": True})
    return root


def files_below(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())
