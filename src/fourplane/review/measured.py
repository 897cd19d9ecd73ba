"""Conditions that only measurements prove: compute, network, storage, telemetry, acceptance (R2, R3, R4, R6, R8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from fourplane.base.text import plural, printable
from fourplane.base.verdicts import Verdict
from fourplane.review.desk import Desk
from fourplane.review.gaps import value_at
from fourplane.review.outcome import Part, Remedy
from fourplane.review.wording import is_set, listing
from fourplane.spec.compute import Pool
from fourplane.spec.storage import GdsChoice

__all__ = [
    "ON_TARGET", "container", "fabric", "failure_domains", "gds", "judged", "lifecycle", "logs_exported",
    "network_tested", "outputs", "replacement", "shape", "shown_at_scale", "telemetry",
]  # fmt: skip

Parts = Callable[[Desk], list[Part]]

ON_TARGET = "rent a small slice of the target hardware and run 'fourplane prove' on it"
_SOFTWARE = ("driver", "cuda", "container_toolkit", "container_runtime", "os_image")
_CARE = ("version", "owner", "upgrade_window", "end_of_support", "rollback")


def judged(keys: Iterable[str], otherwise: str, fix: str, remedy: Remedy = Remedy.MEASURE) -> Parts:
    """Return the judge of capabilities that measurements decide, one part for each judgement."""
    names = tuple(keys)

    def parts(desk: Desk) -> list[Part]:
        return [desk.judged(key, otherwise, fix, remedy) for key in names]

    return parts


# ── R2: compute ─────────────────────────────────────────────────────────────────────────────────────────────────────


def shape(keys: Iterable[str], condition: str, *, target: bool = False, judgement: str = "") -> Parts:
    """Return the judge of facts of the node shape: declared for every pool, and found as declared.

    Args:
        keys: facts below ``pools[N].shape`` that must be declared, ``nics`` for the list of interfaces.
        condition: id of the condition, by which the rows of the three-way table are found.
        target: only pools of target hardware count: a stand-in proves nothing about GPUs.
        judgement: id of a judgement that must hold as well; "" for none.
    """
    names = tuple(keys)

    def parts(desk: Desk) -> list[Part]:
        pools = desk.target_pools if target else desk.node_pools
        kind = "pool of target hardware" if target else "pool"
        out = []
        if not pools:
            out.append(desk.open(f"no {kind} is declared", f"declare a {kind} under pools", "pools"))
        for i, pool in pools:
            missing = [key for key in names if not _declares(pool, key)]
            if missing:
                out.append(desk.lacking([f"pools[{i}].shape.{key}" for key in missing], f"pools[{i}].shape"))
        facts = desk.facts(condition)
        out += facts
        if not facts and (not out or not len(desk.case.observations)):
            # where a field is missing and nodes were looked at, the comparison follows once it is declared
            reason = "no node was compared with the declaration"
            fix, remedy = (ON_TARGET, Remedy.MEASURE_GPU) if target else ("run 'fourplane prove'", Remedy.MEASURE)
            out.append(Part(Verdict.UNPROVEN, reason, (), fix, remedy, measured=True))
        if judgement:
            out.append(desk.judged(judgement, "nobody judged the GPUs that were found", ON_TARGET, Remedy.MEASURE_GPU))
        return out

    return parts


def lifecycle(desk: Desk) -> list[Part]:
    """Judge driver, CUDA, container and OS: each with owner, upgrade window, end of support, rollback; found so."""
    out = []
    if not desk.target_pools:
        out.append(desk.open("no pool of target hardware is declared", "declare a pool under pools", "pools"))
    for i, pool in desk.target_pools:
        path = f"pools[{i}].lifecycle"
        missing = [
            f"{layer}.{key}"
            for layer in _SOFTWARE
            for key in _CARE
            if not is_set(value_at(pool.lifecycle, f"{layer}.{key}"))
        ]
        if missing:
            out.append(desk.lacking([f"{path}.{name}" for name in missing], path))
    facts = desk.facts("R2.lifecycle")
    reason = "no version that runs was compared with the declaration"
    nothing = Part(Verdict.UNPROVEN, reason, (), ON_TARGET, Remedy.MEASURE_GPU, measured=True)
    return out + (facts or [nothing])


def replacement(desk: Desk) -> list[Part]:
    """Judge the replacement policy: time, like for like or not, and an owner, for every pool of target hardware."""
    if not desk.target_pools:
        return [desk.open("no pool of target hardware is declared", "declare a pool under pools", "pools")]
    out = []
    for i, pool in desk.target_pools:
        path = f"pools[{i}].replacement"
        missing = [
            f"{path}.{key}" for key in ("time", "like_for_like", "owner") if not is_set(value_at(pool.replacement, key))
        ]
        if missing:
            out.append(desk.lacking(missing, path))
            continue
        assert pool.replacement is not None
        same = "like for like" if pool.replacement.like_for_like else "not like for like"
        who = printable(pool.replacement.owner or "")
        out.append(desk.paper(f"pool {pool.name}: {who} replaces a node in {pool.replacement.time}, {same}", path))
    return out


def _declares(pool: Pool, key: str) -> bool:
    shapes = [pool.shape] if pool.shape is not None else []
    # without a shape of the pool, every node entry has to carry the fact itself
    shapes = shapes or [entry.shape for entry in pool.nodes if entry.shape is not None]
    if not shapes:
        return False
    if key.startswith("nics."):
        return all(one.nics and all(is_set(value_at(nic, key[5:])) for nic in one.nics) for one in shapes)
    return all(is_set(value_at(one, key)) for one in shapes)


# ── R3: network ─────────────────────────────────────────────────────────────────────────────────────────────────────


def fabric(desk: Desk) -> list[Part]:
    """Judge the type of fabric: declared and found on the nodes; what rides on it shown by traffic."""
    declared = desk.declaration.network.fabric
    kind = declared.kind if declared else None
    out = []
    if kind is None:
        out.append(desk.open("network.fabric.kind is not declared", "write network.fabric.kind", "network.fabric"))
    rows = desk.rows("R3.fabric")
    kinds = desk.weigh_rows(row for row in rows if row.fact.endswith("kind"))
    details = desk.weigh_rows(row for row in rows if not row.fact.endswith("kind"))
    if not kinds:
        reason, fix = "no node was looked at for its fabric", "run 'fourplane prove' on the nodes"
        out.append(Part(Verdict.UNPROVEN, reason, (), fix, Remedy.MEASURE, measured=True))
    out += kinds
    # rails, GPUDirect and SHARP are seen by no probe; an all-reduce at its expected rate shows them
    out += [part for part in details if part.verdict is Verdict.FAILED]
    if any(part.verdict is not Verdict.FAILED for part in details):
        out.append(_across_nodes(desk, "rails, GPUDirect RDMA and SHARP are promises until traffic shows them"))
    return out


def shown_at_scale(key: str, condition: str, what: str) -> Parts:
    """Return the judge of a promise about the fabric that only traffic between nodes can show.

    Passed when a row of the three-way table found it, or when an all-reduce across every declared node reached its
    bound: a poor placement or an oversubscribed spine would have kept it from that.
    """

    def parts(desk: Desk) -> list[Part]:
        if desk.single_node:
            return [desk.paper(f"one node without a fabric: {what} doesn't apply", "network.fabric.kind")]
        out = []
        if not is_set(value_at(desk.declaration.network.fabric, key)):
            fix = f"write network.fabric.{key} as the provider guarantees it"
            out.append(desk.open(f"network.fabric.{key} is not declared", fix, "network.fabric"))
        facts = desk.facts(condition)
        if any(part.verdict in (Verdict.FAILED, Verdict.PASSED) for part in facts):
            return out + facts
        return [*out, _across_nodes(desk, f"{what} is a promise until traffic across the nodes shows it")]

    return parts


def failure_domains(desk: Desk) -> list[Part]:
    """Judge the failure domains: named, and compared with what the fabric reports."""
    if desk.single_node:
        return [desk.paper("one node without a fabric: the node is the only failure domain", "network.fabric.kind")]
    out = []
    if not is_set(value_at(desk.declaration.network.fabric, "failure_domains")):
        fix = "write network.fabric.failure_domains: what fails together"
        out.append(desk.open("network.fabric.failure_domains is not declared", fix, "network.fabric"))
    facts = desk.facts("R3.failure_domains")
    fix = "compare rack and switch of every node with the topology that the fabric or the provider reports"
    nothing = Part(
        Verdict.UNPROVEN,
        "where each node really hangs was not compared with the declaration",
        (),
        fix,
        Remedy.MEASURE_GPU,
        measured=True,
    )
    return out + (facts or [nothing])


def network_tested(desk: Desk) -> list[Part]:
    """Judge the network's acceptance: all-reduce across every declared node within its bound (N2)."""
    return [_across_nodes(desk, "no all-reduce ran across the nodes")]


