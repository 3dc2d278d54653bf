"""Whether solvers differ: tests, corrections and effect sizes of the values of their runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from privmoo._util.checks import fraction
from privmoo.errors import ProblemError

__all__ = [
    *("Ranking", "a12", "check_alpha", "effect", "holm", "least_p"),
    *("median", "pair_p", "pairwise", "rank"),
]

Values = NDArray[np.float64]
# The limits of Vargha and Delaney (2000), for the distance of A12 from a half.
_EFFECTS = ((0.06, "negligible"), (0.14, "small"), (0.21, "medium"), (math.inf, "large"))
PAIR = (
    *("first", "second", "runs_first", "runs_second", "median_first", "median_second"),
    *("test", "p", "p_holm", "a12", "effect"),
)
_EXACT = 60  # values of both sides together up to which the exact distribution is used


def a12(first: Values, second: Values) -> float:
    """The chance that a run of the first has a larger value than one of the second, ties half.

    Vargha and Delaney 2000, equation 14.

    >>> a12(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    above = (first[:, None] > second).sum() + 0.5 * (first[:, None] == second).sum()
    return float(above / (len(first) * len(second)))


def effect(value: float) -> str:
    """An A12 in a word.

    >>> effect(0.5), effect(0.95), effect(0.4)
    ('negligible', 'large', 'small')
    """
    distance = round(abs(value - 0.5), 12)
    return next(word for limit, word in _EFFECTS if distance < limit)


def holm(p: Sequence[float]) -> list[float]:
    """The p-values of several tests, adjusted (Holm 1979); NaN stays and does not count.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p, dtype=np.float64)
    adjusted = np.full(len(given), np.nan)
    known = np.flatnonzero(~np.isnan(given))
    largest = 0.0
    for place, i in enumerate(known[np.argsort(given[known], kind="stable")]):
        largest = max(largest, min(1.0, (len(known) - place) * given[i]))
        adjusted[i] = largest
    return [float(value) for value in adjusted]


def pair_p(
    first: Values, second: Values, *, constant: tuple[bool, bool] = (False, False)
) -> tuple[float, str]:
    """The two-sided p-value that two solvers do not differ, and the test.

    Mann–Whitney for two samples of runs. A solver without chance in it has one value for all seeds: the
    other's runs are then tested against that value (sign test), and two such solvers need no test.

    Args:
        first: Values of the runs of the first.
        second: Of the second.
        constant: Which of the two has no chance in it.

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
    found = stats.mannwhitneyu(
        ranks[: len(first)], ranks[len(first) :], alternative="two-sided", method="asymptotic"
    )
    return float(found.pvalue), "Mann-Whitney"


def _exact_p(ranks: Values, n: int) -> float:
    """The share of all choices of n ranks whose sum is as far from the mean as that of the first n.

    Right with ties too, where the normal approximation calls three runs against three significant.
    """
    whole = np.rint(2 * ranks).astype(np.int64)  # tied ranks are halves
    ways = np.zeros(
        (n + 1, int(whole.sum()) + 1), np.int64
    )  # by how many are chosen, and their sum
    ways[0, 0] = 1
    for value in whole:
        ways[1:, value:] += ways[:-1, :-value].copy()
    # Twice the distance from the mean n (N + 1), so that all numbers are whole.
    away = np.abs(np.arange(ways.shape[1]) - n * (len(ranks) + 1))
    far = away >= away[whole[:n].sum()]
    return float(ways[n, far].sum() / ways[n].sum())


def least_p(n: int, m: int, *, test: str = "Mann-Whitney") -> float:
    """The smallest p-value that a test can give for so many runs.

    A solver without chance in it has one value, against which the runs of the other are tested (sign).

    >>> least_p(3, 3), least_p(5, 1, test="sign")
    (0.1, 0.0625)
    """
    return 2.0 ** (1 - max(n, m)) if test == "sign" else 2 / math.comb(n + m, n)


def check_alpha(alpha: float) -> None:
    """Raise where it is no level of significance."""
    fraction("alpha", alpha, above_zero=True, below_one=True)


def pairwise(
    values: Mapping[str, Values], *, larger: bool, constant: Sequence[str] = ()
) -> pd.DataFrame:
    """Every pair of solvers on one problem.

    Args:
        values: Values of the runs by solver.
        larger: Whether larger values are better.
        constant: Solvers without chance in them.

    Returns:
        One row per pair: medians, test, p, Holm's p, and A12 as the chance that a run of the first is
        better than one of the second.

    >>> runs = {"a": np.arange(5.0), "b": np.arange(5.0) + 10}
    >>> pairwise(runs, larger=True)[["first", "second", "a12", "effect"]].to_numpy().tolist()
    [['a', 'b', 0.0, 'large']]
    """
    sign = 1.0 if larger else -1.0
    rows = []
    for one, two in itertools.combinations(values, 2):
        x, y = values[one], values[two]
        p, test = pair_p(x, y, constant=(one in constant, two in constant))
        chance = a12(sign * x, sign * y) if len(x) and len(y) else math.nan
        rows.append(
            {
                "first": one,
                "second": two,
                "runs_first": len(x),
                "runs_second": len(y),
                "median_first": median(x),
                "median_second": median(y),
                "test": test,
                "p": p,
                "a12": chance,
                "effect": "" if math.isnan(chance) else effect(chance),
            }
        )
    frame = pd.DataFrame(rows, columns=[name for name in PAIR if name != "p_holm"])
    frame["p_holm"] = holm(frame["p"].tolist())
    return frame[list(PAIR)]


def median(values: Values) -> float:
    """The median, also where values are infinite."""
    if not len(values):
        return math.nan
    ordered = np.sort(values)
    low, high = ordered[(len(values) - 1) // 2], ordered[len(values) // 2]
    return float(low if low == high else (low + high) / 2)


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of solvers over problems, with the critical difference (Demšar 2006).

    Attributes:
        ranks: Mean rank by solver, the best first; 1 is best.
        n_problems: Over how many problems.
        p: Of Friedman's test that all are equal.
        critical_difference: Two solvers whose mean ranks differ by less cannot be told apart (Nemenyi).
        alpha: At this level.
    """

    ranks: Mapping[str, float]
    n_problems: int
    p: float
    critical_difference: float
    alpha: float = 0.05

    def groups(self) -> list[tuple[str, ...]]:
        """The largest groups of neighbours in rank that cannot be told apart.

        Where Friedman's test shows no difference at all, that is everybody.

        >>> Ranking({"a": 1.0, "b": 1.5, "c": 3.0}, 10, 0.01, 1.0).groups()
        [('a', 'b')]
        """
        names, ranks = list(self.ranks), list(self.ranks.values())
        if self.p >= self.alpha:
            return [tuple(names)]
        found: list[tuple[str, ...]] = []
        last = 0
        for i in range(len(names)):
            end = max(
                j
                for j in range(i, len(names))
                if j == i or ranks[j] - ranks[i] < self.critical_difference
            )
            if end > i and end > last:
                found.append(tuple(names[i : end + 1]))
                last = end
        return found


def rank(values: pd.DataFrame, *, larger: bool, alpha: float = 0.05) -> Ranking:
    """Rank solvers over problems.

    Args:
        values: One row per problem, one column per solver: its median.
        larger: Whether larger values are better.
        alpha: The level of the critical difference.

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


def _friedman(ranks: Values) -> float:
    """The p-value of Friedman's test, corrected for ties."""
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
