"""The local engine: this machine as a cluster of one node."""

from __future__ import annotations

import os
import re
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from fourplane.base.errors import UsageError
from fourplane.engines.base import Engine, OnLine, Result, Task
from fourplane.engines.child import Limits, run_child
from fourplane.engines.codes import MPIRUN_MISSING, NODE_UNKNOWN
from fourplane.engines.environment import clean_environment
from fourplane.engines.folders import private_folder
from fourplane.engines.mpi import SHARED_MEMORY, find_mpirun, mpi_variables, mpirun_argv
from fourplane.engines.packing import pack_probe, pieces_of

__all__ = ["LocalEngine", "safe_node_name"]


def safe_node_name(text: str) -> str:
    """Return a host name that fits RFC 1123's alphabet, without the domain; "localhost" when nothing is left."""
    name = re.sub(r"[^A-Za-z0-9-]+", "-", text.split(".", 1)[0])[:63].strip("-")
    return name or "localhost"


class LocalEngine(Engine):
    """Runs probes on this machine as child processes."""

    name = "local"

    def __init__(self, node_name: str | None = None, *, python: str | None = None) -> None:
        """Name the node and choose the interpreter.

        Args:
            node_name: name of the one node, the host name by default.
            python: interpreter that runs the probes, this one by default.
        """
        self._node = safe_node_name(socket.gethostname() if node_name is None else node_name)
        self._python = python or sys.executable
        self._guard = threading.Lock()
        self._running: set[threading.Event] = set()

    def nodes(self) -> list[str]:
        """Return the one node."""
        return [self._node]

    def run(self, task: Task, nodes: Sequence[str], on_line: OnLine | None = None) -> Iterator[Result]:
        """Run ``task`` on the one node, when ``nodes`` names it."""
        unknown = sorted(set(nodes) - {self._node})
        if unknown:
            raise UsageError(
                NODE_UNKNOWN.code,
                f"the local engine reaches {self._node} only, not {', '.join(unknown)}",
                NODE_UNKNOWN.fix,
            )
        return self._results(task, on_line) if nodes else iter(())

    def cancel(self) -> None:
        """Stop what runs now."""
        with self._guard:
            for event in self._running:
                event.set()

    def _results(self, task: Task, on_line: OnLine | None) -> Iterator[Result]:
        cancelled = threading.Event()
        with self._guard:
            self._running.add(cancelled)
        try:
            result = self._run(task, on_line, cancelled)
        finally:
            with self._guard:
                self._running.discard(cancelled)
        yield result

    def _run(self, task: Task, on_line: OnLine | None, cancelled: threading.Event) -> Result:
        def deliver(line: str) -> None:
            if on_line is not None:
                on_line(self._node, line)

        limits = Limits(task.deadline_s, task.grace_s)
        with ExitStack() as folders:
            home = folders.enter_context(private_folder())
            command = [str(_placed(task.probe, home)), *task.args]
            variables = {"TMPDIR": str(home)}
            if task.ranks == 0:
                env = clean_environment({**variables, **task.env})
                return run_child(self._node, [self._python, *command], env, limits, deliver, cancelled)
            mpirun = find_mpirun(self._python)
            if mpirun is None:
                error = f"{MPIRUN_MISSING.code}: no mpirun beside {self._python} or on PATH; {MPIRUN_MISSING.fix}"
                return Result(self._node, None, [], "", 0.0, error=error)
            shared = os.access(SHARED_MEMORY, os.W_OK | os.X_OK)
            segments = folders.enter_context(private_folder(SHARED_MEMORY)) if shared else home
            variables.update(mpi_variables(home, segments))
            variables["HOME"] = os.environ.get("HOME") or str(home)  # Open MPI refuses to start without any
            env = clean_environment({**variables, **task.env})
            # the ranks must be gone before the leash is killed, or nobody would be left to end them
            argv = mpirun_argv(mpirun, self._python, task.ranks, command, max(0.0, task.grace_s - 1))
            return run_child(self._node, argv, env, limits, deliver, cancelled)


def _placed(probe: Path, folder: Path) -> Path:
    """Return the file to run: the probe itself, or the one file that it makes with its pieces."""
    if not pieces_of(probe):
        return probe
    packed = folder / f"{probe.stem}.pyz"
    packed.write_bytes(pack_probe(probe))
    return packed
