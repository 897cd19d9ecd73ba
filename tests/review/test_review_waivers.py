"""Waivers: what they set aside, for whom, until when."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from review_samples import NOW, conditions, full, judge_all, make_case, with_judgement, without

from fourplane.base.documents.positions import Positions
from fourplane.base.findings import Finding, Level
from fourplane.base.verdicts import ExitCode, Verdict, exit_code
from fourplane.review.model import Condition
from fourplane.review.waivers import is_in_force, waive
from fourplane.spec.economics import Waiver

TODAY = NOW.date()
FAILED = Condition("R4.staging", "staging", Verdict.FAILED, "Too slow.", ("a",), "mend it")


def waiver(**changes: Any) -> Waiver:
    # built without validation: the review must be right even where the loader lets something through
    fields = {"condition": "R4.staging", "owner": "ann", "reason": "pilot only", "until": TODAY, **changes}
    return Waiver.model_construct(**fields)


def declared(**changes: Any) -> dict[str, Any]:
    fields = {"condition": "R4.staging", "owner": "ann", "reason": "pilot only", "until": TODAY, **changes}
    return {**full(), "waivers": [fields]}


FAILING = with_judgement("storage.staging", Verdict.FAILED)


@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.UNPROVEN, Verdict.STALE])
def test_a_waiver_names_owner_end_reason_and_what_it_hides(verdict: Verdict) -> None:
    one = waive(Condition("R4.staging", "staging", verdict, "Too slow.", ("a",), "mend it"), [waiver()], TODAY)
    assert one.verdict is Verdict.WAIVED
    assert one.reason == f"Waived by ann until {TODAY}: pilot only. Without the waiver {verdict}: Too slow."
    assert one.evidence == ("a",)
    assert one.fix == "mend it"


@pytest.mark.parametrize("verdict", [Verdict.PASSED, Verdict.WAIVED])
def test_what_is_settled_stays_as_it_is(verdict: Verdict) -> None:
    one = Condition("R4.staging", "staging", verdict, "Fast.")
    assert waive(one, [waiver()], TODAY) == one


@pytest.mark.parametrize(("days", "verdict"), [(1, Verdict.WAIVED), (0, Verdict.WAIVED), (-1, Verdict.FAILED)])
def test_a_waiver_holds_to_the_end_of_its_last_day(days: int, verdict: Verdict) -> None:
    one = waiver(until=TODAY + timedelta(days=days))
    assert waive(FAILED, [one], TODAY).verdict is verdict
    assert is_in_force(one, TODAY) is (verdict is Verdict.WAIVED)


@pytest.mark.parametrize(
    ("moment", "verdict"),
    [
        (datetime(2026, 12, 1, 23, 59, 59, tzinfo=UTC), Verdict.WAIVED),
        (datetime(2026, 12, 2, 0, 0, 0, tzinfo=UTC), Verdict.FAILED),
    ],
)
def test_the_day_ends_at_midnight_utc(moment: datetime, verdict: Verdict) -> None:
    assert conditions(judge_all(declared(), now=moment, judgements=FAILING))["R4.staging"].verdict is verdict


def test_an_expired_waiver_is_named_in_the_reason_and_changes_nothing_else() -> None:
    ended = TODAY - timedelta(days=1)
    one = waive(FAILED, [waiver(until=ended)], TODAY)
    assert one.verdict is Verdict.FAILED
    assert one.reason == f"Too slow. The waiver of ann ended on {ended}."


def test_a_valid_waiver_goes_before_an_expired_one() -> None:
    both = [waiver(until=TODAY - timedelta(days=5)), waiver(owner="bob", until=TODAY + timedelta(days=5))]
    for order in (both, both[::-1]):
        one = waive(FAILED, order, TODAY)
        assert one.verdict is Verdict.WAIVED
        assert "bob" in one.reason


def test_the_later_end_is_told() -> None:
    both = [waiver(owner="ann"), waiver(owner="bob", until=TODAY + timedelta(days=5))]
    assert "bob" in waive(FAILED, both, TODAY).reason


@pytest.mark.parametrize("other", ["R4", "R4.stagin", "R4.staging2", "R9.staging", "staging", ""])
def test_another_name_waives_nothing(other: str) -> None:
    assert waive(FAILED, [waiver(condition=other)], TODAY) == FAILED


@pytest.mark.parametrize("blank", ["", "  ", "tbd", "TBD.", "nobody", "?"])
@pytest.mark.parametrize("key", ["owner", "reason"])
def test_a_waiver_without_owner_or_reason_has_no_effect(key: str, blank: str) -> None:
    one = waiver(**{key: blank})
    assert waive(FAILED, [one], TODAY) == FAILED
    assert not is_in_force(one, TODAY)


def test_an_owner_with_control_characters_is_made_harmless() -> None:
    assert "\x1b" not in waive(FAILED, [waiver(owner="a\x1b[2J", reason="b\x1b")], TODAY).reason


# ── in the review ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_waived_failure_no_longer_rejects() -> None:
    result = judge_all(declared(), judgements=FAILING)
    assert conditions(result)["R4.staging"].verdict is Verdict.WAIVED
    assert result.verdict is Verdict.PASSED
    assert result.headline == "Accepted: 61 of 62 conditions proven, 1 waived."
    assert exit_code(result.verdict) is ExitCode.ACCEPTED
    assert result.actions == ()
    assert result.findings == ()


def test_an_unknown_condition_is_a_finding_with_a_suggestion_and_its_place() -> None:
    positions = Positions({"waivers[0].condition": (7, 16)})
    result = judge_all(declared(condition="R4.stagings"), judgements=FAILING, positions=positions)
    assert conditions(result)["R4.staging"].verdict is Verdict.FAILED
    [finding] = result.findings
    assert (finding.code, finding.level) == ("review-waiver-unknown", Level.ERROR)
    assert finding.place == "fourplane.yaml:7:16"
    assert finding.path == "waivers[0].condition"
    assert finding.expected == "did you mean R4.staging?"
    assert finding.found == "R4.stagings"


def test_a_name_like_nothing_gets_an_example() -> None:
    [finding] = judge_all(declared(condition="R1.xyzzy")).findings
    assert "R4.snapshots" in finding.expected


def test_the_readability_of_files_cannot_be_waived() -> None:
    broken = Finding("spec-unknown-key", Level.ERROR, "no such key")
    result = judge_all(declared(condition="R1.declaration"), file_findings=(broken,))
    assert conditions(result)["R1.declaration"].verdict is Verdict.FAILED
    assert "review-waiver-not-possible" in [finding.code for finding in result.findings]


def test_an_owner_that_is_nobody_is_a_finding() -> None:
    [finding] = judge_all(declared(owner="nobody"), judgements=FAILING).findings
    assert finding.code == "review-waiver-unowned"
    assert finding.path == "waivers[0].owner"


def test_a_design_failure_can_be_waived_under_its_own_id() -> None:
    assert judge_all(declared(condition="R2.design")).findings == ()


def test_a_waived_gap_of_the_brief_is_accepted_by_its_owner() -> None:
    data = without("brief.network.latency")
    gaps = judge_all(data).gaps
    assert [gap.field for gap in gaps] == ["brief.network.latency"]
    data["waivers"] = [{"condition": "R1.network", "owner": "ann", "reason": "pilot", "until": date(2027, 1, 1)}]
    result = judge_all(data)
    assert result.gaps == ()
    assert result.verdict is Verdict.PASSED


def test_damaged_evidence_cannot_be_waived() -> None:
    damage = (Finding("evidence-file-changed", Level.ERROR, "a byte differs"),)
    result = judge_all(declared(), damage=damage)
    assert conditions(result)["R4.staging"].verdict is Verdict.UNPROVEN


def test_waivers_of_everything_accept_nothing_as_proven() -> None:
    ids = [c.id for area in judge_all().areas for c in area.conditions]
    data = {
        "name": "demo",
        "waivers": [
            {"condition": key, "owner": "ann", "reason": "pilot", "until": TODAY}
            for key in ids
            if key != "R1.declaration"
        ],
    }
    case = make_case(data, observations=[])
    result = judge_all(data, rows=[], judgements=[], observations=[])
    assert case.declaration.waivers
    assert {c.verdict for c in conditions(result).values()} == {Verdict.PASSED, Verdict.WAIVED}
    assert "1 of 62 conditions proven, 61 waived" in result.headline
