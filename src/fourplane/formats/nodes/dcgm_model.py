"""What a run of ``dcgmi diag`` says: versions, GPUs, tests with their results, errors outside of tests."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["STATUSES", "DcgmDiag", "DcgmTest", "status_of", "worst"]

STATUSES = ("fail", "warn", "pass", "skip")
"""Worst first; a test that ran on some GPUs and was skipped on others ran."""

_WORDS = {"pass": "pass", "fail": "fail", "warn": "warn", "skip": "skip", "not run": "skip", "notrun": "skip"}


@dataclass(slots=True)
class DcgmTest:
    """One test.

    Attributes:
        line: 1-based, 0 in JSON.
        name: as printed.
        category: Deployment, Integration, Hardware, Stress.
        status: pass, warn, fail or skip: the worst of its results.
        gpus: GPU indices by status, where the results name them.
        messages: warnings and errors of the test, cut.
    """

    line: int
    name: str
    category: str
    status: str
    gpus: dict[str, list[int]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)


@dataclass(slots=True)
class DcgmDiag:
    """One run of the diagnostic; ``errors`` are those that belong to no test: line and text."""

    layout: str
    version: str | None = None
    driver: str | None = None
    device_ids: list[str] = field(default_factory=list)
    gpus: set[int] = field(default_factory=set)
    categories: list[str] = field(default_factory=list)
    tests: list[DcgmTest] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)


def status_of(word: str) -> str | None:
    """Return the status that a word of DCGM stands for, None for any other word."""
    return _WORDS.get(word.strip().lower())


def worst(statuses: list[str]) -> str | None:
    """Return the worst of some statuses, None without any."""
    return next((status for status in STATUSES if status in statuses), None)
