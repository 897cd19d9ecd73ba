"""A good complete design, changed by paths; and evidence for it."""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourplane.catalog import Catalog, load_catalog
from fourplane.planes.model import Case
from fourplane.records.index import ObservationIndex
from fourplane.records.metrics import METRICS
from fourplane.records.observation import Observation
from fourplane.spec.loader import load_workspace
from fourplane.spec.workspace import Workspace

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)

GOOD = """
name: good
brief:
  workload: pre-training
  target_gpus: [H100]
  scale: multi-node-synchronous
  max_job_nodes: 2
  frameworks: [PyTorch]
  network: {latency: 60 us}
  storage:
    dataset_size: 10 TB
    weights_size: 16 GB
    checkpoint_interval: 1 h
    recovery_time: 15 min
    object_store_region: eu-north
  ownership:
    drivers: provider
    images: platform
    scheduler_policy: platform
    telemetry: platform
    support: provider
    upgrades: platform
    access: security
    incidents: ops
  model: {name: m, parameters_billion: 8, precision: bf16}
  target_utilisation: 70 %
  why_cluster: [long-training]
pools:
  - name: train
    role: training
    count: 2
    hosts: n[1-2]
    shape:
      gpu: {model: H100, count: 8, memory: 80 GB, form_factor: sxm}
      cpu: {cores: 104}
      memory: 2 TB
      nvme: {devices: 8, total: 30 TB}
      nics:
        - {count: 8, speed: 400 Gb/s, kind: infiniband, gpu_direct: true}
        - {count: 2, speed: 100 Gb/s, kind: ethernet, role: storage}
      power: 10.2 kW
    sharing: whole-gpu
    lifecycle:
      driver: {version: "580.95", owner: provider, end_of_support: 2028-08-31, rollback: previous image}
      cuda: {version: "13.0", owner: platform}
      nccl: {version: "2.28", owner: platform}
      os_image: {version: Ubuntu 24.04, owner: platform, rollback: previous image}
    replacement: {time: 4 h, spares: 1}
network:
  fabric:
    kind: infiniband
    rails: 8
    rail_mapping: NIC i to leaf i
    oversubscription: "1:1"
    placement: one block
    failure_domains: [rack 1, rack 2]
    gpudirect_rdma: true
    visibility: [errors, congestion]
    owner: provider
  borders: [{name: login, owner: security}]
storage:
  staging: {source: object store, dataset_size: 10 TB, throughput: 10 GB/s, deadline: 1 h}
  weights: {size: 16 GB, load_time: 1 min}
  checkpoints:
    {interval: 1 h, size: 105 GB, tolerated_stall: 1 min, restore_time: 1 min, write_throughput: 5 GB/s, place: shared}
  filesystems: [{name: shared, mount: /shared, read: 10 GB/s, write: 5 GB/s}]
  object_stores: [{name: bucket, region: eu-north, read: 10 GB/s}]
  outputs: [{name: weights, place: bucket, retention: 1 year, owner: research}]
  scratch: /scratch
  cleanup: epilog
  backup: {place: other region}
  gds: {choice: ordinary, figure: 5 GB/s}
control:
  slurm: {version: "25.11", accounting: true}
  reason: batch
  owners: {queues: platform, quotas: platform, retries: platform, user_access: security}
  queues:
    - name: train
      scheduler: slurm
      pool: train
      max_wall: 48 h
      retry: {count: 2, causes: [node lost], backoff: 1 min}
  runbooks:
    - {failure: node-lost, owner: ops, escalation: vendor, first_commands: [look], target_recovery: 1 h}
    - {failure: gpu-fault, owner: ops, escalation: vendor, first_commands: [look], target_recovery: 1 h}
    - {failure: fabric-degraded, owner: ops, escalation: vendor, first_commands: [look], target_recovery: 1 h}
    - {failure: storage-slow-or-full, owner: ops, escalation: vendor, first_commands: [look], target_recovery: 1 h}
    - {failure: scheduler-down, owner: ops, escalation: vendor, first_commands: [look], target_recovery: 1 h}
    - {failure: quota-dispute, owner: ops, escalation: vendor, first_commands: [look], target_recovery: 1 h}
    - {failure: tenant-leak, owner: ops, escalation: vendor, first_commands: [look], target_recovery: 1 h}
teams:
  - {name: a, owner: head of a, cost_label: a, quotas: {train: 8}}
  - {name: b, owner: head of b, cost_label: b, quotas: {train: 8}}
security:
  identity: {choice: single sign-on, owner: security}
  isolation: {choice: one account a team, owner: security}
  ssh: {choice: certificates, owner: security}
  image_registry: {choice: internal, owner: platform}
  image_signing: {choice: checked at start, owner: platform}
  image_scanning: {choice: at push, owner: security}
  secrets: {choice: vault, owner: security}
  network_policy: {choice: partition key, owner: security}
  egress: {choice: allow list, owner: security}
  data_cleanup: {choice: wiped after each job, owner: platform}
  audit_retention: {choice: one year, owner: security}
  break_glass: {choice: two people, owner: security}
  vendor_access: {choice: watched, owner: security}
  remote_hands: {choice: ticket desk, owner: platform}
telemetry:
  jobs: {source: accounting, owner: ops}
  gpus: {source: dcgm, owner: ops}
  fabric: {source: port counters, owner: ops}
  storage: {source: file system, owner: ops}
  scheduler: {source: accounting, owner: ops}
  cost: {source: bill, owner: finance}
  labels: [team]
prices: {commitment: 12 months}
"""

