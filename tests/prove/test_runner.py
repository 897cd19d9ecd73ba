"""The runner against an engine that answers from a script: what breaks must be seen, what is finished must stay."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fourplane.base.errors import UsageError
from fourplane.base.findings import Finding
from fourplane.engines.base import Engine, OnLine, Result, Task
from fourplane.evidence.store import RunStore
from fourplane.prove.plan import Plan, Step
from fourplane.prove.runner import new_run_id, resumable, run_plan
from fourplane.records.observation import State

AT = "2026-12-01T04:39:20Z"
BEGIN = {"t": "begin", "probe": "p", "version": 1, "node": "n1", "at": AT}
END = {"t": "end", "ok": True, "seconds": 1.0}


def _said(metric: str, value: Any = 1.0, unit: str = "MB/s") -> dict[str, Any]:
    return {
        "t": "observation", "subject": "", "metric": metric, "value": value, "unit": unit, "method": "m/1", "at": AT,
    }  # fmt: skip


STEPS = (
    Step("staging", "stage", "storage", "storage.py", ("a",), 0, 1.0, ("storage.staging.throughput",)),
    Step("weights", "load", "storage", "storage.py", ("b",), 0, 1.0, ("storage.weights.cold_throughput",)),
)
PLAN = Plan(STEPS, 10.0, "/scratch", "1")
GOOD = {
    "a": [BEGIN, _said("storage.staging.throughput"), END],
    "b": [BEGIN, _said("storage.weights.cold_throughput"), END],
}


@dataclass
class ScriptedEngine(Engine):
    """Answers by the first argument of a task; a KeyboardInterrupt in the script is raised."""

    script: dict[str, Any]
    returncode: int = 0
    stderr: str = ""
    timed_out: bool = False
    error: str = ""
    asked: list[str] = field(default_factory=list)

    def nodes(self) -> list[str]:
        return ["n1"]

    def run(self, task: Task, nodes: Sequence[str], on_line: OnLine | None = None) -> Iterator[Result]:
        name = task.args[0]
        self.asked.append(name)
        lines = self.script[name]
        if lines is KeyboardInterrupt:
            raise KeyboardInterrupt
        texts = [json.dumps(line) for line in lines]
        for text in texts:
            if on_line:
                on_line("n1", text)
        yield Result("n1", self.returncode, texts, self.stderr, 1.0, timed_out=self.timed_out, error=self.error)

    def cancel(self) -> None:
        pass


@dataclass
class Deaf:
    """A listener that keeps what it hears."""

    heard: list[str] = field(default_factory=list)

    def step_started(self, step: Step, number: int, total: int) -> None:
        self.heard.append(f"start {step.id}")

    def step_progress(self, step: Step, done: float, text: str) -> None:
        self.heard.append(f"{done:.2f}")

    def step_finished(self, step: Step, seconds: float, findings: Sequence[Finding]) -> None:
        self.heard.append(f"end {step.id}")

    def step_kept(self, step: Step) -> None:
        self.heard.append(f"kept {step.id}")


def _run(root: Path, engine: Engine, run_id: str = "r1", begin: bool = True) -> tuple[list[Any], list[str], list[str]]:
    listener = Deaf()
    with RunStore.open(root, write=True) as store:
        if begin:
            store.begin(run_id, PLAN.to_json())
        outcome = run_plan(PLAN, engine, store, run_id, listener)
        observations = store.observations(run_id)
    return observations, [finding.code for finding in outcome.findings], listener.heard


def test_what_probes_say_is_recorded_with_the_raw_stream(tmp_path: Path) -> None:
    observations, codes, heard = _run(tmp_path / "e", ScriptedEngine(GOOD))
    assert {(o.subject, o.metric, o.state) for o in observations} == {
        ("node:n1", "storage.staging.throughput", State.MEASURED),
        ("node:n1", "storage.weights.cold_throughput", State.MEASURED),
    }
    assert codes == []
    assert heard == ["start staging", "end staging", "start weights", "end weights"]
    stored = list((tmp_path / "e").rglob("*staging.jsonl*"))
    assert len(stored) == 1
    assert "storage.staging.throughput" in stored[0].read_text()


@pytest.mark.parametrize(
    ("engine", "code", "words"),
    [
        (ScriptedEngine({**GOOD, "a": [BEGIN]}, returncode=9, stderr="boom"), "probe-failed", "boom"),
        (ScriptedEngine({**GOOD, "a": [BEGIN]}), "probe-failed", "cut"),
        (ScriptedEngine({**GOOD, "a": [BEGIN]}, timed_out=True, returncode=-9), "probe-timeout", "no end within"),
        (ScriptedEngine({**GOOD, "a": []}, error="no mpirun"), "probe-failed", "no mpirun"),
        (ScriptedEngine({**GOOD, "a": [BEGIN, END]}), "probe-silent", "said nothing"),
    ],
)
def test_a_broken_probe_leaves_a_failed_observation_and_a_finding_never_a_gap(
    tmp_path: Path, engine: ScriptedEngine, code: str, words: str
) -> None:
    observations, codes, _ = _run(tmp_path / "e", engine)
    broken = next(o for o in observations if o.metric == "storage.staging.throughput")
    assert broken.state is State.FAILED
    assert broken.value is None
    assert words in broken.reason
    assert code in codes


def test_a_figure_that_arrived_before_the_crash_is_kept(tmp_path: Path) -> None:
    script = {**GOOD, "a": [BEGIN, _said("storage.staging.throughput", 7.0)]}
    observations, codes, _ = _run(tmp_path / "e", ScriptedEngine(script, returncode=-11))
    kept = [o for o in observations if o.metric == "storage.staging.throughput"]
    assert [o.value for o in kept] == [7.0]
    assert "probe-failed" in codes


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    root = tmp_path / "e"
    with pytest.raises(KeyboardInterrupt):
        _run(root, ScriptedEngine({**GOOD, "b": KeyboardInterrupt}))
    with RunStore.open(root) as store:
        found = resumable(store, "1")
    assert found == ("r1", PLAN)
    engine = ScriptedEngine(GOOD)
    observations, _, heard = _run(root, engine, begin=False)
    assert engine.asked == ["b"]
    assert heard[0] == "kept staging"
    assert len(observations) == 2
    with RunStore.open(root) as store:
        assert resumable(store, "1") is None
        assert store.verify() == []


def test_a_run_of_another_version_is_not_resumed(tmp_path: Path) -> None:
    root = tmp_path / "e"
    with pytest.raises(KeyboardInterrupt):
        _run(root, ScriptedEngine({**GOOD, "b": KeyboardInterrupt}))
    with RunStore.open(root) as store, pytest.raises(UsageError) as refused:
        resumable(store, "2")
    assert refused.value.code == "prove-plan-changed"


def test_progress_is_bounded_and_garbage_is_not_progress(tmp_path: Path) -> None:
    progress = [{"t": "progress", "done": done, "text": "x"} for done in (0.5, 7, -1, "0.3", True)]
    _, _, heard = _run(tmp_path / "e", ScriptedEngine({**GOOD, "a": [BEGIN, *progress, *GOOD["a"][1:]]}))
    assert heard[1:4] == ["0.50", "1.00", "0.00"]
    assert heard[4] == "end staging"


def test_run_ids_sort_by_time_and_differ() -> None:
    ids = {new_run_id() for _ in range(50)}
    assert len(ids) == 50
    assert len({name.split("-")[0][:8] for name in ids}) <= 2
