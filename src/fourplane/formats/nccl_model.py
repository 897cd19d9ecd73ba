"""What a log of nccl-tests says: ranks, rows and runs.

Bus bandwidth is algorithm bandwidth times a factor that depends on the collective and the number of ranks n, such as
2(n-1)/n for all_reduce; it stands for the load on the busiest link, so that worlds of different size compare.

Source of the definitions: NVIDIA/nccl-tests ``doc/PERFORMANCE.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from fourplane.formats.model import Status
from fourplane.formats.nccl_log import Transports

__all__ = ["OPERATIONS", "NcclRank", "NcclRow", "NcclRun", "Sample"]

OPERATIONS = frozenset({
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "alltoallv", "broadcast", "reduce", "gather", "scatter",
    "sendrecv", "hypercube",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class NcclRank:
    """One rank: its host, device index, PCI address as printed, GPU model; group of a split communicator."""

    rank: int
    group: int
    host: str
    device: int
    bus: str
    gpu: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One half of a row. ``time_us`` in µs, bandwidths in GB/s (10^9 bytes); ``wrong`` None where unchecked."""

    time_us: float
    algbw: float
    busbw: float
    wrong: int | None


@dataclass(frozen=True, slots=True)
class NcclRow:
    """One size: bytes, elements, data type, reduction and root as printed ("" without), both halves."""

    line: int
    size: int
    count: int
    type: str
    redop: str
    root: str
    out_of_place: Sample
    in_place: Sample | None
    iterations: int | None = None

    @property
    def busbw(self) -> float:
        """Return the better bus bandwidth of the two halves, GB/s."""
        return max(self.out_of_place.busbw, self.in_place.busbw if self.in_place else 0.0)


