"""Committed records read back, each held against the hash of its manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fourplane.base.errors import StoreError
from fourplane.base.files import sha256_hex
from fourplane.evidence import codes
from fourplane.evidence.chain import Chain, RunChain
from fourplane.evidence.folder import read_file
from fourplane.evidence.layout import end_path, run_path, step_path
from fourplane.evidence.manifest import FileEntry, parse_canonical
from fourplane.evidence.runs import RunInfo
from fourplane.records.observation import Observation, RawRef

__all__ = ["damaged", "read_committed", "read_raw", "read_run", "read_step", "step_observations"]


def damaged(root: Path, path: str, reason: str) -> StoreError:
    """Return the error of a reader that meets damage, naming the file."""
    return StoreError(codes.DAMAGED.code, f"{root / path}: {reason}", codes.DAMAGED.fix)


def read_committed(root: Path, entry: FileEntry) -> bytes:
    """Return the bytes of a committed file.

    Raises:
        StoreError: the file is gone, unreadable, or not what was committed.
    """
    try:
        data = read_file(root, entry.path)
    except FileNotFoundError as error:
        raise damaged(root, entry.path, "is gone") from error
    except OSError as error:
        raise damaged(root, entry.path, f"cannot be read: {error.strerror or error}") from error
    if len(data) != entry.bytes or sha256_hex(data) != entry.sha256:
        raise damaged(root, entry.path, "was changed since it was recorded")
    return data


def _record(root: Path, chain: Chain, path: str) -> dict[str, Any]:
    entry = chain.files.get(path)
    if entry is None:
        raise damaged(root, path, "is not in the chain")
    try:
        value = parse_canonical(read_committed(root, entry))
    except ValueError as error:
        raise damaged(root, path, f"cannot be understood: {error}") from error
    if not isinstance(value, dict):
        raise damaged(root, path, "is not a record")
    return value


def read_run(root: Path, chain: Chain, run: RunChain) -> RunInfo:
    """Return what is on file about a run.

    Raises:
        StoreError: the stored files are damaged.
    """
    path = run_path(run.id)
    record = _record(root, chain, path)
    plan, tool, host = record.get("plan"), record.get("tool"), record.get("host")
    if record.get("id") != run.id or not isinstance(plan, dict):
        raise damaged(root, path, "is not the plan of its run")
    summary: Any = {}
    if run.end is not None:
        summary = _record(root, chain, end_path(run.id)).get("summary")
        if not isinstance(summary, dict):
            raise damaged(root, end_path(run.id), "is not the summary of a run")
    return RunInfo(
        id=run.id,
        started=run.begin.at,
        ended=run.end.at if run.end else None,
        plan=plan,
        steps=tuple(run.steps),
        seq=run.begin.seq,
        tool=str(tool or ""),
        host=str(host or ""),
        summary=summary,
    )


def read_step(root: Path, chain: Chain, run: str, step: str) -> dict[str, Any]:
    """Return the record of one step as stored.

    Raises:
        StoreError: the stored file is damaged.
    """
    return _record(root, chain, step_path(run, step))


def step_observations(root: Path, chain: Chain, run: str, step: str) -> list[Observation]:
    """Return the observations of one step.

    Raises:
        StoreError: the stored file is damaged or does not hold observations of this run.
    """
    path = step_path(run, step)
    try:
        record = read_step(root, chain, run, step)
        out = [Observation.from_json(item) for item in record["observations"]]
        sound = all(_sound(chain, run, one) for one in out)
        sound = sound and all(chain.files[raw["path"]].sha256 == raw["sha256"] for raw in record["raws"])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise damaged(root, path, "holds an observation that cannot be read") from error
    if not sound:
        raise damaged(root, path, "holds an observation of another run, or a reference that leads nowhere")
    return out


def _sound(chain: Chain, run: str, one: Observation) -> bool:
    texts = (one.subject, one.metric, one.unit, one.method, one.reason, one.run)
    if not all(isinstance(text, str) for text in texts) or not isinstance(one.conditions, dict) or one.run != run:
        return False
    if one.raw is None:
        return True
    target = chain.files.get(one.raw.path)
    return target is not None and target.sha256 == one.raw.sha256 and isinstance(one.raw.line, int)


def read_raw(root: Path, chain: Chain, ref: RawRef) -> str:
    """Return the raw text that a reference cites.

    Raises:
        StoreError: no such text is on file, or it is damaged.
    """
    entry = chain.files.get(ref.path)
    if entry is None or entry.sha256 != ref.sha256:
        raise StoreError(
            codes.RAW_UNKNOWN.code,
            f"no raw text {ref.path} with hash {ref.sha256[:12]}… is on file",
            codes.RAW_UNKNOWN.fix,
        )
    return read_committed(root, entry).decode("utf-8", "replace")
