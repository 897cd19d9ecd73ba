"""Every question to a provider (C1, C4, N1, S, A1, exit path), as data: line of the quote, requirement, test.

One table serves the procurement brief, the blank quote and the look-up of unanswered lines, so that none of them
knows a line that the others don't.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourplane.planes.reading import walk
from fourplane.spec.declaration import Declaration
from fourplane.spec.network import FabricKind

__all__ = ["GROUPS", "QUESTIONS", "Question", "answer", "applies"]

GROUPS = {
    "compute": "Compute",
    "network": "Network",
    "storage": "Storage",
    "security": "Security and access",
    "terms": "Price, support and exit",
}
"""Groups of questions with their titles, in the order in which they are asked."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        group: key of ``GROUPS``.
        requirement: number in the mission, such as ``C1``.
        path: line of the quote; ``pool.`` stands for the entry of a pool, ``[]`` for each entry of a list.
        tests: keys of the acceptance tests that show whether the answer holds; none where only the contract does.
        hint: how an answer looks.
        text: the question.
    """

    group: str
    requirement: str
    path: str
    tests: tuple[str, ...]
    hint: str
    text: str

    @property
    def of_pool(self) -> bool:
        """Tell whether it is asked for each pool."""
        return self.path.startswith("pool.")

    @property
    def below(self) -> str:
        """Return the path below the quoted pool, or below the quote."""
        return self.path.removeprefix("pool.")


def _parse() -> tuple[Question, ...]:
    out = []
    for line in (Path(__file__).parent / "questions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        group, requirement, path, tests, hint, text = (cell.strip() for cell in line.split(" | "))
        keys = tuple(key.strip() for key in tests.split(",") if key.strip() != "contract")
        out.append(Question(group, requirement, path, keys, hint, text))
    return tuple(out)


QUESTIONS = _parse()
"""Every question, in the order of the request."""

_GPU_ONLY = ("shape.gpu.", "sharing", "lifecycle.driver.", "lifecycle.cuda.", "lifecycle.container_toolkit.",
             "shape.nics[].gpu_direct")  # fmt: skip


def applies(question: Question, declaration: Declaration, *, gpus: bool = True) -> bool:
    """Tell whether a question means anything for the declared cluster.

    Args:
        question: one of the table.
        declaration: what is to be bought or rented.
        gpus: the pool that it is asked for has GPUs; without a meaning for questions outside pools.
    """
    if question.of_pool:
        return gpus or not question.below.startswith(_GPU_ONLY)
    fabric = declaration.network.fabric
    if question.group == "network" and fabric is not None and fabric.kind is FabricKind.NONE:
        return question.path in ("fabric.host_network", "fabric.container_network", "fabric.failure_domains")
    return True


def answer(model: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield (path with indices, value) for each place that a question's line stands for; None where nobody answered.

    Args:
        model: the quoted pool, the quote, or the declared counterpart of either.
        path: ``Question.below``.
    """
    head, brackets, rest = path.partition("[].")
    if not brackets:
        yield path, walk(model, path)
        return
    entries = walk(model, head)
    if not entries:
        yield head, None
        return
    for index, entry in enumerate(entries):
        yield f"{head}[{index}].{rest}", walk(entry, rest)
