"""The terminal: text, tables and commands to type, without characters that would control it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["command_line", "complain", "print_table", "printable", "say", "state"]


@dataclass
class State:
    """The state that all parts of a command share.

    Attributes:
        show_values: Whether messages may show the value that they are about.
        data: A function that returns the records that the command reads.
    """

    show_values: bool = False
    data: Callable[[], pd.DataFrame] | None = None


state = State()


def printable(text: object) -> str:
    r"""Replace characters that would control a terminal, but keep line breaks.

    >>> printable("a\x1b[31mb")
    'a�[31mb'
    """
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in str(text))


def command_line(*words: object) -> str:
    """Return a privmoo command to type, with quotes around names that contain spaces.

    >>> command_line("check", "my data/privmoo.toml")
    "privmoo check 'my data/privmoo.toml'"
    """
    return shlex.join(["privmoo", *map(str, words)])


def say(text: object = "") -> None:
    """Print to the standard output."""
    print(printable(text), flush=True)


def complain(text: object) -> None:
    """Print one sentence to the standard error."""
    print(f"privmoo: {printable(text)}", file=sys.stderr, flush=True)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table that fits the terminal; in a file or pipe it is 200 characters wide.

    Args:
        head: The names of the columns.
        rows: The cells of each row.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in head:
        table.add_column(Text(printable(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    width = None if sys.stdout.isatty() else 200
    Console(markup=False, highlight=False, width=width).print(table)
