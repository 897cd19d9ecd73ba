"""Codes that the review raises itself."""

from __future__ import annotations

from fourplane.base.codes import Code, define

__all__ = ["CLOCK", "DAMAGED", "WAIVER_NOT_POSSIBLE", "WAIVER_UNKNOWN", "WAIVER_UNOWNED"]

WAIVER_UNKNOWN: Code = define(
    "review-waiver-unknown",
    "A waiver names a condition that the review doesn't have",
    "It sets nothing aside: the condition that its author had in mind is judged as if there were no waiver.",
    "Name a condition such as R4.snapshots or an area such as R9; the page on the review lists them all.",
    requirement="R",
)
WAIVER_UNOWNED: Code = define(
    "review-waiver-unowned",
    "A waiver has no owner or no reason",
    "A waiver is a risk that somebody accepts for a stated reason; without either nobody has accepted it, so it "
    "has no effect.",
    "Name the person or team that answers for the risk, and why it is acceptable until the end date.",
    requirement="R",
)
WAIVER_NOT_POSSIBLE: Code = define(
    "review-waiver-not-possible",
    "A waiver names a condition that can't be set aside",
    "Files that can't be read leave the review without a subject: what they would have said is unknown, and an "
    "unknown risk can't be accepted.",
    "Mend the errors that 'fourplane check' prints, then remove the waiver.",
    requirement="R",
)
CLOCK: Code = define(
    "review-evidence-in-future",
    "Evidence was recorded later than now",
    "The clock of the node that measured, or of the machine that reviews, is wrong; age can't be told, so a stale "
    "measurement could pass as fresh.",
    "Synchronise both clocks (chronyc tracking, timedatectl), then measure again.",
    requirement="R",
)
DAMAGED: Code = define(
    "review-evidence-damaged",
    "The evidence store is damaged, so nothing in it counts",
    "A hash, a link of the chain or a whole run doesn't match the manifest: any figure could have been changed, so "
    "no condition is judged on it.",
    "Run 'fourplane evidence verify' to see what is damaged; restore the folder from a copy, or move it away and "
    "measure again.",
    requirement="R",
)
