"""Columns of a sacct listing: which there are, how rows are cut into cells, and which cells may hold anything.

Source: ``sacct --helpformat`` of Slurm 20.02 to 26.05; Open XDMoD's documentation for its 26 fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from fourplane.formats.slurm.commands import Command
from fourplane.formats.slurm.values import word_set

__all__ = ["XDMOD", "Layout", "layout_from_heading", "layout_of_columns", "layout_of_command", "looks_like_xdmod"]

MAX_COLUMNS = 512

_TRES = ("Ave", "Max", "MaxNode", "MaxTask", "Min", "MinNode", "MinTask", "Tot")
_NAMES = word_set(
    "Account AdminComment AllocCPUS AllocGRES AllocNodes AllocTRES AssocID Association AveCPU AveCPUFreq AveDiskRead "
    "AveDiskWrite AvePages AveRSS AveVMSize BlockID Cluster Comment Constraints ConsumedEnergy ConsumedEnergyRaw "
    "Container CPUTime CPUTimeRAW DBIndex DerivedExitCode Elapsed ElapsedRaw Eligible End ExitCode Extra FailedNode "
    "Flags GID Group JobID JobIDRaw JobName Layout Licenses LicensesReq MaxDiskRead MaxDiskReadNode MaxDiskReadTask "
    "MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask MaxPages MaxPagesNode MaxPagesTask MaxRSS MaxRSSNode MaxRSSTask "
    "MaxVMSize MaxVMSizeNode MaxVMSizeTask McsLabel MinCPU MinCPUNode MinCPUTask NCPUS NNodes NodeList NTasks "
    "OriginalSLUID Partition Planned PlannedCPU PlannedCPURAW Priority QOS QOSRAW QOSREQ Reason ReqCPUFreq "
    "ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin ReqCPUS ReqGRES ReqMem ReqNodes ReqTRES Reservation ReservationId "
    "ReservationReq Reserved Restarts ResvCPU ResvCPURAW SLUID SegmentSize Start State StdErr StdIn StdOut Submit "
    "SubmitLine Suspended SystemComment SystemCPU Timelimit TimelimitRaw TotalCPU UID User UserCPU WCKey WCKeyID "
    "WorkDir"
) | {f"TRESUsage{way}{what}" for way in ("In", "Out") for what in _TRES}
_KNOWN = {name.lower(): name for name in _NAMES}

_FREE = word_set(
    "admincomment comment container constraints extra jobname licenses licensesreq stderr stdin stdout submitline "
    "systemcomment wckey workdir"
)
_COMMAS = word_set("alloctres reqtres nodelist flags reason constraints failednode allocgres reqgres partition qosreq")

XDMOD = (
    "JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID", "Submit", "Eligible",
    "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS", "ReqCPUS", "ReqMem", "ReqTRES", "AllocTRES",
    "Timelimit", "NodeList", "JobName",
)  # fmt: skip
"""Order of fields that Open XDMoD documents for its sacct logs, which have no heading."""

_TIME = r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:?\d\d)?|\d{9,11}|Unknown|None|0|)"
_SPAN = r"(?:(?:\d+-)?\d+:\d\d(?::\d\d)?(?:\.\d+)?|UNLIMITED|Partition_Limit|INVALID|)"
_INT = r"(?:\d{0,20})"
_ANY_COUNT = r"(?:[\d.]{0,24}[KMGTPE]?)"
_TRES_CELL = r"(?:[A-Za-z][A-Za-z0-9/:._+\-]*=[^,|]*(?:,[A-Za-z][A-Za-z0-9/:._+\-]*=[^,|]*)*|)"
_CHECKS = {
    **dict.fromkeys(("submit", "eligible", "start", "end"), _TIME),
    **dict.fromkeys(("elapsed", "timelimit", "suspended", "cputime", "totalcpu", "planned", "reserved"), _SPAN),
    **dict.fromkeys(("uid", "gid", "elapsedraw", "cputimeraw", "dbindex", "restarts", "associd"), _INT),
    **dict.fromkeys(("nnodes", "ncpus", "alloccpus", "reqcpus", "allocnodes", "reqnodes", "ntasks"), _ANY_COUNT),
    **dict.fromkeys(("exitcode", "derivedexitcode"), r"(?:\d{1,3}:\d{1,3}|)"),
    **dict.fromkeys(("alloctres", "reqtres"), _TRES_CELL),
    "state": r"[A-Z_]+\+?(?: by \d+)?",
    "reqmem": r"(?:\d+(?:\.\d+)?[KMGTPE]?[nc]?|\d+\?|)",
}
_PATTERNS = {name: re.compile(pattern, re.ASCII) for name, pattern in _CHECKS.items()}


class _Check(NamedTuple):
    at: int
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """How the rows of one listing are read.

    Attributes:
        columns: names, as Slurm spells them; unknown ones as written.
        delimiter: between cells; "" for blanks of any number.
        trailing: whether a delimiter ends each row (``sacct -p``).
        spans: of fixed columns, from the line of dashes; () for delimited rows.
        heading: the cells of the heading line, to know it when it comes again; () when there was none.
        free: position of the one column that may hold the delimiter; None when there is none or more than one.
        job: position of the column that holds the job's id, the displayed one first; None without.
        index: position by name in lower case.
        checks: columns whose cells have a form.
    """

    columns: tuple[str, ...]
    delimiter: str
    trailing: bool = False
    spans: tuple[tuple[int, int], ...] = ()
    heading: tuple[str, ...] = ()
    free: int | None = None
    job: int | None = None
    index: dict[str, int] = field(default_factory=dict)
    checks: tuple[_Check, ...] = ()

    @property
    def width(self) -> int:
        """Cells of a row as split, the empty one behind a trailing delimiter included."""
        return len(self.columns) + self.trailing

    @property
    def simple(self) -> bool:
        """Tell whether a split at the delimiter and a look at the id settle most rows."""
        return self.job is not None and self.delimiter not in ("", ",")

    def plausible(self, fields: list[str]) -> bool:
        """Tell whether every cell whose column has a form has that form."""
        return all(check.pattern.fullmatch(fields[check.at]) is not None for check in self.checks)


def layout_of_columns(
    names: list[str],
    delimiter: str,
    *,
    trailing: bool = False,
    spans: tuple[tuple[int, int], ...] = (),
    heading: tuple[str, ...] = (),
) -> Layout:
    """Return the layout of rows with these columns."""
    columns = tuple(_KNOWN.get(name.strip().lower(), name.strip()) for name in names)
    index: dict[str, int] = {}
    for at, name in enumerate(columns):
        index.setdefault(name.lower(), at)
    loose = [at for at, name in enumerate(columns) if _may_hold(name.lower(), delimiter)]
    job = index.get("jobid", index.get("jobidraw"))
    checks = [_Check(at, _PATTERNS[name]) for name, at in index.items() if name in _PATTERNS]
    free = loose[0] if len(loose) == 1 and loose[0] != job else None
    return Layout(columns, delimiter, trailing, spans, heading, free, job, index, tuple(checks))


def _may_hold(name: str, delimiter: str) -> bool:
    """Tell whether a cell of this column may hold the delimiter; a column that isn't known may hold anything."""
    if name not in _KNOWN and not name.startswith("tresusage"):
        return True
    if name in _FREE:
        return True  # names of accounts, users, partitions and reservations are an administrator's, and hold none
    return delimiter == "," and (name in _COMMAS or name.startswith("tresusage"))


