"""Columns that nearly identify people, but only together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from privmoo.audit.report import is_nearly_unique, nearly_unique
from privmoo.audit.values import factorize

__all__ = ["fewest_unique", "unique_together"]

Name = TypeVar("Name", bound=Hashable)
HashArray = npt.NDArray[np.uint64]


def unique_together(df: pd.DataFrame, columns: Sequence[Hashable]) -> list[Hashable]:
    """Return a few columns that are (nearly) unique together, though none of them is alone.

    A missing value counts as a value.

    Args:
        df: The table.
        columns: The columns to look at.

    Returns:
        The columns, in the order given; none if all together are not nearly unique.

    >>> df = pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [5, 5, 5, 5]})
    >>> unique_together(df, ["a", "b", "c"])
    ['a', 'b']
    """
    alone = nearly_unique(df, columns)
    hashes = {name: _hashes(df[name], name, i) for i, name in enumerate(columns)}
    spread = {name: len(pd.unique(hashes[name])) for name in columns if name not in alone}

    def combinations(names: Sequence[Hashable]) -> tuple[int, int]:
        return len(pd.unique(_sum([hashes[name] for name in names]))), len(df)

    return fewest_unique(spread, combinations)


def fewest_unique(
    spread: Mapping[Name, int], combinations: Callable[[Sequence[Name]], tuple[int, int]]
) -> list[Name]:
    """Return a few columns whose combinations of values are (nearly) all different.

    All columns together are counted first. If they are nearly unique, columns are added, those with the
    most values first, until their combinations are nearly unique; then those that are not needed are
    removed. So combinations are counted at most three times per column.

    Args:
        spread: The columns, none of which is nearly unique alone, with the number of their values.
        combinations: A function that returns the number of combinations of values in some columns, and the
            number of rows.

    Returns:
        The columns, in the order of `spread`; none if all together are not nearly unique.

    >>> rows = {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [5, 5, 5, 5]}
    >>> def combinations(names):
    ...     return len(set(zip(*(rows[name] for name in names)))), 4
    >>> fewest_unique({"a": 2, "b": 2, "c": 1}, combinations)
    ['a', 'b']
    """

    def differ(names: Sequence[Name]) -> bool:
        return bool(names) and is_nearly_unique(*combinations(names))

    if len(spread) < 2 or not differ(list(spread)):
        return []
    columns_left: list[Name] = []
    for name in sorted(spread, key=lambda name: -spread[name]):
        columns_left.append(name)
        if len(columns_left) == len(spread) or differ(columns_left):
            break
    for name in reversed(columns_left.copy()):  # those with the fewest values first
        fewer = [column for column in columns_left if column != name]
        if differ(fewer):
            columns_left = fewer
    return [name for name in spread if name in columns_left]


def _hashes(column: pd.Series[Any], name: Hashable, place: int) -> HashArray:
    """Return a random number for every value; sums of them tell combinations apart."""
    codes, uniques = factorize(column, name)
    numbers = np.random.default_rng(place).integers(2**64, size=len(uniques) + 1, dtype=np.uint64)
    return numbers[codes]  # a missing value, -1, has the last


def _sum(hashes: Sequence[HashArray]) -> HashArray:
    return np.asarray(np.sum(hashes, axis=0, dtype=np.uint64))
