"""``fourplane review``: judge the nine areas on the evidence there is."""

from __future__ import annotations

from pathlib import Path

import click

from fourplane.cli.output import WIDTH, colour_wanted, print_findings, print_json

__all__ = ["command"]


@click.command("review", short_help="Judge the nine areas on the evidence there is.")
@click.option(
    "-C", "--workspace", "root", type=click.Path(path_type=Path), default=".", help="Folder of the workspace."
)
@click.option("--json", "as_json", is_flag=True, help="Print the review as JSON.")
def command(root: Path, as_json: bool) -> int:
    """Judge the nine areas on the declaration, the quotes and the evidence.

    Measures nothing and changes nothing. Without evidence every condition that
    needs a measurement is unproven, and says what would prove it.

    Errors in the files fail the review; what could be read is judged all the
    same. A damaged evidence store is not judged on: 'fourplane evidence verify'
    names what is wrong with it.

    Exit status: 0 accepted, 1 rejected, 2 nothing was judged, 3 unproven or stale.
    """
    from fourplane.base.verdicts import exit_code
    from fourplane.planes.judge import judge
    from fourplane.planes.rules import check_all
    from fourplane.planes.threeway import compare
    from fourplane.review.gate import review
    from fourplane.review.loading import load_case

    case = load_case(root)
    rows = compare(case)
    result = review(case, rows, judge(case), check_all(case.workspace, case.catalog, case.now.date()))
    if as_json:
        print_json(result.to_json())
    else:
        from fourplane.report.terminal import render_review

        click.echo(render_review(result, rows, width=WIDTH, colour=colour_wanted()))
        if result.findings:
            click.echo("\nFindings")
            print_findings(result.findings)
    return int(exit_code(result.verdict))
