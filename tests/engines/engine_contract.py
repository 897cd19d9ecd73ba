"""What every engine must do. A test module of an engine inherits this class and gives the ``engine`` fixture."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import pytest

from fourplane.base.errors import UsageError
from fourplane.engines.base import MAX_STDERR_BYTES, Engine, Result, Task
from fourplane.engines.leash import session_members

STUBBORN = """
import os, signal, subprocess, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
print(os.getsid(0), flush=True)
time.sleep(600)
"""
POLITE = """
import os, pathlib, signal, sys, time
def leave(number, frame):
    pathlib.Path(sys.argv[1]).write_text("cleaned")
    sys.exit(7)
signal.signal(signal.SIGTERM, leave)
print(os.getsid(0), flush=True)
time.sleep(600)
"""
LITTER = """
import os, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(os.getsid(0), flush=True)
"""
WORLD = """
from mpi4py import MPI
import os
folders = [value for name, value in os.environ.items() if name.startswith(("TMPDIR", "OMPI_MCA_btl_sm"))]
print(MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank, os.getsid(0), *folders, flush=True)
MPI.COMM_WORLD.Barrier()
"""


def script(folder: Path, text: str) -> Path:
    path = folder / "probe.py"
    path.write_text(text, encoding="utf-8")
    return path


def until(condition: object, seconds: float = 20.0) -> bool:
    """Wait for a condition; the limit only bounds a failing test."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


def run_one(engine: Engine, task: Task) -> Result:
    (result,) = engine.run(task, engine.nodes()[:1])
    return result


class EngineContract:
    def test_nodes_have_names_that_are_safe_everywhere(self, engine: Engine) -> None:
        assert engine.nodes()
        for name in engine.nodes():
            assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", name)

    def test_lines_arrive_in_order_and_with_their_node(self, engine: Engine, tmp_path: Path) -> None:
        probe = script(
            tmp_path, "import sys\nfor i in range(500): print(i, sys.argv[1])\nsys.stdout.write('no newline')"
        )
        heard: list[tuple[str, str]] = []
        node = engine.nodes()[0]
        (result,) = engine.run(Task(probe, ("a b;$x",)), [node], on_line=lambda *one: heard.append(one))
        assert result.lines == [*(f"{i} a b;$x" for i in range(500)), "no newline"]
        assert heard == [(node, line) for line in result.lines]
        assert result.ok
        assert result.node == node

    def test_an_unknown_node_is_refused_before_anything_starts(self, engine: Engine, tmp_path: Path) -> None:
        mark = tmp_path / "started"
        probe = script(tmp_path, f"open({str(mark)!r}, 'w')")
        with pytest.raises(UsageError) as caught:
            list(engine.run(Task(probe), [engine.nodes()[0], "no-such-node"]))
        assert caught.value.code == "engine-node-unknown"
        assert not mark.exists()

    def test_a_failing_probe_gives_its_status_and_the_end_of_stderr(self, engine: Engine, tmp_path: Path) -> None:
        probe = script(tmp_path, "import sys\nsys.stderr.write('x' * 300000 + 'the end')\nprint('said')\nsys.exit(9)")
        result = run_one(engine, Task(probe))
        assert (result.returncode, result.lines, result.ok) == (9, ["said"], False)
        assert result.stderr.endswith("the end")
        assert len(result.stderr) <= MAX_STDERR_BYTES

    def test_bytes_that_are_no_utf8_are_kept_as_replacements(self, engine: Engine, tmp_path: Path) -> None:
        probe = script(tmp_path, r"import sys; sys.stdout.buffer.write(b'\xff\xfe ok\n')")
        assert run_one(engine, Task(probe)).lines == ["\ufffd\ufffd ok"]

    def test_a_probe_that_ignores_signals_is_killed_after_its_grace(self, engine: Engine, tmp_path: Path) -> None:
        result = run_one(engine, Task(script(tmp_path, STUBBORN), deadline_s=0.7, grace_s=0.2))
        assert result.timed_out
        assert not result.ok
        assert session_members(int(result.lines[0])) == []

    def test_a_polite_probe_may_clean_within_its_grace(self, engine: Engine, tmp_path: Path) -> None:
        mark = tmp_path / "mark"
        task = Task(script(tmp_path, POLITE), (str(mark),), deadline_s=0.7, grace_s=20)
        result = run_one(engine, task)
        assert result.timed_out
        assert mark.read_text() == "cleaned"

    def test_what_a_probe_leaves_running_is_ended(self, engine: Engine, tmp_path: Path) -> None:
        result = run_one(engine, Task(script(tmp_path, LITTER)))
        assert result.returncode == 0
        assert session_members(int(result.lines[0])) == []

    def test_cancel_stops_what_runs_and_nothing_later(self, engine: Engine, tmp_path: Path) -> None:
        results: list[Result] = []
        heard = threading.Event()
        task = Task(script(tmp_path, STUBBORN), deadline_s=60, grace_s=0.2)

        def work() -> None:
            results.extend(engine.run(task, engine.nodes()[:1], on_line=lambda *_: heard.set()))

        thread = threading.Thread(target=work)
        thread.start()
        assert heard.wait(20)
        engine.cancel()
        thread.join(20)
        assert [one.cancelled for one in results] == [True]
        assert session_members(int(results[0].lines[0])) == []
        assert run_one(engine, Task(script(tmp_path, "print('on')"))).ok

    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
    def test_an_exception_in_the_caller_ends_the_probe(
        self, engine: Engine, tmp_path: Path, error: type[BaseException]
    ) -> None:
        sessions: list[int] = []

        def fail(_node: str, line: str) -> None:
            sessions.append(int(line))
            raise error

        with pytest.raises(error):
            list(engine.run(Task(script(tmp_path, STUBBORN), grace_s=0.2), engine.nodes()[:1], on_line=fail))
        assert session_members(sessions[0]) == []

    def test_no_secret_of_the_caller_travels_unless_the_task_names_it(
        self, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
        monkeypatch.setenv("SLURM_JOB_ID", "7")
        monkeypatch.setenv("PYTHONPATH", "/nowhere")
        probe = script(tmp_path, "import os\nfor name in sorted(os.environ): print(name + '=' + os.environ[name])")
        lines = run_one(engine, Task(probe, env={"GIVEN": "yes"})).lines
        names = {line.partition("=")[0] for line in lines}
        assert not names & {"AWS_SECRET_ACCESS_KEY", "SLURM_JOB_ID", "PYTHONPATH"}
        assert {"GIVEN=yes", "LC_ALL=C"} <= set(lines)

    def test_ranks_form_one_world_and_leave_nothing(
        self, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("mpi4py")
        monkeypatch.delenv("HOME", raising=False)
        result = run_one(engine, Task(script(tmp_path, WORLD), ranks=2, deadline_s=60))
        assert result.ok, result.stderr
        assert sorted(line.split()[:2] for line in result.lines) == [["2", "0"], ["2", "1"]]
        _, _, session, *folders = result.lines[0].split()
        assert session_members(int(session)) == []
        assert folders
        assert not [folder for folder in folders if Path(folder).exists()]
