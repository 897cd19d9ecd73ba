from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourplane.records.index import ObservationIndex
from fourplane.records.metrics import METRICS, metric
from fourplane.records.observation import Observation, RawRef, State

AT = datetime(2026, 12, 1, 4, 39, 20, tzinfo=UTC)


def one(value: Any = 2, *, state: State = State.MEASURED, minute: int = 0, **more: Any) -> Observation:
    fields = {"subject": "node:n1", "metric": "compute.cpu.cores", "unit": "", "method": "m", **more}
    return Observation(value=value, state=state, at=AT + timedelta(minutes=minute), **fields)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    value=JSON,
    conditions=st.dictionaries(st.text(), JSON, max_size=3),
    at=st.datetimes(timezones=st.just(UTC)),
    state=st.sampled_from(State),
    raw=st.none() | st.builds(RawRef, st.text(), st.text(), st.integers(0, 9)),
)
def test_the_json_form_reads_back_as_the_same_observation(
    value: Any, conditions: dict[str, Any], at: datetime, state: State, raw: RawRef | None
) -> None:
    first = Observation("node:n1", "compute.os.image", value, "", "m", at, state, "why", conditions, raw, "r1")
    again = Observation.from_json(json.loads(json.dumps(first.to_json())))
    assert again == first and again.key == first.key


def test_times_are_written_in_utc() -> None:
    east = one().__class__(
        "s", "compute.cpu.cores", 1, "", "m", datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    )
    assert east.to_json()["at"] == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "change", [{"at": "2026-12-01T04:39:20"}, {"at": "soon"}, {"state": "guessed"}, {"subject": None}]
)
def test_a_malformed_form_is_refused(change: dict[str, Any]) -> None:
    data = one().to_json() | change
    if data["subject"] is None:
        del data["subject"]
    with pytest.raises((KeyError, ValueError)):
        Observation.from_json(data)


def test_only_a_measured_number_is_a_number() -> None:
    assert one(2).number == 2.0 and one(0.5).number == 0.5
    for other in (one(True), one("2"), one(None), one([2]), one(2, state=State.FAILED), one(None, state=State.ABSENT)):
        assert other.number is None


def test_identity_and_citation() -> None:
    assert one(run="r1").reference == "r1:node:n1:compute.cpu.cores"
    assert one(2).key == one(3).key != one(2, method="other").key


def test_the_newest_word_wins_in_any_order() -> None:
    early, late = one(1), one(2, minute=5)
    for order in ([early, late], [late, early]):
        assert ObservationIndex(order).latest("compute.cpu.cores", "node:n1") == late
    assert ObservationIndex().latest("compute.cpu.cores", "node:n1") is None


@pytest.mark.parametrize("state", [State.FAILED, State.SKIPPED, State.ABSENT])
def test_a_newer_broken_attempt_is_never_hidden_behind_an_older_measurement(state: State) -> None:
    broken = one(None, state=state, minute=5)
    assert ObservationIndex([one(1), broken]).latest("compute.cpu.cores", "node:n1") == broken
    again = one(3, minute=9)
    assert ObservationIndex([again, one(1), broken]).latest("compute.cpu.cores", "node:n1") == again


def test_every_subject_once_and_nodes_by_name() -> None:
    index = ObservationIndex(
        [
            one(1, subject="node:n2"),
            one(2, subject="node:n1", minute=1),
            one(3, subject="node:n1"),
            one(None, subject="node:n3", state=State.FAILED),
            one("H100", subject="node:n1/gpu:0", metric="compute.gpu.model"),
            one(4, subject="cluster"),
        ]
    )
    found = index.every("compute.cpu.cores")
    assert [(o.subject, o.value) for o in found] == [("cluster", 4), ("node:n1", 2), ("node:n2", 1), ("node:n3", None)]
    assert index.nodes() == ["n1", "n2", "n3"]
    assert len(index) == 6 and [o.at for o in index] == sorted(o.at for o in index)


def test_the_vocabulary_is_well_formed() -> None:
    assert metric("compute.memory.total").unit == "B"
    with pytest.raises(KeyError):
        metric("compute.cpu.shoes")
    for name, known in METRICS.items():
        assert name == known.name and name == name.strip() and known.meaning
        assert known.plane in {"compute", "network", "storage", "control"}
        assert known.unit in {"", "B", "b/s", "MB/s", "GB/s", "1/s", "us", "s", "W"}, name
