"""Run a command on a leash: when stdin closes or a signal asks for it, the command's whole session ends.

    python leash.py GRACE_S COMMAND [ARGUMENT ...]

An engine keeps the leash's stdin open; if the engine dies, however suddenly, the kernel closes the pipe and the
leash ends the command. Probes that are plain programs watch their own stdin; mpirun needs the leash, since
PRRTE 3 forwards what is written to stdin but not its end. One file, standard library only, Linux.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time

__all__ = ["end_session", "main", "session_members"]

_POLL_S = 0.02


def session_members(session: int) -> list[int]:
    """Return the living processes of a session, zombies left out; empty where /proc is not mounted.

    A session is wider than a process group: PRRTE gives each rank a group of its own.
    """
    found = []
    try:
        entries = os.listdir("/proc")  # noqa: PTH208 (names are wanted, not paths)
    except OSError:
        return []
    for entry in entries:
        if not entry.isdecimal():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as handle:  # noqa: PTH123
                # the command in parentheses may hold anything, so fields are counted from its end
                fields = handle.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 3 and fields[0] not in (b"Z", b"X") and int(fields[3]) == session:
            found.append(int(entry))
    return found


def end_session(session: int, grace_s: float, spare: int = 0) -> None:
    """End every process of a session: SIGTERM to all, after the grace SIGKILL to those left.

    Args:
        session: id of the session.
        grace_s: seconds that the processes get to end by themselves.
        spare: process that is left alone.
    """
    _signal_all([pid for pid in session_members(session) if pid != spare], signal.SIGTERM)
    until = time.monotonic() + grace_s
    while time.monotonic() < until and [pid for pid in session_members(session) if pid != spare]:
        time.sleep(_POLL_S)
    # a dying process may still have forked: look again until nobody is left
    for _ in range(200):
        left = [pid for pid in session_members(session) if pid != spare]
        if not left:
            return
        _signal_all(left, signal.SIGKILL)
        time.sleep(_POLL_S)


def _signal_all(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def main(argv: list[str]) -> int:
    """Run the command and return its exit status; 128 + n when signal n ended it, 143 when the leash did."""
    grace_s, command = float(argv[0]), argv[1:]
    asked: list[int] = []
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: asked.append(received))
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    watched = [0, wake_read]
    while child.poll() is None and not asked:
        ready = select.select(watched, [], [], 1.0)[0]
        if wake_read in ready:
            os.read(wake_read, 512)
        if 0 in ready and not os.read(0, 4096):
            asked.append(0)
    stopped = child.returncode is None
    if os.getsid(0) == os.getpid():
        end_session(os.getpid(), grace_s if stopped else 0.5, spare=os.getpid())
    elif stopped:
        child.terminate()
        try:
            child.wait(grace_s)
        except subprocess.TimeoutExpired:
            child.kill()
    status = child.wait()
    if stopped:
        return 143
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
