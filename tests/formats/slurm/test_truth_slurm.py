"""Every Slurm file of the accounting samples against the truth table, which was derived before any parser was seen."""

from __future__ import annotations

from typing import Any

import pytest
from slurm_corpus import sample
from truth import differences, rows_of

from fourplane.formats.model import Reading
from fourplane.formats.slurm import FORMATS, SUMMARIES

KINDS = {one.kind: one for one in FORMATS}
ALL = rows_of("accounting.yaml")
ROWS = {name: row for name, row in ALL.items() if row["kind"] in KINDS}


def read_anything(text: str) -> Reading[Any] | None:
    """Read a text with the format of this package that is surest of it, None below one half."""
    confidence, kind = max((one.sniff(text[:262_144]), one.kind) for one in FORMATS)
    return KINDS[kind].read(text) if confidence >= 0.5 else None


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_sample_is_read_as_the_truth_table_says(name: str) -> None:
    reading = read_anything(sample(name))
    summary = SUMMARIES[reading.kind](reading) if reading is not None else {}
    assert differences(ROWS[name], reading.kind if reading else None, reading, summary) == []


@pytest.mark.parametrize("name", sorted(set(ALL) - set(ROWS)))
def test_a_sample_of_another_kind_is_not_taken(name: str) -> None:
    reading = read_anything(sample(name))
    assert reading is None, f"taken for {reading.kind}"


def test_every_kind_has_a_summary() -> None:
    assert set(KINDS) == set(SUMMARIES)
