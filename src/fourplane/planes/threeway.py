"""The three-way comparison: what was declared, promised and found, fact by fact, node by node (C2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from fourplane.base.text import plural, printable
from fourplane.base.verdicts import Verdict
from fourplane.planes.cluster_facts import cluster_rows
from fourplane.planes.comparators import shown
from fourplane.planes.found import NAMED, Found, NodePool, name_list
from fourplane.planes.model import Case, FactRow, Plane
from fourplane.planes.pool_facts import ON_TARGET, POOL_FACTS, PoolFact, read_fact
from fourplane.planes.promises import Promise, promises
from fourplane.planes.reading import walk
from fourplane.records.observation import Observation

__all__ = ["compare"]


def compare(case: Case) -> list[FactRow]:
    """Return every fact that somebody declared, promised, or that matters and was found, with its verdict."""
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


@dataclass(frozen=True)
class _Question:
    """One fact of some nodes: who stated what, and what the nodes have."""

    found: Found
    pool: NodePool
    fact: PoolFact
    nodes: list[str]
    whole: bool
    declared: Any
    quoted: list[Promise]
    values: dict[str, Any]
    seen: list[Observation]

    @property
    def unit(self) -> str:
        return next((one.unit for one in self.seen if one.unit), "")

    @property
    def wanted(self) -> list[tuple[str, Any]]:
        given = [(f"promised by {p.provider}", p.value) for p in self.quoted if p.value is not None]
        return [("declared", self.declared), *given] if self.declared is not None else given


def _row(
    found: Found, pool: NodePool, fact: PoolFact, subject: str, nodes: list[str], declared: Any,
    quoted: list[Promise], whole: bool,
) -> FactRow | None:  # fmt: skip
    case, target = found.case, ""
    if declared is None and not any(p.value is not None for p in quoted):
        # nobody stated it; on a stand-in the brief's target GPU is what everybody waits for
        if fact.name == "gpu.model" and pool.view.is_stand_in:
            target = " or ".join(case.declaration.brief.target_gpus)
        if not target:
            return None
    readings = {node: read_fact(fact, found, node) for node in nodes}
    values = {node: value for node, (value, _) in readings.items() if value is not None}
    seen = [one for _, one in readings.values() if one is not None]
    question = _Question(found, pool, fact, nodes, whole, declared, quoted, values, seen)
    if pool.view.is_stand_in and fact.about_gpu:
        # its GPUs, if it has any, are not those that are to be bought: they count neither for nor against
        on_paper = _contradiction(replace(question, values={}))
        verdict, reason = on_paper or (Verdict.UNPROVEN, _stand_in_reason(found, nodes))
    else:
        verdict, reason = _contradiction(question) or _gap(question) or _answered(question)
    place = "brief.target_gpus" if target else f"{pool.view.path}.{fact.path}"
    places = [case.workspace.cite(place)] if declared is not None or target else []
    places += [p.place for p in quoted if p.value is not None]
    return FactRow(
        plane=fact.plane,
        subject=subject,
        fact=fact.name,
        declared=printable(shown(declared) or target),
        promised=_promised(quoted),
        found=printable(_found_text(values, question.unit)),
        verdict=verdict,
        reason=printable(reason),
        evidence=(*places, *(one.reference for one in seen[:20])),
    )


def _contradiction(question: _Question) -> tuple[Verdict, str] | None:
    """Return a failure where the quote falls short of the declaration, or a node of either."""
    compare, catalog = question.fact.compare, question.found.case.catalog
    for promise in question.quoted if question.declared is not None else ():
        if promise.value is not None and compare(question.declared, promise.value, catalog)[0] is False:
            said = f"{promise.provider} promises {shown(promise.value)}, {shown(question.declared)} is declared"
            return Verdict.FAILED, f"quote contradicts the declaration: {said}"
    for who, want in question.wanted:
        odd: dict[str, list[str]] = defaultdict(list)
        for node, have in question.values.items():
            if compare(want, have, catalog)[0] is False:
                odd[shown(have, question.unit)].append(node)
        if odd:
            told = "; ".join(f"{name_list(sorted(members))} has {have}" for have, members in sorted(odd.items()))
            return Verdict.FAILED, f"{told}; {shown(want)} is {who}{_counted(question)}"
    return None


def _gap(question: _Question) -> tuple[Verdict, str] | None:
    """Return what is missing for a verdict: a measurement, a node, a line of the quote."""
    fact, pool, nodes = question.fact, question.pool, question.nodes
    prove = ON_TARGET if fact.about_gpu else fact.prove
    if not question.values:
        what = f"nobody looked at {fact.metric}" if nodes else "no node of the pool was looked at"
        if question.seen:
            what = f"{fact.metric}: {question.seen[0].reason or question.seen[0].state}"
        return Verdict.UNPROVEN, f"{what}; {prove}"
    for _, want in question.wanted:
        for have in question.values.values():
            answer, remark = fact.compare(want, have, question.found.case.catalog)
            if answer is None:
                return Verdict.UNPROVEN, remark
    silent = [node for node in nodes if node not in question.values]
    if silent:
        return Verdict.UNPROVEN, f"{name_list(silent)} did not say; {prove}"
    if question.whole and pool.unseen:
        seen = (
            f"right on {plural(len(nodes), 'node')}, and {pool.unseen:,} of {pool.declared_nodes:,} were not looked at"
        )
        return Verdict.UNPROVEN, f"{seen}; {prove}"
    open_lines = [p.provider for p in question.quoted if p.value is None and p.expected]
    if open_lines and question.declared is not None:
        return Verdict.UNPROVEN, f"found as declared; the quote of {', '.join(open_lines)} leaves the line unanswered"
    return None


def _answered(question: _Question) -> tuple[Verdict, str]:
    catalog, fact = question.found.case.catalog, question.fact
    pairs = [(want, have) for _, want in question.wanted for have in question.values.values()]
    remarks = list(dict.fromkeys(r for r in (fact.compare(want, have, catalog)[1] for want, have in pairs) if r))
    by = " and ".join(who for who, _ in question.wanted) or "nobody stated it"
    return Verdict.PASSED, "; ".join([f"found as {by}{_counted(question)}", *remarks[:2]])


def _counted(question: _Question) -> str:
    """Return how nodes that the declaration does not name came to the pool; "" where it names them."""
    if question.pool.how == NAMED:
        return ""
    return f" ({name_list(question.nodes)} counted to {question.pool.how}, by no name)"


def _stand_in_reason(found: Found, nodes: list[str]) -> str:
    bare = [node for node in nodes if not found.has_gpu(node)]
    where = f"no GPU on {name_list(bare)}" if bare else "a stand-in is not the target hardware"
    return f"{where if nodes else 'no node was looked at'}; {ON_TARGET}"


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
    yield FactRow(
        Plane.COMPUTE, subject, "count", told, _promised(quoted), f"{seen:,}" if seen else "", verdict, reason, evidence
    )


def _stray(node: str) -> FactRow:
    reason = "no pool names this node; add it to pools[].hosts, or leave it out of the run"
    return FactRow(Plane.COMPUTE, f"node:{printable(node)}", "pool", "", "", "found", Verdict.UNPROVEN, reason)
