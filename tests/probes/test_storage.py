"""The parts of the storage probe: what they say, what they check, and what they refuse to call a figure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from storage_runs import SMALL, make_run, said, through_engine

from fourplane.probes import storage
from fourplane.probes.parts import block_io, content, scratch, staging, weights
from fourplane.probes.parts.content import BLOCK, PAGE, Content
from fourplane.probes.parts.frame import Guard
from fourplane.records.metrics import METRICS
from fourplane.records.observation import State


def test_the_parts_speak_of_every_storage_metric_but_the_inventory_s() -> None:
    spoken = {name: unit for part in storage.PARTS.values() for name, unit in part.METRICS.items()}
    wanted = {name: one.unit for name, one in METRICS.items() if name.startswith("storage.")}
    for name in ("storage.local.devices", "storage.local.nvme_total", "storage.scratch.clean"):
        del wanted[name]
    assert spoken == wanted


@pytest.mark.parametrize("part", sorted(storage.PARTS))
def test_a_part_says_everything_once_and_leaves_nothing(part: str, tmp_path: Path) -> None:
    output, status = through_engine(part, tmp_path, "--fio", "never")
    assert status == 0
    assert output.complete
    assert output.probe == "storage"
    names = [one.metric for one in output.observations]
    assert sorted(names) == sorted([*storage.PARTS[part].METRICS, "storage.scratch.clean"])
    for one in output.observations:
        cold_on_tmpfs = one.metric == "storage.weights.cold_throughput" and one.state is State.SKIPPED
        assert one.state is State.MEASURED or cold_on_tmpfs, one
        assert one.method.startswith("storage/1 ")
        if one.unit:
            assert cold_on_tmpfs or one.value > 0
    assert output.observations[-1].value is True
    assert list(tmp_path.iterdir()) == []


def test_two_runs_share_their_methods(tmp_path: Path) -> None:
    def methods(*args: str) -> set[tuple[str, str]]:
        output, _ = through_engine("io", tmp_path, "--fio", "never", *args)
        return {(one.metric, one.method) for one in output.observations}

    assert methods() == methods("--budget", "0.2", "--max-bytes", str(2 * SMALL))


@pytest.mark.parametrize("part", sorted(storage.PARTS))
def test_too_little_room_is_a_reason_not_a_figure(part: str, tmp_path: Path) -> None:
    output, status = through_engine(part, tmp_path, "--max-bytes", "1000000")
    assert status == 0
    assert output.complete
    facts = {"storage.scratch.filesystem", "storage.scratch.free", "storage.scratch.clean"}
    open_ones = [one for one in output.observations if one.metric not in facts]
    assert {one.metric for one in open_ones} == set(storage.PARTS[part].METRICS) - facts
    assert all(one.state is State.SKIPPED for one in open_ones)
    assert list(tmp_path.iterdir()) == []


@given(st.integers(0, 1 << 50), st.integers(0, 1 << 45))
def test_never_more_than_a_tenth_of_the_free_space(free: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "free_bytes", lambda _path: free)
        allowed, reason = content.room("/anywhere", most, SMALL)
    assert allowed <= most
    assert allowed * 10 <= free
    assert bool(reason) is (allowed == 0)
    assert allowed == 0 or allowed >= SMALL


def test_a_scratch_folder_that_is_not_there_fails_with_its_reason(tmp_path: Path) -> None:
    output, status = through_engine("io", tmp_path / "nothing")
    assert status == 1
    assert not output.complete
    failed = [one for one in output.observations if one.state is State.FAILED]
    assert {one.metric for one in failed} == set(block_io.METRICS)
    assert all("No such file" in one.reason for one in failed)


def test_no_space_left_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    run = make_run(weights, tmp_path)
    monkeypatch.setattr(weights, "write_all", full)
    status = scratch.finish(run.out, run.guard, run.scratch, run.plan, "storage/1", lambda: weights.measure(run))
    assert status == 1
    found = said(capsys)
    assert all(found[name].state is State.FAILED for name in weights.METRICS)
    assert "No space left" in found["storage.weights.cold_throughput"].reason
    assert found["storage.scratch.clean"].value is True
    assert list(tmp_path.iterdir()) == []


@given(st.integers(0, 2**31), st.integers(0, 2**20), st.integers(0, BLOCK - 1), st.integers(1, 255))
@settings(max_examples=30, deadline=None)
def test_one_wrong_byte_in_a_block_is_seen(number: int, index: int, place: int, change: int) -> None:
    one = Content(number)
    right = bytearray(one.block(index))
    assert one.is_block(index, right)
    assert not one.is_block(index + 1, right)
    assert not Content(number + 1).is_block(index, right)
    right[place] ^= change
    assert not one.is_block(index, right)


def test_no_page_of_a_file_equals_another_file_s() -> None:
    pages = set()
    for number in (1, 2):
        for index in (0, 1):
            block = bytes(Content(number).block(index))
            pages |= {block[start : start + PAGE] for start in range(0, BLOCK, PAGE)}
    assert len(pages) == 4 * BLOCK // PAGE


def test_a_block_that_came_back_wrong_takes_the_figures_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = block_io.write_sequentially

    def spoil(path: str, *args: object) -> tuple[int, float]:
        result = write(path, *args)  # type: ignore[arg-type]
        with Path(path).open("r+b") as handle:
            handle.seek(3 * BLOCK + 77)
            handle.write(b"spoilt")
        return result

    run = make_run(block_io, tmp_path, budget=2.0)
    monkeypatch.setattr(block_io, "write_sequentially", spoil)
    monkeypatch.setattr(block_io, "random_part", lambda *_: None)
    block_io.measure(run)
    assert run.scratch.close()
    found = said(capsys)
    for name in ("storage.io.sequential_write", "storage.io.sequential_read"):
        assert found[name].state is State.FAILED
        assert found[name].reason.startswith("1 of ")


def test_without_direct_io_the_method_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(block_io, "takes_direct", lambda _folder: False)
    run = make_run(block_io, tmp_path)
    block_io.measure(run)
    assert run.scratch.close()
    found = said(capsys)
    for name in ("sequential_write", "sequential_read", "random_read", "random_read_p99", "random_write"):
        one = found[f"storage.io.{name}"]
        assert one.state is State.MEASURED
        assert "buffered+sync" in one.method
        assert one.conditions["direct"] is False
        assert "cached_before_read" in one.conditions


def test_a_cached_read_is_never_called_cold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(weights, "drop_cache", lambda _path: None)
    monkeypatch.setattr(weights, "cached_fraction", lambda _paths: 0.9)
    run = make_run(weights, tmp_path)
    weights.measure(run)
    assert run.scratch.close()
    found = said(capsys)
    assert found["storage.weights.cold_throughput"].state is State.SKIPPED
    assert "90 %" in found["storage.weights.cold_throughput"].reason
    assert found["storage.weights.warm_throughput"].state is State.MEASURED


def test_the_page_cache_is_told_from_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(64 * PAGE))
    content.fsync_path(str(path))
    if content.cached_fraction([str(path)]) is None:
        pytest.skip("no mincore here")
    assert content.cached_fraction([str(path)]) == 1.0
    content.drop_cache(str(path))
    dropped = content.cached_fraction([str(path)])
    assert dropped is not None
    if scratch.filesystem(str(tmp_path)) != "tmpfs":
        assert dropped < 0.1


def _tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "dataset"
    (folder / "deep").mkdir(parents=True)
    for number in range(20):
        (folder / "deep" / f"{number} ümlaut").write_bytes(os.urandom(3000 + number))
    (folder / "big").write_bytes(os.urandom(2 * BLOCK + 5))
    (folder / "empty").write_bytes(b"")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "loop").symlink_to(folder)
    (folder / "fourplane-scratch-0").mkdir()
    (folder / "fourplane-scratch-0" / "other").write_text("a probe's")
    return folder


def test_a_given_dataset_is_staged_and_left_as_it_was(dataset: Path, tmp_path: Path) -> None:
    before = _tree(dataset)
    target = tmp_path / "scratch"
    target.mkdir()
    output, status = through_engine("staging", target, "--source", str(dataset))
    assert status == 0
    found = {one.metric: one for one in output.observations}
    assert found["storage.staging.source"].value == "directory"
    conditions = found["storage.staging.throughput"].conditions
    assert conditions["files"] == conditions["compared"] == 22
    assert conditions["bytes"] == sum(len(data) for name, (data, _) in before.items() if "scratch" not in name)
    assert conditions["only_a_part"] is False
    assert _tree(dataset) == before
    assert list(target.iterdir()) == []


def test_a_dataset_that_does_not_fit_is_staged_in_part_and_says_so(dataset: Path) -> None:
    files, cut = staging.list_source(str(dataset), 2 * BLOCK)
    assert cut
    assert sum(size for _, size in files) <= 2 * BLOCK
    everything, cut = staging.list_source(str(dataset), 1 << 40)
    assert not cut
    assert len(everything) == 22
    assert not [name for name, _ in everything if "link" in name or "loop" in name or "scratch" in name]


def test_a_copy_that_differs_gives_no_throughput(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = staging.copy_file

    def careless(source: str, target: str, guard: Guard) -> None:
        honest(source, target, guard)
        if target.endswith("big"):
            os.truncate(target, BLOCK)

    monkeypatch.setattr(staging, "copy_file", careless)
    run = make_run(staging, tmp_path, source=str(dataset), budget=5.0)
    staging.measure(run)
    assert run.scratch.close()
    found = said(capsys)
    assert found["storage.staging.throughput"].state is State.FAILED
    assert "1 files differ" in found["storage.staging.throughput"].reason
    assert found["storage.staging.file_rate"].state is State.FAILED


def test_a_source_that_is_not_there_is_skipped_with_its_name(tmp_path: Path) -> None:
    output, _ = through_engine("staging", tmp_path, "--source", "/no/such/dataset")
    states = {one.metric: one for one in output.observations}
    assert states["storage.staging.throughput"].state is State.SKIPPED
    assert "/no/such/dataset" in states["storage.staging.throughput"].reason


def test_an_object_store_without_its_library_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> object:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(staging.importlib, "import_module", missing)
    run = make_run(staging, tmp_path, source="s3://bucket/data")
    staging.measure(run)
    assert run.scratch.close()
    found = said(capsys)
    assert {one.state for one in found.values()} == {State.SKIPPED}
    assert "obstore" in found["storage.staging.source"].reason
    assert "object store" in found["storage.staging.source"].method


@pytest.mark.lab
def test_with_fio_the_random_part_is_fio_s_and_its_json_is_kept(tmp_path: Path) -> None:
    output, status = through_engine("io", tmp_path)
    assert status == 0
    found = {one.metric: one for one in output.observations}
    assert found["storage.io.random_read"].method.startswith("storage/1 fio-")
    assert found["storage.io.sequential_read"].method.startswith("storage/1 python")
    assert set(output.raws) == {"fio-randread.json", "fio-randwrite.json"}
