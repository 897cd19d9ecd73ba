"""How verbs print: data on stdout, talk on stderr, findings in one layout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from fourplane.base.findings import Finding, Level, sorted_findings
from fourplane.base.text import plural, printable

__all__ = ["WIDTH", "colour_wanted", "print_findings", "print_json", "talk"]

WIDTH = 80
"""Cells of a line, whatever the terminal: what is printed is also mailed and pasted into tickets."""

_COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.INFO: "cyan"}


def colour_wanted() -> bool:
    """Tell whether stdout is a terminal whose user wants colours (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def talk(text: str) -> None:
    """Print one line of talk on stderr."""
    click.echo(text, err=True)


def print_json(data: Any) -> None:
    """Print data as JSON on stdout, keys in the order given."""
    json.dump(data, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings for people: place, level, code, message, what was expected, the fix."""
    ordered = sorted_findings(findings)
    for one in ordered:
        head = click.style(str(one.level), fg=_COLOURS[one.level], bold=True)
        click.echo(f"{printable(one.place) or '-'}: {head} {one.code}")
        click.echo(f"  {printable(one.message)}")
        if one.found or one.expected:
            click.echo(f"  found {printable(one.found) or 'nothing'}; expected {printable(one.expected)}")
        if one.fix:
            click.echo(f"  fix: {printable(one.fix)}")
    counts = [plural(sum(f.level is level for f in ordered), str(level)) for level in (Level.ERROR, Level.WARNING)]
    talk(", ".join(counts))
