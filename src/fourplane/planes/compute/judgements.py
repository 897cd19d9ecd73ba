"""What measurements say about the nodes: GPUs healthy and as meant, nodes alike (C1, C2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.planes.found import NodePool, name_list
from fourplane.planes.gates import Bench, judgement
from fourplane.planes.model import Judgement, Plane
from fourplane.records.observation import Observation, State
from fourplane.spec.compute import Sharing

__all__ = ["judge_compute"]

_C = Plane.COMPUTE
POWER_SHARE = 0.9
"""An enforced limit below this share of the board's power makes another GPU of it."""
_TARGET = "run 'fourplane prove' on a node of the target shape"

_ALIKE = (
    "compute.gpu.model", "compute.gpu.count", "compute.gpu.driver", "compute.cuda.version", "compute.nccl.version",
    "compute.cpu.model", "compute.cpu.cores", "compute.memory.total", "compute.kernel.version", "compute.os.image",
    "compute.container.runtime", "compute.container.toolkit", "network.nic.count",
)  # fmt: skip
"""Facts in which the nodes of one pool must not differ."""
_MEMORY_STEP = 2**30
"""Memory is compared in whole GiB: the kernel keeps a little more or less of it on each boot."""


def judge_compute(bench: Bench) -> Iterator[Judgement]:
    """Yield the judgements of the compute plane."""
    yield _gpu(bench)
    yield _homogeneity(bench)


def _gpu(bench: Bench) -> Judgement:
    key, title = "compute.gpu", "GPUs healthy and as meant"
    pools = [pool for pool in bench.found.pools if not pool.view.is_stand_in]
    nodes = [node for pool in pools for node in pool.nodes if bench.found.has_gpu(node)]
    if not nodes:
        bare = bench.case.observations.nodes()
        reason = f"no GPU on {name_list(bare)}" if bare else "no node was looked at"
        counts = bench.found.every("compute.gpu.count")
        return judgement(key, _C, title, Verdict.UNPROVEN, reason, counts, fix=_TARGET)
    faults, evidence = [], []
    for pool in pools:
        for node in pool.nodes:
            for fault, one in _faults(bench, pool, node):
                faults.append(fault)
                evidence.append(one)
    if faults:
        fix = "take the GPU out of service, or have it put right, and run 'fourplane prove' again"
        return judgement(key, _C, title, Verdict.FAILED, name_list(faults, 3), evidence, fix=fix)
    looked = [one for node in nodes for one in _health(bench, node)]
    for metric, what in (("compute.gpu.ecc_uncorrected", "ECC counters"), ("compute.gpu.topology", "topology")):
        silent = [node for node in nodes if not _seen(bench, metric, node)]
        if silent:
            reason = f"{what} of {name_list(silent)} not read: {bench.why_not(metric)}"
            return judgement(key, _C, title, Verdict.UNPROVEN, reason, looked, fix=_TARGET)
    missing = sum(pool.unseen for pool in pools if pool.view.has_gpus)
    if missing:
        reason = f"no fault on {name_list(nodes)}; {missing:,} declared nodes were not looked at"
        return judgement(key, _C, title, Verdict.UNPROVEN, reason, looked, fix="run 'fourplane prove' on every node")
    reason = (
        f"no uncorrected ECC error, no lowered power limit, sharing as declared, topology read on {name_list(nodes)}"
    )
    return judgement(key, _C, title, Verdict.PASSED, reason, looked)


def _seen(bench: Bench, metric: str, node: str) -> bool:
    """Tell whether a metric was read for the node itself, or for each of its GPUs."""
    one = bench.found.of_node(metric, node)
    if one is not None and one.state is State.MEASURED:
        return True
    count = bench.found.of_node("compute.gpu.count", node)
    return len(bench.found.devices(metric, node)) >= max(1, int(count.number) if count and count.number else 0)


def _health(bench: Bench, node: str) -> list[Observation]:
    metrics = ("compute.gpu.ecc_uncorrected", "compute.gpu.power_limit", "compute.gpu.mig")
    own = bench.found.of_node("compute.gpu.topology", node)
    return [one for metric in metrics for one in bench.found.devices(metric, node)] + ([own] if own else [])


