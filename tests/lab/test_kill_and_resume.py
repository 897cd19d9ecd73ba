"""A run killed with SIGKILL at random moments and resumed ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.lab

ROOT = Path(__file__).resolve().parents[2]
FOURPLANE = Path(sys.executable).with_name("fourplane")
SMALL = ["--budget", "5", "--max-bytes", str(8 << 20)]
KILLS = 10


def _prove(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FOURPLANE, "prove", "-C", workspace, *SMALL, *arguments],
        capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _identities(workspace: Path) -> Counter[tuple[str, str, str]]:
    done = subprocess.run(
        [FOURPLANE, "evidence", "show", "latest", "-C", workspace, "--json"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return Counter((o["subject"], o["metric"], o["method"]) for o in json.loads(done.stdout)["observations"])


def _workspace(parent: Path, name: str) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / "laptop", parent / name))


def _processes_in(folder: Path) -> list[str]:
    """Return command lines of live processes whose arguments name ``folder``."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(folder) in command:
                found.append(command)
    return found


def test_ten_kills_at_random_moments_leave_the_same_evidence(tmp_path: Path) -> None:
    whole = _workspace(tmp_path, "undisturbed")
    started = time.monotonic()
    assert _prove(whole).returncode == 3
    length = time.monotonic() - started
    expected = _identities(whole)
    assert set(expected.values()) == {1}

    seed = random.SystemRandom().randrange(2**32)
    moments = random.Random(seed)
    print(f"seed {seed}, undisturbed run {length:.1f} s, {len(expected)} observations")
    killed = _workspace(tmp_path, "killed")
    resume: list[str] = []
    for _ in range(KILLS):
        process = subprocess.Popen(
            [FOURPLANE, "prove", "-C", killed, *SMALL, *resume],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(timeout=moments.uniform(0.2, length / 2))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait()
        resume = ["--resume"]
    last = _prove(killed, "--resume")
    assert last.returncode == 3, last.stderr
    assert _identities(killed) == expected, f"seed {seed}"
    verified = subprocess.run(
        [FOURPLANE, "evidence", "verify", "-C", killed], capture_output=True, text=True, check=False
    )
    assert verified.returncode == 0, verified.stdout
    assert not list(killed.glob("fourplane-scratch-*")), "scratch of a killed run was left behind"


def test_interrupt_removes_scratch_and_processes(tmp_path: Path) -> None:
    workspace = _workspace(tmp_path, "interrupted")
    process = subprocess.Popen(
        [FOURPLANE, "prove", "-C", workspace, "--budget", "30"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not list(workspace.glob("fourplane-scratch-*")):
        assert time.monotonic() < deadline, "no storage step began"
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in talk
    assert not list(workspace.glob("fourplane-scratch-*"))
    assert _processes_in(workspace) == []
