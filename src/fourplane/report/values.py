"""Values as people read them: three significant digits, a unit, lists and objects in one line."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime

from fourplane.base.units import format_bytes, format_seconds
from fourplane.records.observation import Observation, State, Value

__all__ = ["amount", "moment", "number", "observation_text", "value_text"]

_LONGEST = 4_000


def number(value: float) -> str:
    """Return a number with three significant digits and thousands separators: ``12,300``, ``4.21``, ``0.0071``."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 1e-4:
        return f"{value:.{max(0, 2 - math.floor(math.log10(size)))}f}"
    return f"{value:.2e}"


def amount(value: float, unit: str) -> str:
    """Return a number in the unit of the metric vocabulary, scaled to what a person says."""
    if not math.isfinite(value):
        return f"{value} {unit}".rstrip()
    if unit == "B":
        return format_bytes(value)
    if unit == "b/s":
        return next(
            (f"{number(value / f)} {p}b/s" for f, p in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if value >= f),
            f"{number(value)} b/s",
        )
    if unit == "s":
        return format_seconds(value)
    if unit == "us":
        return f"{number(value)} µs" if value < 1e5 else format_seconds(value / 1e6)
    if unit == "MB/s" and abs(value) >= 10_000:
        return f"{number(value / 1000)} GB/s"
    if unit == "1/s":
        return f"{number(value)} /s"
    return f"{number(value)} {unit}".rstrip()


def value_text(value: Value, unit: str) -> str:
    """Return any observed value as text, cut to a length that a page can hold."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return amount(value, unit)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (
        text if len(text) <= _LONGEST else text[:_LONGEST] + f"… ({len(text):,} characters; all of them in report.json)"
    )


def observation_text(one: Observation) -> str:
    """Return what an observation says: the value, or how it came that there is none."""
    if one.state is State.MEASURED:
        return value_text(one.value, one.unit)
    return f"{one.state}: {one.reason}" if one.reason else str(one.state)


def moment(at: datetime | None) -> str:
    """Return a time for people, in UTC to the second; "" for None."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else ""
