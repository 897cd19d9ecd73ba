"""``fourplane prove``: say what will be done, measure, review, report."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fourplane import __version__
from fourplane.base.errors import UsageError
from fourplane.base.units import format_seconds
from fourplane.cli.output import WIDTH, colour_wanted, print_json, talk

if TYPE_CHECKING:
    from fourplane.base.findings import Finding
    from fourplane.prove.plan import Plan, Step

__all__ = ["command"]

DEFAULT_BUDGET_S = 40.0
MAX_RANKS = 4
"""All-reduce ranks on one machine without GPUs: more would only measure the kernel's scheduler."""


@click.command("prove", short_help="Measure the cluster, then review and report.")
@click.option("-C", "--workspace", "root", type=click.Path(path_type=Path), default=".", help="The workspace.")
@click.option("--budget", "budget_s", type=float, default=DEFAULT_BUDGET_S, show_default=True,
              help="Seconds for all measurements together; sizes follow from it.")  # fmt: skip
@click.option("--scratch", type=click.Path(path_type=Path), default=None,
              help="Folder on the storage to be proven; the workspace by default.")  # fmt: skip
@click.option("--dataset", default="", metavar="DIR|URL", help="Stage from here instead of a synthetic dataset.")
@click.option("--ranks", type=click.IntRange(2, 1024), default=None, help="Ranks of the all-reduce.")
@click.option("--max-bytes", type=click.IntRange(1 << 20), default=None, help="Upper bound of one storage step.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and stop.")
@click.option("--resume", is_flag=True, help="Finish the interrupted run; repeats nothing that is finished.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan or the result as JSON.")
def command(
    root: Path,
    budget_s: float,
    scratch: Path | None,
    dataset: str,
    ranks: int | None,
    max_bytes: int | None,
    dry_run: bool,
    resume: bool,
    as_json: bool,
) -> int:
    """Measure this machine over the four planes, then review and report.

    Says first what it will do and how long it takes. Everything measured goes
    into the evidence store step by step; after Ctrl-C or a kill, --resume goes
    on where it stopped. The last line on stdout is the path of the report.

    Exit status: 0 accepted, 1 rejected, 2 nothing was judged, 3 unproven.
    """
    from fourplane.evidence.store import RunStore
    from fourplane.prove.plan import make_plan
    from fourplane.review.loading import load_case

    load_case(root)  # a workspace that can't be read stops here, before anything is measured
    folder = _scratch_folder(scratch or root)
    plan = make_plan(
        budget_s=budget_s,
        ranks=ranks or _default_ranks(),
        scratch=str(folder),
        version=__version__,
        dataset=_dataset(dataset),
        max_bytes=max_bytes or 0,
    )
    if dry_run:
        _announce(plan, as_json)
        return 0
    with _terminate_as_interrupt(), RunStore.open(root / "evidence", write=True) as store:
        plan = _measure(store, plan, resume, as_json)
    return _conclude(root, as_json)


def _measure(store: Any, plan: Plan, resume: bool, as_json: bool) -> Plan:
    """Run the new plan, or the rest of the interrupted one; a finished store is left as it is on --resume."""
    from fourplane.engines.local import LocalEngine
    from fourplane.prove.runner import new_run_id, resumable, run_plan

    found = resumable(store, __version__) if resume else None
    if found:
        run_id, plan = found
        talk(f"resuming run {run_id}")
    elif resume and store.runs():
        talk("nothing to resume: every run is finished; reviewing what there is")
        return plan
    else:
        if not resume and store.unfinished() is not None:
            talk(f"note: run {store.unfinished().id} was interrupted; --resume would finish it")
        run_id = new_run_id()
        store.begin(run_id, plan.to_json())
    if not as_json:
        _announce(plan, as_json=False)
    engine = LocalEngine()
    with _listener() as listener:
        try:
            outcome = run_plan(plan, engine, store, run_id, listener)
        except KeyboardInterrupt:
            engine.cancel()
            talk("interrupted; what was finished is kept: go on with 'fourplane prove --resume'")
            raise
    for finding in outcome.findings:
        talk(f"{finding.level}: {finding.code}: {finding.message}")
    seq, sha256 = store.head
    talk(f"evidence head {seq} {sha256}: written down, it lets 'evidence verify --head' find a rewritten store")
    return plan


def _conclude(root: Path, as_json: bool) -> int:
    """Review on all evidence, write the report, print the summary; return the exit status."""
    from fourplane.base.verdicts import exit_code
    from fourplane.report.write import write_report

    written = write_report(root)
    if as_json:
        print_json({**written.view.review.to_json(), "report": str(written.path)})
    else:
        click.echo(written.summary(WIDTH, colour_wanted()))
        click.echo(str(written.path))
    return int(exit_code(written.view.review.verdict))


def _announce(plan: Plan, as_json: bool) -> None:
    if as_json:
        print_json({"plan": plan.to_json(), "estimate_s": round(plan.estimate_s, 1)})
        return
    talk(f"{len(plan.steps)} steps, about {format_seconds(plan.estimate_s)}; scratch {plan.scratch}")
    for number, step in enumerate(plan.steps, start=1):
        talk(f"  {number}. {step.title:<58} {format_seconds(step.estimate_s):>8}")


def _default_ranks() -> int:
    return max(2, min(MAX_RANKS, len(os.sched_getaffinity(0))))


def _dataset(text: str) -> str:
    if not text or "://" in text:
        return text
    folder = Path(text)
    if not folder.is_dir():
        raise UsageError("prove-dataset-missing", f"{text} is not a folder", "name a folder or a URL")
    return str(folder.resolve())


def _scratch_folder(folder: Path) -> Path:
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError("prove-scratch-unusable", f"{folder} is no writable folder", "give --scratch DIR")
    return folder.resolve()


@contextmanager
def _terminate_as_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a run as Ctrl-C does: probes stopped, scratch removed, run resumable.

    The first signal counts. Later ones are ignored while the probes clean up: an impatient second Ctrl-C would leave
    their scratch behind.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(_number: int, _frame: Any) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Lines:
    """Listener for pipes and logs: one line a step, on stderr."""

    def step_started(self, step: Step, number: int, total: int) -> None:
        talk(f"[{number}/{total}] {step.title}")

    def step_progress(self, step: Step, done: float, text: str) -> None:
        pass

    def step_finished(self, step: Step, seconds: float, findings: Sequence[Finding]) -> None:
        talk(f"      done in {format_seconds(seconds)}" + (f", {len(findings)} findings" if findings else ""))

    def step_kept(self, step: Step) -> None:
        talk(f"      kept: {step.title}")


class _Bars(_Lines):
    """Listener for terminals: a bar for the running step."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._task: Any = None

    def step_started(self, step: Step, number: int, total: int) -> None:
        self._task = self._progress.add_task(f"[{number}/{total}] {step.id}", total=1.0)

    def step_progress(self, step: Step, done: float, text: str) -> None:
        self._progress.update(self._task, completed=done)

    def step_finished(self, step: Step, seconds: float, findings: Sequence[Finding]) -> None:
        self._progress.update(self._task, completed=1.0)

    def step_kept(self, step: Step) -> None:
        self._progress.add_task(f"kept  {step.id}", total=1.0, completed=1.0)


@contextmanager
def _listener() -> Iterator[_Lines]:
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=30), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield _Bars(progress)
