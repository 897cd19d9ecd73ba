"""The program as a shell sees it: exit statuses, closed pipes, odd locales, breakage."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOURPLANE = Path(sys.executable).with_name("fourplane")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / "laptop", tmp_path / "w"))


def _call(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FOURPLANE, *arguments], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_a_reader_that_goes_away_is_neither_a_verdict_nor_a_traceback(workspace: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [FOURPLANE, "review", "-C", workspace],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == ""


def test_a_full_disk_is_a_tool_error_not_a_rejection(workspace: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [FOURPLANE, "review", "-C", workspace],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_locale_without_the_character_ends_no_verb(workspace: Path) -> None:
    (workspace / "fourplane.yaml").write_text("name: ünïcode\nbrïef: 1\n", encoding="utf-8")
    done = _call("check", workspace, "--json", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 1
    assert "spec-unknown-key" in done.stdout


def test_what_breaks_inside_is_status_2_in_one_line_and_a_traceback_on_demand(workspace: Path, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import fourplane.cli.verbs.review as verb\n"
        "def boom(*a, **k):\n    raise ZeroDivisionError('odd')\n"
        "verb.command.callback = boom\n"
    )
    done = _call("review", "-C", workspace, PYTHONPATH=str(broken))
    assert done.returncode == 2
    assert "fourplane: internal: ZeroDivisionError: odd" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in _call("review", "-C", workspace, PYTHONPATH=str(broken), FOURPLANE_DEBUG="1").stderr


@pytest.mark.parametrize("budget", ["nan", "inf", "0", "-3", "1e9"])
def test_a_budget_that_is_no_budget_is_a_usage_error(workspace: Path, budget: str) -> None:
    done = _call("prove", "-C", workspace, "--budget", budget, "--dry-run")
    assert done.returncode == 2
    assert "prove-budget-out-of-range" in done.stderr


def test_an_unknown_verb_is_met_with_the_likely_one() -> None:
    done = _call("reveiw")
    assert done.returncode == 2
    assert "Did you mean 'review'?" in done.stderr
