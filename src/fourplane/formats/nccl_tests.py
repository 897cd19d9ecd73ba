"""nccl-tests and rccl-tests: every collective, every layout of the text since 2018, and the JSON of ``-J``.

Launchers put a prefix before each line, NCCL mixes its own log in, people cut lines out. What is judged is the curve
and its peak; the footer's "Avg bus bandwidth" is the mean over all sizes, the 8-byte one included, and says little
about the machine.

Sources: NVIDIA/nccl-tests ``src/common.cu`` and ``doc/PERFORMANCE.md`` (definition of busbw).
"""

from __future__ import annotations

import re

from fourplane.formats.model import Reading, Status, lines_of, number_or_none
from fourplane.formats.nccl_json import read_document, sniff_document
from fourplane.formats.nccl_model import OPERATIONS, NcclRank, NcclRun
from fourplane.formats.nccl_prefix import without_prefix
from fourplane.formats.nccl_rows import TYPE_BYTES, Table, is_bare_row, is_count, parse_header, parse_row, row_words
from fourplane.formats.nccl_world import SIDE_BY_SIDE, infer_operation, judge, note_faults, side_by_side

__all__ = ["KIND", "read", "sniff"]

KIND = "nccl-tests"
MAX_RANKS = 1_000_000
MAX_ROWS = 100_000
MAX_FAILURES = 100

_RANK = re.compile(
    r"#? *Rank +(\d{1,6})(?: +Group +(\d{1,6}))?(?: +Pid +(\d{1,10}))? +on +(\S{1,255}) +device +(\d{1,4}) "
    r"+\[([0-9A-Za-z:.]{1,20})\] +(.{1,200})",
    re.ASCII,
)
_SETTING = re.compile(
    r"(nThread|nGpus|minBytes|maxBytes|(?:warmup |agg )?iters:|validation:|graph:) ?(\d{1,20})", re.ASCII
)
_STEP = re.compile(r"step: (\d{1,15})\((factor|bytes)\)", re.ASCII)
_TESTS_VERSION = re.compile(r"#? *(?:nccl|rccl)-tests version (\S{1,40})", re.ASCII)
_LIBRARY = re.compile(r"(?:nccl|rccl)-library=(\d{3,6})\b", re.ASCII)
_NCCL_VERSION = re.compile(r"[NR]CCL version ?: ?(\d[\w.+-]{0,40})|[NR]CCL version (\d[\w.+-]{0,40})", re.ASCII)
_STARTED = re.compile(r"#? *Collective test starting: (\S{1,80})", re.ASCII)
_BINARY = re.compile(r"(?:^|[\s/=])([a-z_]{3,30})_perf(?:_mpi)?(?=\s|$)", re.ASCII)
_SOURCE = re.compile(r"\b([a-z_]{3,30})\.cu:\d", re.ASCII)
_AVERAGE = re.compile(r"#? *Avg bus bandwidth *: *(\S{1,30})(?: +(OK|FAILED))?", re.ASCII)
_BOUNDS = re.compile(r"#? *Out of bounds values *: *(\d{1,20}) *(OK|FAILED)?", re.ASCII)
_FAILURE = re.compile(
    r"Test (?:NCCL |CUDA |RCCL |HIP )?failure "
    r"|(?:mpirun|mpiexec|prterun) (?:detected that one or more processes exited|noticed that process)"
    r"|srun: error: .{1,200}(?:Exited with exit code|Killed|Terminated|Segmentation|Aborted)"
    r"|slurmstepd: error: \*\*\* "
)
_TELLING = re.compile(
    r"^.{0,60}# {1,9}(?:size|bytes) {1,20}(?:count|N) {1,20}type .{0,200}busbw"
    r"|nThread \d{1,9} nGpus \d{1,9} minBytes \d"
    r"|^.{0,60}#? ?Avg bus bandwidth {1,9}: |^.{0,60}# Collective test starting: ",
    re.ASCII | re.MULTILINE,
)
_FAILED_TEST = re.compile(r"Test (?:NCCL|CUDA|RCCL|HIP) failure \S{1,80}:\d{1,6} '", re.ASCII)
_ROW_START = re.compile(r"\d{1,20}(?: |\t|$)", re.ASCII)
# what follows the first piece of a row: figures only, at least the three of one half
_REST_OF_ROW = re.compile(r"(?:(?:\d{1,15}(?:\.\d{1,9})?(?:e[+-]?\d{1,3})?|N/A)(?:\s{1,40}|$)){3,40}", re.ASCII)
_SPEAKER = re.compile(r"[A-Za-z0-9][\w.-]{0,80}:\d{1,10}:\d{1,10} \[-?\d{1,4}\] ", re.ASCII)
_BEGUN = 6
"""Words of the first piece of a row at most: size, count, type, redop, root."""
_ELLIPSES = {"...", "…", "[...]", "# ...", "(...)", "<snip>", "[snip]", ". . ."}


