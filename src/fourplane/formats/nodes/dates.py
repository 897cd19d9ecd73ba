"""Dates that tools write with English names of months, whatever the locale of this machine."""

from __future__ import annotations

__all__ = ["iso_date"]

_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, start=1)}


def iso_date(year: str, month: str, day: str, clock: str) -> str:
    """Return ``2025-02-23T16:24:18`` without a zone, "" when the month has no such name."""
    number = _MONTHS.get(month)
    return f"{year}-{number:02d}-{int(day):02d}T{clock}" if number else ""