def _across_nodes(desk: Desk, otherwise: str) -> Part:
    part = desk.judged("network.allreduce", otherwise, ON_TARGET, Remedy.MEASURE_GPU)
    if part.verdict is not Verdict.PASSED:
        return replace(part, reason=f"{otherwise} ({part.reason})") if part.reason != otherwise else part
    if not desk.gpus_seen:
        reason = "the all-reduce ran without GPUs, so it says nothing about the fabric between them"
        return replace(part, verdict=Verdict.UNPROVEN, reason=reason, fix=ON_TARGET, remedy=Remedy.MEASURE_GPU)
    spanned, declared = desk.spanned("network.allreduce"), desk.node_count
    if declared is None or spanned < declared:
        known = f"{declared:,} declared" if declared is not None else "an open number of"
        reason = f"the all-reduce spanned {plural(spanned, 'node')} of {known} nodes"
        return replace(
            part, verdict=Verdict.UNPROVEN, reason=reason, fix="run it across every node", remedy=Remedy.MEASURE_GPU
        )
    return replace(part, reason=f"{part.reason.rstrip('. ')}, across {plural(spanned, 'node')}")


# ── R4: storage ─────────────────────────────────────────────────────────────────────────────────────────────────────


def gds(desk: Desk) -> list[Part]:
    """Judge the decision on GPUDirect Storage: made, with a reason and the figure behind it (S3)."""
    choice = desk.declaration.storage.gds
    if choice is None:
        fix = "write storage.gds: ordinary, optimised or accepted-bottleneck, with reason and figure"
        return [desk.open("GPUDirect Storage is not decided", fix, "storage")]
    missing = [f"storage.gds.{key}" for key in ("reason", "figure") if not is_set(getattr(choice, key))]
    if missing:
        return [desk.lacking(missing, "storage.gds")]
    said = desk.paper(f"{choice.choice} is chosen with {choice.figure} behind it", "storage.gds")
    if choice.choice is GdsChoice.OPTIMISED:
        otherwise = "the optimised path was not measured"
        fix = "run gdsio on the target hardware, with and without GPUDirect Storage"
        return [said, desk.judged("storage.gds", otherwise, fix, Remedy.MEASURE_GPU)]
    return [said]


