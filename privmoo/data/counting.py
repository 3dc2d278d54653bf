"""Counting the combinations of values in frames: of one frame, and of several together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.source import WEIGHT, Counts

__all__ = ["Tally", "counts_of", "number_rows", "sum_tallies", "tally"]

IntArray = NDArray[np.int64]
Concat = Callable[[list[pd.DataFrame]], pd.DataFrame]
_LARGEST_KEY = 2**62
# What pandas may factorize as it is; in other columns it would take 1 and True for one value.
_PURE = {"string", "integer", "floating", "decimal", "boolean", "datetime64", "datetime", "date"}


@dataclass(frozen=True)
class Tally:
    """The combinations of a frame with their weights.

    Attributes:
        parts: One frame per attribute, with keys, values and weights.
        n_rows: The number of records, counted or not.
        n_dropped: The number of records that were left out because a value is missing.
    """

    parts: tuple[pd.DataFrame, ...]
    n_rows: int
    n_dropped: int


def tally(
    frame: pd.DataFrame,
    keys: Sequence[str],
    attributes: Sequence[str],
    complete: Sequence[str] = (),
) -> Tally:
    """Count the records of a frame.

    Args:
        frame: The records.
        keys: The columns whose combinations are counted.
        attributes: Columns that are counted with the keys, one at a time.
        complete: Columns in which no value may be missing; other records are left out.

    >>> frame = pd.DataFrame({"a": [1, 2, 1], "s": ["x", "x", "x"]})
    >>> tally(frame, ["a"], ["s"]).parts[0].to_numpy().tolist()
    [[1, 'x', 2], [2, 'x', 1]]
    """
    n_rows = len(frame)
    if complete:
        frame = frame[frame[list(complete)].notna().all(axis=1)]
    key_numbers, n_keys = number_rows(frame, keys)
    parts = []
    for attribute in attributes or [""]:
        numbers, columns = key_numbers, list(keys)
        if attribute:
            numbers, _ = _combine_numbers(key_numbers, n_keys, *_codes(frame[attribute]))
            columns.append(attribute)
        first, weights = _first_and_weight(numbers, None)
        parts.append(frame[columns].iloc[first].reset_index(drop=True).assign(**{WEIGHT: weights}))
    return Tally(tuple(parts), n_rows, n_rows - len(frame))


def sum_tallies(
    tallies: Sequence[Tally], concat: Concat, max_rows: int | None = None
) -> Tally | None:
    """Return the sum of tallies.

    Args:
        tallies: At least one, with the same columns.
        concat: A function that joins frames.
        max_rows: The largest number of combinations of a part.

    Returns:
        The sum; None if a part would have more than `max_rows` combinations.
    """
    parts = []
    for pieces in zip(*(single.parts for single in tallies), strict=True):
        frame = pieces[0]
        if len(pieces) > 1:
            # A frame without rows would only obscure the types of columns.
            with_rows = [piece for piece in pieces if len(piece)] or [pieces[0]]
            frame = concat(with_rows).reset_index(drop=True) if len(with_rows) > 1 else with_rows[0]
            names = [str(name) for name in frame if name != WEIGHT]
            numbers, _ = number_rows(frame, names)
            first, weights = _first_and_weight(numbers, frame[WEIGHT].to_numpy(np.int64))
            frame = frame.iloc[first].reset_index(drop=True).assign(**{WEIGHT: weights})
        if max_rows is not None and len(frame) > max_rows:
            return None
        parts.append(frame)
    return Tally(
        tuple(parts),
        sum(single.n_rows for single in tallies),
        sum(single.n_dropped for single in tallies),
    )


def counts_of(
    total: Tally, keys: Sequence[str], attributes: Sequence[str], concat: Concat
) -> Counts:
    """Return a tally as the counts of a source.

    Args:
        total: The tally of all records.
        keys: Its keys.
        attributes: Its attributes.
        concat: A function that joins frames.
    """
    frames = list(total.parts)
    stops = np.cumsum([len(frame) for frame in frames])
    slices = [slice(int(b - len(f)), int(b)) for f, b in zip(frames, stops, strict=True)]
    heads = [frame[list(keys)] for frame in frames]
    rows = concat(heads).reset_index(drop=True) if len(heads) > 1 else heads[0]
    return Counts(
        keys={key: rows[key] for key in keys},
        engine_keys=rows,
        attributes={
            name: frame[name] for name, frame in zip(attributes, frames, strict=False) if name
        },
        weights=np.concatenate([frame[WEIGHT].to_numpy(np.int64) for frame in frames]),
        parts=dict(zip(list(attributes) or [""], slices, strict=True)),
        combinations=partial(_row_numbers, rows, tuple(keys)),
        n_dropped=total.n_dropped,
    )


def number_rows(frame: pd.DataFrame, names: Sequence[str]) -> tuple[IntArray, int]:
    """Return a number for every row, the same for equal rows, and a limit above all numbers.

    Args:
        frame: The rows.
        names: The columns that are compared.

    >>> number_rows(pd.DataFrame({"a": [1, 1, None], "b": ["x", "y", "y"]}), ["a", "b"])[0].tolist()
    [4, 5, 2]
    """
    numbers, limit = np.zeros(len(frame), np.int64), 1
    for name in names:
        numbers, limit = _combine_numbers(numbers, limit, *_codes(frame[name]))
    return numbers, limit


def _row_numbers(frame: pd.DataFrame, names: Sequence[str]) -> IntArray:
    """Return a number for every row, the same for equal rows."""
    return number_rows(frame, names)[0]


def _combine_numbers(
    numbers: IntArray, limit: int, codes: IntArray, n_codes: int
) -> tuple[IntArray, int]:
    """Return numbers of pairs, as mixed radix numbers, or of ranks where these would overflow."""
    if limit * n_codes > _LARGEST_KEY:
        numbers, ranks = pd.factorize(numbers)
        limit = len(ranks)
    return numbers * n_codes + codes, limit * n_codes


def _first_and_weight(numbers: IntArray, weights: IntArray | None) -> tuple[IntArray, IntArray]:
    """Return the first row of every number, in the order of their rows, and its records."""
    codes, uniques = pd.factorize(numbers)
    first = np.zeros(len(uniques), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    if weights is None:
        return first, np.bincount(codes, minlength=len(uniques)).astype(np.int64)
    sums = np.zeros(len(uniques), np.int64)
    np.add.at(sums, codes, weights)
    return first, sums


def _codes(column: pd.Series[Any]) -> tuple[IntArray, int]:
    """Return a number for every value of a column, and a limit; a missing value is a value."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.int64) + 1, len(column.cat.categories) + 1
    if (
        pd.api.types.is_object_dtype(column.dtype)
        and pd.api.types.infer_dtype(column, skipna=True) not in _PURE
    ):
        column = pd.Series([_with_type(value) for value in column], dtype=object)
    codes, uniques = pd.factorize(column)
    return codes.astype(np.int64) + 1, len(uniques) + 1


def _with_type(value: Any) -> Any:
    """Return a value with its type, so that 1 and True differ."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    try:
        hash(value)
    except TypeError:  # such as a list, which no table can use
        return type(value).__name__, repr(value)
    return type(value).__name__, value
