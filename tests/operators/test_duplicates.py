"""Duplicates by hash, and repair of what is no cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pymoo.core.population import Population

from privmoo.operators import (
    CutRepair,
    HashDuplicates,
)
from privmoo.problems import Cuts
from privmoo.testing import example_table

SEEDS = st.integers(0, 2**32 - 1)


def test_repair_keeps_the_type_of_a_swarm() -> None:
    problem = Cuts(example_table())
    X = np.random.default_rng(7).random((20, problem.n_var))
    pop = CutRepair().do(problem, Population.new("X", X))
    assert pop.get("X").dtype == np.float64
    assert problem.space.valid(pop.get("X")).all()
    assert np.array_equal(pop.get("X"), problem.space.repair(X >= 0.5))


@given(
    st.lists(st.integers(0, 5), max_size=20),
    st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=3),
    st.sampled_from([bool, np.int64, np.float64, object]),
)
def test_duplicates_are_those_of_a_set(own: list[int], others: list[list[int]], dtype: Any) -> None:
    def rows(numbers: list[int]) -> Any:
        X = np.array([[n & 1, n & 2, n & 4] for n in numbers]).reshape(-1, 3)
        return Population.new("X", X.astype(dtype)) if len(X) else Population.create()

    known = {n for numbers in others for n in numbers}
    expected = [n for i, n in enumerate(own) if n not in known and n not in own[:i]]
    pop = rows(own)
    kept = HashDuplicates().do(pop, *map(rows, others))
    assert [x.X.tolist() for x in kept] == [x.X.tolist() for x in rows(expected)]
    _, new, old = HashDuplicates().do(pop, *map(rows, others), return_indices=True)
    assert [own[i] for i in new] == expected
    assert sorted([*new, *old]) == list(range(len(own)))


def test_duplicates_of_mixed_variables_and_signed_zeros() -> None:
    mixed = Population.new(
        "X", np.array([{"k": 2, "e": 0.5}, {"e": 0.5, "k": 2}, {"k": 3, "e": 1}])
    )
    assert [x.X["k"] for x in HashDuplicates().do(mixed)] == [2, 3]
    assert len(HashDuplicates().do(Population.new("X", np.array([[0.0], [-0.0]])))) == 1
