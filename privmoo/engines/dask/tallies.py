"""Counting frames in memory: the combinations of one partition, and those of several together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.source import COUNT, Counted

__all__ = ["Tally", "as_counted", "numbered", "tally", "together"]

IntArray = NDArray[np.int64]
Concat = Callable[[list[pd.DataFrame]], pd.DataFrame]
_WIDEST = 2**62
# What pandas may factorize as it is; in other columns it would take 1 and True for one value.
_PURE = {"string", "integer", "floating", "decimal", "boolean", "datetime64", "datetime", "date"}


@dataclass(frozen=True)
class Tally:
    """Combinations with how many records have each, one frame per part; records that were left out."""

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

    >>> frame = pd.DataFrame({"a": [1, 2, 1], "s": ["x", "x", "x"]})
    >>> tally(frame, ["a"], ["s"]).parts[0].to_numpy().tolist()
    [[1, 'x', 2], [2, 'x', 1]]
    """
    n_rows = len(frame)
    if complete:
        frame = frame[frame[list(complete)].notna().all(axis=1)]
    own, n_own = numbered(frame, keys)
    parts = []
    for name in attributes or [""]:
        numbers, n, columns = own, n_own, list(keys)
        if name:
            codes, width = _codes(frame[name])
            numbers, n = _joined(own, n_own, codes, width)
            columns.append(name)
        first, counts = _counted(numbers, n, None)
        parts.append(frame[columns].iloc[first].reset_index(drop=True).assign(**{COUNT: counts}))
    return Tally(tuple(parts), n_rows, n_rows - len(frame))


def together(tallies: Sequence[Tally], concat: Concat, most: int | None = None) -> Tally | None:
    """The sum of several; None where a part would have more than so many combinations."""
    parts = []
    for own in zip(*(one.parts for one in tallies), strict=True):
        frame = own[0]
        if len(own) > 1:
            # A part without rows would only blur types.
            full = [part for part in own if len(part)] or [own[0]]
            frame = concat(full).reset_index(drop=True) if len(full) > 1 else full[0]
            names = [str(name) for name in frame if name != COUNT]
            first, counts = _counted(*numbered(frame, names), frame[COUNT].to_numpy(np.int64))
            frame = frame.iloc[first].reset_index(drop=True).assign(**{COUNT: counts})
        if most is not None and len(frame) > most:
            return None
        parts.append(frame)
    return Tally(
        tuple(parts), sum(one.n_rows for one in tallies), sum(one.n_dropped for one in tallies)
    )


def as_counted(
    found: Tally, keys: Sequence[str], attributes: Sequence[str], concat: Concat
) -> Counted:
    """A sum as what the table asks for."""
    frames = list(found.parts)
    stops = np.cumsum([len(frame) for frame in frames])
    slices = [slice(int(b - len(f)), int(b)) for f, b in zip(frames, stops, strict=True)]
    heads = [frame[list(keys)] for frame in frames]
    raw = concat(heads).reset_index(drop=True) if len(heads) > 1 else heads[0]
    return Counted(
        keys={key: raw[key] for key in keys},
        raw=raw,
        attributes={
            name: frame[name] for name, frame in zip(attributes, frames, strict=False) if name
        },
        counts=np.concatenate([frame[COUNT].to_numpy(np.int64) for frame in frames]),
        parts=dict(zip(list(attributes) or [""], slices, strict=True)),
        combinations=lambda: numbered(raw, keys)[0],
        n_dropped=found.n_dropped,
    )


def numbered(frame: pd.DataFrame, names: Sequence[str]) -> tuple[IntArray, int]:
    """A number for every row, equal where all values are; and how many there are, or more.

    >>> numbered(pd.DataFrame({"a": [1, 1, None], "b": ["x", "y", "y"]}), ["a", "b"])[0].tolist()
    [4, 5, 2]
    """
    numbers, n = np.zeros(len(frame), np.int64), 1
    for name in names:
        numbers, n = _joined(numbers, n, *_codes(frame[name]))
    return numbers, n


def _joined(one: IntArray, n: int, other: IntArray, width: int) -> tuple[IntArray, int]:
    if n * width > _WIDEST:
        one, found = pd.factorize(one)
        n = len(found)
    return one * width + other, n * width


def _counted(numbers: IntArray, n: int, weights: IntArray | None) -> tuple[IntArray, IntArray]:
    """The first row of every number, in their order, and its records."""
    codes, found = pd.factorize(numbers)
    first = np.zeros(len(found), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    if weights is None:
        return first, np.bincount(codes, minlength=len(found)).astype(np.int64)
    counts = np.zeros(len(found), np.int64)
    np.add.at(counts, codes, weights)
    return first, counts


def _codes(column: pd.Series[Any]) -> tuple[IntArray, int]:
    """A number for every value of a column, and how many there are; a missing value is a value."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.int64) + 1, len(column.cat.categories) + 1
    if (
        pd.api.types.is_object_dtype(column.dtype)
        and pd.api.types.infer_dtype(column, skipna=True) not in _PURE
    ):
        column = pd.Series([_told_apart(value) for value in column], dtype=object)
    codes, found = pd.factorize(column)
    return codes.astype(np.int64) + 1, len(found) + 1


def _told_apart(value: Any) -> Any:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    try:
        hash(value)
    except TypeError:  # such as a list, which no table can use
        return type(value).__name__, repr(value)
    return type(value).__name__, value
