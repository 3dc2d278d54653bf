"""What is proven when a search ends early, at any number of visited nodes, against the true front."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmoo.exact.costs import goal_of
from privmoo.exact.stopwatch import Stopwatch
from privmoo.front import Front
from tests.exact.test_value_demands import random_problem
from tests.scenery.cuts import random_cuts
from tests.scenery.levels import exact_or_none, is_bound, points_of


def stopped(problem: Any, nodes: int) -> Front | None:
    """The front of a search that ends after some nodes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("privmoo.exact.lattice.Stopwatch", partial(Stopwatch, nodes=nodes))
        return exact_or_none(problem, seconds=600)


def check(problem: Any, nodes: int) -> bool:
    """Check all claims of a stopped search; return whether it was stopped at all."""
    whole, front = exact_or_none(problem), stopped(problem, nodes)
    goal = goal_of(problem)
    if front is None or whole is None or goal is None:
        assert whole is None or front is None  # nothing feasible was met by then
        return False
    if front.proven:
        assert points_of(front) == points_of(whole)
        return False
    optimal = points_of(whole)
    sure = front.run["proven_solutions"]
    assert all(points_of(front[i : i + 1]) <= optimal for i in sure)
    if goal.counts_k:
        name, sign = goal.measure.key, 1 if goal.measure.sense == "min" else -1
        bound = pd.DataFrame(front.run["bound"], columns=["k", name])
        assert is_bound(bound, whole, name, sign) and is_bound(bound, front, name, sign)
        if not goal.all_limits:
            gap = front.gap().to_frame()
            for i, k in enumerate(front.column("k").astype(int)):
                # What costs as much and has more k would be better.
                above = sign * gap["possible"][gap.index > k] > sign * front.column(name)[i] + 1e-8
                assert (i in sure) == (gap["gap"][k] == 0 and bool(above.all()))
    return True


@given(st.integers(0, 10**6), st.integers(0, 40))
def test_bounds_of_cuts_hold(seed: int, nodes: int) -> None:
    check(random_cuts(np.random.default_rng(seed)), nodes)


@given(st.integers(0, 10**6), st.integers(0, 20))
def test_bounds_of_levels_with_other_losses_and_demands_hold(seed: int, nodes: int) -> None:
    problem = random_problem(seed)
    if problem is not None:
        check(problem, nodes)


def test_searches_are_stopped_and_prove_part_of_their_front() -> None:
    """The checks above see searches that were stopped, with solutions that are proven and others."""
    n_stopped = n_sure = n_open = 0
    for seed in range(40):
        problem = random_cuts(np.random.default_rng(seed))
        if check(problem, 6):
            front = stopped(problem, 6)
            assert front is not None
            n_stopped += 1
            n_sure += len(front.run["proven_solutions"])
            n_open += len(front) - len(front.run["proven_solutions"])
    assert n_stopped > 10 and n_sure > 10 and n_open > 10