QUOTE = """
provider: acme
valid_until: 2027-03-31
pools:
  - name: train
    count: 2
    shape:
      gpu: {model: NVIDIA H100 80GB HBM3, count: 8, memory: 80 GB, form_factor: sxm}
      cpu: {cores: 104}
      memory: 2 TB
      nvme: {devices: 8, total: 30 TB}
      nics:
        - {count: 8, speed: 400 Gb/s}
        - {count: 2, speed: 100 Gb/s}
fabric: {kind: infiniband, rails: 8, oversubscription: "1:1", placement: one block, gpudirect_rdma: true}
prices: {commitment: 12 months}
"""

_GOOD: dict[str, Any] = yaml.safe_load(GOOD)
_QUOTE: dict[str, Any] = yaml.safe_load(QUOTE)


def _dump(document: dict[str, Any]) -> str:
    return str(yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False))


DELETE = object()
Changes = dict[str, Any]
Build = Callable[..., Workspace]


def _change(document: dict[str, Any], changes: Changes) -> None:
    for path, value in changes.items():
        *parents, last = [int(w) if w.isdigit() else w for w in re.findall(r"[^.\[\]]+", path)]
        at: Any = document
        for key in parents:
            if isinstance(key, str) and key not in at:
                at[key] = {}
            at = at[key]
        if value is DELETE:
            del at[last]
            continue
        own = copy.deepcopy(value)  # a later change must not reach into the table of cases
        if isinstance(at, list) and last == len(at):
            at.append(own)
        else:
            at[last] = own


@pytest.fixture
def delete() -> object:
    return DELETE


@pytest.fixture
def today() -> date:
    return NOW.date()


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return a function that writes the good design with changes, and loads it with positions."""

    def make(changes: Changes | None = None, quote: Changes | None = None) -> Workspace:
        for left in ("quotes", "evidence", "catalog"):
            shutil.rmtree(tmp_path / left, ignore_errors=True)
        document = copy.deepcopy(_GOOD)
        _change(document, {path: value for path, value in (changes or {}).items() if not path.startswith("/")})
        (tmp_path / "fourplane.yaml").write_text(_dump(document))
        for path, value in (changes or {}).items():
            if path.startswith("/"):
                (tmp_path / path[1:]).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / path[1:]).write_text(value)
        if quote is not None:
            promised = copy.deepcopy(_QUOTE)
            _change(promised, quote)
            (tmp_path / "quotes").mkdir(exist_ok=True)
            (tmp_path / "quotes" / "acme.yaml").write_text(_dump(promised))
        workspace = load_workspace(tmp_path, today=NOW.date())
        wrong = [f.message for f in workspace.findings if f.level == "error"]
        assert not wrong, wrong
        return workspace

    return make


def observe(metric: str, value: Any, subject: str = "node:n1", **more: Any) -> Observation:
    settings: dict[str, Any] = {"method": "probe/1", "at": NOW, "run": "r1"} | more
    return Observation(subject, metric, value, METRICS[metric].unit, **settings)


def healthy_node(node: str) -> list[Observation]:
    """Return what the inventory of one good H100 node says."""
    on, out = f"node:{node}", []
    plain = {
        "compute.gpu.count": 8,
        "compute.cpu.cores": 104,
        "compute.cpu.model": "Intel Xeon 8470",
        "compute.memory.total": 1.97e12,
        "storage.local.nvme_total": 30.7e12,
        "network.nic.count": 10,
        "network.fabric.kind": "infiniband",
        "compute.gpu.driver": "580.95.05",
        "compute.cuda.version": "13.0",
        "compute.os.image": "Ubuntu 24.04.3 LTS",
        "compute.gpu.topology": "matrix",
        "control.scheduler.kind": "slurm",
        "control.slurm.version": "25.11.2",
    }
    out += [observe(metric, value, on) for metric, value in plain.items()]
    for i in range(8):
        gpu = f"{on}/gpu:{i}"
        out.append(observe("compute.gpu.model", "NVIDIA H100 80GB HBM3", gpu))
        out.append(observe("compute.gpu.memory", 81559 * 2**20, gpu))
        out.append(observe("compute.gpu.power_limit", 700, gpu))
        out.append(observe("compute.gpu.ecc_uncorrected", 0, gpu))
        out.append(observe("compute.gpu.mig", "Disabled", gpu))
        out.append(observe("network.nic.speed", 400e9, f"{on}/nic:ib{i}"))
    out += [observe("network.nic.speed", 100e9, f"{on}/nic:eth{i}") for i in range(2)]
    return out


@pytest.fixture(name="observe")
def observe_fixture() -> Callable[..., Observation]:
    return observe


@pytest.fixture(name="healthy_node")
def healthy_node_fixture() -> Callable[[str], list[Observation]]:
    return healthy_node


@pytest.fixture
def case(catalog: Catalog) -> Callable[..., Case]:
    def make(workspace: Workspace, observations: list[Observation]) -> Case:
        return Case(workspace, ObservationIndex(observations), catalog, NOW)

    return make
