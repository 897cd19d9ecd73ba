"""What a run looks like to those who ask for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from fourplane.base.clock import format_utc

__all__ = ["RunInfo"]


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run on file.

    Attributes:
        id: its name.
        started: when it began, UTC.
        ended: when it ended, None while it is unfinished.
        plan: what was planned, as given to ``begin`` (secrets redacted).
        steps: the steps recorded, in order.
        seq: number of the manifest that began it.
        tool: name and version of the program that measured.
        host: machine that the run was started on.
        summary: as given to ``end``; empty while it is unfinished.
    """

    id: str
    started: datetime
    ended: datetime | None
    plan: dict[str, Any]
    steps: tuple[str, ...]
    seq: int
    tool: str = ""
    host: str = ""
    summary: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "id": self.id,
            "started": format_utc(self.started),
            "ended": format_utc(self.ended) if self.ended else None,
            "steps": list(self.steps),
            "seq": self.seq,
            "tool": self.tool,
            "host": self.host,
            "plan": self.plan,
            "summary": self.summary,
        }
