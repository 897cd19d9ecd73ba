"""Codes of procurement."""

from __future__ import annotations

from fourplane.base.codes import define

__all__ = ["UNANSWERED"]

UNANSWERED = define(
    "quote-line-unanswered",
    "A quote leaves lines unanswered",
    "What a provider did not write down it did not promise: when the delivered nodes differ there is nothing to hold "
    "them against, and what was left out is what the price leaves out. The lines stay unproven, whatever is found.",
    "Send the question back to the provider ('fourplane report --only request' prints it with its acceptance test), "
    "and enter the answer in this line.",
    requirement="B5",
)
