"""What measurements say about the four flows of storage (S1 to S4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fourplane.base.text import plural, printable
from fourplane.base.units import format_bytes
from fourplane.base.verdicts import Verdict
from fourplane.planes.found import name_list
from fourplane.planes.gates import Bench, Gate, judgement
from fourplane.planes.model import Judgement, Plane
from fourplane.planes.promises import root_promises
from fourplane.records.observation import Observation, State

__all__ = ["judge_storage", "restore_gates", "staging_gates", "weights_gates", "write_gates"]

_S = Plane.STORAGE
_PROVE = "run 'fourplane prove' with --scratch on the storage of the target"
MB = 1e6


def judge_storage(bench: Bench) -> Iterator[Judgement]:
    """Yield the judgements of the storage plane."""
    yield _staging(bench)
    yield _rate(
        bench,
        "storage.checkpoint_write",
        "checkpoint write",
        "storage.checkpoint.write_throughput",
        write_gates(bench),
    )
    yield _restore(bench)
    yield _flag(
        bench, "storage.crash_consistency", "crash consistency of checkpoints", "storage.checkpoint.crash_consistent",
        "a writer killed in mid-write left the last good checkpoint restorable",
        "a writer killed in mid-write left no restorable checkpoint",
        "write to a new name, fsync, and rename only when every shard is down",
    )  # fmt: skip
    yield _rate(
        bench, "storage.weights_load", "weights load, cold", "storage.weights.cold_throughput", weights_gates(bench),
        whole=False,
    )  # fmt: skip
    yield _flag(
        bench, "storage.scratch_clean", "scratch clean-up", "storage.scratch.clean",
        "nothing of the probe was left in scratch", "files were left in scratch", "clean scratch in the job's epilog",
    )  # fmt: skip
    yield _object_store(bench)
    yield _snapshots(bench)


def _staging(bench: Bench) -> Judgement:
    """Judge staging; a synthetic dataset on the node's own disk says nothing about a source that lies elsewhere."""
    out = _rate(
        bench, "storage.staging", "dataset staging", "storage.staging.throughput", staging_gates(bench), whole=False
    )
    declared = bench.case.declaration.storage.staging
    synthetic = [one for one in bench.measured("storage.staging.source") if "synthetic" in str(one.value)]
    if out.verdict is not Verdict.PASSED or not synthetic or declared is None or not declared.source:
        return out
    reason = f"{out.reason}; from a {synthetic[0].value}, and the declared source is {printable(declared.source)}"
    fix = "run 'fourplane prove --dataset' with the folder or bucket that the dataset comes from"
    return replace(out, verdict=Verdict.UNPROVEN, reason=reason, fix=fix)


def _rate(
    bench: Bench, key: str, title: str, metric: str, gates: list[Gate], *, whole: bool = True,
    extra: tuple[Observation, ...] = (),
) -> Judgement:  # fmt: skip
    """Judge a rate: the slowest node against the highest gate; ``whole``: all nodes of a job share the need."""
    measured = [one for one in bench.measured(metric) if one.number is not None]
    places = [gate.place for gate in gates]
    if not measured:
        return judgement(key, _S, title, Verdict.UNPROVEN, bench.why_not(metric), places=places, fix=_PROVE)
    slowest = min(measured, key=lambda one: one.number or 0.0)
    rate = (slowest.number or 0.0) * MB
    where = slowest.subject.removeprefix("node:")
    told = f"{_mb(rate)} on {where}" + (f", the slowest of {len(measured)} nodes" if len(measured) > 1 else "")
    note = bench.stand_in_note(measured)
    evidence = (slowest, *(one for one in measured if one is not slowest), *extra)
    if not gates:
        reason = f"{told}; no bound is declared, so the figure decides nothing{note}"
        return judgement(key, _S, title, Verdict.UNPROVEN, reason, evidence, fix=_missing_bound(key))
    hardest = max(gates, key=lambda gate: gate.least)
    need = hardest.least * (1 - bench.tolerance)
    allowed = f", {bench.tolerance:.0%} tolerated" if bench.tolerance else ""
    bound = f"{hardest.said}{allowed}"
    missing = bench.not_looked_at(measured)
    if rate >= need and missing:
        reason = f"{told}; not looked at: {plural(missing, 'declared node')}; {bound}{note}"
        return judgement(key, _S, title, Verdict.UNPROVEN, reason, evidence, places, "run it on every node")
    if rate >= need:
        return judgement(key, _S, title, Verdict.PASSED, f"{told}; {bound}{note}", evidence, places)
    nodes = max(1, bench.design.job_nodes)
    if whole and nodes > 1 and not _concurrent(measured, nodes):
        sum_rate = sum((one.number or 0.0) for one in measured) * MB
        reason = (
            f"{told}, {_mb(sum_rate)} over {len(measured)} in sum but not at one time; {bound}, for {nodes} nodes "
            f"writing at once{note}"
        )
        return judgement(
            key, _S, title, Verdict.UNPROVEN, reason, evidence, places, f"measure all {nodes} nodes of a job at once"
        )
    if whole and nodes > 1:
        total = sum((one.number or 0.0) for one in measured) * MB
        verdict = Verdict.PASSED if total >= need else Verdict.FAILED
        reason = f"{_mb(total)} over {len(measured)} nodes at once; {bound}{note}"
        return judgement(key, _S, title, verdict, reason, evidence, places, _slow_fix(key))
    return judgement(key, _S, title, Verdict.FAILED, f"{told}; {bound}{note}", evidence, places, _slow_fix(key))


