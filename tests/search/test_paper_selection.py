"""The second rule of selection of Jahan et al. 2025, and its pairs, beside slow versions."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings
from pymoo.core.population import Population
from pymoo.core.problem import Problem

from privmoo.search import DominationCount, RandomPairs
from privmoo.search.domination_count import domination_counts


def dominates(a: list[float], b: list[float]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True)) and a != b


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=1, max_size=20))
@settings(max_examples=80)
def test_counts_and_survivors_are_those_of_all_comparisons(points: list[tuple[int, int]]) -> None:
    rows = [[float(a), float(b)] for a, b in points]
    counts = [sum(dominates(other, row) for other in rows) for row in rows]
    F = np.array(rows)
    assert domination_counts(F).tolist() == counts
    ranked = sorted(range(len(rows)), key=lambda i: (counts[i], rows[i][0]))
    population = Population.new("X", np.arange(len(rows))[:, None], "F", F)
    survivors = DominationCount().do(Problem(n_var=1, n_obj=2), population, n_survive=5)
    assert survivors.get("X")[:, 0].tolist() == ranked[:5]
    assert survivors.get("rank").tolist() == [counts[i] for i in ranked[:5]]


@given(st.integers(1, 31), st.integers(1, 40), st.integers(0, 100))
@settings(max_examples=60)
def test_everybody_is_a_parent_once_before_anybody_is_again(
    n: int, n_select: int, seed: int
) -> None:
    population = Population.new("X", np.arange(n)[:, None])
    rng = np.random.default_rng(seed)
    pairs = RandomPairs().do(None, population, n_select, 2, to_pop=False, random_state=rng)
    assert pairs.shape == (n_select, 2)
    a_division = max(1, n // 2)
    for begin in range(0, n_select, a_division):
        part = pairs[begin : begin + a_division]
        if n > 1:
            assert len(np.unique(part)) == part.size
