"""The command `privmoo`: its verbs, and how errors become sentences and exit codes."""

from __future__ import annotations

import io
import sys

import typer

from privmoo.cli import catalogue, job, looking, publishing, studies
from privmoo.cli.console import complain, state

__all__ = ["app", "main", "outcome"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Publish a table of people's records: the whole trade-off between privacy and usefulness, and "
    "certified releases from it.",
    epilog="A file and a duty: privmoo init data.csv; privmoo check privmoo.toml; privmoo run privmoo.toml "
    "-o out; privmoo choose out --max-loss 0.25 --best k; privmoo release out --solution 17 -o public.csv",
)


@app.callback()
def options(
    show_values: bool = typer.Option(
        False, "--show-values", help="Let error messages show the value that they are about."
    ),
) -> None:
    """Options of all commands."""
    state.show_values = show_values


for verb in (
    job.init,
    job.check,
    job.run,
    publishing.choose,
    publishing.release,
    looking.audit,
    looking.analyse,
    studies.compare,
    catalogue.demo,
    catalogue.datasets,
    catalogue.plugins,
):
    settings = getattr(verb, "settings", {})
    app.command(**settings)(verb)


def main() -> None:
    """Run the command line, and end with its exit code.

    0: done. 1: a fault of privmoo. 2: wrong input. 3: nothing feasible. 130: interrupted.
    """
    sys.exit(outcome())


def outcome() -> int:
    """The exit code of the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show all letters
    try:
        code = app(prog_name="privmoo", standalone_mode=False)
    except typer.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        complain("stopped")
        return 130
    except Exception as error:  # everything ends in one sentence
        from privmoo.cli.failures import told

        return told(error)
    return code if isinstance(code, int) else 0
