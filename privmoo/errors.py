"""The errors privmoo raises: one sentence each, saying what, where, what was got and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AuditError",
    "CheckpointError",
    "ColumnError",
    "ConfigError",
    "HierarchyError",
    "InfeasibleError",
    "MeasureError",
    "PluginError",
    "PrivmooError",
    "ProblemError",
    "ReleaseError",
    "TableError",
    "nearest",
]


class PrivmooError(Exception):
    """Base of every error that privmoo raises on purpose.

    A message never quotes a value of the data: people's values do not belong into logs. Where one value
    is the reason, `column` and `row` (counted from 0) say which, and `value_in(data)` shows it on request.
    """

    column: str | None = None
    row: int | None = None

    def at(self, column: str, row: int) -> Self:
        """The same error, knowing the place in the data."""
        self.column, self.row = column, row
        return self

    def value_in(self, data: pd.DataFrame) -> object:
        """The value that the message is about.

        >>> import pandas as pd
        >>> error = TableError("column 'age', row 1: ...").at("age", 1)
        >>> error.value_in(pd.DataFrame({"age": [31, "old"]}))
        'old'
        """
        if self.column is None or self.row is None:
            raise LookupError("this error is not about one value of the data")
        return data[self.column].iloc[self.row]


class TableError(PrivmooError, ValueError):
    """The data or the roles of its columns cannot be used as they are."""


class ColumnError(TableError, KeyError):
    """A column that was named does not exist."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show the repr


class HierarchyError(PrivmooError, ValueError):
    """A hierarchy is not a tree, or does not fit the data."""


class MeasureError(PrivmooError, ValueError):
    """A measure cannot be computed with these parameters or on this table."""


class ProblemError(PrivmooError, ValueError):
    """An optimization problem or run cannot be set up like this."""


class InfeasibleError(ProblemError):
    """A search ended, and no candidate keeps all constraints."""


class ConfigError(PrivmooError, ValueError):
    """A file that describes a job cannot be used as it is."""


class CheckpointError(PrivmooError, ValueError):
    """A saved run or front is damaged or belongs to something else."""


class PluginError(PrivmooError, LookupError):
    """A plug-in is not there, or cannot be used."""


class ReleaseError(PrivmooError, ValueError):
    """A table cannot be released like this."""


class AuditError(PrivmooError, ValueError):
    """The audit could not be done, or contradicts what the optimiser claimed."""


def nearest(name: object, options: Iterable[object]) -> str:
    """The end of an error sentence: the closest known name, or nothing.

    >>> nearest("zpi", ["zip", "age"])
    "; did you mean 'zip'?"
    >>> nearest("qqq", ["zip", "age"])
    ''
    """
    known = [str(option) for option in options]
    close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
