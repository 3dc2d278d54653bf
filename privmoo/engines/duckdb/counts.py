"""Count in SQL by one GROUP BY with a grouping set for every attribute."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.reading import PLAIN
from privmoo.data.source import Counts
from privmoo.engines.duckdb.names import name_of, text_of
from privmoo.engines.duckdb.session import Session

__all__ = ["count_rows", "counts_from", "fetch", "plain_numbers"]

IntArray = NDArray[np.int64]
Convert = Callable[[str, Any], "pd.Series[Any]"]


def count_rows(
    table: str,
    keys: Sequence[str],
    attributes: Sequence[str],
    *,
    complete: str = "",
    facts: str = "",
) -> str:
    """Return the query that counts combinations of keys with each attribute.

    Args:
        table: The relation, in SQL.
        keys: The quasi-identifiers.
        attributes: The sensitive attributes and the target.
        complete: A condition in SQL; records that meet it are counted separately.
        facts: Further aggregates in SQL, each with a comma before it.

    >>> count_rows("t", ["a"], ["s"]).replace(chr(1), "")
    'SELECT "a", "s", 0 AS "part", count(*) AS "count" FROM t GROUP BY "a", "s"'
    """
    groups = [name_of(key) for key in keys]
    head = list(groups)
    if complete:
        head.append(f'({complete}) AS "\x01complete"')
        groups.append(f"({complete})")
    attribute_names = [name_of(name) for name in attributes]
    part, grouping = "0", ", ".join([*groups, *attribute_names])
    if len(attributes) > 1:
        cases = [f"WHEN GROUPING({name}) = 0 THEN {i}" for i, name in enumerate(attribute_names)]
        part = f"CASE {' '.join(cases)} END"
        sets = ", ".join(f"({', '.join([*groups, name])})" for name in attribute_names)
        grouping = f"GROUPING SETS ({sets})"
    columns = ", ".join(
        [*head, *attribute_names, f'{part} AS "\x01part"', 'count(*) AS "\x01count"']
    )
    return f"SELECT {columns}{facts} FROM {table} GROUP BY {grouping}"


def plain_numbers(others: Sequence[str], decimal: str = ".") -> str:
    """Return aggregates that tell whether CSV columns are plain numbers, have fractions, or are empty.

    Args:
        others: The columns.
        decimal: The sign before the fraction of a number; with a comma, a column that has points is text.
    """
    pattern = PLAIN.pattern.replace(r"\.", re.escape(decimal))
    pieces = []
    for i, name in enumerate(others):
        value = name_of(name)
        pieces.append(
            f", bool_and({value} IS NULL OR regexp_full_match({value}, '{pattern}')) AS \"\x01n{i}\""
            f', bool_or(contains({value}, {text_of(decimal)})) AS "\x01f{i}", count({value}) AS "\x01v{i}"'
        )
    return "".join(pieces)


def fetch(session: Session, query: str, max_rows: int) -> Any | None:
    """Return the result of a query as an Arrow table; None if it has too many rows.

    Args:
        session: The session.
        query: The query.
        max_rows: The largest number of rows.
    """
    import pyarrow as pa

    reader = session.connection.sql(query).to_arrow_reader(2**17)
    batches, rows = [], 0
    for batch in reader:
        batches.append(batch)
        rows += len(batch)
        if rows > max_rows:
            return None
    return pa.Table.from_batches(batches, schema=reader.schema)


def counts_from(
    table: Any,
    keys: Sequence[str],
    attributes: Sequence[str],
    convert: Convert,
    others: Sequence[str] = (),
) -> Counts:
    """Return the result of the query of `count_rows` as counts.

    Args:
        table: The result, as an Arrow table.
        keys: The quasi-identifiers.
        attributes: The sensitive attributes and the target.
        convert: A function that turns the Arrow values of a column into those of a table in memory.
        others: CSV columns about which the query returns facts.
    """
    kinds = {name: _kind(table, i) for i, name in enumerate(others)}
    part_numbers = table.column("\x01part").to_numpy()
    if len(attributes) > 1:
        table = table.take(np.argsort(part_numbers, kind="stable"))
    sizes = np.bincount(part_numbers, minlength=max(len(attributes), 1))
    stops = np.cumsum(sizes)
    before = [slice(int(b - n), int(b)) for n, b in zip(sizes, stops, strict=True)]
    weights = table.column("\x01count").to_numpy().astype(np.int64)
    is_complete = np.ones(len(weights), dtype=bool)
    if "\x01complete" in table.column_names:
        is_complete = table.column("\x01complete").to_numpy().astype(bool)
    n_dropped = int(weights[before[0]][~is_complete[before[0]]].sum())
    series = {key: convert(key, table.column(key)) for key in keys}
    values = {
        name: convert(name, table.column(name)[part])
        for name, part in zip(attributes, before, strict=False)
    }
    kinds |= {name: _kind_of(column) for name, column in values.items()}
    after = np.concatenate([[0], np.cumsum([int(is_complete[part].sum()) for part in before])])
    names = list(attributes) or [""]
    engine_keys = table.select([*keys, *attributes])
    if not is_complete.all():
        engine_keys = engine_keys.filter(is_complete)
    return Counts(
        keys={name: column[is_complete].reset_index(drop=True) for name, column in series.items()},
        engine_keys=engine_keys,
        attributes={
            name: column[is_complete[part]].reset_index(drop=True)
            for (name, column), part in zip(values.items(), before, strict=False)
        },
        weights=weights[is_complete],
        parts={name: slice(int(after[i]), int(after[i + 1])) for i, name in enumerate(names)},
        combinations=partial(_number_rows, engine_keys, tuple(keys)),
        n_dropped=n_dropped,
        column_kinds=kinds,
    )


def _number_rows(table: Any, keys: Sequence[str]) -> IntArray:
    """Return a number for every row; rows with equal keys have equal numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = {}
    for i, key in enumerate(keys):
        column = table.column(key).combine_chunks()
        if pa.types.is_floating(column.type):
            column = pc.add(column, 0.0)  # for an engine -0.0 is 0.0, and a group may have either
        codes[i] = column.dictionary_encode("encode").indices.to_numpy()
    numbers = pd.DataFrame(codes).groupby(list(codes), sort=False).ngroup()
    return np.asarray(numbers, dtype=np.int64)


def _kind(table: Any, i: int) -> str:
    """Return the kind that a CSV column that is only copied would have in memory."""
    numbers = table.column(f"\x01n{i}").to_pylist()
    present = sum(table.column(f"\x01v{i}").to_pylist())
    if not present or not all(numbers):
        return "text"
    return "fraction" if any(table.column(f"\x01f{i}").to_pylist()) else "whole"


def _kind_of(values: pd.Series[Any]) -> str:
    if not pd.api.types.is_numeric_dtype(values):
        return "text"
    present = values.dropna()
    return "whole" if bool((present == np.floor(present.astype(float))).all()) else "fraction"
