"""Reports made by hand: one as a real review would be, one hostile, one huge, one empty."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fourplane.base.documents.positions import Positions
from fourplane.base.findings import Finding, Level
from fourplane.base.units import Dimension, parse_quantity
from fourplane.base.verdicts import Verdict
from fourplane.catalog.facts import Catalog
from fourplane.planes.model import Case, FactRow, Judgement, Plane
from fourplane.records.index import ObservationIndex
from fourplane.records.metrics import METRICS
from fourplane.records.observation import Observation, RawRef, State
from fourplane.report.view import ReportView, build
from fourplane.review.model import Action, Area, Condition, Gap, Review
from fourplane.spec.declaration import Declaration
from fourplane.spec.economics import Targets
from fourplane.spec.storage import Checkpoints, Staging, Storage, Weights
from fourplane.spec.workspace import Workspace

NOW = datetime(2026, 12, 1, 4, 55, 12, tzinfo=UTC)
RUN = "20261201T044912Z-3f9a"
P, F, U, S, W = Verdict.PASSED, Verdict.FAILED, Verdict.UNPROVEN, Verdict.STALE, Verdict.WAIVED

AREAS = {
    "R1": "Workload brief",
    "R2": "Compute",
    "R3": "Network",
    "R4": "Storage, tested",
    "R5": "Scheduler and owners",
    "R6": "Observability",
    "R7": "Security",
    "R8": "Acceptance",
    "R9": "Unit economics",
}


@dataclass(frozen=True)
class Run:
    id: str
    started: datetime
    ended: datetime | None
    steps: tuple[str, ...]
    tool: str = "fourplane 0.1.0"
    host: str = "n1"


def quantity(text: str, dimension: Dimension) -> Any:
    return parse_quantity(text, dimension)


def observe(metric: str, value: Any, subject: str = "node:n1", method: str = "probe/1", **more: Any) -> Observation:
    defaults: dict[str, Any] = {"at": NOW - timedelta(minutes=4), "run": RUN}
    return Observation(subject, metric, value, METRICS[metric].unit, method, **(defaults | more))


def cite(metric: str, subject: str = "node:n1", run: str = RUN) -> str:
    return f"{run}:{subject}:{metric}"


def curve(peak: float = 4.6, wrong_at: int = 0) -> list[dict[str, Any]]:
    rows = []
    for power in range(3, 27):
        size = 2**power
        time_us = 3.4 + size / (peak * 1000) * (1 + 0.35 * max(0, power - 23))
        busbw = size / time_us / 1000
        rows.append(
            {
                "bytes": size,
                "time_us": time_us,
                "algbw_gbps": busbw,
                "busbw_gbps": busbw,
                "iterations": max(5, 20000 >> max(0, power - 10)),
                "wrong": 3 if size == wrong_at else 0,
            }
        )
    return rows


def make_case(
    observations: list[Observation],
    storage: Storage | None = None,
    targets: Targets | None = None,
    catalog: Catalog | None = None,
    name: str = "laptop",
    root: Path = Path("/nowhere"),
) -> Case:
    declaration = Declaration(name=name, storage=storage or Storage(), targets=targets or Targets())
    workspace = Workspace(root, declaration, "fourplane.yaml", Positions())
    return Case(workspace, ObservationIndex(observations), catalog or Catalog(), NOW)


def laptop_observations() -> list[Observation]:
    raw = RawRef(f"runs/{RUN}/raw/storage.jsonl", "9c1f" * 16, 12)
    world = {"ranks": 2, "sizes": "8 B to 64 MiB"}
    mpi = "allreduce/1 openmpi 5.0.11 ranks=2"
    disk = {"filesystem": "ext4", "file_size": "256 MiB", "fsync": True}
    return [
        observe("compute.cpu.model", "AMD EPYC 9555 64-Core Processor", method="lscpu 2.38"),
        observe("compute.cpu.cores", 2, method="lscpu 2.38"),
        observe("compute.memory.total", 15.6 * 2**30, method="/proc/meminfo"),
        observe(
            "compute.gpu.count",
            None,
            method="nvidia-smi, rocm-smi",
            state=State.ABSENT,
            reason="neither nvidia-smi nor rocm-smi is on the node",
        ),
        observe("compute.gpu.topology", "\tGPU0\tNIC0\nGPU0\t X \tPIX\n" * 12, method="nvidia-smi topo -m"),
        observe("network.nic.speed", 10e9, subject="node:n1/nic:eth0", method="ethtool"),
        observe("network.allreduce.world_size", 2, method=mpi, conditions=world),
        observe("network.allreduce.wrong", 0, method=mpi, conditions=world),
        observe("network.allreduce.latency", 0.62, method=mpi, conditions=world),
        observe("network.allreduce.busbw_peak", 4.42, method=mpi, conditions=world),
        observe(
            "network.allreduce.curve",
            curve(),
            method=mpi,
            conditions=world,
            raw=RawRef(f"runs/{RUN}/raw/allreduce.jsonl", "51ab" * 16),
        ),
        observe("network.allreduce.transport", "shm", method=mpi),
        observe("storage.staging.throughput", 412.0, method="storage/1 copy", conditions=disk, raw=raw),
        observe("storage.staging.file_rate", 1830.0, method="storage/1 copy", conditions=disk, raw=raw),
        observe("storage.weights.cold_throughput", 1240.0, method="storage/1 read", conditions=disk, raw=raw),
        observe("storage.weights.warm_throughput", 6800.0, method="storage/1 read", conditions=disk, raw=raw),
        observe("storage.checkpoint.write_throughput", 388.0, method="storage/1 shards=4", conditions=disk, raw=raw),
        observe("storage.checkpoint.stall", 0.69, method="storage/1 shards=4", conditions=disk, raw=raw),
        observe("storage.checkpoint.restore_throughput", 1105.0, method="storage/1 shards=4", conditions=disk, raw=raw),
        observe("storage.checkpoint.restore_verified", True, method="storage/1 shards=4", conditions=disk, raw=raw),
        observe("storage.checkpoint.recovery", 0.31, method="storage/1 kill", conditions=disk, raw=raw),
        observe("storage.io.random_read", None, method="fio", state=State.SKIPPED, reason="fio is not on the node"),
        observe("storage.io.sequential_write", 431.0, method="storage/1 direct", conditions=disk, raw=raw),
    ]


def laptop_areas() -> tuple[Area, ...]:
    spec = {
        "R1": [
            ("model", "Model and precision", P, "llama-3.1-8b, bf16, licence stated", ()),
            ("scale", "Scale shape", P, "multi-node-synchronous, up to 4 nodes", ()),
            (
                "data_path",
                "Data path from source to output",
                U,
                "brief.data_path.output is empty",
                ("fourplane.yaml:31:3",),
            ),
            ("denominator", "Business denominator", P, "completed-training-run", ("fourplane.yaml:12:3",)),
        ],
        "R2": [
            (
                "gpu_topology",
                "GPU model and topology",
                U,
                "no GPU was seen on the one node that was looked at: neither nvidia-smi nor rocm-smi is there",
                (cite("compute.gpu.count"), cite("compute.gpu.topology")),
            ),
            (
                "cpu_ram",
                "CPU and memory for each GPU",
                F,
                "2 cores found where the pool declares 64",
                (cite("compute.cpu.cores"), "fourplane.yaml:44:7"),
            ),
            (
                "replacement",
                "Replacement policy",
                W,
                "waived by Ines Duarte until 2027-01-31: stand-in machine",
                ("fourplane.yaml:180:3",),
            ),
            ("lifecycle", "Driver and CUDA life cycle", U, "no driver was seen", ()),
        ],
        "R3": [
            (
                "fabric",
                "Fabric type stated and seen",
                U,
                "declared infiniband; no RDMA port was found on node n1",
                (cite("network.nic.speed", "node:n1/nic:eth0"),),
            ),
            (
                "allreduce",
                "All-reduce across every rented node",
                U,
                "4.42 GB/s over shared memory between 2 CPU ranks says nothing about the fabric",
                (cite("network.allreduce.curve"), cite("network.allreduce.busbw_peak")),
            ),
            ("placement", "Placement and failure domains", P, "one rack, one leaf switch", ("fourplane.yaml:71:5",)),
        ],
        "R4": [
            (
                "staging",
                "Dataset staging",
                F,
                "412 MB/s measured, 1,190 MB/s needed to stage 2 TB within 28 min",
                (cite("storage.staging.throughput"), "fourplane.yaml:95:5"),
            ),
            (
                "weights",
                "Weight cache, cold and warm",
                P,
                "1,240 MB/s cold, 6,800 MB/s warm",
                (cite("storage.weights.cold_throughput"), cite("storage.weights.warm_throughput")),
            ),
            (
                "checkpoint_write",
                "Checkpoint written",
                P,
                "388 MB/s with fsync on every shard",
                (cite("storage.checkpoint.write_throughput"),),
            ),
            (
                "checkpoint_restore",
                "Checkpoint restored and verified",
                P,
                "every shard's hash was right after the restore",
                (cite("storage.checkpoint.restore_verified"),),
            ),
            (
                "snapshots",
                "Snapshot restored",
                S,
                "last shown 94 days ago, before the declaration changed",
                (cite("storage.checkpoint.recovery"),),
            ),
        ],
        "R5": [
            (
                "owners",
                "Named owners of queues, quotas and retries",
                P,
                "queues, quotas, retries and access have owners",
                ("fourplane.yaml:120:3",),
            )
        ],
        "R6": [
            (
                "gpus",
                "GPU telemetry by team",
                U,
                "no exporter answered; telemetry.gpus names DCGM",
                ("fourplane.yaml:140:3",),
            ),
            ("cost", "Cost labels", P, "cost_label on every team", ()),
        ],
        "R7": [
            ("identity", "Identity source decided", P, "OIDC, owner platform", ()),
            ("audit", "Audit log retention", U, "security.audit_retention is empty", ()),
        ],
        "R8": [
            ("container", "Production container runs", U, "no container runtime on node n1", ()),
            ("export", "Logs exported", P, "evidence exported to the object store", ()),
        ],
        "R9": [
            ("compare", "Alternatives on one denominator", U, "colocation has no unit cost", ("fourplane.yaml:160:3",))
        ],
    }
    return tuple(
        Area(
            key,
            AREAS[key],
            tuple(
                Condition(
                    f"{key}.{name}",
                    title,
                    verdict,
                    reason,
                    evidence,
                    ""
                    if verdict in (P, W)
                    else f"Run the measurement for {title.lower()} on the target node, then review again.",
                )
                for name, title, verdict, reason, evidence in conditions
            ),
        )
        for key, conditions in spec.items()
    )


def laptop_rows() -> list[FactRow]:
    pool = "pool:train"
    return [
        FactRow(
            Plane.COMPUTE,
            pool,
            "gpu.model",
            "H100 SXM",
            "H100 SXM5 80GB",
            "",
            U,
            "no GPU tool on node n1; nvidia-smi there would prove it",
            (cite("compute.gpu.count"),),
        ),
        FactRow(
            Plane.COMPUTE, pool, "gpu.count", "8", "8", "", U, "no GPU tool on node n1", (cite("compute.gpu.count"),)
        ),
        FactRow(
            Plane.COMPUTE,
            "node:n1",
            "cpu.cores",
            "64",
            "96",
            "2",
            F,
            "2 cores contradict the declared 64 and the promised 96",
            (cite("compute.cpu.cores"), "fourplane.yaml:44:7", "quotes/northwind.yaml:19:9"),
        ),
        FactRow(
            Plane.COMPUTE,
            "node:n1",
            "os_image",
            "Ubuntu 24.04",
            "",
            "Ubuntu 24.04.3 LTS",
            P,
            "found answers declared",
            (),
        ),
        FactRow(
            Plane.NETWORK,
            "cluster",
            "fabric.kind",
            "infiniband",
            "infiniband NDR",
            "ethernet",
            F,
            "no RDMA port; the NIC is Ethernet",
            (cite("network.nic.speed", "node:n1/nic:eth0"),),
        ),
        FactRow(
            Plane.NETWORK,
            "cluster",
            "fabric.oversubscription",
            "1:1",
            "2:1",
            "",
            U,
            "only an all-reduce over all nodes shows it",
            (),
        ),
        FactRow(Plane.STORAGE, "cluster", "scratch.filesystem", "ext4", "", "ext4", P, "found answers declared", ()),
        FactRow(Plane.CONTROL, "cluster", "slurm.version", "25.11", "", "", U, "sinfo is not on node n1", ()),
    ]


def laptop_judgements() -> list[Judgement]:
    return [
        Judgement(
            "network.allreduce",
            Plane.NETWORK,
            "All-reduce across the nodes",
            U,
            "4.42 GB/s at 2 MiB over shm with 2 CPU ranks; no expectation on file for this transport",
            (cite("network.allreduce.curve"), cite("network.allreduce.busbw_peak")),
            NOW,
            "Run it on two GPU nodes of the offer.",
        ),
        Judgement(
            "storage.staging",
            Plane.STORAGE,
            "Dataset staging",
            F,
            "412 MB/s measured, 1,190 MB/s needed",
            (cite("storage.staging.throughput"),),
            NOW,
            "Stage from a closer region, or stripe over four streams.",
        ),
        Judgement(
            "storage.checkpoint_write",
            Plane.STORAGE,
            "Checkpoint write",
            P,
            "388 MB/s measured, 320 MB/s needed",
            (cite("storage.checkpoint.write_throughput"),),
            NOW,
        ),
    ]


def laptop_findings() -> list[Finding]:
    return [
        Finding(
            "fabric-oversubscribed",
            Level.WARNING,
            "The quote promises a 2:1 fabric where the design counts on 1:1.",
            "quotes/northwind.yaml",
            41,
            5,
            "fabric.oversubscription",
            "2:1",
            "1:1",
            "Ask for a rail-optimised placement in writing, or lower targets.all_reduce_busbw.",
            "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
            "network",
        ),
        Finding(
            "staging-too-slow",
            Level.ERROR,
            "Staging the dataset takes 81 minutes; the brief tolerates 28.",
            "",
            0,
            0,
            "node:n1",
            "412 MB/s",
            "1,190 MB/s",
            "Stage from a closer region, or stripe over four streams.",
            "",
            "storage",
            (cite("storage.staging.throughput"),),
        ),
        Finding(
            "retry-causes-open",
            Level.INFO,
            "Queue batch retries without naming causes.",
            "fourplane.yaml",
            128,
            7,
            "control.queues[1].retry",
            "",
            "",
            "Name the causes that deserve a retry.",
        ),
    ]


def laptop_review(name: str = "laptop") -> Review:
    return Review(
        name,
        NOW,
        laptop_areas(),
        (
            Gap(
                "brief.data_path.output", "data platform", "the write rate of one epoch's outputs, from storage.outputs"
            ),
            Gap("brief.network.latency", "training team", "network.allreduce.latency on two target nodes"),
        ),
        (
            Action(
                "Rent two H100 nodes of the offer for one day and run fourplane prove on both.",
                ("R2.gpu_topology", "R2.lifecycle", "R3.fabric", "R3.allreduce", "R8.container"),
            ),
            Action(
                "Move the dataset to the region of the nodes; staging needs 1,190 MB/s and reaches 412.",
                ("R4.staging",),
            ),
            Action(
                "Fill brief.data_path.output and security.audit_retention; the data platform and security own them.",
                ("R1.data_path", "R7.audit"),
            ),
            Action("Ask for a fourth thing that must not be in the first three.", ("R9.compare",)),
        ),
    )


def laptop_case(**more: Any) -> Case:
    storage = Storage(
        staging=Staging(dataset_size=quantity("2 TB", Dimension.SIZE), deadline=quantity("28 min", Dimension.DURATION)),
        weights=Weights(size=quantity("16 GB", Dimension.SIZE), load_time=quantity("30 s", Dimension.DURATION)),
        checkpoints=Checkpoints(
            size=quantity("96 GB", Dimension.SIZE), tolerated_stall=quantity("5 min", Dimension.DURATION)
        ),
    )
    return make_case(laptop_observations(), storage, **more)


def laptop_runs() -> list[Run]:
    return [
        Run(
            RUN,
            NOW - timedelta(minutes=6),
            NOW - timedelta(minutes=4),
            ("inventory", "allreduce", "staging", "checkpoint", "weights", "io"),
        )
    ]


def laptop_view(**more: Any) -> ReportView:
    return build(
        laptop_case(**more),
        laptop_review(),
        laptop_rows(),
        laptop_judgements(),
        laptop_findings(),
        laptop_runs(),
        evidence_head="b7d2" * 16,
    )


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202egnp.exe",
    "\x1b[2J\x1b[31mred",
    "';!--\"<XSS>=&{()}",
    "javascript:alert(1)",
)


def hostile_view() -> ReportView:
    """Return a report in which every text from outside tries something."""
    bad = "".join(HOSTILE)
    observation = Observation(
        f"node:{bad}",
        "compute.cpu.model",
        bad,
        "",
        bad,
        NOW,
        reason=bad,
        conditions={bad: bad, "list": [bad]},
        raw=RawRef(bad, bad),
        run=bad,
    )
    curve_of = Observation(f"node:{bad}", "network.allreduce.curve", curve(), "", bad, NOW, run=bad)
    condition = Condition("R1.model", bad, U, bad, (observation.reference, bad), bad)
    review = Review(
        bad, NOW, (Area("R1", bad, (condition,)),), (Gap(bad, bad, bad),), (Action(bad, (bad, "R1.model")),)
    )
    rows = [FactRow(Plane.COMPUTE, bad, bad, bad, bad, bad, F, bad, (observation.reference, bad))]
    judgements = [Judgement(bad, Plane.NETWORK, bad, U, bad, (curve_of.reference,), NOW, bad)]
    findings = [
        Finding("some-code", Level.ERROR, bad, bad, 1, 1, bad, bad, bad, bad, link, "compute", (bad,))
        for link in (bad, "javascript:alert(1)", 'https://example.org/?q="><script>')
    ]
    return build(
        make_case([observation, curve_of]),
        review,
        rows,
        judgements,
        findings,
        [Run(bad, NOW, None, (bad,), bad, bad)],
        evidence_head=bad,
    )


def huge_view(nodes: int = 1000, facts: int = 12) -> ReportView:
    """Return a cluster of many nodes, each with facts and observations; one node in a hundred is odd."""
    rows, observations = [], []
    for index in range(nodes):
        node = f"node:gpu{index:04d}"
        odd = index % 100 == 7
        for fact in range(facts):
            found = "7" if odd and fact == 0 else "8"
            rows.append(
                FactRow(
                    Plane.COMPUTE,
                    node,
                    f"fact.n{fact}",
                    "8",
                    "8",
                    found,
                    F if found == "7" else P,
                    "found answers declared",
                    (cite("compute.gpu.count", node),),
                )
            )
        observations.append(observe("compute.gpu.count", 7 if odd else 8, subject=node, method="nvidia-smi"))
        observations.append(observe("storage.checkpoint.write_throughput", 900.0 + index, subject=node))
        observations.append(observe("network.allreduce.curve", curve(380.0), subject=node))
    condition = Condition(
        "R2.gpu_topology",
        "GPU topology",
        F,
        "10 nodes have 7 GPUs",
        tuple(cite("compute.gpu.count", f"node:gpu{i:04d}") for i in range(nodes)),
        "Replace them.",
    )
    review = Review("huge", NOW, (Area("R2", "Compute", (condition,)),), (), (Action("Replace ten nodes."),))
    findings = [Finding("odd-node", Level.WARNING, f"Node {i} is odd.") for i in range(nodes)]
    return build(make_case(observations, name="huge"), review, rows, (), findings)


def empty_view() -> ReportView:
    """Return a report before anything was declared, promised or measured."""
    return build(make_case([], name="empty"), Review("empty", NOW, (), (), ()))
