from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import math
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from evidence_samples import absent, files_below, record_inventory, seen, small_store

from fourplane.base.errors import StoreError, UsageError
from fourplane.base.findings import Level
from fourplane.evidence.store import RunStore
from fourplane.records.observation import Observation, RawRef, State


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "evidence"


def code_of(action: Callable[[], object]) -> str:
    with pytest.raises((StoreError, UsageError)) as stop:
        action()
    assert stop.value.fix
    return stop.value.code


def test_what_was_recorded_is_read_back_with_run_and_reference(root: Path) -> None:
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {"steps": ["inventory@n1"]})
        returned = record_inventory(store)
        assert store.unfinished() is not None
        store.end("r1", {"ok": True})
    with RunStore.open(root) as reader:
        assert reader.observations("r1") == returned
        first = returned[0]
        assert first.run == "r1" and first.raw is not None
        assert first.raw.path == "runs/r1/raw/inventory@n1/lscpu.txt"
        assert first.raw.sha256 == hashlib.sha256((root / first.raw.path).read_bytes()).hexdigest()
        assert reader.raw_text(first.raw).splitlines()[first.raw.line - 1] == "cores 2"
        assert returned[1].raw is None and returned[1].state is State.ABSENT
        (run,) = reader.runs()
        assert (run.id, run.steps, run.plan, run.summary) == (
            "r1",
            ("inventory@n1",),
            {"steps": ["inventory@n1"]},
            {"ok": True},
        )
        assert run.ended is not None and run.ended >= run.started
        assert reader.unfinished() is None
        assert reader.finished_steps("r1") == ["inventory@n1"]
        assert reader.head[0] == 3
        assert reader.verify() == []


def test_secrets_never_reach_the_disk_and_both_hashes_are_kept(root: Path) -> None:
    raw = "line 1\nexport DB_PASSWORD=hush-hush\nline 3"
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {"command": ["run", "--password", "hush-hush"], "env": {"API_KEY": "hush-hush"}})
        (one,) = store.record(
            "r1",
            "s",
            [
                seen(
                    "compute.os.image",
                    "x TOKEN=hush-hush",
                    method="curl -H 'Authorization: Bearer hush-hush'",
                    reason="https://u:hush-hush@host",
                    conditions={"env": {"HF_TOKEN": "hush-hush"}},
                )
            ],
            {"env": raw},
            {"argv": "--token hush-hush"},
        )
        store.end("r1", {"note": "password: hush-hush"})
    assert "hush" not in repr(one)
    for path in files_below(root):
        assert b"hush-hush" not in path.read_bytes(), path
    step = json.loads((root / "runs/r1/steps/s.json").read_text())
    (kept,) = step["raws"]
    assert kept["original_sha256"] == hashlib.sha256(raw.encode()).hexdigest()
    assert kept["sha256"] == hashlib.sha256((root / kept["path"]).read_bytes()).hexdigest()
    assert kept["sha256"] != kept["original_sha256"]
    assert kept["redactions"] == {"key-value": 1}
    assert sum(step["redactions"].values()) == 4


