"""perftest: ``ib_write_bw``, ``ib_read_bw``, ``ib_send_bw`` and their ``_lat`` siblings.

Client and server often write into one file: headers interleave, and both print the same row, which is one result. The
unit stands in the header: ``MB/sec`` counts 2^20 bytes, ``Gb/sec`` counts 10^9 bits. Equal local and remote LIDs mean a
loopback, which proves no cable.

Source: linux-rdma/perftest ``src/perftest_parameters.h`` (formats of the report).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, Status, lines_of, natural_or_none, number_or_none

__all__ = [
    "BANDWIDTH_KIND", "LATENCY_KIND", "PerfRow", "PerfRun", "read_bandwidth", "read_latency", "sniff_bandwidth",
    "sniff_latency", "summarise_bandwidth", "summarise_latency",
]  # fmt: skip

BANDWIDTH_KIND = "ib-write-bw"
LATENCY_KIND = "ib-write-lat"
MAX_ROWS = 100_000

_TITLE = re.compile(
    r"\s{0,80}((?:RDMA_Write|RDMA_Read|Send|Atomic\w{0,20}|Write|Raw\w{0,20})(?: \w{1,20})? (BW|Latency) Test)"
)
_PAIR = re.compile(r"([A-Za-z][\w .*]{1,24}?)\s{0,8}: ?([^\s:][^:\t]{0,60}?)(?=\s{2,}|\t|$)", re.ASCII)
_HEADER = re.compile(r"#bytes\s{1,20}#iterations\s{1,20}(.{1,300})", re.ASCII)
_COLUMN = re.compile(r"([A-Za-z0-9_.% -]{1,24}?)\[([A-Za-z/]{1,10})\]", re.ASCII)
_LID = re.compile(r"(local|remote) address: LID (\S{1,12})", re.ASCII)
_FAILED = re.compile(
    r"(?:Couldn't connect to|Unable to (?:init|find|open|create|Connect)|Failed to (?:exchange|connect|modify|complete)"
    r"|Completion with error|Problems with warm up|Failed status)"
)
_MB_PER_UNIT = {"MB/sec": 1.0, "MiB/sec": 1.0, "Gb/sec": 1e9 / 8 / 2**20, "GB/sec": 1e9 / 2**20}


@dataclass(frozen=True, slots=True)
class PerfRow:
    """One size: bytes, iterations, figures by column name as printed (without unit)."""

    line: int
    size: int
    iterations: int
    figures: dict[str, float]


@dataclass(slots=True)
class PerfRun:
    """One test: title, parameters by name, units by column, rows by size, LIDs of both ends, failures."""

    line: int
    test: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    rows: dict[int, PerfRow] = field(default_factory=dict)
    lids: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @property
    def loopback(self) -> bool | None:
        """Tell whether both ends are the same port; None without LIDs, as on RoCE."""
        local, remote = self.lids.get("local"), self.lids.get("remote")
        return None if local is None or remote is None or local in {"0000", "0x0000"} else local == remote


def sniff_bandwidth(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a bandwidth test of perftest."""
    return _sniff(head, "BW")


