"""Codes of the proving job."""

from __future__ import annotations

from fourplane.base.codes import define, find

__all__ = ["find"]

define(
    "probe-failed",
    "A probe ended without finishing",
    "A crash, a non-zero exit or a cut stream means that nothing is known about what it should have measured; "
    "counting it as a pass would be a silent green.",
    "Read the raw output named in the finding, mend the cause, then run prove --resume or a new prove.",
    requirement="N2",
)
define(
    "probe-timeout",
    "A probe did not end within its deadline",
    "Every step has a deadline, since a hanging node must not hold up the others; what it had said before is kept.",
    "Give a larger --budget, or look at why the node hangs: a dead mount and a stuck driver are usual.",
    requirement="N3",
)
define(
    "probe-silent",
    "A probe ended without saying anything about a metric it should measure",
    "A metric that is neither measured nor reported as absent leaves a hole that nobody sees.",
    "Read the raw output of the step; a missing tool should have been reported as absent.",
)
define(
    "prove-plan-changed",
    "The unfinished run was started by another version of Fourplane",
    "Its remaining steps would be measured in another way than the finished ones, under one run.",
    "Start a new run without --resume.",
)
define(
    "prove-budget-out-of-range",
    "The budget is too small to measure anything, or longer than a day",
    "Below a second the figures would be start-up times of the tools; above a day it is a slip of the keyboard.",
    "Give --budget between 1 s and 86,400 s.",
)
define(
    "prove-scratch-unusable",
    "The scratch folder can't be written",
    "Storage is measured where the jobs will write; without a writable folder there is nothing to measure.",
    "Name a writable folder on the storage to be proven with --scratch.",
    requirement="S1",
)
define(
    "prove-dataset-missing",
    "The dataset to stage from isn't there",
    "Staging is measured from the real source; a missing one can't be replaced silently by a synthetic dataset.",
    "Name an existing folder or an object-store URL with --dataset, or leave it out.",
    requirement="S1",
)
