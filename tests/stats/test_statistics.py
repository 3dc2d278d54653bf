"""Tests, corrections, effect sizes and rankings against their slow, obvious definitions."""

from __future__ import annotations

import itertools
import math

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy import stats

from privmoo.errors import ProblemError
from privmoo.stats.effect_size import a12, effect_word
from privmoo.stats.holm import holm
from privmoo.stats.medians import median
from privmoo.stats.pairwise import pairwise
from privmoo.stats.rank_tests import pair_p, smallest_p
from privmoo.stats.ranking import Ranking, rank

numbers = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=7).map(np.array)


@given(numbers, numbers)
def test_a12_by_its_definition(x: np.ndarray, y: np.ndarray) -> None:
    expected = np.mean([1.0 if a > b else 0.5 if a == b else 0.0 for a in x for b in y])
    assert a12(x, y) == pytest.approx(expected)
    assert a12(x, y) + a12(y, x) == pytest.approx(1)
    assert effect_word(a12(x, y)) == effect_word(a12(y, x))


@given(st.lists(st.floats(0, 1) | st.just(math.nan), max_size=7))
def test_holm_by_its_definition(p: list[float]) -> None:
    adjusted = holm(p)
    known = [i for i, value in enumerate(p) if not math.isnan(value)]
    for alpha in (0.01, 0.05, 0.2, 0.9):
        # Step down: reject the smallest while it is at most alpha over the number of those left.
        rejected = set()
        for left, i in zip(
            range(len(known), 0, -1), sorted(known, key=lambda i: p[i]), strict=True
        ):
            if p[i] * left > alpha:
                break
            rejected.add(i)
        assert {i for i in known if adjusted[i] <= alpha} == rejected
    assert [math.isnan(a) for a in adjusted] == [math.isnan(value) for value in p]


@settings(max_examples=50)
@given(st.permutations(range(8)) | st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_mann_whitney_by_all_splits(values: list[int]) -> None:
    """The share of all splits of the values, tied or not, that are at least as uneven as this one."""

    def uneven(chosen: tuple[int, ...]) -> float:
        x = [values[i] for i in chosen]
        y = [values[i] for i in range(8) if i not in chosen]
        return abs(sum((a > b) - (a < b) for a in x for b in y))

    both = np.array(values, float)
    for n in range(1, 8):
        own = uneven(tuple(range(n)))
        splits = [uneven(chosen) >= own for chosen in itertools.combinations(range(8), n)]
        assert pair_p(both[:n], both[n:])[0] == pytest.approx(np.mean(splits))


@settings(max_examples=20)
@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 10_000))
def test_mann_whitney_as_scipy_has_it(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random(n), rng.random(m) + 0.2
    method = "exact" if n + m <= 60 else "asymptotic"
    assert pair_p(x, y)[0] == pytest.approx(stats.mannwhitneyu(x, y, method=method).pvalue)


def test_three_runs_against_three_are_never_significant() -> None:
    """All alike within each solver: the normal approximation would say p = 0.047."""
    assert pair_p(np.zeros(3), np.ones(3))[0] == pytest.approx(0.1) == smallest_p(3, 3)
    assert pair_p(np.full(3, np.inf), np.ones(3))[0] == pytest.approx(0.1)


def test_solvers_without_chance_are_tested_by_sign_or_not_at_all() -> None:
    runs = np.arange(1.0, 9.0)
    p, test = pair_p(runs, np.array([0.5]), constant=(False, True))
    assert test == "sign" and p == pytest.approx(2 * 0.5**8)
    assert pair_p(runs[:1], runs[1:2], constant=(True, True))[1] == "none"
    assert pair_p(np.ones(3), np.ones(1), constant=(False, True))[0] == 1
    assert pair_p(np.ones(5), np.ones(5))[0] == 1
    worse = np.full(9, np.inf)  # runs that found nothing
    assert pair_p(np.arange(9.0), worse)[0] < 0.001
    assert math.isnan(pair_p(np.empty(0), runs)[0])


def test_pairs_say_who_is_better_in_the_sense_of_the_indicator() -> None:
    runs = {"low": np.arange(10.0), "high": np.arange(10.0) + 20, "same": np.arange(10.0)}
    for larger, chance in ((True, 0.0), (False, 1.0)):
        frame = pairwise(runs, larger=larger).set_index(["first", "second"])
        assert frame.loc[("low", "high"), "a12"] == chance
        assert frame.loc[("low", "same"), "a12"] == 0.5
        assert (frame["p_holm"] >= frame["p"]).all()
    assert median(np.array([1.0, np.inf, 2.0])) == 2.0
    assert median(np.array([np.inf, np.inf])) == np.inf


@settings(max_examples=40)
@given(st.integers(2, 6), st.integers(3, 5), st.integers(0, 10_000))
def test_friedman_as_scipy_has_it(n: int, k: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 4, (n, k)).astype(float)
    found = rank(pd.DataFrame(values, columns=list("abcde")[:k]), larger=True)
    if (values == values[:, :1]).all():
        assert found.p == 1
    else:
        assert found.p == pytest.approx(stats.friedmanchisquare(*values.T).pvalue)
    assert sum(found.ranks.values()) == pytest.approx(k * (k + 1) / 2)


def test_nobody_is_told_apart_where_friedman_shows_no_difference() -> None:
    ranks = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert Ranking(ranks, 3, 0.2, 1.5).groups() == [("a", "b", "c")]
    assert Ranking(ranks, 3, 0.01, 1.5).groups() == [("a", "b"), ("b", "c")]


def test_the_critical_difference_is_the_published_one() -> None:
    """Demšar (2006), section 3.2.3: four classifiers on 14 data sets, q = 2.569, CD = 1.25."""
    values = pd.DataFrame(np.random.default_rng(0).random((14, 4)), columns=list("abcd"))
    assert rank(values, larger=False).critical_difference == pytest.approx(1.25, abs=0.005)
    assert rank(values, larger=False, alpha=0.1).critical_difference == pytest.approx(
        1.12, abs=0.005
    )
    with pytest.raises(ProblemError, match="alpha"):
        rank(values, larger=False, alpha=0)


@given(st.lists(st.integers(4, 20).map(lambda v: v / 4), min_size=2, max_size=6), st.floats(0.1, 3))
def test_groups_are_the_largest_that_cannot_be_told_apart(ranks: list[float], cd: float) -> None:
    ordered = dict(zip("abcdef", sorted(ranks), strict=False))
    groups = Ranking(ordered, 5, 0.01, cd).groups()
    for one, two in itertools.combinations(ordered, 2):
        together = any(one in group and two in group for group in groups)
        assert together == (ordered[two] - ordered[one] < cd)
    for group, larger in itertools.permutations(groups, 2):
        assert not set(group) <= set(larger)
