"""The bound of squared errors, against every partition into clusters of at least k records."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.errors import ProblemError
from privmoo.exact import squared_error_bound


def least_error(points: np.ndarray, k: int) -> float:
    """The least squared error, cluster by cluster: the one of the first record, then of the rest."""
    if not len(points):
        return 0.0
    best = math.inf
    for chosen in range(2 ** (len(points) - 1)):
        inside = np.array([True, *((chosen >> i) & 1 == 1 for i in range(len(points) - 1))])
        cluster, rest = points[inside], points[~inside]
        if len(cluster) >= k and (len(rest) == 0 or len(rest) >= k):
            error = float(((cluster - cluster.mean(axis=0)) ** 2).sum())
            if error < best:
                best = min(best, error + least_error(rest, k))
    return best


def random_points(rng: np.random.Generator, n: int) -> pm.Table:
    """Clumped points, some of them equal."""
    centres = rng.integers(0, 4, n) * 10
    frame = pd.DataFrame({c: centres + rng.integers(0, 5, n) for c in "xy"[: rng.integers(1, 3)]})
    return pm.Table(frame, quasi_identifiers=list(frame.columns))


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(0, 4))
def test_no_partition_beats_the_bound(seed: int, k: int, more: int) -> None:
    table = random_points(np.random.default_rng(seed), k + more)
    points = table.frame.to_numpy(dtype=float)
    total = ((points - points.mean(axis=0)) ** 2).sum()
    bound = squared_error_bound(table, k, scale="raw")
    least = least_error(points, k)
    assert bound <= (least / total if total else 0.0) + 1e-9
    nearest = np.sort(((points[:, None] - points) ** 2).sum(axis=2), axis=1)[:, :k]
    assert bound * total >= 0.9 * nearest.sum() / 2 / k - 1e-9  # each record by itself


def test_the_bound_is_near_where_clusters_are_clear() -> None:
    frame = pd.DataFrame({"x": [0, 0, 1, 50, 51, 51, 90, 91, 92]})
    table = pm.Table(frame, quasi_identifiers=["x"])
    points = frame.to_numpy(dtype=float)
    total = ((points - points.mean()) ** 2).sum()
    assert 0.95 < squared_error_bound(table, 3, scale="raw") * total / least_error(points, 3) <= 1


def test_the_bound_is_below_what_searches_reach() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    table = pm.Table(frame, quasi_identifiers=list("abc"))
    values = (frame - frame.mean()).to_numpy() / frame.std(ddof=0).to_numpy()
    for k in (2, 3, 5):
        labels = pm.baselines.mdav(table, k, scale="standard").labels
        error = sum(
            ((own - own.mean(axis=0)) ** 2).sum()
            for own in (values[labels == i] for i in set(labels))
        )
        share = error / (values**2).sum()
        assert 0.4 * share < squared_error_bound(table, k) <= share


def test_what_has_no_bound() -> None:
    table = pm.Table(pd.DataFrame({"x": [1, 2, 3]}), quasi_identifiers=["x"])
    words = pm.Table(pd.DataFrame({"x": list("abc")}), quasi_identifiers=["x"])
    assert squared_error_bound(table, 1) == 0.0
    wrong: list[tuple[pm.Table, Any, str]] = [
        (table, 4, r"^k: 4 is more than the 3 records of the table"),
        (table, 0, r"^k: "),
        (words, 2, r"^table: squared errors are known of numbers, and 'x' holds others"),
    ]
    for each, k, sentence in wrong:
        with pytest.raises(ProblemError, match=sentence):
            squared_error_bound(each, k)
