"""Functions of a table whose results are kept as long as the table."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from privmoo.data.table import Table

__all__ = ["per_table"]

Result = TypeVar("Result")


def per_table(function: Callable[[Table], Result]) -> Callable[[Table], Result]:
    """Compute a function of a table once per table; the result is forgotten with the table."""
    results: WeakKeyDictionary[Table, Result] = WeakKeyDictionary()

    @wraps(function)
    def cached(table: Table) -> Result:
        if table not in results:
            results[table] = function(table)
        return results[table]

    return cached
