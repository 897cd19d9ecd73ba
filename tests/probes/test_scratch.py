"""Scratch is gone after every end, and nobody else's is ever touched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from storage_runs import PROBE, SMALL, through_engine

from fourplane.formats.probe_lines import read
from fourplane.probes.parts import scratch
from fourplane.probes.parts.frame import Guard, Stopped
from fourplane.probes.parts.scratch import Scratch
from fourplane.records.observation import State


@contextmanager
def probe_at_work(folder: Path, *args: str) -> Iterator[subprocess.Popen[str]]:
    """Start a probe and wait until it writes in its scratch."""
    command = [sys.executable, PROBE, "--part", "io", "--fio", "never", "--scratch", folder, "--budget", "200"]
    with subprocess.Popen(
        [*command, "--max-bytes", str(SMALL), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if '"random reads"' in line:
                    break
            yield process
        finally:
            process.kill()


def finish(process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()
    return process.wait(30), lines


def check_stopped(folder: Path, process: subprocess.Popen[str], reason: str) -> None:
    status, lines = finish(process)
    assert status == 1
    output = read(lines)
    found = {one.metric: one for one in output.observations}
    assert found["storage.scratch.clean"].value is True
    assert found["storage.io.random_write"].state is State.FAILED
    assert reason in found["storage.io.random_write"].reason
    assert not output.complete
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_scratch_clean(tmp_path: Path, number: signal.Signals) -> None:
    with probe_at_work(tmp_path) as process:
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        check_stopped(tmp_path, process, number.name)


def test_the_end_of_stdin_leaves_scratch_clean(tmp_path: Path) -> None:
    with probe_at_work(tmp_path, "--watch-stdin") as process:
        assert process.stdin is not None
        process.stdin.close()
        check_stopped(tmp_path, process, "stdin was closed")


def test_a_deadline_leaves_scratch_clean(tmp_path: Path) -> None:
    with probe_at_work(tmp_path, "--deadline", "1.5") as process:
        check_stopped(tmp_path, process, "deadline of 1.5 s")


def test_a_reader_that_goes_away_leaves_scratch_clean(tmp_path: Path) -> None:
    with probe_at_work(tmp_path, "--budget", "1") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(30) == 1
        assert list(tmp_path.iterdir()) == []


def test_a_killed_probe_s_scratch_is_removed_by_the_next_one_and_a_living_one_s_kept(tmp_path: Path) -> None:
    with probe_at_work(tmp_path) as victim:
        victim.send_signal(signal.SIGKILL)
        victim.wait(30)
    (dead,) = tmp_path.iterdir()
    with probe_at_work(tmp_path) as living:
        assert not dead.exists()
        (alive,) = tmp_path.iterdir()
        output, _ = through_engine("io", tmp_path, "--fio", "never")
        clean = output.observations[-1]
        assert clean.value is True
        assert clean.conditions["removed_stale"] == []
        assert clean.conditions["left_alone"] == [f"{alive.name}: its owner lives"]
        assert alive.is_dir()
        assert living.poll() is None


def marked(folder: Path, name: str, **changes: Any) -> Path:
    """Make a scratch folder whose owner is surely dead, but for the changes."""
    place = folder / name
    place.mkdir()
    # no process starts at tick 1 but the very first ones
    marker = {**scratch.owner(os.getpid()), "started": "1", **changes}
    (place / Scratch.MARKER).write_text(json.dumps(marker))
    (place / "data").write_text("data")
    return place


@pytest.mark.parametrize(
    ("changes", "removed"),
    [
        ({}, True),
        ({"pid": 2**22 + 1}, True),
        ({"started": None}, False),
        ({"boot": "an earlier one"}, True),
        ({"boot": "another", "host": "other-host 0123"}, False),
        ({"namespace": "pid:[1]"}, True),
        ({"pid": "no number"}, False),
    ],
    ids=["pid-reused", "pid-gone", "alive", "before-the-reboot", "other-host", "other-container", "malformed"],
)
def test_only_a_surely_dead_owner_s_folder_is_removed(tmp_path: Path, changes: dict[str, Any], removed: bool) -> None:
    if changes.get("started", "") is None:
        changes = {"started": scratch.start_time(os.getpid())}
    folder = marked(tmp_path, "fourplane-scratch-1", **changes)
    one = Scratch(str(tmp_path))
    one.remove_stale()
    assert folder.exists() is not removed
    assert bool(one.removed) is removed
    assert bool(one.left) is not removed


def test_unmarked_linked_and_foreign_folders_stay(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    dead = marked(precious, "fourplane-scratch-9")
    base = tmp_path / "base"
    base.mkdir()
    (base / "fourplane-scratch-unmarked").mkdir()
    (base / "fourplane-scratch-link").symlink_to(dead)
    (base / "fourplane-scratch-file").write_text("a file")
    linked_marker = base / "fourplane-scratch-marker"
    linked_marker.mkdir()
    (linked_marker / Scratch.MARKER).symlink_to(dead / Scratch.MARKER)
    broken = base / "fourplane-scratch-broken"
    broken.mkdir()
    (broken / Scratch.MARKER).write_text("[1, 2")
    pipe = base / "fourplane-scratch-pipe"
    pipe.mkdir()
    os.mkfifo(pipe / Scratch.MARKER)
    other = marked(base, "data-of-a-user")
    one = Scratch(str(base))
    one.remove_stale()
    assert one.removed == []
    assert len(one.left) == 6
    assert (dead / "data").read_text() == "data"
    assert other.is_dir()
    assert len(list(base.iterdir())) == 7


def test_links_inside_a_dead_folder_are_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    folder = marked(tmp_path, "fourplane-scratch-1")
    (folder / "link").symlink_to(precious)
    Scratch(str(tmp_path)).remove_stale()
    assert not folder.exists()
    assert (precious / "file").read_text() == "kept"


def test_what_can_not_be_removed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from fourplane.probes.parts.frame import Output

    one = Scratch(str(tmp_path))
    monkeypatch.setattr(scratch.os, "rmdir", lambda *_, **__: None)
    monkeypatch.setattr(scratch.time, "sleep", lambda _seconds: None)
    status = scratch.finish(Output("storage", 1), Guard(), one, {}, "storage/1 part=io", lambda: one.open() and None)
    output = read(capsys.readouterr().out.splitlines())
    assert status == 1
    assert output.observations[-1].value is False
    assert one.path in output.observations[-1].reason
    assert not output.complete


def test_threads_end_with_their_guard() -> None:
    guard = Guard()
    seen = []

    def endless() -> None:
        while True:
            guard.check()
            time.sleep(0.001)

    def closer() -> None:
        seen.append(1)
        guard.reason = "enough"
        guard.stop.set()

    with pytest.raises(Stopped, match="enough"):
        guard.parallel([endless, endless, closer])
    assert seen == [1]


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    def fail() -> None:
        raise ValueError("in a thread")

    with pytest.raises(ValueError, match="in a thread"):
        Guard().parallel([lambda: 1, fail])
    assert Guard().parallel([lambda: 1, lambda: 2]) == [1, 2]


def test_the_marker_goes_last_so_that_a_kill_while_removing_leaves_an_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Scratch(str(tmp_path))
    path = Path(one.open())
    (path / "data").mkdir()
    (path / "data" / "shard").write_bytes(b"x")
    order: list[str] = []
    real_unlink, real_rmtree = os.unlink, scratch.shutil.rmtree
    monkeypatch.setattr(scratch.os, "unlink", lambda p, *a, **k: (order.append(Path(p).name), real_unlink(p, *a, **k)))
    monkeypatch.setattr(
        scratch.shutil, "rmtree", lambda p, *a, **k: (order.append(Path(p).name), real_rmtree(p, *a, **k))
    )
    assert one.close()
    assert order[0] == "data"
    assert order[-1] == Scratch.MARKER


@pytest.mark.parametrize(("age_s", "content", "gone"), [(120, False, True), (0, False, False), (120, True, False)])
def test_an_old_empty_folder_without_a_marker_is_removed_and_nothing_else(
    tmp_path: Path, age_s: int, content: bool, gone: bool
) -> None:
    left = tmp_path / (Scratch.PREFIX + "0123456789abcdef")
    left.mkdir()
    if content:
        (left / "somebody's").write_bytes(b"x")
    at = time.time() - age_s
    os.utime(left, (at, at))
    Scratch(str(tmp_path)).remove_stale()
    assert left.exists() is not gone
