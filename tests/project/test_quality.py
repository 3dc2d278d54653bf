"""Golden and published qualities of fronts."""

from __future__ import annotations

import numpy as np
import pytest
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding

import privmoo as pm

# A plain NSGA-II prototype with these hierarchies: 1,500 generations of 200.
P1_PROTOTYPE = {0.10: 468, 0.20: 1033, 0.22: 1445, 0.30: 2256, 0.40: 4005}
P2_PROTOTYPE = {0.25: 14, 0.26: 17, 0.30: 26, 0.40: 90, 0.50: 301}


@pytest.mark.slow
def test_problem_1_beats_the_prototype_in_a_sixth_of_its_generations() -> None:
    problem = pm.problems.ZeroSuppression(pm.datasets.adult("dewri-prototype"))
    front = pm.optimize(problem, budget=250, seed=1, progress=False)
    for limit, goal in P1_PROTOTYPE.items():
        assert front.where(max_loss=limit).best("weighted_k").weighted_k > goal


@pytest.mark.slow
def test_problem_2_is_nowhere_behind_the_prototype() -> None:
    """17 and 26 are not beaten: much longer searches at just these losses find no better either."""
    problem = pm.problems.BudgetSuppression(
        pm.datasets.adult("dewri-prototype"), max_suppression=0.1
    )
    front = pm.optimize(problem, budget=250, seed=1, progress=False)
    for limit, goal in P2_PROTOTYPE.items():
        assert front.where(max_loss=limit).best("k").k >= goal
    assert front.where(max_loss=0.5).best("k").k > 301


def test_golden_front() -> None:
    """A small seeded run, pinned: a change of behaviour anywhere on the way is seen here."""
    problem = pm.problems.BudgetSuppression(pm.datasets.german_credit(), max_suppression=0.1)
    front = pm.optimize(problem, budget=15, seed=3, progress=False)
    again = pm.optimize(
        pm.problems.BudgetSuppression(pm.datasets.german_credit(), max_suppression=0.1),
        budget=15,
        seed=3,
        progress=False,
    )
    assert front == again
    found = [(int(s.k), round(s.loss, 4)) for s in front.where(max_k=12)]
    assert found == [
        (1, 0.0),
        (2, 0.0485),
        (3, 0.0658),
        (4, 0.0816),
        (5, 0.1039),
        (6, 0.1079),
        (7, 0.1226),
        (8, 0.1443),
        (9, 0.1602),
        (10, 0.1645),
        (11, 0.1724),
        (12, 0.197),
    ]


def test_small_k_are_searched_as_well_as_large_ones() -> None:
    """Crowding by decades keeps survivors where k is small; on k itself they crowd at the large ones."""
    problem = pm.problems.BudgetSuppression(pm.datasets.german_credit(), max_suppression=0.05)
    counts = []
    for survival in (pm.search.SpreadSurvival(), RankAndCrowding()):
        algorithm = pm.search.make_algorithm(problem, "nsga2", population=40, survival=survival)
        algorithm.setup(problem, termination=("n_gen", 40), seed=1)
        while algorithm.has_next():
            algorithm.next()
        k = -algorithm.pop.get("F")[:, 0]
        counts.append(int(np.sum(k <= 30)))
    assert counts[0] > counts[1]
