"""What a newcomer runs first, from a clone of the committed tree, as a plain user would."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.lab

FOURPLANE = Path(sys.executable).with_name("fourplane")


def test_help_is_printed_and_its_time_is_shown() -> None:
    times = []
    for _ in range(11):
        started = time.perf_counter()
        done = subprocess.run([FOURPLANE, "--help"], capture_output=True, text=True, timeout=30, check=False)
        times.append(time.perf_counter() - started)
        assert done.returncode == 0
        assert all(len(line) <= 80 for line in done.stdout.splitlines())
    print(f"--help: median {statistics.median(times[1:]) * 1e3:.0f} ms of 10 runs (a figure to read, not a bound)")
