"""Pseudo-weights: how strongly each solution favours each objective (Deb 2001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from privmoo.front.choice import need_solutions, read_weights, scale_quantities

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["best_by_weights", "pseudo_weights"]


def pseudo_weights(front: Front) -> pd.DataFrame:
    """Return the pseudo-weights of every solution, for `Front.pseudo_weights`."""
    need_solutions(front, "pseudo_weights")
    goodness = 1 - scale_quantities(front, front.objectives)
    varies = np.ptp(goodness, axis=0) > 0
    # One solution, or all alike: nothing speaks for one objective more than for another.
    goodness = goodness * varies if varies.any() else np.ones_like(goodness)
    total = goodness.sum(axis=1, keepdims=True)
    equal = np.full_like(goodness, 1 / goodness.shape[1])
    return pd.DataFrame(
        np.divide(goodness, total, out=equal, where=total > 0),
        columns=pd.Index([q.key for q in front.objectives]),
        index=pd.Index(front.numbers, name="solution"),
    )


def best_by_weights(front: Front, weights: Mapping[str, float]) -> int:
    """Return the place of the solution with the nearest pseudo-weights, for `Front.best_by_weights`.

    Args:
        front: The front.
        weights: Weights by objective, of any sum.
    """
    need_solutions(front, "best_by_weights")
    target = np.array(read_weights(front, weights, "best_by_weights"))
    distance = np.abs(pseudo_weights(front).to_numpy() - target / target.sum()).sum(axis=1)
    return int(np.argmin(distance))
