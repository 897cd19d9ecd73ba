"""Sizes, durations, times, states and job ids: strict, and unknown rather than guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourplane.formats.slurm.values import (
    Moment,
    parse_count,
    parse_duration,
    parse_job_id,
    parse_moment,
    parse_size,
    parse_state,
    per_unit,
    tasks_of,
)

GIB = 1024**3


@pytest.mark.parametrize(
    ("text", "size", "per"),
    [
        ("64Gn", 64 * GIB, "node"), ("5000Mc", 5000 * 1024**2, "cpu"), ("250.5G", 250.5 * GIB, ""), ("0n", 0, "node"),
        ("2252800K", 2_252_800 * 1024, ""), ("1T", 1024 * GIB, ""), ("1P", 1024**5, ""), ("2E", 2 * 1024**6, ""),
        ("16?", None, ""), ("-1", None, ""), ("", None, ""), ("1.5.2G", None, ""), ("64 G n", None, ""),
        ("x", None, ""),
        ("٣G", None, ""),
    ],
)  # fmt: skip
def test_sizes(text: str, size: int | None, per: str) -> None:
    assert parse_size(text) == size
    assert per_unit(text) == per


def test_a_size_without_suffix_takes_the_unit_of_its_column() -> None:
    assert parse_size("10") == 10 * 1024**2
    assert parse_size("10", bare="B") == 10


@pytest.mark.parametrize(
    ("text", "count"), [("8", 8), ("2K", 2048), ("1.5K", 1536), ("0.3", None), ("", None), ("-2", None)]
)
def test_counts(text: str, count: int | None) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00:00:51", 51), ("1-01:50:50", 93_050), ("00:15.057", 15.057), ("12-14:58:07", 1_090_687),
        ("3-00:00:00", 259_200),
        ("5:00", 300), ("2-03", 183_600), ("2-03:30", 185_400), ("UNLIMITED", None), ("Partition_Limit", None),
        ("", None), ("90", None), ("1-2-3", None), ("00:00:00:00", None),
    ],
)  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == (None if seconds is None else pytest.approx(seconds))


def test_a_local_time_stays_text_and_an_instant_needs_a_zone() -> None:
    local = parse_moment("2026-03-01T10:00:00")
    assert local == Moment("2026-03-01T10:00:00", None)
    epoch, zoned = parse_moment("1790000000"), parse_moment("2026-09-21T14:13:20+00:00")
    assert epoch is not None and zoned is not None
    assert epoch.epoch == zoned.epoch == 1_790_000_000
    assert local.before(epoch) is None


@pytest.mark.parametrize("text", ["Unknown", "None", "N/A", "", "0", "(null)"])
def test_no_time_is_no_time(text: str) -> None:
    found = parse_moment(text)
    assert found is not None
    assert not found.known


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01T00:00:00", "2026-03-01", "12", "now+1hour"])
def test_what_is_no_time_is_refused(text: str) -> None:
    assert parse_moment(text) is None


def test_states_keep_their_actor_and_unknown_ones_their_name() -> None:
    cancelled, odd, short = parse_state("CANCELLED by 1001"), parse_state("FOO"), parse_state("PD")
    assert cancelled is not None and odd is not None and short is not None
    assert (cancelled.name, cancelled.by, cancelled.known) == ("CANCELLED", "1001", True)
    assert (odd.name, odd.known) == ("FOO", False)
    assert short.name == "PENDING"
    assert parse_state("12:00") is None


@pytest.mark.parametrize(
    ("text", "array", "component", "step", "allocation"),
    [
        ("12", "", "", "", "12"), ("12.batch", "", "", "batch", "12"), ("12_3.0", "3", "", "0", "12_3"),
        ("67+1", "", "1", "", "67+1"), ("67+1.extern", "", "1", "extern", "67+1"),
        ("12_[7-8%1]", "[7-8%1]", "", "", "12_[7-8%1]"), ("12_[1,5]", "[1,5]", "", "", "12_[1,5]"),
    ],
)  # fmt: skip
def test_job_ids(text: str, array: str, component: str, step: str, allocation: str) -> None:
    found = parse_job_id(text)
    assert found is not None
    assert (found.array, found.component, found.step, found.allocation) == (array, component, step, allocation)


@pytest.mark.parametrize("text", ["", "a", "12_", "12.", "12 ", "12_[]", "x12", "12|", "1.2.3.4"])
def test_what_is_no_job_id_is_none(text: str) -> None:
    assert parse_job_id(text) is None


@pytest.mark.parametrize(
    ("array", "tasks"),
    [
        ("3", 1),
        ("[1-3]", 3),
        ("[9-11,13,16-20]", 9),
        ("[7-8%1]", 2),
        ("[0-10:5]", 3),
        ("[1,...]", None),
        ("[5-1]", None),
        ("*", None),
    ],
)
def test_waiting_tasks_are_counted(array: str, tasks: int | None) -> None:
    assert tasks_of(array) == tasks


@given(st.text(max_size=60))
def test_any_text_is_a_value_or_none(text: str) -> None:
    for parse in (parse_size, parse_count, parse_duration, parse_moment, parse_state, parse_job_id, tasks_of):
        parse(text)
    assert parse_size(text) is None or parse_size(text) >= 0  # type: ignore[operator]
