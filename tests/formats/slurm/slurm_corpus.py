"""Inputs of our own in Slurm's formats, and the public samples when their folder exists."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[3]
CORPUS = _ROOT / "tests" / "corpus" / "slurm"
_SAMPLES = Path(os.environ.get("FOURPLANE_SAMPLES", _ROOT.parent / "shared" / "samples"))


def own(name: str) -> str:
    """Return the text of one of our own inputs; bytes that are no UTF-8 as lone surrogates."""
    return (CORPUS / name).read_bytes().decode("utf-8", "surrogateescape")


def sample(name: str) -> str:
    """Return the text of a public sample, or skip the test visibly."""
    path = _SAMPLES / "accounting" / name
    if not path.is_file():
        pytest.skip(f"public sample {name} is not here")
    return path.read_bytes().decode("utf-8", "surrogateescape")
