"""The table of conditions: every row of the gate with its title, what passes it and what proves it.

``docs/review.md`` prints this table; a test keeps the two equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fourplane.review import measured as m
from fourplane.review import paper as p
from fourplane.review.desk import Desk
from fourplane.review.outcome import Part, Remedy

__all__ = ["AREAS", "AreaSpec", "ConditionSpec", "all_conditions"]


@dataclass(frozen=True, slots=True)
class ConditionSpec:
    """One condition before it is judged.

    Attributes:
        name: id below the area, such as ``checkpoint_write``.
        title: what must hold, in a few words.
        passes: what passes it, as the documentation says.
        proof: what proves it: ``paper`` for a decision on file, else judgements, facts or both.
        parts: judges it.
        gpu: it says something about GPUs, so it can't pass where none was found.
        facts: its judge weighs the three-way rows itself; elsewhere only contradictions count.
        waivable: an owner may set it aside.
        only_failed: the row appears only when it fails.
    """

    name: str
    title: str
    passes: str
    proof: str
    parts: Callable[[Desk], list[Part]]
    gpu: bool = False
    facts: bool = False
    waivable: bool = True
    only_failed: bool = False


@dataclass(frozen=True, slots=True)
class AreaSpec:
    """One of the nine areas before it is judged."""

    id: str
    title: str
    conditions: tuple[ConditionSpec, ...]


C = ConditionSpec
PAPER = "paper"


def _brief(name: str, title: str, passes: str, parts: Callable[[Desk], list[Part]] | None = None) -> ConditionSpec:
    return C(name, title, passes, PAPER, parts or p.brief_field(f"R1.{name}"))


def _design(plane: str) -> ConditionSpec:
    passes = f"never passed: holds errors of the {plane} design that no other row holds"
    return C("design", f"Design rules: {plane}", passes, "rules", p.no_facts, only_failed=True)


def _shape(name: str, title: str, facts: str, keys: tuple[str, ...]) -> ConditionSpec:
    return C(name, title, f"{facts} declared for every pool and found so on its nodes", "facts",
             m.shape(keys, f"R2.{name}"), facts=True)  # fmt: skip


def _storage(name: str, title: str, passes: str, *keys: str, otherwise: str, fix: str) -> ConditionSpec:
    return C(name, title, passes, ", ".join(keys), m.judged(keys, otherwise, fix))


def _owner(name: str, title: str, passes: str, parts: Callable[[Desk], list[Part]]) -> ConditionSpec:
    return C(name, title, passes, PAPER, parts)


def _signal(name: str, title: str, gpu: bool = False) -> ConditionSpec:
    passes = "source, owner and labels are declared, and a labelled job was found again in the signal"
    return C(name, title, passes, f"telemetry.{name}", m.telemetry(name), gpu=gpu)


def _decision(name: str, title: str, *keys: str, probe: str = "", probed_by: str = "") -> ConditionSpec:
    fields = ", ".join(keys)
    passes = f"{fields}: choice and owner on file" + (f"; {probed_by}" if probe else "")
    return C(name, title, passes, probe or PAPER, p.decision(keys, probe, probed_by))


def _way(name: str, title: str, way: str) -> ConditionSpec:
    passes = "an alternative of that kind has unit_cost, units_per_month and source"
    return C(name, title, passes, PAPER, p.alternative(way))


_PROVE = "run 'fourplane prove' where the jobs will run"

AREAS: tuple[AreaSpec, ...] = (
    AreaSpec("R1", "Workload brief", (
        C("declaration", "Files are readable", "no errors in fourplane.yaml and quotes", PAPER, p.files,
          waivable=False),
        _brief("workload", "Workload type", "brief.workload is set"),
        _brief("framework", "Framework", "brief.frameworks names at least one"),
        _brief("target_gpus", "Target GPUs", "brief.target_gpus names one or a range"),
        _brief("node_shape", "Node shape wanted", "every field of brief.node_shape is set"),
        _brief("scale", "Scale shape", "brief.scale is set, and max_job_nodes unless it is one-node"),
        _brief("network", "Network sensitivity", "every field of brief.network is set"),
        _brief("storage", "Storage sensitivity", "every field of brief.storage is set that applies to the workload"),
        _brief("ownership", "Ownership boundary", "every field of brief.ownership is set"),
        _brief("denominator", "Business denominator", "brief.denominator is set"),
        _brief("model", "Model", "every field of brief.model is set that applies to the workload"),
        _brief("data_path", "Data path", "source, node and output of brief.data_path are set"),
        _brief("target_utilisation", "Target utilisation", "brief.target_utilisation is set"),
        _brief("why_cluster", "Need that only a cluster meets", "brief.why_cluster names one; 'none' fails",
               p.why_cluster),
        C("design", "Design rules: whole", "never passed: holds errors of the design without a plane", "rules",
          p.no_facts, only_failed=True),
    )),
    AreaSpec("R2", "Compute plane", (
        C("gpu_topology", "GPUs and their topology",
          "model, count, memory, form factor and interconnect declared for every target pool and found so",
          "facts, compute.gpu",
          m.shape(("gpu.model", "gpu.count", "gpu.memory", "gpu.form_factor", "gpu.interconnect"), "R2.gpu_topology",
                  target=True, judgement="compute.gpu"), gpu=True, facts=True),
        _shape("cpu_ram", "CPU and RAM", "cores and memory", ("cpu.cores", "memory")),
        _shape("local_nvme", "Local NVMe", "size", ("nvme.total",)),
        _shape("nics", "Network interfaces", "count and speed", ("nics.count", "nics.speed")),
        C("lifecycle", "Driver, CUDA, container and OS life cycle",
          "version, owner, upgrade window, end of support and rollback of each layer on file, versions found so",
          "facts", m.lifecycle, gpu=True, facts=True),
        C("replacement", "Replacement policy", "time, like for like or not, and owner for every target pool", PAPER,
          m.replacement),
        C("homogeneity", "Nodes are alike", "every declared node was looked at and none is odd", "compute.homogeneity",
          m.judged(("compute.homogeneity",), "nobody compared the nodes with each other", m.ON_TARGET,
                   Remedy.MEASURE_GPU), gpu=True),
        _design("compute"),
    )),
    AreaSpec("R3", "Network plane", (
        C("fabric", "Fabric type", "network.fabric.kind declared and found on the nodes", "facts", m.fabric,
          facts=True),
        C("placement", "Placement", "declared, and found or shown by an all-reduce across every node",
          "facts, network.allreduce", m.shown_at_scale("placement", "R3.placement", "placement"), facts=True),
        C("oversubscription", "Oversubscription", "declared, and found or shown by an all-reduce across every node",
          "facts, network.allreduce",
          m.shown_at_scale("oversubscription", "R3.oversubscription", "oversubscription"), facts=True),
        C("failure_domains", "Failure domains", "declared, and found as the fabric reports them", "facts",
          m.failure_domains, facts=True),
        C("benchmark", "NCCL or serving benchmark on file", "bandwidth and latency measured with GPUs, within bounds",
          "network.allreduce, network.latency",
          m.judged(("network.allreduce", "network.latency"), "no all-reduce is on file", m.ON_TARGET,
                   Remedy.MEASURE_GPU), gpu=True),
        _design("network"),
    )),
    AreaSpec("R4", "Storage plane, tested", (
        _storage("staging", "Dataset staging", "staging measured within its bound", "storage.staging",
                 otherwise="staging was not measured", fix=_PROVE),
        _storage("weight_cache", "Weight cache", "loading of weights measured, cold and warm", "storage.weights_load",
                 otherwise="loading of weights was not measured", fix=_PROVE),
        _storage("checkpoint_write", "Checkpoint write", "write rate and stall measured within their bounds",
                 "storage.checkpoint_write", otherwise="no checkpoint was written", fix=_PROVE),
        _storage("checkpoint_restore", "Checkpoint restore", "a checkpoint read back, verified, within its bound",
                 "storage.checkpoint_restore", otherwise="no checkpoint was read back", fix=_PROVE),
        _storage("crash_consistency", "Checkpoint survives a killed writer", "the last good checkpoint was restored",
                 "storage.crash_consistency", otherwise="no writer was killed in mid-write", fix=_PROVE),
        _storage("object_store", "Object store", "read or written at the rate needed", "storage.object_store",
                 otherwise="the object store was not measured",
                 fix="run 'fourplane prove --dataset URL' with the object store's URL"),
        _storage("snapshots", "Snapshots and backup", "a snapshot and a backup restored and compared",
                 "storage.snapshots", otherwise="no snapshot was restored",
                 fix="restore a snapshot, and a backup elsewhere, and compare the content"),
        _storage("cleanup", "Clean-up after jobs", "nothing was left on scratch", "storage.scratch_clean",
                 otherwise="nobody looked at scratch after a job", fix=_PROVE),
        C("gds", "GPUDirect Storage decided", "choice, reason and figure on file; measured where 'optimised' is chosen",
          "paper, storage.gds", m.gds),
        C("outputs", "Outputs and logs", "place, write rate, retention and owner of each are on file", PAPER,
          m.outputs),
        _design("storage"),
    )),
    AreaSpec("R5", "Scheduler and owners", (
        C("scheduler", "Scheduler chosen and running", "version and reason on file, and found on the nodes",
          "paper, control.scheduler", p.scheduler),
        _owner("queues", "Owner of queues", "an owner is named, with a queue for each scheduler", p.queues),
        _owner("quotas", "Owner of quotas", "an owner is named, and every team has a quota", p.quotas),
        _owner("retries", "Owner of retries", "an owner is named; count, causes and back-off per queue", p.retries),
        _owner("user_access", "Owner of user access", "an owner is named for the scheduler chosen", p.user_access),
        _design("control"),
    )),
    AreaSpec("R6", "Observability and cost", (
        _signal("jobs", "Jobs by team and workload"),
        _signal("gpus", "GPUs by team and workload", gpu=True),
        _signal("fabric", "Fabric by team and workload"),
        _signal("storage", "Storage by team and workload"),
        _signal("cost", "Cost by team and workload"),
    )),
    AreaSpec("R7", "Security and access", (
        _decision("identity", "Identity", "identity"),
        _decision("secrets", "Secrets", "secrets", probe="security.secrets",
                  probed_by="a tenant can't read another tenant's secret"),
        _decision("image_policy", "Image policy", "image_registry", "image_signing", "image_scanning",
                  probe="security.image_policy", probed_by="an image from an unlisted registry is denied"),
        _decision("network_policy", "Isolation and network policy", "isolation", "network_policy", "egress",
                  probe="security.network_policy", probed_by="a tenant can't reach another tenant's namespace"),
        _decision("audit_logs", "Audit logs", "audit_retention"),
        _decision("data_cleanup", "Data clean-up", "data_cleanup", probe="storage.scratch_clean",
                  probed_by="scratch is clean after a job"),
        _decision("access", "SSH, break-glass, vendor access, remote hands", "ssh", "break_glass", "vendor_access",
                  "remote_hands"),
        _design("security"),
    )),
    AreaSpec("R8", "Acceptance", (
        C("production_container", "Production container runs", "the benchmarks ran inside it on the target hardware",
          "compute.production_container", m.container, gpu=True),
        C("network_tested", "Network tested", "an all-reduce across every declared node reached its bound",
          "network.allreduce", m.network_tested, gpu=True),
        C("checkpoints", "Checkpoints written and restored", "written, restored, and safe from a killed writer",
          "storage.checkpoint_write, storage.checkpoint_restore, storage.crash_consistency",
          m.judged(("storage.checkpoint_write", "storage.checkpoint_restore", "storage.crash_consistency"),
                   "no checkpoint was written and restored", _PROVE)),
        C("logs_exported", "Logs exported", "a labelled job's logs were read back from their place",
          "control.logs_exported", m.logs_exported),
    )),
    AreaSpec("R9", "Unit economics", (
        _way("cloud_rental", "Cloud rental", "cloud rental"),
        _way("colocation", "Colocation", "colocation"),
        _way("on_premises", "On-premises", "on-premises"),
        _way("model_api", "Model API", "model API"),
        C("same_denominator", "One denominator", "four ways priced for the same work, this cluster's yield measured",
          "paper, economics.unit_cost", p.same_denominator),
    )),
)  # fmt: skip
"""The nine areas in order."""


def all_conditions() -> Iterator[tuple[str, ConditionSpec]]:
    """Yield (id, condition) of every row that the review may show."""
    for area in AREAS:
        for one in area.conditions:
            yield f"{area.id}.{one.name}", one
