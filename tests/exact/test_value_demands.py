"""Geometric loss and demands on sensitive values in the sweep, against every vector and threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import privmoo as pm
from privmoo.errors import MeasureError, TableError
from privmoo.exact.costs import goal_of
from privmoo.measures import (
    Alpha,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    GeneralLoss,
    KAnonymity,
    PSensitivity,
    RecursiveDiversity,
    SuppressedShare,
    TCloseness,
    Transparency,
)
from privmoo.measures.base import Constraint
from privmoo.problems import Levels
from tests.scenery.levels import case, exact_or_none, one_by_one, points_of
from tests.scenery.parameters import first_in_make_test


def random_demand(rng: np.random.Generator) -> Constraint:
    """One of the demands that the sweep knows, neither always nor never satisfied."""
    reference: Any = rng.choice(["released", "original"])
    distance: Any = rng.choice(["equal", "ordered"])
    demands: list[Constraint] = [
        FrequencyDiversity() >= rng.choice([1.2, 1.5, 2, 3]),
        DistinctDiversity() >= int(rng.integers(1, 4)),
        PSensitivity() >= 2,
        EntropyDiversity() >= rng.choice([1.2, 2, 2.5]),
        RecursiveDiversity(float(rng.choice([0.5, 1, 2]))) >= 2,
        Alpha() <= rng.choice([0.4, 0.5, 0.8]),
        BetaLikeness(enhanced=bool(rng.integers(2)), reference=reference)
        <= rng.choice([0.3, 1, 2]),
        TCloseness(distance=distance, reference=reference) <= rng.choice([0.1, 0.25, 0.5]),
        DeltaDisclosure(reference=reference) <= rng.choice([0.3, 1.0, 2.0]),
    ]
    return demands[int(rng.integers(len(demands)))]


def random_problem(seed: int) -> Levels | None:
    """A problem of levels; None if its table or its demands make no sense."""
    rng = np.random.default_rng(seed)
    cost = [GeneralLoss(aggregate="geometric"), GeneralLoss(), Transparency()]
    objectives = [cost[int(rng.choice([0, 0, 1, 2]))]]
    if rng.random() < 0.8:
        objectives.insert(0, KAnonymity())
    if rng.random() < 0.3:
        objectives.append(SuppressedShare())
    demands = [random_demand(rng) for _ in range(int(rng.choice([0, 1, 1, 1, 2])))]
    demands = [c for i, c in enumerate(demands) if c.measure.name not in _names(demands[:i])]
    if rng.random() < 0.2:
        demands.append(KAnonymity() >= 2)
    policies: list[dict[str, Any]] = [
        {},
        {"max_suppression": float(rng.choice([0.0, 0.2, 0.5, 1.0]))},
        {"suppression": pm.Budget(float(rng.choice([0.2, 0.5])))},
        {"suppression": pm.BelowThreshold(float(rng.choice([1, 2, 2.5, 4])))},
    ]
    try:
        table, _, _ = case(seed, qis=(1, 2, 3), sensitive="ill")
        policy = policies[int(rng.integers(4))]
        return Levels(table, objectives=objectives, constraints=demands, **policy)
    except (TableError, MeasureError):
        return None


def _names(demands: list[Constraint]) -> set[str]:
    return {c.measure.name for c in demands}


@pytest.mark.parametrize("part", first_in_make_test(range(10), 2))
def test_the_sweep_equals_every_vector_and_every_threshold(part: int) -> None:
    for seed in range(7000 + 100 * part, 7100 + 100 * part):
        problem = random_problem(seed)
        if problem is None:
            continue
        assert goal_of(problem) is not None
        assert points_of(exact_or_none(problem)) == one_by_one(problem), seed
