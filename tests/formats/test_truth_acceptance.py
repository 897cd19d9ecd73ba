"""Every file of the acceptance samples against the truth table, which was derived before any parser was seen."""

from __future__ import annotations

from typing import Any

import pytest
from formats_corpus import SAMPLES, sample
from truth import agrees, differences, rows_of

from fourplane.formats.kinds import FORMATS, SUMMARIES, recognise
from fourplane.formats.model import Reading

ROWS = rows_of("acceptance.yaml")


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_sample_is_read_as_the_truth_table_says(name: str) -> None:
    text = sample(name)
    found = recognise(text)
    reading: Reading[Any] | None = found[0].read(text) if found else None
    summary = SUMMARIES[reading.kind](reading) if reading is not None else {}
    assert differences(ROWS[name], reading.kind if reading else None, reading, summary) == []


def test_every_sample_has_a_row_and_every_row_a_sample() -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the folder of public samples is not here")
    assert {path.name for path in SAMPLES.iterdir()} - {"INDEX.md"} == set(ROWS)


def test_every_kind_of_the_table_has_a_parser_and_every_parser_a_summary() -> None:
    assert {row["kind"] for row in ROWS.values()} <= set(FORMATS)
    assert set(SUMMARIES) == set(FORMATS)


@pytest.mark.parametrize(
    ("found", "expected", "same"),
    [
        ({"NV18": 28}, {"NV18": 28}, True), ({"NV18": 28, "SYS": 1}, {"NV18": 28}, False), ({}, {}, True),
        ([{"a": 1, "b": 2}], [{"a": 1}], True), ([{"a": 1}, {"a": 2}], [{"a": 1}], False), (None, 0, False),
        (0, None, False), (1, True, False), ("1", 1, False), (470.0, 470, True), (470.001, 470.0, False),
    ],
)  # fmt: skip
def test_the_comparison_itself_can_fail(found: Any, expected: Any, same: bool) -> None:
    assert agrees(found, expected) is same
