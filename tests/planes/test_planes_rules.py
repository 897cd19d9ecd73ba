"""Every rule fires on a design that has its fault, and not on its near miss."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from fourplane.base.codes import find
from fourplane.base.findings import Level
from fourplane.planes.registry import all_rules, rule
from fourplane.planes.rules import check

D = "DELETE"
"""Stands for a key that is taken out."""

S = "pools[0].shape"
F = "network.fabric"
STAND_IN = {"pools[0].role": "stand-in", "pools[0].shape.gpu": D}
ONE_NODE = {"brief.scale": "one-node", "brief.max_job_nodes": 1}
SMALL = {f"{S}.gpu.count": 1, f"{S}.nics": [{"count": 1, "speed": "400 Gb/s"}], f"{F}.rails": 1, "pools[0].hosts": D}
SERVING = {"brief.workload": "online-inference", "brief.scale": "one-node", "brief.max_job_nodes": 1}
K8S = {"control.slurm": D, "control.queues": [], "control.kubernetes": {"version": "1.34", "queueing": "kueue"}}
TUNING = {"brief.workload": "fine-tuning", "brief.scale": "one-node", "brief.max_job_nodes": 1}
L40S = {f"{S}.gpu.model": "L40S", f"{S}.gpu.form_factor": "pcie", f"{S}.gpu.memory": "48 GB"}
B200 = {f"{S}.gpu.model": "B200", f"{S}.gpu.memory": "180 GB", "brief.target_gpus": ["B200"], f"{S}.power": "14 kW"}
ONE_TEAM = {"teams": [{"name": "a", "owner": "x", "cost_label": "a", "quotas": {"train": 8}}]}
LIFE = "pools[0].lifecycle"
BIG_MODEL = {"brief.model.parameters_billion": 70, "storage.checkpoints.size": "912 GB"}
QUOTA = "teams[0].quotas.train"

# code: (changes that fire it, changes that nearly do)
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # compute
    "gpu-model-ambiguous": ({f"{S}.gpu.form_factor": D}, {f"{S}.gpu.form_factor": D, f"{S}.gpu.model": "B200"}),
    "gpu-form-factor-unknown": (
        {f"{S}.gpu.model": "L40S", f"{S}.gpu.form_factor": "sxm"},
        {f"{S}.gpu.model": "L40S", f"{S}.gpu.form_factor": "pcie"},
    ),
    "gpu-memory-differs": ({f"{S}.gpu.memory": "141 GB"}, {f"{S}.gpu.memory": "80 GiB"}),
    "gpu-memory-too-small": (BIG_MODEL | {"brief.max_job_nodes": 1}, {"brief.model.parameters_billion": 79}),
    "precision-unsupported": (
        {"brief.model.precision": "fp8", f"{S}.gpu.model": "A100-SXM4-80GB"},
        {"brief.model.precision": "fp8"},
    ),
    "host-memory-below-gpu-memory": ({f"{S}.memory": "512 GB"}, {f"{S}.memory": "640 GB"}),
    "cpu-cores-too-few": ({f"{S}.cpu.cores": 51}, {f"{S}.cpu.cores": 52}),
    "nvme-too-small": ({f"{S}.nvme.total": "9 TB"}, {f"{S}.nvme.total": "10 TB"}),
    "node-power-too-low": ({f"{S}.power": "5.5 kW"}, {f"{S}.power": "5.6 kW"}),
    "job-larger-than-pool": ({"brief.max_job_nodes": 3}, {"brief.max_job_nodes": 2}),
    "target-gpu-absent": ({"brief.target_gpus": ["B200"]}, {"brief.target_gpus": ["B200", "h100-sxm"]}),
    "stand-in-proves-no-gpu": (STAND_IN, STAND_IN | {"brief.target_gpus": []}),
    "lifecycle-owner-missing": ({"pools[0].lifecycle.cuda.owner": D}, {"pools[0].lifecycle.cuda.upgrade_window": "x"}),
    "end-of-support": (
        {"pools[0].lifecycle.driver.end_of_support": date(2027, 2, 28)},
        {"pools[0].lifecycle.driver.end_of_support": date(2027, 3, 1)},
    ),
    "recovery-out-of-reach": ({"pools[0].replacement.spares": 0}, {"pools[0].replacement": {"time": "10 min"}}),
    "driver-too-old-for-cuda": (
        {f"{LIFE}.driver.version": "575.57"},
        {f"{LIFE}.driver.version": "575.57", f"{LIFE}.cuda.version": "12.9"},
    ),
    "cuda-too-old-for-gpu": (B200 | {f"{LIFE}.cuda.version": "12.6"}, B200 | {f"{LIFE}.cuda.version": "12.8"}),
    "nccl-too-old-for-gpu": (B200 | {f"{LIFE}.nccl.version": "2.24.3"}, B200 | {f"{LIFE}.nccl.version": "2.25.1"}),
    "framework-too-old-for-gpu": (
        B200 | {"brief.frameworks": ["PyTorch 2.6"]},
        B200 | {"brief.frameworks": ["PyTorch 2.10", "JAX 0.2"]},
    ),
    "mig-driver-too-old": (
        B200 | {"pools[0].sharing": "mig", f"{LIFE}.driver.version": "565.57"},
        B200 | {"pools[0].sharing": "whole-gpu", f"{LIFE}.driver.version": "565.57"},
    ),
    "nccl-version-undefined": ({f"{LIFE}.nccl": D}, {f"{LIFE}.nccl": D} | ONE_NODE),
    "rollback-undefined": ({f"{LIFE}.driver.rollback": D}, {f"{LIFE}.driver": {"owner": "provider"}}),
    "replacement-undefined": ({"pools[0].replacement": D}, {"pools[0].replacement": {"spares": 1}}),
    "interconnect-contradicts-board": (
        {f"{S}.gpu.interconnect": "pcie"},
        {f"{S}.gpu.interconnect": "nvswitch"},
    ),
    "homogeneity-contradiction": (
        {"pools[0].homogeneous": True, "pools[0].nodes": [{"name": "n2", "shape": {"memory": "3 TB"}}]},
        {"pools[0].homogeneous": True, "pools[0].nodes": [{"name": "n2", "shape": {"power": "10.4 kW"}}]},
    ),
    "node-shape-below-brief": (
        {"brief.node_shape": {"cpu_cores": 128}},
        {"brief.node_shape": {"cpu_cores": 104, "memory": "2 TiB", "gpu_memory": "80 GiB", "nics": 8, "gpus": 8}},
    ),
    "no-link-between-gpus": (
        SERVING | L40S | {"brief.model.parameters_billion": 70},
        SERVING | L40S | {"brief.model.parameters_billion": 8},
    ),
    "gpus-split-unevenly": ({f"{S}.cpu.numa_nodes": 3}, {f"{S}.cpu.numa_nodes": 4}),
    # network
    "rail-mapping-undefined": ({f"{F}.rail_mapping": D}, {f"{F}.rail_mapping": D} | ONE_NODE),
    "failure-domain-undefined": ({f"{F}.failure_domains": []}, {f"{F}.failure_domains": []} | ONE_NODE),
    "fabric-without-owner": ({f"{F}.owner": D}, {f"{F}.owner": D, f"{F}.kind": "none"} | ONE_NODE),
    "fabric-unobserved": ({f"{F}.visibility": ["errors"]}, {f"{F}.visibility": ["errors"]} | ONE_NODE),
    "border-without-owner": ({"network.borders[0].owner": D}, {"network.borders[0].technology": "SSH"}),
    "nic-rate-below-published": (
        {f"{S}.nics[0].speed": "199 Gb/s"},
        {f"{S}.nics[0].speed": "200 Gb/s"},
    ),
    "allreduce-target-implausible": (
        {"targets.all_reduce_busbw": "488 GB/s"},
        {"targets.all_reduce_busbw": "487 GB/s"},
    ),
    "placement-wish-unanswered": (
        ONE_NODE | {"brief.network.placement_group": True, f"{F}.placement": D},
        ONE_NODE | {"brief.network.placement_group": True},
    ),
    "fabric-missing-for-nodes": ({f"{F}.kind": "none"}, {f"{F}.kind": "none"} | ONE_NODE),
    "synchronous-over-ethernet": ({f"{F}.kind": "ethernet"}, {f"{F}.kind": "ethernet"} | ONE_NODE),
    "synchronous-without-gpudirect": ({f"{F}.gpudirect_rdma": False}, {f"{F}.gpudirect_rdma": False} | ONE_NODE),
    "gpudirect-contradiction": ({f"{S}.nics[0].gpu_direct": False}, {f"{S}.nics[0].gpu_direct": D}),
    "synchronous-oversubscribed": ({f"{F}.oversubscription": "2:1"}, {f"{F}.oversubscription": "2:1"} | ONE_NODE),
    "placement-not-guaranteed": ({f"{F}.placement": D}, {f"{F}.placement": D} | ONE_NODE),
    "rails-differ-from-nics": ({f"{F}.rails": 4}, {f"{S}.nics[1].count": 4}),
    "nics-shared-unevenly": (
        {f"{S}.nics[0].count": 3, f"{F}.rails": 3},
        {f"{S}.nics[0].count": 4, f"{F}.rails": 4},
    ),
    "nic-kind-differs": ({f"{F}.kind": "efa"}, {f"{F}.kind": "roce", f"{S}.nics[0].kind": "ethernet"}),
    "sharp-without-infiniband": ({f"{F}.sharp": True, f"{F}.kind": "roce"}, {f"{F}.sharp": True}),
    "overlay-under-rdma": ({f"{F}.container_network": "overlay"}, {f"{F}.container_network": "sr-iov"}),
    "small-nodes-for-synchronous": (
        SMALL | {"pools[0].count": 8, "brief.max_job_nodes": 8},
        SMALL | {"pools[0].count": 7, "brief.max_job_nodes": 7},
    ),
    "inter-node-price": ({}, ONE_NODE),
    # storage
    "checkpoint-stall-too-long": (
        {"storage.checkpoints.write_throughput": "1.7 GB/s"},
        {"storage.checkpoints.write_throughput": "1.75 GB/s"},
    ),
    "checkpoint-size-implausible": ({"storage.checkpoints.size": "16 GB"}, {"storage.checkpoints.size": "96 GB"}),
    "checkpoint-interval-too-short": (
        {"storage.checkpoints.interval": "20 s"},
        {"storage.checkpoints.interval": "22 s"},
    ),
    "restore-too-slow": (
        {"storage.checkpoints.restore_time": "20 min"},
        {"storage.checkpoints.restore_time": "15 min"},
    ),
    "staging-misses-deadline": ({"storage.staging.deadline": "16 min"}, {"storage.staging.deadline": "17 min"}),
    "weights-load-too-slow": ({"storage.weights.load_time": "1 s"}, {"storage.weights.load_time": "2 s"}),
    "gds-decision-without-figure": ({"storage.gds.figure": D}, {"storage.gds": D}),
    "backup-in-same-place": ({"storage.backup.place": "shared"}, {"storage.backup.place": "shared elsewhere"}),
    "shared-scratch-without-cleanup": (
        {"storage.cleanup": D},
        {"storage.cleanup": D, "teams": [{"name": "a", "quotas": {"train": 8}}]},
    ),
    "storage-eats-utilisation": (
        {"storage.checkpoints.interval": "2 min", "storage.checkpoints.write_throughput": "1.75 GB/s"},
        {"storage.checkpoints.interval": "3 min", "storage.checkpoints.write_throughput": "1.75 GB/s"},
    ),
    "binding-plane": ({}, ONE_NODE),
    "training-without-checkpoints": ({"storage.checkpoints": D}, {"storage.checkpoints": D} | SERVING),
    "checkpoint-on-local-disk": (
        {"storage.filesystems[0].kind": "xfs on local NVMe"},
        {"storage.filesystems[0].kind": "lustre"},
    ),
    "checkpoint-interval-costly": (
        {"storage.checkpoints.interval": "5 min", "storage.checkpoints.write_throughput": "5.5 GB/s"},
        {"storage.checkpoints.interval": "10 min", "storage.checkpoints.write_throughput": "5.5 GB/s"},
    ),
    "weights-size-implausible": ({"storage.weights.size": "7 GB"}, {"storage.weights.size": "8 GB"}),
    "weights-cache-incomplete": (
        SERVING | {"storage.weights.covers": ["base weights", "tokenizer"]},
        SERVING | {"storage.weights.covers": ["base weights", "tokenizer", "compiled engine"]},
    ),
    "output-incomplete": ({"storage.outputs[0].retention": D}, {"storage.outputs[0].write_rate": "1 GB/s"}),
    "backup-undefined": ({"storage.backup": D}, {"storage.backup": D, "brief.why_cluster": []} | SERVING),
    "object-store-region-differs": (
        {"storage.object_stores[0].region": "us-east"},
        {"storage.object_stores[0].region": "EU-North"},
    ),
    # control
    "scheduler-fit": ({}, {"control.slurm": D, "control.queues": [], "teams": []}),
    "scheduler-against-criteria": (
        SERVING | {"brief.frameworks": ["vLLM"], "brief.why_cluster": ["private-serving"]},
        SERVING | {"brief.frameworks": ["vLLM"], "brief.why_cluster": ["private-serving", "long-training"]},
    ),
    "scheduler-choice-without-reason": ({"control.reason": D}, {"control.reason": D, "control.slurm": D}),
    "slurm-without-accounting": (
        {"control.slurm.accounting": False},
        {"control.slurm.accounting": False, "teams": [{"name": "a"}]},
    ),
    "slurm-reconfigure-unsafe": ({"control.slurm.version": "23.02.7"}, {"control.slurm.version": "23.11.0"}),
    "kubernetes-gpu-stack-undefined": (K8S, K8S | {"control.kubernetes.gpu_stack": "gpu-operator"}),
    "dra-needs-newer-kubernetes": (
        K8S | {"control.kubernetes": {"version": "1.33", "gpu_stack": "dra"}},
        K8S | {"control.kubernetes": {"version": "1.34.2", "gpu_stack": "dra"}},
    ),
    "kueue-dra-limits": (
        K8S | {"control.kubernetes": {"version": "1.35", "gpu_stack": "dra", "queueing": "kueue"}},
        K8S | {"control.kubernetes": {"version": "1.35", "gpu_stack": "dra", "queueing": "volcano"}},
    ),
    "ownership-hole": ({"brief.ownership.incidents": D}, {"brief.ownership.incidents": "whoever is awake"}),
    "policy-owner-missing": ({"control.owners.retries": D}, {"control.owners": D, "control.slurm": D}),
    "runbook-incomplete": ({"control.runbooks[0].escalation": D}, {"control.runbooks[0].owner": D}),
    "team-without-label": ({"teams[1].cost_label": D}, {"teams[1].project": "p"}),
    "telemetry-hole": ({"telemetry.cost": D}, {"telemetry.fabric": D, f"{F}.kind": "none"} | ONE_NODE),
    "retry-without-causes": (
        {"control.queues[0].retry.causes": []},
        {"control.queues[0].retry.causes": [], "control.queues[0].retry.count": 0},
    ),
    "queue-without-wall-limit": (
        {"control.queues[0].max_wall": D},
        K8S | {"control.queues": [{"name": "q", "scheduler": "kubernetes", "retry": {"count": 0}}]},
    ),
    "wall-limit-below-checkpoint": ({"control.queues[0].max_wall": "59 min"}, {"control.queues[0].max_wall": "60 min"}),
    "team-shares-exceed-whole": (
        {"teams[0].share": "60 %", "teams[1].share": "41 %"},
        {"teams[0].share": "60 %", "teams[1].share": "40 %"},
    ),
    "price-below-market": ({"prices.gpu_hour": 1.67}, {"prices.gpu_hour": 1.68}),
    "scheduler-is-a-launcher": ({"telemetry": {}}, {"telemetry": {"labels": ["team"]}}),
    "scheduler-missing": ({"control.slurm": D}, {"control.slurm": D, "teams": [{"name": "a"}]}),
    "quota-exceeds-pool": ({QUOTA: 9}, {QUOTA: 9, "teams[0].share": "50 %", "teams[1].share": "50 %"}),
    "queue-without-retry": ({"control.queues[0].retry": D}, {"control.queues[0].retry": {"count": 0}}),
    "failure-without-runbook": ({"control.runbooks[6]": D}, {"control.runbooks[6].owner": "other"}),
    "two-schedulers-without-design": (
        {"control.kubernetes": {"version": "1.34", "queueing": "kueue"}},
        {
            "control.kubernetes": {"version": "1.34", "queueing": "kueue"},
            "security.identity": {"choice": "sso", "owner": "it"},
            "telemetry.labels": ["team"],
        },
    ),
    "kubernetes-without-queueing": (
        {"control.slurm": D, "control.queues": [], "control.kubernetes": {"version": "1.34"}},
        {"control.slurm": D, "control.queues": [], "control.kubernetes": {"queueing": "kueue"}},
    ),
    "why-cluster-none": ({"brief.why_cluster": ["none"]}, {"brief.why_cluster": []}),
    "commitment-before-evidence": (
        {"prices.commitment": "3 years"},
        {"prices.commitment": "3 years", "/evidence/HEAD": "x"},
    ),
    # security
    "gpu-shared-across-teams": (
        {"pools[0].sharing": "time-slicing"},
        {"pools[0].sharing": "mig", "pools[0].mig_profile": "1g.10gb"},
    ),
    "teams-without-isolation": (
        {"security.isolation": D},
        {"security.isolation": D, "teams": [{"name": "a", "quotas": {"train": 8}}]},
    ),
    "security-decision-missing": (
        {"security.break_glass": D},
        {"security.isolation": D},
    ),
    "mig-unsupported": (
        L40S | {"pools[0].sharing": "mig"} | ONE_NODE,
        {"pools[0].sharing": "mig"} | ONE_NODE,
    ),
    "mig-without-profile": (
        {"pools[0].sharing": "mig"},
        {"pools[0].sharing": "mig", "pools[0].mig_profile": "1g.10gb"},
    ),
    "sharing-under-synchronous": (
        {"pools[0].sharing": "mig", "pools[0].mig_profile": "1g.10gb"},
        {"pools[0].sharing": "mig", "pools[0].mig_profile": "1g.10gb", "pools[0].role": "inference"},
    ),
    "cleanup-decided-not-built": (
        ONE_TEAM | {"storage.cleanup": D},
        ONE_TEAM | {"storage.cleanup": D, "storage.scratch": D},
    ),
    "sharing-undefined": ({"pools[0].sharing": D}, {"pools[0].sharing": D} | ONE_TEAM),
    "decision-without-owner": ({"security.isolation.owner": D}, {"security.isolation.document": "wiki"}),
}  # fmt: skip


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

    assert [f.code for f in check(build({}, {}), Catalog(), today)] == []
