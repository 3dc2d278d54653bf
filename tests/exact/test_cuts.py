"""The exact front of cuts, against every cut and every threshold, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymoo.indicators.hv import HV
from pymoo.indicators.igd import IGD

import privmoo as pm
from privmoo.errors import ProblemError
from privmoo.exact import exact_front, lower_bound
from privmoo.exact.partition_sets import nested_sets
from privmoo.exact.partitions import count_cuts, list_cuts, partitions_of
from privmoo.problems import Clusters, Cuts
from tests.scenery.cuts import every_cut, random_cuts
from tests.scenery.levels import Clock, best_of, exact, is_bound, points_of
from tests.scenery.parameters import first_in_make_test


@pytest.mark.parametrize("part", first_in_make_test(range(10), 3))
def test_the_front_equals_every_cut_and_every_threshold(part: int) -> None:
    for seed in range(part * 100, part * 100 + 100):
        problem = random_cuts(np.random.default_rng(seed))
        assert points_of(exact(problem)) == best_of(every_cut(problem)), seed


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_an_early_end_gives_bounds_that_hold(seed: int, looks: int) -> None:
    """Stopped by the number of looks at the clock, so that a seed gives the same result everywhere."""
    problem = random_cuts(np.random.default_rng(seed))
    whole = exact(problem)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("privmoo.exact.stopwatch.time", Clock())
        front = exact_front(problem, seconds=looks + 0.5, progress=False)
    if front.proven:
        assert points_of(front) == points_of(whole)
        return
    bound = pd.DataFrame(front.run["bound"], columns=["k", "loss"])
    assert is_bound(bound, whole, "loss", 1) and is_bound(bound, front, "loss", 1)
    optimal = points_of(whole)
    for i in front.run["proven_solutions"]:
        assert points_of(front[i : i + 1]) <= optimal


@given(st.integers(0, 10**6))
def test_a_start_changes_nothing_but_the_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_cuts(rng)
    rows = problem.space.repair(rng.random((6, problem.space.n_bits)) < 0.5)
    start = pm.Front.of(problem, rows, stairs=True)
    front = exact_front(problem, start=start, progress=False)
    assert front.proven and points_of(front) == points_of(exact(problem))


def test_a_start_of_another_problem_is_refused() -> None:
    problem, other = (random_cuts(np.random.default_rng(seed)) for seed in (1, 2))
    with pytest.raises(ProblemError, match=r"^start: this front belongs to another problem"):
        exact_front(problem, start=exact(other), progress=False)


@given(st.integers(0, 10**6))
def test_lists_hold_every_valid_cut_once(seed: int) -> None:
    space = random_cuts(np.random.default_rng(seed)).space
    for j in range(space.n_attributes):
        rows = list_cuts(space, j)
        assert len(rows) == count_cuts(space, j) == len(np.unique(rows, axis=0))
        assert (rows.sum(axis=1) == np.sort(rows.sum(axis=1))[::-1]).all()
    n_valid = sum(space.valid(_all_bits(space.n_bits)))
    assert n_valid == partitions_of(random_cuts(np.random.default_rng(seed))).n_nodes


def _all_bits(n: int) -> np.ndarray:
    return np.asarray((np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1)


@given(st.integers(1, 7), st.integers(0, 10**6))
def test_nested_sets_hold_their_members(n_bits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = _all_bits(n_bits)[rng.random(2**n_bits) < 0.8]
    if not len(bits):
        return
    weights = np.cumsum(rng.integers(0, 5, n_bits)).astype(float)
    sets = list(nested_sets(bits, weights))
    singles = [int(s.rows[0]) for s in sets if s.skip == 0]
    assert sorted(singles) == list(range(len(bits)))
    for i, members in enumerate(sets):
        inside = [int(s.rows[0]) for s in sets[i : i + 1 + members.skip] if s.skip == 0]
        assert sorted(inside) == sorted(members.rows.tolist())
        assert (members.common == bits[members.rows].all(axis=0)).all()
        assert (members.any == bits[members.rows].any(axis=0)).all()


def test_other_objectives_are_evaluated_one_by_one() -> None:
    for seed in range(6):
        problem = random_cuts(np.random.default_rng(seed), most=8)
        wide = Cuts(problem.table, objectives=[pm.WeightedK(), pm.GeneralLoss()])
        rows = _all_bits(wide.space.n_bits)
        F = wide.evaluate(rows[wide.space.valid(rows)], return_values_of=["F"])
        assert points_of(exact(wide)) == best_of(F)


def test_lower_bounds_of_cuts_hold() -> None:
    for seed in range(20):
        problem = random_cuts(np.random.default_rng(seed))
        front = exact(problem)
        for most in (1, 30):
            assert is_bound(lower_bound(problem, most_nodes=most), front, "loss", 1), seed


def test_what_searches_neither_levels_nor_cuts() -> None:
    table: Any = random_cuts(np.random.default_rng(0)).table
    with pytest.raises(ProblemError, match=r"Clusters does not search levels or cuts alone"):
        exact_front(Clusters(table, n_clusters=1), progress=False)


def test_wrong_arguments_are_named() -> None:
    problem = random_cuts(np.random.default_rng(0))
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (problem.table, {}, r"problem: must be a problem such as Levels\(table\), got Table"),
        (problem, {"start": "x"}, "start: must be a Front, got str"),
        (problem, {"seconds": -1}, "seconds: must be at least 0, got -1"),
        (problem, {"seconds": "1"}, "seconds: must be a number, got '1'"),
    ]
    for first, options, sentence in wrong:
        with pytest.raises(ProblemError, match=sentence):
            exact_front(first, progress=False, **options)


def test_a_search_that_ends_at_once_still_has_a_front() -> None:
    """What a sweep has visited by then is nothing; a short search knows better."""
    problem = pm.problems.BudgetSuppression(pm.datasets.german_credit(), max_suppression=0.05)
    front = exact_front(problem, seconds=0, progress=False)
    assert not front.proven and len(front) > 10
    assert front.column("loss").min() == 0 and front.column("k").max() == 1_000


def test_the_time_of_regions_is_limited() -> None:
    problem = pm.problems.Regions(pm.datasets.german_credit())
    front = exact_front(problem, seconds=0, progress=False)
    assert front.run["generations"] < problem.default_generations


def test_pymoo_reads_the_proven_front() -> None:
    problem = random_cuts(np.random.default_rng(5))
    assert problem.pareto_front() is None
    front = exact(problem)
    points = problem.pareto_front()
    assert points is not None and IGD(points)(front.F) == 0
    coarsest = pm.Front.of(problem, [problem.space.coarsest()], stairs=True)
    assert IGD(points)(coarsest.F) > 0 or len(front) == 1
    volume = HV(ref_point=problem.reference_point + 1)
    assert volume(points) == pytest.approx(volume(front.F)) and volume(points) >= volume(coarsest.F)
