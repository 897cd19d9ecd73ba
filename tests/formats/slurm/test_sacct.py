"""sacct: delimiters, headings, repair, attempts, steps, GPUs; and that nothing unsafe is taken."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slurm_corpus import own

from fourplane.formats.model import MAX_LINE_CHARS, Reading, Refusal, Status
from fourplane.formats.slurm import sacct, sacct_summary
from fourplane.formats.slurm.sacct_row import REPAIRED, SacctRow
from fourplane.formats.slurm.sacct_rows import lines_of_file, read_rows


def notes(reading: Reading[SacctRow]) -> set[str]:
    return {note.code for note in reading.notes}


def refused(reading: Reading[SacctRow]) -> list[tuple[str, int]]:
    return [(refusal.code, refusal.line) for refusal in reading.refusals]


def test_attempts_arrays_and_components_stay_apart() -> None:
    reading = sacct.read(own("sacct_attempts.psv"))
    found = sacct_summary.summarise(reading)
    assert (reading.status, found["allocations"], found["steps"]) == (Status.COMPLETE, 7, 1)
    assert [(job["job"], job["attempt"], job["gpus"]) for job in found["jobs"]] == [
        ("700", 1, 16), ("700", 2, 16), ("701_1", 1, 1), ("701_2", 1, 1), ("703_[7-9%2]", 1, 0), ("710+0", 1, 2),
        ("710+1", 1, 0),
    ]  # fmt: skip
    assert found["attempts"] == {"700": 2}
    assert found["cancelled_by"] == {"1001": 1}
    assert [job["mig_slices"] for job in found["jobs"]][2:4] == [1, 1]
    assert found["jobs"][4]["tasks"] == 3
    running = next(row for row in reading.records if row.cell("jobid") == "710+0")
    assert running.moment("end") is not None and not running.moment("end").known  # type: ignore[union-attr]
    assert found["gpu_tracked"] is True


def test_gpus_that_accounting_does_not_track_are_unknown_and_said() -> None:
    reading = sacct.read(own("sacct_untracked.psv"))
    found = sacct_summary.summarise(reading)
    assert [(job["gpus"], job["gpus_asked"]) for job in found["jobs"]] == [(None, 4), (0, 0)]
    assert found["gpu_tracked"] is False
    assert "slurm-gpu-not-tracked" in notes(reading)


def test_names_are_repaired_only_where_one_column_is_free() -> None:
    reading = sacct.read(own("sacct_names.psv"))
    assert [(row.cell("jobid"), row.cell("jobname"), row.line) for row in reading.records] == [
        ("900", "na\\xffme", 2), ("901", "a|b", 3), ("902", "two\nlines", 4), ("903", "café", 6),
    ]  # fmt: skip
    assert [bool(row.flags & REPAIRED) for row in reading.records] == [False, True, True, False]
    assert refused(reading) == [("slurm-row-width", 7)]
    assert reading.status is Status.TRUNCATED
    assert notes(reading) == {"sacct-row-repaired", "sacct-bytes-not-text"}
    assert sacct_summary.summarise(reading)["bad_bytes"] == [{"line": 2, "byte": "0xff", "column": "JobName"}]


@pytest.mark.parametrize(
    "text",
    [
        "JobID|JobName|Comment|State\n1|a|b|c|COMPLETED\n2|a|b|COMPLETED\n",  # two columns may hold it
        "JobID|JobName|Odd|State\n1|a|b|c|COMPLETED\n2|a|b|COMPLETED\n",  # an unknown column may hold anything
    ],
)
def test_a_row_with_two_readings_is_refused(text: str) -> None:
    reading = sacct.read(text)
    assert [row.cell("jobid") for row in reading.records] == ["2"]
    assert refused(reading) == [("slurm-row-width", 2)]


def test_a_cut_row_does_not_swallow_the_next() -> None:
    text = "JobID|JobName|State|End\n1|cut\n2|b|COMPLETED|1790000000\n3|short\n4|d|FAILED|1790000000\n"
    reading = sacct.read(text)
    assert [row.cell("jobid") for row in reading.records] == ["2", "4"]
    assert refused(reading) == [("slurm-row-width", 2), ("slurm-row-width", 4)]


def test_two_cut_rows_are_not_one() -> None:
    reading = sacct.read("JobID|JobName|State|End\n1|a\n2|b|COMPLETED|\n3|x\ny|COMPLETED|1790000000\n")
    assert [(row.cell("jobid"), row.cell("jobname")) for row in reading.records] == [("2", "b"), ("3", "x\ny")]
    assert refused(reading) == [("slurm-row-width", 2)]


@pytest.mark.parametrize("delimiter", ["|", "\x1f", "\t", ";", "|#", "^^", " | ", "@"])
@pytest.mark.parametrize("trailing", [False, True])
def test_any_delimiter_is_found_in_the_heading(delimiter: str, trailing: bool) -> None:
    end = delimiter if trailing else ""
    rows = [
        ["JobID", "JobName", "State", "AllocTRES"],
        ["1.batch", "a", "FAILED", "gres/gpu=1"],
        ["2", "b", "RUNNING", ""],
    ]
    reading = sacct.read("".join(delimiter.join(row) + end + "\n" for row in rows))
    assert [[row.cell(name) for name in rows[0]] for row in reading.records] == rows[1:]
    assert not reading.refusals


def test_commas_split_only_where_they_are_quoted_or_cannot_be_meant() -> None:
    quoted = sacct.read('JobID,AllocTRES,NodeList\n1,"cpu=1,gres/gpu=2","n[1,3]"\n')
    assert quoted.records[0].cell("nodelist") == "n[1,3]"
    assert sacct.read("JobID,State,AllocTRES\n1,FAILED,cpu=1,gres/gpu=2\n").records[0].allocated.gpus == 2  # type: ignore[union-attr]
    both = sacct.read("JobID,AllocTRES,NodeList\n1,cpu=1,gres/gpu=2,n1\n")
    assert (both.records, refused(both)) == ([], [("slurm-row-width", 2)])


def test_padded_columns_are_cut_at_the_ruler_and_cut_values_are_unknown() -> None:
    reading = sacct.read(own("sacct_padded.txt"))
    assert [row.cell("jobid") for row in reading.records] == ["1201", "1202"]
    first, second = reading.records
    assert (first.cell("jobname"), first.cell("partition"), first.cpus) == (None, "gpu", 64)
    assert second.state is None
    assert refused(reading) == [("slurm-row-not-understood", 6)]


def test_a_listing_clipped_to_its_window_is_refused() -> None:
    for flag in ("-T", "-aXT", "--truncate"):
        reading = sacct.read(f"$ sacct {flag} -P -o jobid,end,state\nJobID|End|State\n1|2026-01-01T00:00:00|RUNNING\n")
        assert (reading.status, reading.records) == (Status.REFUSED, [])
        assert refused(reading) == [("sacct-window-clipped", 1)]


def test_columns_come_from_the_command_or_the_caller_or_not_at_all() -> None:
    rows = "1_2.0|7.0|COMPLETED\n"
    named = sacct.read("# sacct -Pn --format=JobID%20,JobIDRaw,State\n" + rows)
    given_ = sacct.read(rows, columns=["JobID", "JobIDRaw", "State"])
    assert [row.raw_id for row in named.records + given_.records] == ["7.0", "7.0"]
    bare = sacct.read(rows)
    assert (bare.status, refused(bare)) == (Status.REFUSED, [("slurm-columns-unnamed", 1)])


def test_a_heading_alone_is_an_empty_window_and_nothing_is_nothing() -> None:
    assert sacct.read("JobID|State\n").status is Status.COMPLETE
    assert sacct.read("").status is Status.REFUSED


def test_a_heading_that_comes_again_is_no_row_and_another_one_changes_the_columns() -> None:
    reading = sacct.read("JobID|State\n1|FAILED\nJobID|State\n2|TIMEOUT\nJobID|JobName|State\n3|x|RUNNING\n")
    assert [(row.cell("jobid"), row.state.name) for row in reading.records if row.state] == [
        ("1", "FAILED"), ("2", "TIMEOUT"), ("3", "RUNNING"),
    ]  # fmt: skip
    assert not reading.refusals


def test_contradictions_and_missing_ends_are_said() -> None:
    reading = sacct.read(
        "JobID|State|Start|End|ElapsedRaw\n"
        "1|COMPLETED|1790000000|1790000000|60\n2|CANCELLED by 7|1790000000|Unknown|60\n3|BAR|1790000000|1790000060|60\n"
        "4|RUNNING|1790000000|Unknown|60\n5|COMPLETED|1790000060|1790000000|0\n"
    )
    assert [(note.code, note.line) for note in reading.notes] == [
        ("sacct-times-contradict", 2), ("sacct-end-missing", 3), ("sacct-state-unknown", 4),
        ("sacct-times-contradict", 6),
    ]  # fmt: skip


def test_a_line_that_no_tool_writes_is_refused_and_the_rest_is_read() -> None:
    reading = sacct.read("JobID|JobName\n1|" + "x" * MAX_LINE_CHARS + "\n2|b\n")
    assert [row.cell("jobid") for row in reading.records] == ["2"]
    assert refused(reading) == [("format-line-too-long", 2)]


def test_rows_come_one_by_one_from_an_endless_source() -> None:
    def endless() -> Iterator[bytes]:
        yield b"JobID|State\n"
        number = 0
        while True:
            number += 1
            yield b"%d|COMPLETED\n" % number

    taken = list(islice(read_rows(endless()), 1000))
    assert [row.fields[0] for row in taken if isinstance(row, SacctRow)] == [str(n) for n in range(1, 1001)]


def test_a_file_is_read_in_bounded_lines(tmp_path: object) -> None:
    import io

    lines = list(lines_of_file(io.BytesIO(b"a\n" + b"x" * 100_000 + b"\nb")))
    assert [line[:2] for line in lines] == [b"a\n", b"xx", b"b"]
    assert max(map(len, lines)) <= MAX_LINE_CHARS + 2


cells = st.text(st.characters(exclude_characters="|\n\r\x00\x1b", exclude_categories=["Cs", "Zs", "Cc"]), max_size=12)


@given(st.lists(st.tuples(st.integers(1, 10**9), cells, cells), max_size=20))
def test_every_row_comes_back_as_it_was_written(rows: list[tuple[int, str, str]]) -> None:
    text = "JobID|JobName|Comment\n" + "".join(f"{job}|{name}|{comment}\n" for job, name, comment in rows)
    for source in ([text.encode()], None):
        lines = text.encode().split(b"\n") if source else text.split("\n")
        found = [row for row in read_rows(lines) if isinstance(row, SacctRow)]
        assert [tuple(row.fields) for row in found] == [(str(job), name, comment) for job, name, comment in rows]


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.text(max_size=8),
    st.sampled_from(["sacct_attempts.psv", "sacct_names.psv", "sacct_padded.txt"]),
)
def test_damage_never_raises_and_every_row_has_a_job_id(place: int, inserted: str, name: str) -> None:
    text = own(name)
    at = place % (len(text) + 1)
    reading = sacct.read(text[:at] + inserted + text[at:])
    assert all(row.job is not None for row in reading.records if row.layout.job is not None)
    assert reading.status is not Status.REFUSED or reading.refusals
    sacct_summary.summarise(reading)


def test_rows_and_refusals_are_all_that_comes() -> None:
    assert {type(one) for one in read_rows(["JobID|State", "1|FAILED", "x"])} == {SacctRow, Refusal}
