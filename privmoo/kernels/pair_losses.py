"""What a record loses at least if it shares its box with k records: its nearest neighbours by loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["N_BINS", "sum_nearest_losses"]

N_BINS = 4096
"""Losses are rounded down to so many steps."""


@compiled()
def sum_nearest_losses(
    codes: NDArray[np.int64],
    weights: NDArray[np.int64],
    losses: NDArray[np.float64],
    starts: NDArray[np.int64],
    widths: NDArray[np.int64],
    ks: NDArray[np.int64],
    counters: NDArray[np.int64],
    totals: NDArray[np.float64],
) -> None:
    """Add, for every k, the k-th smallest loss of a box around a record and another, over all records.

    The record itself is the first of them and loses nothing. `losses[starts[j] + a * widths[j] + b]` is
    what column j costs in the smallest box of its codes a and b; the sum over columns is at most `1` after
    scaling. Another thread stops the loop by the first counter; the totals are then too small, but still
    valid as bounds. `ks` is ascending.
    """
    n, n_columns = codes.shape
    records = np.zeros(N_BINS + 1, np.int64)
    loss = np.empty(n)
    for i in range(n):
        if counters[0] != 0:
            return
        loss[:] = 0.0
        for j in range(n_columns):
            row = losses[starts[j] + codes[i, j] * widths[j] :]
            for other in range(n):
                loss[other] += row[codes[other, j]]
        records[:] = 0
        for other in range(n):
            records[np.int64(loss[other] * N_BINS * (1 - 1e-12))] += weights[other]
        bin_, inside = 0, records[0]
        for place in range(len(ks)):
            while inside < ks[place]:
                bin_ += 1
                inside += records[bin_]
            totals[place] += weights[i] * (bin_ / N_BINS)
