"""Registry of rules: ``@rule(code, plane, level)`` on a function from a design to problems.

A rule says what is wrong and where; the registry turns each problem into a finding with place, level, plane, fix
and link. The texts stand with the code in the ``codes`` module of its plane, so that ``fourplane explain`` and
the finding say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fourplane.base.codes import find
from fourplane.base.findings import Finding, Level
from fourplane.planes.design import Design
from fourplane.planes.model import Plane
from fourplane.spec.workspace import QuoteDocument

__all__ = ["Check", "Problem", "Rule", "all_rules", "rule"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What a rule found.

    Attributes:
        path: place in the document, such as ``pools[0].shape.memory``.
        message: one sentence with the figures, self-contained.
        found: what was written.
        expected: what would be right.
        level: level of this one, where it differs from the rule's.
        quote: the quote that ``path`` points into; None for the declaration.
    """

    path: str
    message: str
    found: str = ""
    expected: str = ""
    level: Level | None = None
    quote: QuoteDocument | None = None


Check = Callable[[Design], Iterable[Problem]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the code of its findings, its plane, their usual level, and the function that looks."""

    code: str
    plane: Plane
    level: Level
    check: Check

    def findings(self, design: Design) -> Iterator[Finding]:
        """Run the rule and yield its findings, each with file, line and column."""
        entry = find(self.code)
        assert entry is not None, f"code {self.code} is not defined"
        for problem in self.check(design):
            source = problem.quote or design.workspace
            line, column = source.positions.place(problem.path)
            yield Finding(
                code=self.code,
                level=problem.level or self.level,
                message=problem.message,
                file=source.file,
                line=line,
                column=column,
                path=problem.path,
                found=problem.found,
                expected=problem.expected,
                fix=entry.fix,
                link=entry.link,
                plane=str(self.plane),
            )


_RULES: dict[str, Rule] = {}


def rule(code: str, plane: Plane, level: Level = Level.WARNING) -> Callable[[Check], Check]:
    """Register the decorated function as the rule of ``code``.

    Raises:
        ValueError: the code has a rule already.
    """

    def register(check: Check) -> Check:
        if code in _RULES:
            raise ValueError(f"two rules carry the code {code!r}")
        _RULES[code] = Rule(code, plane, level, check)
        return check

    return register


def all_rules() -> list[Rule]:
    """Return the registered rules in order of plane and code; ``planes.rules`` imports them all."""
    order = list(Plane)
    return sorted(_RULES.values(), key=lambda r: (order.index(r.plane), r.code))
