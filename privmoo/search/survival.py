"""SpreadSurvival: NSGA-II's survival, with crowding counted where people look."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding
from pymoo.operators.survival.rank_and_crowding.metrics import (
    FunctionalDiversity,
    calc_crowding_distance,
)

__all__ = ["SpreadSurvival", "by_decades"]

_DECADES = 2.0


def by_decades(F: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return objectives that span more than two decades by their logarithm, the others as they are.

    >>> by_decades(np.array([[-1.0, 0.5], [-1000.0, 0.6]])).round(1).tolist()
    [[-0.0, 0.5], [-3.0, 0.6]]
    """
    scaled = np.array(F, dtype=np.float64)
    for j in range(F.shape[1]):
        column = F[:, j]
        size = np.abs(column)
        if (column > 0).all() or (column < 0).all():
            logarithm = np.log10(size)
            if np.ptp(logarithm) > _DECADES:
                scaled[:, j] = np.sign(column) * logarithm
    return scaled


class SpreadSurvival(RankAndCrowding):  # type: ignore[misc]  # pymoo has no types
    """Rank and crowding, where an objective over several decades is crowded by its logarithm.

    k goes from 1 to the number of records. Crowding distances on k itself see only its largest values:
    nearly all survivors then sit at losses that nobody accepts. From k = 5 to 6 matters here as much as
    from 500 to 600. Dominance, and so the front that is searched, stays the same.

    >>> from pymoo.algorithms.moo.nsga2 import NSGA2
    >>> type(NSGA2(100, survival=SpreadSurvival()).survival).__name__
    'SpreadSurvival'
    """

    def __init__(self, nds: Any = None) -> None:
        crowding = FunctionalDiversity(_crowding, filter_out_duplicates=False)
        super().__init__(nds=nds, crowding_func=crowding)


def _crowding(F: NDArray[np.float64], **kwargs: Any) -> NDArray[np.float64]:
    return np.asarray(calc_crowding_distance(by_decades(F), **kwargs))
