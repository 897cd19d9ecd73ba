"""What a review is made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fourplane.base.clock import format_utc
from fourplane.base.findings import Finding
from fourplane.base.text import plural
from fourplane.base.verdicts import Verdict, combine

__all__ = ["Action", "Area", "Condition", "Gap", "Review"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One sub-condition.

    Attributes:
        id: ``R4.checkpoint_write``.
        title: what must hold, in a few words.
        verdict: passed, failed, unproven, stale or waived.
        reason: one sentence with the figure or the gap.
        evidence: spec places and observation references.
        fix: what proves or mends it; "" when passed.
    """

    id: str
    title: str
    verdict: Verdict
    reason: str
    evidence: tuple[str, ...] = ()
    fix: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "id": self.id,
            "title": self.title,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "evidence": list(self.evidence),
            "fix": self.fix,
        }


@dataclass(frozen=True, slots=True)
class Area:
    """One of the nine areas."""

    id: str
    title: str
    conditions: tuple[Condition, ...]

    @property
    def verdict(self) -> Verdict:
        """Return the verdict of the whole area."""
        return combine(c.verdict for c in self.conditions)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "id": self.id,
            "title": self.title,
            "verdict": str(self.verdict),
            "conditions": [c.to_json() for c in self.conditions],
        }


@dataclass(frozen=True, slots=True)
class Gap:
    """A field of the brief that nobody filled: who should know, and which measurement fills it (B2)."""

    field: str
    owner: str
    measurement: str

    def to_json(self) -> dict[str, str]:
        """Return the stable JSON form."""
        return {"field": self.field, "owner": self.owner, "measurement": self.measurement}


@dataclass(frozen=True, slots=True)
class Action:
    """One next action: what to do, and which conditions it settles."""

    text: str
    settles: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {"text": self.text, "settles": list(self.settles)}


@dataclass(frozen=True, slots=True)
class Review:
    """The whole review.

    Attributes:
        name: name of the declared cluster.
        at: when it was judged.
        areas: R1 to R9 in order.
        gaps: missing fields of the brief; any gap means "do not sign yet".
        actions: the next actions, weightiest first.
        findings: what is wrong with files, evidence, design and waivers, heaviest first.
    """

    name: str
    at: datetime
    areas: tuple[Area, ...]
    gaps: tuple[Gap, ...]
    actions: tuple[Action, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Return the verdict of the whole review."""
        return combine(a.verdict for a in self.areas)

    @property
    def headline(self) -> str:
        """Return the verdict as sentences that a decision can be based on; an incomplete brief is named (B2)."""
        verdicts = [c.verdict for area in self.areas for c in area.conditions]
        count, whole = verdicts.count(self.verdict), plural(len(verdicts), "condition")
        waived = verdicts.count(Verdict.WAIVED)
        headline = {
            Verdict.PASSED: f"Accepted: {count:,} of {whole} proven, {waived:,} waived."
            if waived
            else f"Accepted: all of {whole} proven.",
            Verdict.WAIVED: "Accepted by waivers only: nothing was proven.",
            Verdict.FAILED: f"Rejected: {count:,} of {whole} failed.",
            Verdict.UNPROVEN: f"Unproven, do not sign yet: {count:,} of {whole} without proof.",
            Verdict.STALE: f"Stale, do not sign yet: {count:,} of {whole} must be measured again.",
        }[self.verdict]
        if self.gaps:
            # the list itself is in `gaps`; the first names say at a glance what kind of thing is missing
            shown = ", ".join(gap.field.removeprefix("brief.") for gap in self.gaps[:3])
            more = f" and {len(self.gaps) - 3:,} more" if len(self.gaps) > 3 else ""
            headline += f" The brief is incomplete, do not sign long-term capacity: {shown}{more} missing."
        return headline

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``review --json``."""
        return {
            "name": self.name,
            "at": format_utc(self.at),
            "verdict": str(self.verdict),
            "headline": self.headline,
            "areas": [a.to_json() for a in self.areas],
            "gaps": [g.to_json() for g in self.gaps],
            "next_actions": [a.to_json() for a in self.actions],
            "findings": [f.to_json() for f in self.findings],
        }
