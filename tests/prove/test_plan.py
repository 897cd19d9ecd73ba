from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourplane.base.errors import UsageError
from fourplane.prove.plan import MAXIMUM_BUDGET_S, MINIMUM_BUDGET_S, Plan, make_plan
from fourplane.records.metrics import METRICS


def _plan(budget_s: float = 40.0, **more: object) -> Plan:
    return make_plan(budget_s=budget_s, ranks=2, scratch="/scratch", version="1", **more)  # type: ignore[arg-type]


@given(st.floats(min_value=MINIMUM_BUDGET_S, max_value=86_400), st.integers(min_value=2, max_value=1024))
def test_a_stored_plan_is_read_back_as_it_was(budget_s: float, ranks: int) -> None:
    plan = make_plan(budget_s=budget_s, ranks=ranks, scratch="/s", version="1", dataset="/d", max_bytes=1 << 20)
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_the_measurements_together_take_the_budget() -> None:
    measured = [step.estimate_s for step in _plan(100.0).steps if step.id != "inventory"]
    assert sum(measured) == pytest.approx(100.0)


def test_every_metric_that_a_step_owes_is_in_the_vocabulary_and_owed_once_but_for_scratch() -> None:
    owed = [name for step in _plan().steps for name in step.metrics if name != "storage.scratch.clean"]
    assert set(owed) <= set(METRICS)
    assert len(owed) == len(set(owed))


def test_all_metrics_of_network_and_storage_flows_are_owed_by_some_step() -> None:
    owed = {name for step in _plan().steps for name in step.metrics}
    flows = ("network.allreduce.", "storage.staging.", "storage.checkpoint.", "storage.weights.", "storage.io.")
    assert {name for name in METRICS if name.startswith(flows)} <= owed


@pytest.mark.parametrize(
    "budget_s", [MINIMUM_BUDGET_S - 0.01, MAXIMUM_BUDGET_S + 1, -1.0, 0.0, float("nan"), float("inf")]
)
def test_a_budget_out_of_range_is_refused(budget_s: float) -> None:
    with pytest.raises(UsageError) as refused:
        _plan(budget_s)
    assert refused.value.code == "prove-budget-out-of-range"


def test_a_dataset_is_staged_from_and_a_bound_holds_for_every_storage_step() -> None:
    steps = {step.id: step.args for step in _plan(dataset="/data", max_bytes=1 << 20).steps}
    assert steps["storage-staging"][-4:] == ("--source", "/data", "--max-bytes", str(1 << 20))
    assert "--source" not in steps["storage-io"]
    assert all("--max-bytes" in args for name, args in steps.items() if name.startswith("storage-"))
