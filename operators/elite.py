"""Elite: the vectors of levels behind the best trade-offs of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated

__all__ = ["Elite"]


class Elite:
    """The vectors of levels behind the best trade-offs that a run has seen.

    Attributes:
        levels: One row per trade-off that no other dominates.

    >>> elite = Elite()
    >>> elite.add(np.array([[0], [1], [2]]), np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0]]))
    >>> elite.levels.tolist()
    [[0], [1]]
    """

    def __init__(self) -> None:
        self.levels = np.zeros((0, 0), np.int64)
        self._values = np.zeros((0, 0))

    def add(self, levels: NDArray[np.int64], F: NDArray[np.float64]) -> None:
        """Consider vectors of levels, each with the objectives of one of its thresholds.

        Args:
            levels: One row per trade-off.
            F: Its objectives, all minimised.
        """
        if not len(levels):
            return
        if len(self._values):
            levels, F = np.concatenate([self.levels, levels]), np.concatenate([self._values, F])
        keep = non_dominated(F)
        self.levels, self._values = levels[keep], F[keep]
