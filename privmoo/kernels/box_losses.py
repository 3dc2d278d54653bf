"""What a record loses at least in a box of k records: bounds by pairs of records, and by whole boxes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["N_BINS", "PairLosses", "raise_to_boxes", "write_nearest_losses"]

N_BINS = 4096
"""Losses of pairs are rounded down to so many steps."""
_ROUNDING = 1e-12


class PairLosses(NamedTuple):
    """What the columns cost in the smallest box around two records.

    `losses[starts[j] + a * widths[j] + b]` is the cost of column j for its codes a and b; the costs of all
    columns add up to at most 1.
    """

    codes: NDArray[np.int64]
    weights: NDArray[np.int64]
    losses: NDArray[np.float64]
    starts: NDArray[np.int64]
    widths: NDArray[np.int64]


@compiled()
def write_nearest_losses(
    pairs: PairLosses,
    ks: NDArray[np.int64],
    counters: NDArray[np.int64],
    least: NDArray[np.float64],
) -> None:
    """Write, by tuple and k, the k-th smallest loss of a box around a record and another.

    The record itself is the first of them and loses nothing. Another thread stops the loop by the first
    counter; what is not written stays. `ks` is ascending.
    """
    n, n_columns = pairs.codes.shape
    records = np.zeros(N_BINS + 1, np.int64)
    loss = np.empty(n)
    for i in range(n):
        if counters[0] != 0:
            return
        loss[:] = 0.0
        for j in range(n_columns):
            row = pairs.losses[pairs.starts[j] + pairs.codes[i, j] * pairs.widths[j] :]
            for other in range(n):
                loss[other] += row[pairs.codes[other, j]]
        records[:] = 0
        for other in range(n):
            records[np.int64(loss[other] * N_BINS * (1 - _ROUNDING))] += pairs.weights[other]
        bin_, inside = 0, records[0]
        for place in range(len(ks)):
            while inside < ks[place]:
                bin_ += 1
                inside += records[bin_]
            least[i, place] = bin_ / N_BINS


@compiled()
def raise_to_boxes(
    pairs: PairLosses,
    ks: NDArray[np.int64],
    most_steps: int,
    counters: NDArray[np.int64],
    least: NDArray[np.float64],
) -> int:
    """Raise bounds by tuple and k to the cheapest box around a record that holds k records.

    A box costs in every column at least the largest loss of a pair of the record and another one in
    the box. So its cost is at least the sum, over columns, of limits such that k records lie within all
    limits. The least such sum is found by a search that decides on one column after another, those first
    in which the first step is dear. It starts from boxes around the nearest records and leaves out what is
    not cheaper. A tuple whose search takes more than `most_steps` keeps its bound. Another thread stops the
    loop by the first counter. Returns how many tuples were finished.
    """
    n, m = pairs.codes.shape
    cost = np.empty((m, n))
    rest = np.zeros((m + 1, n))
    members = np.empty((m + 1, n), np.int64)
    best = np.empty(len(ks))
    finished = 0
    for i in range(n):
        if counters[0] != 0:
            return finished
        order = _dear_steps_first(pairs, i)
        rest[m] = 0.0
        for depth in range(m - 1, -1, -1):
            j = order[depth]
            row = pairs.losses[pairs.starts[j] + pairs.codes[i, j] * pairs.widths[j] :]
            for other in range(n):
                cost[depth, other] = row[pairs.codes[other, j]]
                rest[depth, other] = rest[depth + 1, other] + cost[depth, other]
        _boxes_around_nearest(pairs.weights, ks, cost, rest[0], least[i, len(ks) - 1], best)
        if _cheapest_boxes(pairs.weights, ks, cost, rest, members, most_steps, best):
            finished += 1
            for place in range(len(ks)):
                least[i, place] = max(least[i, place], best[place] * (1 - _ROUNDING))
    return finished


@compiled()
def _dear_steps_first(pairs: PairLosses, i: int) -> NDArray[np.int64]:
    """The columns by the least loss of a pair that loses something, the largest first."""
    m = pairs.codes.shape[1]
    first = np.empty(m)
    for j in range(m):
        begin = pairs.starts[j] + pairs.codes[i, j] * pairs.widths[j]
        least = np.inf
        for code in range(pairs.widths[j]):
            if pairs.losses[begin + code] > 0:
                least = min(least, pairs.losses[begin + code])
        first[j] = -least
    return np.argsort(first)


@compiled()
def _boxes_around_nearest(
    weights: NDArray[np.int64],
    ks: NDArray[np.int64],
    cost: NDArray[np.float64],
    total: NDArray[np.float64],
    farthest: float,
    best: NDArray[np.float64],
) -> None:
    """The cost, for every k, of the box around a record and its nearest ones."""
    near = np.flatnonzero(total <= farthest + 2.0 / N_BINS)
    near = near[np.argsort(total[near], kind="mergesort")]
    limits = np.zeros(len(cost))
    inside, place = np.int64(0), 0
    for other in near:
        inside += weights[other]
        for depth in range(len(cost)):
            limits[depth] = max(limits[depth], cost[depth, other])
        while place < len(ks) and inside >= ks[place]:
            best[place] = limits.sum()
            place += 1
    best[place:] = np.inf


@compiled()
def _cheapest_boxes(
    weights: NDArray[np.int64],
    ks: NDArray[np.int64],
    cost: NDArray[np.float64],
    rest: NDArray[np.float64],
    members: NDArray[np.int64],
    most_steps: int,
    best: NDArray[np.float64],
) -> bool:
    """Lower `best` to the cheapest limits for every k. Returns whether the search came to its end."""
    m, n = cost.shape
    n_members, inside = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    limit, paid = np.full(m, -1.0), np.zeros(m + 1)
    for other in range(n):
        if rest[0, other] < best[-1]:
            members[0, n_members[0]] = other
            n_members[0] += 1
            inside[0] += weights[other]
    steps = 0
    depth = 0
    while depth >= 0:
        if depth == m:
            for place in range(len(ks)):
                if ks[place] <= inside[m]:
                    best[place] = min(best[place], paid[m])
            depth -= 1
            continue
        steps += 1
        if steps > most_steps:
            return False
        # The next limit of this column: the least cost of a member above the last one.
        following = np.inf
        for at in range(n_members[depth]):
            value = cost[depth, members[depth, at]]
            if value > limit[depth]:
                following = min(following, value)
        if following == np.inf:
            limit[depth] = -1.0
            depth -= 1
            continue
        limit[depth] = following
        paid[depth + 1] = paid[depth] + following
        most = _dearest(ks, best, inside[depth])
        if paid[depth + 1] >= most:
            limit[depth] = -1.0
            depth -= 1
            continue
        count, records = 0, np.int64(0)
        for at in range(n_members[depth]):
            other = members[depth, at]
            if cost[depth, other] <= following and paid[depth + 1] + rest[depth + 1, other] < most:
                members[depth + 1, count] = other
                count += 1
                records += weights[other]
        if paid[depth + 1] >= _dearest(ks, best, records):
            continue
        n_members[depth + 1], inside[depth + 1] = count, records
        depth += 1
    return True


@compiled()
def _dearest(ks: NDArray[np.int64], best: NDArray[np.float64], inside: Any) -> float:
    """The cost below which so many records help some k; best costs rise with k."""
    result = 0.0
    for place in range(len(ks)):
        if ks[place] <= inside:
            result = best[place]
    return result