@dataclass(slots=True)
class NcclRun:
    """One table with what was said about it.

    Attributes:
        line: 1-based line where it begins.
        op: collective, such as ``all_reduce``; "" when neither stated nor clear from the table.
        op_stated: the log names the collective; otherwise it was inferred from the columns.
        version: of nccl-tests, "" before 2.17 (not printed).
        nccl_version: of the library, "" when not printed.
        library: NCCL library as a number, such as 22903, 0 when not printed.
        settings: nThread, nGpus, minBytes, maxBytes, iters, validation as printed.
        step: growth of the sizes: factor or bytes, and by how much; None when not printed.
        ranks: rank lines, in order.
        rows: result rows, in order.
        average_busbw: the footer's mean over all sizes, GB/s; never the result.
        out_of_bounds: wrong elements that the footer counts; None without a footer.
        cpu_time: times are CPU times (``-C 1``); bandwidths computed from them mean nothing.
        elided: someone cut lines out and left an ellipsis.
        concluded: a footer was seen.
        failures: lines that report a failure, cut.
        transports: what NCCL's own log says about the paths.
        status: how the run ended.
        reason: why it is not complete.
        bad_rows: rows that were refused.
        speakers: prefixes of the launcher that rows came with; one world speaks through one rank.
    """

    line: int
    op: str = ""
    op_stated: bool = False
    version: str = ""
    nccl_version: str = ""
    library: int = 0
    settings: dict[str, int] = field(default_factory=dict)
    step: tuple[str, int] | None = None
    ranks: list[NcclRank] = field(default_factory=list)
    rows: list[NcclRow] = field(default_factory=list)
    average_busbw: float | None = None
    out_of_bounds: int | None = None
    cpu_time: bool = False
    elided: bool = False
    concluded: bool = False
    failures: list[tuple[int, str]] = field(default_factory=list)
    transports: Transports = field(default_factory=Transports)
    status: Status = Status.COMPLETE
    reason: str = ""
    bad_rows: int = 0
    speakers: set[str] = field(default_factory=set)

    @property
    def world_size(self) -> int | None:
        """Return the number of ranks that the log states: by the rank lines, else by NCCL's own log."""
        if self.ranks:
            return max(rank.rank for rank in self.ranks) + 1
        return max(self.transports.world_sizes, default=None)

    @property
    def missing_ranks(self) -> int:
        """Return how many ranks below the highest one have no line."""
        seen = {rank.rank for rank in self.ranks}
        return max(seen) + 1 - len(seen) if seen else 0

    def first_missing_ranks(self, limit: int) -> list[int]:
        """Return the first ranks that have no line, at most ``limit``."""
        seen = {rank.rank for rank in self.ranks}
        return list(islice((rank for rank in range(self.world_size or 0) if rank not in seen), limit))

    @property
    def node_count(self) -> int | None:
        """Return the number of nodes; None where lines are missing and what is left does not force it."""
        if not self.ranks or self.world_size is None:
            return None
        if not self.missing_ranks:
            return len(self.hosts)
        spans: dict[str, tuple[int, int]] = {}
        for rank in self.ranks:
            low, high = spans.get(rank.host, (rank.rank, rank.rank))
            spans[rank.host] = min(low, rank.rank), max(high, rank.rank)
        # first and last rank of each host side by side leave no room for another host
        filled = sum(high - low + 1 for low, high in spans.values()) == self.world_size
        return len(spans) if filled else None

    @property
    def implied_world_size(self) -> int | None:
        """Return the ranks that busbw/algbw stands for, where two decimals leave only one answer."""
        factor = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0, "alltoall": 1.0}.get(self.op)
        best = max((row.out_of_place for row in self.rows), key=lambda half: half.algbw, default=None)
        if factor is None or best is None or best.algbw <= 0 or best.busbw <= 0:
            return None
        # busbw = algbw * factor * (n-1)/n, both printed with an error of half a hundredth
        low, high = (
            factor / (factor - ratio) if ratio < factor else float("inf")
            for ratio in (
                (best.busbw - 0.005) / (best.algbw + 0.005),
                (best.busbw + 0.005) / (best.algbw - 0.005) if best.algbw > 0.005 else factor,
            )
        )
        if low >= 10_000:
            return None
        first = max(2, int(low))
        candidates = range(first, min(int(min(high, 10_000.0)), first + 3) + 1)
        fitting = [n for n in candidates if low <= n <= high]
        return fitting[0] if len(fitting) == 1 else None

    @property
    def hosts(self) -> list[str]:
        """Return the host names of the rank lines, in order, each once."""
        return list(dict.fromkeys(rank.host for rank in self.ranks))

    @property
    def gpu_models(self) -> list[str]:
        """Return the GPU models of the rank lines, each once."""
        return list(dict.fromkeys(rank.gpu for rank in self.ranks))

    @property
    def wrong(self) -> int | None:
        """Return the wrong elements over all rows; None when nothing was checked."""
        counts = [
            half.wrong
            for row in self.rows
            for half in (row.out_of_place, row.in_place)
            if half is not None and half.wrong is not None
        ]
        if not counts:
            # the footer counts zero also where nothing was checked
            checked = bool(self.out_of_bounds) or self.settings.get("validation", 0) > 0
            return self.out_of_bounds if checked else None
        return max(sum(counts), self.out_of_bounds or 0)

    @property
    def peak(self) -> NcclRow | None:
        """Return the row with the largest bus bandwidth, the smallest one of several; None without a bandwidth."""
        if self.cpu_time or self.status is Status.NOT_ONE_WORLD or not self.rows:
            return None
        best = max(self.rows, key=lambda row: (row.busbw, -row.size))
        return best if best.busbw > 0 else None

    @property
    def library_version(self) -> str:
        """Return the version of the NCCL library: as printed, else decoded from its number, "" without either."""
        if self.nccl_version or self.library <= 0:
            return self.nccl_version
        # NCCL_VERSION_CODE: X*1000 + Y*100 + Z up to 2.8, X*10000 + Y*100 + Z since
        major, rest = divmod(self.library, 10_000 if self.library >= 10_000 else 1_000)
        return f"{major}.{rest // 100}.{rest % 100}"
