from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourplane.base.clock import format_utc, parse_utc
from fourplane.base.text import plural, printable, shorten
from fourplane.base.verdicts import ExitCode, Verdict, combine, exit_code

ORDER = [Verdict.FAILED, Verdict.UNPROVEN, Verdict.STALE, Verdict.PASSED, Verdict.WAIVED]


@given(st.lists(st.sampled_from(ORDER), min_size=1))
def test_the_worst_part_decides_the_whole(parts: list[Verdict]) -> None:
    assert combine(parts) is min(parts, key=ORDER.index)


def test_nothing_judged_is_unproven_not_passed() -> None:
    assert combine([]) is Verdict.UNPROVEN


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (Verdict.PASSED, ExitCode.ACCEPTED),
        (Verdict.WAIVED, ExitCode.ACCEPTED),
        (Verdict.FAILED, ExitCode.REJECTED),
        (Verdict.UNPROVEN, ExitCode.UNPROVEN),
        (Verdict.STALE, ExitCode.UNPROVEN),
    ],
)
def test_exit_codes_follow_the_verdict(verdict: Verdict, code: ExitCode) -> None:
    assert exit_code(verdict) is code


def test_the_exit_codes_are_0_1_2_3() -> None:
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3]


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])))
def test_times_survive_the_written_form(moment: datetime) -> None:
    written = format_utc(moment)
    assert written.endswith("Z")
    assert parse_utc(written) == moment


def test_a_time_without_a_zone_is_never_guessed() -> None:
    with pytest.raises(ValueError, match="zone"):
        format_utc(datetime(2026, 12, 1))  # noqa: DTZ001
    with pytest.raises(ValueError, match="zone"):
        parse_utc("2026-12-01T04:39:20")


@given(st.text())
def test_printable_text_holds_nothing_that_drives_a_terminal(text: str) -> None:
    clean = printable(text)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in clean)
    assert "\u202e" not in clean
    assert printable(clean) == clean


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_shortened_text_fits(text: str, width: int) -> None:
    assert len(shorten(text, width)) <= width


def test_plural() -> None:
    assert [plural(0, "node"), plural(1, "node"), plural(1200, "node")] == ["0 nodes", "1 node", "1,200 nodes"]
