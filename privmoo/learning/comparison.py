"""Comparison of scores: rank test, effect size, and a verdict."""

from __future__ import annotations

import numpy as np
import pandas as pd

from privmoo._util.checks import fraction
from privmoo.errors import MeasureError, nearest
from privmoo.learning.experiment import ORIGINAL
from privmoo.stats.effect_size import a12, effect_word
from privmoo.stats.holm import holm

__all__ = ["compare_scores"]

_COLUMNS = ("method", "model", "tested_on", "repeat")


def compare_scores(
    frame: pd.DataFrame, *, against: str = ORIGINAL, metric: str = "f1", level: float = 0.05
) -> pd.DataFrame:
    """Compare every method's scores with one method's, learner by learner.

    The Mann–Whitney U test is the one of Wei et al. (2025). It treats the scores of two methods as
    independent samples although they come from the same splits, so it is more likely to miss a
    difference than to invent one. Holm's method corrects p for the number of rows, and the verdict
    uses the corrected p.

    Args:
        frame: What `scores` returned.
        against: The method to compare with; the original, tested on its own rows, by default.
            Another method is compared test by test.
        metric: `"f1"`, `"accuracy"` or `"auc"`.
        level: The level of significance: a smaller p is significant.

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
    for (model, method, tested_on), values in by_method.items():
        # The original has no released rows, so every test is compared with its only one.
        reference = by_method.get((model, against, tested_on))
        if reference is None:
            reference = by_method.get((model, against, ORIGINAL))
        if method == against or reference is None:
            continue
        p, chance = np.nan, np.nan
        if np.isfinite(values).all() and np.isfinite(reference).all():
            chance = a12(values, reference)
            # All scores equal: the test divides zero by zero.
            all_equal = len(np.unique(np.concatenate([values, reference]))) == 1
            test = None if all_equal else mannwhitneyu(values, reference, alternative="two-sided")
            p = 1.0 if test is None else float(test.pvalue)
        spread = values.std(ddof=1) if len(values) > 1 else np.nan
        difference = float(values.mean() - reference.mean())
        rows.append((model, method, tested_on, values.mean(), spread, difference, p, chance))
    names = ["model", "method", "tested_on", "mean", "std", "difference", "p", "a12"]
    result = pd.DataFrame(rows, columns=names)
    if result.empty:
        raise MeasureError(f"against: there are no scores to compare with those of {against!r}")
    result["difference"] = result["difference"].round(12)
    result.insert(7, "holm_p", holm(result["p"].to_numpy(np.float64)))
    result["verdict"] = [
        _verdict(p, chance, level)
        for p, chance in zip(result["holm_p"], result["a12"], strict=True)
    ]
    return result


def _verdict(p: float, chance: float, level: float) -> str:
    if np.isnan(p):
        return "not measured"
    if p >= level:
        return "no significant difference"
    return f"{'higher' if chance > 0.5 else 'lower'}, {effect_word(chance)} effect"
