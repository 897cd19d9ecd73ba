"""The three-way comparison: what was declared, promised and found, fact by fact, node by node (C2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fourplane.base.text import plural, printable
from fourplane.base.verdicts import Verdict
from fourplane.planes.comparators import (
    MEMORY_TOLERANCE,
    NVME_TOLERANCE,
    Comparator,
    at_least,
    contains,
    exact,
    model_alias,
    shown,
    version_at_least,
    version_prefix,
    within,
)
from fourplane.planes.found import Found, NodePool, name_list
from fourplane.planes.model import Case, FactRow, Plane
from fourplane.planes.nic_speeds import answers_speeds, found_speeds, stated_speeds
from fourplane.planes.promises import Promise, promises
from fourplane.planes.reading import walk
from fourplane.records.observation import Observation, State

__all__ = ["compare"]


@dataclass(frozen=True)
class PoolFact:
    """A fact of the nodes of a pool.

    Attributes:
        plane: plane of the fact.
        name: dotted name in the specification's words.
        path: where it stands below the pool, and below the quoted pool.
        metric: what was measured.
        compare: how two statements are held against each other.
        about_gpu: nothing about it passes on a stand-in.
        read: what one node has, where it isn't simply the metric of the node.
        state: how a statement is read, where it isn't simply the value at ``path``.
        prove: what would prove it.
        scale: factor from the metric's unit to the base unit of the statement.
    """

    plane: Plane
    name: str
    path: str
    metric: str
    compare: Comparator
    about_gpu: bool = False
    read: Callable[[Found, str], tuple[Any, Observation | None]] | None = None
    state: Callable[[Any], Any] | None = None
    prove: str = "run 'fourplane prove' on the nodes of the pool"
    scale: float = 1


def _devices(metric: str) -> Callable[[Found, str], tuple[Any, Observation | None]]:
    """Return a reader of one value for all devices of a node; differing devices give a text that names them."""

    def read(found: Found, node: str) -> tuple[Any, Observation | None]:
        devices = found.devices(metric, node)
        on_node = found.of_node(metric, node)
        values: list[Any] = [one.value for one in devices]
        if not values and on_node is not None and on_node.state is State.MEASURED:
            values = on_node.value if isinstance(on_node.value, list) else [on_node.value]
        first = devices[0] if devices else on_node
        if not values:
            return None, first
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            return min(values), first
        kinds = Counter(str(value) for value in values)
        only = next(iter(kinds))
        return only if len(kinds) == 1 else ", ".join(f"{n} × {kind}" for kind, n in kinds.items()), first

    return read


def _form_factor(found: Found, node: str) -> tuple[Any, Observation | None]:
    model, observation = _devices("compute.gpu.model")(found, node)
    board = found.case.catalog.gpu(str(model)) if model else None
    return (board.form_factor if board else None), observation


_TARGET = "run 'fourplane prove' on a node of the target shape"
_C, _N = Plane.COMPUTE, Plane.NETWORK

POOL_FACTS = (
    PoolFact(_C, "gpu.model", "shape.gpu.model", "compute.gpu.model", model_alias, True, _devices("compute.gpu.model")),
    PoolFact(_C, "gpu.form_factor", "shape.gpu.form_factor", "compute.gpu.model", exact, True, _form_factor),
    PoolFact(_C, "gpu.count", "shape.gpu.count", "compute.gpu.count", exact, True),
    PoolFact(
        _C, "gpu.memory", "shape.gpu.memory", "compute.gpu.memory", within(MEMORY_TOLERANCE), True,
        _devices("compute.gpu.memory"),
    ),
    PoolFact(_C, "cpu.model", "shape.cpu.model", "compute.cpu.model", contains),
    PoolFact(_C, "cpu.sockets", "shape.cpu.sockets", "compute.cpu.sockets", exact),
    PoolFact(_C, "cpu.cores", "shape.cpu.cores", "compute.cpu.cores", at_least),
    PoolFact(_C, "cpu.numa_nodes", "shape.cpu.numa_nodes", "compute.numa.nodes", exact),
    PoolFact(_C, "memory", "shape.memory", "compute.memory.total", within(MEMORY_TOLERANCE)),
    PoolFact(_C, "nvme.total", "shape.nvme.total", "storage.local.nvme_total", within(NVME_TOLERANCE)),
    PoolFact(_N, "nics.count", "shape.nics", "network.nic.count", at_least, state=lambda nics: _nic_count(nics)),
    PoolFact(_N, "nics.speed", "shape.nics", "network.nic.speed", answers_speeds, read=found_speeds, state=stated_speeds),
    PoolFact(_C, "lifecycle.driver", "lifecycle.driver.version", "compute.gpu.driver", version_prefix, True),
    PoolFact(_C, "lifecycle.cuda", "lifecycle.cuda.version", "compute.cuda.version", version_at_least, True),
    PoolFact(_C, "lifecycle.nccl", "lifecycle.nccl.version", "compute.nccl.version", version_prefix, True),
    PoolFact(
        _C, "lifecycle.container_toolkit", "lifecycle.container_toolkit.version", "compute.container.toolkit",
        version_prefix, True,
    ),
    PoolFact(
        _C, "lifecycle.container_runtime", "lifecycle.container_runtime.version", "compute.container.runtime",
        version_prefix,
    ),
    PoolFact(_C, "lifecycle.os_image", "lifecycle.os_image.version", "compute.os.image", contains),
)  # fmt: skip
"""Facts of nodes, in the order of the table."""


def _nic_count(nics: Any) -> int | None:
    counts = [nic.count for nic in nics or () if nic.count is not None]
    return sum(counts) if counts else None


def compare(case: Case) -> list[FactRow]:
    """Return every fact that somebody declared, promised, or that matters and was found, with its verdict."""
    from fourplane.planes.cluster_facts import cluster_rows

    found = Found(case)
    rows = [row for pool in found.pools for fact in POOL_FACTS for row in _pool_rows(found, pool, fact)]
    rows += [row for pool in found.pools for row in _count_rows(found, pool)]
    rows += cluster_rows(found)
    rows += [_stray(node) for node in found.strays]
    order = list(Plane)
    return sorted(rows, key=lambda row: order.index(row.plane))


def _pool_rows(found: Found, pool: NodePool, fact: PoolFact) -> Iterator[FactRow]:
    quoted = promises(found.case, pool.view.pool.name, fact.path, fact.state)
    groups: dict[str, list[str]] = defaultdict(list)
    stated: dict[str, Any] = {}
    default = _declared(pool, fact, None)
    for node in pool.nodes:
        value = _declared(pool, fact, node)
        groups[shown(value)].append(node)
        stated[shown(value)] = value
    if not pool.nodes:
        groups[shown(default)], stated[shown(default)] = [], default
    for text, nodes in groups.items():
        whole = text == shown(default)
        for subject, members in (
            [(f"pool:{pool.view.pool.name}", nodes)] if whole else [(f"node:{n}", [n]) for n in nodes]
        ):
            row = _row(found, pool, fact, subject, members, stated[text], quoted, whole)
            if row is not None:
                yield row


def _declared(pool: NodePool, fact: PoolFact, node: str | None) -> Any:
    if fact.path.startswith("shape."):
        shape = pool.shape(node) if node else pool.view.shapes[0]
        below = fact.path.removeprefix("shape.")
        value = walk(shape.own, below)
        value = walk(shape.base, below) if value is None else value
    else:
        value = walk(pool.view.pool, fact.path)
    return fact.state(value) if fact.state and value is not None else value


def _row(
    found: Found, pool: NodePool, fact: PoolFact, subject: str, nodes: list[str], declared: Any,
    quoted: list[Promise], whole: bool,
) -> FactRow | None:  # fmt: skip
    case = found.case
    stand_in = pool.view.is_stand_in
    target = ""
    if declared is None and not any(p.value is not None for p in quoted):
        # nobody stated it; on a stand-in the brief's target GPU is what everybody waits for
        target = " or ".join(case.declaration.brief.target_gpus) if fact.name == "gpu.model" and stand_in else ""
        if not target:
            return None
    metric, values, evidence = fact.metric, {}, []
    for node in nodes:
        value, observation = fact.read(found, node) if fact.read else _plain(found, fact, node)
        if value is not None:
            values[node] = value
        if observation is not None:
            evidence.append(observation)
    wanted = [("declared", declared)] if declared is not None else []
    wanted += [(f"promised by {printable(p.provider)}", p.value) for p in quoted if p.value is not None]
    unit = next((one.unit for one in evidence if one.unit), "")
    verdict, reason = _decide(found, pool, fact, nodes, values, wanted, quoted, declared, unit, whole)
    if stand_in and fact.about_gpu and verdict is not Verdict.FAILED:
        verdict, reason = Verdict.UNPROVEN, _stand_in_reason(found, nodes)
    elif not values and verdict is Verdict.UNPROVEN and evidence:
        reason = f"{metric}: {printable(evidence[0].reason) or evidence[0].state}; {fact.prove}"
    places = [case.workspace.cite(f"{pool.view.path}.{fact.path}")] if declared is not None else []
    if target:
        places = [case.workspace.cite("brief.target_gpus")]
    places += [p.place for p in quoted if p.value is not None]
    return FactRow(
        plane=fact.plane,
        subject=subject,
        fact=fact.name,
        declared=printable(shown(declared) or target),
        promised=_promised(quoted),
        found=printable(_found_text(values, unit)),
        verdict=verdict,
        reason=reason,
        evidence=(*places, *(one.reference for one in evidence[:20])),
    )


def _plain(found: Found, fact: PoolFact, node: str) -> tuple[Any, Observation | None]:
    observation = found.of_node(fact.metric, node)
    if observation is None or observation.state is not State.MEASURED:
        return None, observation
    return observation.value, observation


def _decide(
    found: Found, pool: NodePool, fact: PoolFact, nodes: list[str], values: dict[str, Any],
    wanted: list[tuple[str, Any]], quoted: list[Promise], declared: Any, unit: str, whole: bool,
) -> tuple[Verdict, str]:  # fmt: skip
    catalog = found.case.catalog
    remarks: list[str] = []
    if declared is not None:
        for promise in quoted:
            if promise.value is not None and fact.compare(declared, promise.value, catalog)[0] is False:
                said = f"{printable(promise.provider)} promises {shown(promise.value)}, {shown(declared)} is declared"
                return Verdict.FAILED, f"quote contradicts the declaration: {said}"
    undecided = ""
    for who, want in wanted:
        odd: dict[str, list[str]] = defaultdict(list)
        for node, have in values.items():
            answer, remark = fact.compare(want, have, catalog)
            if answer is False:
                odd[shown(have, unit)].append(node)
            elif answer is None:
                undecided = remark
            elif remark and remark not in remarks:
                remarks.append(remark)
        if odd:
            told = "; ".join(f"{name_list(sorted(members))} has {have}" for have, members in sorted(odd.items()))
            return Verdict.FAILED, printable(f"{told}; {shown(want)} is {who}")
    if not values:
        what = f"nobody looked at {fact.metric}" if nodes else "no node of the pool was looked at"
        return Verdict.UNPROVEN, f"{what}; {_TARGET if fact.about_gpu else fact.prove}"
    if undecided:
        return Verdict.UNPROVEN, printable(undecided)
    silent = [node for node in nodes if node not in values]
    if silent:
        return Verdict.UNPROVEN, f"{name_list(silent)} did not say; {fact.prove}"
    if whole and pool.unseen:
        seen = (
            f"right on {plural(len(nodes), 'node')} that was looked at"
            if len(nodes) == 1
            else f"right on {len(nodes)} nodes"
        )
        return Verdict.UNPROVEN, f"{seen}; {pool.unseen:,} of {pool.declared_nodes:,} were not; {fact.prove}"
    open_lines = [printable(p.provider) for p in quoted if p.value is None and p.expected]
    if open_lines and declared is not None:
        return Verdict.UNPROVEN, f"found as declared; the quote of {', '.join(open_lines)} leaves the line unanswered"
    by = " and ".join(who for who, _ in wanted)
    where = "" if pool.how == "named by the pool" else f" on {name_list(nodes)}, counted to {pool.how}"
    remark = f"; {'; '.join(remarks)}" if remarks else ""
    return Verdict.PASSED, printable(f"found as {by}{where}{remark}")


def _stand_in_reason(found: Found, nodes: list[str]) -> str:
    bare = [node for node in nodes if not found.has_gpu(node)]
    where = f"no GPU on {name_list(bare)}" if bare else "a stand-in is not the target hardware"
    return f"{where if nodes else 'no node was looked at'}; {_TARGET}"


def _found_text(values: dict[str, Any], unit: str) -> str:
    texts = Counter(shown(value, unit) for value in values.values())
    if len(texts) < 2:
        return next(iter(texts), "")
    return ", ".join(f"{text} on {plural(count, 'node')}" for text, count in texts.most_common(4))


def _promised(quoted: list[Promise]) -> str:
    given = [p for p in quoted if p.value is not None]
    if len(quoted) == 1:
        return printable(shown(given[0].value)) if given else ""
    return printable(", ".join(f"{p.provider}: {shown(p.value)}" for p in given))


def _count_rows(found: Found, pool: NodePool) -> Iterator[FactRow]:
    """Nodes of the pool: declared, promised, and looked at."""
    quoted = promises(found.case, pool.view.pool.name, "count", None)
    declared = pool.declared_nodes or None
    if declared is None and not any(p.value is not None for p in quoted):
        return
    seen = len(pool.nodes)
    short = [p for p in quoted if p.value is not None and declared is not None and p.value < declared]
    if short:
        who = printable(short[0].provider)
        verdict = Verdict.FAILED
        reason = f"quote contradicts the declaration: {who} promises {short[0].value:,}, {declared:,} is declared"
    elif seen >= (declared or 0) and seen:
        verdict, reason = Verdict.PASSED, f"every node was looked at ({pool.how})"
    else:
        verdict = Verdict.UNPROVEN
        reason = f"{seen:,} of {declared or 'the promised'} nodes were looked at; run 'fourplane prove' on all of them"
    path = f"{pool.view.path}.count"
    evidence = (found.case.workspace.cite(path), *(p.place for p in quoted if p.value is not None))
    told = "" if declared is None else f"{declared:,}"
    subject = f"pool:{pool.view.pool.name}"
    yield FactRow(_C, subject, "count", told, _promised(quoted), f"{seen:,}" if seen else "", verdict, reason, evidence)


def _stray(node: str) -> FactRow:
    reason = "no pool names this node; add it to pools[].hosts, or leave it out of the run"
    return FactRow(_C, f"node:{printable(node)}", "pool", "", "", "found", Verdict.UNPROVEN, reason)
