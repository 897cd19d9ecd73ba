"""A writer stopped at any point leaves a store that opens, is intact and goes on."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from evidence_samples import absent, seen

from fourplane.base.findings import Level
from fourplane.evidence.store import RunStore
from fourplane.evidence.verify import verify_folder
from fourplane.records.observation import RawRef

SYSTEM_CALLS = ("open", "fsync", "replace", "mkdir", "unlink", "rmdir")
STEPS = ("inventory", "storage")


class Crash(BaseException):
    """The process is dead: no handler may repair anything."""


@contextmanager
def crash_at(number: int) -> Iterator[None]:
    """Die at the given system call before it takes effect; every later call dies too."""
    calls = 0
    patch = pytest.MonkeyPatch()

    def deadly(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls >= number:
                raise Crash
            return real(*args, **more)

        return call

    for name in SYSTEM_CALLS:
        patch.setattr(os, name, deadly(getattr(os, name)))
    try:
        yield
    finally:
        patch.undo()


def job(root: Path, stores: list[RunStore]) -> None:
    """What `prove --resume` does: finish what is unfinished, repeat nothing."""
    store = RunStore.open(root, write=True)
    stores.append(store)
    finish(store)


def finish(store: RunStore) -> None:
    ended = [run.id for run in store.runs() if run.ended]
    if "r1" in ended:
        return
    if store.unfinished() is None:
        store.begin("r1", {"steps": list(STEPS)})
    for step in STEPS:
        if step not in store.finished_steps("r1"):
            one = seen("compute.cpu.cores", 2, method=step, raw=RawRef("a", "", 1))
            other = absent("compute.gpu.count", step, subject=f"node:{step}")
            store.record("r1", step, [one, other], {"a": "x"})
    store.end("r1", {})


def run_until_crash(root: Path, number: int) -> bool:
    """Run the job; return whether it was stopped."""
    stores: list[RunStore] = []
    try:
        with crash_at(number):
            job(root, stores)
        return False
    except Crash:
        return True
    finally:
        for store in stores:
            store.close()  # the kernel does that for a dead process


def check_and_finish(root: Path, committed: int | None = None) -> None:
    with RunStore.open(root, write=True) as store:  # the first writer afterwards leaves no trace of the crash
        assert store.verify() == []
        assert committed is None or len(store.observations()) == committed
        finish(store)
    with RunStore.open(root) as reader:
        assert reader.verify() == []
        keys = [one.key for one in reader.observations()]
        assert len(keys) == len(set(keys)) == 4
        assert reader.finished_steps("r1") == list(STEPS)
        assert [run.id for run in reader.runs()] == ["r1"] and reader.unfinished() is None


def errors(root: Path) -> list[str]:
    if not (root / "HEAD").exists() and not (root / "runs").exists():
        return []  # nothing was ever recorded: a usage error, not damage
    return [f"{one.file} {one.code}" for one in verify_folder(root) if one.level is Level.ERROR]


def test_a_crash_at_any_system_call_loses_nothing_committed(tmp_path: Path) -> None:
    number = 0
    while True:
        number += 1
        root = tmp_path / f"evidence-{number}"
        stopped = run_until_crash(root, number)
        assert errors(root) == [], number
        committed = len(RunStore.open(root).observations()) if (root / "HEAD").exists() else 0
        if not stopped:
            break
        check_and_finish(root, committed)
    assert number > 60


def test_a_crash_while_clearing_up_after_a_crash(tmp_path: Path) -> None:
    rng = random.Random(11)
    for attempt in range(20):
        root = tmp_path / f"evidence-{attempt}"
        while run_until_crash(root, rng.randint(5, 80)):
            assert errors(root) == []
        check_and_finish(root)


WRITER = """
import sys
from pathlib import Path
from fourplane.evidence.store import RunStore
from fourplane.records.observation import Observation, RawRef
from fourplane.base.clock import utc_now
with RunStore.open(Path(sys.argv[1]), write=True) as store:
    run = store.unfinished()
    name = run.id if run else f"r{len(store.runs()) + 1}"
    if run is None:
        store.begin(name, {})
    for number in range(1_000_000):
        step = f"s{len(store.finished_steps(name)) + 1}"
        one = Observation("node:n1", "compute.cpu.cores", number, "", step, utc_now(), raw=RawRef("log", "", 1))
        store.record(name, step, [one], {"log": "x" * 20_000, "more": "y"})
        print(step, flush=True)
        if number % 7 == 6:
            store.end(name, {})
            name = f"r{len(store.runs()) + 1}"
            store.begin(name, {})
"""


def test_killed_writers_leave_an_intact_store_and_readers_see_one_meanwhile(tmp_path: Path) -> None:
    root = tmp_path / "evidence"
    rng = random.Random(3)
    printed = 0
    for _ in range(5):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(root)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        for _ in range(rng.randint(1, 12)):
            assert writer.stdout.readline().startswith("s")
            printed += 1
        assert errors(root) == []  # a reader beside a writer at work
        for _ in range(rng.randint(0, 20_000)):
            pass  # lands the kill somewhere inside the next commit
        writer.kill()
        printed += len(writer.stdout.readlines())
        writer.wait()
        writer.stdout.close()
        assert errors(root) == []
    with RunStore.open(root, write=True) as store:
        assert store.verify() == []
        found = store.observations()
        assert len(found) >= printed
        assert len({(one.run, *one.key) for one in found}) == len(found)
        for one in found:
            assert one.raw is not None and len(store.raw_text(one.raw)) == 20_000
