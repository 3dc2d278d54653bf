"""Local search and optimal univariate microaggregation: exact costs, demands, and brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import privmoo as pm
from privmoo.data.points import Space
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.kernels.class_repair import repair_classes
from privmoo.kernels.class_state import Demands, fits, new_state, total_cost
from privmoo.kernels.local_search import anneal
from privmoo.spaces.units import cut_up, field_of
from privmoo.testing import check_baseline


@st.composite
def tables(draw: st.DrawFn, least: int = 8) -> Table:
    n = draw(st.integers(least, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    frame = pd.DataFrame(
        {
            "x": rng.integers(0, 30, n),
            "y": rng.normal(size=n).round(2),
            "c": rng.choice(list("abc"), n),
            "s": rng.choice(list("pqr"), n),
        }
    )
    qis = draw(st.sampled_from([["x"], ["x", "y"], ["x", "c"], ["c"], ["x", "y", "c"]]))
    return Table(frame, quasi_identifiers=qis, sensitive="s")


def cost(table: Table, labels: NDArray[np.integer], scale: str = "standard") -> float:
    """The slow obvious way: squared distance to the mean, and records that differ from the mode."""
    space = Space.of(table, scale)
    points, total = space.points[table.row_tuple], 0.0
    for c in np.unique(labels):
        members = points[labels == c]
        for j, numeric in enumerate(space.numeric):
            column = members[:, j]
            if numeric:
                total += ((column - column.mean()) ** 2).sum()
            else:
                total += len(column) - np.unique(column, return_counts=True)[1].max()
    return float(total)


@given(tables(), st.integers(2, 4), st.integers(0, 5))
def test_local_search_has_k_and_never_costs_more_than_its_start(
    table: Table, k: int, seed: int
) -> None:
    start = pm.baselines.mdav(table, k)
    result = pm.baselines.local_search(table, k, steps=2_000, seed=seed)
    assert result.sizes.min() >= k
    assert cost(table, result.labels) <= cost(table, start.labels) + 1e-9
    again = pm.baselines.local_search(table, k, start=result, steps=500, seed=seed)
    assert cost(table, again.labels) <= cost(table, result.labels) + 1e-9


@given(tables(), st.integers(2, 4), st.integers(0, 10_000), st.sampled_from([0, 1, 99]))
def test_steps_keep_exact_sums_and_demands(table: Table, k: int, seed: int, split: int) -> None:
    coordinates = Space.of(table, "standard")
    view, units = cut_up(table, coordinates, split)
    assert (np.diff(units.owners) >= 0).all()
    field = field_of(units, coordinates)
    rng = np.random.default_rng(seed)
    state = new_state(
        field,
        rng.integers(0, min(6, view.n_tuples), view.n_tuples).astype(np.int32),
        view.n_tuples,
        seed,
    )
    demands = Demands(k, 1, np.array([rng.uniform(0, 0.8)]))
    repair_classes(field, state, demands, 5)
    if np.count_nonzero(state.sizes) == 1:
        return
    for hot in (2.0, 0.01):
        some = rng.choice(view.n_tuples, rng.integers(1, view.n_tuples + 1), replace=False)
        anneal(field, state, demands, some, 1_000, hot, hot / 10)
        labels = state.labels[view.row_tuple] if split else state.labels[table.row_tuple]
        assert total_cost(field, state) == pytest.approx(cost(table, labels), abs=1e-8)
        assert (state.sizes == np.bincount(labels, minlength=len(state.sizes))).all()
        assert all(fits(field, state, demands, c) for c in range(len(state.sizes)))
        fresh = new_state(field, state.labels.copy(), len(state.sizes), 0)
        assert np.allclose(fresh.means[fresh.sizes > 0], state.means[fresh.sizes > 0])
        for name in ("sizes", "counts", "modes", "values"):
            assert (getattr(fresh, name) == getattr(state, name)).all(), name


def brute_force(values: NDArray[np.float64], k: int) -> float:
    """The least squared distance of all partitions of sorted numbers into intervals of k or more."""
    n = len(values)
    best = np.inf
    for cuts in range(1 << (n - 1)):
        ends = [0, *(i + 1 for i in range(n - 1) if cuts >> i & 1), n]
        if min(b - a for a, b in pairwise(ends)) >= k:
            best = min(best, sum(values[a:b].var() * (b - a) for a, b in pairwise(ends)))
    return float(best)


@given(st.lists(st.integers(0, 30), min_size=4, max_size=10), st.integers(2, 4))
def test_one_column_is_optimal(numbers: list[int], k: int) -> None:
    table = Table(pd.DataFrame({"x": numbers}), quasi_identifiers=["x"])
    result = pm.baselines.univariate(table, k, scale="raw")
    assert result.sizes.min() >= k
    best = brute_force(np.sort(np.array(numbers, dtype=float)), k)
    assert cost(table, result.labels, "raw") == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("name", ["local_search", "univariate"])
def test_contract(name: str) -> None:
    check_baseline(pm.baselines.by_name(name))


def test_what_is_refused() -> None:
    frame = pd.DataFrame({"x": range(9), "c": list("abcabcabc")})
    table = Table(frame, quasi_identifiers=["x", "c"])
    with pytest.raises(ProblemError, match=r"^steps: give steps or seconds, not both"):
        pm.baselines.local_search(table, 2, steps=1, seconds=1.0)
    with pytest.raises(ProblemError, match=r"^seconds: must be more than 0, got 0"):
        pm.baselines.local_search(table, 2, seconds=0)
    with pytest.raises(ProblemError, match="fewer than k = 4"):
        pm.baselines.local_search(table, 4, start=pm.baselines.mdav(table, 2))
    with pytest.raises(ProblemError, match=r"^column: 'z' is not a quasi-identifier"):
        pm.baselines.univariate(table, 2, column="z")
    with pytest.raises(
        ProblemError, match=r"^column: 'c' holds categories; choose a column of numbers"
    ):
        pm.baselines.univariate(table, 2, column="c")


def test_seconds_end_a_search() -> None:
    table = Table(pd.DataFrame({"x": range(50)}), quasi_identifiers=["x"])
    assert pm.baselines.local_search(table, 3, seconds=0.01).sizes.min() >= 3