def _faults(bench: Bench, pool: NodePool, node: str) -> Iterator[tuple[str, Observation]]:
    for one in bench.found.devices("compute.gpu.ecc_uncorrected", node):
        if one.number:
            yield f"{_name(one)} has {one.number:,.0f} uncorrected ECC errors", one
    models = {m.subject: m for m in bench.found.devices("compute.gpu.model", node)}
    for one in bench.found.devices("compute.gpu.power_limit", node):
        model = models.get(one.subject)
        board = bench.case.catalog.gpu(str(model.value)) if model else None
        power = board.fact("power") if board else None
        if board and power and one.number is not None and one.number < POWER_SHARE * power.low:
            yield f"{_name(one)} is limited to {one.number:,.0f} W; {board.title} is made for {power.shown}", one
    sharing = pool.view.pool.sharing
    for one in bench.found.devices("compute.gpu.mig", node):
        mode = str(one.value).casefold()
        if (sharing is Sharing.WHOLE and mode == "enabled") or (sharing is Sharing.MIG and mode == "disabled"):
            yield f"{_name(one)} has MIG {mode}; the pool is declared as {sharing}", one


def _name(one: Observation) -> str:
    return printable(one.subject.removeprefix("node:"))


def _homogeneity(bench: Bench) -> Judgement:
    key, title = "compute.homogeneity", "nodes of a pool alike"
    odd: list[str] = []
    evidence: list[Observation] = []
    for pool in bench.found.pools:
        for metric in _ALIKE:
            values = _values(bench, pool, metric)
            if len(values) < 2:
                continue
            usual, _ = Counter(values.values()).most_common(1)[0]
            strange = defaultdict(list)
            for node, value in values.items():
                if value != usual:
                    strange[value].append(node)
            for value, nodes in strange.items():
                odd.append(f"{name_list(nodes)} has {metric} {value}, most have {usual}")
                evidence += [o for node in nodes if (o := bench.found.of_node(metric, node)) is not None]
        odd += _mixed_gpus(bench, pool)
    if odd:
        fix = "have the odd nodes replaced or brought to the same versions"
        return judgement(key, _C, title, Verdict.FAILED, name_list(odd, 3), evidence, fix=fix)
    return _alike(bench, key, title)


def _alike(bench: Bench, key: str, title: str) -> Judgement:
    targets = [pool for pool in bench.found.pools if not pool.view.is_stand_in]
    looked = [pool for pool in targets if pool.nodes]
    evidence = [o for p in looked for n in p.nodes for o in [bench.found.of_node("compute.cpu.model", n)] if o]
    if not looked:
        stand_ins = [node for pool in bench.found.pools for node in pool.nodes]
        where = f"only the stand-in {name_list(stand_ins)} was looked at" if stand_ins else "no node was looked at"
        return judgement(key, _C, title, Verdict.UNPROVEN, where, evidence, fix=_TARGET)
    missing = sum(pool.unseen for pool in targets)
    if missing:
        reason = f"no difference among the nodes seen; {missing:,} declared nodes were not looked at"
        return judgement(key, _C, title, Verdict.UNPROVEN, reason, evidence, fix="run 'fourplane prove' on every node")
    if all(len(pool.nodes) == 1 for pool in looked):
        reason = "each pool has one node, and its GPUs are of one model"
        if not any(bench.found.devices("compute.gpu.model", pool.nodes[0]) for pool in looked):
            return judgement(
                key, _C, title, Verdict.UNPROVEN, "one node, and no GPUs to compare", evidence, fix=_TARGET
            )
        return judgement(key, _C, title, Verdict.PASSED, reason, evidence)
    nodes = sum(len(pool.nodes) for pool in looked)
    reason = f"{nodes:,} nodes do not differ in {len(_ALIKE)} facts"
    return judgement(key, _C, title, Verdict.PASSED, reason, evidence)


def _values(bench: Bench, pool: NodePool, metric: str) -> dict[str, str]:
    values = {}
    for node in pool.nodes:
        one = bench.found.of_node(metric, node)
        if one is None or (one.state is State.MEASURED and one.value is None):
            continue
        if one.state is State.MEASURED:
            value = one.value
            if metric == "compute.memory.total" and one.number is not None:
                value = f"{round(one.number / _MEMORY_STEP)} GiB"
            values[node] = str(value)
        elif one.state is State.ABSENT:
            values[node] = "absent"
    return values


def _mixed_gpus(bench: Bench, pool: NodePool) -> list[str]:
    out = []
    for node in pool.nodes:
        kinds = Counter(str(one.value) for one in bench.found.devices("compute.gpu.model", node))
        if len(kinds) > 1:
            told = ", ".join(f"{count} × {kind}" for kind, count in kinds.items())
            out.append(printable(f"{node} has mixed GPUs: {told}"))
    return out
