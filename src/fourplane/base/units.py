"""Quantities with a dimension: written ``80 GiB``, ``400 Gb/s``, ``30 min``; compared as exact numbers.

The dimension keeps bytes apart from bits and sizes from rates, so a quote of 400 GB/s never passes for
400 Gb/s. Prefixes follow IEC 80000-13 (Ki, Mi, Gi: powers of 1,024) and SI (k, M, G: powers of 1,000).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

__all__ = ["Dimension", "Quantity", "UnitError", "format_bytes", "format_seconds", "parse_quantity"]


class Dimension(StrEnum):
    """Kinds of quantity, named by their base unit."""

    SIZE = "B"
    RATE = "B/s"
    BIT_RATE = "b/s"
    DURATION = "s"
    POWER = "W"
    FRACTION = "1"


_SI = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_IEC = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}


def _unit_table() -> dict[str, tuple[Dimension, Fraction]]:
    table: dict[str, tuple[Dimension, Fraction]] = {}
    for prefix, factor in {**_SI, **_IEC}.items():
        table[f"{prefix}B"] = (Dimension.SIZE, Fraction(factor))
        table[f"{prefix}B/s"] = (Dimension.RATE, Fraction(factor))
    for prefix, factor in _SI.items():
        for unit in ("b/s", "bit/s", "bps"):
            table[f"{prefix}{unit}"] = (Dimension.BIT_RATE, Fraction(factor))
    for prefix in ("", "k", "M"):
        table[f"{prefix}W"] = (Dimension.POWER, Fraction(_SI[prefix]))
    seconds = {
        "us": Fraction(1, 10**6), "µs": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": Fraction(1),
        "min": Fraction(60), "h": Fraction(3600), "d": Fraction(86_400), "week": Fraction(604_800),
        "weeks": Fraction(604_800), "day": Fraction(86_400), "days": Fraction(86_400),
        "month": Fraction(2_628_000), "months": Fraction(2_628_000),
        "year": Fraction(31_536_000), "years": Fraction(31_536_000),
    }  # fmt: skip
    table.update({unit: (Dimension.DURATION, factor) for unit, factor in seconds.items()})
    table["%"] = (Dimension.FRACTION, Fraction(1, 100))
    return table


_UNITS = _unit_table()
_PATTERN = re.compile(r"\s*([+-]?(?:\d{1,30}(?:\.\d{1,30})?|\.\d{1,30}))\s*([A-Za-zµ%/]{1,12})?\s*", re.ASCII)

EXAMPLES = {
    Dimension.SIZE: "80 GiB",
    Dimension.RATE: "3.35 TB/s",
    Dimension.BIT_RATE: "400 Gb/s",
    Dimension.DURATION: "30 min",
    Dimension.POWER: "700 W",
    Dimension.FRACTION: "60 %",
}

WORDS = {
    Dimension.SIZE: "a size",
    Dimension.RATE: "a rate in bytes",
    Dimension.BIT_RATE: "a rate in bits",
    Dimension.DURATION: "a duration",
    Dimension.POWER: "a power",
    Dimension.FRACTION: "a share",
}


class UnitError(ValueError):
    """The text isn't a quantity of the dimension asked for.

    Attributes:
        expected: what would be, with an example.
        fix: how the text would have to be written, "" where that can't be guessed.
    """

    def __init__(self, message: str, expected: str, fix: str = "") -> None:
        super().__init__(message)
        self.expected = expected
        self.fix = fix


@dataclass(frozen=True, slots=True, order=False)
class Quantity:
    """An exact amount of one dimension; ``text`` is as the author wrote it."""

    amount: Fraction
    dimension: Dimension
    text: str

    def to(self, unit: str) -> float:
        """Return the amount in ``unit``.

        Raises:
            UnitError: ``unit`` has another dimension.
        """
        dimension, factor = _UNITS[unit]
        if dimension is not self.dimension:
            raise UnitError(f"{self.text} can't be given in {unit}", WORDS[self.dimension])
        return float(self.amount / factor)

    @property
    def base(self) -> float:
        """Return the amount in the dimension's base unit (B, B/s, b/s, s, W, 1)."""
        return float(self.amount)

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=8192)
def parse_quantity(text: str, dimension: Dimension) -> Quantity:
    """Parse ``text`` as a quantity of ``dimension``; a share may be a bare number from 0 to 1.

    Raises:
        UnitError: not a number with a unit, an unknown unit, or a unit of another dimension.
    """
    expected = f"{WORDS[dimension]} such as {EXAMPLES[dimension]}"
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise UnitError(f"{text!r} is not {WORDS[dimension]}", expected, _number_fix(text))
    digits, unit = match[1], match[2] or ""
    if not unit:
        if dimension is not Dimension.FRACTION:
            raise UnitError(f"{text!r} has no unit", expected)
        return Quantity(Fraction(digits), dimension, text.strip())
    known = _UNITS.get(unit)
    if known is None:
        raise UnitError(f"{unit!r} is not a unit that is known", expected, _unit_fix(digits, unit, dimension))
    found, factor = known
    if found is not dimension:
        fix = _dimension_fix(digits, unit, Fraction(digits) * factor, found, dimension)
        raise UnitError(f"{text!r} is {WORDS[found]}, not {WORDS[dimension]}", expected, fix)
    if digits.isdecimal() and factor.denominator == 1:
        amount = Fraction(int(digits) * factor.numerator)  # most are whole: three times as fast as two fractions
    else:
        amount = Fraction(digits) * factor
    return Quantity(amount, dimension, " ".join(text.split()))


