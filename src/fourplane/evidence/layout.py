"""Where everything lies below the evidence folder, and what a path there may look like.

::

    HEAD                                  number and hash of the newest manifest
    chain/000012.json                     manifests
    runs/RUN/run.json                     what was planned
    runs/RUN/steps/STEP.json              observations of one step
    runs/RUN/raw/STEP/NAME.txt            redacted raw text
    runs/RUN/end.json                     summary, once the run has ended
    tmp/                                  unfinished writes
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote

from fourplane.base.errors import StoreError
from fourplane.base.text import printable, shorten
from fourplane.evidence import codes

__all__ = [
    "CHAIN",
    "FIRST_PREV",
    "HEAD",
    "LOCK",
    "RUNS",
    "TMP",
    "Kind",
    "Place",
    "end_path",
    "entry_path",
    "file_name",
    "folder_place",
    "place",
    "raw_path",
    "run_path",
    "step_path",
]

HEAD = "HEAD"
CHAIN = "chain"
RUNS = "runs"
TMP = "tmp"
LOCK = "tmp/.writer.lock"
"""Lock of last resort, where the file system cannot lock a folder."""
FIRST_PREV = "0" * 64

NAME_LIMIT = 160
_NAME = r"[A-Za-z0-9_@+=,~%-][A-Za-z0-9._@+=,~%-]{0,159}"
_FILES = re.compile(
    rf"(?P<head>HEAD)|chain/(?P<seq>\d{{6,12}})\.json|runs/(?P<run>{_NAME})/(?:(?P<plan>run\.json)|(?P<end>end\.json)"
    rf"|steps/(?P<step>{_NAME})\.json|raw/(?P<raw_step>{_NAME})/(?P<raw>{_NAME})\.txt)|tmp/(?P<tmp>\.[^/\n]+\.tmp)",
    re.ASCII,
)
_FOLDERS = re.compile(rf"(?:chain|runs|tmp)|runs/(?P<run>{_NAME})(?:/(?:steps|raw(?:/(?P<step>{_NAME}))?))?", re.ASCII)


class Kind(StrEnum):
    """What lies at a place."""

    HEAD = "head"
    ENTRY = "entry"
    PLAN = "plan"
    END = "end"
    STEP = "step"
    RAW = "raw"
    TEMPORARY = "temporary"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Place:
    """A path in the store's own form: its kind, and the run, step (as file names) and number in it."""

    kind: Kind
    run: str = ""
    step: str = ""
    seq: int = 0


def place(path: str) -> Place | None:
    """Return what lies at a file path below the evidence folder; None if the store puts no file there."""
    match = _FILES.fullmatch(path)
    if match is None:
        return None
    run = match["run"] or ""
    if match["head"]:
        return Place(Kind.HEAD)
    if match["seq"]:
        seq = int(match["seq"])
        return Place(Kind.ENTRY, seq=seq) if seq and entry_path(seq) == path else None
    if match["plan"]:
        return Place(Kind.PLAN, run)
    if match["end"]:
        return Place(Kind.END, run)
    if match["step"]:
        return Place(Kind.STEP, run, match["step"])
    if match["raw"]:
        return Place(Kind.RAW, run, match["raw_step"])
    return Place(Kind.TEMPORARY)


def folder_place(path: str) -> Place | None:
    """Return what a folder below the evidence folder is for; None if the store makes no such folder."""
    match = _FOLDERS.fullmatch(path)
    return None if match is None else Place(Kind.FOLDER, match["run"] or "", match["step"] or "")


def file_name(identifier: str, what: str) -> str:
    """Return an identifier as a file name: percent-encoded where it holds anything unusual.

    Args:
        identifier: name of a run, step or raw text.
        what: what it names, for the error.

    Raises:
        StoreError: empty, unprintable, or too long.
    """
    if not identifier or identifier != printable(identifier):
        raise _refused(identifier, what, "must be printable and not empty")
    name = quote(identifier, safe="@+=,")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > NAME_LIMIT:
        raise _refused(identifier, what, f"takes {len(name)} characters as a file name, of {NAME_LIMIT} allowed")
    return name


def _refused(identifier: str, what: str, reason: str) -> StoreError:
    return StoreError(codes.NAME_REFUSED.code, f"{what} {shorten(identifier, 60)!r} {reason}", codes.NAME_REFUSED.fix)


def entry_path(seq: int) -> str:
    """Return the path of manifest number ``seq``."""
    return f"{CHAIN}/{seq:06d}.json"


def run_path(run: str) -> str:
    """Return the path of a run's plan."""
    return f"{RUNS}/{file_name(run, 'run')}/run.json"


def end_path(run: str) -> str:
    """Return the path of a run's summary."""
    return f"{RUNS}/{file_name(run, 'run')}/end.json"


def step_path(run: str, step: str) -> str:
    """Return the path of a step's observations."""
    return f"{RUNS}/{file_name(run, 'run')}/steps/{file_name(step, 'step')}.json"


def raw_path(run: str, step: str, name: str) -> str:
    """Return the path of a raw text."""
    return f"{RUNS}/{file_name(run, 'run')}/raw/{file_name(step, 'step')}/{file_name(name, 'raw text')}.txt"
