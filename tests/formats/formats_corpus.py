"""Where the small inputs of our own lie, and where public samples lie when the folder exists."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
_ROOT = Path(__file__).resolve().parents[2]
SAMPLES = Path(os.environ.get("FOURPLANE_SAMPLES", _ROOT.parent / "shared" / "samples")) / "acceptance"


def own(name: str) -> str:
    """Return the text of one of our own inputs, line ends untouched."""
    return (CORPUS / name).read_bytes().decode("utf-8")


def sample(name: str) -> str:
    """Return the text of a public sample, or skip the test visibly."""
    path = SAMPLES / name
    if not path.is_file():
        pytest.skip(f"public sample {name} is not here")
    return path.read_bytes().decode("utf-8", "replace")
