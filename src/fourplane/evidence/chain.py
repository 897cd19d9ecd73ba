"""The chain as it lies on disk: manifests in order, HEAD, the runs they tell of, and what is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fourplane.base.codes import Code
from fourplane.base.errors import StoreError
from fourplane.base.findings import Finding, Level
from fourplane.base.text import plural, printable
from fourplane.evidence import codes
from fourplane.evidence.folder import NotPlainError, read_file
from fourplane.evidence.layout import (
    CHAIN,
    FIRST_PREV,
    HEAD,
    RUNS,
    Kind,
    end_path,
    entry_path,
    place,
    run_path,
    step_path,
)
from fourplane.evidence.manifest import Entry, FileEntry, Head, parse_entry

__all__ = ["Chain", "RunChain", "finding", "load_chain"]

HEAD_LIMIT = 4096
ENTRY_LIMIT = 16 * 1024 * 1024
_ATTEMPTS = 8


@dataclass(slots=True)
class RunChain:
    """The manifests of one run; ``name`` is its folder name."""

    id: str
    name: str
    begin: Entry
    steps: dict[str, Entry] = field(default_factory=dict)
    end: Entry | None = None


@dataclass(slots=True)
class Chain:
    """What ``load_chain`` read.

    Attributes:
        entries: manifests in order, as far as they could be read.
        head: number and hash of the newest manifest.
        stored_head: what HEAD says, None where it is missing or damaged.
        problems: errors; the chain can be trusted only where there are none.
        runs: by identifier, in the order in which they began.
        files: every file that a manifest names, by path.
    """

    entries: list[Entry] = field(default_factory=list)
    head: Head = field(default_factory=Head)
    stored_head: Head | None = None
    problems: list[Finding] = field(default_factory=list)
    runs: dict[str, RunChain] = field(default_factory=dict)
    files: dict[str, FileEntry] = field(default_factory=dict)

    @property
    def behind(self) -> bool:
        """Tell whether HEAD waits to be moved on to the newest manifest."""
        return not self.problems and self.stored_head != self.head

    @property
    def blank(self) -> bool:
        """Tell whether nothing was ever recorded: no manifest and no HEAD."""
        return not self.entries and self.stored_head is None and not self.problems

    def append(self, entry: Entry) -> str:
        """Take over one manifest that follows the newest; return what is wrong with its story, "" if nothing."""
        problem = self._tell(entry)
        self.entries.append(entry)
        self.head = Head(entry.seq, entry.sha256)
        for one in entry.files:
            self.files.setdefault(one.path, one)
        return problem

    def _tell(self, entry: Entry) -> str:
        run = self.runs.get(entry.run)
        paths = [f.path for f in entry.files]
        if len(set(paths)) != len(paths) or any(path in self.files for path in paths):
            return "it names a file twice"
        try:
            allowed = _allowed(entry)
        except (StoreError, ValueError) as error:  # a name that no writer accepts
            return f"it holds a name that cannot be stored: {error}"
        if not allowed(paths):
            return "the files it names are not those of its kind"
        if entry.kind == "begin":
            if run is not None:
                return f"run {entry.run} begins a second time"
            self.runs[entry.run] = RunChain(entry.run, paths[0].split("/")[1], entry)
            return ""
        if run is None or run.end is not None:
            return f"run {entry.run} is not open at this point"
        if entry.kind == "end":
            run.end = entry
        elif entry.step in run.steps:
            return f"step {entry.step} is recorded a second time"
        else:
            run.steps[entry.step] = entry
        return ""


class _Allowed:
    """The set of paths that one manifest may and must name."""

    def __init__(self, main: str, raw_of: tuple[str, str] | None) -> None:
        self._main, self._raw_of = main, raw_of

    def __call__(self, paths: list[str]) -> bool:
        rest = [path for path in paths if path != self._main]
        if len(rest) == len(paths):
            return False
        where = [place(path) for path in rest]
        return all(p is not None and p.kind is Kind.RAW and (p.run, p.step) == self._raw_of for p in where)


def _allowed(entry: Entry) -> _Allowed:
    if entry.kind == "step":
        main = step_path(entry.run, entry.step)
        _, run, _, file = main.split("/")
        return _Allowed(main, (run, file.removesuffix(".json")))
    if entry.step:
        raise ValueError("a step outside a step's manifest")
    return _Allowed(run_path(entry.run) if entry.kind == "begin" else end_path(entry.run), None)


def finding(
    code: Code, root: Path, path: str, message: str, *, level: Level = Level.ERROR, found: str = "", expected: str = ""
) -> Finding:
    """Return a finding about a path below the evidence folder."""
    return Finding(
        code=code.code,
        level=level,
        message=printable(message),
        file=printable(str(root / path)),
        found=printable(found),
        expected=printable(expected),
        fix=code.fix,
        link=code.link,
    )


def load_chain(root: Path) -> Chain:
    """Read HEAD and all manifests. Never raises on what they hold.

    A writer may commit meanwhile; so the read is repeated until HEAD stood still during it.
    """
    for _ in range(_ATTEMPTS):
        before = _raw_head(root)
        chain = _load(root, before)
        if not chain.problems or _raw_head(root) == before:
            break
    return chain


def _raw_head(root: Path) -> bytes | OSError:
    try:
        return read_file(root, HEAD, HEAD_LIMIT)
    except OSError as error:
        return error if not isinstance(error, FileNotFoundError) else FileNotFoundError()


def _load(root: Path, raw_head: bytes | OSError) -> Chain:
    chain = Chain()
    numbers = _numbers(root, chain)
    prev: str | None = FIRST_PREV
    last = 0
    for seq in sorted(numbers):
        if seq != last + 1:
            chain.problems += _gap(root, last + 1, seq - 1)
            prev = None
        prev = _take(root, chain, seq, prev)
        last = seq
    _check_head(root, chain, raw_head, last, intact_end=prev is not None)
    return chain


def _numbers(root: Path, chain: Chain) -> list[int]:
    try:
        names = [] if (root / CHAIN).is_symlink() else [path.name for path in (root / CHAIN).iterdir()]
    except OSError:
        return []  # a missing folder shows as missing manifests; an odd one in the listing of verify
    out = []
    for name in names:
        spot = place(f"{CHAIN}/{name}")
        if spot is not None:
            out.append(spot.seq)
    return out


def _gap(root: Path, first: int, last: int) -> Iterable[Finding]:
    """Name each missing manifest, or the first few of a long gap."""
    shown = min(last, first + 9)
    for seq in range(first, shown + 1):
        yield finding(codes.ENTRY_MISSING, root, entry_path(seq), f"Manifest {seq} is gone.", expected="a manifest")
    if last > shown:
        text = f"{plural(last - shown, 'more manifest')} up to {last} are gone."
        yield finding(codes.ENTRY_MISSING, root, entry_path(last), text, expected="a manifest")


def _take(root: Path, chain: Chain, seq: int, prev: str | None) -> str | None:
    """Read one manifest into the chain; return its hash, None if the next cannot be tied to it."""
    path = entry_path(seq)
    try:
        entry, problem = parse_entry(read_file(root, path, ENTRY_LIMIT))
    except NotPlainError as error:
        entry, problem = None, str(error)
    except OSError as error:
        text = f"Manifest {seq} cannot be read: {error.strerror or error}."
        chain.problems.append(finding(codes.FILE_UNREADABLE, root, path, text))
        return None
    if problem:
        text = f"Manifest {seq} was changed: {problem}."
        chain.problems.append(finding(codes.ENTRY_DAMAGED, root, path, text))
    if entry is None:
        return None
    if entry.seq != seq:
        text = f"The manifest stored as number {seq} says it is number {entry.seq}."
        chain.problems.append(finding(codes.CHAIN_BROKEN, root, path, text, found=str(entry.seq), expected=str(seq)))
    elif prev is not None and entry.prev != prev:
        text = f"Manifest {seq} does not follow the one before it."
        chain.problems.append(finding(codes.CHAIN_BROKEN, root, path, text, found=entry.prev, expected=prev))
    story = chain.append(entry)
    if story and not chain.problems:  # after a gap or damage, what follows is bound to look odd
        chain.problems.append(finding(codes.CHAIN_BROKEN, root, path, f"Manifest {seq}: {story}."))
    return None if problem else entry.sha256


def _check_head(root: Path, chain: Chain, raw: bytes | OSError, last: int, *, intact_end: bool) -> None:
    if isinstance(raw, FileNotFoundError):
        # a writer puts HEAD there before anything else: where there is more, HEAD was
        if last or any(os.path.lexists(root / folder) for folder in (CHAIN, RUNS)):
            text = f"HEAD is gone; the newest manifest left is number {last}."
            chain.problems.append(finding(codes.HEAD_MISSING, root, HEAD, text, expected="a head"))
        return
    if isinstance(raw, OSError):
        chain.problems.append(finding(codes.FILE_UNREADABLE, root, HEAD, f"HEAD cannot be read: {raw}."))
        return
    try:
        head = Head.parse(raw)
    except ValueError as error:
        chain.problems.append(finding(codes.HEAD_DAMAGED, root, HEAD, f"HEAD was changed: {error}."))
        return
    chain.stored_head = head
    if head.seq > last:
        chain.problems += _gap(root, last + 1, head.seq)
    elif head.seq < last - 1:
        text = f"HEAD names manifest {head.seq}, and the newest is {last}."
        chain.problems.append(finding(codes.HEAD_MISMATCH, root, HEAD, text, found=str(head.seq), expected=str(last)))
    else:
        hashes = {0: FIRST_PREV} | {entry.seq: entry.sha256 for entry in chain.entries[-2:]}
        expected = hashes.get(head.seq)
        # where the named manifest is itself damaged or gone, that is said already
        if head.sha256 != expected and (expected is not None or intact_end):
            text = f"HEAD names another hash than manifest {head.seq} has."
            chain.problems.append(
                finding(codes.HEAD_MISMATCH, root, HEAD, text, found=head.sha256, expected=expected or "another hash")
            )
