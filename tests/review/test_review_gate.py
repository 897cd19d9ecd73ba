"""The gate as a whole: GPUs, design errors, unreadable files, damaged evidence, purity."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from review_samples import (
    CAPABILITIES,
    MEASURED,
    absent,
    changed,
    conditions,
    full,
    full_judgements,
    full_observations,
    full_rows,
    judge_all,
    judgement,
    observe,
    row,
    with_judgement,
)

from fourplane.base.clock import parse_utc
from fourplane.base.codes import find
from fourplane.base.findings import Finding, Level
from fourplane.base.verdicts import ExitCode, Verdict, exit_code
from fourplane.planes.model import Plane
from fourplane.records.observation import Observation
from fourplane.review.outcome import MAX_EVIDENCE, Part, Remedy, join
from fourplane.review.routing import DESIGN_CONDITIONS, ROUTED_CODES, condition_of_fact, condition_of_finding
from fourplane.review.table import all_conditions

ABOUT_GPUS = {
    "R2.gpu_topology",
    "R2.lifecycle",
    "R2.homogeneity",
    "R3.placement",
    "R3.oversubscription",
    "R3.benchmark",
    "R6.gpus",
    "R8.production_container",
    "R8.network_tested",
}


# ── GPUs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "count", [observe("compute.gpu.count", 0), absent("compute.gpu.count"), None], ids=["none", "no tool", "not looked"]
)
def test_nothing_about_gpus_passes_where_none_was_found(count: object) -> None:
    others = [one for one in full_observations() if one.metric != "compute.gpu.count"]
    seen = [*others, count] if count is not None else others
    result = conditions(judge_all(observations=seen))
    assert {key for key, one in result.items() if one.verdict is Verdict.UNPROVEN} >= ABOUT_GPUS
    assert result["R8.network_tested"].fix


def test_the_reason_says_whether_anybody_looked() -> None:
    others = [one for one in full_observations() if one.metric != "compute.gpu.count"]
    looked = conditions(judge_all(observations=[*others, absent("compute.gpu.count")]))["R3.benchmark"]
    assert looked.reason.startswith("No GPU was found on 1 node that was looked at")
    assert "run-1:node:n1:compute.gpu.count" in looked.evidence
    blind = conditions(judge_all(observations=others))["R3.benchmark"]
    assert blind.reason.startswith("Nobody has looked for GPUs yet")


def test_a_failure_about_gpus_still_fails_without_any() -> None:
    others = [one for one in full_observations() if one.metric != "compute.gpu.count"]
    result = judge_all(observations=others, judgements=with_judgement("network.allreduce", Verdict.FAILED))
    assert conditions(result)["R3.benchmark"].verdict is Verdict.FAILED


def test_one_node_with_gpus_is_enough_to_have_looked() -> None:
    bare = observe("compute.gpu.count", 0, subject="node:n2")
    assert conditions(judge_all(observations=[*full_observations(), bare]))["R3.benchmark"].verdict is Verdict.PASSED


def test_gpus_of_a_stand_in_are_not_those_that_are_bought() -> None:
    one = conditions(judge_all(changed("pools.0.role", "stand-in")))["R3.benchmark"]
    assert one.verdict is Verdict.UNPROVEN
    assert one.reason.startswith("GPUs were found only on n1, which is no target hardware")


def elsewhere(subject: str) -> list[Observation]:
    """Return the full evidence as if all of it came from another node."""
    return [replace(one, subject=one.subject.replace("node:n1", subject)) for one in full_observations()]


def moved(subject: str) -> dict[str, object]:
    judgements = [
        replace(one, evidence=tuple(ref.replace("node:n1", subject) for ref in one.evidence))
        for one in full_judgements()
    ]
    return {"observations": elsewhere(subject), "judgements": judgements}


def test_what_was_measured_on_a_node_that_no_target_pool_names_proves_nothing_of_it() -> None:
    data = full()
    data["pools"].append({"name": "desk", "role": "stand-in", "hosts": "laptop", "shape": full()["pools"][0]["shape"]})
    for node in ("laptop", "stranger"):
        shown = conditions(judge_all(data, **moved(f"node:{node}")))
        for key in ("R4.staging", "R5.scheduler", "R8.checkpoints"):
            assert shown[key].verdict is Verdict.UNPROVEN, (node, key)
            assert f"measured only on {node}, which is no target hardware" in shown[key].reason.lower()
        assert conditions(judge_all(data, **moved("node:n2")))["R4.staging"].verdict is Verdict.PASSED


def test_one_target_node_among_the_measured_ones_is_enough() -> None:
    judgements = with_judgement(
        "storage.staging",
        Verdict.PASSED,
        evidence=("run-1:node:n1:storage.staging.throughput", "run-1:node:login:storage.staging.throughput"),
    )
    login = observe("storage.staging.throughput", subject="node:login")
    result = judge_all(observations=[*full_observations(), login], judgements=judgements)
    assert conditions(result)["R4.staging"].verdict is Verdict.PASSED


def test_a_stand_in_alone_is_judged_as_what_it_is() -> None:
    assert conditions(judge_all(changed("pools.0.role", "stand-in")))["R4.staging"].verdict is Verdict.PASSED


def test_alike_facts_of_one_subject_are_told_in_one_clause() -> None:
    rows = [
        row(fact, Verdict.UNPROVEN, subject="pool:train", found="", reason="nobody looked; run 'fourplane prove' there")
        for fact in ("cpu.cores", "memory", "cpu.sockets")
    ]
    one = conditions(judge_all(rows=rows))["R2.cpu_ram"]
    assert one.reason == "cpu.cores, memory and cpu.sockets of pool train: nobody looked."
    assert one.fix == "run 'fourplane prove' there"


def test_a_row_without_evidence_never_rides_on_another_one() -> None:
    rows = [row("cpu.cores", reason="alike"), row("memory", reason="alike", evidence=())]
    one = conditions(judge_all(rows=rows))["R2.cpu_ram"]
    assert one.verdict is Verdict.UNPROVEN
    assert one.reason.startswith("Memory of node n1: alike, but nothing that was measured is cited")


# ── across the nodes ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("nodes", "verdict"),
    [(2, Verdict.PASSED), (3, Verdict.PASSED), (1, Verdict.UNPROVEN), (["n1", "n2"], Verdict.PASSED),
     (["n1", "n1"], Verdict.UNPROVEN), (True, Verdict.UNPROVEN), ("2", Verdict.UNPROVEN)],
)  # fmt: skip
def test_the_network_is_tested_only_across_every_declared_node(nodes: object, verdict: Verdict) -> None:
    others = [one for one in full_observations() if one.metric != "network.allreduce.busbw_peak"]
    peak = observe("network.allreduce.busbw_peak", 380.0, conditions={"nodes": nodes})
    result = conditions(judge_all(observations=[*others, peak]))
    for key in ("R8.network_tested", "R3.placement", "R3.oversubscription"):
        assert result[key].verdict is verdict, key
    assert result["R3.benchmark"].verdict is Verdict.PASSED


def test_nodes_are_counted_from_host_lists_and_entries_too() -> None:
    data = full()
    del data["pools"][0]["count"]
    assert conditions(judge_all(data))["R8.network_tested"].verdict is Verdict.PASSED
    data["pools"][0]["hosts"] = "n[1-3]"
    assert conditions(judge_all(data))["R8.network_tested"].verdict is Verdict.UNPROVEN
    del data["pools"][0]["hosts"]
    data["pools"][0]["nodes"] = [{"name": "n[1-2]"}]
    assert conditions(judge_all(data))["R8.network_tested"].verdict is Verdict.PASSED
    del data["pools"][0]["nodes"]
    open_count = conditions(judge_all(data))["R8.network_tested"]
    assert open_count.verdict is Verdict.UNPROVEN
    assert "an open number" in open_count.reason


def test_a_row_that_found_the_oversubscription_goes_before_the_all_reduce() -> None:
    found = row("fabric.oversubscription", plane=Plane.NETWORK)
    judgements = with_judgement("network.allreduce", Verdict.UNPROVEN)
    result = conditions(judge_all(rows=[*full_rows(), found], judgements=judgements))
    assert result["R3.oversubscription"].verdict is Verdict.PASSED
    assert result["R3.placement"].verdict is Verdict.UNPROVEN
    contradicted = replace(found, verdict=Verdict.FAILED)
    result = conditions(judge_all(rows=[*full_rows(), contradicted]))
    assert result["R3.oversubscription"].verdict is Verdict.FAILED


def test_a_promise_that_no_probe_sees_is_shown_by_the_all_reduce() -> None:
    stated = row("fabric.rails", Verdict.UNPROVEN, plane=Plane.NETWORK, found="")
    assert conditions(judge_all(rows=[*full_rows(), stated]))["R3.fabric"].verdict is Verdict.PASSED
    weak = with_judgement("network.allreduce", Verdict.UNPROVEN)
    one = conditions(judge_all(rows=[*full_rows(), stated], judgements=weak))["R3.fabric"]
    assert one.verdict is Verdict.UNPROVEN
    contradicted = replace(stated, verdict=Verdict.FAILED)
    assert conditions(judge_all(rows=[*full_rows(), contradicted]))["R3.fabric"].verdict is Verdict.FAILED


def test_one_node_without_a_fabric_has_nothing_to_place() -> None:
    data = changed("network.fabric", {"kind": "none"})
    data["pools"][0].update(count=1, hosts="n1")
    result = conditions(judge_all(data))
    for key in ("R3.placement", "R3.oversubscription", "R3.failure_domains"):
        assert result[key].verdict is Verdict.PASSED
        assert "one node without a fabric" in result[key].reason.lower()
    data["pools"][0]["role"] = "stand-in"  # says nothing about the fabric of what it stands for
    for key in ("R3.placement", "R3.oversubscription", "R3.failure_domains"):
        stand_in = conditions(judge_all(data))[key]
        assert "not declared" in stand_in.reason, key
    data["pools"][0].update(count=2, hosts="n[1-2]", role="training")
    assert conditions(judge_all(data))["R3.placement"].verdict is Verdict.UNPROVEN


# ── errors of the design ────────────────────────────────────────────────────────────────────────────────────────────


def error(code: str = "some-rule", **changes: object) -> Finding:
    fields = {
        "message": "it can't work", "file": "fourplane.yaml", "line": 4, "column": 2, "plane": "compute", **changes,
    }  # fmt: skip
    return Finding(code, Level.ERROR, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "plane", "condition"),
    [
        ("pools[0].shape.memory", "compute", "R2.cpu_ram"),
        ("pools[0].nodes[3].shape.gpu.memory", "compute", "R2.gpu_topology"),
        ("pools[0].lifecycle.driver.end_of_support", "compute", "R2.lifecycle"),
        ("pools[0].shape.power", "compute", "R2.design"),
        ("pools[0].count", "compute", "R2.design"),
        ("network.fabric.kind", "network", "R3.fabric"),
        ("network.fabric.container_network", "network", "R3.design"),
        ("pools[0].shape.nics", "network", "R2.nics"),
        ("storage.checkpoints.interval", "storage", "R4.checkpoint_write"),
        ("storage.filesystems[0].read", "storage", "R4.design"),
        ("control.queues[1].scheduler", "control", "R5.queues"),
        ("teams[0].quotas.train", "control", "R5.quotas"),
        ("control", "control", "R5.design"),
        ("pools[0].sharing", "security", "R7.design"),
        ("security.secrets", "security", "R7.secrets"),
        ("brief.scale", "", "R1.design"),
        ("", "elsewhere", "R1.design"),
    ],
)
def test_an_error_of_the_design_fails_the_condition_that_it_speaks_to(path: str, plane: str, condition: str) -> None:
    result = conditions(judge_all(findings=[error(path=path, plane=plane, fix="widen it")]))
    assert {key for key, one in result.items() if one.verdict is Verdict.FAILED} == {condition}
    one = result[condition]
    assert one.reason == "some-rule: it can't work."
    assert one.evidence[0] == "fourplane.yaml:4:2"
    assert one.fix == "widen it"


@pytest.mark.parametrize("code", ROUTED_CODES)
def test_some_codes_say_more_than_their_place(code: str) -> None:
    import fourplane.planes.rules  # noqa: F401 - its import defines the codes

    assert find(code) is not None, "a code that nobody raises"
    assert condition_of_finding(error(code, path="brief", plane="storage")) == ROUTED_CODES[code]


def test_every_route_leads_to_a_condition() -> None:
    ids = {key for key, _ in all_conditions()}
    assert set(ROUTED_CODES.values()) <= ids
    assert set(DESIGN_CONDITIONS.values()) | {"R1.design"} == {key for key, s in all_conditions() if s.only_failed}
    from fourplane.review.routing import _WORDS

    assert {condition for words in _WORDS.values() for condition in words.values()} <= ids


@pytest.mark.parametrize("level", [Level.WARNING, Level.INFO])
def test_weaker_findings_fail_nothing_but_are_told(level: Level) -> None:
    finding = replace(error(), level=level)
    result = judge_all(findings=[finding])
    assert result.verdict is Verdict.PASSED
    assert result.findings == (finding,)


def test_design_rows_are_there_only_when_they_failed() -> None:
    assert not any(key.endswith(".design") for key in conditions(judge_all()))


def test_a_contradicted_fact_without_a_condition_is_not_lost() -> None:
    contradicted = row("power", Verdict.FAILED)
    assert condition_of_fact(contradicted) == "R2.design"
    one = conditions(judge_all(rows=[*full_rows(), contradicted]))["R2.design"]
    assert one.verdict is Verdict.FAILED
    assert one.reason == "Power of node n1: reason of power."


def test_an_unproven_fact_without_a_condition_opens_no_row() -> None:
    assert judge_all(rows=[*full_rows(), row("power", Verdict.UNPROVEN, found="")]).verdict is Verdict.PASSED


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_errors_in_the_files_fail_the_review_and_the_rest_is_judged() -> None:
    broken = replace(error("spec-unknown-key"), plane="")
    result = judge_all(file_findings=(broken,))
    shown = conditions(result)
    assert shown["R1.declaration"].verdict is Verdict.FAILED
    assert "spec-unknown-key at fourplane.yaml:4:2" in shown["R1.declaration"].reason
    assert shown["R4.staging"].verdict is Verdict.PASSED
    assert exit_code(result.verdict) is ExitCode.REJECTED
    assert result.findings == (broken,)
    assert "fourplane check" in result.actions[0].text
    assert result.actions[0].settles == ("R1.declaration",)


def test_warnings_in_the_files_fail_nothing() -> None:
    expired = replace(error("spec-expired"), level=Level.WARNING)
    assert judge_all(file_findings=(expired,)).verdict is Verdict.PASSED


# ── damage ──────────────────────────────────────────────────────────────────────────────────────────────────────────

DAMAGE = (Finding("evidence-hash-differs", Level.ERROR, "a byte differs", file="evidence/runs/a"),)


def test_damaged_evidence_decides_nothing() -> None:
    result = judge_all(damage=DAMAGE)
    shown = conditions(result)
    paper = {key for key, spec in all_conditions() if spec.proof == "paper"}
    for key, one in shown.items():
        if key in paper:
            assert one.verdict is Verdict.PASSED, key
        else:
            mixed = key == "R4.gds"
            assert one.verdict is (Verdict.PASSED if mixed else Verdict.UNPROVEN), key
            assert mixed or "evidence is damaged" in one.reason, key
            assert mixed or "evidence/runs/a" in one.evidence, key
    assert exit_code(result.verdict) is ExitCode.UNPROVEN
    assert [f.code for f in result.findings] == ["review-evidence-damaged", "evidence-hash-differs"]
    assert "fourplane evidence verify" in result.actions[0].text


def test_damaged_evidence_hides_failures_too_since_they_may_be_forged() -> None:
    judgements = with_judgement("storage.staging", Verdict.FAILED)
    result = judge_all(damage=DAMAGE, judgements=judgements)
    assert conditions(result)["R4.staging"].verdict is Verdict.UNPROVEN


def test_damage_saves_no_failure_on_paper() -> None:
    promised = row("memory", Verdict.FAILED, found="", promised="1 TiB")
    result = judge_all(
        changed("brief.why_cluster", ("none",)), damage=DAMAGE, rows=[promised], findings=[error(path="pools[0].power")]
    )
    shown = conditions(result)
    for key in ("R1.why_cluster", "R2.cpu_ram", "R2.design"):
        assert shown[key].verdict is Verdict.FAILED, key


# ── form ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_json_has_nine_areas_with_conditions() -> None:
    data = json.loads(json.dumps(judge_all(full()).to_json()))
    assert [area["id"] for area in data["areas"]] == [f"R{n}" for n in range(1, 10)]
    for area in data["areas"]:
        assert set(area) == {"id", "title", "verdict", "conditions"}
        for one in area["conditions"]:
            assert {"id", "verdict", "reason", "evidence"} <= set(one)
    assert {"name", "at", "verdict", "headline", "areas", "gaps", "next_actions", "findings"} == set(data)
    assert parse_utc(data["at"]).tzinfo is not None


def test_the_same_arguments_give_the_same_review() -> None:
    first = judge_all({"name": "demo"}, rows=[], judgements=[], findings=[error(), error("other-rule")])
    again = judge_all({"name": "demo"}, rows=[], judgements=[], findings=[error(), error("other-rule")])
    assert first.to_json() == again.to_json()


@settings(max_examples=20, deadline=None)
@given(st.permutations(list(CAPABILITIES)), st.randoms(use_true_random=False))
def test_order_of_rows_and_judgements_does_not_matter(keys: list[str], random: object) -> None:
    rows = full_rows()
    random.shuffle(rows)  # type: ignore[attr-defined]
    result = judge_all(rows=rows, judgements=[judgement(key) for key in keys])
    assert {c.id: c.verdict for c in conditions(result).values()} == {
        c.id: c.verdict for c in conditions(judge_all()).values()
    }


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.sampled_from(list(CAPABILITIES)), st.sampled_from(list(Verdict)), max_size=6))
def test_taking_evidence_away_never_improves_a_review(verdicts: dict[str, Verdict]) -> None:
    judgements = [judgement(key, verdicts.get(key, Verdict.PASSED)) for key in CAPABILITIES]
    fewer = [one for one in judgements if one.verdict is not Verdict.PASSED]
    before, after = judge_all(judgements=judgements), judge_all(judgements=fewer)
    passed = {key for key, one in conditions(before).items() if one.verdict is Verdict.PASSED}
    still = {key for key, one in conditions(after).items() if one.verdict is Verdict.PASSED}
    assert still <= passed
    assert (after.verdict is Verdict.PASSED) <= (before.verdict is Verdict.PASSED)


def test_many_failures_are_told_by_the_first_and_counted() -> None:
    rows = [row("memory", Verdict.FAILED, subject=f"node:n{i}", reason="too small") for i in range(50)]
    one = conditions(judge_all(rows=rows))["R2.cpu_ram"]
    assert "and 47 more" in one.reason
    assert len(one.evidence) <= MAX_EVIDENCE


def test_parts_join_to_the_worst_and_are_told_by_it() -> None:
    parts = [
        Part(Verdict.PASSED, "fine", ("a",)),
        Part(Verdict.FAILED, "bad", ("b",), "mend", Remedy.MEND_CLUSTER),
        Part(Verdict.UNPROVEN, "open", ("c",), "measure", Remedy.MEASURE),
    ]
    outcome = join(parts)
    assert outcome.verdict is Verdict.FAILED
    assert (outcome.reason, outcome.fix) == ("Bad.", "mend")
    assert outcome.evidence == ("b", "a", "c")
    assert outcome.remedies == {Remedy.MEND_CLUSTER, Remedy.MEASURE}
    assert join([]).verdict is Verdict.UNPROVEN


def test_paths_keep_their_case_at_the_start_of_a_reason() -> None:
    assert join([Part(Verdict.UNPROVEN, "brief.model lacks name")]).reason == "brief.model lacks name."
    assert join([Part(Verdict.UNPROVEN, "no model. ")]).reason == "No model."


def test_a_judgement_with_a_stale_verdict_of_its_own_is_taken_over() -> None:
    result = conditions(judge_all(judgements=with_judgement("storage.staging", Verdict.STALE, measured_at=MEASURED)))
    assert result["R4.staging"].verdict is Verdict.STALE
