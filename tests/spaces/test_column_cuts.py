"""The best cut of one column against all cuts of it."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.problem import AnonymizationProblem
from privmoo.search.slices import limits_of, most_left_out, nearest_to_limits
from privmoo.spaces.base import Limits
from privmoo.spaces.column_cuts import ColumnCuts
from tests.scenery.goals import german_credit

TREE = pm.Hierarchy.tree([["a", "b"], [["c"], ["d", "e"]]])


@st.composite
def tables(draw: st.DrawFn) -> pm.Table:
    """Up to thirty records with an ordered column, a tree, and a sensitive value."""
    n = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, draw(st.integers(1, 7)), n),
            "job": rng.choice(list("abcde"), n),
            "ill": rng.choice(list("xyz"), n),
        }
    )
    assume(frame["ill"].nunique() > 1)
    ages = pm.Hierarchy.ordered(list(range(7)))
    age = pm.QuasiIdentifier(
        hierarchy=ages,
        weight=draw(st.sampled_from([1.0, 2.5])),
        fixed_cuts=draw(st.sampled_from([[], [2]])),
    )
    job = pm.QuasiIdentifier(hierarchy=TREE, min_level=draw(st.integers(0, 1)))
    return pm.Table(frame, quasi_identifiers={"age": age, "job": job}, sensitive=["ill"])


def cuts_of(space: pm.spaces.CutSpace, x: np.ndarray, column: int) -> np.ndarray:
    """All valid cuts that differ from one in a column only."""
    bits = slice(space.offsets[column], space.offsets[column + 1])
    rows = []
    for values in itertools.product([False, True], repeat=bits.stop - bits.start):
        row = x.copy()
        row[bits] = values
        rows.append(row)
    return np.array(rows)[space.valid(np.array(rows))]


def judged(problem: AnonymizationProblem, rows: np.ndarray, limits: Limits) -> np.ndarray:
    """The loss and the left-out records of cuts, from a problem with these thresholds."""
    least = pm.Thresholds(k=limits.k, l=limits.diversity)
    plain = pm.problems.Cuts(
        problem.table,
        objectives=[pm.GeneralLoss(), pm.SuppressedShare()],
        suppression=least,
        extras=[],
    )
    evaluation = plain.evaluator.evaluate(rows)
    out = np.rint(evaluation.F[:, 1] * problem.table.n_records)
    # A release of nothing is worst in all; as a sum over blocks it loses everything, too.
    return np.column_stack([evaluation.F[:, 0], out])


@given(
    tables(),
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.sampled_from([1.0, 1.5, 2.0]),
    st.integers(0, 30),
)
def test_no_cut_of_a_column_is_better(
    table: pm.Table, seed: int, k: int, diversity: float, left_out: int
) -> None:
    problem = pm.problems.Cuts(table)
    space = problem.space
    [x] = problem.default_operators()["sampling"](problem, 1, to_numpy=True, random_state=seed)
    for column in range(space.n_attributes):
        limits = Limits(k, diversity, left_out)
        values = judged(problem, cuts_of(space, x, column), limits)
        answer = ColumnCuts(space).best(x, column, limits)
        fits = values[:, 1] <= left_out
        assert (answer is not None) == fits.any()
        if answer is None:
            continue
        best, its_loss = answer
        other = np.delete(
            np.arange(space.n_bits), np.r_[space.offsets[column] : space.offsets[column + 1]]
        )
        assert space.valid(best[None]).all() and (best[other] == x[other]).all()
        [(loss, out)] = judged(problem, best[None], limits)
        assert out <= left_out
        assert np.isclose(its_loss, loss * table.n_records)
        cheapest = values[values[:, 0] <= values[:, 0].min() + 1e-12]
        if left_out == 0 or cheapest[:, 1].max() <= left_out:  # otherwise a price decides
            assert loss <= values[fits, 0].min() + 1e-9


def test_columns_with_many_leaves_are_left_alone() -> None:
    frame = pd.DataFrame({"pay": np.arange(300), "sex": ["m", "f"] * 150})
    hierarchies = {"pay": pm.Hierarchy.ordered(), "sex": pm.Hierarchy.flat()}
    space = pm.problems.Cuts(pm.Table(frame, quasi_identifiers=hierarchies)).space
    assert space.columns.chances.tolist() == [0.0, 1.0]
    assert np.isinf(space.columns.passes[0])


def test_limits_are_those_of_objectives() -> None:
    problem = pm.problems.BudgetSuppression(german_credit(), max_suppression=0.05)
    assert most_left_out(problem) == 50
    assert limits_of(problem, {0: 38.5, 1: 0.6}, 50) == (39, 1 - 1e-9, 50)
    F = np.array([[-80.0, 0.7], [-2.0, 0.2], [-39.0, 0.6]])
    assert nearest_to_limits(problem, F, Limits(30, 1.0, 50)).tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "objectives",
    [[pm.KAnonymity(), pm.SuppressedShare()], [pm.GeneralLoss(), pm.SuppressedShare()]],
)
def test_other_objectives_have_no_best_part(objectives: list[pm.Measure]) -> None:
    problem = pm.problems.Cuts(
        german_credit(), objectives=objectives, suppression=pm.Budget(0.1), extras=[]
    )
    assert most_left_out(problem) is None


@given(tables(), st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([1.0, 1.5, 2.0]))
def test_a_settled_cut_has_no_better_cut_of_any_column(
    table: pm.Table, seed: int, k: int, diversity: float
) -> None:
    problem = pm.problems.Cuts(table)
    space, rng = problem.space, np.random.default_rng(seed)
    [x] = problem.default_operators()["sampling"](problem, 1, to_numpy=True, random_state=seed)
    limits = Limits(k, diversity, table.n_records)  # enough, so that no price decides
    row, passes = space.columns.settled(x, limits, rng)
    assert row is not None and space.valid(row[None]).all()
    assert passes >= space.columns.passes[space.columns.chances > 0].sum()
    [(loss, _)] = judged(problem, row[None], limits)
    assert loss <= judged(problem, x[None], limits)[0, 0] + 1e-9
    for column in range(space.n_attributes):
        of_column = judged(problem, cuts_of(space, row, column), limits)
        assert loss <= of_column[:, 0].min() + 1e-9
    assert space.settled(x, Limits(table.n_records + 1, 1.0, 0), rng) is None


def test_what_is_many_moves_away_is_found() -> None:
    """The best cut of German credit for k = 50 is not one move from anything on the front."""
    problem = pm.problems.BudgetSuppression(german_credit(), max_suppression=0.05)
    space = problem.space
    x = space.coarsest()
    for column, cut in ((4, [1, 0]), (5, [0, 0, 1]), (6, [1])):  # housing, residence, foreign
        x[space.offsets[column] : space.offsets[column + 1]] = cut
    best = space.columns.best(x, 0, Limits(50, 1.0, 50))
    assert best is not None
    assert problem.evaluator.evaluate(best[0][None]).F[0].round(4).tolist() == [-51, 0.5938]
