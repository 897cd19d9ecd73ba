"""The run store: append-only, one writer, committed manifest by manifest, whole after a kill at any point.

Order of each commit: raw texts, the record that cites them, the manifest, HEAD. The rename of the manifest is the
moment of truth: before it nothing happened, after it the record is there; HEAD catches up when the next writer opens.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fourplane import __version__
from fourplane.base.clock import format_utc, utc_now
from fourplane.base.codes import Code
from fourplane.base.errors import StoreError, UsageError
from fourplane.base.files import fsync_directory, make_directories, sha256_hex, write_atomic
from fourplane.base.findings import Finding
from fourplane.evidence import codes
from fourplane.evidence.chain import Chain, RunChain, load_chain
from fourplane.evidence.folder import list_folder
from fourplane.evidence.layout import CHAIN, HEAD, RUNS, TMP, end_path, entry_path, run_path
from fourplane.evidence.leftovers import sort_out
from fourplane.evidence.lock import take_lock
from fourplane.evidence.manifest import Entry, FileEntry, Head, canonical
from fourplane.evidence.preparing import bounded, clean_object, prepare_step
from fourplane.evidence.reading import read_raw, read_run, step_observations
from fourplane.evidence.runs import RunInfo
from fourplane.evidence.verify import verify_folder
from fourplane.records.observation import Observation, RawRef

__all__ = ["RESERVED_RUN", "RunStore"]

RESERVED_RUN = "latest"
"""Stands for the newest run on the command line, so no run is called that."""


class RunStore:
    """Observations and raw texts of all runs of one workspace.

    Use it as a context manager. A reader sees the store as it was when opened and needs no lock; a writer holds the
    lock until it is closed. Not for use by several threads at once.
    """

    def __init__(self, root: Path, chain: Chain, lock: int | None) -> None:
        self._root = root
        self._chain = chain
        self._lock = lock
        self._unsettled = False
        self._keys: dict[str, set[tuple[str, str, str]]] = {}

    # opening and closing

    @classmethod
    def open(cls, root: Path, *, write: bool = False) -> Self:
        """Open the store in the folder ``root``; a writer creates it and clears away an interrupted write.

        Raises:
            UsageError: nothing was ever recorded here, and the store is opened for reading.
            StoreError: another writer is at work, the store is damaged (a damaged one takes no records),
                or the file system refuses.
        """
        if not write:
            chain = load_chain(root)
            if chain.blank:
                raise UsageError(codes.ABSENT.code, f"there is no evidence in {root}", codes.ABSENT.fix)
            return cls(root, chain, None)
        try:
            for folder in (root, root / TMP):
                make_directories(folder)
            store = cls(root, Chain(), take_lock(root))
        except OSError as error:
            raise _write_failed(root, error) from error
        try:
            store._settle()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Give the lock back; closing twice is allowed."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def head(self) -> tuple[int, str]:
        """Return number and hash of the newest manifest; written down, the hash is an anchor for ``verify``."""
        return (self._chain.head.seq, self._chain.head.sha256)

    # writing

    def begin(self, run_id: str, plan: Mapping[str, Any]) -> None:
        """Begin a run and record what is planned; secrets in the plan are redacted.

        Raises:
            StoreError: the run exists, the name or the plan cannot be stored, or the write failed.
        """
        self._writable()
        if run_id in self._chain.runs:
            raise _stop(codes.RUN_EXISTS, f"run {run_id} is on file already")
        if run_id == RESERVED_RUN:
            raise _stop(codes.NAME_REFUSED, f"{RESERVED_RUN!r} stands for the newest run and cannot name one")
        record = {
            "id": run_id,
            "started": format_utc(utc_now()),
            "tool": f"fourplane {__version__}",
            "host": socket.gethostname(),
            "plan": clean_object(plan, "plan"),
        }
        self._commit("begin", run_id, "", [(run_path(run_id), bounded(canonical(record), "the plan"))])

    def record(
        self,
        run_id: str,
        step_id: str,
        observations: Sequence[Observation],
        raws: Mapping[str, str | bytes],
        note: Mapping[str, Any] | None = None,
    ) -> list[Observation]:
        """Record one finished step as a whole.

        Args:
            run_id: a run that has begun and not ended.
            step_id: a step that is not recorded yet.
            observations: what was seen; ``raw`` names a raw text of this step as ``RawRef(NAME, "", LINE)``.
            raws: raw texts by name; secrets are redacted, line numbers stay.
            note: further JSON about the step: parameters, duration.

        Returns:
            the observations as stored: redacted, with run and references filled.

        Raises:
            StoreError: something cannot be stored (nothing of the step is then), or the write failed.
        """
        run = self._open_run(run_id)
        if step_id in run.steps:
            raise _stop(codes.STEP_RECORDED, f"step {step_id} of run {run_id} is recorded already")
        ready = prepare_step(run_id, step_id, observations, raws, note, utc_now(), self._chain.files)
        keys = set(self._keys_of(run_id))
        for one in ready.observations:
            if one.key in keys:
                text = f"run {run_id} would hold {one.subject} {one.metric} by {one.method} twice"
                raise _stop(codes.OBSERVATION_TWICE, text)
            keys.add(one.key)
        self._commit("step", run_id, step_id, ready.files)
        self._keys[run_id] = keys
        return ready.observations

    def end(self, run_id: str, summary: Mapping[str, Any]) -> None:
        """End a run; it takes no more records.

        Raises:
            StoreError: the run has not begun or has ended, or the write failed.
        """
        self._open_run(run_id)
        record = {"id": run_id, "ended": format_utc(utc_now()), "summary": clean_object(summary, "summary")}
        self._commit("end", run_id, "", [(end_path(run_id), bounded(canonical(record), "the summary"))])

    # reading

    def runs(self) -> list[RunInfo]:
        """Return all runs, oldest first.

        Raises:
            StoreError: the store is damaged.
        """
        self._sound()
        return [read_run(self._root, self._chain, run) for run in self._chain.runs.values()]

    def unfinished(self) -> RunInfo | None:
        """Return the newest run that has not ended, None if there is none.

        Raises:
            StoreError: the store is damaged.
        """
        self._sound()
        waiting = [run for run in self._chain.runs.values() if run.end is None]
        return read_run(self._root, self._chain, waiting[-1]) if waiting else None

    def finished_steps(self, run_id: str) -> list[str]:
        """Return the steps of a run that are recorded, in order.

        Raises:
            StoreError: the run is unknown or the store is damaged.
        """
        self._sound()
        return list(self._run(run_id).steps)

    def observations(self, run_id: str | None = None) -> list[Observation]:
        """Return the observations of a run, or of all runs, oldest first.

        Raises:
            StoreError: the run is unknown or the store is damaged; the message names the file.
        """
        self._sound()
        runs = self._chain.runs.values() if run_id is None else [self._run(run_id)]
        steps = sorted((entry.seq, run.id, step) for run in runs for step, entry in run.steps.items())
        return [one for _, run, step in steps for one in step_observations(self._root, self._chain, run, step)]

    def raw_text(self, ref: RawRef) -> str:
        """Return the raw text that an observation cites.

        Raises:
            StoreError: it is not on file, or damaged.
        """
        self._sound()
        return read_raw(self._root, self._chain, ref)

    def verify(self, *, head: str | None = None) -> list[Finding]:
        """Compare everything in the folder with the manifests; an empty list means intact.

        Args:
            head: a head hash written down earlier; it must be in the chain.

        Returns:
            errors for damage, and infos for the traces of an interrupted write, which is none.

        Raises:
            UsageError: ``head`` is not a SHA-256.
        """
        return verify_folder(self._root, head=head)

    # inside

    def _sound(self) -> None:
        if self._chain.problems:
            first = self._chain.problems[0]
            raise StoreError(codes.DAMAGED.code, f"{first.file}: {first.message}", codes.DAMAGED.fix)

    def _run(self, run_id: str) -> RunChain:
        run = self._chain.runs.get(run_id)
        if run is None:
            raise _stop(codes.RUN_UNKNOWN, f"no run {run_id} is on file")
        return run

    def _open_run(self, run_id: str) -> RunChain:
        self._writable()
        run = self._run(run_id)
        if run.end is not None:
            raise _stop(codes.RUN_STATE, f"run {run_id} has ended")
        return run

    def _writable(self) -> None:
        if self._lock is None:
            raise _stop(codes.READ_ONLY, f"{self._root} is open for reading only")
        if self._unsettled:
            self._settle()

    def _keys_of(self, run_id: str) -> set[tuple[str, str, str]]:
        if run_id not in self._keys:
            self._keys[run_id] = {one.key for one in self.observations(run_id)}
        return self._keys[run_id]

    def _settle(self) -> None:
        """Read the chain and clear away what an interrupted write left: the first act of every writer."""
        listing = list_folder(self._root)
        self._chain = load_chain(self._root)
        self._keys.clear()
        self._sound()
        if listing.odd:
            raise _stop(codes.NOT_A_FILE, f"{self._root / listing.odd[0]} is a link or special file")
        rest = sort_out(self._chain, listing)
        try:
            for path in (*rest.temporary, *rest.files):
                (self._root / path).unlink(missing_ok=True)
            for folder in reversed(rest.folders):
                _remove_empty(self._root / folder)
            # the removal is durable before anything new is written: else two interrupted writes could show at once
            for parent in sorted({(self._root / path).parent for path in (*rest.files, *rest.folders)}):
                if parent.is_dir():
                    fsync_directory(parent)
            if self._chain.behind:
                self._write(HEAD, self._chain.head.to_bytes())
            for folder in (CHAIN, RUNS):
                make_directories(self._root / folder)
        except OSError as error:
            raise _write_failed(self._root, error) from error
        self._unsettled = False

    def _commit(self, kind: str, run: str, step: str, files: list[tuple[str, bytes]]) -> None:
        for path, _ in files:
            if os.path.lexists(self._root / path):
                raise _stop(codes.FILE_EXTRA, f"{self._root / path} lies in the way and is not on file")
        # until HEAD is written the folder and this object may differ; then the next write looks at the folder first
        self._unsettled = True
        try:
            for path, data in files:
                make_directories((self._root / path).parent)
                self._write(path, data)
            named = tuple(FileEntry(path, sha256_hex(data), len(data)) for path, data in files)
            newest = self._chain.head
            entry = Entry.sealed(newest.seq + 1, kind, run, step, named, utc_now(), newest.sha256)
            self._write(entry_path(entry.seq), entry.to_bytes())
            self._write(HEAD, Head(entry.seq, entry.sha256).to_bytes())
        except OSError as error:
            raise _write_failed(self._root, error) from error
        problem = self._chain.append(entry)
        assert not problem, problem
        self._unsettled = False

    def _write(self, path: str, data: bytes) -> None:
        write_atomic(self._root / path, data, scratch=self._root / TMP)


def _stop(code: Code, message: str) -> StoreError:
    return StoreError(code.code, message, code.fix)


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:  # something foreign lies in it; verify names that
            raise


def _write_failed(root: Path, error: OSError) -> StoreError:
    where = error.filename or root
    return _stop(codes.WRITE_FAILED, f"{where}: {error.strerror or error}")