def _number_fix(text: str) -> str:
    """Return how a number with separators or a decimal comma is written, "" for anything else."""
    if re.fullmatch(r"\s*\d{1,3}([,_' ]\d{3})+(?!\d).*", text, re.ASCII):
        return "write the number without separators"
    if re.fullmatch(r"\s*\d+,\d+\s*[A-Za-zµ%/]*\s*", text, re.ASCII):
        return "write the number with a decimal point"
    return ""


def _unit_fix(digits: str, unit: str, dimension: Dimension) -> str:
    """Return the known unit of ``dimension`` that an unknown one must mean, "" where there are several or none."""
    long_names = {
        "sec": "s", "secs": "s", "second": "s", "seconds": "s", "m": "min", "mins": "min", "minute": "min",
        "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "w": "week", "percent": "%",
        "watt": "W", "watts": "W", "gbe": "Gb/s",
    }  # fmt: skip
    word = unit.lower()
    near = long_names.get(word)
    if near is not None and _UNITS[near][0] is dimension:
        return f"write {digits} {near}"
    if (dimension is Dimension.BIT_RATE) == ("B" in unit) and dimension in (Dimension.RATE, Dimension.BIT_RATE):
        return ""  # 'GBps' for bits, 'gbps' for bytes: the author may mean either
    stem = word.removesuffix("/sec").removesuffix("ps").removesuffix("/s")
    plain = stem if stem == word else f"{stem}/s"
    same = [name for name, (kind, _) in _UNITS.items() if kind is dimension and name.lower() == plain]
    return f"write {digits} {same[0]}" if same and not same[0].startswith("m") else ""


def _dimension_fix(digits: str, unit: str, amount: Fraction, found: Dimension, wanted: Dimension) -> str:
    """Return the fix for bytes written where bits belong, a rate where a size belongs, and the reverse."""
    if {found, wanted} == {Dimension.RATE, Dimension.BIT_RATE}:
        swapped = unit.replace("i", "").replace("B", "b") if found is Dimension.RATE else _bytes_unit(unit)
        same = amount * 8 if found is Dimension.RATE else amount / 8
        exact = same / _UNITS[swapped][1]
        return f"write {float(exact):g} {swapped} if {digits} {unit} is meant, {digits} {swapped} if the unit slipped"
    if found is Dimension.SIZE and wanted is Dimension.RATE:
        return f"write {digits} {unit}/s"
    if found is Dimension.RATE and wanted is Dimension.SIZE:
        return f"write {digits} {unit.removesuffix('/s')}"
    return ""


def _bytes_unit(unit: str) -> str:
    for ending in ("bit/s", "bps", "b/s"):
        if unit.endswith(ending):
            return unit.removesuffix(ending) + "B/s"
    return unit


def format_bytes(count: float, *, suffix: str = "") -> str:
    """Return a byte count in IEC units, three significant digits: ``1.50 GiB``."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(count) < 1024 or unit == "TiB":
            digits = 0 if unit == "B" else 2 if abs(count) < 10 else 1 if abs(count) < 100 else 0
            return f"{count:.{digits}f} {unit}{suffix}"
        count /= 1024
    raise AssertionError("unreachable")


def format_seconds(seconds: float) -> str:
    """Return a duration as a person says it: ``850 µs``, ``12.3 s``, ``4 min 10 s``, ``2 h 5 min``."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours / 24:.1f} d"
