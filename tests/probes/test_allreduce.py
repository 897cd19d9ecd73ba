from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fourplane.probes
from fourplane.engines.base import Task
from fourplane.engines.local import LocalEngine
from fourplane.engines.packing import pack_probe
from fourplane.formats.probe_lines import ProbeOutput, read
from fourplane.probes import allreduce
from fourplane.probes.parts.frame import Output
from fourplane.records.metrics import METRICS
from fourplane.records.observation import State

PROBE = Path(fourplane.probes.__file__).parent / "allreduce.py"
EVERY = set(allreduce.UNITS)


def run(*args: str, ranks: int = 2) -> tuple[ProbeOutput, int | None]:
    pytest.importorskip("mpi4py")
    engine = LocalEngine()
    task = Task(PROBE, (*args, "--watch-stdin"), ranks=ranks, deadline_s=60)
    (result,) = engine.run(task, engine.nodes())
    output = read(result.lines)
    assert output.refusals == [], result.stderr
    return output, result.returncode


def test_every_metric_of_the_vocabulary_is_spoken_of_with_its_unit() -> None:
    wanted = {name: one.unit for name, one in METRICS.items() if name.startswith("network.allreduce.")}
    assert wanted == allreduce.UNITS


def test_two_ranks_are_measured_and_right_and_two_runs_share_their_methods() -> None:
    first, status = run("--expect-ranks", "2", "--budget", "0.3", "--max-bytes", "100000")
    second, _ = run("--expect-ranks", "2", "--budget", "0.1", "--max-bytes", "4096")
    assert status == 0
    assert first.complete
    values = {one.metric: one for one in first.observations}
    assert set(values) == EVERY
    assert all(one.state is State.MEASURED for one in first.observations)
    assert values["network.allreduce.world_size"].value == 2
    assert values["network.allreduce.wrong"].value == 0
    assert values["network.allreduce.transport"].value == "shm"
    curve = values["network.allreduce.curve"].value
    assert [row["bytes"] for row in curve] == [8, 32, 128, 512, 2048, 8192, 32768, 100000]
    for row in curve:
        assert row["algbw_gbps"] == pytest.approx(row["bytes"] / row["time_us"] / 1e3, rel=0.05, abs=2e-6)
        assert row["busbw_gbps"] == pytest.approx(row["algbw_gbps"], abs=2e-6)  # 2(n-1)/n is 1 for two ranks
        assert row["time_min_us"] <= row["time_us"] <= row["time_max_us"]
    assert values["network.allreduce.busbw_peak"].value == max(row["busbw_gbps"] for row in curve)
    assert values["network.allreduce.latency"].value == curve[0]["time_us"]
    assert {one.method for one in first.observations} == {one.method for one in second.observations}


def test_more_ranks_than_cores_form_one_world_too() -> None:
    output, status = run("--expect-ranks", "4", "--budget", "0.1", "--max-bytes", "512", ranks=4)
    values = {one.metric: one.value for one in output.observations}
    assert status == 0
    assert values["network.allreduce.world_size"] == 4
    assert values["network.allreduce.wrong"] == 0


def test_singletons_give_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mpi4py")
    monkeypatch.setenv("OMPI_MCA_btl_sm_backing_directory", str(tmp_path))
    command = [sys.executable, PROBE, "--expect-ranks", "2", "--budget", "0.1"]
    # started side by side, as a launcher that belongs to another MPI would
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        text, _ = process.communicate(timeout=60)
        output = read(text.splitlines())
        assert process.returncode != 0
        assert not output.complete
        assert {one.metric for one in output.observations} == EVERY
        assert all(one.state is State.FAILED and "2 singletons" in one.reason for one in output.observations)


def test_a_world_of_another_size_gives_no_figure() -> None:
    output, status = run("--expect-ranks", "3", "--budget", "0.1")
    assert status != 0
    assert {one.state for one in output.observations} == {State.FAILED}
    assert all("found a world of 2" in one.reason for one in output.observations)


def test_a_deadline_ends_every_rank_and_leaves_a_reason() -> None:
    output, status = run("--expect-ranks", "2", "--budget", "300", "--deadline", "0.5")
    assert status != 0
    assert not output.complete
    assert {one.metric for one in output.observations} == EVERY
    assert all("deadline" in one.reason for one in output.observations)


