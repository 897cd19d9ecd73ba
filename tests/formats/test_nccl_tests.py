from __future__ import annotations

import pytest
from formats_corpus import own, sample

from fourplane.formats import nccl_tests
from fourplane.formats.model import Reading, Status
from fourplane.formats.nccl_model import NcclRun


def _read(name: str) -> Reading[NcclRun]:
    return nccl_tests.read(own(f"nccl_tests/{name}"))


def test_two_nodes_all_reduce() -> None:
    reading = _read("all_reduce_2x8.log")
    assert (reading.status, reading.refusals, len(reading.records)) == (Status.COMPLETE, [], 1)
    run = reading.records[0]
    assert (run.op, run.op_stated, run.world_size, run.implied_world_size) == ("all_reduce", True, 16, 16)
    assert (run.version, run.nccl_version) == ("2.18.1", "2.27.7+cuda12.9")
    assert (run.hosts, run.gpu_models) == (["n0", "n1"], ["NVIDIA H100 80GB HBM3"])
    assert (run.settings["iters"], run.settings["warmup iters"], run.settings["agg iters"]) == (20, 5, 1)
    assert [row.size for row in run.rows] == [8, 65536, 1 << 20, 1 << 28, 1 << 30]
    assert run.wrong == 0


def test_the_result_is_the_peak_and_never_the_average() -> None:
    run = _read("all_reduce_2x8.log").records[0]
    assert run.average_busbw == 123.456
    assert run.peak is not None
    assert (run.peak.size, run.peak.busbw) == (1 << 30, 397.63)


@pytest.mark.parametrize("name", ["prefix_srun.log", "prefix_openmpi.log", "prefix_hydra.log", "colours.log"])
def test_prefixes_colours_and_line_ends_change_nothing(name: str) -> None:
    reading, plain = _read(name), _read("all_reduce_2x8.log")
    assert (reading.status, reading.refusals) == (Status.COMPLETE, [])
    mine, other = reading.records[0], plain.records[0]
    assert [(row.size, row.out_of_place, row.in_place) for row in mine.rows] == [
        (row.size, row.out_of_place, row.in_place) for row in other.rows
    ]
    assert mine.ranks == other.ranks


def test_log_of_nccl_between_the_rows_tells_the_transport() -> None:
    run = _read("info_interleaved.log").records[0]
    assert (run.status, len(run.rows)) == (Status.COMPLETE, 5)
    assert (run.transports.word, run.transports.net_channels) == ("roce", (2, 0))
    assert run.transports.kinds >= {"roce", "gdr", "p2p", "nvls"}
    assert run.transports.hcas == ["mlx5_0", "mlx5_1"]
    assert (run.transports.network, run.transports.world_sizes) == ("IB", {16})


def test_layout_of_2021_with_an_error_column() -> None:
    run = _read("layout_2021.log").records[0]
    assert (run.op, run.world_size, run.implied_world_size) == ("all_reduce", 8, 8)
    assert run.wrong is None  # 1e-06 is a deviation, and validation was off
    assert run.peak is not None
    assert run.peak.busbw == 234.88


def test_alltoall_of_2021_leaves_redop_blank() -> None:
    run = _read("layout_2021_alltoall.log").records[0]
    assert [(row.redop, row.root) for row in run.rows] == [("", "")] * 3
    assert run.op == ""  # all_gather would print the same columns; a guess is not an origin


def test_extra_columns_and_time_stamps_do_not_shift_the_figures() -> None:
    mine, plain = _read("stamps_and_iters.log").records[0], _read("all_reduce_2x8.log").records[0]
    assert [row.out_of_place for row in mine.rows] == [row.out_of_place for row in plain.rows]
    assert [row.in_place for row in mine.rows] == [row.in_place for row in plain.rows]
    assert {row.iterations for row in mine.rows} == {20}


def test_cpu_times_give_no_bandwidth() -> None:
    run = _read("cpu_time.log").records[0]
    assert (run.cpu_time, run.peak, len(run.rows)) == (True, None, 5)


def test_cut_row_is_dropped_and_said() -> None:
    reading = _read("cut.log")
    assert (reading.status, reading.reason) == (Status.TRUNCATED, "a row is cut")
    assert [(one.code, one.line) for one in reading.refusals] == [("nccl-row-cut", 28)]
    assert [row.size for row in reading.records[0].rows] == [8, 65536, 1 << 20, 1 << 28]


def test_a_log_that_ends_inside_its_last_number_loses_that_row() -> None:
    text = own("nccl_tests/all_reduce_2x8.log")
    end = text.index("# Out of bounds")
    assert len(nccl_tests.read(text[:end]).records[0].rows) == 5
    reading = nccl_tests.read(text[: end - 1])
    assert (len(reading.records[0].rows), reading.refusals[0].code) == (4, "nccl-row-cut")


