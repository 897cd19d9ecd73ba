"""UTC time in one written form: ``2026-12-01T04:39:20Z``, microseconds kept where there are any."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["format_utc", "parse_utc", "utc_now"]


def utc_now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def format_utc(moment: datetime) -> str:
    """Return ISO 8601 with a trailing Z.

    Raises:
        ValueError: the moment is naive; a time without a zone is never guessed.
    """
    if moment.tzinfo is None:
        raise ValueError("a time needs a zone before it can be written")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_utc(text: str) -> datetime:
    """Parse ISO 8601 with a zone and return it in UTC.

    Raises:
        ValueError: not ISO 8601, or without a zone.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone; expected for example 2026-12-01T04:39:20Z")
    return moment.astimezone(UTC)
