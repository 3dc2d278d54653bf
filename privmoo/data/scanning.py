"""Counting a source that stays where it is, with the same result as a table in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privmoo import registry
from privmoo._util.checks import whole_number
from privmoo.data.columns import no_records
from privmoo.data.encoding import Encoded, Rows, encode
from privmoo.data.estimate import check_fits, default_max_tuples
from privmoo.data.roles import Roles, check_rows, check_texts
from privmoo.data.source import Counts, ScanEngine, ScanOptions, Source
from privmoo.errors import PrivmooError, TableError

__all__ = ["count_source", "open_source"]


def open_source(source: Any, options: ScanOptions) -> Source:
    """Open a source with the first engine that accepts it.

    Args:
        source: What a user passed to `Table.scan`.
        options: How to read it.

    Raises:
        TableError: No engine accepts it, or the engine cannot open it.
    """
    readable = []
    for name in registry.names("engines"):
        engine: ScanEngine = registry.load("engines", name)()
        if engine.accepts(source):
            return engine.open(source, options)
        readable.append(engine.reads)
    raise TableError(f"source: must be {', or '.join(readable)}, got {type(source).__name__}")


def count_source(
    source: Source, roles: Roles, by_column: Mapping[str, str], max_tuples: int | None
) -> tuple[Counts, Encoded]:
    """Count and encode a source.

    Args:
        source: The records.
        roles: The roles of the columns.
        by_column: The role of every column of the source.
        max_tuples: The largest number of distinct tuples; by default as many as fit into memory.
    """
    if roles.subject is not None:
        raise no_records("subject")
    max_rows = default_max_tuples(len(roles.qis)) if max_tuples is None else max_tuples
    max_rows = whole_number("max_tuples", max_rows, error=TableError)
    check_fits(source, roles.qis, max_rows)
    public_columns = [name for name, role in by_column.items() if role != "identifying"]
    complete = roles.read_columns if roles.missing == "drop" else []
    counts = source.count(
        list(roles.qis),
        roles.attributes,
        complete=complete,
        others=[name for name in public_columns if name not in roles.read_columns],
        max_rows=max_rows,
    )
    columns = {**counts.keys, **counts.attributes}
    check_rows(columns, roles.read_columns, n=counts.n_records, dropped=counts.n_dropped)
    rows = Rows(columns, weights=counts.weights, parts=counts.parts)
    try:
        return counts, _encode_rows(rows, roles)
    except PrivmooError as error:
        if error.column is None:
            raise
        # Encoded once more in the order of the records, so that the error names the right row.
        _encode_rows(_in_order(source, counts, error.column, complete), roles)
        raise


def _encode_rows(rows: Rows, roles: Roles) -> Encoded:
    check_texts(rows.columns, roles.read_columns, rows.numbers)
    return encode(
        rows,
        roles.qis,
        roles.hierarchies,
        roles.target,
        domain=roles.domain,
        missing=roles.missing,
    )


def _in_order(source: Source, counts: Counts, column: str, complete: Sequence[str]) -> Rows:
    """Return the rows in the order in which the values of a column appear, with their numbers."""
    numbers = source.first_rows(column, counts, complete=complete)
    order = np.arange(len(counts.weights))
    column_part = counts.parts.get(column)
    for part in counts.parts.values():
        if column_part is None:
            order[part] = part.start + np.argsort(numbers[part], kind="stable")
        elif part == column_part:
            order[part] = part.start + np.argsort(numbers, kind="stable")
    columns = {name: values.iloc[order] for name, values in counts.keys.items()}
    for name, values in counts.attributes.items():
        part = counts.parts[name]
        columns[name] = values.iloc[order[part] - part.start]
    places = order if column_part is None else order[column_part] - column_part.start
    numbers = numbers[places]
    return Rows(
        {name: values.reset_index(drop=True) for name, values in columns.items()},
        lambda name: numbers if name == column else None,
        counts.weights[order],
        counts.parts,
    )
