"""One supervised child process: bounded output, deadline, and an end that takes its whole session along."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from fourplane.engines.base import MAX_LINE_BYTES, MAX_STDERR_BYTES, MAX_STDOUT_BYTES, Result
from fourplane.engines.leash import end_session

__all__ = ["Limits", "run_child"]

_POLL_S = 0.05
_AFTERMATH_S = 0.5
"""Grace for processes that outlive a child which ended by itself."""
_DRAIN_S = 2.0
"""How long to wait for the last output after every process is gone."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run: seconds until it is stopped, seconds of grace, bytes of stdout, of a line, of stderr."""

    deadline_s: float
    grace_s: float
    stdout_bytes: int = MAX_STDOUT_BYTES
    line_bytes: int = MAX_LINE_BYTES
    stderr_bytes: int = MAX_STDERR_BYTES


def run_child(
    node: str,
    argv: Sequence[str],
    env: Mapping[str, str],
    limits: Limits,
    on_line: Callable[[str], None],
    cancelled: threading.Event,
) -> Result:
    """Run ``argv`` to its end, its deadline or its cancellation, whichever comes first.

    stdin is a pipe that stays open until the end: its closing tells the child that its controller is gone, even
    when that controller was killed. An exception in ``on_line``, ``KeyboardInterrupt`` included, ends the child
    and is passed on.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            start_new_session=True,  # Ctrl-C on the terminal reaches the controller alone, which then ends the child
        )
    except (OSError, ValueError) as error:
        return Result(node, None, [], "", time.monotonic() - started, error=f"{argv[0]} could not be started: {error}")
    output = _Output(process, limits)
    lines: list[str] = []
    stopped = ""
    try:
        while not stopped:
            line = output.next_line(_POLL_S)
            if line is not None:
                lines.append(line)
                on_line(line)
            elif _has_exited(process):
                break
            if time.monotonic() - started > limits.deadline_s:
                stopped = "deadline"
            elif cancelled.is_set():
                stopped = "cancelled"
            elif output.flooded:
                stopped = "flooded"
    finally:
        # also after a normal end: what the child left running in its session is not wanted either
        _end(process, limits.grace_s)
    for line in output.rest():
        lines.append(line)
        on_line(line)
    trouble = f"stopped: more than {limits.stdout_bytes:,} bytes on stdout" if output.flooded else ""
    return Result(
        node=node,
        returncode=process.returncode,
        lines=lines,
        stderr=output.stderr(),
        duration_s=time.monotonic() - started,
        timed_out=stopped == "deadline",
        cancelled=stopped == "cancelled",
        error=trouble,
    )


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether the child ended, without reaping it: its id, which names the session, stays taken until then."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes], grace_s: float) -> None:
    """End every process of the child's session; safe to interrupt: a second Ctrl-C shortens the grace."""
    try:
        if process.stdin is not None:
            process.stdin.close()
    except OSError:
        pass
    try:
        end_session(process.pid, _AFTERMATH_S if _has_exited(process) else grace_s)
    except BaseException:
        end_session(process.pid, 0)
        raise
    finally:
        if not _has_exited(process):  # no /proc to find the session in
            process.kill()
        process.wait()


class _Output:
    """Reads both streams in threads, so that a full pipe never blocks the child."""

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.flooded = False
        self._limits = limits
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._tail: deque[bytes] = deque()
        self._threads = [
            threading.Thread(target=self._read_lines, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._read_tail, args=(process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def next_line(self, wait_s: float) -> str | None:
        """Return the next line, or None when none came in time."""
        try:
            return self._lines.get(timeout=wait_s)
        except queue.Empty:
            return None

    def rest(self) -> list[str]:
        """Return what is left after the processes ended."""
        for thread in self._threads:
            thread.join(_DRAIN_S)
        left = []
        while True:
            try:
                left.append(self._lines.get_nowait())
            except queue.Empty:
                return left

    def stderr(self) -> str:
        """Return the end of stderr."""
        return b"".join(self._tail)[-self._limits.stderr_bytes :].decode(errors="replace")

    def _read_lines(self, stream: IO[bytes]) -> None:
        total = 0
        with stream:
            while piece := stream.readline(self._limits.line_bytes):
                total += len(piece)
                if total > self._limits.stdout_bytes:
                    self.flooded = True
                if not self.flooded:  # go on reading, or the child would hang in a full pipe instead of ending
                    self._lines.put(piece.decode(errors="replace").rstrip("\r\n"))

    def _read_tail(self, stream: IO[bytes]) -> None:
        size = 0
        with stream:
            while piece := stream.read1(65536):  # type: ignore[attr-defined]
                self._tail.append(piece)
                size += len(piece)
                while size - len(self._tail[0]) >= self._limits.stderr_bytes:
                    size -= len(self._tail.popleft())
