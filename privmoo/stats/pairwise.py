"""Pairwise comparison: every pair of solvers on one problem, with tests and effect sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.stats.effect_size import a12, effect_word
from privmoo.stats.holm import holm
from privmoo.stats.medians import median
from privmoo.stats.rank_tests import pair_p

__all__ = ["pairwise"]

_COLUMNS = (
    *("first", "second", "runs_first", "runs_second", "median_first", "median_second"),
    *("test", "p", "p_holm", "a12", "effect"),
)


def pairwise(
    values: Mapping[str, NDArray[np.float64]], *, larger: bool, constant: Sequence[str] = ()
) -> pd.DataFrame:
    """Compare every pair of solvers on one problem.

    Args:
        values: Values of the runs by solver.
        larger: Whether larger values are better.
        constant: The deterministic solvers.

    Returns:
        One row per pair: medians, test, p, Holm's p, and A12 as the chance that a run of the first is
        better than one of the second.

    >>> runs = {"a": np.arange(5.0), "b": np.arange(5.0) + 10}
    >>> pairwise(runs, larger=True)[["first", "second", "a12", "effect"]].to_numpy().tolist()
    [['a', 'b', 0.0, 'large']]
    """
    sign = 1.0 if larger else -1.0
    rows = []
    for first, second in itertools.combinations(values, 2):
        x, y = values[first], values[second]
        p, test = pair_p(x, y, constant=(first in constant, second in constant))
        chance = a12(sign * x, sign * y) if len(x) and len(y) else math.nan
        rows.append(
            {
                "first": first,
                "second": second,
                "runs_first": len(x),
                "runs_second": len(y),
                "median_first": median(x),
                "median_second": median(y),
                "test": test,
                "p": p,
                "a12": chance,
                "effect": "" if math.isnan(chance) else effect_word(chance),
            }
        )
    frame = pd.DataFrame(rows, columns=[name for name in _COLUMNS if name != "p_holm"])
    frame["p_holm"] = holm(frame["p"].to_numpy(np.float64))
    return frame[list(_COLUMNS)]
