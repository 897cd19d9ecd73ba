"""The folder in which a probe writes: found again after a kill, and never another one's."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import socket
import stat
import time
from contextlib import suppress
from typing import Any, Callable

from fourplane.probes.parts.frame import Guard, Output, Stopped, describe, read_text

__all__ = ["Scratch", "alive", "filesystem", "finish", "free_bytes", "owner", "start_time"]

UNMARKED_S = 60.0
"""Age at which an empty folder without a marker can't be one that another probe is just making."""


class Scratch:
    """A folder of this probe inside the scratch folder, removed at the end, and after a kill by the next probe.

    A marker names its owner: host, boot, process and the process's start. The owner also holds a lock on it. Only a
    marked folder of this user whose owner is surely dead is ever removed.
    """

    PREFIX, MARKER = "fourplane-scratch-", ".fourplane-owner.json"

    def __init__(self, base: str) -> None:
        self.base = os.path.abspath(base)
        self.removed, self.left = [], []  # type: list[str], list[str]
        self.path = ""
        self._lock = -1

    def open(self) -> str:
        """Remove dead probes' folders, make this one's and return its path."""
        self.remove_stale()
        path = os.path.join(self.base, self.PREFIX + secrets.token_hex(8))
        os.mkdir(path, 0o700)
        self.path = path
        self._lock = os.open(os.path.join(path, self.MARKER), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(self._lock, json.dumps(owner(os.getpid())).encode())
        return path

    def close(self) -> bool:
        """Remove this probe's folder; return whether nothing of it is left."""
        if self.path:
            # a thread that is just stopping may still create a file: look again
            for _ in range(20):
                self._remove_tree(self.path)
                if not os.path.lexists(self.path):
                    break
                time.sleep(0.1)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
        return not (self.path and os.path.lexists(self.path))

    def _remove_tree(self, path: str) -> None:
        """Remove a marked folder, its marker last: killed in between, what is left still names its owner."""
        try:
            names = [name for name in os.listdir(path) if name != self.MARKER]
        except OSError:
            return
        for name in names:
            inside = os.path.join(path, name)
            if os.path.isdir(inside) and not os.path.islink(inside):
                shutil.rmtree(inside, ignore_errors=True)  # never follows a link
            else:
                with suppress(OSError):
                    os.unlink(inside)
        with suppress(OSError):
            if os.listdir(path) == [self.MARKER]:
                os.unlink(os.path.join(path, self.MARKER))
            os.rmdir(path)

    def remove_stale(self) -> None:
        """Remove what killed probes left; remember what was left alone, and why."""
        try:
            names = sorted(os.listdir(self.base))
        except OSError:
            return
        for name in names:
            path = os.path.join(self.base, name)
            if name.startswith(self.PREFIX) and path != self.path:
                reason = self._remove_one(path)
                if reason:
                    self.left.append("%s: %s" % (name, reason))
                else:
                    self.removed.append(name)

    def _remove_one(self, path: str) -> str:
        """Remove one folder when its owner is dead; return why it was left alone, "" when it was removed."""
        try:
            status = os.lstat(path)
        except OSError:
            return ""  # gone by itself
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return "no folder of this user"
        try:
            marker = os.open(os.path.join(path, self.MARKER), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            # killed between making the folder and marking it, or between the marker's end and the folder's
            if time.time() - status.st_mtime > UNMARKED_S:
                with suppress(OSError):
                    os.rmdir(path)  # removes nothing but an empty folder
                    return ""
            return "no marker"
        try:
            if not stat.S_ISREG(os.fstat(marker).st_mode):
                return "no marker"
            fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            text = os.read(marker, 4096)
            reason = alive(json.loads(text.decode()))
            if not reason:
                self._remove_tree(path)
                reason = "could not be removed" if os.path.lexists(path) else ""
            return reason
        except BlockingIOError:
            return "its owner lives"
        except (OSError, ValueError, KeyError, TypeError) as error:
            return "not to be judged: " + describe(error)
        finally:
            os.close(marker)


def owner(pid: int) -> dict[str, Any]:
    """Return what identifies a process for good."""
    return {
        "host": socket.gethostname() + " " + read_text("/etc/machine-id").strip(),
        "boot": read_text("/proc/sys/kernel/random/boot_id").strip(),
        "namespace": namespace(),
        "pid": pid,
        "started": start_time(pid),
    }


def alive(marked: dict[str, Any]) -> str:
    """Return why the owner of a marker, whose lock is free, must be taken for alive; "" when it is surely dead."""
    mine = owner(os.getpid())
    if marked["boot"] != mine["boot"]:
        # on a shared file system the owner may live on another host, and its lock need not be seen here
        return "" if marked["host"] == mine["host"] else "its owner ran on another host"
    if marked["namespace"] != mine["namespace"]:
        return ""  # another container on this kernel: the free lock has told
    return "its owner lives" if start_time(int(marked["pid"])) == marked["started"] != "" else ""


def namespace() -> str:
    """Return the name of this process's PID namespace."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def start_time(pid: int) -> str:
    """Return when a process started, in clock ticks since boot (field 22 of /proc/PID/stat); "" without one."""
    fields = read_text("/proc/%d/stat" % pid).rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 else ""


def free_bytes(path: str) -> int:
    """Return the space that this user may still fill."""
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def filesystem(path: str) -> str:
    """Return the type of the file system that holds ``path``, from the mount table."""
    best, kind = "", ""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as handle:
            lines = handle.read().splitlines()
    except OSError:
        return ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) > 2:
            place = fields[1].replace("\\040", " ")
            inside = place == "/" or path == place or path.startswith(place + "/")
            if inside and len(place) >= len(best):
                best, kind = place, fields[2]
    return kind


def finish(
    out: Output,
    guard: Guard,
    scratch: Scratch,
    plan: dict[str, tuple[str, str]],
    method: str,
    body: Callable[[], None],
) -> int:
    """Run the probe's body between its first and its last line; whatever happens, clean and say what has no value.

    Args:
        out: speaks.
        guard: is closed before the cleaning.
        scratch: is cleaned.
        plan: (unit, method) of each metric that the body should speak of; the body may sharpen the methods.
        method: what the observation on cleanness is called by.
        body: does the measuring.

    Returns:
        The exit status: 0 when every metric was measured, absent or skipped and nothing is left behind, else 1.
    """
    reason = "not reached"
    try:
        out.begin()
        body()
    except Stopped as stop:
        reason = "stopped: " + str(stop)
    except Exception as error:
        reason = describe(error)
    guard.close()
    out.quiet = True
    for metric, (unit, how) in plan.items():
        if metric not in out.said:
            out.without(metric, unit, how, "failed", reason)
    clean = scratch.close()
    conditions = {"scratch": scratch.base, "removed_stale": scratch.removed, "left_alone": scratch.left[:20]}
    note = {} if clean else {"reason": scratch.path + " could not be removed"}
    out.measured("storage.scratch.clean", clean, "", method, conditions=conditions, **note)
    ok = clean and not out.broken
    out.end(ok)
    return 0 if ok else 1
