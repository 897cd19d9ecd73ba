"""Declarations for the diagram: the whole example, and one with two schedulers and many holes."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from fourplane.spec.declaration import Declaration
from fourplane.spec.loader import load_workspace
from fourplane.spec.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent


def complete() -> dict[str, Any]:
    """Return the example on rented nodes as a document; nothing is missing in it."""
    return _document(ROOT / "examples/rented-h100")


def mixed() -> dict[str, Any]:
    """Return a declaration of Slurm beside Kubernetes in which much is missing."""
    return _document(HERE / "mixed.yaml")


def _document(path: Path) -> dict[str, Any]:
    loaded = load_workspace(path)
    assert not [one for one in loaded.findings if one.file.endswith(loaded.file)]
    return loaded.declaration.model_dump(mode="json", exclude_none=True)


def workspace(document: dict[str, Any]) -> Workspace:
    """Return a workspace that declares the document; the places are those of the example and don't matter here."""
    return replace(_example(), declaration=Declaration.model_validate(document), file="fourplane.yaml", findings=())


@lru_cache
def _example() -> Workspace:
    return load_workspace(ROOT / "examples/rented-h100")


def steps(path: str) -> list[str | int]:
    return [int(word) if word.isdigit() else word for word in re.findall(r"[^.\[\]]+", path)]


def without(document: dict[str, Any], *paths: str) -> dict[str, Any]:
    """Return a copy that lacks what stands at the paths."""
    out = copy.deepcopy(document)
    for path in paths:
        *parents, last = steps(path)
        at: Any = out
        for key in parents:
            at = at[key]
        del at[last]
    return out


def kubernetes(document: dict[str, Any]) -> dict[str, Any]:
    """Return the same cluster under Kubernetes."""
    out = copy.deepcopy(document)
    del out["control"]["slurm"]
    out["control"]["kubernetes"] = {
        "version": "1.36", "distribution": "RKE2", "queueing": "kueue", "gpu_stack": "gpu-operator",
    }  # fmt: skip
    for queue in out["control"]["queues"]:
        queue["scheduler"] = "kubernetes"
    return out
