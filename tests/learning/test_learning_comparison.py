"""Whether scores differ: tests and effect sizes beside slow counts."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import mannwhitneyu

from privmoo.errors import MeasureError
from privmoo.learning import compare_scores
from privmoo.stats.effect_size import a12
from privmoo.stats.holm import holm


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
)
def test_a12_and_u_are_counts_of_pairs(first: list[int], second: list[int]) -> None:
    wins = sum((x > y) + 0.5 * (x == y) for x in first for y in second)
    chance = a12(np.array(first, float), np.array(second, float))
    assert chance == pytest.approx(wins / len(first) / len(second))
    if len({*first, *second}) > 1:
        assert mannwhitneyu(first, second).statistic == pytest.approx(wins)


def test_p_is_the_share_of_arrangements_at_least_as_extreme() -> None:
    """Without ties the test is exact: all ways to give the ranks to the two methods."""
    own, other = [0.10, 0.20, 0.30, 0.55], [0.40, 0.50, 0.60, 0.70, 0.80]
    rows = [("original", "original", x) for x in other] + [("mine", "released", x) for x in own]
    f = pd.DataFrame(rows, columns=["method", "tested_on", "f1"]).assign(model="DT", repeat=0)
    pool = own + other
    wins = sum(x > y for x in own for y in other)
    distance = abs(wins - 10)
    extreme = []
    for chosen in itertools.combinations(range(9), 4):
        rest = [pool[i] for i in range(9) if i not in chosen]
        u = sum(pool[i] > y for i in chosen for y in rest)
        extreme.append(abs(u - 10) >= distance)
    row = compare_scores(f).iloc[0]
    assert row["p"] == pytest.approx(np.mean(extreme)) and row["a12"] == wins / 20
    assert row["difference"] == pytest.approx(np.mean(own) - np.mean(other))
    assert row["std"] == pytest.approx(np.std(own, ddof=1))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_step_by_step(p: list[float]) -> None:
    order = sorted(range(len(p)), key=lambda i: p[i])
    slow = [
        max(min(1.0, (len(p) - j) * p[order[j]]) for j in range(order.index(i) + 1))
        for i in range(len(p))
    ]
    assert holm(np.array(p)).tolist() == pytest.approx(slow)


def test_the_verdict_in_words() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(0.8, 0.01, 20)
    rows = [("original", "original", x) for x in base]
    for name, shift in (("same", 0.0), ("worse", -0.1), ("better", 0.1)):
        rows += [(name, "released", x + shift) for x in base]
    f = pd.DataFrame(rows, columns=["method", "tested_on", "f1"]).assign(model="DT", repeat=0)
    f["auc"] = np.where(f["method"] == "same", np.nan, f["f1"])
    verdicts = compare_scores(f).set_index("method")["verdict"]
    assert verdicts["same"] == "no significant difference"
    assert verdicts["worse"] == "lower, large effect"
    assert verdicts["better"] == "higher, large effect"
    assert compare_scores(f, metric="auc").set_index("method")["verdict"]["same"] == "not measured"
    turned = compare_scores(f, against="worse").set_index("method")
    assert turned.loc["better", "a12"] == 1
    equal = f.assign(f1=0.5)
    assert (compare_scores(equal)["p"] == 1).all() and (compare_scores(equal)["a12"] == 0.5).all()
    with pytest.raises(MeasureError, match="did you mean 'worse'"):
        compare_scores(f, against="wors")
    with pytest.raises(MeasureError, match="no column 'f2'"):
        compare_scores(f, metric="f2")
    with pytest.raises(MeasureError, match="no scores to compare"):
        compare_scores(f[f["method"] == "original"])
