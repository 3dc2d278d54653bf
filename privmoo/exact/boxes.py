"""A bound for every recoding that publishes boxes, local ones included: the cheapest box of each record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.exact.prices import Kind, cost_of_block, shares_of
from privmoo.exact.stopwatch import Stopwatch
from privmoo.kernels.box_losses import PairLosses, raise_to_boxes, write_nearest_losses

__all__ = ["box_bound", "pair_leaves"]

_STOP = 0
_MOST_TUPLES = 30_000
_MOST_LEAVES = 3_000
_MOST_STEPS = 50_000  # of the search for the cheapest boxes of one tuple
_BOX_KS = 2, 3, 5, 7, 10, 15, 25, 50, 100


def box_bound(table: Table, kind: Kind, watch: Stopwatch | None = None) -> NDArray[np.float64]:
    """Return, per k, a cost that no release of boxes with k or more can beat.

    A published record shares its box with at least k - 1 others. The box holds the smallest box around
    the record and any one of them, so in every column the record loses at least what it loses with the
    worst of these others. So it loses at least as much as with the cheapest limits, one for every column,
    within which k records lie (see `privmoo.kernels.box_losses.raise_to_boxes`). A range of an ordered
    column has a limit to either side, whose losses add up. Where the limits take too long to find, the
    record loses at least its (k - 1)-th smallest loss in a box of two records. A suppressed record loses
    everything, which is no less. The sum over all records bounds the cost.

    The bound is loose: the cheapest boxes of different records overlap, and those of a release must not.
    It is 0, which says nothing, for tables of more than 30,000 distinct tuples, whose pairs are too many,
    and for columns of more than 3,000 leaves.

    Args:
        table: The records.
        kind: The cost.
        watch: The time; the sum is too small, and still a bound, if it ends early.
    """
    n = table.n_records
    if table.n_tuples > _MOST_TUPLES or max(qi.n_leaves for qi in table.qis) > _MOST_LEAVES:
        return np.zeros(n + 1)
    shares = shares_of(table, kind)
    columns = [
        [cost_of_block(pair_leaves(qi), qi.n_leaves, share, kind)]
        for qi, share in zip(table.qis, shares, strict=True)
    ]
    pairs = _pair_losses(table, columns, shares.sum())
    if kind == "loss":
        columns = [
            own if is_constrained(qi) else [np.tril(own[0]), np.triu(own[0])]
            for own, qi in zip(columns, table.qis, strict=True)
        ]
    sides = _pair_losses(table, columns, shares.sum())
    ks = np.unique(np.minimum(np.geomspace(1, n, 64).astype(np.int64), n))
    counters, least = np.zeros(1, np.int64), np.zeros((table.n_tuples, len(ks)))
    box_ks = np.unique([k for k in _BOX_KS if k <= n])
    of_boxes = np.zeros((table.n_tuples, len(box_ks)))
    with (watch or Stopwatch()).stops(counters, _STOP):
        write_nearest_losses(pairs, ks, counters, least)
        of_boxes[:] = least[:, np.searchsorted(ks, box_ks, side="right") - 1]
        raise_to_boxes(sides, box_ks, _MOST_STEPS, counters, of_boxes)
    every = np.arange(1, n + 1)
    bound = np.zeros(n + 1)
    for of_tuples, own_ks in ((least, ks), (of_boxes, box_ks)):
        totals = np.concatenate([[0.0], pairs.weights @ of_tuples])
        bound[1:] = np.maximum(bound[1:], totals[np.searchsorted(own_ks, every, side="right")])
    return np.asarray(bound * shares.sum() * (1 - 1e-11))


def _pair_losses(
    table: Table, columns: list[list[NDArray[np.float64]]], total: float
) -> PairLosses:
    """Return the losses of pairs in every column, or in both directions of a column, for the kernels."""
    losses = [(j, loss) for j, own in enumerate(columns) for loss in own]
    widths = np.array([len(loss) for _, loss in losses], dtype=np.int64)
    return PairLosses(
        codes=np.ascontiguousarray(table.tuples[:, [j for j, _ in losses]], dtype=np.int64),
        weights=table.weights.astype(np.int64),
        losses=np.concatenate([loss.ravel() for _, loss in losses]) / total,
        starts=np.concatenate([[0], np.cumsum(widths**2)])[:-1].astype(np.int64),
        widths=widths,
    )


def is_constrained(qi: QIColumn) -> bool:
    """Return whether values of a column stand for nodes of a tree only, and not for any range."""
    return qi.hierarchy is not None and qi.hierarchy.constrained


def pair_leaves(qi: QIColumn) -> NDArray[np.int64]:
    """Return how many leaves the smallest value holds that stands for two leaves, for every pair.

    In a tree it is their lowest common node; in an order, the range between them.

    Args:
        qi: The quasi-identifier.
    """
    codes = np.arange(qi.n_leaves)
    leaves: NDArray[np.int64] = np.abs(codes[:, None] - codes) + 1
    if qi.hierarchy is None or not is_constrained(qi):
        return leaves
    nodes = qi.hierarchy.nodes
    result = np.full(leaves.shape, qi.n_leaves)
    for node in np.argsort(nodes.start - nodes.stop, kind="stable"):  # the largest first
        inside = slice(int(nodes.start[node]), int(nodes.stop[node]))
        result[inside, inside] = nodes.stop[node] - nodes.start[node]
    np.fill_diagonal(result, 1)
    return result
