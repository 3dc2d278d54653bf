"""What a release is good for: counts and associations, measured from its rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.learning.values import Reading, check_release, read_released
from privmoo.measures import QueryError
from privmoo.recodings.columns import nearest_leaves
from privmoo.release.release import Release

__all__ = ["association_error", "query_error"]

FloatArray = NDArray[np.float64]


def query_error(table: Table, release: Release, measure: QueryError | None = None) -> float:
    """Return the mean relative error of COUNT queries that are answered from released rows.

    Args:
        table: The original.
        release: A release of it.
        measure: The queries; those of `QueryError()` by default.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"age": [20, 20, 20, 40]})
    >>> table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> release = pm.make_release(table, pm.recodings.cut_recoding(table, [[0]]), seed=1)
    >>> 0 < query_error(table, release) < 1
    True
    """
    measure = QueryError() if measure is None else measure
    check_release(table, release)
    workload = measure.workload(table)
    spreads = _spreads(table, release)
    estimates = np.empty(len(workload))
    for q, query in enumerate(workload.conditions):
        shares = np.ones(len(release.frame))
        for j, leaves in query.items():
            reading, spread = spreads[j]
            shares *= (spread @ leaves.astype(np.float64))[reading.codes]
        estimates[q] = shares.sum()
    return measure.error(table, estimates)


def association_error(table: Table, release: Release) -> float:
    """Return how much the association between quasi-identifiers changes, on average over all pairs.

    The association of two columns is Cramér's V of their original values. In a release every row is spread
    evenly over the values that its labels may stand for.

    Args:
        table: The original, with at least two quasi-identifiers.
        release: A release of it.

    Returns:
        The mean of the absolute differences of V, from 0 (all associations are kept) to 1.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"age": [20, 20, 40, 40], "sex": list("ffmm")})
    >>> table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered(), "sex": pm.Hierarchy.flat()})
    >>> no_age = pm.make_release(table, pm.recodings.cut_recoding(table, [[0], [1]]), seed=1)
    >>> association_error(table, no_age)
    1.0
    """
    check_release(table, release)
    if table.n_qis < 2:
        raise ProblemError(
            "table: an association needs two quasi-identifiers, but the table has one; leave it out"
        )
    spreads = _spreads(table, release)
    n = len(release.frame)
    changes = []
    for i, j in combinations(range(table.n_qis), 2):
        before = sparse.coo_array(
            (table.weights, (table.tuples[:, i], table.tuples[:, j])),
            shape=(table.qis[i].n_leaves, table.qis[j].n_leaves),
        ).toarray()
        (left, left_spread), (right, right_spread) = spreads[i], spreads[j]
        rows = sparse.coo_array(
            (np.ones(n), (left.codes, right.codes)), shape=(len(left.leaves), len(right.leaves))
        ).tocsr()
        after = (left_spread.T @ rows @ right_spread).toarray()
        changes.append(abs(_cramers_v(after) - _cramers_v(before)))
    return float(np.mean(changes))


def _spreads(table: Table, release: Release) -> list[tuple[Reading, sparse.csr_array]]:
    """Return per quasi-identifier the released values and, for each, the probability of every leaf."""
    spreads = []
    for qi in table.qis:
        reading = read_released(table, qi.name, release)
        rows, columns, shares = [], [], []
        for value, leaves in enumerate(reading.leaves):
            if not len(leaves):
                number = reading.numbers_of_values[value : value + 1]
                leaves = nearest_leaves(np.asarray(qi.numbers), number)
            rows += [value] * len(leaves)
            columns += leaves.tolist()
            shares += [1 / len(leaves)] * len(leaves)
        shape = (len(reading.leaves), qi.n_leaves)
        spreads.append((reading, sparse.csr_array((shares, (rows, columns)), shape=shape)))
    return spreads


def _cramers_v(counts: FloatArray) -> float:
    """Return Cramér's V of a contingency table; 0 if one side does not vary."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    n, smaller = counts.sum(), min(counts.shape) - 1
    if smaller < 1:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    return float(np.sqrt(min(chi_squared / (n * smaller), 1.0)))
