"""Failures: one sentence and an exit code for every error, without values of the data."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

from privmoo.cli.console import complain, state
from privmoo.cli.hints import sentence
from privmoo.errors import InfeasibleError, PrivmooError

__all__ = ["StoppedError", "report_failure"]

_NUMBERS = {
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
}
INTERNAL, WRONG_INPUT, INFEASIBLE, INTERRUPTED = 1, 2, 3, 130


class StoppedError(Exception):
    """The command was interrupted by Ctrl-C; the message says how to continue."""


def report_failure(error: Exception) -> int:
    """Print what went wrong and return the exit code."""
    if isinstance(error, StoppedError):
        complain(f"stopped; {error}")
        return INTERRUPTED
    if isinstance(error, PrivmooError):
        complain(f"{sentence(error)}{_value_note(error)}")
        return INFEASIBLE if isinstance(error, InfeasibleError) else WRONG_INPUT
    if isinstance(error, BrokenPipeError):
        _discard_output()
        return 0
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # typer's errors
        context = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError":  # typer has its own copy of click's
            print(error.format_message())
            return WRONG_INPUT
        command = "" if context is None else f" (see: {context.command_path} --help)"
        complain(f"{_usage(error)}{command}")
        return WRONG_INPUT
    if isinstance(error, MemoryError):
        complain("there is not enough memory; close other programs, or use a larger machine")
        return WRONG_INPUT
    if isinstance(error, OSError):
        _discard_output()
        place = "" if error.filename is None else f"{error.filename}: "
        complain(f"{place}{error.strerror or type(error).__name__}")
        return WRONG_INPUT
    return _report_internal_error(error)


def _usage(error: Any) -> str:
    """Return what is wrong with the typed command; for numbers, typer quotes pydantic."""
    details: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    rule = _NUMBERS.get(details[0]["type"]) if details else None
    if rule is None:
        return str(error.format_message())
    return f"{error.param.opts[0]} must be {rule.format(**details[0].get('ctx', {}))}"


def _discard_output() -> None:
    """Send the standard output nowhere if it cannot be written, so that the process can end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _value_note(error: PrivmooError) -> str:
    if not state.show_values or state.data is None:
        return ""
    try:
        return f" (the value is {error.value_in(state.data())!r})"
    except Exception:  # the data cannot be read, or the error is not about a value
        return ""


def _report_internal_error(error: Exception) -> int:
    """Name the place of an error that should not happen; its message may quote the data."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(last.filename)}, line {last.lineno}"
    complain(
        f"internal error ({type(error).__name__} in {place}); please report it without your data; "
        "--show-values prints the whole error, which may quote values"
    )
    if state.show_values:
        traceback.print_exception(error)
    return INTERNAL
