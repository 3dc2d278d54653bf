"""The errors that privmoo raises.

A message is one sentence: what is wrong, where, what was found and what to do. What to do is a `Hint`
where it differs between Python and the command line, so that each can say it in its own words.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AttackError",
    "AuditError",
    "CheckpointError",
    "ColumnError",
    "ConfigError",
    "FileError",
    "HierarchyError",
    "Hint",
    "InfeasibleError",
    "MeasureError",
    "PluginError",
    "PrivmooError",
    "ProblemError",
    "RecodingError",
    "ReleaseError",
    "TableError",
    "TableWarning",
    "nearest",
]


@dataclass(frozen=True)
class Hint:
    """What a reader of an error can do, as data.

    Its text is advice for Python programs. Other interfaces look at the attributes and say what to
    do in their own words: the command line turns `parameter="force"` into `--force`.

    Attributes:
        advice: An action that is the same everywhere, such as "choose another name", or empty.
        parameter: The parameter of privmoo that helps, if there is one.
        value: The value to pass; left open if it is not given.
        call: The function that takes the parameter, if it is not the one that raised the error; without
            a parameter, the call to use instead.

    >>> print(Hint("choose another name", parameter="force", value=True))
    choose another name or pass force=True
    >>> print(Hint(parameter="sensitive", call="Table"))
    pass sensitive=... to Table
    >>> print(Hint(call="write(path)"))
    use write(path)
    """

    advice: str = ""
    parameter: str | None = None
    value: object = ...
    call: str | None = None

    def __str__(self) -> str:
        steps = [self.advice]
        if self.parameter is not None:
            value = "..." if self.value is ... else repr(self.value)
            target = "" if self.call is None else f" to {self.call}"
            steps.append(f"pass {self.parameter}={value}{target}")
        elif self.call is not None:
            steps.append(f"use {self.call}")
        return " or ".join(step for step in steps if step)


class PrivmooError(Exception):
    """Base of every error that privmoo raises on purpose.

    A message never quotes a value of the data: people's values do not belong in logs. Where one value
    is the reason, `column` and `row` (counted from 0) say which, and `value_in(data)` shows it on request.

    Args:
        message: What is wrong, in one sentence.
        hint: What to do, if that is not part of the message; `str(error)` puts it at the end.

    >>> print(FileError("a.csv exists already", hint=Hint("choose another name")))
    a.csv exists already; choose another name
    """

    column: str | None = None
    row: int | None = None

    def __init__(self, message: str = "", *, hint: Hint | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def message(self) -> str:
        """The sentence without its hint."""
        return str(self.args[0])

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}; {self.hint}"

    @classmethod
    def of(cls, error: PrivmooError, where: str) -> Self:
        """Return an error of this class that adds a place to the message of another one.

        Args:
            error: The other error; the new error has its hint, column and row.
            where: The place, such as a file and a section of it.

        >>> print(ConfigError.of(MeasureError("k: must be at least 1"), "job.toml, [problem]"))
        job.toml, [problem]: k: must be at least 1
        """
        new = cls(f"{where}: {error.message}", hint=error.hint)
        new.column, new.row = error.column, error.row
        return new

    def at(self, column: str, row: int) -> Self:
        """Return the same error with the place of the value that it is about.

        Args:
            column: The column of the value.
            row: The row of the value, counted from 0.
        """
        self.column, self.row = column, row
        return self

    def value_in(self, data: pd.DataFrame) -> object:
        """Return the value that the message is about.

        >>> import pandas as pd
        >>> error = TableError("column 'age', row 1: ...").at("age", 1)
        >>> error.value_in(pd.DataFrame({"age": [31, "old"]}))
        'old'
        """
        if self.column is None or self.row is None:
            raise LookupError("this error is not about one value of the data")
        return data[self.column].iloc[self.row]


class TableError(PrivmooError, ValueError):
    """The data, or the roles of their columns, cannot be used as they are."""


class TableWarning(UserWarning):
    """A table has something that its publisher should look at."""


class ColumnError(TableError, KeyError):
    """A column that was named does not exist."""


class HierarchyError(PrivmooError, ValueError):
    """A hierarchy is not a tree, or does not fit the data."""


class MeasureError(PrivmooError, ValueError):
    """A measure cannot be computed with these parameters or on this table."""


class ProblemError(PrivmooError, ValueError):
    """An optimization problem or run cannot be set up like this."""


class InfeasibleError(ProblemError):
    """A search ended without a candidate that satisfies all constraints."""


class ConfigError(PrivmooError, ValueError):
    """A file that describes a job cannot be used as it is."""


class CheckpointError(PrivmooError, ValueError):
    """A saved run or front is damaged or belongs to something else."""


class PluginError(PrivmooError, LookupError):
    """A plug-in does not exist or cannot be used."""


class RecodingError(PrivmooError, ValueError):
    """A recoding cannot be made like this, or does not fit the table."""


class ReleaseError(PrivmooError, ValueError):
    """A table cannot be released like this."""


class FileError(PrivmooError, ValueError):
    """A file or folder cannot be written."""


class AttackError(PrivmooError, ValueError):
    """A release cannot be attacked with what was passed."""


class AuditError(PrivmooError, ValueError):
    """A table cannot be audited, or the audit contradicts what the optimiser claimed."""


def nearest(name: object, options: Iterable[object], *, prefix: str = "") -> str:
    """Return the end of an error sentence that suggests the closest name, or an empty string.

    Args:
        name: The unknown name.
        options: The names that exist.
        prefix: A text to write before the suggested name; it is not compared.

    >>> nearest("zpi", ["zip", "age"])
    "; did you mean 'zip'?"
    >>> nearest("los", ["loss", "k"], prefix="max_")
    "; did you mean 'max_loss'?"
    >>> nearest("qqq", ["zip", "age"])
    ''
    """
    names = [str(option) for option in options]
    matches = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    return f"; did you mean {prefix + matches[0]!r}?" if matches else ""
