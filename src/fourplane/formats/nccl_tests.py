"""Text of nccl-tests and rccl-tests: every collective, every layout of the result table since 2021.

The table is read by its header, never by position from one end: releases added the columns ``root``, ``#wrong``
(once ``error``), ``#iters``, per-iteration statistics and time stamps. Launchers put a prefix before each line, NCCL
mixes its own log in, people cut lines out. What is judged is the curve and its peak; the footer's "Avg bus bandwidth"
is the mean over all sizes, the 8-byte one included, and says little about the machine.

Sources: NVIDIA/nccl-tests ``src/common.cu`` and ``doc/PERFORMANCE.md`` (definition of busbw).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fourplane.formats.model import Reading, Status, lines_of, number_or_none
from fourplane.formats.nccl_model import NcclRank, NcclRow, NcclRun, Sample

__all__ = ["KIND", "read", "sniff"]

KIND = "nccl-tests"
MAX_RANKS = 1_000_000
MAX_ROWS = 100_000
MAX_FAILURES = 100

_PREFIX = re.compile(
    r"[ \t]*(?:\[(\d{1,7}),(\d{1,7})\]<std(?:out|err|diag)>: ?"  # OpenMPI --tag-output: [job,rank]<stdout>:
    r"|(\d{1,7}): "  # srun --label
    r"|\[(\d{1,7})\] ?(?=[ #]))",  # Hydra -prepend-rank
    re.ASCII,
)
_RANK = re.compile(
    r"#? *Rank +(\d{1,7})(?: +Group +(\d{1,7}))? +Pid +(\d{1,10}) +on +(\S{1,255}) +device +(\d{1,4}) "
    r"+\[([0-9A-Za-z:.]{1,20})\] +(.{1,200})",
    re.ASCII,
)
_SETTING = re.compile(
    r"(nThread|nGpus|minBytes|maxBytes|(?:warmup |agg )?iters:|validation:|graph:) ?(\d{1,20})", re.ASCII
)
_TESTS_VERSION = re.compile(r"#? *nccl-tests version (\S{1,40})", re.ASCII)
_NCCL_VERSION = re.compile(r"NCCL version (\d[\w.+-]{0,40})", re.ASCII)
_STARTED = re.compile(r"#? *Collective test starting: (\S{1,80})", re.ASCII)
_BINARY = re.compile(r"(?:^|[\s/=])([a-z_]{3,30})_perf(?:_mpi)?(?=\s|$)", re.ASCII)
_AVERAGE = re.compile(r"#? *Avg bus bandwidth *: *(\S{1,30})", re.ASCII)
_BOUNDS = re.compile(r"#? *Out of bounds values *: *(\d{1,20}) *(OK|FAILED)?", re.ASCII)
_FAILURE = re.compile(r"Test (?:NCCL|CUDA)? ?failure |NCCL WARN |mpirun detected that one or more processes exited")
_TELLING = re.compile(
    r"^.{0,40}# {1,9}size {1,20}count {1,20}type .{0,200}busbw|nThread \d{1,9} nGpus \d{1,9} minBytes \d"
    r"|^.{0,40}# Avg bus bandwidth {1,9}: |^.{0,40}# Collective test starting: ",
    re.ASCII | re.MULTILINE,
)
_FAILED_TEST = re.compile(r"Test (?:NCCL|CUDA) failure \S{1,80}:\d{1,6} '", re.ASCII)
_NCCL_LINE = re.compile(r":\d{1,10}:\d{1,10} \[\d{1,4}\] .{0,80}NCCL (?:INFO|WARN) ", re.ASCII)
_ROW_START = re.compile(r"\d{1,20}(?: |\t|$)", re.ASCII)
_TYPE_BYTES = {
    "int8": 1, "char": 1, "uint8": 1, "int32": 4, "int": 4, "uint32": 4, "int64": 8, "uint64": 8, "half": 2,
    "float": 4, "double": 8, "bfloat16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1, "f8e4m3": 1, "f8e5m2": 1,
}  # fmt: skip
_DEFAULT_TAIL = ("time", "algbw", "busbw", "#wrong") * 2
_OPERATIONS = {
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "alltoallv", "broadcast", "reduce", "gather", "scatter",
    "sendrecv", "hypercube",
}  # fmt: skip


@dataclass(slots=True)
class _Table:
    """Header in force: names of the columns behind the type, and whether redop and root are among them."""

    middle: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    words: int = 0


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a log of nccl-tests."""
    head = head[:262144]
    if _TELLING.search(head) is not None:
        return 0.95
    if _FAILED_TEST.search(head) is not None:
        return 0.8
    if _NCCL_LINE.search(head) is not None:
        return 0.5
    reading: Reading[NcclRun] = Reading(KIND)
    found = any(_is_bare_row(line) for _, line in lines_of(head[:8192], reading))
    return 0.6 if found else 0.0


def _is_count(word: str) -> bool:
    # isdigit alone is true for superscripts, which int refuses
    return word.isascii() and word.isdigit() and len(word) <= 20


