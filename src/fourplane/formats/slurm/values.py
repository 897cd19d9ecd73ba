"""Values as Slurm prints them: sizes, counts, durations, times, states and job ids; strict, and None when unknown.

Slurm's K, M, G, T, P and E are powers of 1,024. A time without offset is local to a machine that the text doesn't
name, so it stays text; only an epoch (``SLURM_TIME_FORMAT=%s``) or an offset gives an instant.

Sources: man pages sacct(1), squeue(1), scontrol(1); Slurm's parse_time.c for the forms of durations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import lru_cache

__all__ = [
    "ENDED", "KNOWN_STATES", "UNSET", "WAITING", "JobId", "Moment", "State", "is_unset", "parse_count",
    "parse_duration", "parse_job_id", "parse_moment", "parse_size", "parse_state", "per_unit", "tasks_of", "word_set",
]  # fmt: skip


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set; for the vocabularies of this package."""
    return frozenset(text.split())


UNSET = frozenset({"", "none", "n/a", "unknown", "(null)", "null", "invalid", "not set", "unset"})
"""Words, in lower case, by which Slurm says that there is no value."""

_FACTORS = {"": 1, "B": 1} | {unit: 1024**power for power, unit in enumerate("KMGTPE", start=1)}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,6})?)([KMGTPE]?)B?([nc]?)", re.ASCII | re.IGNORECASE)
_COUNT = re.compile(r"(\d{1,18}(?:\.\d{1,6})?)([KMGTPE]?)", re.ASCII | re.IGNORECASE)
_DURATION = re.compile(
    r"(?:(?P<days>\d{1,9})-)?(?:(?:(?P<hours>\d{1,9}):)?(?P<minutes>\d{1,9}):)?(?P<seconds>\d{1,9}(?:\.\d{1,6})?)",
    re.ASCII,
)
_DAYS_HOURS = re.compile(r"(?P<days>\d{1,9})-(?P<hours>\d{1,9})(?::(?P<minutes>\d{1,9}))?", re.ASCII)
_LOCAL = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?", re.ASCII)
_EPOCH = re.compile(r"\d{9,11}", re.ASCII)


def is_unset(text: str | None) -> bool:
    """Tell whether a value is one of Slurm's words for nothing."""
    return text is None or text.strip().lower() in UNSET


def parse_size(text: str, *, bare: str = "M") -> int | None:
    """Return a size in bytes: ``64Gn``, ``5000Mc``, ``250.5G``, ``2252800K``; ``bare`` is the unit without suffix.

    ``16?`` (Slurm doesn't know the unit), a sign, or anything else gives None.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    amount = Fraction(match[1]) * _FACTORS[match[2].upper() or bare]
    return int(amount)


def per_unit(text: str) -> str:
    """Return what a size of the column ReqMem is for: ``node``, ``cpu``, or "" (the job, since Slurm 21.08)."""
    match = _SIZE.fullmatch(text.strip())
    return "" if match is None else {"n": "node", "c": "cpu"}.get(match[3].lower(), "")


def parse_count(text: str) -> int | None:
    """Return a whole count, with a suffix of 1,024 or without; None for fractions of one and for anything else."""
    if text.isascii() and text.isdigit():
        return int(text) if len(text) < 19 else None
    match = _COUNT.fullmatch(text.strip())
    if match is None:
        return None
    amount = Fraction(match[1]) * _FACTORS[match[2].upper()]
    return int(amount) if amount.denominator == 1 else None


def parse_duration(text: str) -> float | None:
    """Return seconds of ``[DD-[HH:]]MM:SS[.mmm]`` and of ``DD-HH[:MM]``; None for words such as UNLIMITED.

    A bare number isn't a duration: the same digits are seconds in one column and minutes in another.
    """
    text = text.strip()
    match = _DURATION.fullmatch(text)
    if match is not None:
        days, hours, minutes = (int(match[key] or 0) for key in ("days", "hours", "minutes"))
        # with days, two numbers are hours and minutes; without, minutes and seconds
        if match["minutes"] is not None and (match["days"] is None or match["hours"] is not None):
            return days * 86_400 + hours * 3600 + minutes * 60 + float(match["seconds"])
    match = _DAYS_HOURS.fullmatch(text)
    if match is None:
        return None
    return float(int(match["days"]) * 86_400 + int(match["hours"]) * 3600 + int(match["minutes"] or 0) * 60)


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as Slurm printed it.

    Attributes:
        text: as printed, "" when Slurm gives none (Unknown, None, N/A).
        epoch: seconds since 1970 in UTC, None when the text has neither epoch nor offset.
    """

    text: str
    epoch: float | None = None

    @property
    def known(self) -> bool:
        """Tell whether there is a time at all."""
        return bool(self.text)

    def before(self, other: Moment) -> bool | None:
        """Tell whether this is earlier; of two local times by their text, None when they can't be compared."""
        if self.epoch is not None and other.epoch is not None:
            return self.epoch < other.epoch
        if self.epoch is None and other.epoch is None and self.known and other.known:
            return self.text < other.text if len(self.text) == len(other.text) else None
        return None


