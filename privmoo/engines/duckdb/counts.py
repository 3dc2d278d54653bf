"""Counting in SQL: one GROUP BY with a grouping set for every attribute, and its result as counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.reading import PLAIN
from privmoo.data.source import Counts
from privmoo.engines.duckdb.session import Session
from privmoo.engines.duckdb.sql import name_of

__all__ = ["as_counted", "count_rows", "fetch", "plain_numbers"]

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
    """The query: combinations of keys with each attribute, by a condition and with further facts.

    >>> count_rows("t", ["a"], ["s"]).replace(chr(1), "")
    'SELECT "a", "s", 0 AS "part", count(*) AS "count" FROM t GROUP BY "a", "s"'
    """
    groups = [name_of(key) for key in keys]
    head = list(groups)
    if complete:
        head.append(f'({complete}) AS "\x01complete"')
        groups.append(f"({complete})")
    more = [name_of(name) for name in attributes]
    part, grouping = "0", ", ".join([*groups, *more])
    if len(attributes) > 1:
        which = [f"WHEN GROUPING({name}) = 0 THEN {i}" for i, name in enumerate(more)]
        part = f"CASE {' '.join(which)} END"
        sets = ", ".join(f"({', '.join([*groups, name])})" for name in more)
        grouping = f"GROUPING SETS ({sets})"
    columns = ", ".join([*head, *more, f'{part} AS "\x01part"', 'count(*) AS "\x01count"'])
    return f"SELECT {columns}{facts} FROM {table} GROUP BY {grouping}"


def plain_numbers(others: Sequence[str]) -> str:
    """Whether a CSV column is a plain number in every record, has a fraction, and a value at all."""
    pieces = []
    for i, name in enumerate(others):
        own = name_of(name)
        pieces.append(
            f", bool_and({own} IS NULL OR regexp_full_match({own}, '{PLAIN.pattern}')) AS \"\x01n{i}\""
            f', bool_or(contains({own}, \'.\')) AS "\x01f{i}", count({own}) AS "\x01v{i}"'
        )
    return "".join(pieces)


def fetch(own: Session, query: str, most: int) -> Any | None:
    """The result as an Arrow table, or None where it has too many rows."""
    import pyarrow as pa

    reader = own.connection.sql(query).to_arrow_reader(2**17)
    batches, rows = [], 0
    for batch in reader:
        batches.append(batch)
        rows += len(batch)
        if rows > most:
            return None
    return pa.Table.from_batches(batches, schema=reader.schema)


def as_counted(
    table: Any,
    keys: Sequence[str],
    attributes: Sequence[str],
    convert: Convert,
    others: Sequence[str] = (),
) -> Counts:
    """The result of the query as values, parts and counts."""
    kinds = {name: _kind(table, i) for i, name in enumerate(others)}
    part = table.column("\x01part").to_numpy()
    if len(attributes) > 1:
        table = table.take(np.argsort(part, kind="stable"))
    sizes = np.bincount(part, minlength=max(len(attributes), 1))
    stops = np.cumsum(sizes)
    before = [slice(int(b - n), int(b)) for n, b in zip(sizes, stops, strict=True)]
    counts = table.column("\x01count").to_numpy().astype(np.int64)
    kept = np.ones(len(counts), dtype=bool)
    if "\x01complete" in table.column_names:
        kept = table.column("\x01complete").to_numpy().astype(bool)
    dropped = int(counts[before[0]][~kept[before[0]]].sum())
    series = {key: convert(key, table.column(key)) for key in keys}
    values = {
        name: convert(name, table.column(name)[own])
        for name, own in zip(attributes, before, strict=False)
    }
    kinds |= {name: _kind_of(own) for name, own in values.items()}
    after = np.concatenate([[0], np.cumsum([int(kept[own].sum()) for own in before])])
    names = list(attributes) or [""]
    raw = table.select([*keys, *attributes])
    raw = raw if kept.all() else raw.filter(kept)
    return Counts(
        keys={name: own[kept].reset_index(drop=True) for name, own in series.items()},
        engine_keys=raw,
        attributes={
            name: own[kept[at]].reset_index(drop=True)
            for (name, own), at in zip(values.items(), before, strict=False)
        },
        weights=counts[kept],
        parts={name: slice(int(after[i]), int(after[i + 1])) for i, name in enumerate(names)},
        combinations=lambda: _numbered(raw, keys),
        n_dropped=dropped,
        column_kinds=kinds,
    )


def _numbered(table: Any, keys: Sequence[str]) -> IntArray:
    """A number for every row, equal where all keys are."""
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
    """What a CSV column that is only copied would be in memory."""
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
