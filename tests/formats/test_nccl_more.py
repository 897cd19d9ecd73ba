"""Runs of nccl-tests beyond the plain log: JSON, split rows, cliffs, holes, separate worlds, NCCL's own log."""

from __future__ import annotations

import json
from typing import Any

import pytest
from formats_corpus import own

from fourplane.formats import nccl_info, nccl_summary, nccl_tests
from fourplane.formats.model import Reading, Status
from fourplane.formats.nccl_model import NcclRun
from fourplane.formats.nccl_prefix import without_prefix


def _read(name: str) -> Reading[NcclRun]:
    return nccl_tests.read(own(f"nccl_tests/{name}"))


def _summary(name: str) -> dict[str, Any]:
    return nccl_summary.summarise(_read(name))


def _codes(reading: Reading[NcclRun]) -> list[str]:
    return [note.code for note in reading.notes]


PLAIN = {
    "op": "all_reduce", "ranks": 16, "nodes": 2, "gpu": "NVIDIA H100 80GB HBM3", "peak_busbw_gbps": 397.63,
    "peak_size_bytes": 1 << 30, "wrong": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    "name", ["all_reduce_2x8.log", "output_J.json", "rows_split_by_info.log", "stamps_and_iters.log"]
)
def test_text_json_and_split_rows_give_the_same_figures(name: str) -> None:
    summary = _summary(name)
    assert {key: summary[key] for key in PLAIN} == PLAIN


def test_the_curve_is_given_and_cpu_time_has_none() -> None:
    assert _summary("all_reduce_2x8.log")["curve"][2] == {
        "bytes": 1 << 20, "busbw_gbps": 56.31, "algbw_gbps": 30.03, "time_us": 34.92,
    }  # fmt: skip
    assert (_summary("cpu_time.log")["curve"], _summary("separate_worlds.log")["curve"]) == ([], [])


def test_json_takes_nothing_of_the_environment_but_nccl() -> None:
    reading = _read("output_J.json")
    assert reading.records[0].transports.env == {"NCCL_IB_HCA": "mlx5"}
    assert "planted-secret" not in repr(reading)
    assert _summary("output_J.json")["version"] == "2.27.7"
    assert reading.records[0].settings["maxBytes"] == 1 << 30


def test_json_of_a_run_that_died_gives_its_whole_results() -> None:
    text = own("nccl_tests/output_J.json")
    cut = text.index('"size": 268435456') + 40
    reading = nccl_tests.read(text[:cut])
    assert (reading.status, reading.count) == (Status.TRUNCATED, 2)
    assert [row.size for row in reading.records[0].rows] == [8, 1 << 20]
    assert len(reading.records[0].ranks) == 16


def test_json_without_its_end_is_truncated_and_a_failed_verdict_fails() -> None:
    document = json.loads(own("nccl_tests/output_J.json"))
    del document["end_time"]
    assert nccl_tests.read(json.dumps(document)).status is Status.TRUNCATED
    document["out_of_bounds"] = {"count": 3, "okay": False}
    assert nccl_tests.read(json.dumps(document)).status is Status.FAILED
    document["results"][0]["out_of_place"]["bus_bw"] = "nan"
    assert [one.code for one in nccl_tests.read(json.dumps(document)).refusals] == ["nccl-row-refused"]


def test_first_layout_names_bytes_and_counts_milliseconds() -> None:
    run = _read("layout_2018.log").records[0]
    assert (run.status, run.op, run.world_size, run.wrong) == (Status.COMPLETE, "all_reduce", 2, None)
    assert [row.out_of_place.time_us for row in run.rows] == [100.0, 150.0]


def test_rccl_is_read_like_nccl() -> None:
    summary = _summary("rccl.log")
    assert (summary["gpu"], summary["version"], summary["peak_busbw_gbps"]) == (
        "AMD Instinct MI300X",
        "2.21.5-HEAD",
        154.5,
    )


