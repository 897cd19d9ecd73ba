"""Next actions: gathered by what settles them, the weightiest first."""

from __future__ import annotations

from review_samples import (
    changed,
    conditions,
    full,
    full_judgements,
    full_observations,
    full_rows,
    judge_all,
    with_judgement,
    without,
)

from fourplane.base.findings import Finding, Level
from fourplane.base.verdicts import Verdict


def test_nothing_is_left_to_do_when_everything_passed() -> None:
    assert judge_all().actions == ()


def test_every_open_condition_is_settled_by_exactly_one_action() -> None:
    result = judge_all({"name": "demo"}, rows=[], judgements=[], observations=[])
    still_open = [key for key, one in conditions(result).items() if one.verdict is not Verdict.PASSED]
    settled = [key for action in result.actions for key in action.settles]
    assert sorted(settled) == sorted(still_open)
    assert len(result.actions) >= 3


def test_the_action_that_settles_most_comes_first() -> None:
    result = judge_all({"name": "demo"}, rows=[], judgements=[], observations=[])
    counts = [len(action.settles) for action in result.actions]
    assert counts == sorted(counts, reverse=True)


def test_a_failure_weighs_more_than_two_gaps() -> None:
    data = without("brief.data_path.source")
    del data["brief"]["workload"]
    result = judge_all(data, judgements=with_judgement("storage.snapshots", Verdict.FAILED))
    assert result.actions[0].settles == ("R4.snapshots",)
    assert "mend storage.snapshots" in result.actions[0].text


def test_the_brief_action_names_who_is_asked() -> None:
    [action] = judge_all(without("brief.network.isolation")).actions
    assert action.text == "Fill 1 field of the brief in fourplane.yaml: ask ann (owns access)."
    assert action.settles == ("R1.network",)


def test_before_any_measurement_the_command_is_named() -> None:
    result = judge_all(full(), rows=[], judgements=[], observations=[])
    assert any(action.text.startswith("Run 'fourplane prove' on a node") for action in result.actions)


def test_missing_target_hardware_says_which_and_how_many() -> None:
    others = [one for one in full_observations() if one.metric != "compute.gpu.count"]
    texts = [action.text for action in judge_all(observations=others).actions]
    assert any("Rent a small slice (two nodes with H100)" in text for text in texts)
    single = changed("pools.0.count", 1)
    single["pools"][0]["hosts"] = "n1"
    texts = [action.text for action in judge_all(single, observations=others).actions]
    assert any("Rent a small slice (one node with H100)" in text for text in texts)


def test_a_condition_that_needs_two_things_is_settled_by_the_last() -> None:
    judgements = [one for one in full_judgements() if one.id != "telemetry.jobs"]
    result = judge_all(without("telemetry.jobs.source"), judgements=judgements)
    by_condition = {key: action.text for action in result.actions for key in action.settles}
    assert "labels" in by_condition["R6.jobs"]
    decide = [action for action in result.actions if action.text.startswith("Decide")]
    assert [action.settles for action in decide] == [()]


def test_stale_evidence_asks_for_one_new_run() -> None:
    from datetime import timedelta

    from review_samples import NOW

    result = judge_all(now=NOW + timedelta(days=60))
    [action] = result.actions
    assert action.text.startswith("Run 'fourplane prove' again")
    assert len(action.settles) > 20


def test_repairs_come_before_everything_else() -> None:
    damage = (Finding("evidence-x", Level.ERROR, "broken"),)
    result = judge_all({"name": "demo"}, damage=damage, rows=[], judgements=[], observations=[])
    assert "fourplane evidence verify" in result.actions[0].text


def test_waived_conditions_need_no_action() -> None:
    from datetime import date

    waivers = [{"condition": "R4.snapshots", "owner": "ann", "reason": "pilot", "until": date(2027, 1, 1)}]
    judgements = with_judgement("storage.snapshots", Verdict.UNPROVEN)
    assert judge_all({**full(), "waivers": waivers}, judgements=judgements).actions == ()


def test_a_field_that_nobody_declared_needs_no_new_run_once_nodes_were_looked_at() -> None:
    rows = [one for one in full_rows() if one.fact != "nvme.total"]
    [action] = judge_all(without("pools.0.shape.nvme"), rows=rows).actions
    assert action.text.startswith("Decide and write down")
    assert action.settles == ("R2.local_nvme",)
    unseen = judge_all(without("pools.0.shape.nvme"), rows=rows, observations=[])
    assert "R2.local_nvme" in {key for one in unseen.actions if "fourplane prove" in one.text for key in one.settles}


def test_each_action_tells_its_own_fixes_only() -> None:
    judgements = with_judgement("control.scheduler", Verdict.UNPROVEN)
    texts = {
        action.text.split(" ", 1)[0]: action.text
        for action in judge_all(without("control.reason"), judgements=judgements).actions
    }
    assert "mend control.scheduler" in texts["Measure"]
    assert "control.reason" not in texts["Measure"]
