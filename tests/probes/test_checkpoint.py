"""The crash test must be able to fail: writers that are not safe, kills that miss, shards that were touched."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from storage_runs import PROBE, make_run, said

from fourplane.probes.parts import checkpoint
from fourplane.probes.parts.content import BLOCK
from fourplane.probes.parts.frame import Guard
from fourplane.records.observation import State

SAFE = [sys.executable, str(PROBE), "--writer"]
IN_PLACE = """
# overwrites the checkpoint that is there, as a writer without a temporary name does
import sys, time, pathlib
folder = pathlib.Path(sys.argv[1]) / "step-00000001"
with open(folder / "shard-00001.bin", "r+b") as shard:
    shard.write(b"x" * 4096)
    shard.flush()
    print("killme", flush=True)
    time.sleep(60)
"""
MANIFEST_FIRST = """
# promises the new checkpoint before its shards are there, and drops the old one
import sys, time, pathlib, shutil
root = pathlib.Path(sys.argv[1])
shutil.rmtree(root / "step-00000001")
(root / "step-00000002").mkdir()
print("killme", flush=True)
time.sleep(60)
"""
GONE = """
import sys
sys.exit(3)
"""
SILENT = """
import time
print("something else", flush=True)
time.sleep(60)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one good checkpoint."""
    checkpoint.write_checkpoint(str(tmp_path), 1, 2, checkpoint.manifest_of(1, 2), Guard())
    return tmp_path


def writer(folder: Path, text: str) -> list[str]:
    path = folder.parent / f"{folder.name}-writer.py"
    path.write_text(text)
    return [sys.executable, str(path), str(folder)]


def verdict(root: Path, kills: list[checkpoint.Crash], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    run = make_run(checkpoint, root)
    checkpoint.judge(run, kills)
    return {name.rpartition(".")[2]: (one.state, one.value) for name, one in said(capsys).items()}


@pytest.mark.parametrize("moment", checkpoint.MOMENTS)
def test_a_safe_writer_killed_in_mid_write_leaves_the_last_good_one(
    root: Path, moment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [*SAFE, str(root), "2", "2", moment]
    kill = checkpoint.crash(str(root), 1, moment, argv, Guard())
    assert kill.mid_write
    assert kill.consistent
    assert kill.seconds > 0
    assert "step-00000002" in kill.note
    found = verdict(root, [kill], capsys)
    assert found["crash_consistent"] == (State.MEASURED, True)
    assert found["recovery"][0] is State.MEASURED  # type: ignore[index]


@pytest.mark.parametrize("text", [IN_PLACE, MANIFEST_FIRST], ids=["in-place", "old-one-dropped"])
def test_an_unsafe_writer_is_found_out(root: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    kill = checkpoint.crash(str(root), 1, "shard", writer(root, text), Guard())
    assert kill.mid_write
    assert not kill.consistent
    found = verdict(root, [kill], capsys)
    assert found["crash_consistent"] == (State.MEASURED, False)
    assert found["recovery"][0] is State.FAILED  # type: ignore[index]


@pytest.mark.parametrize("text", [GONE, SILENT], ids=["ended-by-itself", "at-another-moment"])
def test_a_kill_that_missed_shows_nothing(root: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    kill = checkpoint.crash(str(root), 1, "shard", writer(root, text), Guard())
    assert not kill.mid_write
    found = verdict(root, [kill], capsys)
    assert found["crash_consistent"][0] is State.FAILED  # type: ignore[index]
    assert found["recovery"][0] is State.FAILED  # type: ignore[index]


def test_a_writer_that_finished_before_the_kill_shows_nothing(root: Path) -> None:
    done = "import sys, pathlib, time; f = pathlib.Path(sys.argv[1]) / 'step-00000002'; f.mkdir(); "
    done += "(f / 'manifest.json').write_text('{}'); print('killme', flush=True); time.sleep(60)"
    kill = checkpoint.crash(str(root), 1, "shard", writer(root, done), Guard())
    assert not kill.mid_write
    assert not kill.consistent


def test_a_restore_passes_over_what_is_not_whole(root: Path) -> None:
    guard = Guard()
    for step in (2, 3, 4, 5):
        checkpoint.write_checkpoint(str(root), step, 1, checkpoint.manifest_of(step, 1), guard)
    (root / "step-00000005" / "manifest.json").unlink()
    (root / "step-00000004" / "manifest.json").write_bytes(b'{"step": 4, "shards": [')
    shard = root / "step-00000003" / "shard-00002.bin"
    data = bytearray(shard.read_bytes())
    data[BLOCK // 2] ^= 1
    shard.write_bytes(data)
    (root / "step-00000002" / "shard-00000.bin").write_bytes(b"short")
    name, passed_over = checkpoint.restore_newest(str(root), guard)
    assert name == "step-00000001"
    assert [one.partition(":")[0] for one in passed_over] == [f"step-0000000{n}" for n in (5, 4, 3, 2)]


def test_a_manifest_can_not_point_outside_its_folder(root: Path, tmp_path: Path) -> None:
    folder = root / "step-00000001"
    manifest = json.loads((folder / "manifest.json").read_text())
    outside = tmp_path / "outside.bin"
    outside.write_bytes((folder / "shard-00000.bin").read_bytes())
    manifest["shards"][0]["name"] = "../outside.bin"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FileNotFoundError):
        checkpoint.load(str(folder), Guard())


def test_nothing_whole_is_told_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "step-00000001").mkdir()
    name, passed_over = checkpoint.restore_newest(str(tmp_path), Guard())
    assert name == ""
    assert len(passed_over) == 1


def test_a_shard_appears_under_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    def pieces() -> object:
        yield b"first"
        raise RuntimeError("died")

    with pytest.raises(RuntimeError):
        checkpoint.put(str(tmp_path / "shard"), pieces())
    assert [path.name for path in tmp_path.iterdir()] == ["shard.part"]


def test_a_restore_that_fails_is_measured_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = checkpoint.forget

    def spoil(folder: str) -> float | None:
        shard = Path(folder) / "shard-00000.bin"
        shard.write_bytes(b"x" + shard.read_bytes()[1:])
        return honest(folder)

    monkeypatch.setattr(checkpoint, "forget", spoil)
    monkeypatch.setattr(checkpoint, "crash_test", lambda *_: None)
    run = make_run(checkpoint, tmp_path)
    checkpoint.measure(run)
    assert run.scratch.close()
    found = said(capsys)
    assert found["storage.checkpoint.restore_verified"].value is False
    assert found["storage.checkpoint.restore_throughput"].state is State.FAILED
