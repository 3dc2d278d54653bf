"""The command `privmoo`: collects its verbs and turns errors into sentences and exit codes."""

from __future__ import annotations

import importlib.metadata
import io
import logging
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import typer

from privmoo.cli.console import complain, say, state
from privmoo.errors import TableWarning
from privmoo.registry import modules

__all__ = ["app", "main", "outcome"]

_INTERRUPTED = 130

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Publish a table of people's records: compute the whole trade-off between privacy and "
    "usefulness, choose a solution, and write a certified release.",
    epilog="""\b
From a file to a release:
  privmoo init data.csv
  privmoo check privmoo.toml
  privmoo run privmoo.toml -o out
  privmoo choose out --min-k 5 --best loss
  privmoo release out --solution 17 -o public.csv""",
)


def _print_version(requested: bool) -> None:
    if requested:
        say(f"privmoo {importlib.metadata.version('privmoo')}")
        raise typer.Exit


@app.callback()
def _options(
    show_values: bool = typer.Option(
        False, "--show-values", help="Allow error messages to show the value that they are about."
    ),
    verbose: bool = typer.Option(
        False, "--verbose", "-v", help="Tell what is being done, with the time, on standard error."
    ),
    version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Print the version and exit.",
    ),
) -> None:
    """Set the options of all commands."""
    state.show_values = show_values
    if verbose:
        _log_to_standard_error()


def _log_to_standard_error() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("privmoo")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)


_COMMANDS = {verb: module.command for verb, module in modules("privmoo.cli.commands").items()}
for verb in sorted(_COMMANDS, key=lambda verb: (_COMMANDS[verb].order, verb)):
    _COMMANDS[verb].add_to(app, verb)


def main() -> None:
    """Run the command line and exit with its code.

    0: success. 1: an internal error. 2: wrong input. 3: nothing feasible. 130: interrupted.
    """
    sys.exit(outcome())


def outcome() -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show all letters
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, warnings.showwarning)
            code = app(prog_name="privmoo", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except Exception as error:  # every failure ends in one sentence
        from privmoo.cli.failures import StoppedError, report_failure

        if isinstance(error, StoppedError) or not _was_interrupted(error):
            return report_failure(error)
        code = _INTERRUPTED
    if code == _INTERRUPTED:  # typer turns Ctrl-C into this code, and says nothing
        complain("stopped")
    return code if isinstance(code, int) else 0


def _was_interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error: a module that is stopped while it loads may raise another."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _show_warning(
    usual: Callable[..., None], message: Warning | str, category: type[Warning], *place: Any
) -> None:
    """Print a warning for the publisher as a note, and others as usual."""
    if issubclass(category, TableWarning):
        complain(f"note: {message}")
    else:
        usual(message, category, *place)
