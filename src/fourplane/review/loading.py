"""A workspace on disk becomes a case: files, catalogue and evidence, the last only where it is whole."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from fourplane.base.clock import utc_now
from fourplane.planes.model import Case
from fourplane.records.index import ObservationIndex

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
    from fourplane.base.findings import Level
    from fourplane.catalog.facts import load_catalog
    from fourplane.evidence.store import RunStore
    from fourplane.spec.loader import load_workspace

    workspace = load_workspace(root)
    evidence = root / EVIDENCE_FOLDER
    observations: ObservationIndex = ObservationIndex()
    damage = ()
    if evidence.exists():
        with RunStore.open(evidence) as store:
            damage = tuple(finding for finding in store.verify() if finding.level is Level.ERROR)
            observations = ObservationIndex(store.observations())
    return Case(workspace, observations, load_catalog(), now or utc_now(), damage)
