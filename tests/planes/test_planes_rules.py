"""Every rule fires on a design that has its fault, and not on its near miss."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from rule_cases import B200, BIG_MODEL, CASES, LIFE, ONE_NODE, ONE_TEAM, QUOTA, D, F, S

from fourplane.base.codes import find
from fourplane.base.findings import Level
from fourplane.planes.registry import all_rules, rule
from fourplane.planes.rules import check


def codes_of(changes: dict[str, Any], build: Any, catalog: Any, delete: object, today: date) -> dict[str, Any]:
    real = {path: delete if value == D and isinstance(value, str) else value for path, value in changes.items()}
    # the heaviest comes first, and is the one that is kept
    return {finding.code: finding for finding in reversed(check(build(real), catalog, today))}


def test_every_rule_has_a_case_and_every_case_a_rule() -> None:
    assert len(CASES) >= 60
    assert sorted(CASES) == sorted(one.code for one in all_rules())


@pytest.mark.parametrize("code", CASES)
def test_a_rule_fires_at_the_place_of_the_fault(
    code: str, build: Any, catalog: Any, delete: object, today: date, tmp_path: Path
) -> None:
    found = codes_of(CASES[code][0], build, catalog, delete, today)
    assert code in found, sorted(found)
    finding = found[code]
    assert finding.line > 0
    assert finding.column > 0
    assert finding.path
    assert Path(finding.file).is_file()
    assert len(finding.message) > 20
    assert finding.plane in ("compute", "network", "storage", "control", "security")
    if finding.level is not Level.INFO:
        assert finding.found
        assert finding.expected
        assert finding.fix


@pytest.mark.parametrize("code", CASES)
def test_a_rule_is_silent_on_its_near_miss(code: str, build: Any, catalog: Any, delete: object, today: date) -> None:
    found = codes_of(CASES[code][1], build, catalog, delete, today)
    assert code not in found, found.get(code)


def test_a_good_complete_design_has_no_error_and_no_warning(build: Any, catalog: Any, today: date) -> None:
    found = check(build({}, {}), catalog, today)
    assert [f.message for f in found if f.level is not Level.INFO] == []
    assert {f.code for f in found} == {"binding-plane", "inter-node-price", "scheduler-fit"}


@pytest.mark.parametrize("code", CASES)
def test_texts_of_a_code_are_complete(code: str) -> None:
    entry = find(code)
    assert entry is not None
    assert len(entry.reason) > 80, "the mechanism takes a sentence"
    assert entry.fix
    assert entry.requirement
    assert entry.link == "" or entry.link.startswith("https://")


def test_a_code_has_one_rule() -> None:
    with pytest.raises(ValueError, match="two rules"):
        rule("why-cluster-none", all_rules()[0].plane)(lambda design: ())


@pytest.mark.parametrize("template", ["laptop", "rented-h100"])
def test_the_examples_have_no_errors(template: str, catalog: Any, today: date) -> None:
    from fourplane.spec.loader import load_workspace

    workspace = load_workspace(Path(__file__).resolve().parents[2] / "examples" / template, today=today)
    assert [f.message for f in check(workspace, catalog, today) if f.level is Level.ERROR] == []


# What the table can't say: levels and figures


def test_levels_follow_how_sure_the_fault_is(build: Any, catalog: Any, delete: object, today: date) -> None:
    def level(code: str, changes: dict[str, Any]) -> Level:
        return codes_of(changes, build, catalog, delete, today)[code].level  # type: ignore[no-any-return]

    tuning = {"brief.workload": "fine-tuning", "brief.max_job_nodes": 1, "brief.model.parameters_billion": 70}
    assert level("gpu-memory-too-small", tuning) is Level.WARNING
    assert level("gpu-memory-too-small", BIG_MODEL | {"brief.max_job_nodes": 1}) is Level.ERROR
    assert level("end-of-support", {"pools[0].lifecycle.driver.end_of_support": date(2026, 11, 30)}) is Level.ERROR
    assert level("end-of-support", {"pools[0].lifecycle.driver.end_of_support": date(2026, 12, 1)}) is Level.WARNING
    assert level("quota-exceeds-pool", {QUOTA: 17, "teams[0].share": "1 %"}) is Level.ERROR
    assert level("quota-exceeds-pool", {QUOTA: 9}) is Level.WARNING
    bare = {"telemetry": {}, "control.runbooks": [], "teams": [{"name": "a"}]}
    assert level("scheduler-is-a-launcher", bare) is Level.ERROR
    assert level("rails-differ-from-nics", {f"{F}.rails": 10}) is Level.ERROR
    no_isolation = {"pools[0].sharing": "mig", "security.isolation": D}
    assert level("gpu-shared-across-teams", no_isolation) is Level.WARNING


def test_the_price_of_leaving_the_node_is_stated(build: Any, catalog: Any, delete: object, today: date) -> None:
    price = codes_of({}, build, catalog, delete, today)["inter-node-price"].message
    assert "450 GB/s" in price
    assert "50 GB/s" in price
    assert "costs 9 times" in price
    small = codes_of(CASES["small-nodes-for-synchronous"][0], build, catalog, delete, today)
    assert "450 GB/s" in small["small-nodes-for-synchronous"].message


def test_storage_is_named_as_the_binding_plane(build: Any, catalog: Any, delete: object, today: date) -> None:
    message = codes_of({}, build, catalog, delete, today)["binding-plane"].message
    assert "storage binds" in message
    # 105 GB over two nodes of 8 × 50 GB/s take 131 ms, to storage at 5 GB/s 21 s
    assert "131 ms through the fabric" in message
    assert "21.0 s to storage" in message


def test_a_node_that_differs_is_named_at_its_own_line(build: Any, catalog: Any, delete: object, today: date) -> None:
    changes = {"pools[0].nodes": [{"name": "n2", "shape": {"memory": "512 GB"}}]}
    finding = codes_of(changes, build, catalog, delete, today)["host-memory-below-gpu-memory"]
    assert finding.path == "pools[0].nodes[0].shape.memory"
    assert finding.message.startswith("n2 of pool train")


def test_a_checkpoint_size_nobody_declared_is_derived(build: Any, catalog: Any, delete: object, today: date) -> None:
    changes = {"storage.checkpoints.size": D, "storage.checkpoints.write_throughput": "1 GB/s"}
    message = codes_of(changes, build, catalog, delete, today)["checkpoint-stall-too-long"].message
    assert "8 billion parameters × 12 B" in message


def test_an_empty_catalogue_silences_and_breaks_nothing(build: Any, today: date) -> None:
    from fourplane.catalog import Catalog

    assert [f.code for f in check(build({}, {}), Catalog(), today)] == ["scheduler-fit"]


# The rules of one board against another's facts, and texts that name their fields


def test_a_release_that_says_less_is_taken_as_its_newest(build: Any, catalog: Any, delete: object, today: date) -> None:
    found = codes_of(B200 | {f"{LIFE}.cuda.version": "12"}, build, catalog, delete, today)
    assert "cuda-too-old-for-gpu" not in found
    found = codes_of(B200 | {f"{LIFE}.cuda.version": "11"}, build, catalog, delete, today)
    assert found["cuda-too-old-for-gpu"].expected == "12.8 or newer"
    assert "Blackwell Compatibility Guide" in found["cuda-too-old-for-gpu"].message


def test_the_choice_of_scheduler_names_each_field(build: Any, catalog: Any, delete: object, today: date) -> None:
    message = codes_of({}, build, catalog, delete, today)["scheduler-fit"].message
    for field in ("brief.workload", "brief.scale", "brief.why_cluster"):
        assert f"({field})" in message
    assert message.endswith("For Kubernetes: nothing in the brief")
    changes = {"security.isolation.choice": "one namespace a team", "brief.frameworks": ["SGLang", "Open MPI"]}
    message = codes_of(changes, build, catalog, delete, today)["scheduler-fit"].message
    assert "tenants are kept apart by namespace (security.isolation)" in message
    assert "SGLang is deployed as a service (brief.frameworks)" in message
    assert "Open MPI is at home there (brief.frameworks)" in message


def test_one_team_has_no_tenants_to_keep_apart(build: Any, catalog: Any, delete: object, today: date) -> None:
    changes = ONE_TEAM | {"security.isolation.choice": "one namespace a team"}
    assert "namespace" not in codes_of(changes, build, catalog, delete, today)["scheduler-fit"].message


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({"control.slurm.accounting": D}, Level.WARNING),
        ({"control.slurm.accounting": False}, Level.ERROR),
    ],
)
def test_accounting_that_is_off_weighs_more_than_one_that_is_not_said(
    changes: dict[str, Any], level: Level, build: Any, catalog: Any, delete: object, today: date
) -> None:
    assert codes_of(changes, build, catalog, delete, today)["slurm-without-accounting"].level is level


def test_a_single_node_without_checkpoints_is_a_warning(build: Any, catalog: Any, delete: object, today: date) -> None:
    found = codes_of({"storage.checkpoints": D} | ONE_NODE, build, catalog, delete, today)
    assert found["training-without-checkpoints"].level is Level.WARNING


def test_the_best_interval_is_youngs(build: Any, catalog: Any, delete: object, today: date) -> None:
    # 105 GB at 5.5 GB/s stall 19.1 s; two nodes fail 2 × 3.79e-3 times a day, every 1.14e7 s: sqrt(2 × 19.1 × 1.14e7)
    finding = codes_of(CASES["checkpoint-interval-costly"][0], build, catalog, delete, today)[
        "checkpoint-interval-costly"
    ]
    assert finding.expected == "about 5 h 47 min"
    assert "cost 6% of the time on 2 nodes" in finding.message
    assert "Llama 3" in finding.message


def test_checkpoint_cost_is_the_sum_of_stalls_and_lost_work() -> None:
    from fourplane.planes.storage.protection_rules import checkpoint_cost

    assert checkpoint_cost(100, 5, 0.001) == pytest.approx(0.05 + 0.05)
    best = (2 * 5 / 0.001) ** 0.5
    assert checkpoint_cost(best, 5, 0.001) < min(checkpoint_cost(best * f, 5, 0.001) for f in (0.5, 0.9, 1.1, 2))


def test_what_was_not_read_again_fires_no_rule(build: Any, catalog: Any, delete: object, today: date) -> None:
    # 288 GB of a GB300 are known and not re-read: a wrong size on it must stay without a finding
    changes = {f"{S}.gpu": {"model": "GB300", "count": 8, "memory": "100 GB"}, "brief.target_gpus": ["GB300"]}
    assert "gpu-memory-differs" not in codes_of(changes, build, catalog, delete, today)


def test_a_price_in_a_quote_is_found_in_the_quote(build: Any, catalog: Any, today: date) -> None:
    found = [f for f in check(build({}, {"prices.gpu_hour": 0.9}), catalog, today) if f.code == "price-below-market"]
    assert [Path(f.file).name for f in found] == ["acme.yaml"]
    assert "2.4" in found[0].message


def test_prices_in_other_money_are_not_compared(build: Any, catalog: Any, delete: object, today: date) -> None:
    changes = {"prices.gpu_hour": 0.9, "prices.currency": "EUR"}
    assert "price-below-market" not in codes_of(changes, build, catalog, delete, today)


def test_faults_of_the_own_catalogue_are_among_the_findings(build: Any, today: date) -> None:
    from fourplane.catalog import load_catalog

    workspace = build({"/catalog/own.yaml": "facts:\n  h100-sxm:\n    - {name: power, value: 1, unit: W}\n"})
    found = [f for f in check(workspace, load_catalog(workspace.root), today) if f.code.startswith("catalog-")]
    assert [(f.code, f.line, f.level) for f in found] == [("catalog-fact-without-source", 3, Level.ERROR)]


def test_an_own_fact_changes_what_rules_say(build: Any, today: date, catalog: Any) -> None:
    from fourplane.catalog import load_catalog

    text = (
        "sources: {own: {title: vendor letter, date: 2026-11-01}}\nfacts:\n  h100-sxm:\n"
        "    - {name: power, value: 1300, unit: W, conditions: {kind: maximum}, source: own}\n"
    )
    workspace = build({"/catalog/own.yaml": text})
    assert "node-power-too-low" not in {f.code for f in check(workspace, catalog, today)}
    assert "node-power-too-low" in {f.code for f in check(workspace, load_catalog(workspace.root), today)}


@pytest.mark.parametrize(
    ("text", "least", "below"),
    [
        ("580.95.05", 580, False),
        ("579.99", 580, True),
        ("R575", 580, True),
        ("12", 12.8, False),
        ("12.8", 12.8, False),
        ("12.7.9", 12.8, True),
        ("2.10", 2.7, False),
        ("1.33", 1.34, True),
        ("1.4", 1.34, True),
        ("stable", 580, False),
        (None, 580, False),
        ("", 580, False),
    ],
)
def test_releases_are_compared_number_by_number(text: str | None, least: float, below: bool) -> None:
    from fourplane.planes.versions import is_below

    assert is_below(text, least) is below
