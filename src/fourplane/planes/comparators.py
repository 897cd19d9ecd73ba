"""How two statements of one fact are held against each other; kept as data beside each fact.

A comparator says whether ``have`` answers ``want``: True, False, or None where it can't tell, with a remark.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fourplane.base.units import Quantity, format_bytes
from fourplane.catalog.facts import Catalog

__all__ = [
    "MEMORY_TOLERANCE", "NVME_TOLERANCE", "Answer", "Comparator", "at_least", "contains", "exact", "model_alias",
    "runtime_version", "shown", "version_at_least", "version_prefix", "within",
]  # fmt: skip

Answer = tuple[bool | None, str]
Comparator = Callable[[Any, Any, Catalog], Answer]

MEMORY_TOLERANCE = 0.06
"""The kernel and firmware keep a part of the memory: MemTotal, and a GPU's reported memory, lie below nominal."""
NVME_TOLERANCE = 0.10
"""Vendors count TB, operating systems TiB: the two differ by 9.1 %."""

_VERSION = re.compile(r"\d+(?:\.\d+)*")


def number(value: Any) -> float:
    """Return a quantity in base units, or the number itself."""
    return value.base if isinstance(value, Quantity) else float(value)


def exact(want: Any, have: Any, _: Catalog) -> Answer:
    """Equal numbers, or equal texts case aside."""
    if isinstance(want, str) or isinstance(have, str):
        return str(want).casefold().strip() == str(have).casefold().strip(), ""
    return number(want) == number(have), ""


def at_least(want: Any, have: Any, _: Catalog) -> Answer:
    """Have reaches want."""
    return number(have) >= number(want), ""


def within(tolerance: float) -> Comparator:
    """Return a comparator: have reaches want less ``tolerance``; the remark names a shortfall that is let pass."""

    def compare(want: Any, have: Any, _: Catalog) -> Answer:
        short = 1 - number(have) / number(want) if number(want) else 0.0
        remark = (
            f"{short:.1%} below nominal, up to {tolerance:.0%} is what firmware and units take" if short > 0 else ""
        )
        # a hair more, so that a figure at the bound does not fail on the last binary digit
        return short <= tolerance + 1e-9, remark if 0 < short <= tolerance else ""

    return compare


def contains(want: Any, have: Any, _: Catalog) -> Answer:
    """Every word of want stands in have: ``Ubuntu 22.04`` in ``Ubuntu 22.04.5 LTS``."""
    words = re.findall(r"[a-z0-9.]+", str(want).casefold())
    there = re.findall(r"[a-z0-9.]+", str(have).casefold())
    return all(any(one == word or one.startswith(f"{word}.") for one in there) for word in words), ""


def model_alias(want: Any, have: Any, catalog: Catalog) -> Answer:
    """The two names may stand for one board of the catalogue."""
    left = {board.key for board in catalog.candidates(str(want))}
    right = {board.key for board in catalog.candidates(str(have))}
    if left and right:
        several = len(left) > 1 and len(right) == 1
        return bool(left & right), f"{want} stands for {len(left)} boards; state form_factor" if several else ""
    if exact(want, have, catalog)[0] or contains(want, have, catalog)[0]:
        return True, ""
    if left or right:
        return False, ""
    return None, f"the catalogue knows neither {want} nor {have}"


def version_prefix(want: Any, have: Any, _: Catalog) -> Answer:
    """Have begins with the version that want states: 590.48 in 590.48.01."""
    wanted, had = _VERSION.search(str(want)), _VERSION.search(str(have))
    if not wanted or not had:
        return None, f"no version number in {want if not wanted else have}"
    left, right = wanted[0].split("."), had[0].split(".")
    return right[: len(left)] == left, ""


def runtime_version(want: Any, have: Any, catalog: Catalog) -> Answer:
    """The program that want names is among those of have, in the version that want states."""
    name = re.search(r"[a-z][a-z-]*", str(want).casefold())
    if name is None:
        return version_prefix(want, have, catalog)
    texts = [str(item) for item in have] if isinstance(have, list) else [str(have)]
    found = re.search(rf"\b{re.escape(name[0])}\b[^0-9]{{0,24}}({_VERSION.pattern})?", ", ".join(texts).casefold())
    if found is None:
        return False, ""
    if not _VERSION.search(str(want)):
        return True, ""
    return (
        version_prefix(want, found[1], catalog) if found[1] else (None, f"{name[0]} is there, its version is not told")
    )


def version_at_least(want: Any, have: Any, _: Catalog) -> Answer:
    """Have is want or newer."""
    wanted, had = _VERSION.search(str(want)), _VERSION.search(str(have))
    if not wanted or not had:
        return None, f"no version number in {want if not wanted else have}"
    left, right = ([int(part) for part in text[0].split(".")] for text in (wanted, had))
    return right[: len(left)] >= left, ""


_BASE_FORMATS: dict[str, Callable[[float], str]] = {
    "B": format_bytes,
    "b/s": lambda value: f"{value / 1e9:g} Gb/s",
    "MB/s": lambda value: f"{value:,.4g} MB/s",
    "B/s": lambda value: f"{value / 1e6:,.4g} MB/s",
}


def shown(value: Any, unit: str = "") -> str:
    """Return a value as the table shows it: as written where there is a text, else in a fitting unit."""
    if value is None or value == "":
        return ""
    if isinstance(value, Quantity):
        return value.text
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and unit in _BASE_FORMATS:
        return _BASE_FORMATS[unit](value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return f"{value:,}" if isinstance(value, int) else str(value)