_NO_MOMENT = Moment("")


@lru_cache(maxsize=4096)
def parse_moment(text: str) -> Moment | None:
    """Return the time that a cell holds; None when it is no time, and a Moment without text when Slurm gives none."""
    text = text.strip()
    if text.lower() in UNSET or text == "0":
        return _NO_MOMENT
    if _EPOCH.fullmatch(text):
        return Moment(text, float(text))
    match = _LOCAL.fullmatch(text)
    if match is None:
        return None
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return Moment(text, parsed.timestamp() if match[1] else None)


WAITING = frozenset(
    {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
)
"""States in which a job holds no node yet; a row of sacct in state REQUEUED is an attempt that has ended."""
ENDED = frozenset(
    {
        "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
        "REQUEUED", "REVOKED", "TIMEOUT", "LAUNCH_FAILED", "RECONFIG_FAIL",
    }
)  # fmt: skip
"""States in which nothing runs any more."""
KNOWN_STATES = (
    WAITING
    | ENDED
    | {"RUNNING", "SUSPENDED", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "POWER_UP_NODE",
       "UPDATE_DB", "EXPEDITING"}
)  # fmt: skip
_SHORT = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "CF": "CONFIGURING", "CG": "COMPLETING", "DL": "DEADLINE",
    "F": "FAILED", "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PD": "PENDING", "PR": "PREEMPTED", "R": "RUNNING",
    "RD": "RESV_DEL_HOLD", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD", "RQ": "REQUEUED", "RS": "RESIZING",
    "RV": "REVOKED", "SI": "SIGNALING", "SE": "SPECIAL_EXIT", "SO": "STAGE_OUT", "ST": "STOPPED", "S": "SUSPENDED",
    "TO": "TIMEOUT",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class State:
    """State of a job or step.

    Attributes:
        name: token, such as CANCELLED; an unknown one is kept as it is.
        by: user id in ``CANCELLED by 1000``, "" otherwise.
        known: whether Slurm's manual knows the token.
    """

    name: str
    by: str = ""
    known: bool = True


_STATE = re.compile(r"([A-Za-z_]{1,30})\+?(?: by (\d{1,10}))?", re.ASCII)


@lru_cache(maxsize=1024)
def parse_state(text: str) -> State | None:
    """Return the state that a cell holds, None when it is empty or no word; ``R``, ``PD``, … are spelled out."""
    match = _STATE.fullmatch(text.strip())
    if match is None:
        return None
    spelled = match[1].upper()
    name = _SHORT.get(match[1]) or (spelled if spelled in KNOWN_STATES else match[1])
    return State(name, match[2] or "", name in KNOWN_STATES)


@dataclass(frozen=True, slots=True)
class JobId:
    """A job id as displayed: ``8012944_24093.0``, ``67767+1.batch``, ``4103947_[9-11,13%2]``.

    Attributes:
        text: as written.
        job: id without array, component and step.
        array: task of the array, or the bracketed set of tasks that still wait; "" without.
        component: offset in a heterogeneous job, "" without.
        step: batch, extern, interactive or a number; "" for the allocation itself.
    """

    text: str
    job: str
    array: str = ""
    component: str = ""
    step: str = ""

    @property
    def allocation(self) -> str:
        """Id of the allocation that a step belongs to."""
        return self.text[: -len(self.step) - 1] if self.step else self.text


JOB_ID = re.compile(
    r"(\d{1,12})(?:_(\d{1,10}|\[[\d,\-:%]{1,4000}(?:\.\.\.)?[\d,\-:%]{0,40}\]|\*))?(?:\+(\d{1,6}))?"
    r"(?:\.([A-Za-z]{1,20}|\d{1,10})(\+\d{1,6})?)?",
    re.ASCII,
)


def parse_job_id(text: str) -> JobId | None:
    """Return the parts of a job id; None when the text is none."""
    match = JOB_ID.fullmatch(text)
    if match is None:
        return None
    return JobId(text, match[1], match[2] or "", match[3] or "", (match[4] or "") + (match[5] or ""))


_RANGE = re.compile(r"(\d{1,10})(?:-(\d{1,10}))?(?::(\d{1,10}))?", re.ASCII)


def tasks_of(array: str) -> int | None:
    """Return how many tasks ``7``, ``[9-11,20]`` or ``[7-8%1]`` stand for; None when the set was cut or is no set."""
    if not array.startswith("["):
        return 1 if array.isdigit() else None
    inside = array.removeprefix("[").removesuffix("]").partition("%")[0]
    total = 0
    for part in inside.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            return None
        low, high, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if high < low or step < 1:
            return None
        total += (high - low) // step + 1
    return total
