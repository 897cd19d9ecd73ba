"""Sequential and random I/O on one file, past the page cache where the file system allows it."""

from __future__ import annotations

import json
import mmap
import os
import random
import shutil
import subprocess
import time
from functools import partial

from fourplane.probes.parts.content import BASE, BLOCK, PAGE, Content, cached_fraction, drop_cache, write_rate
from fourplane.probes.parts.frame import Guard
from fourplane.probes.parts.run import LEAST, NAME, THREADS, VERSION, Run
from fourplane.probes.parts.scratch import filesystem, free_bytes

__all__ = ["METRICS", "measure", "read_sequentially", "write_sequentially"]

METRICS = {
    "storage.scratch.filesystem": "",
    "storage.scratch.free": "B",
    "storage.io.sequential_write": "MB/s",
    "storage.io.sequential_read": "MB/s",
    "storage.io.random_read": "1/s",
    "storage.io.random_read_p99": "us",
    "storage.io.random_write": "1/s",
}
"""Metrics of this part, with their units."""


def takes_direct(folder: str) -> bool:
    """Tell whether the file system takes O_DIRECT, by writing a block with it."""
    path, block = os.path.join(folder, "direct"), Content(0).block(0)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600)
        try:
            return os.pwritev(fd, [block], 0) == BLOCK
        finally:
            os.close(fd)
    except OSError:
        return False
    finally:
        if os.path.lexists(path):
            os.unlink(path)


