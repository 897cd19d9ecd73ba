"""The procurement brief put together: who is asked for what, and by which test the answer is accepted (B5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from fourplane.planes.comparators import (
    MEMORY_TOLERANCE,
    NVME_TOLERANCE,
    at_least,
    exact,
    shown,
    version_at_least,
    version_prefix,
)
from fourplane.planes.design import Design
from fourplane.planes.found import Found
from fourplane.planes.gates import Bench
from fourplane.planes.model import Case
from fourplane.planes.pool_facts import POOL_FACTS
from fourplane.planes.procurement.acceptance import TESTS, AcceptanceTest, Threshold, thresholds_of
from fourplane.planes.procurement.pools import AskedPool, asked_pools
from fourplane.planes.procurement.questions import GROUPS, QUESTIONS, Question, answer, applies
from fourplane.planes.reading import walk

__all__ = ["Asked", "Request", "RequestGroup", "Tested", "build_request"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One numbered question.

    Attributes:
        number: such as ``C12``; the letter is the group's.
        question: what is asked.
        pool: name of the pool that it is asked for; "" outside pools.
        wanted: what the declaration needs, as written; "" where it leaves that open.
        bound: how an answer is held against it; "" where it is only noted.
        place: file:line:column of what is wanted.
        tests: numbers of the acceptance tests.
    """

    number: str
    question: Question
    pool: str
    wanted: str
    bound: str
    place: str
    tests: tuple[str, ...]

    @property
    def needed(self) -> str:
        """Return what is wanted with its bound, such as ``at least 112``; "" where the declaration leaves it open."""
        if not self.wanted or not self.bound or ", " in self.wanted:
            return self.wanted
        if "%" in self.bound:
            return f"{self.wanted}, {self.bound}"
        if self.bound.startswith("this"):
            return f"{self.wanted}{self.bound.removeprefix('this').removeprefix(' version').removeprefix(' board')}"
        return f"{self.bound} {self.wanted}"


@dataclass(frozen=True, slots=True)
class Tested:
    """One numbered acceptance test with its thresholds."""

    number: str
    test: AcceptanceTest
    thresholds: tuple[Threshold, ...]


@dataclass(frozen=True, slots=True)
class RequestGroup:
    """Questions of one plane, and the tests that accept the answers."""

    key: str
    title: str
    questions: tuple[Asked, ...]
    tests: tuple[Tested, ...]


@dataclass(frozen=True)
class Request:
    """The whole procurement brief.

    Attributes:
        name: of the declared cluster.
        pools: what is asked for.
        groups: by plane, in order.
    """

    name: str
    pools: tuple[AskedPool, ...]
    groups: tuple[RequestGroup, ...]

    @property
    def questions(self) -> tuple[Asked, ...]:
        """Return the questions of all groups."""
        return tuple(one for group in self.groups for one in group.questions)


def build_request(case: Case) -> Request:
    """Put the procurement brief of a declared cluster together; quotes on file don't change it."""
    case = replace(case, workspace=replace(case.workspace, quotes=()))
    design = Design(case.workspace, case.catalog, case.now.date())
    bench, pools = Bench(case, Found(case), design), asked_pools(design)
    asked = [(question, pool) for question in QUESTIONS for pool in _for_whom(question, pools, case)]
    used = {key for question, _ in asked for key in question.tests}
    tests = [test for key, test in TESTS.items() if key in used]
    numbers = {test.key: f"T{number}" for number, test in enumerate(tests, start=1)}
    groups = []
    for key, title in GROUPS.items():
        mine = [(question, pool) for question, pool in asked if question.group == key]
        letter = "E" if key == "terms" else "A" if key == "security" else title[0]
        questions = (
            _asked(f"{letter}{number}", question, pool, case, numbers)
            for number, (question, pool) in enumerate(mine, start=1)
        )
        tested = (
            Tested(numbers[test.key], test, thresholds_of(test.key, bench, pools))
            for test in tests
            if test.group == key
        )
        groups.append(RequestGroup(key, title, tuple(questions), tuple(tested)))
    return Request(case.declaration.name, tuple(pools), tuple(group for group in groups if group.questions))


def _for_whom(question: Question, pools: list[AskedPool], case: Case) -> Iterator[AskedPool | None]:
    """Yield each pool that a question is asked for; None once for a question outside pools."""
    if not question.of_pool:
        if applies(question, case.declaration):
            yield None
        return
    yield from (pool for pool in pools if applies(question, case.declaration, gpus=pool.has_gpus))


def _asked(number: str, question: Question, pool: AskedPool | None, case: Case, numbers: dict[str, str]) -> Asked:
    values, path = _wanted(question, pool, case)
    texts = list(dict.fromkeys(_shown(value) for value in values if value is not None))
    wanted = ", ".join(text for text in texts if text)
    return Asked(
        number=number,
        question=question,
        pool=pool.name if pool else "",
        wanted=wanted,
        bound=_BOUNDS.get(question.below, "") if wanted else "",
        place=case.workspace.cite(path) if wanted else "",
        tests=tuple(numbers[key] for key in question.tests),
    )


def _wanted(question: Question, pool: AskedPool | None, case: Case) -> tuple[list[Any], str]:
    """Return what the declaration says on a question, and the path where it says so."""
    below = question.below
    if pool is not None:
        head, _, rest = below.partition("[].")
        if rest:
            entries = pool.wanted(head) or ()
            return [walk(entry, rest) for entry in entries], f"{pool.path}.{head}"
        return [pool.wanted(below)], pool.path if pool.wish else f"{pool.path}.{below}"
    path = f"network.{below}" if below.startswith("fabric.") else below
    if question.group == "terms":
        return [], ""  # our own price and terms are nobody's business but ours
    return [value for _, value in answer(case.declaration, path)], path


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(str(item) if isinstance(item, str) else str(getattr(item, "name", item)) for item in value)
    choice = getattr(value, "choice", None)
    if choice is not None:
        return str(choice)
    if isinstance(value, float):
        return f"{value:g}:1"
    return shown(value)


def _bounds() -> dict[str, str]:
    """Return how each fact of a pool is held against what is wanted, in words, from the comparison itself."""
    words = {
        exact: "exactly", at_least: "at least", version_prefix: "this version", version_at_least: "this or newer",
    }  # fmt: skip
    out = {fact.path: words[fact.compare] for fact in POOL_FACTS if fact.compare in words and fact.state is None}
    out["shape.gpu.memory"] = out["shape.memory"] = f"at most {100 * MEMORY_TOLERANCE:.0f} % below"
    out["shape.nvme.total"] = f"at most {100 * NVME_TOLERANCE:.0f} % below"
    out["shape.gpu.model"] = "this board"
    out["shape.nics[].count"] = out["shape.nics[].speed"] = out["count"] = "at least"
    for path in ("storage.staging.throughput", "storage.checkpoints.write_throughput"):
        out[path] = "at least"
    for path in ("replacement.time", "storage.weights.load_time", "storage.checkpoints.restore_time"):
        out[path] = "at most"
    out["fabric.oversubscription"] = "at most"
    return out


_BOUNDS = _bounds()
