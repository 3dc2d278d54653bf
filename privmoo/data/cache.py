"""Facts of a table, computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from privmoo.data.table import Table

__all__ = ["per_table"]

Result = TypeVar("Result")


def per_table(function: Callable[[Table], Result]) -> Callable[[Table], Result]:
    """Compute a fact of a table once; it is forgotten with the table."""
    known: WeakKeyDictionary[Table, Result] = WeakKeyDictionary()

    @wraps(function)
    def cached(table: Table) -> Result:
        if table not in known:
            known[table] = function(table)
        return known[table]

    return cached
