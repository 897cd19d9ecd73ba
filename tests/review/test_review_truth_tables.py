"""Every condition through every verdict: what passes it, what takes that away, what fails it."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache

import pytest
from review_samples import (
    CAPABILITIES,
    FACTS,
    NOW,
    changed,
    conditions,
    full,
    full_judgements,
    full_rows,
    judge_all,
    row,
    with_judgement,
    with_row,
    without,
)

from fourplane.base.verdicts import Verdict
from fourplane.review.model import Condition
from fourplane.review.table import AREAS, all_conditions

PASSED, FAILED, UNPROVEN = Verdict.PASSED, Verdict.FAILED, Verdict.UNPROVEN
STALE, WAIVED = Verdict.STALE, Verdict.WAIVED

SHOWN = [key for key, spec in all_conditions() if not spec.only_failed]

# condition → judgements that it rests on; written by hand, so that a wrong wire in the table is seen
RESTS_ON = {
    "R2.gpu_topology": ["compute.gpu"],
    "R2.homogeneity": ["compute.homogeneity"],
    "R3.placement": ["network.allreduce"],
    "R3.oversubscription": ["network.allreduce"],
    "R3.benchmark": ["network.allreduce", "network.latency"],
    "R4.staging": ["storage.staging"],
    "R4.weight_cache": ["storage.weights_load"],
    "R4.checkpoint_write": ["storage.checkpoint_write"],
    "R4.checkpoint_restore": ["storage.checkpoint_restore"],
    "R4.crash_consistency": ["storage.crash_consistency"],
    "R4.object_store": ["storage.object_store"],
    "R4.snapshots": ["storage.snapshots"],
    "R4.cleanup": ["storage.scratch_clean"],
    "R5.scheduler": ["control.scheduler"],
    "R6.jobs": ["telemetry.jobs"],
    "R6.gpus": ["telemetry.gpus"],
    "R6.fabric": ["telemetry.fabric"],
    "R6.storage": ["telemetry.storage"],
    "R6.cost": ["telemetry.cost"],
    "R7.secrets": ["security.secrets"],
    "R7.image_policy": ["security.image_policy"],
    "R7.network_policy": ["security.network_policy"],
    "R7.data_cleanup": ["storage.scratch_clean"],
    "R8.production_container": ["compute.production_container"],
    "R8.network_tested": ["network.allreduce"],
    "R8.checkpoints": ["storage.checkpoint_write", "storage.checkpoint_restore", "storage.crash_consistency"],
    "R8.logs_exported": ["control.logs_exported"],
    "R9.same_denominator": ["economics.unit_cost"],
}
WIRES = [(condition, key) for condition, keys in RESTS_ON.items() for key in keys]

FACTS_OF = {
    "R2.gpu_topology": ["gpu.model", "gpu.count"],
    "R2.cpu_ram": ["cpu.cores", "memory"],
    "R2.local_nvme": ["nvme.total"],
    "R2.nics": ["nics.speed"],
    "R2.lifecycle": ["lifecycle.driver.version"],
    "R3.fabric": ["fabric.kind"],
    "R3.failure_domains": ["fabric.failure_domains"],
}
FACT_WIRES = [(condition, fact) for condition, facts in FACTS_OF.items() for fact in facts]

# condition → fields without which it is open
NEEDS = {
    "R1.workload": ["brief.workload"],
    "R1.framework": ["brief.frameworks"],
    "R1.target_gpus": ["brief.target_gpus"],
    "R1.node_shape": [f"brief.node_shape.{k}" for k in ("gpus", "gpu_memory", "cpu_cores", "memory", "nvme", "nics")],
    "R1.scale": ["brief.scale", "brief.max_job_nodes"],
    "R1.network": [
        f"brief.network.{k}" for k in ("all_reduce", "latency", "placement_group", "isolation", "egress_path")
    ],
    "R1.storage": [
        f"brief.storage.{k}"
        for k in (
            "dataset_size", "weights_size", "checkpoint_interval", "recovery_time", "filesystem", "object_store_region",
        )
    ],
    "R1.ownership": [
        f"brief.ownership.{k}"
        for k in ("drivers", "images", "scheduler_policy", "telemetry", "support", "upgrades", "access", "incidents")
    ],
    "R1.denominator": ["brief.denominator"],
    "R1.model": [f"brief.model.{k}" for k in ("name", "parameters_billion", "precision", "licence")],
    "R1.data_path": [f"brief.data_path.{k}" for k in ("source", "node", "output")],
    "R1.target_utilisation": ["brief.target_utilisation"],
    "R1.why_cluster": ["brief.why_cluster"],
    "R2.gpu_topology": [
        f"pools.0.shape.gpu.{k}" for k in ("model", "count", "memory", "form_factor", "interconnect")
    ],
    "R2.cpu_ram": ["pools.0.shape.cpu.cores", "pools.0.shape.memory"],
    "R2.local_nvme": ["pools.0.shape.nvme.total"],
    "R2.nics": ["pools.0.shape.nics", "pools.0.shape.nics.0.speed", "pools.0.shape.nics.0.count"],
    "R2.lifecycle": [
        f"pools.0.lifecycle.{layer}.{k}"
        for layer in ("driver", "cuda", "container_toolkit", "container_runtime", "os_image")
        for k in ("version", "owner", "upgrade_window", "end_of_support", "rollback")
    ],
    "R2.replacement": [f"pools.0.replacement.{k}" for k in ("time", "like_for_like", "owner")],
    "R3.fabric": ["network.fabric.kind"],
    "R3.placement": ["network.fabric.placement"],
    "R3.oversubscription": ["network.fabric.oversubscription"],
    "R3.failure_domains": ["network.fabric.failure_domains"],
    "R4.gds": ["storage.gds", "storage.gds.reason", "storage.gds.figure"],
    "R4.outputs": [
        "storage.outputs", *(f"storage.outputs.0.{k}" for k in ("place", "write_rate", "retention", "owner"))
    ],
    "R5.scheduler": ["control.slurm", "control.slurm.version", "control.reason"],
    "R5.queues": ["control.owners.queues", "control.queues", "control.slurm"],
    "R5.quotas": ["control.owners.quotas", "teams", "teams.0.quotas", "control.slurm"],
    "R5.retries": [
        "control.owners.retries", "control.queues", "control.slurm",
        *(f"control.queues.0.retry.{k}" for k in ("count", "causes", "backoff")),
    ],
    "R5.user_access": ["control.owners.user_access", "control.slurm"],
    **{
        f"R6.{k}": [f"telemetry.{k}.source", f"telemetry.{k}.owner", f"telemetry.{k}", "telemetry.labels"]
        for k in ("jobs", "gpus", "fabric", "storage")
    },
    "R6.cost": ["telemetry.cost.source", "telemetry.cost.owner", "telemetry.labels", "teams.0.cost_label"],
    "R7.identity": ["security.identity", "security.identity.owner"],
    "R7.secrets": ["security.secrets", "security.secrets.owner"],
    "R7.image_policy": ["security.image_registry", "security.image_signing", "security.image_scanning"],
    "R7.network_policy": ["security.isolation", "security.network_policy", "security.egress"],
    "R7.audit_logs": ["security.audit_retention", "security.audit_retention.owner"],
    "R7.data_cleanup": ["security.data_cleanup"],
    "R7.access": ["security.ssh", "security.break_glass", "security.vendor_access", "security.remote_hands"],
    "R9.cloud_rental": ["alternatives.0", *(f"alternatives.0.{k}" for k in ("unit_cost", "units_per_month", "source"))],
    "R9.colocation": ["alternatives.1", "alternatives.1.unit_cost"],
    "R9.on_premises": ["alternatives.2", "alternatives.2.source"],
    "R9.model_api": ["alternatives.3", "alternatives.3.units_per_month"],
    "R9.same_denominator": [*(f"alternatives.{i}" for i in range(4)), "brief.denominator"],
}  # fmt: skip
NEED_WIRES = [(condition, path) for condition, paths in NEEDS.items() for path in paths]


@cache
def lacking(path: str) -> dict[str, Condition]:
    return conditions(judge_all(without(path)))


@cache
def judged(key: str, verdict: Verdict) -> dict[str, Condition]:
    return conditions(judge_all(judgements=with_judgement(key, verdict)))


@cache
def aged(days: int) -> dict[str, Condition]:
    return conditions(judge_all(now=NOW + timedelta(days=days)))


def test_nine_areas_stand_in_order_and_every_condition_passes_on_the_full_case() -> None:
    result = judge_all()
    assert [area.id for area in result.areas] == [f"R{n}" for n in range(1, 10)]
    assert {c.id: c.verdict for c in conditions(result).values()} == dict.fromkeys(SHOWN, PASSED)
    assert result.verdict is PASSED
    assert result.headline == f"Accepted: all of {len(SHOWN)} conditions proven."


def test_the_tables_of_this_test_cover_every_condition() -> None:
    assert {*RESTS_ON, *FACTS_OF, *NEEDS, "R1.declaration"} == set(SHOWN)
    used = {key for keys in RESTS_ON.values() for key in keys}
    assert used == set(CAPABILITIES)
    assert {fact for facts in FACTS_OF.values() for fact in facts} == set(FACTS)


def test_ids_are_unique_and_belong_to_their_area() -> None:
    ids = [key for key, _ in all_conditions()]
    assert len(ids) == len(set(ids))
    assert all(key.split(".")[0] in {area.id for area in AREAS} for key in ids)


def test_every_passed_condition_cites_evidence() -> None:
    assert [key for key, c in conditions(judge_all()).items() if not c.evidence or not c.reason or c.fix] == []


@pytest.mark.parametrize(("condition", "path"), NEED_WIRES)
def test_a_missing_field_leaves_its_condition_unproven_and_is_named(condition: str, path: str) -> None:
    one = lacking(path)[condition]
    assert one.verdict is UNPROVEN
    assert one.fix
    field = path.split(".")[-1]
    named = field if not field.isdigit() else "priced" if condition.endswith("denominator") else "no price of"
    reason = one.reason.lower()
    assert named in reason or "no scheduler" in reason or "gpudirect" in reason, one.reason


@pytest.mark.parametrize(("condition", "path"), NEED_WIRES)
def test_a_missing_field_leaves_other_areas_alone(condition: str, path: str) -> None:
    hit = {key for key, one in lacking(path).items() if one.verdict is not PASSED}
    shared = {key for key, paths in NEEDS.items() if any(path == p or p.startswith(f"{path}.") for p in paths)}
    # fewer priced alternatives also spoil the comparison; nothing but these may move
    if path.startswith("alternatives"):
        shared.add("R9.same_denominator")
    if path in ("teams", "control.queues"):
        shared |= {"R5.queues", "R5.retries", "R6.cost"}
    assert hit - shared == set()


@pytest.mark.parametrize("verdict", [FAILED, UNPROVEN, STALE])
@pytest.mark.parametrize(("condition", "key"), WIRES)
def test_a_condition_follows_the_judgement_that_it_rests_on(condition: str, key: str, verdict: Verdict) -> None:
    one = judged(key, verdict)[condition]
    assert one.verdict is verdict
    assert f"figure of {key}" in one.reason.lower()
    assert one.fix


@pytest.mark.parametrize(("condition", "key"), WIRES)
def test_a_judgement_that_nobody_made_leaves_the_condition_unproven(condition: str, key: str) -> None:
    judgements = [one for one in full_judgements() if one.id != key]
    one = conditions(judge_all(judgements=judgements))[condition]
    assert one.verdict is UNPROVEN
    assert one.reason
    assert one.fix


@pytest.mark.parametrize("key", CAPABILITIES)
def test_a_judgement_moves_only_the_conditions_that_rest_on_it(key: str) -> None:
    hit = {k for k, c in judged(key, FAILED).items() if c.verdict is FAILED}
    assert hit == {condition for condition, other in WIRES if other == key}


@pytest.mark.parametrize("verdict", [FAILED, UNPROVEN, STALE])
@pytest.mark.parametrize(("condition", "fact"), FACT_WIRES)
def test_a_condition_follows_each_of_its_facts(condition: str, fact: str, verdict: Verdict) -> None:
    result = conditions(judge_all(rows=with_row(fact, verdict)))
    assert result[condition].verdict is verdict
    assert fact in result[condition].reason
    assert [key for key, c in result.items() if c.verdict is not PASSED] == [condition]


@pytest.mark.parametrize("condition", FACTS_OF)
def test_without_any_compared_fact_a_condition_is_unproven(condition: str) -> None:
    rows = [one for one in full_rows() if one.fact not in FACTS_OF[condition]]
    assert conditions(judge_all(rows=rows))[condition].verdict is UNPROVEN


def test_a_fact_that_nobody_stated_neither_passes_nor_fails_a_condition() -> None:
    only = [row("memory", declared="", promised="")]
    one = conditions(judge_all(rows=only))["R2.cpu_ram"]
    assert one.verdict is UNPROVEN
    assert "no node was compared" in one.reason.lower()


def test_a_stated_fact_never_passes_without_being_found() -> None:
    one = conditions(judge_all(rows=with_row("memory", PASSED, found="")))["R2.cpu_ram"]
    assert one.verdict is UNPROVEN
    assert "nobody looked" in one.reason


def test_a_promise_alone_counts_as_stated() -> None:
    rows = with_row("memory", UNPROVEN, declared="", promised="2 TiB", found="")
    assert conditions(judge_all(rows=rows))["R2.cpu_ram"].verdict is UNPROVEN


MEASURED_CONDITIONS = sorted(set(RESTS_ON) | set(FACTS_OF))


@pytest.mark.parametrize("condition", SHOWN)
def test_only_measured_conditions_grow_stale(condition: str) -> None:
    one = aged(31)[condition]
    assert one.verdict is (STALE if condition in MEASURED_CONDITIONS else PASSED)


@pytest.mark.parametrize("condition", [key for key in SHOWN if key != "R1.declaration"])
def test_every_open_condition_can_be_waived(condition: str) -> None:
    waiver = {"condition": condition, "owner": "ann", "reason": "pilot", "until": date(2027, 1, 1)}
    data = {"name": "demo", "waivers": [waiver]}
    result = conditions(judge_all(data, rows=[], judgements=[], observations=[]))
    assert result[condition].verdict is WAIVED
    assert {key for key, c in result.items() if c.verdict is WAIVED} == {condition}


def test_an_empty_declaration_without_evidence_passes_nothing_but_being_readable() -> None:
    result = judge_all({"name": "demo"}, rows=[], judgements=[], observations=[])
    verdicts = {key: c.verdict for key, c in conditions(result).items()}
    assert verdicts.pop("R1.declaration") is PASSED
    assert set(verdicts.values()) == {UNPROVEN}
    assert result.verdict is UNPROVEN


# ── single conditions ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("reasons", [("none",), ("none", "own-weights")])
def test_why_cluster_none_fails(reasons: tuple[str, ...]) -> None:
    one = conditions(judge_all(changed("brief.why_cluster", reasons)))["R1.why_cluster"]
    assert one.verdict is FAILED
    assert "model API" in one.fix


def test_a_promised_replacement_that_differs_fails_the_policy() -> None:
    rows = [*full_rows(), row("replacement.time", FAILED, found="", promised="48 h")]
    assert conditions(judge_all(rows=rows))["R2.replacement"].verdict is FAILED


def test_an_unproven_replacement_row_leaves_the_paper_policy_as_it_is() -> None:
    rows = [*full_rows(), row("replacement.time", UNPROVEN, found="")]
    assert conditions(judge_all(rows=rows))["R2.replacement"].verdict is PASSED


def test_a_stand_in_is_no_target_hardware() -> None:
    result = conditions(judge_all(changed("pools.0.role", "stand-in")))
    for key in ("R2.gpu_topology", "R2.lifecycle", "R2.replacement"):
        assert result[key].verdict is UNPROVEN, key
        assert "target hardware" in result[key].reason
    assert result["R2.cpu_ram"].verdict is PASSED


@pytest.mark.parametrize("role", ["cpu", "login"])
def test_pools_without_gpus_need_no_gpu_facts(role: str) -> None:
    data = full()
    data["pools"].append({"name": "side", "role": role, "count": 1, "shape": full()["pools"][0]["shape"]})
    del data["pools"][1]["shape"]["gpu"]
    assert conditions(judge_all(data))["R2.gpu_topology"].verdict is PASSED


def test_a_login_pool_needs_no_shape_but_a_cpu_pool_does() -> None:
    for role, verdict in (("login", PASSED), ("cpu", UNPROVEN)):
        data = full()
        data["pools"].append({"name": "side", "role": role, "count": 1})
        assert conditions(judge_all(data))["R2.cpu_ram"].verdict is verdict, role


def test_facts_may_stand_in_every_node_entry_instead_of_the_pool() -> None:
    data = full()
    shape = data["pools"][0].pop("shape")
    data["pools"][0]["nodes"] = [{"name": "n1", "shape": shape}, {"name": "n2", "shape": shape}]
    assert conditions(judge_all(data))["R2.cpu_ram"].verdict is PASSED
    data["pools"][0]["nodes"][1]["shape"] = {**shape, "memory": None}
    assert conditions(judge_all(data))["R2.cpu_ram"].verdict is UNPROVEN


def test_optimised_gpudirect_storage_needs_a_measurement() -> None:
    one = conditions(judge_all(changed("storage.gds.choice", "optimised")))["R4.gds"]
    assert one.verdict is UNPROVEN
    assert "gdsio" in one.fix


def test_never_retrying_is_a_decision() -> None:
    data = changed("control.queues.0.retry", {"count": 0})
    assert conditions(judge_all(data))["R5.retries"].verdict is PASSED


def test_both_schedulers_need_a_queue_each() -> None:
    data = changed("control.kubernetes", {"version": "1.35"})
    one = conditions(judge_all(data))["R5.queues"]
    assert one.verdict is UNPROVEN
    assert "kubernetes" in one.reason
    data["control"]["queues"].append({"name": "serve", "scheduler": "kubernetes"})
    assert conditions(judge_all(data))["R5.queues"].verdict is PASSED


def test_a_kubernetes_choice_without_version_is_open() -> None:
    data = changed("control.kubernetes", {})
    assert "kubernetes.version" in conditions(judge_all(data))["R5.scheduler"].reason


def test_a_decision_without_probe_says_so() -> None:
    judgements = [one for one in full_judgements() if one.id != "security.secrets"]
    one = conditions(judge_all(judgements=judgements))["R7.secrets"]
    assert one.verdict is UNPROVEN
    assert one.reason == "Decided, not probed: nobody showed that a tenant can't read another tenant's secret."
    tried = with_judgement("storage.scratch_clean", UNPROVEN)
    one = conditions(judge_all(judgements=tried))["R7.data_cleanup"]
    assert one.reason == "Decided, not probed: figure of storage.scratch_clean."
    undecided = conditions(judge_all(without("security.data_cleanup"), judgements=tried))["R7.data_cleanup"]
    assert "decided, not probed" not in undecided.reason.lower()


def test_the_brief_is_told_by_its_values() -> None:
    shown = conditions(judge_all())
    assert shown["R1.workload"].reason == "Workload pre-training."
    assert shown["R1.framework"].reason == "Frameworks PyTorch."
    assert shown["R1.model"].reason == "Name m, parameters billion 70, precision bf16 and licence own."
    assert shown["R1.target_gpus"].reason == "Target GPUs H100."
    assert "All reduce yes" in shown["R1.network"].reason


def test_a_planned_signal_says_that_it_was_not_shown() -> None:
    judgements = [one for one in full_judgements() if one.id != "telemetry.cost"]
    one = conditions(judge_all(judgements=judgements))["R6.cost"]
    assert one.verdict is UNPROVEN
    assert one.reason.lower().startswith("planned, not shown")


@pytest.mark.parametrize("kind", ["on-demand-cloud", "reserved-cluster", "managed-gpu-service", "serverless-gpu"])
def test_any_rented_gpu_is_cloud_rental(kind: str) -> None:
    assert conditions(judge_all(changed("alternatives.0.kind", kind)))["R9.cloud_rental"].verdict is PASSED


def test_a_second_priced_alternative_makes_up_for_an_unpriced_one() -> None:
    data = without("alternatives.0.source")
    data["alternatives"].append({**full()["alternatives"][0], "kind": "serverless-gpu"})
    assert conditions(judge_all(data))["R9.cloud_rental"].verdict is PASSED


def test_alternatives_for_different_amounts_of_work_are_not_one_denominator() -> None:
    one = conditions(judge_all(changed("alternatives.2.units_per_month", 5)))["R9.same_denominator"]
    assert one.verdict is FAILED
    assert "4 and 5 units" in one.reason


def test_a_comparison_on_paper_is_unproven() -> None:
    judgements = [one for one in full_judgements() if one.id != "economics.unit_cost"]
    one = conditions(judge_all(judgements=judgements))["R9.same_denominator"]
    assert one.verdict is UNPROVEN
    assert "on paper only" in one.reason
