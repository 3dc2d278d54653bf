"""Rankings: mean ranks of solvers over problems, with the critical difference (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from privmoo.errors import ProblemError
from privmoo.stats.rank_tests import check_alpha

__all__ = ["Ranking", "rank"]


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of solvers over problems, with the critical difference (Demšar 2006).

    Attributes:
        ranks: Mean rank by solver, the best first; 1 is best.
        n_problems: The number of problems.
        p: The p-value of Friedman's test that all solvers are equal.
        critical_difference: Two solvers whose mean ranks differ by less cannot be told apart (Nemenyi).
        alpha: The level of significance of the critical difference.
    """

    ranks: Mapping[str, float]
    n_problems: int
    p: float
    critical_difference: float
    alpha: float = 0.05

    def groups(self) -> list[tuple[str, ...]]:
        """Return the largest groups of neighbours in rank that cannot be told apart.

        If Friedman's test shows no difference at all, all solvers form one group.

        >>> Ranking({"a": 1.0, "b": 1.5, "c": 3.0}, 10, 0.01, 1.0).groups()
        [('a', 'b')]
        """
        names, ranks = list(self.ranks), list(self.ranks.values())
        if self.p >= self.alpha:
            return [tuple(names)]
        groups: list[tuple[str, ...]] = []
        last = 0
        for i in range(len(names)):
            end = max(
                j
                for j in range(i, len(names))
                if j == i or ranks[j] - ranks[i] < self.critical_difference
            )
            if end > i and end > last:
                groups.append(tuple(names[i : end + 1]))
                last = end
        return groups


def rank(values: pd.DataFrame, *, larger: bool, alpha: float = 0.05) -> Ranking:
    """Rank solvers over problems by their mean ranks.

    Args:
        values: Medians, one row per problem and one column per solver.
        larger: Whether larger values are better.
        alpha: The level of significance of the critical difference.

    >>> medians = pd.DataFrame({"a": [3.0, 3, 3], "b": [2.0, 2, 2], "c": [1.0, 1, 1]})
    >>> rank(medians, larger=True).ranks
    {'a': 1.0, 'b': 2.0, 'c': 3.0}
    """
    check_alpha(alpha)
    n, k = values.shape
    if n < 2 or k < 2:
        raise ProblemError(f"ranking: needs at least two problems and two solvers, got {n} and {k}")
    signed = (-1.0 if larger else 1.0) * values.to_numpy(np.float64)
    ranks = np.vstack([stats.rankdata(row) for row in signed])
    mean = ranks.mean(axis=0)
    quantile = float(stats.studentized_range.ppf(1 - alpha, k, np.inf)) / math.sqrt(2)
    order = np.argsort(mean, kind="stable")
    return Ranking(
        {str(values.columns[i]): float(mean[i]) for i in order},
        n,
        _friedman(ranks),
        quantile * math.sqrt(k * (k + 1) / (6 * n)),
        alpha,
    )


def _friedman(ranks: NDArray[np.float64]) -> float:
    """Return the p-value of Friedman's test, corrected for ties."""
    n, k = ranks.shape
    ties = sum(
        float((counts**3 - counts).sum())
        for counts in (np.unique(row, return_counts=True)[1] for row in ranks)
    )
    correction = 1 - ties / (n * k * (k * k - 1))
    if correction <= 0:
        return 1.0
    spread = float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum())
    return float(stats.chi2.sf(12 * spread / (n * k * (k + 1)) / correction, k - 1))