def test_cliffs_holes_and_missing_ranks_are_noted() -> None:
    reading = _read("cliff_and_holes.log")
    assert reading.status is Status.TRUNCATED
    assert _codes(reading) == ["nccl-cliff", "nccl-cliff", "nccl-size-missing", "nccl-rank-missing"]
    assert "18.75 GB/s after 56.31 GB/s" in reading.notes[0].text
    assert reading.notes[3].text == "no line for rank 7"


def test_a_sweep_without_holes_has_no_note() -> None:
    text = own("nccl_tests/all_reduce_2x8.log")
    assert _codes(nccl_tests.read(text)) == ["nccl-size-missing"]
    assert _codes(nccl_tests.read(text.replace("step: 2(factor)", "step: 8192(factor)"))) == []


def test_a_bandwidth_below_the_minimum_that_was_set_fails() -> None:
    assert (_read("below_minimum.log").status, _codes(_read("below_minimum.log"))[0]) == (
        Status.FAILED,
        "nccl-run-failed",
    )


def test_ranks_and_ratio_that_contradict_are_noted_and_the_written_word_stays() -> None:
    text = own("nccl_tests/all_reduce_2x8.log")
    kept = [line for line in text.splitlines(keepends=True) if " Rank " not in line or " on         n0 " in line]
    reading = nccl_tests.read("".join(kept))
    assert reading.records[0].world_size == 8
    assert "nccl-ranks-contradict" in _codes(reading)


def test_a_log_without_its_beginning_states_no_ranks() -> None:
    text = own("nccl_tests/all_reduce_2x8.log")
    reading = nccl_tests.read(text[text.index("NCCL version") :])
    summary = nccl_summary.summarise(reading)
    assert (reading.status, summary["ranks"], summary["ranks_by_ratio"]) == (Status.TRUNCATED, None, 16)


def test_elided_lines_make_a_log_truncated_and_a_preamble_does_not() -> None:
    text = own("nccl_tests/all_reduce_2x8.log")
    assert nccl_tests.read("...\n" + text).status is Status.COMPLETE
    assert nccl_tests.read(text.replace("# Out of", "...\n# Out of")).status is Status.TRUNCATED


def test_two_nodes_that_never_met_are_not_one_world() -> None:
    text = own("nccl_tests/all_reduce_2x8.log")
    begin, end = text.index("# nThread"), text.index("NCCL version")
    # both nodes print settings and ranks 0 to 7, then one table
    other = "".join(line for line in text[begin:end].splitlines(keepends=True) if " on         n1 " not in line)
    assert nccl_tests.read(other + other.replace(" n0 ", " n9 ") + text[end:]).status is Status.NOT_ONE_WORLD


def test_rows_of_two_speakers_are_not_one_world() -> None:
    text = own("nccl_tests/prefix_srun.log")
    lines = text.splitlines(keepends=True)
    rows = [line for line in lines if " float " in line]
    mixed = text.replace(rows[-1], rows[-1] + rows[-1].replace(" 0: ", " 1: ", 1))
    assert nccl_tests.read(text).status is Status.COMPLETE
    assert nccl_tests.read(mixed).status is Status.NOT_ONE_WORLD


def test_a_run_that_is_repeated_after_a_failure_is_another_run() -> None:
    reading = nccl_tests.read(own("nccl_tests/init_failed.log") + own("nccl_tests/all_reduce_2x8.log"))
    assert [run.status for run in reading.records] == [Status.FAILED, Status.COMPLETE]
    assert reading.status is Status.FAILED


def test_results_of_different_collectives_share_no_peak() -> None:
    summary = _summary("two_results.log")
    assert (summary["op"], summary["ranks"], summary["peak_busbw_gbps"], summary["peak_size_bytes"]) == (
        None,
        16,
        None,
        None,
    )
    assert [run["op"] for run in summary["runs"]] == ["all_gather", "reduce_scatter"]


