"""A bound for every recoding that publishes boxes, local ones included: by pairs of records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.exact.prices import Kind, cost_of_block, shares_of
from privmoo.exact.stopwatch import Stopwatch
from privmoo.kernels.pair_losses import sum_nearest_losses

__all__ = ["pair_bound", "pair_leaves"]

_STOP = 0
_MOST_TUPLES = 30_000
_MOST_LEAVES = 3_000


def pair_bound(table: Table, kind: Kind, watch: Stopwatch | None = None) -> NDArray[np.float64]:
    """Return, per k, a cost that no release of boxes with k or more can beat.

    A published record shares its box with at least k - 1 others. The box holds the smallest box around
    the record and any one of them, so the record loses at least what it loses with the worst of these
    others, and that is at least its (k - 1)-th smallest loss in a box of two records. A suppressed
    record loses everything, which is no less. The sum over all records bounds the cost. The bound is
    loose: boxes of two are much smaller than boxes of k. It is 0, which says nothing, for tables of more
    than 30,000 distinct tuples, whose pairs are too many, and for columns of more than 3,000 leaves.

    Args:
        table: The records.
        kind: The cost.
        watch: The time; the sum is too small, and still a bound, if it ends early.
    """
    n = table.n_records
    if table.n_tuples > _MOST_TUPLES or max(qi.n_leaves for qi in table.qis) > _MOST_LEAVES:
        return np.zeros(n + 1)
    shares = shares_of(table, kind)
    parts = []
    for j, qi in enumerate(table.qis):
        parts.append(cost_of_block(pair_leaves(qi), qi.n_leaves, shares[j], kind).ravel())
    widths = np.array([qi.n_leaves for qi in table.qis], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(widths**2)])[:-1].astype(np.int64)
    ks = np.unique(np.minimum(np.geomspace(1, n, 64).astype(np.int64), n))
    counters, totals = np.zeros(1, np.int64), np.zeros(len(ks))
    with (watch or Stopwatch()).stops(counters, _STOP):
        sum_nearest_losses(
            np.ascontiguousarray(table.tuples, dtype=np.int64),
            table.weights.astype(np.int64),
            np.concatenate(parts) / shares.sum(),
            starts,
            widths,
            ks,
            counters,
            totals,
        )
    bound = np.zeros(n + 1)
    bound[1:] = totals[np.searchsorted(ks, np.arange(1, n + 1), side="right") - 1]
    return np.asarray(bound * shares.sum() * (1 - 1e-9))


def pair_leaves(qi: QIColumn) -> NDArray[np.int64]:
    """Return how many leaves the smallest value holds that stands for two leaves, for every pair.

    In a tree it is their lowest common node; in an order, the range between them.

    Args:
        qi: The quasi-identifier.
    """
    codes = np.arange(qi.n_leaves)
    leaves: NDArray[np.int64] = np.abs(codes[:, None] - codes) + 1
    if qi.hierarchy is None or not qi.hierarchy.constrained:
        return leaves
    nodes = qi.hierarchy.nodes
    result = np.full(leaves.shape, qi.n_leaves)
    for node in np.argsort(nodes.start - nodes.stop, kind="stable"):  # the largest first
        inside = slice(int(nodes.start[node]), int(nodes.stop[node]))
        result[inside, inside] = nodes.stop[node] - nodes.start[node]
    np.fill_diagonal(result, 1)
    return result