def test_bytes_that_are_not_utf_8_are_stored_with_their_own_hash(root: Path) -> None:
    raw = b"caf\xe9\nPASSWORD=x\xff\n"
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        store.record("r1", "s", [], {"log": raw, "text": "lone \udc80 surrogate"})
        assert store.verify() == []
    assert (root / "runs/r1/raw/s/log.txt").read_text() == "caf\ufffd\nPASSWORD=[redacted:key-value]\n"
    step = json.loads((root / "runs/r1/steps/s.json").read_text())
    assert step["raws"][0]["original_sha256"] == hashlib.sha256(raw).hexdigest()


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (seen("compute.cpu.shoes", 2), "evidence-observation-refused"),
        (seen("compute.memory.total", 2, "GiB"), "evidence-observation-refused"),
        (seen("control.clock.offset", math.nan, "s"), "evidence-observation-refused"),
        (seen("network.allreduce.curve", [{"time_us": math.inf}]), "evidence-observation-refused"),
        (seen("compute.os.image", {1: "a"}), "evidence-observation-refused"),
        (seen("compute.os.image", {"a": object()}), "evidence-observation-refused"),
        (seen("compute.cpu.cores", 3, raw=RawRef("dmesg", "", 1)), "evidence-raw-unknown"),
        (seen("compute.cpu.cores", 3, raw=RawRef("runs/r1/raw/s/x.txt", "0" * 64, 1)), "evidence-raw-unknown"),
        (seen("compute.cpu.threads", 2), "evidence-observation-twice"),
    ],
)
def test_a_step_is_refused_as_a_whole(root: Path, bad: Observation, code: str) -> None:
    good = seen("compute.cpu.threads", 2)
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        before = files_below(root)
        assert code_of(lambda: store.record("r1", "s", [good, bad], {"lscpu": "x"})) == code
        assert files_below(root) == before
        assert store.finished_steps("r1") == [] and store.observations() == []
        store.record("r1", "s", [good], {"lscpu": "x"})
        assert store.verify() == []


def test_a_deeply_nested_value_is_refused(root: Path) -> None:
    value: list[object] = []
    for _ in range(5000):
        value = [value]
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        refused = lambda: store.record("r1", "s", [seen("compute.os.image", value)], {})  # noqa: E731
        assert code_of(refused) == "evidence-observation-refused"


def test_one_subject_metric_and_method_once_per_run_over_reopening(root: Path) -> None:
    one = seen("compute.cpu.cores", 2)
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        store.record("r1", "a", [one], {})
    with RunStore.open(root, write=True) as store:
        assert code_of(lambda: store.record("r1", "b", [one], {})) == "evidence-observation-twice"
        store.record("r1", "b", [seen("compute.cpu.cores", 2, method="other/1")], {})
        store.begin("r2", {})
        store.record("r2", "a", [one], {})
        assert [o.run for o in store.observations()] == ["r1", "r1", "r2"]


def test_steps_and_runs_are_written_once(root: Path) -> None:
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        store.record("r1", "a", [], {})
        assert code_of(lambda: store.begin("r1", {})) == "evidence-run-exists"
        assert code_of(lambda: store.record("r1", "a", [], {})) == "evidence-step-recorded"
        assert code_of(lambda: store.record("r9", "a", [], {})) == "evidence-run-unknown"
        assert code_of(lambda: store.observations("r9")) == "evidence-run-unknown"
        store.end("r1", {})
        assert code_of(lambda: store.record("r1", "b", [], {})) == "evidence-run-ended"
        assert code_of(lambda: store.end("r1", {})) == "evidence-run-ended"
        assert store.verify() == []


def test_unfinished_is_the_newest_run_without_end(root: Path) -> None:
    with RunStore.open(root, write=True) as store:
        for run in ("r1", "r2", "r3"):
            store.begin(run, {"n": run})
        store.end("r3", {})
        waiting = store.unfinished()
    assert waiting is not None and waiting.id == "r2" and waiting.ended is None and waiting.plan == {"n": "r2"}


@pytest.mark.parametrize("name", ["", "a\nb", "\x1b[31m", "x" * 200, "é" * 60])
def test_names_that_cannot_be_stored_are_refused(root: Path, name: str) -> None:
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        assert code_of(lambda: store.begin(name, {})) == "evidence-name-refused"
        assert code_of(lambda: store.record("r1", name, [], {})) == "evidence-name-refused"
        assert code_of(lambda: store.record("r1", "s", [], {name: "x"})) == "evidence-name-refused"
        assert store.verify() == []


def test_latest_names_no_run(root: Path) -> None:
    with RunStore.open(root, write=True) as store:
        assert code_of(lambda: store.begin("latest", {})) == "evidence-name-refused"


