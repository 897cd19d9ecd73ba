"""Waivers: a condition set aside by a named owner, for a reason, until a date."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date

from fourplane.base.codes import Code, similar
from fourplane.base.findings import Finding, Level
from fourplane.base.text import printable
from fourplane.base.verdicts import Verdict
from fourplane.review.codes import WAIVER_NOT_POSSIBLE, WAIVER_UNKNOWN, WAIVER_UNOWNED
from fourplane.review.model import Condition
from fourplane.review.wording import is_named
from fourplane.spec.economics import Waiver

__all__ = ["check_waivers", "is_in_force", "waive"]


def is_in_force(waiver: Waiver, today: date) -> bool:
    """Tell whether the waiver has an owner and a reason and hasn't ended; its end date is the last day (UTC)."""
    return _is_owned(waiver) and today <= waiver.until


def waive(condition: Condition, waivers: Iterable[Waiver], today: date) -> Condition:
    """Return the condition as its waivers leave it; what passed stays passed.

    Of several, the one with the latest end holds. A waiver that has ended changes nothing but is named in the
    reason. An area as a whole can't be waived: its owner would accept risks that nobody had looked at.
    """
    if condition.verdict in (Verdict.PASSED, Verdict.WAIVED):
        return condition
    mine = sorted(
        (w for w in waivers if w.condition == condition.id and _is_owned(w)), key=lambda w: w.until, reverse=True
    )
    for waiver in mine:
        if today <= waiver.until:
            text = (
                f"Waived by {printable(waiver.owner)} until {waiver.until}: {printable(waiver.reason).rstrip('. ')}. "
                f"Without the waiver {condition.verdict}: {condition.reason}"
            )
            return replace(condition, verdict=Verdict.WAIVED, reason=text)
    if mine:
        note = f"The waiver of {printable(mine[0].owner)} ended on {mine[0].until}."
        return replace(condition, reason=f"{condition.reason} {note}")
    return condition


def check_waivers(
    waivers: Sequence[Waiver],
    known: Collection[str],
    fixed: Collection[str],
    cite: Callable[[str], tuple[str, int, int]],
) -> list[Finding]:
    """Return what is wrong with the waivers themselves; that one has ended the loader says already.

    Args:
        waivers: as declared.
        known: ids of all conditions.
        fixed: ids of conditions that can't be waived.
        cite: gives file, line and column of a path such as ``waivers[0].until``.
    """
    findings: list[Finding] = []

    def add(number: int, key: str, code: Code, level: Level, message: str, found: str, expected: str) -> None:
        path = f"waivers[{number}].{key}"
        file, line, column = cite(path)
        findings.append(
            Finding(code.code, level, message, file, line, column, path, found, expected, code.fix, code.link)
        )

    for number, waiver in enumerate(waivers):
        name = printable(waiver.condition)
        if waiver.condition not in known:
            near = _near(waiver.condition, known)
            expected = f"did you mean {near}?" if near else "a condition such as R4.snapshots"
            add(number, "condition", WAIVER_UNKNOWN, Level.ERROR, f"no condition is called {name}", name, expected)
        elif waiver.condition in fixed:
            message = f"{name} can't be waived"
            add(number, "condition", WAIVER_NOT_POSSIBLE, Level.ERROR, message, name, "a condition on the design")
        if not _is_owned(waiver):
            key = "reason" if is_named(waiver.owner) else "owner"
            message = f"the waiver of {name} has no {key}, so it has no effect"
            add(number, key, WAIVER_UNOWNED, Level.ERROR, message, printable(getattr(waiver, key)), f"a named {key}")
    return findings


def _is_owned(waiver: Waiver) -> bool:
    return is_named(waiver.owner) and is_named(waiver.reason)


def _near(word: str, known: Collection[str]) -> str:
    by_lower = {name.lower(): name for name in known}
    near = similar(word.lower(), list(by_lower), limit=1)
    return by_lower[near[0]] if near else ""
