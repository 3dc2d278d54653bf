"""What the command line says, and what it must not."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cleaned", "command", "complain", "say", "state", "tabulate"]


@dataclass
class State:
    """What holds for the whole command.

    Attributes:
        show_values: Whether messages may show the value that they are about.
        data: What reads the records that the command works on.
    """

    show_values: bool = False
    data: Callable[[], pd.DataFrame] | None = None


state = State()


def cleaned(text: object) -> str:
    r"""Text without characters that would command a terminal; lines stay lines.

    >>> cleaned("a\x1b[31mb")
    'a�[31mb'
    """
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in str(text))


def command(*words: object) -> str:
    """A command of privmoo as it can be typed, with quotes around names that have spaces.

    >>> command("check", "my data/privmoo.toml")
    "privmoo check 'my data/privmoo.toml'"
    """
    return shlex.join(["privmoo", *map(str, words)])


def say(text: object = "") -> None:
    """Print to the standard output."""
    print(cleaned(text), flush=True)


def complain(text: object) -> None:
    """Print one sentence to the standard error."""
    print(f"privmoo: {cleaned(text)}", file=sys.stderr, flush=True)


def tabulate(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table, as wide as the terminal; without one, as wide as it is."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in head:
        table.add_column(Text(cleaned(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cleaned(cell)) for cell in row))
    width = None if sys.stdout.isatty() else 200
    Console(markup=False, highlight=False, width=width).print(table)
