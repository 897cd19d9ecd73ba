"""Age, change and clocks: when a measurement no longer counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from review_samples import (
    MEASURED,
    NOW,
    changed,
    conditions,
    full_observations,
    judge_all,
    judgement,
    observe,
    with_judgement,
    with_row,
)

from fourplane.base.verdicts import Verdict
from fourplane.records.index import ObservationIndex
from fourplane.records.observation import Observation, State
from fourplane.review.outcome import Part, Remedy
from fourplane.review.staleness import CHANGE_METRICS, CLOCK_TOLERANCE, DEFAULT_MAX_AGE, Calendar, newest_of_each

PART = Part(Verdict.PASSED, "figure", ("run-1:node:n1:storage.io.random_read",), measured=True)
METRIC = "storage.io.random_read"
SECOND = timedelta(seconds=1)


def calendar(*observations: Observation, max_age: timedelta = DEFAULT_MAX_AGE, now: datetime = NOW) -> Calendar:
    return Calendar(ObservationIndex(observations), now, max_age)


@pytest.mark.parametrize(
    ("age", "verdict"),
    [
        (timedelta(0), Verdict.PASSED),
        (DEFAULT_MAX_AGE - SECOND, Verdict.PASSED),
        (DEFAULT_MAX_AGE, Verdict.PASSED),
        (DEFAULT_MAX_AGE + SECOND, Verdict.STALE),
    ],
)
def test_the_largest_age_itself_still_counts(age: timedelta, verdict: Verdict) -> None:
    one = observe(METRIC, at=NOW - age)
    assert calendar(one).weigh(PART, [one]).verdict is verdict


def test_the_default_age_is_thirty_days() -> None:
    assert timedelta(days=30) == DEFAULT_MAX_AGE


@pytest.mark.parametrize(("age", "verdict"), [(7 * 86_400, Verdict.PASSED), (7 * 86_400 + 1, Verdict.STALE)])
def test_the_declared_age_goes_before_the_default(age: int, verdict: Verdict) -> None:
    data = changed("targets", {"evidence_max_age": "7 d"})
    result = judge_all(data, now=MEASURED + timedelta(seconds=age))
    assert conditions(result)["R4.staging"].verdict is verdict


def test_a_stale_condition_says_its_age_and_what_it_had_shown() -> None:
    one = conditions(judge_all(now=MEASURED + timedelta(days=45)))["R4.staging"]
    assert "measured 45 days ago, which is more than 30 days" in one.reason.lower()
    assert "figure of storage.staging" in one.reason
    assert "fourplane prove" in one.fix


def test_an_age_just_over_the_limit_never_reads_like_the_limit() -> None:
    one = observe(METRIC, at=NOW - DEFAULT_MAX_AGE - timedelta(hours=5))
    assert "30.2 days ago" in calendar(one).weigh(PART, [one]).reason


@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.UNPROVEN])
def test_what_did_not_pass_is_never_called_stale(verdict: Verdict) -> None:
    result = judge_all(now=NOW + timedelta(days=400), judgements=with_judgement("storage.staging", verdict))
    assert conditions(result)["R4.staging"].verdict is verdict


def test_the_review_is_stale_as_a_whole_and_never_accepted() -> None:
    result = judge_all(now=NOW + timedelta(days=31))
    assert result.verdict is Verdict.STALE
    assert result.headline.startswith("Stale, do not sign yet")


def test_each_measurement_counts_by_its_newest_word() -> None:
    old = observe(METRIC, at=NOW - timedelta(days=90), run="run-0")
    new = observe(METRIC, at=NOW - timedelta(days=1))
    assert calendar(old, new).weigh(PART, [old, new]).verdict is Verdict.PASSED


def test_one_fresh_measurement_does_not_hide_an_old_one_of_another_metric() -> None:
    old = observe("storage.io.sequential_read", at=NOW - timedelta(days=90))
    new = observe(METRIC)
    assert calendar(old, new).weigh(PART, [old, new]).verdict is Verdict.STALE


def test_a_broken_attempt_is_no_newer_word() -> None:
    good = observe(METRIC, at=NOW - timedelta(days=90), run="run-0")
    broken = observe(METRIC, None, at=NOW, state=State.FAILED)
    assert newest_of_each([good, broken]) == [good]
    assert calendar(good, broken).weigh(PART, [good, broken]).verdict is Verdict.STALE


def test_the_time_of_the_judgement_counts_where_nothing_is_cited() -> None:
    assert calendar().weigh(PART, [], NOW - timedelta(days=1)).verdict is Verdict.PASSED
    assert calendar().weigh(PART, [], NOW - timedelta(days=31)).verdict is Verdict.STALE


def test_a_pass_that_cites_no_measurement_is_unproven() -> None:
    part = calendar().weigh(PART, [])
    assert part.verdict is Verdict.UNPROVEN
    assert part.remedy is Remedy.MEASURE
    places_only = with_judgement("storage.staging", Verdict.PASSED, evidence=("fourplane.yaml:3:1",), measured_at=None)
    one = conditions(judge_all(judgements=places_only))["R4.staging"]
    assert one.verdict is Verdict.UNPROVEN
    assert "nothing that was measured is cited" in one.reason


def test_a_row_whose_evidence_is_not_on_file_is_unproven() -> None:
    rows = with_row("memory", Verdict.PASSED, evidence=("fourplane.yaml:3:1", "run-9:node:n1:compute.memory.total"))
    assert conditions(judge_all(rows=rows))["R2.cpu_ram"].verdict is Verdict.UNPROVEN


# ── clocks ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("ahead", "verdict"), [(CLOCK_TOLERANCE, Verdict.PASSED), (CLOCK_TOLERANCE + SECOND, Verdict.UNPROVEN)]
)
def test_evidence_from_the_future_is_unproven(ahead: timedelta, verdict: Verdict) -> None:
    one = observe(METRIC, at=NOW + ahead)
    assert calendar(one).weigh(PART, [one]).verdict is verdict


def test_one_measurement_from_the_future_among_others_is_enough() -> None:
    ahead, fine = observe(METRIC, at=NOW + timedelta(days=2)), observe("storage.io.sequential_read")
    part = calendar(ahead, fine).weigh(PART, [fine, ahead])
    assert part.verdict is Verdict.UNPROVEN
    assert "2 days in the future" in part.reason


def test_evidence_from_the_future_is_a_finding_and_passes_nothing() -> None:
    result = judge_all(now=NOW - timedelta(days=1))
    assert conditions(result)["R4.staging"].verdict is Verdict.UNPROVEN
    assert [f.code for f in result.findings] == ["review-evidence-in-future"]
    assert result.findings[0].evidence
    assert str(len(full_observations())) in result.findings[0].message


def test_no_finding_on_clocks_within_the_tolerance() -> None:
    assert judge_all(now=MEASURED - CLOCK_TOLERANCE).findings == ()


# ── change ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def software(metric: str, value: str, **changes: object) -> Observation:
    return observe(metric, value, **changes)


@pytest.mark.parametrize("metric", CHANGE_METRICS)
def test_a_change_of_software_after_the_measurement_makes_it_stale(metric: str) -> None:
    one = observe(METRIC)
    before = software(metric, "1.0")
    after = software(metric, "2.0", run="run-2", at=NOW)
    part = calendar(one, before, after).weigh(PART, [one])
    assert part.verdict is Verdict.STALE
    assert "from 1.0 to 2.0" in part.reason
    assert "node n1" in part.reason


def test_driver_kernel_and_os_are_watched() -> None:
    assert {"compute.gpu.driver", "compute.kernel.version", "compute.os.image"} <= set(CHANGE_METRICS)


def test_no_change_no_staleness() -> None:
    one = observe(METRIC)
    facts = [software("compute.kernel.version", "6.1"), software("compute.kernel.version", "6.1", run="run-2", at=NOW)]
    assert calendar(one, *facts).weigh(PART, [one]).verdict is Verdict.PASSED


def test_a_measurement_of_the_newer_run_is_fresh() -> None:
    new = observe(METRIC, run="run-2", at=NOW)
    facts = [software("compute.kernel.version", "6.1"), software("compute.kernel.version", "6.2", run="run-2", at=NOW)]
    assert calendar(new, *facts).weigh(PART, [new]).verdict is Verdict.PASSED


def test_the_inventory_of_the_same_run_counts_even_when_it_came_later() -> None:
    one = observe(METRIC, at=MEASURED)
    inventory = software("compute.kernel.version", "6.2", at=MEASURED + timedelta(minutes=1))
    older = software("compute.kernel.version", "6.1", run="run-0", at=MEASURED - timedelta(days=2))
    assert calendar(one, older, inventory).weigh(PART, [one]).verdict is Verdict.PASSED


def test_a_run_without_inventory_is_held_against_the_last_one_before_it() -> None:
    one = observe(METRIC, run="run-1", at=MEASURED)
    older = software("compute.kernel.version", "6.1", run="run-0", at=MEASURED - timedelta(days=2))
    newer = software("compute.kernel.version", "6.2", run="run-2", at=NOW)
    assert calendar(one, older, newer).weigh(PART, [one]).verdict is Verdict.STALE
    # without any inventory before it nobody can tell that something changed
    assert calendar(one, newer).weigh(PART, [one]).verdict is Verdict.PASSED


def test_a_change_that_was_taken_back_counts_for_nothing() -> None:
    one = observe(METRIC)
    facts = [
        software("compute.kernel.version", "6.1"),
        software("compute.kernel.version", "6.2", run="run-2", at=NOW - timedelta(minutes=2)),
        software("compute.kernel.version", "6.1", run="run-3", at=NOW),
    ]
    assert calendar(one, *facts).weigh(PART, [one]).verdict is Verdict.PASSED


def test_another_node_changed_and_this_measurement_stays() -> None:
    one = observe(METRIC)
    facts = [
        software("compute.kernel.version", "6.1", subject="node:n2"),
        software("compute.kernel.version", "6.2", subject="node:n2", run="run-2", at=NOW),
    ]
    assert calendar(one, *facts).weigh(PART, [one]).verdict is Verdict.PASSED


def test_a_measurement_of_the_cluster_depends_on_every_node() -> None:
    one = observe("network.allreduce.busbw_peak")
    assert one.subject == "cluster"
    facts = [
        software("compute.kernel.version", "6.1", subject="node:n2"),
        software("compute.kernel.version", "6.2", subject="node:n2", run="run-2", at=NOW),
    ]
    assert calendar(one, *facts).weigh(PART, [one]).verdict is Verdict.STALE


def test_a_device_depends_on_its_node() -> None:
    one = observe("compute.gpu.memory", subject="node:n1/gpu:0")
    facts = [software("compute.gpu.driver", "580"), software("compute.gpu.driver", "590", run="run-2", at=NOW)]
    assert calendar(one, *facts).weigh(PART, [one]).verdict is Verdict.STALE


def test_a_driver_that_appeared_is_a_change() -> None:
    one = observe(METRIC)
    before = software("compute.gpu.driver", "", state=State.ABSENT)
    after = software("compute.gpu.driver", "590", run="run-2", at=NOW)
    part = calendar(one, replace(before, value=None), after).weigh(PART, [one])
    assert part.verdict is Verdict.STALE
    assert "from absent to 590" in part.reason


def test_a_failed_inventory_is_no_change() -> None:
    one = observe(METRIC)
    before = software("compute.gpu.driver", "590")
    after = observe("compute.gpu.driver", None, state=State.FAILED, run="run-2", at=NOW)
    assert calendar(one, before, after).weigh(PART, [one]).verdict is Verdict.PASSED


def test_two_tools_that_word_a_version_differently_are_no_change() -> None:
    one = observe(METRIC)
    facts = [
        software("compute.nccl.version", "2.28.3", method="ldconfig"),
        software("compute.nccl.version", "2.28.3-1+cuda13", method="dpkg", run="run-2", at=NOW),
    ]
    assert calendar(one, *facts).weigh(PART, [one]).verdict is Verdict.PASSED


def test_the_version_of_the_tool_does_not_hide_a_change() -> None:
    one = observe(METRIC)
    facts = [
        software("compute.gpu.driver", "580", method="nvidia-smi 580"),
        software("compute.gpu.driver", "590", method="nvidia-smi 590", run="run-2", at=NOW),
    ]
    assert calendar(one, *facts).weigh(PART, [one]).verdict is Verdict.STALE


def test_the_review_names_the_change() -> None:
    changed_driver = observe("compute.gpu.driver", 2, run="run-2", at=NOW)
    one = conditions(judge_all(observations=[*full_observations(), changed_driver]))["R4.staging"]
    assert one.verdict is Verdict.STALE
    assert "gpu driver of node n1 changed from 1 to 2" in one.reason


def test_escape_sequences_in_a_version_never_reach_the_reason() -> None:
    one = observe(METRIC)
    facts = [software("compute.os.image", "a"), software("compute.os.image", "\x1b[2Jb", run="run-2", at=NOW)]
    assert "\x1b" not in calendar(one, *facts).weigh(PART, [one]).reason


@settings(max_examples=60, deadline=None)
@given(
    age=st.integers(min_value=-120, max_value=120),
    limit=st.integers(min_value=1, max_value=90),
    verdict=st.sampled_from([Verdict.FAILED, Verdict.UNPROVEN, Verdict.STALE, Verdict.PASSED]),
)
def test_time_never_turns_anything_into_a_pass(age: int, limit: int, verdict: Verdict) -> None:
    one = observe(METRIC, at=NOW - timedelta(days=age))
    part = calendar(one, max_age=timedelta(days=limit)).weigh(replace(PART, verdict=verdict), [one])
    if part.verdict is Verdict.PASSED:
        assert verdict is Verdict.PASSED
        assert 0 <= age <= limit
    if verdict is not Verdict.PASSED:
        assert part.verdict is verdict


def test_each_judgement_of_a_condition_is_dated_by_itself() -> None:
    old = observe("network.allreduce.latency", at=NOW - timedelta(days=90))
    others = [one for one in full_observations() if one.metric != "network.allreduce.latency"]
    judgements = with_judgement("network.latency", Verdict.PASSED, measured_at=old.at)
    result = conditions(judge_all(observations=[*others, old], judgements=judgements))
    assert result["R3.benchmark"].verdict is Verdict.STALE
    assert result["R8.network_tested"].verdict is Verdict.PASSED
    assert judgement("network.latency").measured_at == MEASURED
