"""Staging a dataset: from a folder or an object store to scratch, many files of mixed sizes."""

from __future__ import annotations

import hashlib
import importlib
import os
import queue
import random
import stat
import time
from typing import Any, Callable

from fourplane.probes.parts.content import (
    BLOCK,
    PAGE,
    Content,
    cached_fraction,
    drop_cache,
    fsync_path,
    write_all,
    write_rate,
)
from fourplane.probes.parts.frame import Guard, describe
from fourplane.probes.parts.run import LEAST, NAME, THREADS, VERSION, Run
from fourplane.probes.parts.scratch import Scratch

__all__ = ["METRICS", "copy_file", "list_source", "make_dataset", "measure", "same_content"]

MOST_FILES = 100_000
MOST_SMALL = 4000
METRICS = {
    "storage.staging.source": "",
    "storage.staging.throughput": "MB/s",
    "storage.staging.file_rate": "1/s",
}
"""Metrics of this part, with their units."""


def share_out(run: Run, items: list[Any], work: Callable[[Any], None], seconds: float = 3600.0) -> list[Any]:
    """Do ``work`` on the items in threads, in order, starting none after ``seconds``; return those that were done."""
    todo = queue.SimpleQueue()  # type: queue.SimpleQueue[Any]
    done = []  # type: list[Any]
    for item in items:
        todo.put(item)
    until = time.monotonic() + seconds

    def worker() -> None:
        while time.monotonic() < until:
            run.guard.check()
            try:
                item = todo.get_nowait()
            except queue.Empty:
                return
            work(item)
            done.append(item)

    run.guard.parallel([worker] * THREADS)
    return done