def sniff(head: str) -> float:
    """Return how sure it is that a text beginning with ``head`` is a log of nccl-tests."""
    head = head[:262144]
    if sniff_document(head):
        return 0.95
    if _TELLING.search(head) is not None:
        return 0.95
    if _FAILED_TEST.search(head) is not None:
        return 0.9
    reading: Reading[NcclRun] = Reading(KIND)
    found = any(is_bare_row(without_prefix(line)[0]) for _, line in lines_of(head[:8192], reading))
    return 0.6 if found else 0.0


def read(text: str) -> Reading[NcclRun]:
    """Read a log or a JSON of ``-J``; one record per table, the worst status of all of them on the reading."""
    reading: Reading[NcclRun] = Reading(KIND)
    if text.lstrip()[:1] == "{":
        read_document(text, reading)
        for run in reading.records:
            note_faults(run, reading)
        return reading
    reader = _Reader(reading)
    for number, line in lines_of(text, reading):
        reader.take(number, line)
    reader.finish(text)
    return reading


class _Reader:
    """State of one parse: the run being read and the header in force."""

    def __init__(self, reading: Reading[NcclRun]) -> None:
        self.reading = reading
        self.run = NcclRun(1)
        self.table = Table()
        self.begun: tuple[int, str] | None = None
        """Line and text of a row whose figures are still to come."""

    def take(self, number: int, raw: str) -> None:
        line, speaker = without_prefix(raw)
        stripped = line.strip()
        if not stripped:
            return
        if _FAILURE.search(stripped):
            self._fail(number, stripped)
        elif "NCCL INFO" in stripped or "NCCL WARN" in stripped:
            self._nccl(number, stripped, speaker)
        elif self.begun is not None and _REST_OF_ROW.fullmatch(stripped):
            begun, self.begun = self.begun, None
            self._row(begun[0], f"{begun[1]} {stripped}", speaker)
        elif _ROW_START.match(stripped):
            self._row(number, stripped, speaker)
        elif "busbw" in stripped and "algbw" in stripped:
            self._header(number, stripped)
        elif stripped in _ELLIPSES:
            self.run.elided = self.run.elided or self._is_begun()
        else:
            self._remark(number, stripped)

    def _nccl(self, number: int, line: str, speaker: str) -> None:
        """Take a line of NCCL's own log, and the beginning of a row before it: rows are printed in two pieces."""
        self.run.transports.take(line, number)
        if (version := _NCCL_VERSION.search(line)) is not None:
            self.run.nccl_version = self.run.nccl_version or version[1] or version[2]
        if not _ROW_START.match(line) or (log := _SPEAKER.search(line)) is None:
            return
        row = line[: log.start()].rstrip()
        if row.endswith(" -"):
            row += "1"  # "-1" runs into the name of the host
        if len(row.split()) > _BEGUN:
            self._row(number, row, speaker)
        else:
            self._forget()
            self.begun = (number, row)

    def _forget(self) -> None:
        """Refuse the beginning of a row whose rest never came."""
        if self.begun is not None:
            self.reading.refuse("nccl-row-cut", *self.begun)
            self.run.bad_rows += 1
            self.begun = None

    def _fail(self, number: int, line: str) -> None:
        if len(self.run.failures) < MAX_FAILURES:
            self.run.failures.append((number, line[:300]))
        if not self.run.op and (source := _SOURCE.search(line)) is not None:
            self._name(source[1])

    def _is_begun(self) -> bool:
        run = self.run
        return bool(run.rows or run.ranks or run.settings or run.version or run.op_stated or self.table.tail)

    def _start_if_used(self, number: int, *, settings: bool = False) -> None:
        # a run that failed is over when settings are printed anew; otherwise they belong to a world beside it
        if self.run.rows or self.run.concluded or (settings and self.run.failures):
            self._close()
            self.run = NcclRun(number)
            self.table = Table()

    def _remark(self, number: int, line: str) -> None:
        run = self.run
        if "nThread" in line and "nGpus" in line:
            self._start_if_used(number, settings=True)
            self.run.settings = {key.rstrip(":"): int(value) for key, value in _SETTING.findall(line)}
            step = _STEP.search(line)
            self.run.step = (step[2], int(step[1])) if step else None
        elif (version := _TESTS_VERSION.match(line)) is not None:
            self._start_if_used(number, settings=True)
            self.run.version = version[1]
            library = _LIBRARY.search(line)
            self.run.library = int(library[1]) if library else 0
        elif (started := _STARTED.match(line)) is not None:
            self._start_if_used(number, settings=True)
            self._name(started[1])
        elif (average := _AVERAGE.match(line)) is not None:
            run.average_busbw = number_or_none(average[1])
            run.concluded = True
            if average[2] == "FAILED":
                self._fail(number, line)
        elif (bounds := _BOUNDS.match(line)) is not None:
            run.out_of_bounds = int(bounds[1])
            run.concluded = True
            if bounds[2] == "FAILED":
                self._fail(number, line)
        elif (rank := _RANK.match(line)) is not None:
            self._rank(number, rank)
        elif (library_version := _NCCL_VERSION.search(line)) is not None:
            run.nccl_version = run.nccl_version or library_version[1] or library_version[2]
        elif not run.op and (binary := _BINARY.search(line)) is not None:
            self._name(f"{binary[1]}_perf")

    def _rank(self, number: int, rank: re.Match[str]) -> None:
        if len(self.run.ranks) < MAX_RANKS:
            self._start_if_used(number)
            self.run.ranks.append(
                NcclRank(int(rank[1]), int(rank[2] or 0), rank[4], int(rank[5]), rank[6], rank[7].strip())
            )

    def _name(self, binary: str) -> None:
        name = binary.removesuffix("_mpi").removesuffix("_perf")
        if name in OPERATIONS:
            self.run.op, self.run.op_stated = name, True

    def _header(self, number: int, line: str) -> None:
        table = parse_header(line)
        if table is None:
            return
        self._start_if_used(number)
        self.table = table
        self.run.cpu_time = self.run.cpu_time or "cputime" in table.tail

    def _row(self, number: int, line: str, speaker: str) -> None:
        self._forget()
        words = row_words(line)
        if len(words) > 2 and (not is_count(words[1]) or words[2] not in TYPE_BYTES):
            return  # a line of another program that begins with a number
        if len(words) < 3 and not (self.table.tail and all(map(is_count, words))):
            return
        row = parse_row(number, words, self.table)
        if isinstance(row, str) or len(self.run.rows) >= MAX_ROWS:
            self.reading.refuse("nccl-row-cut" if row == "cut" else "nccl-row-refused", number, line)
            self.run.bad_rows += 1
            return
        self.run.rows.append(row)
        if speaker and len(self.run.speakers) < MAX_FAILURES:
            self.run.speakers.add(speaker)

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
        reading.counted = sum(len(run.rows) for run in reading.records)
        if not reading.records:
            reading.refuse("nccl-no-table" if text.strip() else "format-text-empty", 0, text.strip())
            reading.end(Status.REFUSED, "nothing of nccl-tests was found")
            return
        if side_by_side(reading.records):
            for run in reading.records:
                run.status, run.reason = Status.NOT_ONE_WORLD, SIDE_BY_SIDE
        for run in reading.records:
            note_faults(run, reading)
        for status in (Status.NOT_ONE_WORLD, Status.FAILED, Status.TRUNCATED, Status.COMPLETE):
            found = next((run for run in reading.records if run.status is status), None)
            if found is not None:
                reading.end(status, found.reason)
                return

    def _close(self) -> None:
        self._forget()
        run = self.run
        if not (run.rows or run.ranks or run.settings or run.failures or run.op_stated or run.version or run.concluded):
            return
        if not run.op:
            run.op = infer_operation(run)
        run.status, run.reason = judge(run)
        self.reading.records.append(run)
