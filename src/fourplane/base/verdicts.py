"""The five verdicts and the exit codes that follow from them.

Truth has more than two values here: what nobody measured is *unproven*, never passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum

__all__ = ["ExitCode", "Verdict", "combine", "exit_code"]


class Verdict(StrEnum):
    """What evidence says about one condition."""

    PASSED = "passed"
    FAILED = "failed"
    UNPROVEN = "unproven"
    STALE = "stale"
    WAIVED = "waived"


class ExitCode(IntEnum):
    """Exit status of every verb."""

    ACCEPTED = 0
    """Accepted, or nothing to change."""
    REJECTED = 1
    """Rejected, failed, or drift is present."""
    USAGE = 2
    """Usage or tool error: nothing was judged."""
    UNPROVEN = 3
    """Judged, and the evidence does not decide it."""


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of a whole from the verdicts of its parts.

    One failure fails the whole; else one gap leaves it unproven; else one stale part leaves it stale.
    A waiver counts as settled, a whole of waivers only is waived, and nothing at all is unproven.
    """
    seen = set(verdicts)
    for worst in (Verdict.FAILED, Verdict.UNPROVEN, Verdict.STALE, Verdict.PASSED, Verdict.WAIVED):
        if worst in seen:
            return worst
    return Verdict.UNPROVEN


def exit_code(verdict: Verdict) -> ExitCode:
    """Map a verdict to the exit status that a shell sees."""
    if verdict is Verdict.FAILED:
        return ExitCode.REJECTED
    if verdict in (Verdict.UNPROVEN, Verdict.STALE):
        return ExitCode.UNPROVEN
    return ExitCode.ACCEPTED
