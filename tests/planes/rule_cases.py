"""For each rule a design that has its fault, and a near miss; and designs that take other ways through the rules."""

from __future__ import annotations

from datetime import date
from typing import Any

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
        {"control.kubernetes": {"version": "1.34", "queueing": "kueue"}, "security.identity": D},
        {"control.kubernetes": {"version": "1.34", "queueing": "kueue"}},
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

BRIEF_ONLY = {"storage.staging.dataset_size": D, "storage.weights.size": D, "storage.checkpoints.interval": D}
"""Sizes and intervals that only the brief states."""
DERIVED = {"storage.checkpoints.size": D}
PLACED = {"storage.checkpoints.write_throughput": D}
"""The rate is that of the file system which holds the checkpoints."""

SECTIONS = ("brief", "pools", "network", "storage", "control", "teams", "security", "telemetry", "prices")

# name: changes; every finding of each is kept word for word
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "one node": ONE_NODE,
    "serving": SERVING,
    "fine-tuning": TUNING,
    "no pools": {"pools": [], "control.queues": [], "teams": [], "brief.target_gpus": []},
    "nothing but a name": dict.fromkeys(SECTIONS, D),
    "a pool and nothing else": dict.fromkeys((key for key in SECTIONS if key != "pools"), D),
    "no brief": {"brief": D},
    # memory of GPUs and nodes
    "memory at the lower bound": {f"{S}.gpu.memory": "72 GB"},
    "memory below the lower bound": {f"{S}.gpu.memory": "71.9 GB"},
    "memory at the upper bound": {f"{S}.gpu.memory": "94.4 GB"},
    "memory above the upper bound": {f"{S}.gpu.memory": "94.6 GB"},
    "memory not stated": {f"{S}.gpu.memory": D, f"{S}.memory": "639 GB"},
    "memory not stated, host at nominal": {f"{S}.gpu.memory": D, f"{S}.memory": "640 GB"},
    "state exactly fits": {"brief.model.parameters_billion": 80, "storage.checkpoints.size": "1 TB"},
    "state just too large": {"brief.model.parameters_billion": 80.1, "storage.checkpoints.size": "1 TB"},
    "weights exactly fit": SERVING | {"brief.model.parameters_billion": 320, "storage.weights.size": "640 GB"},
    "weights too large": SERVING | {"brief.model.parameters_billion": 321, "storage.weights.size": "640 GB"},
    "weights in fp8 fit": SERVING | {"brief.model.parameters_billion": 640, "brief.model.precision": "FP8"},
    "weights in a precision unknown": SERVING | {
        "brief.model.parameters_billion": 321, "brief.model.precision": "posit"
    },
    "precision not stated": SERVING | {"brief.model.parameters_billion": 321, "brief.model.precision": D},
    "tuning state too large": TUNING | {"brief.model.parameters_billion": 41, "storage.checkpoints.size": "1 TB"},
    "no model": {"brief.model": D},
    # boards
    "a family without form factor": {f"{S}.gpu.form_factor": D},
    "an unknown board": {f"{S}.gpu.model": "H9000", "brief.target_gpus": ["H9000"]},
    "a board by another name": {f"{S}.gpu.model": "NVIDIA H100 80GB HBM3", "brief.target_gpus": ["h100-sxm"]},
    "an unknown target": {"brief.target_gpus": ["H9000"]},
    "fp8 on a100": {"brief.model.precision": "fp8", f"{S}.gpu.model": "A100-SXM4-80GB", "brief.target_gpus": ["A100"]},
    "a board whose nodes nobody published, too few cores": {
        f"{S}.gpu.model": "MI325X", f"{S}.gpu.form_factor": "oam", f"{S}.gpu.memory": "256 GB", f"{S}.power": "10 kW",
        f"{S}.cpu.cores": 31, "brief.target_gpus": ["MI325X"], f"{S}.memory": "3 TB",
    },
    "a board whose nodes nobody published, enough cores": {
        f"{S}.gpu.model": "MI325X", f"{S}.gpu.form_factor": "oam", f"{S}.gpu.memory": "256 GB", f"{S}.power": "8 kW",
        f"{S}.cpu.cores": 32, "brief.target_gpus": ["MI325X"], f"{S}.memory": "3 TB",
    },
    "two boards in one pool": {
        "pools[0].nodes": [{"name": "n2", "shape": {"gpu": {"model": "H200", "memory": "141 GB"}}}],
        "targets.all_reduce_busbw": "900 GB/s",
    },
    "l40s for a large model, interconnect said": SERVING | L40S | {
        "brief.model.parameters_billion": 30, f"{S}.gpu.interconnect": "pcie",
    },
    "l40s with one gpu": SERVING | L40S | {"brief.model.parameters_billion": 30, f"{S}.gpu.count": 1},
    "training on l40s": L40S | {"brief.model.parameters_billion": 4, "storage.checkpoints.size": "60 GB"},
    "weights exactly fit one l40s": SERVING | L40S | {
        "brief.model.parameters_billion": 24, "storage.weights.size": "48 GB"
    },
    "pcie cards on switches": SERVING | L40S | {f"{S}.gpu.interconnect": "NVSwitch"},
    "pcie cards with a bridge": SERVING | L40S | {f"{S}.gpu.interconnect": "nvlink"},
    "oam boards over pcie": {
        f"{S}.gpu": {"model": "MI300X", "count": 8, "memory": "192 GB", "interconnect": "pcie"},
        "brief.target_gpus": ["MI300X"], f"{S}.memory": "3 TB",
    },
    # cores, nvme, power
    "no local nvme": {f"{S}.nvme": {"devices": 0}},
    "nvme against the brief's dataset": BRIEF_ONLY | {f"{S}.nvme.total": "9 TB"},
    "nvme not stated": {f"{S}.nvme": D},
    "streaming from afar": {"storage.staging": D, f"{S}.nvme.total": "1 TB"},
    "power not stated": {f"{S}.power": D},
    "the brief asks for more of everything": {
        "brief.node_shape": {
            "gpus": 9, "gpu_memory": "90 GB", "cpu_cores": 116, "memory": "2.3 TB", "nvme": "34 TB", "nics": 9,
            "power": "11.4 kW",
        }
    },
    "the brief asks for a tenth more": {
        "brief.node_shape": {
            "gpus": 8, "gpu_memory": "88 GB", "cpu_cores": 115, "memory": "2.2 TB", "nvme": "33 TB", "nics": 8,
            "power": "11.3 kW",
        }
    },
    "the brief asks for what nobody stated": {"brief.node_shape": {"nvme": "1 TB"}, f"{S}.nvme": D},
    "one of two pools answers the brief": {
        "brief.node_shape": {"cpu_cores": 128},
        "pools[1]": {
            "name": "wide", "count": 1, "sharing": "whole-gpu", "shape": {"gpu": {"model": "B200", "count": 8},
            "cpu": {"cores": 128}},
        },
    },
    "numa nodes divide": {f"{S}.cpu.numa_nodes": 2},
    "more numa nodes than gpus": {f"{S}.cpu.numa_nodes": 16},
    "numa nodes do not divide": {f"{S}.cpu.numa_nodes": 12},
    "one gpu on two numa nodes": SMALL | {f"{S}.cpu.numa_nodes": 2},
    "a homogeneous pool that differs in all": {
        "pools[0].homogeneous": True,
        "pools[0].nodes": [
            {"name": "n2", "shape": {
                "gpu": {"model": "H200", "count": 4, "memory": "141 GB"}, "cpu": {"cores": 96}, "memory": "1 TB",
                "nics": [{"count": 4, "speed": "400 Gb/s"}],
            }}
        ],
    },
    "a pool that does not claim to be alike": {
        "pools[0].nodes": [{"name": "n2", "shape": {"memory": "3 TB"}}]
    },
    # life cycle
    "no life cycle": {LIFE: D},
    "no driver": {f"{LIFE}.driver": D},
    "support ended": {f"{LIFE}.os_image.end_of_support": date(2026, 11, 30)},
    "support ends today": {f"{LIFE}.os_image.end_of_support": date(2026, 12, 1)},
    "support ends in ninety days": {f"{LIFE}.os_image.end_of_support": date(2027, 3, 1)},
    "support ends in eighty-nine": {f"{LIFE}.os_image": {"end_of_support": date(2027, 2, 28), "owner": "x"}},
    "driver of the least branch": {f"{LIFE}.driver.version": "580"},
    "cuda unknown": {f"{LIFE}.cuda.version": "9.2"},
    "cuda 11 on an old driver": {f"{LIFE}.cuda.version": "11.8", f"{LIFE}.driver.version": "440.1"},
    "only cuda has a release": {f"{LIFE}.nccl": D, f"{LIFE}.driver.version": D},
    "nothing has a release": {f"{LIFE}.nccl": D, f"{LIFE}.driver.version": D, f"{LIFE}.cuda.version": D},
    "os image without a way back": {f"{LIFE}.os_image.rollback": D},
    "neither has a way back": {f"{LIFE}.os_image.rollback": D, f"{LIFE}.driver.rollback": D},
    "old releases for b200": B200 | {
        f"{LIFE}.driver.version": "560.35", f"{LIFE}.cuda.version": "12.4", f"{LIFE}.nccl.version": "2.21",
        "brief.frameworks": ["vLLM", "pytorch v2.4"], "pools[0].sharing": "mig", "pools[0].mig_profile": "1g.23gb",
    },
    "mig on a new driver": {"pools[0].sharing": "mig", f"{LIFE}.driver.version": "525"} | ONE_NODE,
    "no spares and no time": {"pools[0].replacement": {"owner": "x"}},
    "no spares, a time": {"pools[0].replacement": {"time": "4 h", "spares": 0}},
    "recovery by the targets": {"pools[0].replacement.spares": 0, "targets.recovery_time": "5 h"},
    "recovery of a job smaller than its pool": {"pools[0].replacement.spares": 0, "brief.max_job_nodes": 1},
    "recovery as fast as a replacement": {"pools[0].replacement": {"time": "15 min"}},
    "no recovery target": {"pools[0].replacement.spares": 0, "brief.storage": D},
    # network
    "no network": {"network": D},
    "fabric none for many nodes": {f"{F}.kind": "none", "brief.scale": "batch-queue"},
    "fabric none for one": {f"{F}.kind": "none"} | ONE_NODE,
    "ethernet": {f"{F}.kind": "ethernet", f"{S}.nics[0].kind": "ethernet"},
    "efa": {f"{F}.kind": "efa", f"{S}.nics[0].kind": "efa"},
    "roce on infiniband ports": {f"{F}.kind": "roce"},
    "a port of another kind beside a fitting one": {
        f"{S}.nics": [{"count": 4, "speed": "400 Gb/s", "kind": "infiniband"}, {"count": 4, "speed": "400 Gb/s",
                      "kind": "ethernet"}],
    },
    "sharp on infiniband": {f"{F}.sharp": True},
    "no rails": {f"{F}.rails": D},
    "one rail": {f"{F}.rails": 1, f"{S}.nics[0].count": 1, f"{F}.rail_mapping": D},
    "more rails than nics": {f"{F}.rails": 9},
    "fewer rails than nics": {f"{F}.rails": 7},
    "nics without a count": {f"{S}.nics": [{"speed": "400 Gb/s"}], f"{F}.rails": D},
    "half of the direct nics": {
        f"{S}.nics": [{"count": 4, "speed": "400 Gb/s", "gpu_direct": True}, {"count": 4, "speed": "400 Gb/s",
                      "gpu_direct": False}],
    },
    "sixteen nics": {f"{S}.nics[0]": {"count": 16, "speed": "200 Gb/s"}, f"{F}.rails": 16},
    "twelve nics": {f"{S}.nics[0]": {"count": 12, "speed": "400 Gb/s"}, f"{F}.rails": 12},
    "five nics on one node": ONE_NODE | {f"{S}.nics[0]": {"count": 5, "speed": "400 Gb/s"}, f"{F}.rails": 5},
    "eight nodes of one gpu": SMALL | {"pools[0].count": 8, "brief.max_job_nodes": 8},
    "two nodes of four": {f"{S}.gpu.count": 4, f"{S}.nics[0].count": 4, f"{F}.rails": 4},
    "three nodes of three": {
        f"{S}.gpu.count": 3, f"{S}.nics[0].count": 3, f"{F}.rails": 3, "pools[0].count": 3, "pools[0].hosts": D,
        "brief.max_job_nodes": 3,
    },
    "eight small nodes with unknown links": SMALL | {
        "pools[0].count": 8, "brief.max_job_nodes": 8, f"{S}.gpu.model": "H9000", "brief.target_gpus": ["H9000"],
    },
    "nothing on visibility": {f"{F}.visibility": []},
    "only congestion": {f"{F}.visibility": ["congestion", "retransmits"]},
    "a target for one node": ONE_NODE | {"targets.all_reduce_busbw": "479 GB/s"},
    "a target that one node reached": ONE_NODE | {"targets.all_reduce_busbw": "478.9 GB/s"},
    "a target for a board nobody measured": L40S | {"targets.all_reduce_busbw": "900 GB/s"},
    "a wish for placement": ONE_NODE | {"brief.network.placement_group": True, f"{F}.placement": D},
    # storage
    "sizes by the brief": BRIEF_ONLY | {"storage.staging.deadline": "10 min", "storage.weights.load_time": "1 s"},
    "stall at the bound": {"storage.checkpoints.write_throughput": "1.75 GB/s"},
    "no stall allowed": {"storage.checkpoints.tolerated_stall": "0 s"},
    "size derived": DERIVED | {"storage.checkpoints.write_throughput": "1 GB/s"},
    "rate of the file system": PLACED | {"storage.filesystems[0].write": "1 GB/s"},
    "rate of the mount": PLACED
    | {"storage.filesystems[0].write": "1 GB/s", "storage.checkpoints.place": "/shared/ckpt"},
    "rate of no place": PLACED | {"storage.checkpoints.place": D},
    "a place that only looks alike": PLACED | {
        "storage.filesystems[0].write": "1 GB/s", "storage.checkpoints.place": "/shared-other"
    },
    "size implausible at the bound": {"storage.checkpoints.size": "86.4 GB"},
    "size implausible below it": {"storage.checkpoints.size": "86.3 GB"},
    "interval equal to the write": {"storage.checkpoints.interval": "21 s"},
    "interval of the brief": {"storage.checkpoints.interval": D, "brief.storage.checkpoint_interval": "20 s"},
    "restore slower than recovery": {
        "storage.checkpoints.restore_time": "16 min", "storage.filesystems[0].read": "100 MB/s"
    },
    "restore by reading": {"storage.checkpoints.restore_time": D, "storage.filesystems[0].read": "100 MB/s"},
    "restore at the target": {"storage.checkpoints.restore_time": "15 min", "targets.recovery_time": "15 min"},
    "restore above the targets": {"targets.recovery_time": "30 s"},
    "staging at the deadline": {"storage.staging.deadline": "1000 s"},
    "staging just late": {"storage.staging.deadline": "999 s"},
    "staging at once": {"storage.staging.deadline": "0 s"},
    "weights from the fastest": {
        "storage.object_stores[0].read": "1 GB/s", "storage.filesystems[0].read": "2 GB/s",
        "storage.weights.load_time": "8 s",
    },
    "weights just too slow": {
        "storage.object_stores[0].read": "2 GB/s", "storage.filesystems[0].read": "1 GB/s",
        "storage.weights.load_time": "7 s",
    },
    "gds without a figure": {"storage.gds.figure": D},
    "backup on the mount": {"storage.backup.place": "/shared"},
    "backup without a place": {"storage.backup.place": D},
    "backup beside the checkpoints": {
        "storage.backup.place": "elsewhere", "storage.checkpoints.place": "elsewhere"
    },
    "checkpoints in scratch": {"storage.checkpoints.place": "/scratch"},
    "checkpoints on a mount of nvme": {
        "storage.checkpoints.place": "/shared", "storage.filesystems[0].kind": "XFS on NVMe"
    },
    "checkpoints nowhere": {"storage.checkpoints.place": D},
    "far too rare checkpoints": {"storage.checkpoints.interval": "30 d"},
    "far too frequent checkpoints": {"storage.checkpoints.interval": "3 min"},
    "frequent by the brief": {"storage.checkpoints.interval": D, "brief.storage.checkpoint_interval": "3 min"},
    "an asynchronous writer": {
        "storage.checkpoints.interval": "3 min", "storage.checkpoints.tolerated_stall": "1 s"
    },
    "weights by the brief too small": {"storage.weights.size": D, "brief.storage.weights_size": "7 GB"},
    "weights of a precision unknown": {"storage.weights.size": "1 GB", "brief.model.precision": "posit"},
    "a cache for training": {"storage.weights.covers": ["base weights"]},
    "a cache with neither": SERVING | {"storage.weights.covers": ["base weights"]},
    "a cache that says nothing": SERVING | {"storage.weights.covers": []},
    "a cache for batches": SERVING | {"brief.workload": "batch-inference", "storage.weights.covers": ["Tokeniser"]},
    "an output of a name only": {"storage.outputs": [{"name": "x"}]},
    "own weights without backup": SERVING | {"storage.backup": D, "brief.why_cluster": ["own-weights"]},
    "one of two stores in the region": {
        "storage.object_stores[1]": {"name": "far", "region": "us-east"},
    },
    "no store with a region": {"storage.object_stores[0].region": D},
    "stalls at the budget": {
        "storage.checkpoints.interval": "140 s", "storage.checkpoints.write_throughput": "1.75 GB/s"
    },
    "stalls above the budget": {
        "storage.checkpoints.interval": "139 s", "storage.checkpoints.write_throughput": "1.75 GB/s"
    },
    "shared scratch of one team": ONE_TEAM | {"storage.cleanup": D},
    "no scratch": {"storage.cleanup": D, "storage.scratch": D},
    # control
    "no control": {"control": D},
    "no control, one team": ONE_TEAM | {"control": D},
    "kubernetes": K8S,
    "kubernetes for serving": SERVING | K8S | {"control.kubernetes": {"version": "1.34", "gpu_stack": "gpu-operator"}},
    "both schedulers": {"control.kubernetes": {"version": "1.34", "queueing": "kueue", "gpu_stack": "dra"}},
    "both without a design": {
        "control.kubernetes": {"version": "1.34"}, "control.reason": D, "telemetry.labels": [], "security.identity": D,
    },
    "dra and time-slicing": K8S | ONE_NODE | {
        "control.kubernetes": {"version": "1.34", "queueing": "kueue", "gpu_stack": "dra"},
        "pools[0].sharing": "time-slicing",
    },
    "dra and placement": K8S | ONE_NODE | {
        "control.kubernetes": {"version": "1.34", "queueing": "kueue", "gpu_stack": "dra"},
        "brief.network.placement_group": True,
    },
    "dra and nothing special": K8S | ONE_NODE | {
        "control.kubernetes": {"version": "1.34", "queueing": "kueue", "gpu_stack": "dra"},
    },
    "queueing none": K8S | {"control.kubernetes": {"queueing": "none", "gpu_stack": "gpu-operator"}},
    "notebooks for tenants": {
        "brief.workload": "notebooks", "brief.scale": "sharded-inference", "security.isolation.choice": "Namespaces",
        "brief.frameworks": ["Ray Serve"], "brief.why_cluster": [],
    },
    "simulation in one queue": {
        "brief.workload": "simulation", "brief.scale": "batch-queue", "brief.frameworks": ["Slurm"],
        "brief.why_cluster": [],
    },
    "search on slurm": SERVING | {
        "brief.workload": "search", "brief.frameworks": ["own service"], "brief.why_cluster": [],
    },
    "embeddings on slurm, one criterion": SERVING | {
        "brief.workload": "embeddings", "brief.frameworks": [], "brief.why_cluster": [],
    },
    "training on kubernetes": K8S | {"control.kubernetes.gpu_stack": "device-plugin"},
    "a launcher only": {"telemetry": {}, "control.runbooks": [], "teams": [{"name": "a"}]},
    "no runbooks": {"control.runbooks": []},
    "no quotas": {"teams": [{"name": "a", "owner": "x", "cost_label": "a"}]},
    "two runbooks missing for one team": ONE_TEAM | {
        "control.runbooks": [
            {"failure": "node-lost"},
            {"failure": "gpu-fault", "owner": "ops", "escalation": "v", "first_commands": ["x"]},
            {"failure": "storage-slow-or-full", "owner": "ops"},
        ],
    },
    "runbooks without scheduler and fabric jobs": ONE_TEAM | ONE_NODE | {
        "control.slurm": D, "control.queues": [],
        "control.runbooks": [{"failure": "node-lost", "owner": "ops"}],
    },
    "no owners at all": {"brief.ownership": D, "control.owners": D},
    "a team without owner": {"teams[0].owner": D, "teams[0].cost_label": D},
    "teams with shares, no quotas": {
        "teams": [{"name": "a", "share": "50 %"}, {"name": "b"}], "control.slurm.accounting": False,
    },
    "accounting not said": {"control.slurm.accounting": D},
    "no telemetry at all": {"telemetry": {}},
    "no telemetry and no scheduler": {"telemetry": {}, "control.slurm": D, "control.queues": []},
    "dark and orphaned signals": {
        "telemetry.gpus": {"owner": "x"}, "telemetry.jobs.owner": D, "telemetry.cost.owner": D, "telemetry.storage": D,
        "telemetry.labels": [],
    },
    "fabric not declared, its signal dark": {F: D, "telemetry.fabric": D} | ONE_NODE,
    "retries without a pause": {"control.queues[0].retry.backoff": D},
    "retries of nothing said": {"control.queues[0].retry": {"causes": ["x"]}},
    "a queue of no scheduler": {"control.queues[0].scheduler": D, "control.queues[0].max_wall": D},
    "one of two queues is long enough": {
        "control.queues[0].max_wall": "30 min",
        "control.queues[1]": {"name": "long", "scheduler": "slurm", "max_wall": "2 h", "retry": {"count": 0}},
    },
    "both queues are too short": {
        "control.queues[0].max_wall": "30 min",
        "control.queues[1]": {"name": "long", "scheduler": "slurm", "max_wall": "40 min", "retry": {"count": 0}},
    },
    "one queue without a limit": {
        "control.queues[0].max_wall": "30 min",
        "control.queues[1]": {"name": "long", "scheduler": "slurm", "retry": {"count": 0}},
    },
    "short queues for serving": SERVING | {"control.queues[0].max_wall": "30 min"},
    "quota above the pool": {QUOTA: 17},
    "quota of the whole pool": {QUOTA: 16, "teams[1].quotas": {}},
    "quotas in sum above it": {QUOTA: 9},
    "quotas in sum with one share": {QUOTA: 9, "teams[0].share": "50 %"},
    "quotas in sum as ceilings": {QUOTA: 9, "teams[0].share": "50 %", "teams[1].share": "50 %"},
    # money
    "a long commitment": {"prices.commitment": "13 months"},
    "a commitment of a leap year": {"prices.commitment": "366 days"},
    "a commitment of a day more": {"prices.commitment": "367 days"},
    "a long commitment with an empty folder": {"prices.commitment": "3 years", "/evidence/.gitkeep": ""},
    # security
    "no security": {"security": D},
    "no security, one team": ONE_TEAM | {"security": D},
    "a decision of nobody": {"security.ssh.owner": D, "security.egress.owner": D},
    "time-slicing for two teams": {"pools[0].sharing": "time-slicing"} | ONE_NODE,
    "time-slicing for one team": ONE_TEAM | ONE_NODE | {"pools[0].sharing": "time-slicing"},
    "time-slicing for teams of another pool": ONE_NODE | {
        "pools[0].sharing": "time-slicing",
        "pools[1]": {"name": "other", "count": 1, "sharing": "whole-gpu"},
        "teams[1].quotas": {"other": 0},
    },
    "mig without isolation": {"pools[0].sharing": "mig", "security.isolation": D} | ONE_NODE,
    "vgpu": {"pools[0].sharing": "vgpu"},
    "sharing not said": {"pools[0].sharing": D},
    "sharing not said for teams of another pool": {
        "pools[0].sharing": D, "pools[1]": {"name": "other", "count": 1}, "teams[1].quotas": {"other": 0},
    },
    "mig in a pool of no role": {"pools[0].sharing": "mig", "pools[0].mig_profile": "1g.10gb", "pools[0].role": D},
    "clean-up on paper": ONE_TEAM | {"storage.cleanup": D},
    "clean-up on paper for two": {"storage.cleanup": D},
    # pools
    "a stand-in": STAND_IN,
    "a stand-in with a target pool": {
        "pools[1]": {"name": "desk", "role": "stand-in", "count": 1, "shape": {"cpu": {"cores": 4}}},
    },
    "pools by host list": {"pools[0].count": D},
    "pools by node entries": {
        "pools[0].count": D, "pools[0].hosts": D,
        "pools[0].nodes": [{"name": "n[1-2]"}, {"name": "n3", "shape": {"memory": "512 GB"}}],
        "brief.max_job_nodes": 4,
    },
    "a pool larger than its entries": {
        "pools[0].count": 4, "pools[0].hosts": D,
        "pools[0].nodes": [{"name": "n[1-2]", "shape": {"memory": "512 GB"}}],
    },
    "job nodes by the largest pool": {"brief.max_job_nodes": D},
    "gpus without a count": {f"{S}.gpu.count": D},
}  # fmt: skip
