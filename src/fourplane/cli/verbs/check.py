"""``fourplane check``: what is wrong with the files, and what is wrong with the design on paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fourplane.base.verdicts import ExitCode

if TYPE_CHECKING:
    from fourplane.base.findings import Finding
    from fourplane.spec.workspace import QuoteDocument, Workspace

__all__ = ["check", "command"]


@click.command("check")
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(path: Path, as_json: bool) -> int:
    """Check a declaration and its quotes; touches no network.

    PATH is a workspace (a folder with fourplane.yaml; the present one by
    default) or one YAML file. A file named fourplane.yaml stands for its
    workspace; any other file is checked alone, a quote against the declaration
    beside it or above quotes/. All findings come at once.

    Exit status: 0 without errors (warnings may be there), 1 with errors,
    2 when there is no such file.
    """
    import atexit
    import gc

    from fourplane.base.findings import has_errors
    from fourplane.cli.output import print_findings, print_json

    # One short pass over a large tree without cycles: looking for them, now or at the end, costs a third of the time.
    atexit.register(gc.freeze)
    was_on = gc.isenabled()
    gc.disable()
    try:
        findings = check(path)
    finally:
        if was_on:
            gc.enable()
    if as_json:
        print_json({"findings": [one.to_json() for one in findings]})
    else:
        print_findings(findings)
    return int(ExitCode.REJECTED if has_errors(findings) else ExitCode.ACCEPTED)


def check(path: Path) -> list[Finding]:
    """Return the findings on the files at ``path`` and on the design they describe, heaviest first.

    The rules run on what is right in the files, errors or not, so that one pass shows everything. A rule that speaks
    of a value which was left out, or which a finding on the file names already, adds nothing: one cause, one finding.

    Raises:
        UsageError: there is no such file, or no fourplane.yaml in the folder.
    """
    from fourplane.base.findings import sorted_findings
    from fourplane.spec.loader import DECLARATION, declaration_of, is_folder, load_file, load_quote, load_workspace
    from fourplane.spec.workspace import QuoteDocument

    if path.name == DECLARATION or is_folder(path):
        workspace = load_workspace(path)
        return sorted_findings([*workspace.findings, *_rules(workspace)])
    loaded = load_file(path)
    if not isinstance(loaded, QuoteDocument):
        return sorted_findings([*loaded.findings, *_rules(loaded)])
    declaration = declaration_of(path)
    if declaration is None:
        return list(loaded.findings)
    quote = load_quote(path)
    workspace = replace(load_workspace(declaration), quotes=(quote,))
    ruled = [one for one in _rules(workspace) if one.file == quote.file]
    return sorted_findings([*quote.findings, *ruled])


def _rules(workspace: Workspace) -> list[Finding]:
    """Run the rules of the planes; leave out what only repeats a finding on the file."""
    from fourplane.catalog import load_catalog
    from fourplane.planes.rules import check_all as run_rules

    if "" in workspace.unreadable:
        return []  # nothing of the declaration could be read, so there is no design to judge
    sources: dict[str, Workspace | QuoteDocument] = {quote.file: quote for quote in workspace.quotes}
    known = {(one.file, one.path) for one in workspace.findings if one.path}
    out = []
    for one in run_rules(workspace, load_catalog(workspace.root)):
        source = sources.get(one.file, workspace)
        path = source.positions.written(one.path)
        if (one.file, path) not in known and not _within(path, source.unreadable):
            out.append(replace(one, path=path))
    return out


def _within(path: str, left_out: frozenset[str]) -> bool:
    """Tell whether ``path`` is, or lies inside, a value that was left out."""
    if "" in left_out or path in left_out:
        return True
    return any(path.startswith((f"{one}.", f"{one}[")) for one in left_out)
