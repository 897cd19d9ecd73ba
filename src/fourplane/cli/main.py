"""Entry point ``fourplane``: a lazy group of verbs, so that ``--help`` imports none of them."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module

import click

from fourplane import __version__
from fourplane.base.errors import FourplaneError
from fourplane.base.verdicts import ExitCode

__all__ = ["cli", "main"]

_VERBS = {
    "init": "Write a workspace from a template.",
    "check": "Check a declaration and its quotes; touches no network.",
    "doctor": "Say what this machine can measure, and which paths were run where.",
    "explain": "Explain a finding code, a metric or a fact of the catalogue.",
    "prove": "Measure the cluster, then review and report.",
    "review": "Judge the nine areas on the evidence there is.",
    "report": "Write report.html and print the summary.",
    "evidence": "List, show, compare and verify what was measured.",
}


INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells count it: 128 + SIGINT."""
READER_GONE = 141
"""Exit status when the reader of stdout went away: 128 + SIGPIPE."""


class _LazyGroup(click.Group):
    """Group that knows its verbs by name and help, and imports a verb's module on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command = import_module(f"fourplane.cli.verbs.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(_VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from fourplane.base.codes import similar

        word = args[0]
        if word not in _VERBS and not word.startswith("-"):
            near = similar(word, list(_VERBS), limit=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"No such verb '{word}'.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog="Exit status: 0 accepted, 1 rejected or failed, 2 usage or tool error, 3 unproven.",
)
@click.version_option(__version__, prog_name="fourplane")
def cli() -> None:
    """Decide, design, prove, operate and account for a GPU cluster.

    A cluster exists three times: declared (fourplane.yaml), promised (quotes/)
    and found (evidence/). Fourplane compares the three over four planes and lets
    measurements decide.
    """


def main() -> None:
    """Run the command line; every stop leaves with the exit status of its kind."""
    json_wanted = "--json" in sys.argv[1:]
    try:
        code = _run()
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.UsageError as error:
        _stop("usage", error.format_message(), _usage_hint(error), json_wanted)
        code = ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = INTERRUPTED
    except FourplaneError as error:
        _stop(error.code, error.message, error.fix, json_wanted)
        code = ExitCode.USAGE
    except BrokenPipeError:
        # the reader went away, such as `| head`; point stdout elsewhere so that Python's own flush is quiet
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = READER_GONE
    except Exception as error:
        # whatever broke, nothing was judged: a status of 1 would read as "rejected"
        if os.environ.get("FOURPLANE_DEBUG"):
            raise
        _broken(error, json_wanted)
        code = ExitCode.USAGE
    sys.exit(int(code or 0))


def _run() -> int:
    """Call the verb and write out what it printed; click's own ``main`` would turn a closed pipe into status 1."""
    if "_FOURPLANE_COMPLETE" in os.environ:
        cli.main(prog_name="fourplane")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a locale that lacks a character must not end a verb
    with cli.make_context("fourplane", sys.argv[1:]) as context:
        code = cli.invoke(context)
    sys.stdout.flush()
    return int(code or 0)


def _broken(error: Exception, json_wanted: bool) -> None:
    """Say in one line that a verb broke, as far as anything can still be said."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError):
        code, fix = "system", "mend what the operating system reports, and run it again"
    else:
        code, fix = "internal", "set FOURPLANE_DEBUG=1 for the traceback, and report it"
    try:
        _stop(code, f"{type(error).__name__}: {text}", fix, json_wanted)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage_hint(error: click.UsageError) -> str:
    return f"see '{error.ctx.command_path} --help'" if error.ctx else "see 'fourplane --help'"


def _stop(code: str, message: str, fix: str, json_wanted: bool) -> None:
    if json_wanted:
        import json

        click.echo(json.dumps({"error": {"code": code, "message": message, "fix": fix}}, ensure_ascii=False))
        return
    click.echo(f"fourplane: {code}: {message}", err=True)
    if fix:
        click.echo(f"  fix: {fix}", err=True)


if __name__ == "__main__":
    main()