def write_sequentially(path: str, size: int, seconds: float, flags: int, guard: Guard) -> tuple[int, float]:
    """Write up to ``size`` bytes in blocks of 1 MiB, then fsync; return the bytes written and the seconds it took."""
    content, clock, stop = Content(1), time.perf_counter, guard.stop.is_set
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600)
    try:
        os.posix_fallocate(fd, 0, size)
        started, written = clock(), 0
        until = started + seconds
        while written < size and clock() < until and not stop():
            if os.pwritev(fd, [content.block(written // BLOCK)], written) != BLOCK:
                raise OSError("a write came out short")
            written += BLOCK
        os.fsync(fd)
        took = clock() - started
        os.ftruncate(fd, written)
    finally:
        os.close(fd)
    guard.check()
    return written, took


def read_sequentially(path: str, size: int, seconds: float, flags: int, guard: Guard) -> tuple[int, float]:
    """Read up to ``size`` bytes in blocks of 1 MiB; return the bytes read and the seconds it took."""
    clock, stop, read = time.perf_counter, guard.stop.is_set, os.preadv
    memory = [mmap.mmap(-1, BLOCK)]
    fd = os.open(path, os.O_RDONLY | flags)
    try:
        started, done = clock(), 0
        until = started + seconds
        while done < size and clock() < until and not stop():
            if read(fd, memory, done) != BLOCK:
                raise OSError("a read came out short")
            done += BLOCK
        took = clock() - started
    finally:
        os.close(fd)
    guard.check()
    return done, took


def wrong_blocks(path: str, number: int, size: int, seconds: float, flags: int, guard: Guard) -> tuple[int, int]:
    """Compare a file's blocks with what was written; return how many were wrong and how many were looked at."""
    content, memory = Content(number), mmap.mmap(-1, BLOCK)
    until, wrong, seen = time.monotonic() + seconds, 0, 0
    fd = os.open(path, os.O_RDONLY | flags)
    try:
        for index in range(size // BLOCK):
            guard.check()
            if time.monotonic() > until and seen:
                break
            same = os.preadv(fd, [memory], index * BLOCK) == BLOCK and content.is_block(index, memory)
            wrong, seen = wrong + (not same), seen + 1
    finally:
        os.close(fd)
    return wrong, seen


def random_io(path: str, size: int, seconds: float, flags: int, write: bool, guard: Guard) -> tuple[float, float]:
    """Read or write 4 KiB at random places in threads; return operations per second and the 99th percentile in us."""
    pages = size // PAGE

    def work(number: int) -> tuple[list[float], float]:
        place, clock, stop = random.Random(number), time.perf_counter, guard.stop.is_set
        times = []  # type: list[float]
        memory = mmap.mmap(-1, PAGE)
        memory[:] = BASE[:PAGE]
        fd = os.open(path, (os.O_WRONLY if write else os.O_RDONLY) | flags)
        call, buffers = (os.pwritev if write else os.preadv), [memory]
        try:
            began = clock()
            until = began + seconds
            ended = began
            while ended < until and not stop():
                offset = int(place.random() * pages) * PAGE
                started = clock()
                call(fd, buffers, offset)
                ended = clock()
                times.append(ended - started)
        finally:
            os.close(fd)
        return times, ended - began

    results = guard.parallel([partial(work, number) for number in range(THREADS)])
    guard.check()
    times = sorted(one for result in results for one in result[0])
    rate = sum(len(result[0]) / max(1e-9, result[1]) for result in results)
    return rate, times[min(len(times) - 1, int(len(times) * 0.99))] * 1e6


def fio_version() -> str:
    """Return what ``fio --version`` says, "" without fio."""
    if shutil.which("fio") is None:
        return ""
    try:
        done = subprocess.run(["fio", "--version"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=10)
        return done.stdout.decode(errors="replace").strip()[:40]
    except (OSError, subprocess.SubprocessError):
        return ""


def fio(run: Run, kind: str, path: str, size: int, seconds: float, direct: bool) -> tuple[float, float]:
    """Let fio do the random I/O, hand its JSON over, return operations per second and the 99th percentile in us."""
    options = {
        "name": kind,
        "filename": path,
        "rw": kind,
        "bs": "4k",
        "direct": str(int(direct)),
        "sync": "0" if direct else "dsync",
        "ioengine": "psync",
        "numjobs": str(THREADS),
        "size": str(size),
        "runtime": "%dms" % max(200, int(seconds * 1000)),
        "output-format": "json",
    }
    command = ["fio", *("--%s=%s" % item for item in options.items())]
    command += ["--thread", "--group_reporting", "--time_based", "--norandommap", "--randrepeat=0"]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        text, errors = child.communicate(timeout=seconds + 60)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    run.out.line("raw", name="fio-%s.json" % kind, text=text.decode(errors="replace"))
    if child.returncode:
        raise OSError("fio ended with status %d: %s" % (child.returncode, errors.decode(errors="replace")[-300:]))
    side = json.loads(text[text.index(b"{") :].decode())["jobs"][0]["read" if kind == "randread" else "write"]
    return float(side["iops"]), float(side["clat_ns"]["percentile"]["99.000000"]) / 1e3


def measure(run: Run) -> None:
    """Measure sequential and random I/O on one file."""
    folder = run.folder = run.scratch.open()
    direct = takes_direct(folder)
    version = fio_version() if run.args.fio == "auto" else ""
    flags = os.O_DIRECT if direct else 0
    way = "direct" if direct else "buffered+sync"
    blocks = "%s/%d python %s 1MiB threads=1" % (NAME, VERSION, way)
    tool = version + " psync" if version else "python"
    pages = "%s/%d %s %s 4KiB threads=%d" % (NAME, VERSION, tool, way, THREADS)
    methods = dict.fromkeys(("sequential_write", "sequential_read"), blocks)
    methods.update(dict.fromkeys(("random_read", "random_read_p99", "random_write"), pages))
    methods.update(dict.fromkeys(("filesystem", "free"), "%s/%d statvfs" % (NAME, VERSION)))
    allowed = run.prepare(methods)
    run.measured("storage.scratch.filesystem", filesystem(folder) or "unknown")
    run.measured("storage.scratch.free", free_bytes(folder))
    if not allowed:
        run.skip("too little free space")
        return
    path, guard, share = os.path.join(folder, "io.dat"), run.guard, run.budget_s / 6
    size = int(min(allowed, max(LEAST, write_rate(folder, guard, allowed) * share))) // BLOCK * BLOCK
    run.out.progress(0.1, "sequential write of up to %d MB" % (size // 10**6))
    written, seconds = write_sequentially(path, size, 2 * share, flags, guard)
    write_speed = written / seconds / 1e6
    run.facts.update(direct=direct, file_bytes=written)
    if not direct:
        drop_cache(path)
        run.facts.update(cached_before_read=cached_fraction([path]))
    run.out.progress(0.35, "sequential read")
    done, seconds = read_sequentially(path, written, 1.5 * share, flags, guard)
    read_speed = done / seconds / 1e6
    wrong, seen = wrong_blocks(path, 1, written, share / 2, flags, guard)
    run.facts.update(verified_bytes=seen * BLOCK)
    for metric, value in (("sequential_write", write_speed), ("sequential_read", read_speed)):
        if wrong:
            reason = "%d of %d blocks did not come back as written" % (wrong, seen)
            run.without("storage.io." + metric, "failed", reason)
        else:
            run.measured("storage.io." + metric, value, block_bytes=BLOCK, read_bytes=done)
    random_part(run, path, written, share, direct, bool(version))


def random_part(run: Run, path: str, size: int, seconds: float, direct: bool, with_fio: bool) -> None:
    """Measure 4 KiB random reads, then writes."""

    def once(write: bool) -> tuple[float, float]:
        if not direct:
            drop_cache(path)
        if with_fio:
            return fio(run, "randwrite" if write else "randread", path, size, seconds, direct)
        flags = os.O_DIRECT if direct else (os.O_DSYNC if write else 0)
        return random_io(path, size, seconds, flags, write, run.guard)

    run.out.progress(0.6, "random reads")
    rate, tail = once(False)
    raw = {"raw_of": "fio"} if with_fio else {}
    run.measured("storage.io.random_read", rate, block_bytes=PAGE, **raw)
    run.measured("storage.io.random_read_p99", tail, block_bytes=PAGE, **raw)
    run.out.progress(0.8, "random writes")
    run.measured("storage.io.random_write", once(True)[0], block_bytes=PAGE, **raw)
