"""Rank tests: whether the runs of two solvers differ."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from privmoo._util.checks import fraction

__all__ = ["check_alpha", "pair_p", "smallest_p"]

Values = NDArray[np.float64]
_EXACT = 60  # values of both sides together up to which the exact distribution is used


def pair_p(
    first: Values, second: Values, *, constant: tuple[bool, bool] = (False, False)
) -> tuple[float, str]:
    """Return the two-sided p-value of the hypothesis that two solvers are equal, and the name of the test.

    The test is Mann–Whitney's for two samples of runs. A deterministic solver has one value for all
    seeds: the other's runs are then tested against that value (sign test), and two such solvers need no
    test.

    Args:
        first: Values of the runs of the first solver.
        second: Values of the runs of the second.
        constant: For each of the two, whether it is deterministic.

    >>> pair_p(np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 6.0, 7.0, 8.0]))
    (0.02857142857142857, 'Mann-Whitney')
    """
    if all(constant) or not len(first) or not len(second):
        return math.nan, "none"
    if any(constant):
        runs, value = (second, first[0]) if constant[0] else (first, second[0])
        above, below = int((runs > value).sum()), int((runs < value).sum())
        if not above + below:
            return 1.0, "sign"
        return float(stats.binomtest(above, above + below).pvalue), "sign"
    # Ranks, because the values of runs that found nothing are infinite.
    ranks = stats.rankdata(np.concatenate([first, second]))
    if np.ptp(ranks) == 0:
        return 1.0, "Mann-Whitney"
    if len(ranks) <= _EXACT:
        return _exact_p(ranks, len(first)), "Mann-Whitney"
    result = stats.mannwhitneyu(
        ranks[: len(first)], ranks[len(first) :], alternative="two-sided", method="asymptotic"
    )
    return float(result.pvalue), "Mann-Whitney"


def _exact_p(ranks: Values, n: int) -> float:
    """Return the share of all choices of n ranks whose sum is as far from the mean as that of the first n.

    It is correct with ties, too; the normal approximation calls three runs against three significant.
    """
    double_ranks = np.rint(2 * ranks).astype(np.int64)  # tied ranks are halves
    # Indexed by how many ranks are chosen, and by their sum.
    ways = np.zeros((n + 1, int(double_ranks.sum()) + 1), np.int64)
    ways[0, 0] = 1
    for value in double_ranks:
        ways[1:, value:] += ways[:-1, :-value].copy()
    # Twice the distance from the mean n (N + 1), so that all numbers are whole.
    distances = np.abs(np.arange(ways.shape[1]) - n * (len(ranks) + 1))
    is_extreme = distances >= distances[double_ranks[:n].sum()]
    return float(ways[n, is_extreme].sum() / ways[n].sum())


def smallest_p(n: int, m: int, *, test: str = "Mann-Whitney") -> float:
    """Return the smallest p-value that a test can give for two sample sizes.

    Args:
        n: The number of runs of the first solver.
        m: The number of runs of the second.
        test: `"Mann-Whitney"`, or `"sign"` if one solver is deterministic and has one value, against
            which the runs of the other are tested.

    >>> smallest_p(3, 3), smallest_p(5, 1, test="sign")
    (0.1, 0.0625)
    """
    return 2.0 ** (1 - max(n, m)) if test == "sign" else 2 / math.comb(n + m, n)


def check_alpha(alpha: float) -> None:
    """Raise a ProblemError if a value is not a level of significance."""
    fraction("alpha", alpha, above_zero=True, below_one=True)
