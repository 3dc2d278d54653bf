"""Errors as one sentence and an exit code; values of the data stay out of both."""

from __future__ import annotations

import os
import sys
import traceback

from privmoo.cli.console import complain, state
from privmoo.cli.wording import as_typed
from privmoo.errors import InfeasibleError, PrivmooError

__all__ = ["told"]

FAULT, WRONG, INFEASIBLE = 1, 2, 3


def told(error: Exception) -> int:
    """Say what went wrong, and give the exit code."""
    if isinstance(error, PrivmooError):
        complain(f"{as_typed(str(error))}{_value(error)}")
        return INFEASIBLE if isinstance(error, InfeasibleError) else WRONG
    if isinstance(error, BrokenPipeError):
        _leave_output()
        return 0
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # of typer
        context = getattr(error, "ctx", None)
        if not error.format_message() and context is not None:
            print(context.get_help())
            return WRONG
        command = "" if context is None else f" (see: {context.command_path} --help)"
        complain(f"{error.format_message()}{command}")
        return WRONG
    if isinstance(error, MemoryError):
        complain("the memory is not enough; close other programs, or use a larger machine")
        return WRONG
    if isinstance(error, OSError):
        _leave_output()
        where = "" if error.filename is None else f"{error.filename}: "
        complain(f"{where}{error.strerror or type(error).__name__}")
        return WRONG
    return _fault(error)


def _leave_output() -> None:
    """Where output cannot be written nothing more may be, not even when the process ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _value(error: PrivmooError) -> str:
    if not state.show_values or state.data is None:
        return ""
    try:
        return f" (the value is {error.value_in(state.data())!r})"
    except Exception:  # the data cannot be read, or the error is about no value
        return ""


def _fault(error: Exception) -> int:
    """What should not happen: named by its place, because its message may quote the data."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(last.filename)}, line {last.lineno}"
    complain(
        f"a fault of privmoo itself ({type(error).__name__} in {place}); please report it, without your "
        "data. With --show-values all of it is shown, which may quote values."
    )
    if state.show_values:
        traceback.print_exception(error)
    return FAULT
