"""A finding: something a reader must know, where it is, what was expected and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Finding", "Level", "has_errors", "sorted_findings"]


class Level(StrEnum):
    """How much a finding weighs."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


_WEIGHT = {Level.ERROR: 0, Level.WARNING: 1, Level.INFO: 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        code: a code defined in ``base.codes``.
        level: error, warning or info.
        message: one sentence, self-contained.
        file: path as the user named it, "" if the finding isn't about a file.
        line: 1-based, 0 if unknown.
        column: 1-based, 0 if unknown.
        path: place in the document, such as ``pools[0].shape.gpus``, or a subject such as ``node:n1``.
        found: what was there.
        expected: what should have been there.
        fix: what to do.
        link: upstream page on the subject.
        plane: compute, network, storage, control, security, or "".
        evidence: references to observations or files that carry it.
    """

    code: str
    level: Level
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    path: str = ""
    found: str = ""
    expected: str = ""
    fix: str = ""
    link: str = ""
    plane: str = ""
    evidence: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form; plane and evidence are there only when there is something to say."""
        more: dict[str, Any] = {"plane": self.plane} if self.plane else {}
        if self.evidence:
            more["evidence"] = list(self.evidence)
        return {
            "code": self.code,
            "level": str(self.level),
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "path": self.path,
            "message": self.message,
            "found": self.found,
            "expected": self.expected,
            "fix": self.fix,
            "link": self.link,
            **more,
        }

    @property
    def place(self) -> str:
        """Return ``file:line:column``, as editors and terminals link it; else the path."""
        if not self.file:
            return self.path
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


def sorted_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in reading order: heaviest first, then by place and code."""
    return sorted(findings, key=lambda f: (_WEIGHT[f.level], f.file, f.line, f.column, f.path, f.code))


def has_errors(findings: Iterable[Finding]) -> bool:
    """Tell whether any finding is an error."""
    return any(f.level is Level.ERROR for f in findings)
