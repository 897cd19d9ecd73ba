from __future__ import annotations

import io
import signal
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest
from engine_contract import STUBBORN, WORLD, EngineContract, run_one, script, until
from hypothesis import given
from hypothesis import strategies as st

import fourplane.probes
from fourplane.engines import child, folders
from fourplane.engines.base import Engine, Task
from fourplane.engines.environment import clean_environment
from fourplane.engines.leash import session_members
from fourplane.engines.local import LocalEngine, safe_node_name
from fourplane.engines.mpi import mpirun_argv
from fourplane.engines.packing import pack_probe, pieces_of

PROBES = Path(fourplane.probes.__file__).parent


@pytest.fixture
def engine() -> Engine:
    return LocalEngine()


class TestLocal(EngineContract):
    """The local engine keeps the contract."""


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("n1", "n1"),
        ("gpu-01.example.org", "gpu-01"),
        ("a_b c", "a-b-c"),
        ("--x--", "x"),
        ("", "localhost"),
        ("é", "localhost"),
    ],
)
def test_node_names_are_made_safe(given_name: str, name: str) -> None:
    assert safe_node_name(given_name) == name
    assert LocalEngine(given_name).nodes() == [name]


@given(st.text(max_size=300))
def test_any_host_name_becomes_a_safe_one(text: str) -> None:
    name = safe_node_name(text)
    assert name.isascii()
    assert 0 < len(name) <= 63
    assert name.replace("-", "a").isalnum()
    assert safe_node_name(name) == name


def test_a_missing_mpirun_is_told_with_its_mending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    lonely = tmp_path / "python"
    lonely.symlink_to(sys.executable)
    result = run_one(LocalEngine(python=str(lonely)), Task(script(tmp_path, WORLD), ranks=2))
    assert result.returncode is None
    assert "engine-mpirun-missing" in result.error
    assert "fourplane[mpi]" in result.error


def test_an_interpreter_that_is_not_there_is_a_result_not_an_exception(tmp_path: Path) -> None:
    result = run_one(LocalEngine(python=str(tmp_path / "nothing")), Task(script(tmp_path, "")))
    assert result.returncode is None
    assert "could not be started" in result.error


def test_a_probe_that_floods_stdout_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child.Limits, "__init__", _small_limits)
    result = run_one(LocalEngine(), Task(script(tmp_path, "while True: print('x' * 100)"), grace_s=0.2))
    assert "more than 10,000 bytes" in result.error
    assert sum(map(len, result.lines)) <= 10_000
    assert not result.ok


def _small_limits(self: child.Limits, deadline_s: float, grace_s: float) -> None:
    values = {
        "deadline_s": deadline_s,
        "grace_s": grace_s,
        "stdout_bytes": 10_000,
        "line_bytes": 64,
        "stderr_bytes": 64,
    }
    for name, value in values.items():
        object.__setattr__(self, name, value)


@pytest.mark.parametrize("ranks", [0, 2])
def test_probes_end_when_their_controller_is_killed(tmp_path: Path, ranks: int) -> None:
    if ranks:
        pytest.importorskip("mpi4py")
        body = WORLD + "import time\ntime.sleep(600)\n"
    else:
        body = "import os, sys\nprint(1, 0, os.getsid(0), flush=True)\nsys.stdin.read()\n"
    controller = tmp_path / "controller.py"
    controller.write_text(
        textwrap.dedent(f"""
        from pathlib import Path
        from fourplane.engines.base import Task
        from fourplane.engines.local import LocalEngine
        engine = LocalEngine()
        task = Task(Path({str(script(tmp_path, body))!r}), ranks={ranks}, grace_s=1.5)
        list(engine.run(task, engine.nodes(), on_line=lambda node, line: print(line, flush=True)))
        """)
    )
    with subprocess.Popen([sys.executable, controller], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        session = int(process.stdout.readline().split()[2])
        assert session_members(session)
        process.send_signal(signal.SIGKILL)
    assert until(lambda: not session_members(session))


def test_folders_of_killed_runs_are_removed_and_those_of_living_runs_kept(tmp_path: Path) -> None:
    dead = tmp_path / "fourplane-run-dead"
    dead.mkdir()
    (dead / "file").write_text("left")
    other = tmp_path / "something-else"
    other.mkdir()
    with folders.private_folder(tmp_path) as living:
        assert not dead.exists()
        with folders.private_folder(tmp_path) as second:
            assert living.is_dir()
            assert second != living
        assert not second.exists()
    assert not living.exists()
    assert other.is_dir()


def test_a_link_in_place_of_a_private_folder_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / "fourplane-run-link").symlink_to(precious)
    with folders.private_folder(tmp_path):
        pass
    assert precious.is_dir()


def test_ranks_yield_only_where_they_take_every_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1, 2, 3})
    assert "mpi_yield_when_idle" not in mpirun_argv("mpirun", "python", 2, ["p.py"], 1)
    assert "mpi_yield_when_idle" in mpirun_argv("mpirun", "python", 4, ["p.py"], 1)


@pytest.mark.parametrize(("uid", "wanted"), [(0, True), (1000, False)])
def test_root_is_allowed_only_for_root(monkeypatch: pytest.MonkeyPatch, uid: int, wanted: bool) -> None:
    monkeypatch.setattr("os.geteuid", lambda: uid)
    assert ("--allow-run-as-root" in mpirun_argv("mpirun", "python", 2, ["p.py"], 1)) is wanted


def test_the_task_wins_over_what_an_engine_sets() -> None:
    env = clean_environment({"LC_ALL": "C.UTF-8"}, {"HOME": "/h", "SECRET": "s", "NCCL_DEBUG": "INFO"})
    assert env["LC_ALL"] == "C.UTF-8"
    assert env["NCCL_DEBUG"] == "INFO"
    assert env["HOME"] == "/h"
    assert "SECRET" not in env
    assert env["PATH"]


def test_a_probe_of_one_file_is_sent_as_it_is(tmp_path: Path) -> None:
    probe = script(tmp_path, "print('one')")
    assert pieces_of(probe) == {}
    assert pack_probe(probe) == b"print('one')"


def test_a_packed_probe_holds_what_it_imports_and_is_the_same_each_time() -> None:
    data = pack_probe(PROBES / "storage.py")
    assert data == pack_probe(PROBES / "storage.py")
    names = set(zipfile.ZipFile(io.BytesIO(data)).namelist())
    assert {"__main__.py", "fourplane/__init__.py", "fourplane/probes/parts/checkpoint.py"} <= names
    assert not [name for name in names if "engines" in name or "base" in name]


@pytest.mark.parametrize("name", ["storage", "allreduce"])
def test_a_packed_probe_needs_nothing_but_python(tmp_path: Path, name: str) -> None:
    packed = tmp_path / f"{name}.pyz"
    packed.write_bytes(pack_probe(PROBES / f"{name}.py"))
    command = [sys.executable, "-I", "-S", packed, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert "--budget" in done.stdout


def test_a_stubborn_child_of_mpirun_is_gone_after_its_deadline(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    result = run_one(LocalEngine(), Task(script(tmp_path, STUBBORN), ranks=2, deadline_s=1.5, grace_s=1.2))
    assert result.timed_out
    assert result.lines
    assert session_members(int(result.lines[0])) == []
