"""Plain scalars of YAML: the core schema of 1.2.2 (section 10.3) without octal, hexadecimal and non-finite numbers.

The traps of YAML 1.1 are gone: ``no``, ``on``, ``12:30``, ``1:1``, ``1_000`` and ``0o17`` are texts. Beyond the core
schema a day such as ``2027-06-30`` becomes a date. A number keeps its text where Python would write it otherwise,
so that a version ``12.10`` never turns into 12.1.
"""

from __future__ import annotations

import re
from datetime import date
from math import isfinite
from typing import Any

__all__ = ["resolve_plain"]


class _IntText(int):
    """Whole number that is written otherwise than Python would: ``007``, ``+5``."""

    text: str


class _FloatText(float):
    """Number that is written otherwise than Python would: ``12.10``, ``1e3``."""

    text: str


_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_NUMBER_START = frozenset("0123456789+-.")
_INT = re.compile(r"[-+]?[0-9]{1,40}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,40}|[0-9]{1,40}(?:\.[0-9]{0,40})?)(?:[eE][-+]?[0-9]{1,4})?")


def resolve_plain(text: str) -> Any:
    """Return what an unquoted scalar stands for."""
    if text[:1] in _NUMBER_START:
        return _number_or_day(text)
    return _WORDS.get(text, text)


def _number_or_day(text: str) -> Any:
    if text.isdecimal() and text.isascii() and len(text) < 16 and (text[0] != "0" or text == "0"):
        return int(text)
    if " " in text:  # a quantity, as most values that begin with a digit are
        return text
    if _INT.fullmatch(text):
        whole = int(text)
        if str(whole) == text:
            return whole
        number_int = _IntText(whole)
        number_int.text = text
        return number_int
    if _FLOAT.fullmatch(text):
        value = float(text)
        if not isfinite(value):
            return text
        if str(value) == text:
            return value
        number = _FloatText(value)
        number.text = text
        return number
    if len(text) == 10 and text[4] == "-" and text[7] == "-":
        try:
            return date.fromisoformat(text)
        except ValueError:
            return text
    return text