def test_a_row_whose_rest_never_came_is_refused() -> None:
    text = own("nccl_tests/rows_split_by_info.log")
    rest = next(line for line in text.splitlines(keepends=True) if line.startswith("     30.31"))
    reading = nccl_tests.read(text.replace(rest, ""))
    assert (reading.status, [one.code for one in reading.refusals], reading.count) == (
        Status.TRUNCATED,
        ["nccl-row-cut"],
        4,
    )


def test_a_warning_alone_does_not_fail_a_whole_run() -> None:
    text = own("nccl_tests/all_reduce_2x8.log")
    reading = nccl_tests.read("n0:1:1 [0] init.cc:1 NCCL WARN a setting is missing\n" + text)
    assert (reading.status, _codes(reading)[0]) == (Status.COMPLETE, "nccl-warning")


@pytest.mark.parametrize(
    ("line", "rest", "rank"),
    [
        ("[1,3]<stdout>:# x", "# x", "3"), ("[prterun-n1-77@1,4]<stdout>: # x", "# x", "4"), (" 12: # x", "# x", "12"),
        ("[7] # x", "# x", "7"), ("n01: # x", "# x", ""), ("2026-12-01T04:00:00.5Z # x", "# x", ""),
        ("2026-12-01T04:00:00Z [1,0]<stdout>:# x", "# x", "0"), ("n4: Test NCCL failure", "n4: Test NCCL failure", ""),
        ("[7]x", "[7]x", ""), ("", "", ""),
    ],
)  # fmt: skip
def test_prefixes(line: str, rest: str, rank: str) -> None:
    assert without_prefix(line) == (rest, rank)


def test_socket_is_the_word_when_one_channel_leaves_the_node_by_socket() -> None:
    reading = nccl_info.read(own("nccl_info/socket_fallback.log"))
    summary = nccl_info.summarise(reading)
    assert (summary["transport"], summary["ranks"], summary["gdrdma"], summary["bootstrap"]) == (
        "socket",
        16,
        False,
        "eth0",
    )
    assert (reading.status, _codes(reading)) == (Status.COMPLETE, ["nccl-settings-differ"])


def test_a_network_that_no_channel_uses_is_not_the_transport() -> None:
    text = own("nccl_info/socket_fallback.log")
    inside = "".join(line for line in text.splitlines(keepends=True) if "via NET" not in line)
    assert nccl_info.summarise(nccl_info.read(inside))["transport"] == "p2p"


def test_roce_with_gpudirect_on_some_channels_only() -> None:
    summary = nccl_info.summarise(nccl_info.read(own("nccl_info/roce_gdr.log")))
    assert (summary["transport"], summary["gdrdma"], summary["gid_index"]) == ("roce", False, 3)
    assert summary["channels"] == {"NET/IB/GDRDMA/Shared": 1, "NET/IB/GDRDMA": 1, "NET/IB": 1}
    assert (summary["nics"], summary["env"]) == (["mlx5_0", "mlx5_1"], {"NCCL_IB_GID_INDEX": "3"})


def test_a_warning_that_names_a_link_blames_it() -> None:
    reading = nccl_info.read(own("nccl_info/link_failed.log"))
    assert (reading.status, _codes(reading)) == (Status.FAILED, ["nccl-link-failed", "nccl-link-failed"])
    assert reading.notes[0].text.startswith("node n7, gpu 3, hca mlx5_3, peer 10.0.0.9: transport retries exceeded")
    first = nccl_info.summarise(reading)["warnings"][0]
    assert (first["status"], first["opcode"], first["vendor_err"], first["request"]) == (12, 0, 129, "Send")


def test_a_text_without_a_line_of_nccl_is_refused() -> None:
    assert nccl_info.read("hello\n").status is Status.REFUSED
    assert nccl_info.sniff("some NCCL words\n") == 0.0
