"""Pareto dominance of rows of minimised objective values."""

from __future__ import annotations

import moocore
import numpy as np
from numpy.typing import NDArray

__all__ = ["feasible_rows", "non_dominated", "share_of_box"]


def feasible_rows(F: NDArray[np.float64], G: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """Return the positions of the candidates that violate no constraint.

    Args:
        F: Minimised objective values, one row per candidate.
        G: Violations, at most 0 where a constraint holds; None or empty without constraints.
    """
    if G is None or not np.size(G):
        return np.arange(len(F))
    return np.flatnonzero((np.asarray(G).reshape(len(F), -1) <= 0).all(axis=1))


def non_dominated(F: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows no other row dominates; of equal rows only the first counts.

    >>> non_dominated(np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 2.0], [2.0, 1.0]])).tolist()
    [True, False, True, False]
    """
    if F.shape[1] == 1:
        keep = np.zeros(len(F), dtype=np.bool_)
        if len(F):  # moocore would keep the last of equal ones
            keep[int(np.argmin(F[:, 0]))] = True
        return keep
    return np.asarray(moocore.is_nondominated(F), dtype=np.bool_)


def share_of_box(
    F: NDArray[np.float64], ideal: NDArray[np.float64], reference: NDArray[np.float64]
) -> float:
    """Compute the hypervolume of points as a share of the box from the ideal point to the reference.

    A box without width in some objective has no volume: the share is 0.

    Args:
        F: Minimised objective values, one row per point.
        ideal: The best corner of the box.
        reference: The worst corner of the box.

    >>> share_of_box(np.array([[0.0, 0.5], [0.5, 0.0]]), np.zeros(2), np.ones(2))
    0.75
    """
    width = reference - ideal
    if not len(F) or not (width > 0).all():
        return 0.0
    inside = (F - ideal) / width
    inside = inside[(inside <= 1).all(axis=1)]
    if not len(inside):
        return 0.0
    if inside.shape[1] == 1:
        return float(1 - max(inside.min(), 0.0))
    return float(moocore.hypervolume(np.maximum(inside, 0.0), ref=np.ones(inside.shape[1])))
