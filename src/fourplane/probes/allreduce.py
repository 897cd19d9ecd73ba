#!/usr/bin/env python3
"""Measure all-reduce over the ranks that a launcher started: result checked, world size asserted.

    mpirun -n 2 python3 allreduce.py --expect-ranks 2 --budget 20

One file, Python 3.8 or newer, standard library and mpi4py; PyTorch or nccl-tests where ranks drive GPUs.
Rank 0 writes JSON lines on stdout. The reduction is a sum of float32 in place.

Figures: the time of one call is averaged over iterations and ranks, as the OSU benchmarks do, in five batches, of which
the median counts, so that one hiccup of the machine is not taken for the fabric; the fastest and slowest are kept too.
algbw = bytes / time; busbw = algbw * 2(n-1)/n, which compares with the speed of a link whatever the number of ranks
(source: nccl-tests, doc/PERFORMANCE.md). 1 GB is 10^9 bytes.
"""

from __future__ import annotations

import argparse
import array
import mmap
import os
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from typing import Any

from fourplane.probes.parts.frame import Output, Stopped, describe, read_text

NAME, VERSION = "allreduce", 1

UNITS = {
    "network.allreduce.world_size": "",
    "network.allreduce.wrong": "",
    "network.allreduce.latency": "us",
    "network.allreduce.busbw_peak": "GB/s",
    "network.allreduce.curve": "",
    "network.allreduce.transport": "",
}
SMALLEST = 8
WARM_UP_S = 0.05
BATCHES = 5
MOST_ITERATIONS = 5000
PERIOD = 251
"""Length of the pattern in elements: a prime, so that no swapped block of a power of two looks right."""
LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "SLURM_")