_HEADING = re.compile(r"([A-Za-z][A-Za-z0-9]*)([^A-Za-z0-9=]{1,16})[A-Za-z]", re.ASCII)
_ONE = re.compile(r"[A-Za-z]+([^A-Za-z0-9\s=]{0,16})", re.ASCII)


def layout_from_heading(line: str, delimiter: str | None = None, dashes: str = "") -> Layout | None:
    """Return the layout that a heading line gives, None when the line is no heading of sacct.

    Args:
        line: without its line end.
        delimiter: when known; otherwise what stands between the first two names.
        dashes: the line that follows, which gives the widths when cells are padded with blanks.
    """
    if len(line) > 16_384:
        return None
    text = line.rstrip(" \r")
    if delimiter is None:
        match = _HEADING.match(text.lstrip())
        if match is not None:
            delimiter = match[2]
        else:  # one column, with the trailing delimiter of -p or without
            word = _ONE.fullmatch(text.strip())
            if word is None:
                return None
            delimiter = word[1] or "|"
    if not delimiter.strip(" "):
        return _padded(text, dashes)
    names = (line.rstrip("\r") if delimiter.endswith(" ") else text).split(delimiter)
    if len(names) > MAX_COLUMNS:
        return None
    trailing = len(names) > 1 and not names[-1].strip()
    heading = tuple(names)
    if trailing:
        names = names[:-1]
    if not _is_heading(names):
        return None
    return layout_of_columns(names, delimiter, trailing=trailing, heading=heading)


def _is_heading(names: list[str]) -> bool:
    words = [name.strip().lower() for name in names]
    known = sum(word in _KNOWN for word in words)
    if not all(re.fullmatch(r"[a-z][a-z0-9_]*", word, re.ASCII) for word in words):
        return False
    return known == len(words) or (known * 2 >= len(words) and ("jobid" in words or "jobidraw" in words))


_DASHES = re.compile(r"-+(?: -+)*", re.ASCII)


def _padded(line: str, dashes: str) -> Layout | None:
    names = line.split()
    if not names or len(names) > MAX_COLUMNS or not _is_heading(names):
        return None
    ruler = dashes.rstrip(" \r")
    if _DASHES.fullmatch(ruler) is None or len(ruler.split(" ")) != len(names):
        return None
    spans: list[tuple[int, int]] = []
    at = 0
    for dash in ruler.split(" "):
        spans.append((at, at + len(dash)))
        at += len(dash) + 1
    return layout_of_columns(names, "", spans=tuple(spans), heading=tuple(names))


def layout_of_command(command: Command) -> Layout | None:
    """Return the layout that a sacct command with ``--format`` and without heading gives."""
    listed = command.value("o", "format")
    if command.tool != "sacct" or not listed:
        return None
    names = [name.partition("%")[0] for name in listed.split(",") if name.strip()][:MAX_COLUMNS]
    if not names or not _is_heading(names):
        return None
    parsable = command.has("p", "parsable")
    if parsable or command.has("P", "parsable2"):
        return layout_of_columns(names, command.value("\0", "delimiter") or "|", trailing=parsable)
    return layout_of_columns(names, "")


def looks_like_xdmod(line: str) -> bool:
    """Tell whether a row has the 26 fields of Open XDMoD, each with a cell of its kind."""
    fields = line.split("|")
    if len(fields) < len(XDMOD):
        return False
    layout = XDMOD_LAYOUT
    row = [*fields[:25], "|".join(fields[25:])]
    return bool(row[0][:1].isdigit() and row[2] and row[10] and layout.plausible(row))


XDMOD_LAYOUT = layout_of_columns(list(XDMOD), "|")
