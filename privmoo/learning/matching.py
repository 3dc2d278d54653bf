"""Matching: pairs of records with equal propensity, and how well they balance two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import is_number, whole_number
from privmoo.data.table import Table
from privmoo.errors import MeasureError, ProblemError, nearest
from privmoo.learning.experiment import encoded
from privmoo.release.release import Release

__all__ = ["Matching", "match"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class Matching:
    """Pairs of records, one of each class, with nearly the same propensity; made by `match`.

    Attributes:
        pairs: The original rows of each pair: a record of the class, and its control.
        n_class: The number of released records of the class.
        balance: One row per feature of the original: its column, and the difference of the means of both
            classes in standard deviations, `before` matching (all records) and `after` (the pairs).
    """

    pairs: NDArray[np.intp] = field(repr=False)
    n_class: int
    balance: pd.DataFrame = field(repr=False)

    @property
    def rows(self) -> NDArray[np.intp]:
        """The original rows of all pairs, ascending."""
        return np.sort(self.pairs, axis=None)

    @property
    def before(self) -> float:
        """The largest difference of any feature before matching."""
        return float(self.balance["before"].max())

    @property
    def after(self) -> float:
        """The largest difference of any feature after matching."""
        return float(self.balance["after"].max())


def match(
    table: Table,
    release: Release | None = None,
    *,
    positive: Any = None,
    columns: Sequence[str] | None = None,
    caliper: float = 0.2,
    seed: int = 0,
) -> Matching:
    """Match the records of a class with as many others that were equally likely to be in the class.

    The propensity of a record is its chance to be in the class of the target, by a logistic regression
    on columns as they are published. In random order, every record of the class is paired with the free
    record of nearest log-odds outside the class, unless none is within the caliper.

    The balance of the pairs is measured on the original columns. So it says whether somebody who has only
    the release finds pairs as much alike as somebody who has the original.

    Args:
        table: The original, with a target.
        release: The release to match in; the original itself by default.
        positive: The class; by default the last of two classes in the order of values.
        columns: The columns that explain the class; the quasi-identifiers by default.
        caliper: The largest distance of log-odds in a pair, in their standard deviations (the mean of
            both classes').
        seed: The seed of the order, and of the choice among equally near records.

    >>> import privmoo as pm
    >>> df = pd.DataFrame({"age": [20, 21, 40, 41, 60, 61, 62, 63], "ill": list("xyxyyyyy")})
    >>> table = pm.Table(df, quasi_identifiers=["age"], target="ill")
    >>> match(table, positive="x", caliper=0.5).pairs.tolist()
    [[2, 3], [0, 1]]
    """
    if not (is_number(caliper) and caliper > 0):
        raise ProblemError(f"caliper: must be a number above 0, got {caliper!r}")
    whole_number("seed", seed, at_least=0)
    names = list(table.qi_names if columns is None else columns)
    parts = encoded(table, {} if release is None else {"release": release})
    original, method = parts.methods[0], parts.methods[-1]
    for name in names:
        if name not in parts.columns:
            raise ProblemError(
                f"columns: {name!r} is not a released column besides the target"
                f"{nearest(name, parts.columns)}"
            )
    number = parts.position(positive)
    if number is None:
        raise ProblemError(
            f"positive: the target has {len(parts.classes)} classes; name the one to match"
        )
    chosen = np.isin(parts.columns, names)
    released = np.flatnonzero(method.place >= 0)
    in_class = method.y[method.place[released]] == number
    if in_class.all() or not in_class.any():
        raise MeasureError("release: its records are all inside the class, or all outside it")
    log_odds = _log_odds(method.X[method.place[released]][:, chosen], in_class)
    spread = np.sqrt((log_odds[in_class].var() + log_odds[~in_class].var()) / 2)
    pairs = _nearest_pairs(
        log_odds[in_class],
        log_odds[~in_class],
        caliper * spread,
        np.random.default_rng(seed),
    )
    if not len(pairs):
        raise MeasureError(
            "caliper: no record of the class has a partner so near; choose a larger one"
        )
    inside, outside = released[in_class][pairs[:, 0]], released[~in_class][pairs[:, 1]]
    features, is_positive = original.X[:, chosen], original.y == number
    all_inside, all_outside = features[is_positive], features[~is_positive]
    unit = np.sqrt((all_inside.var(axis=0) + all_outside.var(axis=0)) / 2)
    balance = pd.DataFrame(
        {
            "feature": np.array(parts.features)[chosen],
            "column": np.array(parts.columns)[chosen],
            "before": _differences(all_inside, all_outside, unit),
            "after": _differences(features[inside], features[outside], unit),
        }
    )
    return Matching(np.column_stack([inside, outside]), int(in_class.sum()), balance)


def _log_odds(X: FloatArray, in_class: NDArray[np.bool_]) -> FloatArray:
    """Fit the propensity and return its log-odds for every record."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, in_class)
    return np.asarray(model.decision_function(X), dtype=np.float64)


def _nearest_pairs(
    inside: FloatArray, outside: FloatArray, limit: float, rng: np.random.Generator
) -> IntArray:
    """Pair numbers greedily: in random order, each takes the nearest free one within the limit."""
    shuffled = rng.permutation(len(outside))  # equally near ones come in random order
    order = shuffled[np.argsort(outside[shuffled], kind="stable")]
    values = outside[order]
    free_from = list(range(len(values) + 1))  # the next free place at or after each, with an end
    free_to = list(range(len(values) + 1))  # the next free place at or before each, shifted by one
    pairs = []
    for i in rng.permutation(len(inside)):
        place = int(np.searchsorted(values, inside[i]))
        after, before = _root(free_from, place), _root(free_to, place) - 1
        above = values[after] - inside[i] if after < len(values) else np.inf
        below = inside[i] - values[before] if before >= 0 else np.inf
        nearest_place = after if above < below else before
        if min(above, below) > limit:
            continue
        free_from[nearest_place] = nearest_place + 1
        free_to[nearest_place + 1] = nearest_place
        pairs.append((i, order[nearest_place]))
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def _root(parents: list[int], place: int) -> int:
    """Follow parents to the end, and shorten the way for the next time."""
    end = place
    while parents[end] != end:
        end = parents[end]
    while parents[place] != end:
        parents[place], place = end, parents[place]
    return end


def _differences(inside: FloatArray, outside: FloatArray, unit: FloatArray) -> FloatArray:
    """Return the absolute differences of means in units, 0 for a constant feature."""
    difference = np.abs(inside.mean(axis=0) - outside.mean(axis=0))
    return np.asarray(np.divide(difference, unit, out=np.zeros_like(difference), where=unit > 0))