def _is_bare_row(line: str) -> bool:
    words = _without_prefix(line)[0].split()
    return len(words) >= 11 and _is_count(words[0]) and _is_count(words[1]) and words[2] in _TYPE_BYTES


def read(text: str) -> Reading[NcclRun]:
    """Read a log; one record per table, the worst status of all of them on the reading."""
    reading: Reading[NcclRun] = Reading(KIND)
    reader = _Reader(reading)
    for number, line in lines_of(text, reading):
        reader.take(number, line)
    reader.finish(text)
    return reading


def _without_prefix(line: str) -> tuple[str, str]:
    """Return the line without the launcher's prefix, and the rank that the prefix names ("" without)."""
    match = _PREFIX.match(line)
    if match is None:
        return line, ""
    return line[match.end() :], match[2] or match[3] or match[4] or ""


class _Reader:
    """State of one parse: the run being read and the header in force."""

    def __init__(self, reading: Reading[NcclRun]) -> None:
        self.reading = reading
        self.run = NcclRun(1)
        self.table = _Table()

    def take(self, number: int, raw: str) -> None:
        line, _ = _without_prefix(raw)
        stripped = line.strip()
        if not stripped:
            return
        if _FAILURE.search(stripped) and len(self.run.failures) < MAX_FAILURES:
            self.run.failures.append((number, stripped[:300]))
        if "NCCL " in stripped:
            self._nccl(stripped)
        elif _ROW_START.match(stripped):
            self._row(number, stripped)
        elif "busbw" in stripped and "algbw" in stripped:
            self._header(number, stripped)
        elif stripped in {"...", "…", "[...]", "# ..."}:
            self.run.elided = True
        else:
            self._remark(number, stripped)

    def _nccl(self, line: str) -> None:
        version = _NCCL_VERSION.search(line)
        if version is not None:
            self.run.nccl_version = version[1]
        self.run.transports.take(line)

    def _start_if_used(self, number: int) -> None:
        if self.run.rows or self.run.concluded:
            self._close()
            self.run = NcclRun(number)
            self.table = _Table()

    def _remark(self, number: int, line: str) -> None:
        if "nThread" in line and "nGpus" in line:
            self._start_if_used(number)
            self.run.settings = {key.rstrip(":"): int(value) for key, value in _SETTING.findall(line)}
            return
        if (version := _TESTS_VERSION.match(line)) is not None:
            self._start_if_used(number)
            self.run.version = version[1]
        elif (started := _STARTED.match(line)) is not None:
            self._start_if_used(number)
            self._name(started[1])
        elif (average := _AVERAGE.match(line)) is not None:
            self.run.average_busbw = number_or_none(average[1])
            self.run.concluded = True
        elif (bounds := _BOUNDS.match(line)) is not None:
            self.run.out_of_bounds = int(bounds[1])
            self.run.concluded = True
            if bounds[2] == "FAILED" and len(self.run.failures) < MAX_FAILURES:
                self.run.failures.append((number, line[:300]))
        elif (rank := _RANK.match(line)) is not None:
            if len(self.run.ranks) < MAX_RANKS:
                self._start_if_used(number)
                self.run.ranks.append(
                    NcclRank(int(rank[1]), int(rank[2] or 0), rank[4], int(rank[5]), rank[6], rank[7].strip())
                )
        elif not self.run.op and (binary := _BINARY.search(line)) is not None:
            self._name(f"{binary[1]}_perf")

    def _name(self, binary: str) -> None:
        name = binary.removesuffix("_mpi").removesuffix("_perf")
        if name in _OPERATIONS:
            self.run.op, self.run.op_stated = name, True

    def _header(self, number: int, line: str) -> None:
        words = line.lstrip("# ").split()
        if "type" not in words or not {"time", "cputime"} & set(words):
            return
        self._start_if_used(number)
        after = words[words.index("type") + 1 :]
        first = next(i for i, word in enumerate(after) if word in {"time", "cputime"})
        tail = [part for word in after[first:] for part in ((word, word) if word == "timestamp" else (word,))]
        self.table = _Table(tuple(after[:first]), tuple(tail), len(words))
        self.run.cpu_time = self.run.cpu_time or "cputime" in tail

    def _row(self, number: int, line: str) -> None:
        words = line.split()
        if len(words) > 2 and (not _is_count(words[1]) or words[2] not in _TYPE_BYTES):
            return  # a line of another program that begins with a number
        if len(words) < 3 and not (self.table.tail and all(map(_is_count, words))):
            return
        tail = self.table.tail or _DEFAULT_TAIL
        # without a header redop and root may or may not be there; with one, alltoall may leave redop blank
        most = len(self.table.middle) if self.table.tail else 2
        middle = words[3 : len(words) - len(tail)] if len(words) >= 3 + len(tail) else None
        if middle is None or len(middle) > most or len(self.run.rows) >= MAX_ROWS:
            cut = len(words) < 3 + len(tail)
            self.reading.refuse("nccl-row-cut" if cut else "nccl-row-refused", number, line)
            self.run.bad_rows += 1
            return
        row = _parse_row(number, words, middle, tail)
        if row is None:
            self.reading.refuse("nccl-row-refused", number, line)
            self.run.bad_rows += 1
        else:
            self.run.rows.append(row)

    def finish(self, text: str) -> None:
        rows = self.run.rows
        if rows and not self.run.concluded and text and not text.endswith("\n"):
            last = text[text.rfind("\n") + 1 :]
            if rows[-1].line == text.count("\n") + 1:  # all cells are there, but the last one may be half a number
                rows.pop()
                self.reading.refuse("nccl-row-cut", text.count("\n") + 1, last)
                self.run.bad_rows += 1
        self._close()
        reading = self.reading
        if not any(run.rows for run in reading.records):
            code = "nccl-no-table" if text.strip() else "format-text-empty"
            reading.refuse(code, 0, text.strip())
        worst = (Status.NOT_ONE_WORLD, Status.FAILED, Status.TRUNCATED, Status.COMPLETE)
        if not reading.records:
            reading.end(Status.REFUSED, "nothing of nccl-tests was found")
            return
        if _side_by_side(reading.records):
            for run in reading.records:
                run.status, run.reason = Status.NOT_ONE_WORLD, _SIDE_BY_SIDE
        for status in worst:
            found = next((run for run in reading.records if run.status is status), None)
            if found is not None:
                reading.end(status, found.reason)
                return

    def _close(self) -> None:
        run = self.run
        if not (run.rows or run.ranks or run.settings or run.failures or run.op_stated or run.version or run.concluded):
            return
        if not run.op:
            run.op = _infer_operation(run)
        run.status, run.reason = _judge(run)
        self.reading.records.append(run)


