"""Loading weights: the first read after a start, and the next one."""

from __future__ import annotations

import os
import time
from functools import partial

from fourplane.probes.parts.block_io import wrong_blocks
from fourplane.probes.parts.content import BLOCK, Content, cached_fraction, drop_cache, write_all, write_rate
from fourplane.probes.parts.run import CACHED, LEAST, NAME, VERSION, Run

__all__ = ["METRICS", "measure"]

METRICS = {
    "storage.weights.cold_throughput": "MB/s",
    "storage.weights.warm_throughput": "MB/s",
}
"""Metrics of this part, with their units."""


def measure(run: Run) -> None:
    """Measure the load of two weight files, cold and warm."""
    method = "%s/%d read 4MiB files=2" % (NAME, VERSION)
    allowed = run.prepare({"cold_throughput": method + " cold", "warm_throughput": method + " warm"})
    if not allowed:
        return
    guard = run.guard
    rate = write_rate(run.folder, guard, allowed)
    blocks = int(min(allowed, max(LEAST, rate * run.budget_s * 0.3))) // (2 * BLOCK)
    paths = [os.path.join(run.folder, "weights-%d.bin" % number) for number in range(2)]
    run.out.progress(0.1, "writing weights of %d MB" % (2 * blocks * BLOCK // 10**6))

    def create(number: int) -> None:
        content = Content(number)
        with open(paths[number], "wb", buffering=0) as handle:
            for index in range(blocks):
                guard.check()
                write_all(handle.fileno(), content.block(index))
            os.fsync(handle.fileno())
        drop_cache(paths[number])

    def load(number: int) -> int:
        memory, done = bytearray(4 * BLOCK), 0
        with open(paths[number], "rb", buffering=0) as handle:
            while True:
                guard.check()
                count = handle.readinto(memory)
                if not count:
                    return done
                done += count

    def speed() -> float:
        started = time.perf_counter()
        done = sum(guard.parallel([partial(load, number) for number in range(2)]))
        if done != 2 * blocks * BLOCK:
            raise OSError("%d bytes came back instead of %d" % (done, 2 * blocks * BLOCK))
        return float(done / (time.perf_counter() - started) / 1e6)

    guard.parallel([partial(create, number) for number in range(2)])
    before = cached_fraction(paths)
    run.facts.update(bytes=2 * blocks * BLOCK, cached_before_cold=before)
    run.out.progress(0.5, "loading weights, cold")
    cold = speed()
    run.facts.update(cached_before_warm=cached_fraction(paths))
    run.out.progress(0.7, "loading weights, warm")
    warm = speed()
    run.out.progress(0.85, "checking weights")
    wrong = sum(wrong_blocks(paths[n], n, blocks * BLOCK, run.budget_s / 4, 0, guard)[0] for n in range(2))
    if wrong:
        for metric in run.plan:
            run.without(metric, "failed", "%d blocks did not come back as written" % wrong)
        return
    if before is not None and before > CACHED:
        reason = "the page cache could not be dropped (%.0f %% stayed); a cached read is no cold one" % (100 * before)
        run.without("storage.weights.cold_throughput", "skipped", reason)
    else:
        run.measured("storage.weights.cold_throughput", cold, cache_dropped=None if before is None else True)
    run.measured("storage.weights.warm_throughput", warm)
