"""The result table of nccl-tests: its header in every layout, and one row of it.

The table is read by its header, never by position from one end: releases added the columns ``root``, ``#wrong``
(once ``error``, before ``res``), ``#iters``, per-iteration statistics and time stamps. The first layout named size and
elements ``bytes`` and ``N`` and gave the time in milliseconds.

Source: NVIDIA/nccl-tests ``src/common.cu`` and ``src/util.cu`` of its releases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fourplane.formats.model import number_or_none
from fourplane.formats.nccl_model import NcclRow, Sample

__all__ = ["TYPE_BYTES", "Table", "is_bare_row", "is_count", "parse_header", "parse_row", "row_words"]

TYPE_BYTES = {
    "int8": 1, "char": 1, "uint8": 1, "int32": 4, "int": 4, "uint32": 4, "int64": 8, "uint64": 8, "half": 2,
    "float": 4, "double": 8, "bfloat16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1, "f8e4m3": 1, "f8e5m2": 1,
}  # fmt: skip
DEFAULT_TAIL = ("time", "algbw", "busbw", "#wrong") * 2
MAX_COLUMNS = 64

_TIMES = {"time", "cputime"}
_RANK_LABEL = re.compile(r"\[\d{1,7}\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Table:
    """Header in force.

    Attributes:
        middle: names between the type and the first time: redop and root, or fewer.
        tail: names from the first time on; a time stamp counts twice, for it is two words.
        milliseconds: the first layout, whose times are in ms.
    """

    middle: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    milliseconds: bool = False


def is_count(word: str) -> bool:
    """Tell whether a word is a plain number of at most 20 digits."""
    # isdigit alone is true for superscripts, which int refuses
    return word.isascii() and word.isdigit() and len(word) <= 20


def row_words(line: str) -> list[str]:
    """Return the cells of a row, without rank labels that a launcher glued between them."""
    return (_RANK_LABEL.sub(" ", line) if "[" in line else line).split()


def is_bare_row(line: str) -> bool:
    """Tell whether a line is a row of a table whose header is missing."""
    words = row_words(line)
    return len(words) >= 11 and is_count(words[0]) and is_count(words[1]) and words[2] in TYPE_BYTES


def parse_header(line: str) -> Table | None:
    """Return the columns when the line is the header of a table, else None."""
    words = line.lstrip("# ").split()[:MAX_COLUMNS]
    if "type" not in words or not _TIMES & set(words):
        return None
    after = words[words.index("type") + 1 :]
    first = next((i for i, word in enumerate(after) if word in _TIMES), None)
    if first is None or first > 4:
        return None
    tail = tuple(part for word in after[first:] for part in ((word, word) if word == "timestamp" else (word,)))
    return Table(tuple(after[:first]), tail, milliseconds=words[0] == "bytes" and "res" in words)


def parse_row(number: int, words: list[str], table: Table) -> NcclRow | str:
    """Return one row, or why it cannot be one: ``cut`` or ``odd``.

    ``words`` holds at least one number; the caller has told it from lines of other programs.
    """
    tail = table.tail or DEFAULT_TAIL
    if len(words) < 3 + len(tail):
        return "cut"
    middle = words[3 : len(words) - len(tail)]
    # without a header redop and root may or may not be there; with one, alltoall may leave redop blank
    most = len(table.middle) if table.tail else 2
    if len(middle) > most or not (is_count(words[0]) and is_count(words[1])):
        return "odd"
    cells = list(zip(tail, words[len(words) - len(tail) :], strict=True))
    halves: list[list[tuple[str, str]]] = []
    for name, cell in cells:
        if name in _TIMES:
            halves.append([])
        if halves:
            halves[-1].append((name, cell))
    samples = [_sample(dict(half), 1000.0 if table.milliseconds else 1.0) for half in halves]
    if not samples or samples[0] is None:
        return "odd"
    iterations = dict(cells).get("#iters", "")
    return NcclRow(
        line=number,
        size=int(words[0]),
        count=int(words[1]),
        type=words[2],
        redop=next((word for word in middle if number_or_none(word) is None), ""),
        root=next((word for word in middle if number_or_none(word) is not None), ""),
        out_of_place=samples[0],
        in_place=samples[1] if len(samples) > 1 else None,
        iterations=int(iterations) if is_count(iterations) else None,
    )


def _sample(half: dict[str, str], to_microseconds: float) -> Sample | None:
    time, algbw, busbw = (number_or_none(half.get(key, "")) for key in ("time", "algbw", "busbw"))
    if time is None:
        time = number_or_none(half.get("cputime", ""))
    if time is None or algbw is None or busbw is None:
        return None
    # the old columns "error" and "res" are deviations, not counts of wrong elements
    wrong = number_or_none(half.get("#wrong", ""))
    return Sample(time * to_microseconds, algbw, busbw, None if wrong is None else int(wrong))