def sniff_latency(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a latency test of perftest."""
    return _sniff(head, "Latency")


def _sniff(head: str, word: str) -> float:
    for line in head[:32768].split("\n", 200)[:200]:
        title = _TITLE.match(line[:200])
        if title is not None:
            return 0.95 if title[2] == word else 0.0
        header = _HEADER.search(line[:600])
        if header is not None:
            return 0.8 if ("BW" in header[1]) == (word == "BW") else 0.0
    return 0.0


def read_bandwidth(text: str) -> Reading[PerfRun]:
    """Read a bandwidth test; the record is the test, what is counted are its sizes."""
    return _read(text, Reading(BANDWIDTH_KIND))


def read_latency(text: str) -> Reading[PerfRun]:
    """Read a latency test; the record is the test, what is counted are its sizes."""
    return _read(text, Reading(LATENCY_KIND))


def _read(text: str, reading: Reading[PerfRun]) -> Reading[PerfRun]:
    run = PerfRun(1)
    columns: list[str] = []
    closed = False
    for number, raw in lines_of(text, reading):
        line = raw.strip()
        closed = (closed or line.startswith("--------")) and not line[:1].isdigit()
        title, header, lid = _TITLE.match(raw), _HEADER.match(line), _LID.match(line)
        if title is not None:
            run.test = run.test or title[1]
        elif header is not None:
            run.units = {name.strip(" -"): unit for name, unit in _COLUMN.findall(header[1])}
            columns = list(run.units)
        elif lid is not None:
            run.lids.setdefault(lid[1], lid[2])
        elif line[:1].isdigit() and columns:
            _row(run, line, number, columns, reading)
        elif _FAILED.search(line) is not None and len(run.failures) < 100:
            run.failures.append(line[:300])
            reading.note("perftest-failed", number, line)
        elif ":" in line:
            for name, value in _PAIR.findall(line):
                if len(run.parameters) < 100:
                    run.parameters.setdefault(name.strip(), value.strip())
    _finish(run, text, closed, reading)
    return reading


def _row(run: PerfRun, line: str, number: int, columns: list[str], reading: Reading[PerfRun]) -> None:
    words = line.split()
    figures = [number_or_none(word) for word in words]
    known = [figure for figure in figures[2:] if figure is not None]
    size, iterations = natural_or_none(words[0]), natural_or_none(words[1]) if len(words) > 1 else None
    whole = len(words) >= 2 + len(columns) and len(known) == len(words) - 2
    if not whole or size is None or iterations is None:
        reading.refuse("perftest-row-refused", number, line)
        return
    if len(run.rows) < MAX_ROWS:
        # the other end prints the same row once more; the first one stays
        run.rows.setdefault(size, PerfRow(number, size, iterations, dict(zip(columns, known, strict=False))))


def _finish(run: PerfRun, text: str, closed: bool, reading: Reading[PerfRun]) -> None:
    if not run.rows and not run.test and not run.failures:
        if not reading.refusals:
            reading.refuse("perftest-no-result" if text.strip() else "format-text-empty", 0, text.strip())
        reading.end(Status.REFUSED, "no test of perftest")
        return
    reading.records.append(run)
    reading.counted = len(run.rows)
    if run.loopback:
        reading.note("perftest-loopback", run.line, f"local and remote LID are both {run.lids['local']}")
    if run.failures:
        reading.end(Status.FAILED, run.failures[0])
    elif reading.refusals or not run.rows:
        reading.end(Status.TRUNCATED, "a row is cut" if run.rows else "no row")
    elif not closed:
        reading.end(Status.TRUNCATED, "the closing line is missing")


def _parameters(run: PerfRun) -> dict[str, Any]:
    mtu = re.match(r"(\d{1,6})\[B\]", run.parameters.get("Mtu", ""), re.ASCII)
    qps = run.parameters.get("Number of qps", "")
    sizes = sorted(run.rows)
    return {
        "test": run.test or None,
        "device": run.parameters.get("Device"),
        "transport": run.parameters.get("Transport type"),
        "link": run.parameters.get("Link type"),
        "connection": run.parameters.get("Connection type"),
        "qps": natural_or_none(qps),
        "mtu_bytes": int(mtu[1]) if mtu else None,
        "loopback": run.loopback,
        "sizes": len(sizes),
        "min_size_bytes": sizes[0] if sizes else None,
        "max_size_bytes": sizes[-1] if sizes else None,
        "size_bytes": sizes[0] if len(sizes) == 1 else None,
        "iterations": run.rows[sizes[-1]].iterations if sizes else None,
    }


def summarise_bandwidth(reading: Reading[PerfRun]) -> dict[str, Any]:
    """Return the best peak and average over all sizes, in MB/s of 2^20 bytes, and the average at the largest size."""
    if not reading.records:
        return {}
    run = reading.records[0]
    found = _parameters(run)
    peak, average = _best(run, "BW peak"), _best(run, "BW average")
    last = run.rows[max(run.rows)] if run.rows else None
    found |= {
        "bw_peak_max_mb_per_s": peak[0] if peak else None,
        "bw_peak_max_size_bytes": peak[1] if peak else None,
        "bw_avg_max_mb_per_s": average[0] if average else None,
        "bw_avg_max_size_bytes": average[1] if average else None,
        "bw_avg_at_max_size_mb_per_s": _mb(run, last, "BW average") if last else None,
    }
    if last is not None and len(run.rows) == 1:
        found |= {
            "bw_peak_mb_per_s": _mb(run, last, "BW peak"),
            "bw_avg_mb_per_s": _mb(run, last, "BW average"),
            "msg_rate_mpps": last.figures.get("MsgRate"),
        }
    return found


def _mb(run: PerfRun, row: PerfRow, column: str) -> float | None:
    figure, factor = row.figures.get(column), _MB_PER_UNIT.get(run.units.get(column, ""))
    return None if figure is None or factor is None else figure * factor


def _best(run: PerfRun, column: str) -> tuple[float, int] | None:
    found = [(figure, -row.size) for row in run.rows.values() if (figure := _mb(run, row, column)) is not None]
    return (max(found)[0], -max(found)[1]) if found else None


def summarise_latency(reading: Reading[PerfRun]) -> dict[str, Any]:
    """Return the latencies of the smallest size, in microseconds."""
    if not reading.records:
        return {}
    run = reading.records[0]
    found = _parameters(run)
    first = run.rows[min(run.rows)] if run.rows else None
    for name, columns in (
        ("typical", ("t_typical",)), ("average", ("t_avg",)), ("min", ("t_min",)), ("max", ("t_max",)),
        ("p99", ("99% percentile", "99 percentile")),
    ):  # fmt: skip
        values = [first.figures[column] for column in columns if first is not None and column in first.figures]
        found[f"lat_{name}_us"] = values[0] if values else None
    return found
