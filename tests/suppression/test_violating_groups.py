"""ViolatingGroups: what cannot be asked of a single group is refused at once."""

from __future__ import annotations

import pandas as pd
import pytest

import privmoo as pm
from privmoo.errors import ProblemError


def test_a_risk_in_a_population_is_refused() -> None:
    everyone = pd.DataFrame({"age": [1, 1, 2, 2]})
    for measure in (pm.JournalistRisk(population=everyone), pm.MarketerRisk(population=everyone)):
        with pytest.raises(ProblemError, match=r"use sampling_fraction= instead of population="):
            pm.ViolatingGroups(measure <= 0.5)


def test_a_risk_by_sampling_fraction_decides_group_by_group() -> None:
    table = pm.Table(
        pd.DataFrame({"age": [1, 1, 1, 2]}), quasi_identifiers={"age": pm.Hierarchy.flat()}
    )
    policy = pm.ViolatingGroups(pm.JournalistRisk(sampling_fraction=0.5) <= 0.2)
    problem = pm.problems.Levels(table, suppression=policy)
    front = pm.optimize(problem, budget=2, seed=1, progress=False)
    assert {int(solution.k) for solution in front} <= {3, 4}
