from __future__ import annotations

import math

import pytest
import report_samples as samples

from fourplane.records.observation import State
from fourplane.report.values import amount, moment, number, observation_text, value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (12, "12"),
        (12_300.4, "12,300"),
        (4.206, "4.21"),
        (0.00714, "0.00714"),
        (99.96, "100.0"),
        (3e-7, "3.00e-07"),
        (math.inf, "inf"),
    ],
)
def test_numbers_keep_three_significant_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (85_899_345_920, "B", "80.0 GiB"),
        (400e9, "b/s", "400 Gb/s"),
        (12, "b/s", "12 b/s"),
        (0.62, "us", "0.620 µs"),
        (2_500_000, "us", "2.5 s"),
        (412, "MB/s", "412 MB/s"),
        (48_000, "MB/s", "48 GB/s"),
        (1830, "1/s", "1,830 /s"),
        (4.42, "GB/s", "4.42 GB/s"),
        (0.69, "s", "690 ms"),
        (math.nan, "s", "nan s"),
    ],
)
def test_amounts_are_said_in_their_unit(value: float, unit: str, text: str) -> None:
    assert amount(value, unit) == text


def test_flags_lists_and_long_texts() -> None:
    assert value_text(True, "") == "yes"
    assert value_text(None, "") == ""
    assert value_text([1, {"a": "ü"}], "") == '[1, {"a": "ü"}]'
    long = value_text("x" * 9000, "")
    assert len(long) < 4200
    assert "9,000 characters" in long


def test_an_observation_without_value_says_why() -> None:
    absent = samples.observe("compute.gpu.count", None, state=State.ABSENT, reason="no nvidia-smi")
    assert observation_text(absent) == "absent: no nvidia-smi"


def test_moments_are_utc_to_the_second() -> None:
    assert moment(samples.NOW) == "2026-12-01 04:55:12 UTC"
    assert moment(None) == ""
