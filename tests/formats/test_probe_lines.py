from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.codes import find
from fourplane.formats import codes as _codes
from fourplane.formats.probe_lines import MAX_LINE, ProbeOutput, parse_line, read

GOOD: dict[str, Any] = {
    "t": "observation", "subject": "gpu:0", "metric": "compute.gpu.memory", "value": 1, "unit": "B", "method": "m",
    "state": "measured", "reason": "", "conditions": {"a": [1]}, "at": "2026-12-01T04:39:21Z", "raw": "x", "line": 2,
}  # fmt: skip


def _with(**changes: Any) -> ProbeOutput:
    return read([json.dumps({**GOOD, **changes})])


def test_whole_output() -> None:
    lines = [
        {"t": "begin", "probe": "inventory", "version": 1, "node": "n1", "at": "2026-12-01T04:39:20Z"},
        {"t": "raw", "name": "x", "text": "one\ntwo\n"},
        GOOD,
        {"t": "progress", "done": 0.5, "text": "half"},
        {"t": "end", "ok": True, "seconds": 1.5},
    ]
    out = read([json.dumps(line) for line in lines])
    assert (out.probe, out.complete, out.refusals, out.raws) == ("inventory", True, [], {"x": "one\ntwo\n"})
    one = out.observations[0]
    assert (one.subject, one.value, one.raw, one.line) == ("gpu:0", 1, "x", 2)


@pytest.mark.parametrize("last", [[], ['{"t": "end", "ok": false}'], ['{"t": "end"}'], ['{"t": "en']])
def test_without_a_good_end_line_the_output_is_not_complete(last: list[str]) -> None:
    assert read([json.dumps(GOOD), *last]).complete is False


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"metric": "compute.gpu.wishes"}, "probe-metric-unknown"),
        ({"metric": ["compute.gpu.memory"]}, "probe-metric-unknown"),
        ({"unit": "MiB"}, "probe-unit-wrong"),
        ({"value": "1"}, "probe-observation-malformed"),
        ({"value": True}, "probe-observation-malformed"),
        ({"value": None}, "probe-observation-malformed"),
        ({"state": "absent"}, "probe-observation-malformed"),
        ({"state": "wonderful"}, "probe-observation-malformed"),
        ({"at": "yesterday"}, "probe-observation-malformed"),
        ({"at": "2026-12-01T04:39:21"}, "probe-observation-malformed"),
        ({"method": ""}, "probe-observation-malformed"),
        ({"subject": "gpu:0/../../x"}, "probe-observation-malformed"),
        ({"subject": "gpu:\x1b[2J"}, "probe-observation-malformed"),
        ({"line": -1}, "probe-observation-malformed"),
        ({"conditions": [1]}, "probe-observation-malformed"),
        ({"value": float("nan")}, "probe-line-not-understood"),
        ({"value": float("inf")}, "probe-line-not-understood"),
    ],
)
def test_bad_observations_are_refused(changes: dict[str, Any], code: str) -> None:
    out = _with(**changes)
    assert (out.observations, [one.code for one in out.refusals]) == ([], [code])
    assert find(code) is not None
    assert _codes.find is find


def test_near_misses_are_taken() -> None:
    assert _with(state="absent", value=None).observations[0].value is None
    assert _with(metric="compute.gpu.model", unit="", value="x").refusals == []
    assert _with(subject="nic:enp1s0f0np0.100").refusals == []
    assert _with(subject="").refusals == []


@pytest.mark.parametrize("name", ["", "../x", "a/b", "A", ".hidden", "x" * 81, "x\n"])
def test_raw_texts_with_bad_names_are_refused(name: str) -> None:
    out = read([json.dumps({"t": "raw", "name": name, "text": "t"})])
    assert (out.raws, [one.code for one in out.refusals]) == ({}, ["probe-raw-refused"])


def test_the_first_raw_text_of_a_name_stays() -> None:
    out = read([json.dumps({"t": "raw", "name": "x", "text": text}) for text in ("one", "two")])
    assert (out.raws, [one.line for one in out.refusals]) == ({"x": "one"}, [2])


def test_lone_surrogates_do_not_reach_the_store() -> None:
    out = read(['{"t": "raw", "name": "x", "text": "a\\ud800b\\u00e4"}'])
    assert out.raws["x"].encode("utf-8") == "a?bä".encode()


@pytest.mark.parametrize(
    "text", ["{", "[]", "7", '"begin"', '{"t": "gift"}', '{"t": []}', "[" * 100_000, '{"t":"end"}' + " " * MAX_LINE]
)
def test_lines_that_are_none_of_the_five(text: str) -> None:
    assert parse_line(text) is None


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(GOOD)), _json, max_size=6), st.text(max_size=40))
def test_no_content_raises(changes: dict[str, Any], noise: str) -> None:
    out = read([noise, json.dumps({**GOOD, **changes})])
    assert len(out.observations) + len(out.refusals) + len(out.raws) <= 3
    for one in out.observations:
        json.dumps([one.value, one.conditions], allow_nan=False).encode("utf-8")