def _concurrent(measured: list[Observation], nodes: int) -> bool:
    """Tell whether the figures of enough nodes were taken at one time, as the probe's conditions state."""
    return sum(1 for one in measured if one.conditions.get("concurrent_nodes", 1) >= nodes) >= nodes


def _mb(rate: float) -> str:
    return f"{rate / MB:,.0f} MB/s" if rate >= 10 * MB else f"{rate / MB:,.3g} MB/s"


def _missing_bound(key: str) -> str:
    field = {
        "storage.staging": "storage.staging.deadline with dataset_size, or storage.staging.throughput",
        "storage.checkpoint_write": "storage.checkpoints.size with tolerated_stall, or write_throughput",
        "storage.checkpoint_restore": "storage.checkpoints.restore_time with size",
        "storage.weights_load": "storage.weights.load_time with size",
    }[key]
    return f"declare {field}"


def _slow_fix(key: str) -> str:
    return {
        "storage.staging": "ask the provider for the promised rate, or stage earlier or in parts",
        "storage.checkpoint_write": "ask for more write throughput, shard wider, or write asynchronously",
        "storage.checkpoint_restore": "ask for more read throughput, or keep the newest checkpoint on local NVMe",
        "storage.weights_load": "cache the weights on local NVMe, or set a longer load time",
    }[key]


def _quoted(bench: Bench, path: str) -> Iterator[Gate]:
    for promise in root_promises(bench.case, path):
        if promise.value is not None:
            yield Gate(
                promise.value.base,
                f"the quote of {printable(promise.provider)} promises {promise.value}",
                promise.place,
            )


def staging_gates(bench: Bench) -> list[Gate]:
    """Return the bounds on staging: as quoted, as declared, and as size and deadline imply."""
    staging, wish = bench.case.declaration.storage.staging, bench.case.declaration.brief.storage
    cite = bench.case.workspace.cite
    gates = list(_quoted(bench, "storage.staging.throughput"))
    size = (staging.dataset_size if staging else None) or (wish.dataset_size if wish else None)
    if staging and staging.throughput:
        said = f"the target is {staging.throughput}"
        gates.append(Gate(staging.throughput.base, said, cite("storage.staging.throughput")))
    if staging and staging.deadline and staging.deadline.base and size:
        need = size.base / staging.deadline.base
        gates.append(Gate(need, f"{size} in {staging.deadline} need {_mb(need)}", cite("storage.staging.deadline")))
    return gates


def write_gates(bench: Bench) -> list[Gate]:
    """Return the bounds on writing a checkpoint: as quoted, as declared, and as size and stall imply."""
    checkpoints = bench.case.declaration.storage.checkpoints
    cite = bench.case.workspace.cite
    gates = list(_quoted(bench, "storage.checkpoints.write_throughput"))
    if checkpoints and checkpoints.write_throughput:
        said = f"the target is {checkpoints.write_throughput}"
        gates.append(Gate(checkpoints.write_throughput.base, said, cite("storage.checkpoints.write_throughput")))
    size = bench.design.checkpoint_size
    if checkpoints and checkpoints.tolerated_stall and checkpoints.tolerated_stall.base and size:
        need = size.value / checkpoints.tolerated_stall.base
        said = (
            f"{format_bytes(size.value)} ({size.origin}) in a stall of {checkpoints.tolerated_stall} need {_mb(need)}"
        )
        gates.append(Gate(need, said, cite("storage.checkpoints.tolerated_stall")))
    return gates


def weights_gates(bench: Bench) -> list[Gate]:
    """Return the bound on loading weights."""
    weights, wish = bench.case.declaration.storage.weights, bench.case.declaration.brief.storage
    size = (weights.size if weights else None) or (wish.weights_size if wish else None)
    if not weights or not weights.load_time or not weights.load_time.base or not size:
        return []
    need = size.base / weights.load_time.base
    place = bench.case.workspace.cite("storage.weights.load_time")
    return [Gate(need, f"{size} in {weights.load_time} need {_mb(need)}", place)]


