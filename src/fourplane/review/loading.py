"""A workspace on disk becomes a case: files, catalogue and evidence, the last only where it is whole."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from fourplane.base.clock import utc_now
from fourplane.base.findings import Finding, Level
from fourplane.planes.model import Case
from fourplane.records.index import ObservationIndex
from fourplane.records.observation import Observation

__all__ = ["EVIDENCE_FOLDER", "load_case"]

EVIDENCE_FOLDER = "evidence"
"""Name of the folder below the workspace that holds the run store."""


def load_case(root: Path, now: datetime | None = None) -> Case:
    """Load declaration, quotes and evidence.

    Errors *inside* the files are findings of the workspace, and the review goes on with what could be read. A store
    whose hashes or chain don't hold is named in ``Case.damage``; the review then judges on none of it.

    Args:
        root: folder that holds ``fourplane.yaml``.
        now: moment of judgement; the present by default.

    Raises:
        UsageError: there is no declaration to read.
        StoreError: the evidence folder can't be read at all.
    """
    from fourplane.catalog.facts import load_catalog
    from fourplane.spec.loader import load_workspace

    moment = now or utc_now()
    workspace = load_workspace(root, today=moment.date())
    observations, damage = _evidence(root / EVIDENCE_FOLDER)
    return Case(workspace, ObservationIndex(observations), load_catalog(root), moment, damage)


def _evidence(folder: Path) -> tuple[list[Observation], tuple[Finding, ...]]:
    """Return what was observed, or what is wrong with the store; never both."""
    from fourplane.evidence.store import RunStore
    from fourplane.evidence.verify import verify_folder

    if not folder.exists() or (folder.is_dir() and next(folder.iterdir(), None) is None):
        return [], ()
    damage = tuple(finding for finding in verify_folder(folder) if finding.level is Level.ERROR)
    if damage:
        return [], damage
    with RunStore.open(folder) as store:
        return store.observations(), ()
