"""``fourplane init``: write a workspace from a template."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]


@click.command("init")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=".")
@click.option(
    "--template",
    type=click.Choice(["laptop", "rented-h100"]),
    default="laptop",
    show_default=True,
    help="laptop: this machine stands in for the target; rented-h100: 8 nodes of 8 H100 with a quote.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the written files as JSON.")
def command(folder: Path, template: str, as_json: bool) -> int:
    """Write a workspace from a template into DIR (the present folder by default).

    Existing files are never overwritten: if one is in the way, nothing is
    written.
    """
    from fourplane.base.text import printable
    from fourplane.cli.output import print_json, talk
    from fourplane.spec.templates import write_template

    written = write_template(template, folder)
    if as_json:
        print_json({"template": template, "folder": str(folder), "files": [str(path) for path in written]})
        return 0
    for path in written:
        click.echo(printable(str(path)))
    steps = [] if folder == Path() else [f"cd {folder}"]
    steps += [
        "edit fourplane.yaml: the brief first, then what you want to rent or buy",
        "fourplane check    what is wrong on paper",
        "fourplane prove    measure, review, report",
    ]
    talk("Next:")
    for number, step in enumerate(steps, start=1):
        talk(printable(f"  {number}. {step}"))
    return 0
