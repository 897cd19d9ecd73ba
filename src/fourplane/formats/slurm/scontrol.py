"""Records of ``scontrol show``: KEY=VALUE in blocks or one record a line, values with blanks included.

In a block a value with blanks is alone on its line, or last on it; in ``-o`` form everything stands on one line, and a
job's name or comment can hold text that looks like another key. A key that comes twice with different values is
therefore unknown, and said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fourplane.formats.model import Reading, lines_of
from fourplane.formats.slurm.commands import command_of, is_remark
from fourplane.formats.slurm.values import word_set

__all__ = ["Detail", "ScontrolRecord", "records_of"]

MAX_FIELDS = 512
MAX_DETAILS = 65_536

_KEY = re.compile(r"(?:^|(?<=\s))([A-Za-z][A-Za-z0-9_:/.-]{0,60}(?:\([A-Za-z]{1,10}\))?)=")
_DETAIL = re.compile(
    r"(?:^|(?<=\s))Nodes=(\S{1,4000}) CPU_IDs=(\S{0,4000}) Mem=(\S{0,40})(?: GRES(?:_IDX)?=(\S{0,4000}))?(?=\s|$)"
)
# these fill the rest of their line in block form
_WHOLE = word_set(
    "Command WorkDir StdErr StdIn StdOut Comment AdminComment SystemComment Extra SubmitLine OS Reason JobName Power "
    "Features Licenses"
)
_LAST_ON_LINE = frozenset({"JobName", "Reason", "OS", "Comment", "AdminComment", "SystemComment", "Extra"})
_ELIDED = re.compile(r"\s*(?:\.\s?){2,10}|\s*\[\.\.\.\]\s*|\s*…\s*")


@dataclass(frozen=True, slots=True)
class Detail:
    """A line ``Nodes=… CPU_IDs=… Mem=… GRES=…`` of ``scontrol show job -d``; one line may stand for several nodes."""

    nodes: str
    cpu_ids: str
    memory: str
    gres: str


@dataclass(slots=True)
class ScontrolRecord:
    """One record.

    Attributes:
        line: 1-based, of its first line.
        fields: values by key, as written.
        details: per node, of ``-d``.
        one_line: whether it is in ``-o`` form.
        elided: whether lines were replaced by dots.
        ambiguous: keys that came twice with different values; they are not in ``fields``.
    """

    line: int
    fields: dict[str, str] = field(default_factory=dict)
    details: list[Detail] = field(default_factory=list)
    one_line: bool = False
    elided: bool = False
    ambiguous: set[str] = field(default_factory=set)

    def get(self, *keys: str) -> str | None:
        """Return the first value that is there and isn't one of Slurm's words for nothing."""
        for key in keys:
            value = self.fields.get(key)
            if value is not None and value.strip() not in ("", "(null)", "N/A", "None", "Unknown", "n/a"):
                return value.strip()
        return None

    def add(self, key: str, value: str) -> None:
        """Take a value over; a second, different one makes the key unknown."""
        if key in self.ambiguous or len(self.fields) >= MAX_FIELDS:
            return
        if self.fields.setdefault(key, value) != value:
            del self.fields[key]
            self.ambiguous.add(key)


def records_of(text: str, reading: Reading[Any], first: str, also: frozenset[str]) -> Iterator[ScontrolRecord]:
    """Yield records that begin with the key ``first``; lines outside any are refused.

    Args:
        text: whole text.
        reading: takes the refusals.
        first: key that begins a record, such as ``JobId``.
        also: keys that show a record of this kind whose beginning is missing.
    """
    current: ScontrolRecord | None = None
    for number, line in lines_of(text.removeprefix("\ufeff"), reading):
        if not line.strip():
            continue
        body = line.strip()
        if body.startswith(f"{first}="):
            if current is not None:
                yield current
            current = ScontrolRecord(number)
            _take(current, body, first_line=True)
        elif current is not None and _ELIDED.fullmatch(body):
            current.elided = True
        elif current is not None and (line[:1] in " \t" or _in_block(line)):
            _take(current, body, first_line=False)
        elif current is None and (key := _KEY.match(body)) is not None and key[1] in also:
            current = ScontrolRecord(number)
            _take(current, body, first_line=False)
        elif command_of(line) is None and not is_remark(line):
            reading.refuse("slurm-line-not-understood", number, line)
    if current is not None:
        yield current


def _in_block(line: str) -> bool:
    match = _KEY.match(line)
    return match is not None and line.partition("=")[0] == match[1]


def _take(record: ScontrolRecord, body: str, *, first_line: bool) -> None:
    """Read the keys of one line into the record."""
    if len(record.details) < MAX_DETAILS and "CPU_IDs=" in body:
        details = [Detail(*(part or "" for part in match.groups())) for match in _DETAIL.finditer(body)]
        record.details += details[: MAX_DETAILS - len(record.details)]
        body = _DETAIL.sub(" ", body)
    found = list(_KEY.finditer(body))[: MAX_FIELDS * 2]
    if first_line and len(found) > 12:
        record.one_line = True
    if not record.one_line and found:
        if found[0][1] in _WHOLE and found[0].start() == 0:
            found = found[:1]
            if record.fields and found[0][1] == "Reason" and "JobId" in record.fields:
                found = list(_KEY.finditer(body))  # a job's reason is one word among others
        else:
            whole = next((at for at, match in enumerate(found) if match[1] in _LAST_ON_LINE and at), None)
            if whole is not None and not (found[whole][1] == "Reason" and "JobId" in record.fields):
                found = found[: whole + 1]
    for at, match in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(body)
        record.add(match[1], body[match.end() : end].strip())