@pytest.mark.parametrize(
    "name", ["../../evil", "/etc/passwd", "..", ".", ".hidden", "a b", "node:n1/gpu:0", "ü%2F", "HEAD"]
)
def test_names_with_a_meaning_to_file_systems_stay_inside(root: Path, name: str) -> None:
    with RunStore.open(root, write=True) as store:
        store.begin(name, {})
        (one,) = store.record(name, name, [seen("compute.cpu.cores", 1, raw=RawRef(name, "", 1))], {name: "text"})
        store.end(name, {})
        assert one.raw is not None and store.raw_text(one.raw) == "text"
        assert store.verify() == []
    outside = [path for path in root.parent.iterdir() if path != root]
    assert outside == []
    with RunStore.open(root) as reader:
        assert reader.runs()[0].id == name and reader.finished_steps(name) == [name]
        assert reader.observations() == [one]


def test_a_line_beyond_the_raw_text_becomes_the_whole_text(root: Path) -> None:
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        lines = [
            seen("compute.cpu.cores", n, method=f"m{n}", raw=RawRef("t", "", line))
            for n, line in enumerate((0, 1, 2, 3, -1))
        ]
        stored = store.record("r1", "s", lines, {"t": "one\ntwo\n"})
    assert [one.raw and one.raw.line for one in stored] == [0, 1, 2, 0, 0]


def test_a_later_step_may_cite_a_raw_text_that_is_on_file(root: Path) -> None:
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        first = record_inventory(store)[0]
        (later,) = store.record("r1", "b", [seen("compute.cpu.threads", 4, raw=first.raw)], {})
        assert later.raw == first.raw
        assert store.verify() == []


def test_the_second_writer_is_told_so_and_readers_are_not_kept_out(root: Path) -> None:
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        assert code_of(lambda: RunStore.open(root, write=True)) == "evidence-locked"
        with RunStore.open(root) as reader:
            assert [run.id for run in reader.runs()] == ["r1"]
            assert code_of(lambda: reader.begin("r2", {})) == "evidence-read-only"
    with RunStore.open(root, write=True) as store:
        store.begin("r2", {})