def test_without_mpi4py_everything_is_skipped_not_passed(tmp_path: Path) -> None:
    packed = tmp_path / "allreduce.pyz"
    packed.write_bytes(pack_probe(PROBE))
    command = [sys.executable, "-S", packed, "--expect-ranks", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    output = read(done.stdout.splitlines())
    assert output.complete
    assert {one.metric for one in output.observations} == EVERY
    assert all(one.state is State.SKIPPED and "mpi4py" in one.reason for one in output.observations)


def test_nccl_that_is_asked_for_and_not_there_is_skipped() -> None:
    if allreduce.gpu_devices():
        pytest.skip("this machine has GPUs")
    output, _ = run("--expect-ranks", "2", "--budget", "0.1", "--backend", "nccl")
    assert {one.state for one in output.observations} == {State.SKIPPED}
    assert {one.metric for one in output.observations} == EVERY


@given(st.integers(1, 6000), st.integers(0, 300))
def test_sums_stay_exact_in_float32(ranks: int, element: int) -> None:
    largest = allreduce.total_weight(ranks) * allreduce.period(ranks)
    assert largest <= 2**24 or allreduce.period(ranks) == 1
    assert allreduce.weight(element) != allreduce.weight(element + 1)


def test_up_to_sixteen_ranks_the_sum_is_the_gauss_sum() -> None:
    assert [allreduce.total_weight(n) for n in (1, 2, 8, 16)] == [n * (n + 1) // 2 for n in (1, 2, 8, 16)]


@given(st.integers(8, 1 << 28))
def test_sizes_rise_from_8_bytes_by_four_and_end_with_the_largest(most: int) -> None:
    found = allreduce.sizes(most)
    assert found[0] == 8
    assert found[-1] == most // 4 * 4
    assert all(8 <= a < b <= 4 * a for a, b in pairwise(found))
    assert not [size for size in found if size % 4]


@given(st.integers(2, 64), st.integers(8, 5000).map(lambda n: n * 4), st.data())
@settings(max_examples=60)
def test_every_single_wrong_element_is_counted(ranks: int, size: int, data: st.DataObject) -> None:
    expected = allreduce.pattern(allreduce.total_weight(ranks), ranks, size)
    assert len(expected) == size
    assert allreduce.count_wrong(bytearray(expected), expected) == 0
    places = data.draw(st.sets(st.integers(0, size // 4 - 1), min_size=1, max_size=5))
    broken = bytearray(expected)
    for place in places:
        broken[4 * place + 1] ^= 0x40
    assert allreduce.count_wrong(broken, expected) == len(places)


def test_an_error_in_the_last_element_of_a_large_buffer_is_seen() -> None:
    expected = allreduce.pattern(3, 2, 5 << 20)
    broken = bytearray(expected)
    broken[-1] ^= 1
    assert allreduce.count_wrong(broken, expected) == 1


def test_two_equal_stretches_in_the_wrong_order_are_seen() -> None:
    expected = allreduce.pattern(3, 2, 4096)
    assert allreduce.count_wrong(expected[2048:] + expected[:2048], expected) > 0


def test_missing_elements_count_as_wrong() -> None:
    expected = allreduce.pattern(3, 2, 4096)
    assert allreduce.count_wrong(expected[:-8], expected) == 2


class FakeBackend:
    """One process that plays a world of two; it can spoil the last sum."""

    rank, size = 0, 2
    tool, tools = "fake", {}

    def __init__(self, spoil: bool) -> None:
        self._spoil, self._data = spoil, bytearray()

    def allocate(self, size: int) -> None:
        self._data = bytearray(size)

    def fill(self, data: bytes) -> None:
        self._data[:] = data

    def loop(self, iterations: int) -> None:
        if iterations == 1 and any(self._data):
            self._data[:] = allreduce.pattern(allreduce.total_weight(2), 2, len(self._data))
            if self._spoil:
                self._data[0] ^= 1

    def wrong(self, expected: bytes) -> int:
        return allreduce.count_wrong(self._data, expected)

    def barrier(self) -> None: ...

    def total(self, value: float) -> float:
        return 2.0 * value

    def largest(self, value: float) -> float:
        return value


@pytest.mark.parametrize("spoil", [False, True])
def test_a_wrong_result_gives_no_bandwidth(spoil: bool, capsys: pytest.CaptureFixture[str]) -> None:
    backend: Any = FakeBackend(spoil)
    rows = allreduce.sweep(backend, 2048, 0.01, lambda *_: None)
    facts = {"ranks": 2, "transport": "shm", "transport_known_by": "said so"}
    assert allreduce.report(Output("allreduce", 1), facts, rows, "allreduce/1 fake ranks=2") is not spoil
    output = read(capsys.readouterr().out.splitlines())
    states = {one.metric: one.state for one in output.observations}
    wrong = next(one.value for one in output.observations if one.metric == "network.allreduce.wrong")
    assert wrong == (2 * len(rows) if spoil else 0)
    figures = {states["network.allreduce.latency"], states["network.allreduce.busbw_peak"]}
    assert figures == ({State.FAILED} if spoil else {State.MEASURED})
    assert set(states) == EVERY


def test_what_is_written_is_json_of_finite_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    out = Output("allreduce", 1)
    with pytest.raises(ValueError, match="JSON"):
        out.measured("network.allreduce.latency", float("nan"), "us", "allreduce/1 fake ranks=2")
    out.end(True)
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["t"] for line in lines] == ["end"]
