"""Parts of a condition, and how they become one verdict with one reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from fourplane.base.verdicts import Verdict, combine

__all__ = ["Outcome", "Part", "Remedy", "join"]

MAX_REASONS = 3
MAX_EVIDENCE = 20
"""References that one condition cites; the three-way table holds them all."""


class Remedy(IntEnum):
    """Kinds of thing that settle a condition; where one needs several, the highest comes last in time."""

    REPAIR_EVIDENCE = 0
    MEND_FILES = 1
    FILL_BRIEF = 2
    DECIDE = 3
    MEND_DESIGN = 4
    PRICE = 5
    MEASURE = 6
    MEASURE_AGAIN = 7
    MEASURE_GPU = 8
    PROBE_JOB = 9
    MEND_CLUSTER = 10


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a condition depends on.

    Attributes:
        verdict: passed, failed, unproven or stale.
        reason: a clause without a full stop.
        evidence: spec places and observation references.
        fix: what proves or mends it.
        remedy: kind of the fix; None when passed.
        measured: it rests on the evidence store, so damage, age and change touch it.
    """

    verdict: Verdict
    reason: str
    evidence: tuple[str, ...] = ()
    fix: str = ""
    remedy: Remedy | None = None
    measured: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the parts of one condition come to; ``needs`` says what is still needed, and how each is done."""

    verdict: Verdict
    reason: str
    evidence: tuple[str, ...]
    fix: str
    needs: Mapping[Remedy, tuple[str, ...]]

    @property
    def remedies(self) -> frozenset[Remedy]:
        """Return the kinds of thing that are still needed."""
        return frozenset(self.needs)


def join(parts: Sequence[Part]) -> Outcome:
    """Return the outcome of all parts: the worst verdict, told by the parts that caused it.

    No parts at all is unproven, never passed.
    """
    if not parts:
        return Outcome(Verdict.UNPROVEN, "Nothing was looked at.", (), "", {})
    verdict = combine(part.verdict for part in parts)
    telling = [part for part in parts if part.verdict is verdict]
    # what decided comes first; the rest is cited too, since a reader wants to see what did pass
    cited = _unique(ref for part in (*telling, *parts) for ref in part.evidence)
    needs: dict[Remedy, list[str]] = defaultdict(list)
    for part in parts:
        if part.remedy is not None and part.verdict is not Verdict.PASSED:
            needs[part.remedy] += [part.fix] if part.fix else []
    fixes = _unique(part.fix for part in telling if part.fix)
    return Outcome(
        verdict=verdict,
        reason=_sentence(_unique(part.reason for part in telling if part.reason)),
        evidence=tuple(cited[:MAX_EVIDENCE]),
        fix="" if verdict is Verdict.PASSED else "; ".join(fixes[:2]),
        needs={remedy: tuple(_unique(fixes)) for remedy, fixes in needs.items()},
    )


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _sentence(reasons: list[str]) -> str:
    shown = [reason.rstrip(". ") for reason in reasons[:MAX_REASONS]]
    if len(reasons) > MAX_REASONS:
        shown.append(f"and {len(reasons) - MAX_REASONS:,} more")
    text = "; ".join(shown)
    # a path, code or file name keeps its case: it is what the reader will search for
    plain = text.split(" ", 1)[0].rstrip(",;").replace("'", "").isalpha()
    return f"{text[:1].upper() + text[1:] if plain else text}." if text else ""
