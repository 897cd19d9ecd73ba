"""``fourplane report``: review, and write it down for people."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]


@click.command("report", short_help="Write report.html and print the summary.")
@click.option(
    "-C", "--workspace", "root", type=click.Path(path_type=Path), default=".", help="Folder of the workspace."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=None,
    help="Name of the page or a folder for it; report.html in the workspace by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of the summary.")
def command(root: Path, output: Path | None, as_json: bool) -> int:
    """Write report.html and, beside it, report.json.

    Measures nothing: the report holds what is declared, promised and on file as
    evidence. The page is one file that needs no network. The last line on
    stdout is its path; with --json stdout holds the report and nothing else.

    Exit status is the verdict's: 0 accepted, 1 rejected, 2 no report was
    written, 3 unproven or stale. A report is written for each but 2.
    """
    from fourplane.base.verdicts import exit_code
    from fourplane.cli.output import WIDTH, colour_wanted, talk
    from fourplane.report.as_json import report_bytes
    from fourplane.report.write import write_report

    written = write_report(root, output=output)
    if as_json:
        click.echo(report_bytes(written.view), nl=False)
        talk(f"wrote {written.path}")
    else:
        click.echo(written.summary(WIDTH, colour_wanted()))
        click.echo(str(written.path))
    return int(exit_code(written.view.review.verdict))
