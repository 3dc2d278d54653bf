"""A bound for microaggregation: the least squared error of any clusters of at least k records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.data.points import Scale, Space
from privmoo.data.table import Table
from privmoo.errors import ProblemError

__all__ = ["squared_error_bound"]

_MOST_RECORDS = 6_000
_STEPS = 300
_SLOWER = 10  # steps, after which a step is half as long as the first


def squared_error_bound(table: Table, k: int, *, scale: Scale = "standard") -> float:
    """Return a share of the total squared error that no clusters of at least k records can beat.

    The squared error of a cluster of m records is `Σ d²(i, j) / m` over its pairs. So with `x(i, j) = 1/m`
    for two records of one cluster and 0 for others, the error of all clusters is `Σ d²(i, j) x(i, j)`.
    As m ≥ k, no x exceeds 1/k, and those of one record sum to `(m - 1) / m ≥ (k - 1) / k`. The least sum
    over *any* such x is a bound, and its dual bounds it for any u: `Σ uᵢ (k - 1) / k` minus `1/k` of
    every positive `uᵢ + uⱼ - d²(i, j)`, and each pair once. A fixed number of subgradient steps improves
    u, from half the (k - 1)-th smallest squared distance of every record.

    The bound is loose, and looser for larger k: x need not be clusters.

    Args:
        table: The records, at most 6,000 of them.
        k: The least records of a cluster.
        scale: The unit of numbers: `"standard"` deviations, `"minmax"` for ranges, or `"raw"`.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 22, 60, 62]}), quasi_identifiers=["age"])
    >>> round(squared_error_bound(table, 2), 6)
    0.002494
    """
    k = whole_number("k", k, at_least=1)
    if k > table.n_records:
        raise ProblemError(
            f"k: {k:,} is more than the {table.n_records:,} records of the table; choose a smaller k"
        )
    if table.n_records > _MOST_RECORDS:
        raise ProblemError(
            f"table: the bound of squared errors needs at most {_MOST_RECORDS:,} records, got "
            f"{table.n_records:,}; take a sample"
        )
    space = Space.of(table, scale)
    if not space.numeric.all():
        name = table.qi_names[int(np.flatnonzero(~space.numeric)[0])]
        raise ProblemError(
            f"table: squared errors are known of numbers, and {name!r} holds others; leave it out"
        )
    points = space.points[table.row_tuple]
    total = float(((points - points.mean(axis=0)) ** 2).sum())
    if k == 1 or total == 0:
        return 0.0
    squares = _squared_distances(points)
    np.fill_diagonal(squares, np.inf)
    duals = np.partition(squares, k - 2, axis=1)[:, k - 2] / 2
    best, length = 0.0, float(duals.mean())
    for step in range(_STEPS):
        excess = duals[:, None] + duals - squares
        is_positive = excess > 0
        bound = duals.sum() * (k - 1) / k - excess[is_positive].sum() / 2 / k
        best = max(best, float(bound))
        slopes = 1 - is_positive.sum(axis=1) / (k - 1)
        duals += length / (1 + step / _SLOWER) * np.clip(slopes, -1, 1)
    return best / total * (1 - 1e-9)


def _squared_distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
    result = np.zeros((len(points), len(points)))
    for column in points.T:
        result += (column[:, None] - column) ** 2
    return result
