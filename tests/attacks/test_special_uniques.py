"""Minimal sample uniques against a search through all combinations of every record."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmoo.attacks import special_uniques
from privmoo.errors import AttackError


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4))
def test_equal_to_a_search_through_all_combinations(seed: int, n_columns: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (int(rng.integers(1, 15)), n_columns))
    uniques = special_uniques(codes, m)
    most = min(m, n_columns)
    for row, record in enumerate(codes):

        def alone(places: tuple[int, ...]) -> bool:
            chosen = list(places)
            return int((codes[:, chosen] == record[chosen]).all(axis=1).sum()) == 1  # noqa: B023

        minimal = [
            places
            for size in range(1, most + 1)
            for places in combinations(range(n_columns), size)
            if alone(places)
            and not any(alone(p) for part in range(1, size) for p in combinations(places, part))
        ]
        score = {
            places: prod(n_columns - i for i in range(len(places), most + 1) if i < n_columns)
            for places in minimal
        }
        assert uniques.scores[row] == sum(score.values())
        assert uniques.sizes[row].tolist() == [
            sum(len(p) == size for p in minimal) for size in range(1, most + 1)
        ]
        assert uniques.blame[row].tolist() == [
            sum(s for p, s in score.items() if j in p) for j in range(n_columns)
        ]


def test_a_rare_value_is_to_blame() -> None:
    """One person of 60 is 99 years old: the age alone makes that person unique."""
    rng = np.random.default_rng(1)
    codes = np.column_stack([np.repeat([0, 1], 30), np.tile([0, 1], 30), rng.integers(0, 2, 60)])
    codes[7, 0] = 99
    uniques = special_uniques(codes, 2)
    assert uniques.scores.argmax() == 7 and uniques.sizes[7].tolist() == [1, 0]
    assert uniques.contributions.argmax() == 0
    with pytest.raises(AttackError, match="at least 1"):
        special_uniques(codes, 0)