def sizes(most: int) -> list[int]:
    """Return the sizes in bytes: 8 B, then times four, ending with the largest one."""
    most = max(SMALLEST, most // 4 * 4)
    found, size = [], SMALLEST
    while size < most:
        found.append(size)
        size *= 4
    return [*found, most]


def period(ranks: int) -> int:
    """Return the pattern's length for which every sum stays a whole number below 2^24, exact in float32."""
    return max(1, min(PERIOD, 2**24 // total_weight(ranks)))


def weight(rank: int) -> int:
    """Return the factor of a rank: differs between neighbours, and stays small in large worlds."""
    return rank % 16 + 1


def total_weight(ranks: int) -> int:
    """Return the sum of all factors; n(n+1)/2 up to 16 ranks."""
    return sum(weight(rank) for rank in range(ranks))


def pattern(factor: int, ranks: int, size: int) -> bytes:
    """Return ``size`` bytes of float32: element i is ``factor * (i mod period + 1)``."""
    unit = array.array("f", [factor * (i + 1) for i in range(period(ranks))]).tobytes()
    return (unit * (size // len(unit) + 1))[:size]


def count_wrong(found: Any, expected: bytes) -> int:
    """Return how many float32 elements differ; every element is looked at, equal stretches at the speed of memcmp.

    Args:
        found: the result: anything that can be sliced to bytes.
        expected: what it should be.
    """
    wrong, step, end = 0, 1 << 20, len(expected)
    for start in range(0, end, step):
        stop = min(start + step, end)
        one, other = bytes(found[start:stop]), expected[start:stop]
        if one != other:
            # bits, not numbers: -0.0 is not 0.0, and a NaN equals itself
            pairs = zip(memoryview(one[: len(one) // 4 * 4]).cast("I"), memoryview(other).cast("I"))
            wrong += sum(a != b for a, b in pairs) + (len(other) - len(one) + 3) // 4
    return wrong


class MpiBackend:
    """All-reduce of host memory over MPI; also the plain channel that the GPU backend is set up with."""

    def __init__(self, mpi: Any) -> None:
        self.mpi = mpi
        self.comm = mpi.COMM_WORLD
        self.rank, self.size = self.comm.rank, self.comm.size
        library = mpi.Get_library_version().replace(",", " ").split()
        self.tool = " ".join(library[:3]).replace("Open MPI v", "openmpi ").lower()
        self.tools = {"mpi": " ".join(library[:4]), "mpi4py": sys.modules["mpi4py"].__version__}
        self.buffer = mmap.mmap(-1, mmap.PAGESIZE)

    def allocate(self, size: int) -> None:
        """Take a page-aligned buffer of ``size`` bytes."""
        self.buffer = mmap.mmap(-1, max(size, mmap.PAGESIZE))
        self._spec = [memoryview(self.buffer)[:size], self.mpi.FLOAT]
        self._bytes = size

    def fill(self, data: bytes) -> None:
        """Set the buffer."""
        self.buffer[: len(data)] = data

    def loop(self, iterations: int) -> None:
        """All-reduce the buffer so many times in place."""
        call, here, spec, add = self.comm.Allreduce, self.mpi.IN_PLACE, self._spec, self.mpi.SUM
        for _ in range(iterations):
            call(here, spec, add)

    def wrong(self, expected: bytes) -> int:
        """Return how many elements of this rank's buffer are not as expected."""
        return count_wrong(self.buffer, expected)

    def barrier(self) -> None:
        """Wait for all ranks."""
        self.comm.Barrier()

    def total(self, value: float) -> float:
        """Return the sum of ``value`` over the ranks."""
        return float(self.comm.allreduce(value, self.mpi.SUM))

    def largest(self, value: float) -> float:
        """Return the largest ``value`` of all ranks."""
        return float(self.comm.allreduce(value, self.mpi.MAX))

    def local_ranks(self) -> tuple[int, int]:
        """Return this rank's place on its host, and how many ranks are there."""
        local = self.comm.Split_type(self.mpi.COMM_TYPE_SHARED)
        place = local.rank, local.size
        local.Free()
        return place

    def transport(self) -> tuple[str, str]:
        """Return what carries the data and how that is known; "" when it can't be told."""
        if self.size == self.local_ranks()[1]:
            return "shm", "every rank lies on one host (MPI_COMM_TYPE_SHARED)"
        layer, links = os.environ.get("OMPI_MCA_pml"), os.environ.get("OMPI_MCA_btl", "")  # noqa: SIM112 (their names)
        if layer == "ob1" and "tcp" in links.split(","):
            return "socket", "OMPI_MCA_pml=ob1 with the tcp transport"
        return "", "the MPI library chose among the hosts' fabrics and does not say which"

    def call_overhead_us(self) -> float:
        """Return the time of one 8-byte call in a world of one: what the Python call itself costs at most."""
        data = [bytearray(SMALLEST), self.mpi.FLOAT]
        call, here, add = self.mpi.COMM_SELF.Allreduce, self.mpi.IN_PLACE, self.mpi.SUM
        best = 1e9
        for _ in range(BATCHES):
            started = time.perf_counter()
            for _ in range(200):
                call(here, data, add)
            best = min(best, (time.perf_counter() - started) / 200)
        return best * 1e6

    def close(self) -> None:
        """Let the buffer go."""
        self._spec = []


class TorchBackend(MpiBackend):
    """All-reduce of tensors through torch.distributed, one rank a GPU; MPI sets it up and collects the figures."""

    def __init__(self, mpi: Any, kind: str) -> None:
        super().__init__(mpi)
        import torch
        import torch.distributed as dist

        self._torch, self._dist, self._kind = torch, dist, kind
        place = self.local_ranks()[0]
        self._device = torch.device("cuda", place) if kind == "nccl" else torch.device("cpu")
        if kind == "nccl":
            torch.cuda.set_device(self._device)
            version = torch.cuda.nccl.version()
            self.tool = "nccl " + (".".join(map(str, version)) if isinstance(version, tuple) else str(version))
            self.tools.update(cuda=str(torch.version.cuda), gpu=torch.cuda.get_device_name(place))
        else:
            self.tool = kind
        self.tool += " torch " + torch.__version__
        store = self._store()
        dist.init_process_group(kind, store=store, rank=self.rank, world_size=self.size)

    def _store(self) -> Any:
        """Return a store that rank 0 serves, on the loopback address when one host holds all ranks."""
        one_host = self.local_ranks()[1] == self.size
        store = None
        if self.rank == 0:
            host = "127.0.0.1" if one_host else socket.gethostname()
            store = self._dist.TCPStore(host, 0, self.size, is_master=True, wait_for_workers=False)
            self.comm.bcast((host, store.port))
            return store
        host, port = self.comm.bcast(None)
        return self._dist.TCPStore(host, port, self.size, is_master=False)

    def allocate(self, size: int) -> None:
        """Take a tensor of ``size`` bytes."""
        self._tensor = self._torch.zeros(size // 4, dtype=self._torch.float32, device=self._device)

    def fill(self, data: bytes) -> None:
        """Set the tensor."""
        self._tensor.copy_(self._torch.frombuffer(bytearray(data), dtype=self._torch.float32))
        self._wait()

    def loop(self, iterations: int) -> None:
        """All-reduce the tensor so many times in place, to the end of the last one."""
        call, tensor = self._dist.all_reduce, self._tensor
        for _ in range(iterations):
            call(tensor)
        self._wait()

    def wrong(self, expected: bytes) -> int:
        """Return how many elements of this rank's tensor are not as expected."""
        right = self._torch.frombuffer(bytearray(expected), dtype=self._torch.float32).to(self._device)
        return int((self._tensor != right).sum().item())

    def transport(self) -> tuple[str, str]:
        """Return nothing: NCCL says it in its debug log alone."""
        return "", "%s does not say which transport it chose; its log with NCCL_DEBUG=INFO does" % self._kind

    def call_overhead_us(self) -> float:
        """Return 0: calls are queued, not waited for."""
        return 0.0

    def close(self) -> None:
        """Leave the group of processes."""
        self._dist.destroy_process_group()

    def _wait(self) -> None:
        if self._kind == "nccl":
            self._torch.cuda.synchronize(self._device)


def measure_size(backend: MpiBackend, size: int, budget_s: float) -> dict[str, Any]:
    """Measure one size within about ``budget_s`` seconds and check the result; the same row on every rank."""
    backend.allocate(size)
    backend.fill(bytes(size))  # zeros stay zeros over any number of sums in place
    backend.barrier()
    each, warm = _warm_up(backend, min(WARM_UP_S, budget_s / 4))
    left = max(0.0, budget_s - each * warm)
    iterations = int(min(MOST_ITERATIONS, max(3, left / each)))
    batches = min(BATCHES, iterations)
    batch = iterations // batches
    times = []
    for _ in range(batches):
        backend.barrier()
        started = time.perf_counter()
        backend.loop(batch)
        times.append(backend.total((time.perf_counter() - started) / batch) / backend.size)
    backend.fill(pattern(weight(backend.rank), backend.size, size))
    backend.barrier()
    backend.loop(1)
    wrong = int(backend.total(backend.wrong(pattern(total_weight(backend.size), backend.size, size))))
    middle = statistics.median(times)
    bandwidth = size / middle / 1e9
    return {
        "bytes": size,
        "time_us": round(middle * 1e6, 3),
        "time_min_us": round(min(times) * 1e6, 3),
        "time_max_us": round(max(times) * 1e6, 3),
        "algbw_gbps": round(bandwidth, 6),
        "busbw_gbps": round(bandwidth * 2 * (backend.size - 1) / backend.size, 6),
        "iterations": batch * batches,
        "wrong": wrong,
    }


def _warm_up(backend: MpiBackend, seconds: float) -> tuple[float, int]:
    """Call until warm; return the seconds of one call, the slowest rank's, and the number of calls made."""
    done, count, each = 0, 1, 0.0
    while True:
        started = time.perf_counter()
        backend.loop(count)
        each = max(1e-9, backend.largest((time.perf_counter() - started) / count))
        done += count
        if count * each >= seconds / 2 or done >= 1000:
            return each, done
        count *= 4


def sweep(backend: MpiBackend, most: int, budget_s: float, tell: Any) -> list[dict[str, Any]]:
    """Measure every size, sharing out what is left of the budget; the same rows on every rank."""
    todo = sizes(most)
    until = time.monotonic() + budget_s
    rows = []
    for number, size in enumerate(todo):
        # the ranks' clocks differ by a hair, and the number of iterations must not
        share = backend.largest(max(0.0, until - time.monotonic())) / (len(todo) - number)
        rows.append(measure_size(backend, size, share))
        tell((number + 1) / len(todo), "all-reduce of %d bytes: %.1f us" % (size, rows[-1]["time_us"]))
    return rows


def survey(backend: MpiBackend) -> dict[str, Any]:
    """Return what holds for the whole sweep, the same on every rank; every rank must call it."""
    transport, known_by = backend.transport()
    return {
        "ranks": backend.size,
        "hosts": sorted(set(backend.comm.allgather(socket.gethostname()))),
        "cores": min(backend.comm.allgather(len(os.sched_getaffinity(0)))),
        "gpus": sum(backend.comm.allgather(gpu_devices())) // max(1, backend.local_ranks()[1]),
        "transport": transport,
        "transport_known_by": known_by,
        "call_overhead_us": round(backend.call_overhead_us(), 3),
        "yield_when_idle": os.environ.get("OMPI_MCA_mpi_yield_when_idle", "") == "1",  # noqa: SIM112
        "tools": backend.tools,
        "datatype": "float32",
        "in_place": True,
    }


def report(out: Output, facts: dict[str, Any], rows: list[dict[str, Any]], method: str) -> bool:
    """Write the observations of a sweep; return whether every element came out right."""
    wrong = int(sum(row["wrong"] for row in rows))
    best = max(rows, key=lambda row: row["busbw_gbps"])
    common = dict(facts, max_bytes=rows[-1]["bytes"])
    prefix = "network.allreduce."
    out.measured(prefix + "world_size", facts["ranks"], "", method, conditions=common)
    out.measured(prefix + "wrong", wrong, "", method, conditions=common)
    out.measured(prefix + "curve", rows, "", method, conditions=common)
    if wrong:
        # the time of a wrong sum is no figure; the curve shows where it went wrong
        for name in ("latency", "busbw_peak"):
            reason = "%d elements came out wrong" % wrong
            out.without(prefix + name, UNITS[prefix + name], method, "failed", reason, conditions=common)
    else:
        where = dict(common, bytes=rows[0]["bytes"])
        out.measured(prefix + "latency", rows[0]["time_us"], "us", method, conditions=where)
        where = dict(common, bytes=best["bytes"])
        out.measured(prefix + "busbw_peak", best["busbw_gbps"], "GB/s", method, conditions=where)
    if facts["transport"]:
        out.measured(prefix + "transport", facts["transport"], "", method, conditions=common)
    else:
        out.without(prefix + "transport", "", method, "skipped", facts["transport_known_by"], conditions=common)
    return wrong == 0


def without_figures(out: Output, method: str, state: str, reason: str) -> None:
    """Say of every metric that is still open why it has no value."""
    for metric, unit in UNITS.items():
        if metric not in out.said:
            out.without(metric, unit, method, state, reason)


def gpu_devices() -> int:
    """Return how many GPUs the kernel shows; cheap, so that no GPU library is loaded in vain."""
    nvidia = [name for name in os.listdir("/dev") if name.startswith("nvidia") and name[6:].isdecimal()]
    try:
        nodes = "/sys/class/kfd/kfd/topology/nodes"
        amd = [name for name in os.listdir(nodes) if read_text("%s/%s/gpu_id" % (nodes, name)).strip() not in ("", "0")]
    except OSError:
        amd = []
    return len(nvidia) + len(amd)


def torch_can_drive(ranks_here: int) -> bool:
    """Tell whether PyTorch has NCCL (RCCL on AMD) and a GPU for each rank of this host."""
    if gpu_devices() < ranks_here:
        return False
    try:
        import torch
        import torch.distributed as dist
    except (ImportError, OSError):
        return False
    return bool(dist.is_available() and dist.is_nccl_available() and torch.cuda.device_count() >= ranks_here)


def choose(wanted: str, mpi: MpiBackend) -> str:
    """Return the backend for all ranks: mpi, nccl, nccl-tests or gloo; every rank must call it."""
    if wanted not in ("auto", "nccl"):
        return wanted
    here = mpi.local_ranks()[1]
    if mpi.size >= 2 and mpi.total(torch_can_drive(here)) == mpi.size:
        return "nccl"
    tool = here == mpi.size and shutil.which("all_reduce_perf") is not None and gpu_devices() >= 2
    if mpi.total(tool) == mpi.size:
        return "nccl-tests"
    return "mpi" if wanted == "auto" else "none"


def run_nccl_tests(out: Output, mpi: MpiBackend, most: int, deadline_s: float) -> bool:
    """Run all_reduce_perf over this host's GPUs on rank 0 and hand its text over; the controller reads it."""
    ok = True
    if mpi.rank == 0:
        command = ["all_reduce_perf", "-b", str(SMALLEST), "-e", str(most), "-f", "4", "-g", str(gpu_devices())]
        # without the launcher's variables, or an MPI build of nccl-tests would join this world
        env = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
        method = "%s/%d nccl-tests" % (NAME, VERSION)
        try:
            done = subprocess.run(
                command,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=deadline_s or None,
            )
            out.line("raw", name="nccl-tests-all-reduce", text=done.stdout.decode(errors="replace"))
            ok = done.returncode == 0
            if not ok:
                without_figures(out, method, "failed", "all_reduce_perf ended with status %d" % done.returncode)
        except (OSError, subprocess.SubprocessError) as error:
            ok = False
            without_figures(out, method, "failed", describe(error))
    waiting = mpi.comm.Ibarrier()
    while not waiting.Test():  # a plain barrier would spin and take the CPU from the measurement
        time.sleep(0.05)
    return ok


def watch(out: Output, rank: int, deadline_s: float, watch_stdin: bool, method: str) -> None:
    """End this rank at its deadline, when its launcher dies or, when asked, when stdin closes.

    The rank may sit inside the MPI library, where no Python signal handler runs; so a thread ends the process, and
    the launcher then ends the other ranks. There is nothing to clean.
    """

    def leave(reason: str) -> None:
        if rank == 0:
            out.quiet = True
            without_figures(out, method, "failed", "stopped: " + reason)
            out.end(False)
        os._exit(1)

    def clock() -> None:
        # the other ranks wait a little longer: the first rank to leave takes all along, and rank 0 has to speak
        parent, until = os.getppid(), time.monotonic() + deadline_s + (5.0 if rank else 0.0)
        while os.getppid() == parent:
            if deadline_s > 0 and time.monotonic() > until:
                leave("deadline of %g s" % deadline_s)
            time.sleep(0.5)
        os._exit(1)

    def stdin() -> None:
        try:
            while os.read(0, 4096):
                continue
        except OSError:
            pass
        leave("stdin was closed")

    threading.Thread(target=clock, daemon=True).start()
    if watch_stdin:
        threading.Thread(target=stdin, daemon=True).start()


def launcher_rank() -> int:
    """Return the rank that the launcher gave this process, 0 when there is no launcher."""
    for name in ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"):
        value = os.environ.get(name, "")
        if value.isdecimal():
            return int(value)
    return 0


def measure(args: argparse.Namespace, out: Output, mpi: MpiBackend, method: str) -> bool:
    """Choose the backend, run the sweep on it and report; return whether all went well."""
    kind = choose(args.backend, mpi)
    if kind == "none":
        reason = "no GPU for each rank with PyTorch and NCCL, nor nccl-tests with two GPUs on one host"
        if mpi.rank == 0:
            without_figures(out, method, "skipped", reason)
        return True
    if kind == "nccl-tests":
        return run_nccl_tests(out, mpi, args.max_bytes, args.deadline)
    backend = mpi if kind == "mpi" else TorchBackend(mpi.mpi, kind)
    facts = survey(backend)
    silent = backend.rank != 0
    rows = sweep(backend, args.max_bytes, args.budget, (lambda *_: None) if silent else out.progress)
    backend.close()
    wrong = int(sum(row["wrong"] for row in rows))
    method = "%s/%d %s ranks=%d" % (NAME, VERSION, backend.tool, backend.size)
    return wrong == 0 if silent else report(out, facts, rows, method)


def main(argv: list[str]) -> int:
    """Run the probe on this rank; 0 when nothing broke and every element came out right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--expect-ranks", type=int, required=True, help="ranks that must form one world")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for the whole sweep")
    parser.add_argument("--max-bytes", type=int, default=64 << 20, help="largest size")
    parser.add_argument("--backend", choices=("auto", "mpi", "nccl", "nccl-tests", "gloo"), default="auto")
    parser.add_argument("--deadline", type=float, default=0.0, help="seconds after which the probe ends itself")
    parser.add_argument("--watch-stdin", action="store_true", help="end when stdin closes (on rank 0)")
    args = parser.parse_args(argv)
    out = Output(NAME, VERSION)
    rank = launcher_rank()
    plain = "%s/%d mpi ranks=%d" % (NAME, VERSION, args.expect_ranks)
    watch(out, rank, args.deadline, args.watch_stdin and rank == 0, plain)
    try:
        import mpi4py

        mpi4py.rc.thread_level = "funneled"
        from mpi4py import MPI
    except (ImportError, RuntimeError, OSError) as error:
        if rank == 0:
            out.begin()
            without_figures(out, plain, "skipped", "mpi4py can't be loaded: " + describe(error))
            out.end(True)
        return 0
    mpi = MpiBackend(MPI)
    if mpi.size != args.expect_ranks:
        # said by each rank: as worlds of one, all of them are rank 0
        out.begin()
        singles = mpi.size == 1
        what = "%d singletons" % args.expect_ranks if singles else "a world of %d" % mpi.size
        hint = "; the launcher belongs to another MPI than mpi4py loads, or there was none" if singles else ""
        reason = "expected one world of %d ranks, found %s%s" % (args.expect_ranks, what, hint)
        without_figures(out, plain, "failed", reason)
        out.end(False)
        return 1
    if mpi.rank == 0:
        out.begin()
    try:
        ok = measure(args, out, mpi, plain)
    except Exception as error:
        # the other ranks wait for this one inside the library: without the abort they would wait for ever
        if mpi.rank == 0:
            without_figures(out, plain, "failed", describe(error))
            out.end(False)
        else:
            print("rank %d: %s" % (mpi.rank, describe(error)), file=sys.stderr, flush=True)
        mpi.comm.Abort(1)
        raise
    if mpi.rank == 0:
        out.end(ok)
    return 0 if ok else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Stopped:
        os._exit(1)
