"""What measurements decide, and which gate decided."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourplane.base.verdicts import Verdict
from fourplane.planes.judge import judge
from fourplane.planes.model import Case, Judgement
from fourplane.planes.network.judgements import cliffs
from fourplane.records.observation import Observation, State

P, F, U = Verdict.PASSED, Verdict.FAILED, Verdict.UNPROVEN
IDS = [
    "compute.gpu", "compute.homogeneity", "control.scheduler", "network.allreduce", "network.latency",
    "storage.checkpoint_restore", "storage.checkpoint_write", "storage.crash_consistency", "storage.object_store",
    "storage.scratch_clean", "storage.snapshots", "storage.staging", "storage.weights_load",
]  # fmt: skip
GIB = 2**30
CLUSTER = {"nodes": ["n1", "n2"], "ranks": 16, "gpus_per_node": 8, "device": "gpu"}


def judged(case: Case) -> dict[str, Judgement]:
    return {one.id: one for one in judge(case)}


@pytest.fixture
def both(healthy_node: Any) -> list[Observation]:
    return [*healthy_node("n1"), *healthy_node("n2")]


@pytest.fixture
def storage(observe: Any) -> Any:
    """Return a function that gives the storage figures of one node, some of them changed."""

    def make(node: str = "n1", conditions: Any = None, **changed: Any) -> list[Observation]:
        values = {
            "storage.staging.source": "directory",
            "storage.staging.throughput": 11_000.0,
            "storage.checkpoint.write_throughput": 6_000.0,
            "storage.checkpoint.restore_throughput": 9_000.0,
            "storage.checkpoint.restore_verified": True,
            "storage.checkpoint.crash_consistent": True,
            "storage.weights.cold_throughput": 2_000.0,
            "storage.scratch.clean": True,
        } | {f"storage.{key.replace('__', '.')}": value for key, value in changed.items()}
        return [observe(m, v, f"node:{node}", conditions=conditions or {}) for m, v in values.items()]

    return make


@pytest.fixture
def allreduce(observe: Any) -> Any:
    """Return a function that gives one all-reduce over two nodes, as nccl-tests would on RoCE."""

    def make(
        curve: list[tuple[int, float]] | None = None, transport: str = "roce", subject: str = "cluster", wrong: int = 0,
        conditions: Any = None, world: int = 16, method: str = "nccl-tests 2.19", latency: float = 40.0,
    ) -> list[Observation]:  # fmt: skip
        points = curve if curve is not None else [(2**26, 250.0), (GIB, 430.0), (4 * GIB, 465.0), (16 * GIB, 470.0)]
        rows = [{"bytes": size, "busbw_gbps": busbw, "wrong": 0} for size, busbw in points]
        more = {"method": method, "conditions": CLUSTER if conditions is None else conditions}
        return [
            observe("network.allreduce.curve", rows, subject, **more),
            observe("network.allreduce.busbw_peak", max(b for _, b in points), subject, **more),
            observe("network.allreduce.world_size", world, subject, **more),
            observe("network.allreduce.wrong", wrong, subject, **more),
            observe("network.allreduce.transport", transport, subject, **more),
            observe("network.allreduce.latency", latency, subject, **more),
        ]

    return make


def test_without_evidence_everything_is_unproven_and_says_what_would_prove_it(build: Any, case: Any) -> None:
    out = judged(case(build({}, {}), []))
    assert sorted(out) == IDS
    assert {one.verdict for one in out.values()} == {U}
    assert all(one.fix and one.reason and one.measured_at is None for one in out.values())


def test_a_catalogue_alone_passes_nothing(build: Any, case: Any, both: Any, catalog: Any) -> None:
    assert catalog.expected("all_reduce", "h100-sxm", gpus_per_node=8, nodes=2, transport="roce")
    out = judged(case(build({}, {}), both))
    assert out["network.allreduce"].verdict is U


# storage


ONE_NODE = {"brief.max_job_nodes": 1, "pools[0].count": 1, "pools[0].hosts": "n1"}


def test_good_storage_passes_and_names_the_gate(build: Any, case: Any, storage: Any) -> None:
    out = judged(case(build(ONE_NODE), storage()))
    passed = {key for key, one in out.items() if one.verdict is P}
    assert passed == {
        "storage.staging", "storage.checkpoint_write", "storage.checkpoint_restore", "storage.crash_consistency",
        "storage.weights_load", "storage.scratch_clean",
    }  # fmt: skip
    assert out["storage.checkpoint_write"].reason == "6,000 MB/s on n1; the target is 5 GB/s"
    assert out["storage.weights_load"].reason == "2,000 MB/s on n1; 16 GB in 1 min need 267 MB/s"
    assert out["storage.staging"].measured_at is not None
    assert out["storage.staging"].evidence[-1] == "r1:node:n1:storage.staging.throughput"


def test_the_derived_need_decides_where_it_is_highest(build: Any, case: Any, storage: Any, delete: object) -> None:
    changes = {
        "brief.max_job_nodes": 1, "storage.checkpoints.write_throughput": delete,
        "storage.checkpoints.tolerated_stall": "10 s",
    }  # fmt: skip
    out = judged(case(build(changes), storage()))["storage.checkpoint_write"]
    assert out.verdict is F
    assert "97.8 GiB (105 GB as declared) in a stall of 10 s need 10,500 MB/s" in out.reason
    assert "tolerated_stall" not in out.reason
    assert out.fix


def test_the_quote_is_a_gate_of_its_own(build: Any, case: Any, storage: Any) -> None:
    quote = {"storage": {"staging": {"throughput": "20 GB/s"}}}
    out = judged(case(build({}, quote), storage()))["storage.staging"]
    assert out.verdict is F
    assert "the quote of acme promises 20 GB/s" in out.reason


def test_the_slowest_node_decides(build: Any, case: Any, storage: Any) -> None:
    seen = [*storage("n1"), *storage("n2", staging__throughput=9_000.0)]
    out = judged(case(build(), seen))["storage.staging"]
    assert out.verdict is F
    assert "9,000 MB/s on n2, the slowest of 2 nodes" in out.reason


def test_the_declared_tolerance_is_honoured_and_told(build: Any, case: Any, storage: Any) -> None:
    tolerant = build({**ONE_NODE, "targets.tolerance": "10 %"})
    out = judged(case(tolerant, storage(staging__throughput=9_000.0)))["storage.staging"]
    assert out.verdict is P
    assert "10% tolerated" in out.reason
    assert judged(case(tolerant, storage(staging__throughput=8_999.0)))["storage.staging"].verdict is F


def test_one_node_of_several_does_not_decide_a_sharded_write(build: Any, case: Any, storage: Any) -> None:
    out = judged(case(build(), storage(checkpoint__write_throughput=3_000.0)))["storage.checkpoint_write"]
    assert out.verdict is U
    assert out.fix == "measure all 2 nodes of a job at once"
    at_once = {"concurrent_nodes": 2}
    seen = [*storage("n1", at_once, checkpoint__write_throughput=3_000.0),
            *storage("n2", at_once, checkpoint__write_throughput=3_000.0)]  # fmt: skip
    assert judged(case(build(), seen))["storage.checkpoint_write"].verdict is P
    slow = [*storage("n1", at_once, checkpoint__write_throughput=2_000.0),
            *storage("n2", at_once, checkpoint__write_throughput=2_000.0)]  # fmt: skip
    assert judged(case(build(), slow))["storage.checkpoint_write"].verdict is F


def test_without_a_bound_a_figure_decides_nothing(build: Any, case: Any, storage: Any, delete: object) -> None:
    changes = {"storage.staging": delete}
    out = judged(case(build(changes), storage()))["storage.staging"]
    assert out.verdict is U
    assert "no bound is declared" in out.reason
    assert "storage.staging.deadline" in out.fix


@pytest.mark.parametrize(
    ("metric", "key"),
    [
        ("checkpoint__restore_verified", "storage.checkpoint_restore"),
        ("checkpoint__crash_consistent", "storage.crash_consistency"),
        ("scratch__clean", "storage.scratch_clean"),
    ],
)
def test_a_broken_promise_of_the_storage_fails(build: Any, case: Any, storage: Any, metric: str, key: str) -> None:
    out = judged(case(build({"brief.max_job_nodes": 1}), [*storage("n1"), *storage("n2", **{metric: False})]))[key]
    assert out.verdict is F
    assert "n2" in out.reason
    assert "n1" not in out.reason


def test_a_crashed_probe_is_unproven_with_its_reason(build: Any, case: Any, observe: Any) -> None:
    crashed = observe("storage.checkpoint.write_throughput", None, state=State.FAILED, reason="no space left")
    out = judged(case(build(), [crashed]))["storage.checkpoint_write"]
    assert out.verdict is U
    assert "no space left" in out.reason


def test_a_stand_in_passes_for_itself_only(build: Any, case: Any, storage: Any, delete: object) -> None:
    changes = {"pools[0].role": "stand-in", "pools[0].hosts": delete, "pools[0].count": 1, "brief.max_job_nodes": 1}
    out = judged(case(build(changes), storage("laptop")))
    assert out["storage.staging"].verdict is P
    assert out["storage.staging"].reason.endswith("on laptop, a stand-in: it holds for that machine only")
    assert out["compute.gpu"].verdict is U
    assert out["compute.homogeneity"].verdict is U


def test_an_object_store_is_judged_when_it_was_read(build: Any, case: Any, storage: Any) -> None:
    assert judged(case(build(), storage()))["storage.object_store"].verdict is U
    read = storage(staging__source="object store")
    assert judged(case(build(), read))["storage.object_store"].verdict is P
    slow = storage(staging__source="object store", staging__throughput=9_000.0)
    assert judged(case(build(), slow))["storage.object_store"].verdict is F


# network


def test_the_catalogue_decides_where_no_target_is_set(build: Any, case: Any, both: Any, allreduce: Any) -> None:
    out = judged(case(build(), [*both, *allreduce()]))["network.allreduce"]
    assert out.verdict is P
    assert "471.2 GB/s are published for 2 × 8 NVIDIA H100 SXM over roce at 16.0 GiB" in out.reason
    assert "10% tolerated" in out.reason
    slow = allreduce([(GIB, 300.0), (16 * GIB, 400.0)])
    assert judged(case(build(), [*both, *slow]))["network.allreduce"].verdict is F


def test_the_target_goes_before_the_catalogue(build: Any, case: Any, both: Any, allreduce: Any) -> None:
    slow = allreduce([(GIB, 300.0), (16 * GIB, 400.0)])
    lenient = build({"targets.all_reduce_busbw": "390 GB/s"})
    out = judged(case(lenient, [*both, *slow]))["network.allreduce"]
    assert out.verdict is P
    assert "the target is 390 GB/s" in out.reason
    assert "471.2 GB/s are published" in out.reason
    strict = build({"targets.all_reduce_busbw": "480 GB/s"})
    assert judged(case(strict, [*both, *allreduce()]))["network.allreduce"].verdict is F


def test_a_figure_holds_at_its_size_and_transport_only(build: Any, case: Any, both: Any, allreduce: Any) -> None:
    small = judged(case(build(), [*both, *allreduce([(2**20, 40.0), (2**26, 250.0)])]))["network.allreduce"]
    assert small.verdict is U
    assert "published at 4.00 GiB, 16.0 GiB; the largest size measured is 64.0 MiB" in small.reason
    unknown = judged(case(build(), [*both, *allreduce(transport="socket")]))["network.allreduce"]
    assert unknown.verdict is U
    assert "no figure for 2 × 8 NVIDIA H100 SXM over socket" in unknown.reason


def test_cpu_ranks_say_nothing_about_a_gpu_fabric(build: Any, case: Any, allreduce: Any) -> None:
    changes = {"targets.all_reduce_busbw": "1 GB/s"}
    run = allreduce(
        [(2**26, 4.42)], transport="shm", subject="node:laptop", conditions={"ranks": 2}, world=2,
        method="allreduce/1 openmpi 5.0.11 ranks=2",
    )  # fmt: skip
    out = judged(case(build(changes), run))
    assert out["network.allreduce"].verdict is U
    assert out["network.allreduce"].reason == (
        "measured 4.42 GB/s over shm with 2 CPU ranks: says nothing about a GPU fabric"
    )
    assert out["network.latency"].verdict is U


def test_wrong_sums_fail_on_any_machine(build: Any, case: Any, allreduce: Any) -> None:
    run = allreduce(transport="shm", subject="node:laptop", wrong=3, method="openmpi")
    out = judged(case(build(), run))["network.allreduce"]
    assert out.verdict is F
    assert "3 elements came out wrong on laptop" in out.reason


def test_a_cliff_fails(build: Any, case: Any, both: Any, allreduce: Any) -> None:
    run = allreduce([(2**25, 29.5), (2**26, 5.3), (16 * GIB, 470.0)])
    out = judged(case(build(), [*both, *run]))["network.allreduce"]
    assert out.verdict is F
    assert out.reason == "a cliff: 29.5 GB/s at 32.0 MiB, 5.3 GB/s at 64.0 MiB"


def test_separate_worlds_and_unchecked_results_are_unproven(build: Any, case: Any, both: Any, allreduce: Any) -> None:
    apart = judged(case(build(), [*both, *allreduce(world=1)]))["network.allreduce"]
    assert apart.verdict is U
    assert "not one world" in apart.reason
    unchecked = [one for one in allreduce() if one.metric != "network.allreduce.wrong"]
    out = judged(case(build(), [*both, *unchecked]))["network.allreduce"]
    assert out.verdict is U
    assert "not checked" in out.reason


def test_slow_nodes_are_named_beside_the_fleet(build: Any, case: Any, healthy_node: Any, allreduce: Any) -> None:
    alone = {"ranks": 8, "device": "gpu"}
    seen = []
    for i in range(1, 6):
        peak = 300.0 if i == 4 else 475.0
        run = allreduce([(8 * GIB, peak)], "nvls", f"node:n{i}", conditions=alone, world=8)
        seen += [*healthy_node(f"n{i}"), *run]
    workspace = build({"pools[0].hosts": "n[1-5]", "pools[0].count": 5, "targets.all_reduce_busbw": "250 GB/s"})
    out = judged(case(workspace, seen))["network.allreduce"]
    assert "below 85% of the fleet's median 475 GB/s: n4" in out.reason


def test_latency_is_held_against_the_brief(build: Any, case: Any, both: Any, allreduce: Any) -> None:
    assert judged(case(build(), [*both, *allreduce(latency=60.0)]))["network.latency"].verdict is P
    assert judged(case(build(), [*both, *allreduce(latency=61.0)]))["network.latency"].verdict is F


@settings(max_examples=60)
@given(st.lists(st.floats(1, 1000), min_size=2, max_size=20))
def test_a_cliff_is_a_fall_below_half_and_nothing_else(values: list[float]) -> None:
    curve = [(2 ** (16 + i), value) for i, value in enumerate(values)]
    falls = sum(1 for a, b in pairwise(values) if b < a / 2)
    assert len(cliffs(curve)) == falls
    assert cliffs([(size >> 12, value) for size, value in curve][:4]) == []


# compute


def test_healthy_nodes_pass(build: Any, case: Any, both: Any) -> None:
    out = judged(case(build(), both))
    assert out["compute.gpu"].verdict is P
    assert out["compute.homogeneity"].verdict is P
    assert out["control.scheduler"].verdict is P


@pytest.mark.parametrize(
    ("metric", "value", "said"),
    [
        ("compute.gpu.ecc_uncorrected", 2, "n2/gpu:3 has 2 uncorrected ECC errors"),
        ("compute.gpu.power_limit", 500, "n2/gpu:3 is limited to 500 W; NVIDIA H100 SXM is made for 700 W"),
        ("compute.gpu.mig", "Enabled", "n2/gpu:3 has MIG enabled; the pool is declared as whole-gpu"),
    ],
)
def test_a_sick_gpu_fails_and_is_named(
    build: Any, case: Any, both: Any, observe: Any, metric: str, value: Any, said: str
) -> None:
    subject = "node:n2/gpu:3"
    seen = [one for one in both if (one.metric, one.subject) != (metric, subject)]
    out = judged(case(build(), [*seen, observe(metric, value, subject)]))["compute.gpu"]
    assert out.verdict is F
    assert said in out.reason


def test_a_counter_that_was_not_read_leaves_it_unproven(build: Any, case: Any, both: Any) -> None:
    seen = [one for one in both if (one.metric, one.subject) != ("compute.gpu.ecc_uncorrected", "node:n1/gpu:7")]
    out = judged(case(build(), seen))["compute.gpu"]
    assert out.verdict is U
    assert "ECC counters of n1 not read" in out.reason


def test_a_missing_node_leaves_it_unproven(build: Any, case: Any, healthy_node: Any) -> None:
    out = judged(case(build(), healthy_node("n1")))
    assert out["compute.gpu"].verdict is U
    assert out["compute.homogeneity"].verdict is U


@pytest.mark.parametrize(
    ("metric", "value"), [("compute.gpu.driver", "570.10"), ("compute.cpu.cores", 96), ("compute.memory.total", 1e12)]
)
def test_a_node_that_differs_is_named(
    build: Any, case: Any, both: Any, healthy_node: Any, observe: Any, metric: str, value: Any
) -> None:
    seen = [*both, *(one for one in healthy_node("n3") if one.metric != metric), observe(metric, value, "node:n3")]
    workspace = build({"pools[0].hosts": "n[1-3]", "pools[0].count": 3})
    out = judged(case(workspace, seen))["compute.homogeneity"]
    assert out.verdict is F
    assert out.reason.startswith(f"n3 has {metric}")


def test_memory_that_differs_by_a_few_pages_is_alike(build: Any, case: Any, both: Any, observe: Any) -> None:
    seen = [one for one in both if (one.metric, one.subject) != ("compute.memory.total", "node:n2")]
    seen.append(observe("compute.memory.total", 1.97e12 + 4096, "node:n2"))
    assert judged(case(build(), seen))["compute.homogeneity"].verdict is P


# control


def test_a_scheduler_is_found_in_the_declared_version(build: Any, case: Any, both: Any, observe: Any) -> None:
    def changed(metric: str, value: Any) -> Judgement:
        rest = [one for one in both if one.metric != metric]
        seen = [*rest, observe(metric, value, "node:n1"), observe(metric, value, "node:n2")]
        return judged(case(build(), seen))["control.scheduler"]

    assert changed("control.slurm.version", "24.05.3").verdict is F
    silent = changed("control.scheduler.kind", ["kubernetes"])
    assert silent.verdict is U
    assert "slurm declared; n1, n2 had no answer" in silent.reason
    assert changed("control.scheduler.kind", ["kubernetes", "slurm"]).verdict is P


def test_a_stand_in_without_the_scheduler_fails_nothing(build: Any, case: Any, observe: Any, delete: object) -> None:
    changes = {"pools[0].role": "stand-in", "pools[0].hosts": delete}
    seen = [observe("control.scheduler.kind", ["kubernetes"], "node:laptop")]
    out = judged(case(build(changes), seen))["control.scheduler"]
    assert out.verdict is U
    assert "laptop only stands in" in out.reason


def test_the_newest_measurement_dates_the_judgement(build: Any, case: Any, storage: Any, observe: Any) -> None:
    later = observe("storage.staging.throughput", 11_000.0)
    later = Observation(**{**{f: getattr(later, f) for f in later.__slots__}, "at": later.at + timedelta(hours=1)})
    out = judged(case(build(), [*storage("n2"), later]))["storage.staging"]
    assert out.measured_at == later.at


@pytest.mark.parametrize("first_broken", [True, False])
def test_scratch_of_a_crashed_part_is_not_clean_because_another_part_was(
    build: Any, case: Any, observe: Any, first_broken: bool
) -> None:
    clean = observe("storage.scratch.clean", True)
    fields = {f: getattr(clean, f) for f in clean.__slots__}
    broken = Observation(
        **{**fields, "method": "other part", "value": None, "state": State.FAILED, "reason": "killed",
           "at": clean.at + timedelta(minutes=-1 if first_broken else 1)}
    )  # fmt: skip
    out = judged(case(build(), [clean, broken]))["storage.scratch_clean"]
    assert out.verdict is U
    assert "killed" in out.reason
    later = Observation(**{**fields, "run": "next", "at": clean.at + timedelta(hours=1)})
    assert judged(case(build(), [clean, broken, later]))["storage.scratch_clean"].verdict is P


@pytest.mark.parametrize("key", ["storage.staging", "storage.weights_load"])
def test_one_node_of_two_proves_nothing_of_the_other(build: Any, case: Any, storage: Any, key: str) -> None:
    out = judged(case(build({"brief.max_job_nodes": 1}), storage()))[key]
    assert out.verdict is U
    assert "not looked at: 1 declared node;" in out.reason
    both = judged(case(build({"brief.max_job_nodes": 1}), [*storage(), *storage("n2")]))[key]
    assert both.verdict is P


def test_a_machine_that_no_pool_names_proves_nothing_of_the_pool(build: Any, case: Any, storage: Any) -> None:
    out = judged(case(build({"brief.max_job_nodes": 1}), storage("stranger")))["storage.staging"]
    assert out.verdict is U
    assert "not looked at: 2 declared nodes;" in out.reason


def test_a_synthetic_dataset_does_not_stand_for_the_declared_source(build: Any, case: Any, storage: Any) -> None:
    seen = storage(staging__source="synthetic directory")
    out = judged(case(build(ONE_NODE), seen))["storage.staging"]
    assert out.verdict is U
    assert "the declared source is object store" in out.reason
    assert "--dataset" in out.fix


def test_a_count_that_failed_is_no_gpu_whatever_models_were_named(
    build: Any, case: Any, both: Any, observe: Any
) -> None:
    def doubted(one: Observation) -> Observation:
        if one.metric != "compute.gpu.count":
            return one
        fields = {f: getattr(one, f) for f in one.__slots__}
        return Observation(**{**fields, "value": None, "state": State.FAILED, "reason": "not on the bus"})

    assert judged(case(build(), both))["compute.gpu"].verdict is P
    assert judged(case(build(), [doubted(one) for one in both]))["compute.gpu"].verdict is U
