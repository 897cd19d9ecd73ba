"""Checkpoints: how long a step waits for one, how fast it comes back, and whether it survives a kill.

A checkpoint is a folder ``step-N`` of
shards and a manifest. Each shard is written under a temporary name, flushed, renamed, and its folder flushed; the
manifest with every shard's size and SHA-256 comes last, in the same way. So a folder without its manifest is no
checkpoint, and a restore takes the newest folder whose manifest and shards are all right.

The crash test starts a writer as a process of its own and kills it (SIGKILL) at two moments: in the middle of a
shard, and when every shard is there but the manifest is not. That shows what happens when a process or a container
dies; the loss of power is another matter, which no program can show on itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from typing import Any

from fourplane.probes.parts.content import (
    BASE,
    BLOCK,
    Content,
    cached_fraction,
    drop_cache,
    fsync_path,
    write_all,
    write_rate,
)
from fourplane.probes.parts.frame import Guard, describe
from fourplane.probes.parts.run import CACHED, NAME, VERSION, Run

__all__ = [
    "METRICS",
    "be_writer",
    "crash",
    "load",
    "manifest_of",
    "measure",
    "restore_newest",
    "write_checkpoint",
]

METRICS = {
    "storage.checkpoint.write_throughput": "MB/s",
    "storage.checkpoint.stall": "s",
    "storage.checkpoint.restore_throughput": "MB/s",
    "storage.checkpoint.restore_verified": "",
    "storage.checkpoint.crash_consistent": "",
    "storage.checkpoint.recovery": "s",
}
"""Metrics of this part, with their units."""


SHARDS = 4
MANIFEST = "manifest.json"
MOMENTS = ("shard", "manifest")
PREFIX = "storage.checkpoint."
METHOD = "%s/%d checkpoint fsync+rename shards=%d sha256" % (NAME, VERSION, SHARDS)


def step_folder(root: str, step: int) -> str:
    """Return the folder of a checkpoint."""
    return os.path.join(root, "step-%08d" % step)


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return "shard-%05d.bin" % number


def put(path: str, pieces: Any) -> None:
    """Write a file so that it is there as a whole or not at all: temporary name, fsync, rename, fsync of the folder."""
    temporary = path + ".part"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        for piece in pieces:
            write_all(fd, piece)
        os.fsync(fd)
    finally:
        os.close(fd)
    os.rename(temporary, path)
    fsync_path(os.path.dirname(path))


def contents(step: int) -> list[Content]:
    """Return the content of each shard of a step."""
    return [Content(step << 8 | number) for number in range(SHARDS)]


def manifest_of(step: int, blocks: int) -> bytes:
    """Return the manifest of a step, hashing what its shards will hold."""
    shards = [
        {"name": shard_name(number), "bytes": blocks * BLOCK, "sha256": content.digest(blocks)}
        for number, content in enumerate(contents(step))
    ]
    return json.dumps({"step": step, "shards": shards}, sort_keys=True).encode()


def write_checkpoint(root: str, step: int, blocks: int, manifest: bytes, guard: Guard) -> float:
    """Write one checkpoint, its shards side by side, and return the seconds that a training step would wait."""

    def shard(content: Content, path: str) -> None:
        def pieces() -> Any:
            for index in range(blocks):
                guard.check()
                yield content.block(index)

        put(path, pieces())

    folder = step_folder(root, step)
    parts = contents(step)
    started = time.perf_counter()
    os.mkdir(folder, 0o700)
    fsync_path(root)
    paths = [os.path.join(folder, shard_name(number)) for number in range(SHARDS)]
    guard.parallel([partial(shard, *pair) for pair in zip(parts, paths)])
    put(os.path.join(folder, MANIFEST), [manifest])
    return time.perf_counter() - started


def read_manifest(folder: str) -> dict[str, Any]:
    """Read a manifest; raises ValueError or OSError when it is no whole one."""
    with open(os.path.join(folder, MANIFEST), "rb") as handle:
        data = json.loads(handle.read(1 << 20).decode())
    if not isinstance(data, dict) or not isinstance(data.get("shards"), list) or not data["shards"]:
        raise ValueError("the manifest is not whole")
    return data


def load_shard(folder: str, entry: dict[str, Any], guard: Guard) -> None:
    """Read one shard and hold it against its manifest entry; raises ValueError when they differ."""
    path = os.path.join(folder, os.path.basename(str(entry["name"])))
    total, size = hashlib.sha256(), 0
    memory = bytearray(4 * BLOCK)
    view = memoryview(memory)
    with open(path, "rb", buffering=0) as handle:
        while True:
            guard.check()
            count = handle.readinto(memory)
            if not count:
                break
            total.update(view[:count])
            size += count
    if size != entry["bytes"] or total.hexdigest() != entry["sha256"]:
        raise ValueError("%s is not what its manifest says" % entry["name"])


def load(folder: str, guard: Guard) -> int:
    """Read a whole checkpoint, its shards side by side; return its bytes or raise ValueError or OSError."""
    entries = read_manifest(folder)["shards"]
    guard.parallel([partial(load_shard, folder, entry, guard) for entry in entries])
    return int(sum(entry["bytes"] for entry in entries))


def restore_newest(root: str, guard: Guard) -> tuple[str, list[str]]:
    """Return the name of the newest checkpoint that is whole, "" without one, and why newer ones are not."""
    passed_over = []  # type: list[str]
    for name in sorted((one for one in os.listdir(root) if one.startswith("step-")), reverse=True):
        try:
            load(os.path.join(root, name), guard)
            return name, passed_over
        except (OSError, ValueError, KeyError, TypeError) as error:
            passed_over.append("%s: %s" % (name, describe(error)))
    return "", passed_over


def files_below(folder: str) -> list[str]:
    """Return the regular files of a folder, none when it is gone."""
    if not os.path.isdir(folder):
        return []
    return sorted(entry.path for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))


def forget(folder: str) -> float | None:
    """Drop a folder's files from the page cache; return the part that stayed."""
    for path in files_below(folder):
        drop_cache(path)
    return cached_fraction(files_below(folder))


