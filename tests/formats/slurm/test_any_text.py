"""Every parser of this package on any text, and on damaged inputs: no exception, and no refusal without a code."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slurm_corpus import CORPUS, own

from fourplane.base.codes import find
from fourplane.formats.model import Format, Status
from fourplane.formats.slurm import FORMATS, SUMMARIES

NAMES = sorted(path.name for path in CORPUS.iterdir())
PIECES = st.sampled_from(
    ["|", "\n", "=", "gres/gpu=", "JobId=", "NodeName=", "(IDX:", "[", "{", '"', "\\", ",", "# sacct -T\n",
    "\x1b[31m", "\x00",
     "\udcff", "٣", "9" * 40, "JS1:", "12_[1-", "-----", "\x1f", "\r", "$ squeue -o '%i %T'\n", "a" * 300]
)  # fmt: skip


def check(one: Format, text: str) -> None:
    assert 0 <= one.sniff(text) <= 1
    reading = one.read(text)
    assert reading.kind == one.kind
    assert all(find(entry.code) is not None for entry in [*reading.refusals, *reading.notes])
    assert reading.status is not Status.REFUSED or reading.refusals
    json.dumps(SUMMARIES[one.kind](reading))


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.kind)
@settings(max_examples=40)
@given(text=st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=30).map("".join)))
def test_any_text(one: Format, text: str) -> None:
    check(one, text)


@settings(max_examples=150)
@given(
    name=st.sampled_from(NAMES),
    edits=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 40), PIECES | st.text(max_size=4)), max_size=5),
)
def test_damaged_inputs(name: str, edits: list[tuple[int, int, str]]) -> None:
    text = own(name)
    for place, length, inserted in edits:
        at = place % (len(text) + 1)
        text = text[:at] + inserted + text[at + length :]
    for one in FORMATS:
        if one.sniff(text) > 0:
            check(one, text)
