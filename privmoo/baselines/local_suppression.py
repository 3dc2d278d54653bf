"""Local suppression: few cells are blanked until every combination that is left occurs k times."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, groupby
from math import comb

import numpy as np
from numpy.typing import NDArray

from privmoo._util.distinct import number_rows
from privmoo.baselines.common import check
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.recodings.classes import PartitionRecoding, range_recoding

__all__ = ["local_suppression"]

_MOST_SETS = 1 << 12
Columns = tuple[int, ...]


def local_suppression(table: Table, k: int) -> PartitionRecoding:
    """Blank few cells of the records that fewer than k have in common, and keep all others as they are.

    A cell is published or becomes `*`. Sets of columns are tried from the one that costs least: records
    that k of the rest share once these columns are blanked become a class. A column costs its weight, so
    columns of little importance are blanked first; of sets that cost the same, the one that settles most
    records comes first. The fewer than k records that nothing settles join the classes where that blanks
    least. A `*` is a value like any other: the records of a class are published alike, and nobody needs
    to guess what a blank stands for to count k of them. sdcMicro's `localSuppression` counts a blank
    as equal to every value, which blanks fewer cells and promises less.

    `problems.Regions` of a table whose hierarchies are flat publishes the same kind of cells.

    With 12 columns or fewer every set of columns is tried; with more, small sets and then nested sets of
    the least important columns.

    Args:
        table: The records.
        k: Fewest records of a class.

    >>> import pandas as pd
    >>> df = pd.DataFrame({"age": [20, 20, 30, 31], "sex": list("ffmm")})
    >>> table = Table(df, quasi_identifiers=["age", "sex"])
    >>> local_suppression(table, 2).apply(table, np.arange(4)).to_numpy().tolist()
    [['20', 'f'], ['20', 'f'], ['*', 'm'], ['*', 'm']]
    """
    check(table, k)
    for qi in table.qis:
        if qi.hierarchy is not None and qi.max_level < qi.hierarchy.height:
            raise ProblemError(
                f"local_suppression: column {qi.name!r} has max_level={qi.max_level} and may not be "
                "blanked; leave max_level out, or use problems.Regions, which respects it"
            )
    weights = [qi.weight for qi in table.qis]
    blanks = np.zeros((table.n_tuples, table.n_qis), np.bool_)
    rest = np.arange(table.n_tuples)
    for _, sets in groupby(_sets_of_columns(weights), key=lambda columns: _cost(weights, columns)):
        if not len(rest):
            break
        gains = [(_records(table, rest[_is_common(table, rest, s, k)]), s) for s in sets]
        for _, blank in sorted((s for s in gains if s[0]), key=lambda s: (-s[0], s[1])):
            is_common = _is_common(table, rest, blank, k)
            blanks[np.ix_(rest[is_common], np.array(blank, np.int64))] = True
            rest = rest[~is_common]
    start = np.where(blanks, 0, table.tuples).astype(np.int64)
    stop = np.where(blanks, [qi.n_leaves for qi in table.qis], start + 1)
    _join(table, rest, start, stop)
    return range_recoding(table, np.arange(table.n_tuples), by="tuples", bounds=(start, stop))


def _cost(weights: list[float], columns: Columns) -> float:
    return round(sum(weights[j] for j in columns), 9)


def _sets_of_columns(weights: list[float]) -> Iterator[Columns]:
    """Return sets of columns to blank, by their cost; of very many, small ones and then nested ones."""
    n = len(weights)
    size, number = 0, 1
    while size < n and number + comb(n, size + 1) <= _MOST_SETS:
        size += 1
        number += comb(n, size)
    sets = {s for r in range(size + 1) for s in combinations(range(n), r)}
    by_importance = sorted(range(n), key=lambda j: weights[j])
    sets |= {tuple(sorted(by_importance[:r])) for r in range(size + 1, n + 1)}
    return iter(sorted(sets, key=lambda s: (_cost(weights, s), len(s), s)))


def _records(table: Table, tuples: NDArray[np.int64]) -> int:
    return int(table.weights[tuples].sum())


def _is_common(table: Table, rest: NDArray[np.int64], blank: Columns, k: int) -> NDArray[np.bool_]:
    """Return which of the remaining tuples k records share, without the columns that are blank."""
    places = [j for j in range(table.n_qis) if j not in blank]
    if not len(rest):
        return np.zeros(0, np.bool_)
    numbers, _ = number_rows(
        np.zeros(len(rest), np.int64),
        [table.tuples[rest, j] for j in places],
        [table.qis[j].n_leaves for j in places],
    )
    return np.asarray(np.bincount(numbers, table.weights[rest])[numbers] >= k)


def _join(
    table: Table, rest: NDArray[np.int64], start: NDArray[np.int64], stop: NDArray[np.int64]
) -> None:
    """Let remaining tuples join the classes where that blanks the fewest cells, by weight.

    Args:
        table: The records.
        rest: The tuples; together they have fewer than k records.
        start: Changed: for every tuple, the first leaf that is published.
        stop: Changed: one past the last one.
    """
    if not len(rest):
        return
    prices = np.array([qi.weight for qi in table.qis])
    ends = np.array([qi.n_leaves for qi in table.qis])
    is_settled = np.ones(table.n_tuples, np.bool_)
    is_settled[rest] = False
    for t in rest:
        others = np.flatnonzero(is_settled)
        classes, first = number_rows(
            np.zeros(len(others), np.int64),
            [*start[others].T, *(stop[others] - start[others] > 1).T],
            [*ends, *[2] * table.n_qis],
        )
        sizes = np.bincount(classes, table.weights[others])
        examples = others[first]
        is_blank = stop[examples] - start[examples] > 1
        differs = (start[examples] != table.tuples[t]) & ~is_blank
        costs = sizes * (differs @ prices) + table.weights[t] * ((differs | is_blank) @ prices)
        best = int(np.argmin(costs))
        blank = differs[best] | is_blank[best]
        for member in (*others[classes == best], t):
            start[member, blank], stop[member, blank] = 0, ends[blank]
        is_settled[t] = True
