"""Whether scores differ: rank test, effect size, and a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import fraction
from privmoo.errors import MeasureError, nearest
from privmoo.learning.experiment import ORIGINAL

__all__ = ["compare_scores", "holm", "vargha_delaney"]

FloatArray = NDArray[np.float64]

_EFFECTS = ((0.56, "negligible"), (0.64, "small"), (0.71, "medium"), (np.inf, "large"))
_COLUMNS = ("method", "model", "tested_on", "repeat")


def compare_scores(
    frame: pd.DataFrame, *, against: str = ORIGINAL, metric: str = "f1", level: float = 0.05
) -> pd.DataFrame:
    """Compare every method's scores with one method's, learner by learner.

    The Mann–Whitney U test is the one of Wei et al. (2025). It takes the scores of two methods for
    independent samples although they come from the same splits, so it rather overlooks a
    difference than invents one. p is corrected for the number of rows by Holm's method, and the
    sentence goes by the corrected one.

    Args:
        frame: What `scores` returned.
        against: The method to compare with; the original, tested on its own rows, by default.
            Another method is compared test by test.
        metric: `"f1"`, `"accuracy"` or `"auc"`.
        level: Below it p is significant.

    Returns:
        Per model, method and test: mean, std, difference of means, p, holm_p, a12 (the chance that
        a score of the method is above one of `against`, ties half; Vargha and Delaney 2000) and the
        verdict.

    >>> frame = pd.DataFrame({"method": ["original"] * 5 + ["mine"] * 5, "model": "DT",
    ...     "tested_on": ["original"] * 5 + ["released"] * 5, "repeat": [0, 1, 2, 3, 4] * 2,
    ...     "f1": [0.9, 0.91, 0.92, 0.93, 0.94, 0.5, 0.51, 0.52, 0.53, 0.54]})
    >>> compare_scores(frame).iloc[0][["difference", "a12", "verdict"]].to_dict()
    {'difference': -0.4, 'a12': 0.0, 'verdict': 'lower, large effect'}
    """
    from scipy.stats import mannwhitneyu

    for column in (*_COLUMNS, metric):
        if column not in frame.columns:
            raise MeasureError(
                f"metric: the scores have no column {column!r}{nearest(column, frame.columns)}"
            )
    methods = list(frame["method"].unique())
    if against not in methods:
        raise MeasureError(
            f"against: there are no scores of {against!r}{nearest(against, methods)}"
        )
    fraction("level", level, above_zero=True, below_one=True, error=MeasureError)
    by_method = {
        key: part[metric].to_numpy(np.float64)
        for key, part in frame.groupby(["model", "method", "tested_on"], sort=False)
    }
    rows = []
    for (model, method, tested_on), own in by_method.items():
        # The original has no released rows: everything is compared with its own test.
        other = by_method.get((model, against, tested_on))
        if other is None:
            other = by_method.get((model, against, ORIGINAL))
        if method == against or other is None:
            continue
        p, a12 = np.nan, np.nan
        if np.isfinite(own).all() and np.isfinite(other).all():
            a12 = vargha_delaney(own, other)
            # All scores equal: the test divides zero by zero.
            tied = len(np.unique(np.concatenate([own, other]))) == 1
            p = 1.0 if tied else float(mannwhitneyu(own, other, alternative="two-sided").pvalue)
        spread = own.std(ddof=1) if len(own) > 1 else np.nan
        difference = float(own.mean() - other.mean())
        rows.append((model, method, tested_on, own.mean(), spread, difference, p, a12))
    names = ["model", "method", "tested_on", "mean", "std", "difference", "p", "a12"]
    result = pd.DataFrame(rows, columns=names)
    if result.empty:
        raise MeasureError(f"against: there are no scores to compare with those of {against!r}")
    result["difference"] = result["difference"].round(12)
    result.insert(7, "holm_p", holm(result["p"].to_numpy(np.float64)))
    result["verdict"] = [
        _verdict(p, a12, level) for p, a12 in zip(result["holm_p"], result["a12"], strict=True)
    ]
    return result


def vargha_delaney(first: FloatArray, second: FloatArray) -> float:
    """A12: the chance that a value of the first sample is above one of the second, ties half.

    >>> vargha_delaney(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    0.875
    """
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, side="left")
    not_above = np.searchsorted(ordered, first, side="right")
    return float((below + not_above).sum() / (2 * len(first) * len(second)))


def holm(p: FloatArray) -> FloatArray:
    """Holm's correction of several p values; nan stays nan and does not count.

    >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    result = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    result[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return result


def _verdict(p: float, a12: float, level: float) -> str:
    if np.isnan(p):
        return "not measured"
    if p >= level:
        return "no significant difference"
    distance = 0.5 + abs(a12 - 0.5)
    size = next(name for bound, name in _EFFECTS if distance < bound)
    return f"{'higher' if a12 > 0.5 else 'lower'}, {size} effect"
