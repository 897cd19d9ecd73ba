from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fourplane.base.clock import utc_now
from fourplane.base.errors import FourplaneError
from fourplane.cli.main import cli
from fourplane.evidence.store import RunStore
from fourplane.records.observation import Observation, RawRef, State

RUNS = ("20261201T043920Z-one", "20261202T043920Z-two")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    with RunStore.open(tmp_path / "evidence", write=True) as store:
        for number, run in enumerate(RUNS):
            store.begin(run, {"steps": ["inventory@n1"]})
            store.record(run, "inventory@n1", _observations(number), {"lscpu": "text"})
            if number == 0:
                store.end(run, {})
    return tmp_path


def _observations(number: int) -> list[Observation]:
    def seen(metric: str, value: Any, unit: str = "", subject: str = "node:n1") -> Observation:
        return Observation(subject, metric, value, unit, "probe/1", utc_now(), raw=RawRef("lscpu", "", 1))

    return [
        seen("compute.kernel.version", ("5.15", "6.1")[number]),
        seen("compute.memory.total", 8 * 2**30, "B"),
        seen("compute.cpu.model", "a name of a CPU that is far too long for one line of a terminal, \x1b[31mand red"),
        seen("network.allreduce.busbw_peak", (2.0, 1.5)[number], "GB/s", "cluster"),
        seen("network.allreduce.curve", [{"bytes": 8 << n, "time_us": 1.5} for n in range(20)], "", "cluster"),
        Observation("node:n1", "compute.gpu.count", None, "", "p", utc_now(), State.ABSENT, "nvidia-smi: not found"),
    ]


def call(workspace: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["evidence", *words, "-C", str(workspace)], standalone_mode=False)


def out(result: Result) -> str:
    assert result.exception is None, result.exception
    assert all(len(line) <= 80 for line in result.stdout.splitlines()), result.stdout
    assert "\x1b" not in result.stdout
    return result.stdout


def json_of(result: Result) -> Any:
    assert result.exception is None, result.exception
    return json.loads(result.stdout)


def test_list_names_every_run_with_its_state(workspace: Path) -> None:
    lines = out(call(workspace, "list")).splitlines()
    assert lines[0] == RUNS[0] and "  finished" in lines[1] and "1 step, 6 observations" in lines[1]
    assert lines[2] == RUNS[1] and "  unfinished" in lines[3]
    runs = json_of(call(workspace, "list", "--json"))["runs"]
    assert [(run["id"], run["observations"], run["ended"] is None) for run in runs] == [
        (RUNS[0], 6, False),
        (RUNS[1], 6, True),
    ]


def test_show_prints_values_with_units_and_reasons(workspace: Path) -> None:
    text = out(call(workspace, "show", RUNS[0]))
    assert "compute.memory.total                   8.00 GiB" in text
    assert "network.allreduce.busbw_peak           2 GB/s" in text
    assert "absent: nvidia-smi: not found" in text
    assert text.index("\ncluster\n") < text.index("\nnode:n1\n")
    latest = out(call(workspace, "show", "latest", "--metric", "compute.kernel.*"))
    assert RUNS[1] in latest and "6.1" in latest and "memory" not in latest


def test_show_json_is_what_was_stored(workspace: Path) -> None:
    data = json_of(call(workspace, "show", "20261202", "--json", "--metric", "compute.cpu.*"))
    assert data["run"]["id"] == RUNS[1] and data["run"]["steps"] == ["inventory@n1"]
    (one,) = data["observations"]
    with RunStore.open(workspace / "evidence") as store:
        (stored,) = [o for o in store.observations(RUNS[1]) if o.metric == "compute.cpu.model"]
    assert one == stored.to_json()


@pytest.mark.parametrize("word", ["2026", "zzz", "", "20261201T043920Z-on3"])
def test_a_run_that_is_not_one_is_a_usage_error(workspace: Path, word: str) -> None:
    stop = call(workspace, "show", word).exception
    assert isinstance(stop, FourplaneError) and stop.code == "evidence-run-unknown" and stop.fix
    if word.endswith("on3"):
        assert f"Did you mean {RUNS[0]}?" in stop.fix


def test_diff_puts_drift_first_and_tells_it_by_exit_status_when_asked(workspace: Path) -> None:
    result = call(workspace, "diff", RUNS[0], "latest")
    text = out(result)
    assert text.index("compute.kernel.version  changed") < text.index("network.allreduce.busbw_peak  -25.0%")
    assert "    a  5.15\n    b  6.1" in text and result.return_value == 0
    assert call(workspace, "diff", RUNS[0], "latest", "--exit-code").return_value == 1
    assert call(workspace, "diff", "latest", "latest", "--exit-code").return_value == 0
    data = json_of(call(workspace, "diff", RUNS[0], RUNS[1], "--json"))
    assert (data["a"], data["b"], data["drift"]) == (RUNS[0], RUNS[1], True)
    assert [(d["metric"], d["kind"], d["relative"]) for d in data["differences"]] == [
        ("compute.kernel.version", "fact", None),
        ("network.allreduce.busbw_peak", "figure", -0.25),
    ]


def test_verify_prints_the_head_and_takes_it_back(workspace: Path) -> None:
    with RunStore.open(workspace / "evidence") as store:
        seq, head = store.head
    result = call(workspace, "verify")
    assert f"intact: {seq} manifests" in out(result) and head in result.stdout and result.return_value == 0
    data = json_of(call(workspace, "verify", "--head", head, "--json"))
    assert data == {"intact": True, "head": {"seq": seq, "sha256": head}, "findings": []}
    other = call(workspace, "verify", "--head", "0" * 63 + "1", "--json")
    assert other.return_value == 1
    assert [f["code"] for f in json_of(other)["findings"]] == ["evidence-head-unknown"]


def test_verify_names_the_changed_file_and_exits_with_1(workspace: Path) -> None:
    path = workspace / "evidence/runs" / RUNS[1] / "raw/inventory@n1/lscpu.txt"
    path.write_text("texT")
    result = call(workspace, "verify", "--json")
    assert result.return_value == 1
    data = json_of(result)
    (finding,) = data["findings"]
    assert data["intact"] is False
    assert (finding["code"], finding["level"], finding["file"]) == ("evidence-file-changed", "error", str(path))
    assert finding["fix"] and finding["found"] != finding["expected"]
    plain = call(workspace, "verify")
    assert plain.return_value == 1 and str(path) in plain.stdout and "intact" not in plain.stdout


def test_an_interrupted_write_is_told_and_is_no_damage(workspace: Path) -> None:
    (workspace / "evidence/tmp/.HEAD.1.tmp").write_text("{")
    result = call(workspace, "verify", "--json")
    assert result.return_value == 0
    assert [(f["code"], f["level"]) for f in json_of(result)["findings"]] == [("evidence-leftover", "info")]


def test_exit_statuses_of_the_program(workspace: Path, tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "fourplane.cli.main", "evidence", *words]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)

    absent = run("verify", "--json", "-C", str(tmp_path / "nowhere"))
    assert absent.returncode == 2 and json.loads(absent.stdout)["error"]["code"] == "evidence-absent"
    assert run("verify", "-C", str(workspace)).returncode == 0
    (workspace / "evidence/HEAD").unlink()
    damaged = run("verify", "-C", str(workspace))
    assert damaged.returncode == 1 and "evidence-head-missing" in damaged.stdout
    reading = run("show", "latest", "--json", "-C", str(workspace))
    assert reading.returncode == 2 and json.loads(reading.stdout)["error"]["code"] == "evidence-damaged"
