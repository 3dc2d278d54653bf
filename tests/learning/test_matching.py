"""Pairs of equal propensity: greedy and within the caliper, and their balance as by hand."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

import privmoo as pm
from privmoo.errors import MeasureError, ProblemError
from privmoo.learning import match
from privmoo.learning.matching import _nearest_pairs

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


def people(n: int = 300, seed: int = 3) -> pm.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    sex = rng.choice(["f", "m"], n)
    chance = 1 / (1 + np.exp(3.5 - 0.04 * age - 0.6 * (sex == "m")))
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": sex,
            "cost": rng.normal(size=n).round(3),
            "ill": np.where(rng.random(n) < chance, "yes", "no"),
        }
    )
    return pm.Table(
        frame,
        quasi_identifiers={
            "age": pm.Hierarchy.intervals(20, 80, widths=[10, 30]),
            "sex": pm.Hierarchy.flat(),
        },
        target="ill",
        others="insensitive",
    )


def greedily(
    inside: NDArray[np.float64], outside: NDArray[np.float64], limit: float, seed: int
) -> list[tuple[int, float]]:
    """Every record of the class in the same random order, and the distance of its partner."""
    rng = np.random.default_rng(seed)
    rng.permutation(len(outside))
    free = np.ones(len(outside), dtype=bool)
    pairs = []
    for i in rng.permutation(len(inside)):
        distance = np.where(free, np.abs(outside - inside[i]), np.inf)
        if free.any() and distance.min() <= limit:
            pairs.append((int(i), float(distance.min())))
            free[int(distance.argmin())] = False
    return pairs


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 40))
@settings(max_examples=60)
def test_pairs_are_the_nearest_free_ones(seed: int, n_inside: int, n_outside: int) -> None:
    rng = np.random.default_rng(seed)
    # Few values, so many are equal, and no two are equally far from a third.
    values = np.cumsum(rng.uniform(0.1, 1.0, 12))
    inside, outside = rng.choice(values, n_inside), rng.choice(values, n_outside)
    limit = float(rng.uniform(0.0, 4.0))
    pairs = _nearest_pairs(inside, outside, limit, np.random.default_rng(seed))
    distances = np.abs(inside[pairs[:, 0]] - outside[pairs[:, 1]])
    expected = greedily(inside, outside, limit, seed)
    assert pairs[:, 0].tolist() == [i for i, _ in expected]
    assert np.allclose(distances, [distance for _, distance in expected])
    assert len(set(pairs[:, 1])) == len(pairs)


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_of_both_classes_and_better_balanced(seed: int) -> None:
    table = people(seed=seed)
    matching = match(table, seed=seed)
    ill = table.frame["ill"].to_numpy() == "yes"
    assert ill[matching.pairs[:, 0]].all() and not ill[matching.pairs[:, 1]].any()
    assert len(np.unique(matching.pairs)) == matching.pairs.size
    assert matching.n_class == ill.sum() >= len(matching.pairs)
    assert matching.rows.tolist() == sorted(matching.pairs.ravel().tolist())
    assert matching.after < matching.before
    pd.testing.assert_frame_equal(matching.balance, match(table, seed=seed).balance)


def test_the_balance_is_in_standard_deviations_of_both_classes() -> None:
    table = people()
    matching = match(table)
    ill = (table.frame["ill"] == "yes").to_numpy()
    age = table.frame["age"].to_numpy(float)
    unit = np.sqrt((age[ill].var() + age[~ill].var()) / 2)
    of_age = matching.balance.set_index("feature").loc["age"]
    assert np.isclose(of_age["before"], abs(age[ill].mean() - age[~ill].mean()) / unit)
    first, second = age[matching.pairs].mean(axis=0)
    assert np.isclose(of_age["after"], abs(first - second) / unit)
    assert matching.balance["column"].tolist() == ["age", "sex", "sex"]


def test_a_release_of_all_as_it_is_gives_the_same_pairs() -> None:
    table = people()
    release = pm.make_release(table, pm.recodings.identity_recoding(table), seed=1)
    assert match(table, release).pairs.tolist() == match(table).pairs.tolist()


def test_a_release_that_says_nothing_pairs_at_random() -> None:
    table = people()
    top = pm.recodings.level_recoding(table, [qi.max_level for qi in table.qis])
    matching = match(table, pm.make_release(table, top, seed=1))
    assert len(matching.pairs) == min(matching.n_class, table.n_records - matching.n_class)
    assert matching.after > match(table).after


def test_suppressed_records_are_in_no_pair() -> None:
    table = people()
    recoding = pm.recodings.level_recoding(table, [1, 0])
    release = pm.make_release(table, recoding, suppression=pm.BelowThreshold(20), seed=1)
    assert len(release.rows) < table.n_records
    matching = match(table, release)
    assert set(matching.rows) <= set(release.rows.tolist())


def test_columns_and_classes_can_be_named() -> None:
    table = people()
    assert set(match(table, columns=["cost"]).balance["column"]) == {"cost"}
    other = match(table, positive="no")
    assert (table.frame["ill"].to_numpy()[other.pairs[:, 0]] == "no").all()


def test_what_cannot_be_matched_is_refused() -> None:
    table = people()
    with pytest.raises(ProblemError, match="caliper"):
        match(table, caliper=0)
    with pytest.raises(ProblemError, match="columns: 'agee'"):
        match(table, columns=["agee"])
    with pytest.raises(ProblemError, match="positive"):
        match(table, positive="perhaps")
    df = pd.DataFrame({"age": [1, 2, 3, 30, 31, 32], "ill": list("aaabbb")})
    apart = pm.Table(df, quasi_identifiers=["age"], target="ill")
    with pytest.raises(MeasureError, match="no record of the class has a partner"):
        match(apart, caliper=0.001)