def test_where_a_folder_cannot_be_locked_a_file_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS carries flock as a byte-range lock and refuses it on a folder; this stands in for such a mount."""
    real = fcntl.flock

    def flock(fd: int, how: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        real(fd, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        assert code_of(lambda: RunStore.open(root, write=True)) == "evidence-locked"
        assert store.verify() == []
    with RunStore.open(root, write=True) as store:
        assert store.verify() == []


def test_a_failed_write_records_nothing_and_the_next_attempt_works(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        with monkeypatch.context() as patch:
            full = OSError(errno.ENOSPC, "No space left on device")

            def replace(source: object, target: object) -> None:
                if str(target).endswith("inventory@n1.json"):
                    raise full
                Path(str(source)).rename(str(target))

            patch.setattr(os, "replace", replace)
            assert code_of(lambda: record_inventory(store)) == "evidence-write-failed"
        assert store.finished_steps("r1") == []
        record_inventory(store)
        assert store.finished_steps("r1") == ["inventory@n1"]
        assert store.verify() == []


def test_no_evidence_is_a_usage_error(root: Path) -> None:
    assert code_of(lambda: RunStore.open(root)) == "evidence-absent"
    root.mkdir()
    assert code_of(lambda: RunStore.open(root)) == "evidence-absent"
    with RunStore.open(root, write=True) as store:
        assert store.runs() == [] and store.verify() == [] and store.head == (0, "0" * 64)
    with RunStore.open(root) as reader:
        assert reader.observations() == []
        for path in (root / "HEAD", root / "chain", root / "runs", root / "tmp"):
            path.unlink() if path.is_file() else path.rmdir()
        assert code_of(reader.verify) == "evidence-absent"


def test_a_reader_of_damage_names_the_file_and_the_way_out(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    step = root / "runs/r1/steps/inventory@n1.json"
    step.write_bytes(step.read_bytes().replace(b'"value":2', b'"value":8'))
    with RunStore.open(root) as reader, pytest.raises(StoreError) as stop:
        reader.observations()
    assert stop.value.code == "evidence-damaged"
    assert str(step) in stop.value.message and "fourplane evidence verify" in stop.value.fix


def test_raw_text_outside_the_store_is_never_read(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    (tmp_path / "secret.txt").write_text("x")
    digest = hashlib.sha256(b"x").hexdigest()
    with RunStore.open(root) as reader:
        for path in ("../secret.txt", str(tmp_path / "secret.txt"), "runs/r1/raw/../../../../secret.txt", "HEAD"):
            assert code_of(lambda path=path: reader.raw_text(RawRef(path, digest))) == "evidence-raw-unknown"


def test_a_damaged_store_takes_no_records_and_is_left_as_it_is(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    (root / "chain/000003.json").unlink()
    before = {path: path.read_bytes() for path in files_below(root)}
    assert code_of(lambda: RunStore.open(root, write=True)) == "evidence-damaged"
    assert {path: path.read_bytes() for path in files_below(root)} == before


@pytest.mark.parametrize("name", ["runs", "tmp", "chain", "runs/r9"])
def test_a_writer_follows_no_link_out_of_the_folder(tmp_path: Path, name: str) -> None:
    root = small_store(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    if (root / name).exists():
        (root / name).rename(outside / "moved")
        (root / name).symlink_to(outside / "moved")
    else:
        (root / name).symlink_to(outside)
    kept = files_below(outside)
    assert code_of(lambda: RunStore.open(root, write=True)) in {"evidence-not-a-file", "evidence-damaged"}
    assert files_below(outside) == kept


def test_the_evidence_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "big-disk").mkdir()
    (tmp_path / "evidence").symlink_to(tmp_path / "big-disk")
    root = small_store(tmp_path)
    with RunStore.open(root) as reader:
        assert reader.verify() == [] and len(reader.observations()) == 2


def test_a_store_without_its_empty_folders_is_intact(tmp_path: Path) -> None:
    """Version control keeps no empty folder: a checkout has no tmp/."""
    root = small_store(tmp_path)
    (root / "tmp").rmdir()
    with RunStore.open(root) as reader:
        assert reader.verify() == []
    with RunStore.open(root, write=True) as store:
        store.begin("r2", {})
        assert store.verify() == []


def test_too_much_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourplane.evidence.preparing.RECORD_LIMIT", 1000)
    monkeypatch.setattr("fourplane.evidence.preparing.RAWS_LIMIT", 2)
    with RunStore.open(root, write=True) as store:
        store.begin("r1", {})
        assert code_of(lambda: store.record("r1", "s", [], {"a": "x" * 1001})) == "evidence-too-large"
        assert code_of(lambda: store.record("r1", "s", [], dict.fromkeys("abc", "x"))) == "evidence-too-large"
        store.record("r1", "s", [absent("compute.gpu.count", "none")], {"a": "x" * 900})
        assert store.verify() == []


def test_a_stranger_in_the_way_is_not_overwritten(tmp_path: Path) -> None:
    root = small_store(tmp_path, runs=2)
    with RunStore.open(root, write=True) as store:
        store.begin("r3", {})
    for step in ("a", "b"):
        path = root / f"runs/r3/steps/{step}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    with RunStore.open(root, write=True) as store:
        assert code_of(lambda: store.record("r3", "a", [], {})) == "evidence-file-extra"
    assert (root / "runs/r3/steps/a.json").read_text() == "mine"


def test_something_foreign_inside_the_rest_of_an_interrupted_step_stays(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    with RunStore.open(root, write=True) as store:
        store.begin("r2", {})
    rest = root / "runs/r2/raw/storage"
    rest.mkdir(parents=True)
    (rest / "log.txt").write_text("half a step")
    (rest / "core dump").write_text("mine")
    with RunStore.open(root, write=True) as store:
        assert not (rest / "log.txt").exists() and (rest / "core dump").read_text() == "mine"
        assert [one.file for one in store.verify() if one.level is Level.ERROR] == [str(rest / "core dump")]
        store.record("r2", "storage", [], {"log": "the whole step"})
        assert [one.file for one in store.verify() if one.level is Level.ERROR] == [str(rest / "core dump")]
