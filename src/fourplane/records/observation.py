"""Observation: one fact or figure, with its origin.

Within one run an observation is identified by (subject, metric, method): a resumed run never holds two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from fourplane.base.clock import format_utc, parse_utc

__all__ = ["Observation", "RawRef", "State", "Value"]

Value = str | int | float | bool | list[Any] | dict[str, Any] | None
"""What an observation may hold: JSON values only."""


class State(StrEnum):
    """How the observation came out."""

    MEASURED = "measured"
    """The value was seen."""
    ABSENT = "absent"
    """Looked for, and it isn't there: no GPU, no such tool. The value is None, the reason says what was tried."""
    FAILED = "failed"
    """The attempt broke: crash, timeout, wrong result. Never counts for or against the hardware."""
    SKIPPED = "skipped"
    """Not attempted, for the reason given."""


@dataclass(frozen=True, slots=True)
class RawRef:
    """Where the raw text lies: path below the evidence folder, its hash, and a 1-based line (0: the whole)."""

    path: str
    sha256: str
    line: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"path": self.path, "sha256": self.sha256, "line": self.line}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RawRef:
        """Read the JSON form back."""
        return cls(data["path"], data["sha256"], data.get("line", 0))


@dataclass(frozen=True, slots=True)
class Observation:
    """One observed fact.

    Attributes:
        subject: what it is about: ``node:NAME``, ``node:NAME/gpu:0``, ``cluster``.
        metric: a name from ``records.metrics``.
        value: JSON value; None unless measured.
        unit: unit of a number, "" for text and counts.
        method: tool and way, such as ``allreduce/1 openmpi 5.0.11 ranks=2``; part of the identity.
        at: when it was seen, UTC.
        state: measured, absent, failed or skipped.
        reason: why there is no value, or a remark on it.
        conditions: what else holds for the figure: sizes, ranks, transport, file system.
        raw: where the raw output can be read.
        run: identifier of the run that recorded it; set by the store.
    """

    subject: str
    metric: str
    value: Value
    unit: str
    method: str
    at: datetime
    state: State = State.MEASURED
    reason: str = ""
    conditions: dict[str, Any] = field(default_factory=dict)
    raw: RawRef | None = None
    run: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Return the identity within a run."""
        return (self.subject, self.metric, self.method)

    @property
    def reference(self) -> str:
        """Return the text by which findings and reviews cite this observation."""
        return f"{self.run}:{self.subject}:{self.metric}"

    @property
    def number(self) -> float | None:
        """Return the value as a float where it is a measured number, else None."""
        if self.state is not State.MEASURED or isinstance(self.value, bool):
            return None
        return float(self.value) if isinstance(self.value, int | float) else None

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form, as stored."""
        return {
            "subject": self.subject,
            "metric": self.metric,
            "value": self.value,
            "unit": self.unit,
            "method": self.method,
            "at": format_utc(self.at),
            "state": str(self.state),
            "reason": self.reason,
            "conditions": self.conditions,
            "raw": self.raw.to_json() if self.raw else None,
            "run": self.run,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Observation:
        """Read the stored form back.

        Raises:
            KeyError, ValueError: a field is missing or malformed.
        """
        return cls(
            subject=data["subject"],
            metric=data["metric"],
            value=data["value"],
            unit=data["unit"],
            method=data["method"],
            at=parse_utc(data["at"]),
            state=State(data["state"]),
            reason=data.get("reason", ""),
            conditions=data.get("conditions", {}),
            raw=RawRef.from_json(data["raw"]) if data.get("raw") else None,
            run=data.get("run", ""),
        )
