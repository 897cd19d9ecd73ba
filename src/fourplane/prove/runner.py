"""Run a plan step by step into the evidence store; a step is finished once it is recorded, never before."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from fourplane.base.clock import utc_now
from fourplane.base.errors import UsageError
from fourplane.base.findings import Finding, Level
from fourplane.base.text import shorten
from fourplane.engines.base import Engine, Result, Task
from fourplane.evidence.store import RunStore
from fourplane.formats.probe_lines import ProbeOutput, parse_line, read
from fourplane.prove import codes as _codes
from fourplane.prove.derive import derive
from fourplane.prove.plan import Plan, Step
from fourplane.records.metrics import metric
from fourplane.records.observation import Observation, State

__all__ = ["Listener", "Outcome", "new_run_id", "resumable", "run_plan"]


class Listener(Protocol):
    """What a face may hear while a run goes on; every method may do nothing."""

    def step_started(self, step: Step, number: int, total: int) -> None:
        """Tell that a step begins."""

    def step_progress(self, step: Step, done: float, text: str) -> None:
        """Tell how far a step is, from 0 to 1."""

    def step_finished(self, step: Step, seconds: float, findings: Sequence[Finding]) -> None:
        """Tell that a step was recorded."""

    def step_kept(self, step: Step) -> None:
        """Tell that a step was finished by an earlier start of this run."""


@dataclass(slots=True)
class Outcome:
    """What a run ended with: its id and what went wrong on the way."""

    run_id: str
    findings: list[Finding] = field(default_factory=list)


def new_run_id() -> str:
    """Return a run id that sorts by time: ``20261201t044000z-3f2a9c``."""
    return f"{utc_now():%Y%m%dt%H%M%Sz}-{secrets.token_hex(3)}"


def resumable(store: RunStore, version: str) -> tuple[str, Plan] | None:
    """Return the unfinished run and its plan, or None when every run is finished.

    Raises:
        UsageError: another version of Fourplane planned it.
    """
    info = store.unfinished()
    if info is None:
        return None
    plan = Plan.from_json(info.plan)
    if plan.version != version:
        raise UsageError(
            "prove-plan-changed",
            f"run {info.id} was planned by Fourplane {plan.version}, this is {version}",
            "start a new run without --resume",
        )
    return info.id, plan


def run_plan(plan: Plan, engine: Engine, store: RunStore, run_id: str, listener: Listener) -> Outcome:
    """Run every step of ``plan`` that ``run_id`` has not finished yet, and close the run.

    Each step is committed as a whole: killed in between, it is as if the step had never begun.
    """
    outcome = Outcome(run_id)
    kept = set(store.finished_steps(run_id))
    nodes = engine.nodes()
    for number, step in enumerate(plan.steps, start=1):
        if step.id in kept:
            listener.step_kept(step)
            continue
        listener.step_started(step, number, len(plan.steps))
        observations: list[Observation] = []
        raws: dict[str, str] = {}
        findings: list[Finding] = []
        seconds = 0.0
        for result in engine.run(_task(step), nodes, on_line=_progress(step, listener)):
            seconds = max(seconds, result.duration_s)
            _collect(step, result, observations, raws, findings)
        store.record(run_id, step.id, observations, raws, note={"seconds": round(seconds, 3)})
        outcome.findings += findings
        listener.step_finished(step, seconds, findings)
    store.end(run_id, {"findings": [finding.to_json() for finding in outcome.findings]})
    return outcome


def _task(step: Step) -> Task:
    probe = Path(str(files("fourplane.probes"))) / step.probe
    args = (*step.args, "--watch-stdin", "--deadline", f"{step.deadline_s:.0f}")
    # the engine's own deadline comes after the probe's, so that a slow probe can still report what it has
    return Task(probe=probe, args=args, ranks=step.ranks, deadline_s=step.deadline_s + 15)


def _progress(step: Step, listener: Listener) -> Callable[[str, str], None]:
    def on_line(_node: str, text: str) -> None:
        line = parse_line(text) if '"progress"' in text else None
        if line is not None and line.kind == "progress":
            done = line.fields.get("done")
            if isinstance(done, int | float) and not isinstance(done, bool):
                listener.step_progress(step, min(1.0, max(0.0, float(done))), shorten(str(line.fields.get("text")), 60))

    return on_line


def _collect(
    step: Step, result: Result, observations: list[Observation], raws: dict[str, str], findings: list[Finding]
) -> None:
    """Turn one node's result into observations, raw texts and findings; gaps become failed observations."""
    output = read(result.lines)
    stream, prefix = f"{step.id}.jsonl", f"{result.node}/"
    derived = derive(result.node, output, stream)
    raws[f"{prefix}{stream}"] = "\n".join(result.lines)
    if result.stderr.strip():
        raws[f"{prefix}{step.id}.stderr.txt"] = result.stderr
    raws.update({f"{prefix}{name}": text for name, text in output.raws.items()})
    observations += derived.observations
    findings += derived.findings
    reason = _why_broken(result, output)
    if reason:
        code = "probe-timeout" if result.timed_out else "probe-failed"
        findings.append(_finding(code, step, result.node, reason))
    said = {observation.metric for observation in derived.observations}
    for name in step.metrics:
        if name in said:
            continue
        if not reason:
            findings.append(_finding("probe-silent", step, result.node, f"nothing was said about {name}"))
        observations.append(
            Observation(
                subject=f"node:{result.node}",
                metric=name,
                value=None,
                unit=metric(name).unit,
                method=f"{step.probe} via {step.id}",
                at=utc_now(),
                state=State.FAILED,
                reason=reason or "the probe said nothing about it",
            )
        )


def _why_broken(result: Result, output: ProbeOutput) -> str:
    if result.error:
        return result.error
    if result.timed_out:
        return f"no end within {result.duration_s:.0f} s; stopped"
    if result.returncode != 0:
        tail = shorten(result.stderr.strip().splitlines()[-1], 200) if result.stderr.strip() else "no message"
        return f"the probe ended with status {result.returncode}: {tail}"
    return "" if output.complete else "the probe's output was cut before its end line"


def _finding(code: str, step: Step, node: str, reason: str) -> Finding:
    known: Any = _codes.find(code)
    return Finding(
        code=code,
        level=Level.WARNING,
        message=f"{step.id} on {node}: {reason}",
        path=f"node:{node}",
        found=reason,
        expected="a finished probe with a line for each of its metrics",
        fix=known.fix,
        plane=step.plane,
    )