def test_a_log_without_its_closing_lines_is_truncated() -> None:
    text = own("nccl_tests/all_reduce_2x8.log")
    reading = nccl_tests.read(text[: text.index("# Out of bounds")])
    assert (reading.status, reading.reason) == (Status.TRUNCATED, "the closing lines are missing")


def test_wrong_elements_fail_the_run() -> None:
    reading = _read("wrong.log")
    assert (reading.status, reading.records[0].wrong) == (Status.FAILED, 20)


def test_separate_worlds_are_never_a_bandwidth() -> None:
    reading = _read("separate_worlds.log")
    assert reading.status is Status.NOT_ONE_WORLD
    assert [run.peak for run in reading.records] == [None] * len(reading.records)


def test_separate_worlds_with_a_header_each_between_the_rows() -> None:
    one = own("nccl_tests/separate_worlds.log")
    lines = one.splitlines(keepends=True)
    header = [line for line in lines if "redop" in line][:1]
    rows = [line for line in lines if "float" in line]
    ranks = [line for line in lines if " Rank " in line]
    mixed = "".join(part for rank, row in zip(ranks, rows, strict=False) for part in (rank, *header, row))
    assert nccl_tests.read(mixed).status is Status.NOT_ONE_WORLD


def test_one_rank_alone_is_a_world_of_one() -> None:
    text = own("nccl_tests/separate_worlds.log")
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if "Rank" not in line and "float" not in line][:4]
    rank = next(line for line in lines if "Rank" in line)
    header = next(line for line in lines if "redop" in line)
    row = next(line for line in lines if "float" in line)
    reading = nccl_tests.read("".join([*kept[:3], rank, header, row, "# Out of bounds values : 0 OK\n"]))
    assert (reading.status, reading.records[0].world_size) == (Status.COMPLETE, 1)


def test_failure_before_the_table() -> None:
    reading = _read("init_failed.log")
    assert (reading.status, reading.refusals, reading.count) == (Status.FAILED, [], 0)
    assert [line for line, _ in reading.records[0].failures] == [7, 8]
    assert [one.code for one in reading.notes] == [
        "nccl-warning", "nccl-run-failed", "nccl-run-failed", "nccl-without-rows",
    ]  # fmt: skip


def test_two_results_in_one_file() -> None:
    reading = _read("two_results.log")
    assert [(run.op, run.peak.busbw if run.peak else None) for run in reading.records] == [
        ("all_gather", 326.79),
        ("reduce_scatter", 316.98),
    ]


def test_broadcast_is_known_by_its_root() -> None:
    run = _read("broadcast.log").records[0]
    assert (run.op, run.op_stated, run.rows[0].root) == ("broadcast", False, "0")


def test_row_that_does_not_fit_its_header_is_refused() -> None:
    text = own("nccl_tests/all_reduce_2x8.log").replace("   1048576        262144", "   1048576 1 2 3 4   262144")
    reading = nccl_tests.read(text)
    assert len(reading.records[0].rows) == 4
    text = own("nccl_tests/all_reduce_2x8.log").replace("-1     30.09", "-1     3o.09")
    assert [one.code for one in nccl_tests.read(text).refusals] in (["nccl-row-refused"], [])


def test_public_sample_over_efa_names_its_transport() -> None:
    run = nccl_tests.read(sample("nccl_15_info_interleaved_t4_efa.log")).records[0]
    assert (run.transports.word, run.transports.network) == ("efa", "AWS Libfabric")


def test_figures_that_no_world_explains_imply_no_world_size() -> None:
    text = own("nccl_tests/all_reduce_2x8.log")
    lines = [line for line in text.splitlines(keepends=True) if " Rank " not in line]
    half = " 10.00   1.00 {0:7.2f}      0"
    row = f"  1073741824     268435456     float     sum      -1 {half} {half}\n"
    for busbw, expected in ((2.5, None), (2.0, None), (1.0, 2), (1.5, 4)):
        kept = [line for line in lines if "float" not in line]
        kept.insert(next(n for n, line in enumerate(kept) if "Out of" in line), row.format(busbw))
        assert nccl_tests.read("".join(kept)).records[0].implied_world_size == expected


def test_digits_outside_ascii_are_no_numbers() -> None:
    text = own("nccl_tests/all_reduce_2x8.log").replace(" 262144 ", " 26² ", 1)
    assert len(nccl_tests.read(text).records[0].rows) == 4
