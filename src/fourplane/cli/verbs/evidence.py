"""Verb ``evidence``: what is on file, how two runs differ, and whether anything was changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fourplane.base.verdicts import ExitCode

if TYPE_CHECKING:
    from fourplane.evidence.compare import Difference
    from fourplane.evidence.runs import RunInfo
    from fourplane.evidence.store import RunStore
    from fourplane.records.observation import Observation

__all__ = ["command"]

_WIDTH = 80
_F = TypeVar("_F", bound=Callable[..., Any])


def _common(function: _F) -> _F:
    workspace = click.option(
        "-C",
        "--workspace",
        type=click.Path(path_type=Path),
        default=Path(),
        metavar="DIR",
        help="Workspace; the evidence lies in DIR/evidence. Default: the current one.",
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return workspace(as_json(function))


@click.group(name="evidence", short_help="List, show, compare and verify what was measured.")
def command() -> None:
    """List, show, compare and verify what was measured.

    Every run lies under numbered, chained manifests with hashes. RUN is a name,
    an unambiguous beginning of one, or 'latest'.
    """


@command.command("list")
@_common
def list_runs(workspace: Path, as_json: bool) -> None:
    """List the runs on file, oldest first."""
    from fourplane.base.clock import format_utc
    from fourplane.base.text import plural, printable
    from fourplane.cli.output import print_json, talk

    with _open(workspace) as store:
        runs = store.runs()
        counts = {run.id: len(store.observations(run.id)) for run in runs}
    if as_json:
        print_json({"runs": [{**run.to_json(), "observations": counts[run.id]} for run in runs]})
        return
    if not runs:
        talk("No run is on file yet; `fourplane prove` measures one.")
    for run in runs:
        state = "finished" if run.ended else "unfinished"
        click.echo(printable(run.id))
        click.echo(
            f"  {format_utc(run.started.replace(microsecond=0))}  {state:<10}  "
            f"{plural(len(run.steps), 'step')}, {plural(counts[run.id], 'observation')}"
        )


@command.command("show")
@click.argument("run")
@click.option("--metric", metavar="GLOB", help="Only metrics that match, such as 'network.*'.")
@_common
def show(run: str, metric: str | None, workspace: Path, as_json: bool) -> None:
    """Show the observations of one run."""
    from fnmatch import fnmatchcase

    from fourplane.cli.output import print_json

    with _open(workspace) as store:
        info = _find(store, run)
        observations = store.observations(info.id)
    if metric is not None:
        observations = [one for one in observations if fnmatchcase(one.metric, metric)]
    if as_json:
        print_json({"run": info.to_json(), "observations": [one.to_json() for one in observations]})
        return
    _print_run(info)
    _print_observations(observations)


@command.command("diff", short_help="Compare two runs, drift of facts first.")
@click.argument("run_a")
@click.argument("run_b")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when a fact drifted.")
@_common
def diff(run_a: str, run_b: str, exit_code: bool, workspace: Path, as_json: bool) -> int:
    """Compare two runs: drift of facts first, then figures by how far they moved."""
    from fourplane.base.text import printable
    from fourplane.cli.output import print_json
    from fourplane.evidence.compare import compare

    with _open(workspace) as store:
        a, b = _find(store, run_a), _find(store, run_b)
        differences = compare(store.observations(a.id), store.observations(b.id))
    drift = any(not one.figure for one in differences)
    if as_json:
        print_json({"a": a.id, "b": b.id, "drift": drift, "differences": [one.to_json() for one in differences]})
    else:
        click.echo(f"a  {printable(a.id)}\nb  {printable(b.id)}")
        _print_differences("Facts that drifted", [one for one in differences if not one.figure])
        _print_differences("Figures that moved", [one for one in differences if one.figure])
    return int(ExitCode.REJECTED if exit_code and drift else ExitCode.ACCEPTED)


@command.command("verify", short_help="Find any change, gap or stranger in the evidence.")
@click.option("--head", metavar="HASH", help="A head hash that was written down earlier; it must be in the chain.")
@_common
def verify(head: str | None, workspace: Path, as_json: bool) -> int:
    """Find any changed, missing or foreign file, and any run that was removed.

    A store that was rewritten as a whole, manifests included, shows only against a
    hash kept elsewhere: write the head down and give it back with --head.
    """
    from fourplane.base.findings import has_errors, sorted_findings
    from fourplane.base.text import plural
    from fourplane.cli.output import print_findings, print_json, talk

    with _open(workspace) as store:
        findings = sorted_findings(store.verify(head=head))
        seq, digest = store.head
    damaged = has_errors(findings)
    if as_json:
        print_json(
            {"intact": not damaged, "head": {"seq": seq, "sha256": digest}, "findings": [f.to_json() for f in findings]}
        )
        return int(ExitCode.REJECTED if damaged else ExitCode.ACCEPTED)
    if findings:
        print_findings(findings)
    if damaged:
        talk("The evidence is damaged; no verdict may rest on it.")
        return int(ExitCode.REJECTED)
    click.echo(f"intact: {plural(seq, 'manifest')}, every file as recorded")
    click.echo(f"head    {digest}")
    if head is None:
        talk("Write the head down elsewhere; --head HASH compares with it later.")
    return int(ExitCode.ACCEPTED)


def _open(workspace: Path) -> RunStore:
    from fourplane.evidence.store import RunStore

    return RunStore.open(workspace / "evidence")


def _find(store: RunStore, word: str) -> RunInfo:
    """Return the run of that name, the newest for 'latest', or the only one whose name begins so."""
    from fourplane.base.codes import similar
    from fourplane.base.errors import UsageError
    from fourplane.base.text import shorten
    from fourplane.evidence import codes
    from fourplane.evidence.store import RESERVED_RUN

    runs = store.runs()
    if word == RESERVED_RUN and runs:
        return runs[-1]
    exact = [run for run in runs if run.id == word]
    found = exact or [run for run in runs if word and run.id.startswith(word)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(shorten(run.id, 40) for run in found[:5])
        raise UsageError(codes.RUN_UNKNOWN.code, f"{word!r} begins several runs: {names}", "Give more of the name.")
    near = similar(word, [run.id for run in runs], limit=1)
    hint = f"Did you mean {shorten(near[0], 60)}? " if near else ""
    raise UsageError(codes.RUN_UNKNOWN.code, f"no run {shorten(word, 60)!r} is on file", hint + codes.RUN_UNKNOWN.fix)


def _print_run(info: RunInfo) -> None:
    from fourplane.base.clock import format_utc
    from fourplane.base.text import plural, printable, shorten

    ended = format_utc(info.ended.replace(microsecond=0)) if info.ended else "unfinished"
    click.echo(f"run      {printable(info.id)}")
    click.echo(f"started  {format_utc(info.started.replace(microsecond=0))} on {shorten(info.host, 40)}")
    click.echo(f"ended    {ended}")
    click.echo(f"tool     {shorten(info.tool, _WIDTH - 9)}")
    click.echo(f"steps    {plural(len(info.steps), 'step')}: {shorten(', '.join(info.steps), _WIDTH - 22)}")


def _print_observations(observations: list[Observation]) -> None:
    from fourplane.base.text import shorten

    subject = None
    for one in sorted(observations, key=lambda o: (o.subject, o.metric, o.method)):
        if one.subject != subject:
            subject = one.subject
            click.echo(f"\n{shorten(subject, _WIDTH)}")
        click.echo(f"  {one.metric:<38} {shorten(_text(one), _WIDTH - 41)}".rstrip())


def _print_differences(title: str, differences: list[Difference]) -> None:
    from fourplane.base.text import shorten

    click.echo(f"\n{title}: {len(differences) or 'none'}")
    for one in differences:
        moved = f"  {one.relative:+.1%}" if one.relative is not None else f"  {one.change}"
        click.echo(f"  {one.metric}{moved}")
        click.echo(f"    {shorten(one.subject, _WIDTH - 4)}")
        if one.before is not None:
            click.echo(f"    a  {shorten(_text(one.before), _WIDTH - 7)}")
        if one.after is not None:
            click.echo(f"    b  {shorten(_text(one.after), _WIDTH - 7)}")


def _text(one: Observation) -> str:
    """Return value and unit for people, or the state and its reason."""
    import json

    from fourplane.base.units import format_bytes
    from fourplane.records.observation import State

    if one.state is not State.MEASURED:
        return f"{one.state}: {one.reason}" if one.reason else str(one.state)
    value = one.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if one.unit == "B":
            return format_bytes(value)
        number = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
        return f"{number} {one.unit}".rstrip()
    if isinstance(value, list | dict):
        return f"{len(value)} entries: {json.dumps(value, ensure_ascii=False)}"
    return "" if value is None else str(value)