def outputs(desk: Desk) -> list[Part]:
    """Judge outputs and logs: each with a place, a write rate, a retention and an owner (S5)."""
    declared = desk.declaration.storage.outputs
    if not declared:
        fix = "write storage.outputs: results, metrics, traces and audit logs"
        return [desk.open("storage.outputs is empty", fix, "storage")]
    missing = [
        f"storage.outputs[{i}].{key}"
        for i, one in enumerate(declared)
        for key in ("place", "write_rate", "retention", "owner")
        if not is_set(getattr(one, key))
    ]
    if missing:
        return [desk.lacking(missing, "storage.outputs")]
    names = listing([printable(one.name) for one in declared])
    return [desk.paper(f"{names} have place, write rate, retention and owner", "storage.outputs")]


# ── R6 and R8: telemetry and acceptance ─────────────────────────────────────────────────────────────────────────────


def telemetry(signal: str) -> Parts:
    """Return the judge of one group of signals: source and owner are a plan, a labelled probe job is the proof (O4)."""

    def parts(desk: Desk) -> list[Part]:
        declared = getattr(desk.declaration.telemetry, signal)
        path = f"telemetry.{signal}"
        missing = [f"{path}.{key}" for key in ("source", "owner") if not is_set(value_at(declared, key))]
        if not is_set(desk.declaration.telemetry.labels):
            missing.append("telemetry.labels")
        if signal == "cost":
            teams = desk.declaration.teams
            missing += [f"teams[{i}].cost_label" for i, team in enumerate(teams) if not is_set(team.cost_label)]
        if missing:
            out = [desk.lacking(missing, path)]
        else:
            said = f"source {printable(declared.source)}, owned by {printable(declared.owner)}"
            out = [desk.paper(said, path)]
        shown = f"not shown on a labelled job: {'GPUs' if signal == 'gpus' else signal} by team and workload"
        planned = f"planned, {shown}" if not missing else shown
        fix = "run one short job with team and workload labels and find it again in every signal"
        return [*out, desk.judged(f"telemetry.{signal}", planned, fix, Remedy.PROBE_JOB)]

    return parts


def container(desk: Desk) -> list[Part]:
    """Judge the production container: the benchmarks run inside it on the target hardware (N2)."""
    fix = "run 'fourplane prove' inside the production image on the target hardware"
    otherwise = "the production container did not run on the target hardware"
    return [desk.judged("compute.production_container", otherwise, fix, Remedy.MEASURE_GPU)]


def logs_exported(desk: Desk) -> list[Part]:
    """Judge the export of logs: a labelled job's logs found again where they are kept."""
    fix = "run one short labelled job and read its logs where they are kept"
    return [
        desk.judged("control.logs_exported", "no job's logs were read back from their place", fix, Remedy.PROBE_JOB)
    ]
