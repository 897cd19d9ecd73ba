"""What every probe stands on: its lines on stdout, its way to end, small reads.

Standard library only, Python 3.8 or newer; packed into one file with the probe that imports it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from datetime import datetime, timezone
from typing import Any, Callable

__all__ = ["Guard", "Output", "Stopped", "describe", "now", "read_text"]


class Stopped(BaseException):
    """The probe was asked to end: by a signal, the end of stdin, its deadline, or a reader that went away."""


class Output:
    """JSON lines on stdout, as ``fourplane.formats.probe_lines`` reads them."""

    def __init__(self, probe: str, version: int) -> None:
        self.probe, self.version = probe, version
        self.said = set()  # type: set[str]
        self.started = time.monotonic()
        self.quiet = False
        self.broken = False
        self._lock = threading.Lock()

    def line(self, kind: str, **fields: Any) -> None:
        """Write one line; raises Stopped when nobody reads any more, unless ``quiet``."""
        text = json.dumps({"t": kind, **fields}, allow_nan=False) + "\n"
        with self._lock:
            try:
                sys.stdout.write(text)
                sys.stdout.flush()
            except OSError:
                if not self.quiet:
                    raise Stopped("nobody reads stdout") from None

    def begin(self) -> None:
        """Write the first line."""
        self.line("begin", probe=self.probe, version=self.version, node=socket.gethostname(), at=now())

    def measured(self, metric: str, value: Any, unit: str, method: str, **more: Any) -> None:
        """Write a measured observation."""
        self._observation(metric, value, unit, method, "measured", more)

    def without(self, metric: str, unit: str, method: str, state: str, reason: str, **more: Any) -> None:
        """Write an observation without a value: absent, failed or skipped, with the reason."""
        self._observation(metric, None, unit, method, state, dict(more, reason=reason[:500]))

    def progress(self, done: float, text: str) -> None:
        """Write how far the probe is, from 0 to 1."""
        self.line("progress", done=round(min(1.0, max(0.0, done)), 3), text=text)

    def end(self, ok: bool) -> None:
        """Write the last line."""
        self.line("end", ok=ok, seconds=round(time.monotonic() - self.started, 3))

    def _observation(self, metric: str, value: Any, unit: str, method: str, state: str, more: dict[str, Any]) -> None:
        self.said.add(metric)
        self.broken = self.broken or state == "failed"
        head = {"subject": "", "metric": metric, "value": value, "unit": unit, "method": method, "state": state}
        self.line("observation", **head, at=now(), **more)


def now() -> str:
    """Return the time in UTC, ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def describe(error: BaseException) -> str:
    """Return an exception as one line."""
    text = " ".join(str(error).split())
    return "%s: %s" % (type(error).__name__, text) if text else type(error).__name__


class Guard:
    """Turns every request to end into one ``Stopped`` in the main thread; threads look at ``stop``."""

    LAST_RESORT_S = 20.0

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.reason = ""
        self.closing = False

    def install(self, deadline_s: float, watch_stdin: bool) -> None:
        """Watch signals, the deadline in seconds (0: none) and, when asked, the end of stdin."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        if deadline_s > 0:
            threading.Thread(target=self._watch_clock, args=(deadline_s,), daemon=True).start()
        if watch_stdin:
            threading.Thread(target=self._watch_stdin, daemon=True).start()

    def check(self) -> None:
        """Raise Stopped in a thread that should end; called between two blocks."""
        if self.stop.is_set():
            raise Stopped(self.reason)

    def close(self) -> None:
        """From here on the probe ends anyway: signals no longer interrupt the cleaning."""
        self.closing = True
        self.stop.set()

    def ask(self, reason: str) -> None:
        """Ask the main thread to end; end the process without it when it hangs in the kernel."""
        self.reason = self.reason or reason
        self.stop.set()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
        time.sleep(self.LAST_RESORT_S)
        os._exit(1)

    def parallel(self, jobs: list[Callable[[], Any]]) -> list[Any]:
        """Run each job in a thread of its own and return their results in order; the first error is raised."""
        results = [None] * len(jobs)  # type: list[Any]
        errors = []  # type: list[BaseException]

        def work(number: int) -> None:
            try:
                results[number] = jobs[number]()
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(len(jobs))]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except Stopped:
            for thread in threads:
                if thread.ident is not None:
                    thread.join(5.0)
            raise
        if errors:
            raise errors[0]
        return results

    def _on_signal(self, number: int, _frame: Any) -> None:
        if self.closing:
            return
        self.closing = True
        self.reason = self.reason or signal.Signals(number).name
        self.stop.set()
        raise Stopped(self.reason)

    def _watch_clock(self, deadline_s: float) -> None:
        if not self.stop.wait(deadline_s):
            self.ask("deadline of %g s" % deadline_s)

    def _watch_stdin(self) -> None:
        try:
            while os.read(0, 4096):
                continue
        except OSError:
            pass
        self.ask("stdin was closed")


def read_text(path: str) -> str:
    """Return a small file's text, "" where it can't be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as handle:
            return handle.read(4096)
    except OSError:
        return ""