def make_dataset(run: Run, folder: str, size: int, seconds: float) -> None:
    """Write a synthetic dataset, at most ``seconds`` long: three quarters of it in big files, the rest in small ones.

    Small files have 4 to 64 KiB. Both kinds come mixed, so that a dataset that was cut short holds both.
    """
    chance = random.Random(size)
    sizes = [max(BLOCK, size * 3 // 32)] * 8
    while sum(sizes) < size and len(sizes) < MOST_SMALL:
        sizes.append(PAGE * chance.randint(1, 16))
    chance.shuffle(sizes)

    def write(job: tuple[int, int]) -> None:
        number, length = job
        content = Content(number)
        with open(os.path.join(folder, "part-%02d" % (number % 16), "file-%05d" % number), "wb", buffering=0) as handle:
            for index in range((length + BLOCK - 1) // BLOCK):
                run.guard.check()
                write_all(handle.fileno(), content.block(index)[: length - index * BLOCK])
            os.fsync(handle.fileno())

    for number in range(16):
        os.mkdir(os.path.join(folder, "part-%02d" % number))
    share_out(run, list(enumerate(sizes)), write, seconds)


def list_source(folder: str, most: int) -> tuple[list[tuple[str, int]], bool]:
    """Return (relative path, bytes) of regular files until ``most`` bytes; and whether some were left out.

    Links are not followed, and folders of a probe's scratch are no part of a dataset.
    """
    found, total = [], 0  # type: list[tuple[str, int]], int
    for place, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith(Scratch.PREFIX))
        for name in sorted(names):
            path = os.path.join(place, name)
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                continue
            if total + status.st_size > most or len(found) >= MOST_FILES:
                return found, True
            found.append((os.path.relpath(path, folder), status.st_size))
            total += status.st_size
    return found, False


def copy_file(source: str, target: str, guard: Guard) -> None:
    """Copy bytes by reading and writing them: a clone or a copy inside the file system would move no data."""
    memory = bytearray(BLOCK)
    view = memoryview(memory)
    with open(source, "rb", buffering=0) as reader, open(target, "wb", buffering=0) as writer:
        while True:
            guard.check()
            count = reader.readinto(memory)
            if not count:
                return
            write_all(writer.fileno(), view[:count])


def same_content(one: str, other: str, guard: Guard) -> bool:
    """Tell whether two files hold the same bytes, by their SHA-256."""
    digests = []
    for path in (one, other):
        total = hashlib.sha256()
        with open(path, "rb", buffering=0) as handle:
            for piece in iter(lambda: handle.read(4 * BLOCK), b""):
                guard.check()
                total.update(piece)
        digests.append(total.digest())
    return digests[0] == digests[1]


def measure(run: Run) -> None:
    """Measure how fast a dataset comes to scratch: directory or object store, many files of mixed sizes."""
    source = run.args.source
    store = "://" in source
    what = "object store" if store else "directory" if source else "synthetic directory"
    tool = "obstore" if store else "read+write"
    method = "%s/%d %s to scratch, %s, fsync, threads=%d" % (NAME, VERSION, what, tool, THREADS)
    allowed = run.prepare(dict.fromkeys(("source", "throughput", "file_rate"), method))
    if not allowed:
        return
    rate = write_rate(run.folder, run.guard, allowed)
    most = int(min(allowed if source else allowed / 2, max(LEAST / 2, rate * run.budget_s * 0.15)))
    target = os.path.join(run.folder, "target")
    os.mkdir(target)
    if store:
        stage_objects(run, source, target, most)
        return
    if not source:
        source = os.path.join(run.folder, "source")
        os.mkdir(source)
        run.out.progress(0.1, "making a dataset of %d MB" % (most // 10**6))
        make_dataset(run, source, most, run.budget_s * 0.3)
    elif not os.path.isdir(source):
        run.skip("%s is no folder that can be read" % source)
        return
    stage_files(run, os.path.abspath(source), target, most, what)


def stage_files(run: Run, source: str, target: str, most: int, what: str) -> None:
    """Copy a folder's files, cold, and compare them."""
    files, cut = list_source(source, most * 2 if what == "synthetic directory" else most)
    if not files:
        run.skip("%s holds no file of at most %d MB" % (source, most // 10**6))
        return
    sizes = dict(files)
    names = list(sizes)
    random.Random(len(names)).shuffle(names)
    run.out.progress(0.35, "cooling the source")
    share_out(run, names, lambda name: drop_cache(os.path.join(source, name)))
    run.facts.update(cached_before=cached_fraction([os.path.join(source, name) for name in names[:2000]]))
    folders = sorted({os.path.dirname(name) for name in names})
    for folder in folders:
        os.makedirs(os.path.join(target, folder), exist_ok=True)
    run.out.progress(0.5, "staging %d files" % len(names))
    started = time.perf_counter()
    done = share_out(
        run,
        names,
        lambda name: copy_file(os.path.join(source, name), os.path.join(target, name), run.guard),
        run.budget_s * 0.3,
    )
    # flushed after all were written: the file system may then commit many files at once, as a staging tool lets it
    share_out(run, done, lambda name: fsync_path(os.path.join(target, name)))
    share_out(run, [os.path.join(target, folder) for folder in folders], fsync_path)
    seconds = time.perf_counter() - started
    run.out.progress(0.8, "comparing hashes")
    wrong = []  # type: list[str]

    def compare(name: str) -> None:
        drop_cache(os.path.join(target, name))
        if not same_content(os.path.join(source, name), os.path.join(target, name), run.guard):
            wrong.append(name)

    run.facts.update(compared=len(share_out(run, done, compare, run.budget_s * 0.2)))
    staged(run, what, [sizes[name] for name in done], seconds, wrong, cut or len(done) < len(names))


def staged(run: Run, what: str, file_sizes: list[int], seconds: float, wrong: list[str], cut: bool) -> None:
    """Report a finished staging."""
    total = sum(file_sizes)
    run.facts.update(files=len(file_sizes), bytes=total, largest=max(file_sizes), only_a_part=cut)
    run.measured("storage.staging.source", what)
    if wrong:
        for metric in ("storage.staging.throughput", "storage.staging.file_rate"):
            run.without(metric, "failed", "%d files differ from their source, such as %s" % (len(wrong), wrong[0]))
        return
    run.measured("storage.staging.throughput", total / seconds / 1e6)
    run.measured("storage.staging.file_rate", len(file_sizes) / seconds)


def stage_objects(run: Run, url: str, target: str, most: int) -> None:
    """Fetch objects below a URL; their sizes are compared with the store's list, and SHA-256 over two fetches."""
    try:
        obstore = importlib.import_module("obstore")
        from_url = importlib.import_module("obstore.store").from_url
    except ImportError as error:
        run.skip("staging from an object store needs obstore: " + describe(error))
        return
    store = from_url(url)
    chosen, total, cut = [], 0, False  # type: list[Any], int, bool
    for page in obstore.list(store, chunk_size=1000):
        for entry in page:
            cut = cut or total + entry["size"] > most or len(chosen) >= MOST_FILES
            if not cut:
                chosen.append((len(chosen), entry["path"], entry["size"]))
                total += entry["size"]
        if cut:
            break
    if not chosen:
        run.skip("%s holds no object of at most %d MB" % (url, most // 10**6))
        return

    def fetch(one: tuple[int, str, int]) -> None:
        # the key is the store's word: the file's name is our own
        with open(os.path.join(target, "object-%06d" % one[0]), "wb", buffering=0) as writer:
            for piece in obstore.get(store, one[1]).stream(min_chunk_size=BLOCK):
                run.guard.check()
                write_all(writer.fileno(), piece)
            os.fsync(writer.fileno())

    run.out.progress(0.3, "staging %d objects" % len(chosen))
    started = time.perf_counter()
    done = share_out(run, chosen, fetch, run.budget_s * 0.4)
    fsync_path(target)
    seconds = time.perf_counter() - started
    wrong = []  # type: list[str]

    def compare(one: tuple[int, str, int]) -> None:
        again = hashlib.sha256()
        for piece in obstore.get(store, one[1]).stream(min_chunk_size=BLOCK):
            run.guard.check()
            again.update(piece)
        path = os.path.join(target, "object-%06d" % one[0])
        with open(path, "rb") as handle:
            here = hashlib.sha256()
            for piece in iter(lambda: handle.read(4 * BLOCK), b""):
                here.update(piece)
        if os.path.getsize(path) != one[2] or here.digest() != again.digest():
            wrong.append(one[1])

    run.out.progress(0.7, "comparing hashes")
    run.facts.update(compared=len(share_out(run, done, compare, run.budget_s * 0.3)))
    staged(run, "object store", [one[2] for one in done], seconds, wrong, cut or len(done) < len(chosen))