def restore_gates(bench: Bench) -> list[Gate]:
    """Return the bound on reading a checkpoint back."""
    size, checkpoints = bench.design.checkpoint_size, bench.case.declaration.storage.checkpoints
    if not checkpoints or not checkpoints.restore_time or not checkpoints.restore_time.base or not size:
        return []
    need = size.value / checkpoints.restore_time.base
    said = f"{format_bytes(size.value)} in {checkpoints.restore_time} need {_mb(need)}"
    return [Gate(need, said, bench.case.workspace.cite("storage.checkpoints.restore_time"))]


def _restore(bench: Bench) -> Judgement:
    key, title = "storage.checkpoint_restore", "checkpoint restore, verified"
    verified = bench.measured("storage.checkpoint.restore_verified")
    broken = [one for one in verified if one.value is not True]
    if broken:
        where = name_list([one.subject.removeprefix("node:") for one in broken])
        reason = f"a restored checkpoint did not verify on {where}"
        fix = "find out whether the write or the read is wrong: run the probe again on another file system"
        return judgement(key, _S, title, Verdict.FAILED, reason, broken, fix=fix)
    if not verified:
        why = bench.why_not("storage.checkpoint.restore_verified")
        return judgement(key, _S, title, Verdict.UNPROVEN, why, fix=_PROVE)
    metric = "storage.checkpoint.restore_throughput"
    return _rate(bench, key, title, metric, restore_gates(bench), extra=tuple(verified))


def _flag(bench: Bench, key: str, title: str, metric: str, good: str, bad: str, fix: str) -> Judgement:
    words = bench.words_of_last_run(metric)
    measured = [one for one in words if one.state is State.MEASURED]
    broken = [one for one in measured if one.value is not True]
    if not measured or (len(measured) < len(words) and not broken):
        # one part that left nothing behind says nothing of the part that crashed
        return judgement(key, _S, title, Verdict.UNPROVEN, bench.why_not(metric), words, fix=_PROVE)
    nodes = [one.subject.removeprefix("node:") for one in broken or measured]
    note = bench.stand_in_note(measured)
    if broken:
        return judgement(key, _S, title, Verdict.FAILED, f"{bad} on {name_list(nodes)}{note}", broken, fix=fix)
    return judgement(key, _S, title, Verdict.PASSED, f"{good} on {name_list(nodes)}{note}", measured)


def _object_store(bench: Bench) -> Judgement:
    key, title = "storage.object_store", "object store"
    stores = bench.case.declaration.storage.object_stores
    sources = [one for one in bench.measured("storage.staging.source") if "object" in str(one.value).casefold()]
    rates = [one for one in bench.measured("storage.staging.throughput") if one.number is not None]
    read = [(i, store.read) for i, store in enumerate(stores) if store.read]
    if not sources:
        seen = bench.measured("storage.staging.source")
        what = f"the dataset came from a {seen[0].value}" if seen else "nobody staged from one"
        reason = f"{what}, so no object store was read" if stores else "no object store is declared, and none was read"
        return judgement(key, _S, title, Verdict.UNPROVEN, reason, seen, fix="stage the dataset from the object store")
    by_subject = {one.subject: one for one in rates}
    staged = [by_subject[one.subject] for one in sources if one.subject in by_subject]
    if not staged or not read:
        reason = "it was read, and no rate is declared for it" if staged else "it was read, and no rate was measured"
        fix = "declare storage.object_stores[].read"
        return judgement(key, _S, title, Verdict.UNPROVEN, reason, [*staged, *sources], fix=fix)
    index, target = max(read, key=lambda pair: pair[1].amount)
    rate = min(one.number or 0.0 for one in staged) * MB
    verdict = Verdict.PASSED if rate >= target.base * (1 - bench.tolerance) else Verdict.FAILED
    place = bench.case.workspace.cite(f"storage.object_stores[{index}].read")
    reason = f"{_mb(rate)} read; the target is {target}{bench.stand_in_note(staged)}"
    fix = "ask for the promised rate, or read with more parallel requests"
    return judgement(key, _S, title, verdict, reason, [*staged, *sources], [place], fix)


def _snapshots(bench: Bench) -> Judgement:
    declared = bench.case.declaration.storage.snapshots or bench.case.declaration.storage.backup
    place = [bench.case.workspace.cite("storage.snapshots")] if declared else []
    reason = "declared; nobody restored one and compared" if declared else "neither snapshots nor backup are declared"
    fix = "restore a snapshot, and a backup elsewhere, and compare hashes"
    title = "snapshots and backup"
    return judgement("storage.snapshots", _S, title, Verdict.UNPROVEN, reason, places=place, fix=fix)