def _parse_row(number: int, words: list[str], middle: list[str], tail: tuple[str, ...]) -> NcclRow | None:
    redop = next((word for word in middle if number_or_none(word) is None), "")
    root = next((word for word in middle if number_or_none(word) is not None), "")
    if not (_is_count(words[0]) and _is_count(words[1])):
        return None
    cells = list(zip(tail, words[len(words) - len(tail) :], strict=True))
    halves: list[list[tuple[str, str]]] = []
    for name, cell in cells:
        if name in {"time", "cputime"}:
            halves.append([])
        if halves:
            halves[-1].append((name, cell))
    samples = [_sample(dict(half)) for half in halves]
    if not samples or samples[0] is None:
        return None
    iterations = dict(cells).get("#iters", "")
    return NcclRow(
        line=number,
        size=int(words[0]),
        count=int(words[1]),
        type=words[2],
        redop=redop,
        root=root,
        out_of_place=samples[0],
        in_place=samples[1] if len(samples) > 1 else None,
        iterations=int(iterations) if _is_count(iterations) else None,
    )


def _sample(half: dict[str, str]) -> Sample | None:
    time, algbw, busbw = (number_or_none(half.get(key, "")) for key in ("time", "algbw", "busbw"))
    if time is None:
        time = number_or_none(half.get("cputime", ""))
    if time is None or algbw is None or busbw is None:
        return None
    # the old "error" column is a deviation, not a count of wrong elements
    wrong = number_or_none(half.get("#wrong", ""))
    return Sample(time, algbw, busbw, None if wrong is None else int(wrong))


def _infer_operation(run: NcclRun) -> str:
    """Return the collective where the columns leave only one: from redop, root and elements per byte."""
    row = max(run.rows, key=lambda one: one.size, default=None)
    if row is None or row.size == 0:
        return ""
    rooted = row.root not in {"", "-1"}
    reduces = row.redop not in {"", "none"}
    if rooted:
        return "reduce" if reduces else "broadcast"
    if not reduces:
        return ""  # all_gather, alltoall and sendrecv print the same columns
    # reduce_scatter counts the elements that one rank receives, all_reduce those of the whole buffer
    return "all_reduce" if row.count * _TYPE_BYTES[row.type] == row.size else "reduce_scatter"


_SIDE_BY_SIDE = "several one-rank worlds ran side by side (nccl-tests built without MPI, or the wrong PMI)"


def _side_by_side(runs: list[NcclRun]) -> bool:
    """Tell whether the tables come from ranks that never formed one world."""
    rows = [row for run in runs for row in run.rows]
    if not rows or any(row.busbw > 0 for row in rows) or not any(row.out_of_place.algbw > 0 for row in rows):
        return False
    firsts = sum(rank.rank == 0 for run in runs for rank in run.ranks)
    sizes = [row.size for row in rows if row.size > 0]
    return firsts > 1 or len(set(sizes)) < len(sizes)


def _judge(run: NcclRun) -> tuple[Status, str]:
    if sum(rank.rank == 0 and rank.group == 0 for rank in run.ranks) > 1 and not run.rows:
        return Status.NOT_ONE_WORLD, _SIDE_BY_SIDE
    if run.failures:
        return Status.FAILED, run.failures[0][1]
    if run.wrong:
        return Status.FAILED, f"{run.wrong} wrong elements"
    if run.bad_rows or not run.concluded or not run.rows:
        missing = "a row is cut" if run.bad_rows else "the closing lines are missing" if run.rows else "no result row"
        return Status.TRUNCATED, missing
    return Status.COMPLETE, ""