class Crash:
    """What one kill in mid-write showed."""

    def __init__(self, moment: str) -> None:
        self.moment = moment
        self.mid_write = False
        self.consistent = False
        self.seconds = 0.0
        self.note = ""
        self.cached = None  # type: float | None

    def facts(self) -> dict[str, Any]:
        """Return it for the conditions of an observation."""
        return {
            "moment": self.moment,
            "killed_in_mid_write": self.mid_write,
            "consistent": self.consistent,
            "recovery_s": round(self.seconds, 4),
            "cached_before_restore": self.cached,
            "note": self.note,
        }


def crash(root: str, good: int, moment: str, writer: list[str], guard: Guard) -> Crash:
    """Kill a writer in mid-write, then restore: only checkpoint ``good``, byte for byte, is the right outcome.

    Args:
        root: folder that holds checkpoint ``good``.
        good: step of the last good checkpoint.
        moment: what the writer does when it is killed, for the record.
        writer: command that writes checkpoint ``good + 1`` into ``root`` and says "killme" on stdout when it is there.
        guard: ends the writer with the probe.
    """
    found = Crash(moment)
    before = read_manifest(step_folder(root, good))
    child = subprocess.Popen(writer, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        said = child.stdout.readline()
    finally:
        started = time.perf_counter()
        child.kill()
        child.wait()
        child.stdout.close()
    killed = child.returncode == -signal.SIGKILL and said.strip() == b"killme"
    finished = os.path.lexists(os.path.join(step_folder(root, good + 1), MANIFEST))
    found.mid_write = killed and not finished
    if not found.mid_write:
        found.note = "the writer was not in mid-write: status %s, said %r" % (child.returncode, said[:80])
        return found
    found.cached = forget(step_folder(root, good))
    name, passed_over = restore_newest(root, guard)
    found.seconds = time.perf_counter() - started
    same = name == os.path.basename(step_folder(root, good)) and read_manifest(os.path.join(root, name)) == before
    found.consistent = same
    found.note = "restored %s" % name if name else "nothing could be restored"
    if passed_over:
        found.note += "; passed over " + "; ".join(passed_over)[:300]
    shutil.rmtree(step_folder(root, good + 1), ignore_errors=True)
    return found


def be_writer(root: str, step: int, blocks: int, moment: str) -> int:
    """Write a checkpoint as ``write_checkpoint`` does, one shard after the other; say when to be killed, and go on.

    At the moment asked for it says so and then writes slowly, so that the kill finds it at work.
    """
    parent = os.getppid()

    def slowly() -> None:
        print("killme", flush=True)
        for _ in range(200):
            time.sleep(0.05)
            if os.getppid() != parent:
                os._exit(1)  # the probe itself was killed

    manifest = manifest_of(step, blocks)
    folder = step_folder(root, step)
    os.mkdir(folder, 0o700)
    for number, content in enumerate(contents(step)):

        def pieces(content: Content = content, number: int = number) -> Any:
            for index in range(blocks):
                if moment == "shard" and number == SHARDS // 2 and index == blocks // 2:
                    slowly()
                yield content.block(index)

        put(os.path.join(folder, shard_name(number)), pieces())
    if moment == "manifest":
        slowly()
    put(os.path.join(folder, MANIFEST), [manifest])
    return 0


def hash_rate() -> float:
    """Return bytes per second of SHA-256 in one thread: the bound on a verified restore that the CPU sets."""
    started, count = time.perf_counter(), 0
    while time.perf_counter() - started < 0.05:
        hashlib.sha256(BASE)
        count += 1
    return count * BLOCK / (time.perf_counter() - started)


def measure(run: Run) -> None:
    """Write, restore, then crash and restore."""
    allowed = run.prepare(dict.fromkeys((name.rpartition(".")[2] for name in METRICS), METHOD))
    if not allowed:
        return
    root, out, guard = run.folder, run.out, run.guard
    rate = write_rate(root, guard, allowed // 4)
    # two checkpoints lie there at once; the time goes into hashing, two writes and four cold reads
    blocks = int(max(2, min(allowed / 2, rate * run.budget_s * 0.15) // (SHARDS * BLOCK)))
    size = blocks * SHARDS * BLOCK
    run.facts.update(
        bytes=size,
        shards=SHARDS,
        hash_mb_s_one_thread=round(hash_rate() / 1e6, 1),
        cores=len(os.sched_getaffinity(0)),
        hashed="before the write",
    )
    out.progress(0.1, "checkpoint of %d MB: hashing" % (size // 10**6))
    manifest = manifest_of(1, blocks)
    out.progress(0.2, "checkpoint of %d MB: writing" % (size // 10**6))
    stall = write_checkpoint(root, 1, blocks, manifest, guard)
    run.measured(PREFIX + "stall", stall)
    run.measured(PREFIX + "write_throughput", size / stall / 1e6)
    out.progress(0.4, "checkpoint: reading back")
    cached = forget(step_folder(root, 1))
    cold = {"cached_before": cached, "cache_dropped": None if cached is None else cached < CACHED}
    started = time.perf_counter()
    try:
        load(step_folder(root, 1), guard)
        problem = ""
    except (OSError, ValueError) as error:
        problem = describe(error)
    seconds = time.perf_counter() - started
    run.measured(PREFIX + "restore_verified", not problem, problem=problem, **cold)
    if problem:
        run.without(PREFIX + "restore_throughput", "failed", problem, **cold)
    else:
        run.measured(PREFIX + "restore_throughput", size / seconds / 1e6, **cold)
    crash_test(run, blocks)


def crash_test(run: Run, blocks: int) -> None:
    """Kill writers at each moment and report whether the last good checkpoint always survived."""
    kills = []
    for number, moment in enumerate(MOMENTS):
        run.out.progress(0.5 + 0.2 * number, "checkpoint: killing a writer (%s)" % moment)
        writer = [sys.executable, os.path.abspath(sys.argv[0]), "--writer", run.folder, "2", str(blocks), moment]
        kills.append(crash(run.folder, 1, moment, writer, run.guard))
    judge(run, kills)


def judge(run: Run, kills: list[Crash]) -> None:
    """Report what the kills showed together; one that did not hit in mid-write shows nothing."""
    told = {"kills": [one.facts() for one in kills], "kind": "SIGKILL of the writing process, no power loss"}
    missed = [one for one in kills if not one.mid_write]
    lost = [one for one in kills if not one.consistent]
    if missed:
        for name in ("crash_consistent", "recovery"):
            run.without(PREFIX + name, "failed", missed[0].note, **told)
        return
    run.measured(PREFIX + "crash_consistent", not lost, **told)
    if lost:
        run.without(PREFIX + "recovery", "failed", "the last good checkpoint was lost: " + lost[0].note, **told)
    else:
        run.measured(PREFIX + "recovery", max(one.seconds for one in kills), **told)
