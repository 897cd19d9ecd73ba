"""What every part of the storage probe needs: where to write, how much, how long, and where to speak."""

from __future__ import annotations

import argparse
from typing import Any

from fourplane.probes.parts.content import BLOCK, room
from fourplane.probes.parts.frame import Guard, Output
from fourplane.probes.parts.scratch import Scratch, filesystem

__all__ = ["CACHED", "LEAST", "NAME", "THREADS", "VERSION", "Run"]

NAME, VERSION = "storage", 1
THREADS = 4
LEAST = 16 * BLOCK
"""Below this a part is skipped: the figures would be start-up times."""
CACHES = "a cache of the host, the controller or the device may serve reads and absorb writes"
CACHED = 0.05
"""A read counts as cold when at most this part of the file lay in the page cache."""


class Run:
    """What every part needs: where to write, how much, how long, and where to speak."""

    def __init__(self, out: Output, guard: Guard, scratch: Scratch, args: argparse.Namespace) -> None:
        self.out, self.guard, self.scratch, self.args = out, guard, scratch, args
        self.budget_s = float(args.budget)
        self.plan = {}  # type: dict[str, tuple[str, str]]
        self.folder = ""
        self.facts = {}  # type: dict[str, Any]

    def prepare(self, methods: dict[str, str]) -> int:
        """Name the methods, open the scratch folder and return the bytes that may be written; 0: all was skipped."""
        for metric, (unit, method) in self.plan.items():
            self.plan[metric] = (unit, methods.get(metric.rpartition(".")[2], method))
        self.folder = self.folder or self.scratch.open()
        self.facts = {"filesystem": filesystem(self.folder), "note": CACHES}
        allowed, reason = room(self.folder, self.args.max_bytes, LEAST)
        if reason:
            self.skip(reason)
        return allowed

    def measured(self, metric: str, value: Any, **conditions: Any) -> None:
        """Report a value, with the part's conditions."""
        unit, method = self.plan[metric]
        if isinstance(value, float):
            value = float("%.5g" % value)  # more digits than that are noise
        self.out.measured(metric, value, unit, method, conditions=dict(self.facts, **conditions))

    def without(self, metric: str, state: str, reason: str, **conditions: Any) -> None:
        """Report why a metric has no value."""
        unit, method = self.plan[metric]
        self.out.without(metric, unit, method, state, reason, conditions=dict(self.facts, **conditions))

    def skip(self, reason: str) -> None:
        """Report every open metric as skipped."""
        for metric in self.plan:
            if metric not in self.out.said:
                self.without(metric, "skipped", reason)
