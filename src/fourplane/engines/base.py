"""The engine's contract: run one probe on nodes, stream what it says, leave nothing behind.

An engine never judges. A probe that could not be started, was stopped at its deadline or said too much comes
back as a ``Result`` that tells so; only a call that makes no sense (an unknown node) is an exception.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

__all__ = ["MAX_LINE_BYTES", "MAX_STDERR_BYTES", "MAX_STDOUT_BYTES", "Engine", "OnLine", "Result", "Task"]

MAX_STDOUT_BYTES = 64 * 1024 * 1024
"""What one probe may print on one node; a probe that says more is stopped."""
MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_STDERR_BYTES = 64 * 1024
"""The end of stderr that is kept; what comes before is dropped."""

OnLine = Callable[[str, str], None]
"""Called with (node, line) for each line of stdout, as it arrives, in the thread that iterates the results."""


@dataclass(frozen=True, slots=True)
class Task:
    """One probe run.

    Attributes:
        probe: the probe's file.
        args: its arguments.
        ranks: MPI ranks on each node; 0 for a probe that is no MPI program.
        deadline_s: seconds after which the probe is stopped: first asked, then killed.
        grace_s: seconds between asking and killing, for the probe to remove its scratch.
        env: variables to set, on top of the few that an engine lets through. The place for credentials that a
            probe needs; nothing else carries them over.
    """

    probe: Path
    args: tuple[str, ...] = ()
    ranks: int = 0
    deadline_s: float = 300.0
    grace_s: float = 10.0
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Result:
    """What one probe run left on one node.

    Attributes:
        node: name of the node.
        returncode: exit status; negative for a signal, None when nothing was started.
        lines: lines of stdout without their newline, decoded with replacement.
        stderr: the end of stderr.
        duration_s: wall time from start to the end of the last process.
        timed_out: stopped at its deadline.
        cancelled: stopped by ``cancel``.
        error: why the engine could not run it, or stopped it otherwise; "" when it ran to its own end.
    """

    node: str
    returncode: int | None
    lines: list[str]
    stderr: str
    duration_s: float
    timed_out: bool = False
    cancelled: bool = False
    error: str = ""

    @property
    def ok(self) -> bool:
        """Tell whether the probe ran to its own end and said that all went well."""
        return self.returncode == 0 and not (self.timed_out or self.cancelled or self.error)


class Engine(ABC):
    """Something that can run probes on nodes.

    Whatever happens (deadline, ``cancel``, an exception in the caller, the death of the calling process): no
    process of a task outlives its run by more than the task's grace.
    """

    name: str = ""

    @abstractmethod
    def nodes(self) -> list[str]:
        """Return the names of the nodes that can be reached, in order."""

    @abstractmethod
    def run(self, task: Task, nodes: Sequence[str], on_line: OnLine | None = None) -> Iterator[Result]:
        """Run ``task`` once on each of ``nodes``; yield one result a node, in the order in which they end.

        Raises:
            UsageError: ``engine-node-unknown``, before anything is started.
        """

    @abstractmethod
    def cancel(self) -> None:
        """Stop what runs now, from any thread; the running results come back as cancelled, later tasks run."""
