"""Combinations of columns, ranked by how many records they single out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from privmoo._util.data_frames import AnyFrame
from privmoo._util.progress_bar import new_bar
from privmoo.analysis.columns import Codes, Column, encode, read_frame, read_whole
from privmoo.data.roles import column_names
from privmoo.data.table import Table
from privmoo.errors import TableError

__all__ = ["keys"]

_MANY = 1000  # combinations from which a progress bar is worth its line


def keys(
    data: AnyFrame | Table,
    columns: Sequence[str] | None = None,
    *,
    max_size: int = 3,
    threshold: int = 5,
    most: int = 100_000,
    progress: bool = True,
) -> pd.DataFrame:
    """Return all combinations of columns up to a size; those that single out most records come first.

    They are ranked by their uniques, then by the records in groups below the threshold, then by
    their distinct tuples, then the smaller combination first.

    Args:
        data: The records.
        columns: The columns to combine; by default all columns of a frame, or the quasi-identifiers of
            a table.
        max_size: The largest number of columns in a combination.
        threshold: The size below which a group counts as small.
        most: The largest number of combinations that is tried.
        progress: Whether to show a bar if there are many combinations.

    >>> df = pd.DataFrame({"age": [1, 1, 2, 2], "sex": list("fmff"), "zip": [7, 7, 7, 7]})
    >>> frame = keys(df, max_size=2, threshold=2)
    >>> frame[["key", "uniques", "share_below", "tuples"]].head(2).values.tolist()
    [[('age', 'sex'), 2, 0.5, 3], [('sex',), 1, 0.25, 2]]
    """
    if columns is None:
        columns = data.qi_names if isinstance(data, Table) else read_frame(data).columns.tolist()
    names = column_names(columns)
    for what, number in (("max_size", max_size), ("threshold", threshold), ("most", most)):
        read_whole(what, [number])
    size = min(max_size, len(names))
    total = sum(math.comb(len(names), length) for length in range(1, size + 1))
    if total > most:
        raise TableError(
            f"columns: {len(names)} columns have {total:,} combinations of up to {size}, more "
            f"than most={most:,}; name fewer columns, lower max_size or raise most"
        )
    columns_by_name = encode(read_frame(data), names, "columns")
    rows = []
    with new_bar(total=total, desc="keys", disable=not progress or total < _MANY) as bar:
        for key, sizes in _combinations(columns_by_name, size):
            below = sizes[sizes < threshold]
            rows.append((key, len(key), int((sizes == 1).sum()), int(below.sum()), len(sizes)))
            bar.update()
    frame = pd.DataFrame(rows, columns=["key", "size", "uniques", "records_below", "tuples"])
    frame.insert(
        4, "share_below", frame["records_below"] / len(next(iter(columns_by_name.values()))[0])
    )
    return frame.sort_values(
        ["uniques", "records_below", "tuples", "size"],
        ascending=[False, False, False, True],
        kind="stable",
        ignore_index=True,
    )


def _combinations(columns: dict[str, Column], size: int) -> Iterator[tuple[tuple[str, ...], Codes]]:
    """Return every combination with its group sizes."""
    names = list(columns)
    n_records = len(columns[names[0]][0])

    def _longer(
        key: tuple[str, ...], group: Codes, n_groups: int, start: int
    ) -> Iterator[tuple[tuple[str, ...], Codes]]:
        for place in range(start, len(names)):
            codes, n_values = columns[names[place]]
            codes_of_both = group * n_values + codes
            if n_groups * n_values <= 4 * n_records:  # counting beats hashing
                sizes = np.bincount(codes_of_both, minlength=n_groups * n_values)
                inner, sizes = (np.cumsum(sizes > 0) - 1)[codes_of_both], sizes[sizes > 0]
            else:
                inner = pd.factorize(codes_of_both)[0].astype(np.int64)
                sizes = np.bincount(inner)
            longer = (*key, names[place])
            yield longer, sizes
            if len(longer) < size:
                yield from _longer(longer, inner, len(sizes), place + 1)

    return _longer((), np.zeros(n_records, dtype=np.int64), 1, 0)
