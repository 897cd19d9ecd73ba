"""Small storage runs for the tests: through the engine, or inside this process on a chosen part."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import ModuleType

import pytest

import fourplane.probes
from fourplane.engines.base import Task
from fourplane.engines.local import LocalEngine
from fourplane.formats.probe_lines import ProbeObservation, ProbeOutput, read
from fourplane.probes.parts.content import BLOCK
from fourplane.probes.parts.frame import Guard, Output
from fourplane.probes.parts.run import Run
from fourplane.probes.parts.scratch import Scratch

PROBE = Path(fourplane.probes.__file__).parent / "storage.py"
SMALL = 16 * BLOCK


def through_engine(part: str, scratch: Path, *args: str) -> tuple[ProbeOutput, int | None]:
    """Run one part as ``prove`` does."""
    engine = LocalEngine()
    options = ("--part", part, "--scratch", str(scratch), "--budget", "0.2", "--max-bytes", str(SMALL), *args)
    (result,) = engine.run(Task(PROBE, (*options, "--watch-stdin"), deadline_s=60), engine.nodes())
    output = read(result.lines)
    assert output.refusals == [], result.stderr
    return output, result.returncode


def make_run(part: ModuleType, scratch: Path, **options: object) -> Run:
    """Return the run of one part inside this process; the caller closes ``run.scratch``."""
    values = {"source": "", "budget": 0.3, "max_bytes": SMALL, "fio": "never", **options}
    run = Run(Output("storage", 1), Guard(), Scratch(str(scratch)), argparse.Namespace(**values))
    run.plan.update({metric: (unit, "storage/1") for metric, unit in part.METRICS.items()})
    return run


def said(capsys: pytest.CaptureFixture[str]) -> dict[str, ProbeObservation]:
    """Return what was written so far, by metric; each metric once."""
    output = read(capsys.readouterr().out.splitlines())
    assert output.refusals == []
    found = {one.metric: one for one in output.observations}
    assert len(found) == len(output.observations)
    return found
