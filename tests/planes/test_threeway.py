"""Declared, promised, found: fact by fact, node by node."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourplane.base.units import Dimension, parse_quantity
from fourplane.base.verdicts import Verdict
from fourplane.catalog import Catalog, load_catalog
from fourplane.planes import comparators as c
from fourplane.planes.model import FactRow
from fourplane.planes.nic_speeds import NicSpeeds, answers_speeds
from fourplane.planes.threeway import compare
from fourplane.records.observation import State

P, F, U = Verdict.PASSED, Verdict.FAILED, Verdict.UNPROVEN
EMPTY = Catalog()


def by_fact(rows: list[FactRow]) -> dict[tuple[str, str], FactRow]:
    keys = [(row.subject, row.fact) for row in rows]
    assert len(keys) == len(set(keys)), "a fact of a subject has one row"
    return {(row.subject, row.fact): row for row in rows}


def replaced(
    observations: list[Any], metric: str, value: Any, observe: Any, subject: str = "node:n1", **more: Any
) -> Any:
    kept = [one for one in observations if (one.metric, one.subject) != (metric, subject)]
    return [*kept, observe(metric, value, subject, **more)]


@pytest.fixture
def both(healthy_node: Any) -> list[Any]:
    return [*healthy_node("n1"), *healthy_node("n2")]


def test_two_good_nodes_answer_declaration_and_quote(build: Any, case: Any, both: Any) -> None:
    rows = by_fact(compare(case(build({}, {}), both)))
    passed = [fact for (subject, fact), row in rows.items() if row.verdict is P]
    assert sorted(passed) == [
        "count", "cpu.cores", "fabric.kind", "gpu.count", "gpu.form_factor", "gpu.memory", "gpu.model",
        "lifecycle.cuda", "lifecycle.driver", "lifecycle.os_image", "memory", "nics.count", "nics.speed",
        "nvme.total", "slurm.version",
    ]  # fmt: skip
    assert not [row for row in rows.values() if row.verdict is F]
    model = rows["pool:train", "gpu.model"]
    assert (model.declared, model.promised, model.found) == (
        "H100", "NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3",
    )  # fmt: skip
    assert model.evidence[0].startswith("/")
    assert model.evidence[-1] == "r1:node:n2/gpu:0:compute.gpu.model"
    assert rows["pool:train", "nics.speed"].found == "8 × 400 Gb/s, 2 × 100 Gb/s"


def test_memory_below_nominal_passes_with_the_remark(build: Any, case: Any, both: Any) -> None:
    row = by_fact(compare(case(build(), both)))["pool:train", "memory"]
    assert row.verdict is P
    assert "1.5% below nominal" in row.reason


def test_odd_nodes_are_named(build: Any, case: Any, both: Any, observe: Any) -> None:
    seen = replaced(both, "compute.gpu.count", 7, observe, "node:n2")
    row = by_fact(compare(case(build(), seen)))["pool:train", "gpu.count"]
    assert row.verdict is F
    assert row.reason == "n2 has 7; 8 is declared"
    assert row.found == "8 on 1 node, 7 on 1 node"


def test_a_slower_interface_fails_and_says_what_is_there(build: Any, case: Any, both: Any, observe: Any) -> None:
    seen = replaced(both, "network.nic.speed", 200e9, observe, "node:n2/nic:ib3")
    row = by_fact(compare(case(build(), seen)))["pool:train", "nics.speed"]
    assert row.verdict is F
    assert "n2 has 7 × 400 Gb/s, 1 × 200 Gb/s, 2 × 100 Gb/s" in row.reason


def test_one_other_gpu_among_eight_fails(build: Any, case: Any, both: Any, observe: Any) -> None:
    seen = replaced(both, "compute.gpu.model", "NVIDIA H100 PCIe", observe, "node:n1/gpu:5")
    rows = by_fact(compare(case(build(), seen)))
    assert rows["pool:train", "gpu.form_factor"].verdict is F
    assert "n1 has 7 × sxm, 1 × pcie" in rows["pool:train", "gpu.form_factor"].reason
    assert "1 × NVIDIA H100 PCIe" in rows["pool:train", "gpu.model"].found


def test_a_quote_that_promises_less_contradicts(build: Any, case: Any, both: Any) -> None:
    rows = by_fact(compare(case(build({}, {"pools[0].shape.gpu.count": 4, "fabric.oversubscription": "2:1"}), both)))
    row = rows["pool:train", "gpu.count"]
    assert row.verdict is F
    assert row.reason == "quote contradicts the declaration: acme promises 4, 8 is declared"
    assert any("quotes/acme.yaml" in place for place in row.evidence)
    assert rows["cluster", "fabric.oversubscription"].verdict is F


def test_less_than_promised_fails_though_it_answers_the_declaration(build: Any, case: Any, both: Any) -> None:
    row = by_fact(compare(case(build({}, {"pools[0].shape.memory": "4 TB"}), both)))["pool:train", "memory"]
    assert row.verdict is F
    assert "4 TB is promised by acme" in row.reason


def test_an_unanswered_line_is_unproven_and_named(build: Any, case: Any, both: Any, delete: object) -> None:
    row = by_fact(compare(case(build({}, {"pools[0].shape.cpu": delete}), both)))["pool:train", "cpu.cores"]
    assert row.verdict is U
    assert row.reason == "found as declared; the quote of acme leaves the line unanswered"


def test_several_quotes_are_told_apart(build: Any, case: Any, both: Any) -> None:
    second = "provider: zeta\npools: [{name: train, shape: {gpu: {count: 8}}}]\n"
    row = by_fact(compare(case(build({"/quotes/zeta.yaml": second}, {}), both)))["pool:train", "gpu.count"]
    assert row.promised == "acme: 8, zeta: 8"


def test_nothing_found_names_the_measurement(build: Any, case: Any) -> None:
    rows = by_fact(compare(case(build({}, {}), [])))
    assert {row.verdict for row in rows.values()} == {U}
    assert "fourplane prove" in rows["pool:train", "gpu.count"].reason
    assert rows["pool:train", "count"].reason.startswith("0 of 2 nodes")


def test_a_node_that_was_not_looked_at_leaves_the_fact_unproven(build: Any, case: Any, healthy_node: Any) -> None:
    row = by_fact(compare(case(build(), healthy_node("n1"))))["pool:train", "gpu.count"]
    assert row.verdict is U
    assert "1 of 2 were not looked at" in row.reason


def test_a_broken_attempt_is_unproven_with_its_reason(build: Any, case: Any, both: Any, observe: Any) -> None:
    broken = {"state": State.FAILED, "reason": "nvidia-smi hung"}
    seen = [one for one in both if one.metric != "compute.gpu.driver"]
    seen += [observe("compute.gpu.driver", None, f"node:n{i}", **broken) for i in (1, 2)]
    row = by_fact(compare(case(build(), seen)))["pool:train", "lifecycle.driver"]
    assert row.verdict is U
    assert "nvidia-smi hung" in row.reason


def test_a_lone_pool_takes_nodes_that_nobody_named(build: Any, case: Any, healthy_node: Any, delete: object) -> None:
    workspace = build({"pools[0].hosts": delete, "pools[0].count": 1, "brief.max_job_nodes": 1})
    row = by_fact(compare(case(workspace, healthy_node("elsewhere"))))["pool:train", "gpu.count"]
    assert row.verdict is P
    assert "elsewhere counted to the only pool" in row.reason


def test_a_stranger_beside_named_nodes_is_listed(build: Any, case: Any, both: Any, healthy_node: Any) -> None:
    rows = by_fact(compare(case(build(), [*both, *healthy_node("x9")])))
    assert rows["node:x9", "pool"].verdict is U
    assert rows["pool:train", "gpu.count"].verdict is P


def test_a_node_with_a_shape_of_its_own_has_rows_of_its_own(build: Any, case: Any, both: Any, observe: Any) -> None:
    workspace = build({"pools[0].nodes": [{"name": "n2", "shape": {"cpu": {"cores": 96}}}]})
    seen = replaced(both, "compute.cpu.cores", 96, observe, "node:n2")
    rows = by_fact(compare(case(workspace, seen)))
    assert rows["node:n2", "cpu.cores"].verdict is P
    assert rows["node:n2", "cpu.cores"].declared == "96"
    # the pool's own row speaks of n1 only, so that n2's 96 cores do not fail it
    assert rows["pool:train", "cpu.cores"].verdict is not F


def test_nothing_about_gpus_passes_on_a_stand_in(build: Any, case: Any, healthy_node: Any, delete: object) -> None:
    changes = {"pools[0].role": "stand-in", "pools[0].hosts": delete, "pools[0].count": 1}
    rows = by_fact(compare(case(build(changes), healthy_node("laptop"))))
    about_gpu = [row for (_, fact), row in rows.items() if fact.startswith("gpu.")]
    assert about_gpu
    assert {row.verdict for row in about_gpu} == {U}
    assert rows["pool:train", "cpu.cores"].verdict is P
    assert rows["cluster", "fabric.kind"].verdict is U


def test_a_stand_in_without_gpus_says_what_would_prove_the_target(
    build: Any, case: Any, observe: Any, delete: object
) -> None:
    changes = {"pools[0].role": "stand-in", "pools[0].hosts": delete, "pools[0].shape.gpu": delete}
    absent = observe("compute.gpu.count", None, "node:laptop", state=State.ABSENT, reason="no tool")
    row = by_fact(compare(case(build(changes), [absent])))["pool:train", "gpu.model"]
    assert (row.declared, row.verdict) == ("H100", U)
    assert row.reason == "no GPU on laptop; run 'fourplane prove' on a node of the target shape"


def test_hostile_names_reach_no_terminal(build: Any, case: Any, observe: Any) -> None:
    seen = [observe("compute.cpu.model", "\x1b[31mred", f"node:n{i}") for i in (1, 2)]
    rows = compare(case(build({"pools[0].shape.cpu.model": "Xeon"}), seen))
    assert not [row for row in rows if "\x1b" in f"{row.found}{row.reason}{row.declared}"]


def size(text: str) -> Any:
    return parse_quantity(text, Dimension.SIZE)


@pytest.mark.parametrize(
    ("compare_with", "want", "have", "answer"),
    [
        (c.exact, 8, 8, True),
        (c.exact, 8, 7, False),
        (c.exact, "SXM", "sxm", True),
        (c.at_least, 100, 100, True),
        (c.at_least, 100, 99, False),
        (c.within(0.06), size("100 GB"), 94e9, True),
        (c.within(0.06), size("100 GB"), 93.9e9, False),
        (c.version_prefix, "590.48", "590.48.01", True),
        (c.version_prefix, "590.4", "590.48.01", False),
        (c.version_prefix, "stable", "590.48.01", None),
        (c.version_at_least, "13.0", "13.1", True),
        (c.version_at_least, "13.0", "12.9", False),
        (c.contains, "Ubuntu 24.04", "Ubuntu 24.04.3 LTS", True),
        (c.contains, "Ubuntu 24.04", "Ubuntu 22.04.5 LTS", False),
        (c.runtime_version, "enroot 4.0", ["docker 28.2.2", "enroot 4.0.1"], True),
        (c.runtime_version, "enroot 4.0", ["docker 4.0.1", "enroot 3.5"], False),
        (c.runtime_version, "enroot 4.0", ["docker 28.2.2"], False),
        (c.runtime_version, "enroot 4.0", ["enroot"], None),
    ],
)
def test_comparators(compare_with: Any, want: Any, have: Any, answer: bool | None) -> None:
    assert compare_with(want, have, EMPTY)[0] is answer


@pytest.mark.parametrize(
    ("want", "have", "answer"),
    [
        ("H100", "NVIDIA H100 80GB HBM3", True),
        ("h100-sxm", "NVIDIA H100 80GB HBM3", True),
        ("H100 PCIe", "NVIDIA H100 80GB HBM3", False),
        ("H200", "NVIDIA H100 80GB HBM3", False),
        ("Radeon X", "radeon x", True),
        ("Radeon X", "NVIDIA H200", False),
        ("Radeon X", "Arc B580", None),
    ],
)
def test_models_are_matched_by_alias(want: str, have: str, answer: bool | None) -> None:
    assert c.model_alias(want, have, load_catalog())[0] is answer


@given(st.dictionaries(st.integers(1, 8).map(lambda n: n * 1e11), st.integers(1, 6), min_size=1, max_size=4))
def test_interfaces_answer_themselves_and_never_more(counts: dict[float, int]) -> None:
    have = NicSpeeds(counts)
    assert answers_speeds(have, have, EMPTY)[0] is True
    fastest = max(counts)
    assert answers_speeds(NicSpeeds({**counts, fastest: counts[fastest] + 1}), have, EMPTY)[0] is False


def test_a_faster_interface_stands_for_one_slower_only() -> None:
    want = NicSpeeds({400e9: 1, 100e9: 2})
    assert answers_speeds(want, NicSpeeds({400e9: 3}), EMPTY)[0] is True
    assert answers_speeds(want, NicSpeeds({400e9: 2}), EMPTY)[0] is False
