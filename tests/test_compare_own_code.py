"""Runs on disk of algorithms with operators of others: changed code is another solver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.mutation import Mutation
from pymoo.operators.selection.tournament import TournamentSelection
from scenery_compare import SMALL, good, study
from scenery_runs import TABLE, small

import privmoo as pm


def flipping(rate: float, *, both: bool = False) -> Mutation:
    """An operator as it looks before and after somebody has edited its code."""
    if both:

        class Flip(Mutation):
            def _do(
                self, problem: Any, X: Any, *args: Any, random_state: Any, **kwargs: Any
            ) -> Any:
                return X ^ (random_state.random(X.shape) < rate) ^ (random_state.random() < rate)

        return Flip()

    class Flip(Mutation):  # type: ignore[no-redef]
        def _do(self, problem: Any, X: Any, *args: Any, random_state: Any, **kwargs: Any) -> Any:
            return X ^ (random_state.random(X.shape) < rate)

    return Flip()


class Hiding(Mutation):
    """Keeps its parameter to itself."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self._rate = rate

    def _do(self, problem: Any, X: Any, *args: Any, random_state: Any, **kwargs: Any) -> Any:
        return X ^ (random_state.random(X.shape) < self._rate)


def by_first(pop: Any, P: Any, **_: Any) -> Any:
    return P[:, [0]]


def by_last(pop: Any, P: Any, **_: Any) -> Any:
    return P[:, [-1]]


by_last.__qualname__ = by_first.__qualname__ = "compare"


def algorithm(**parts: Any) -> NSGA2:
    return NSGA2(10, **{**small().default_operators(), **parts})


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"mutation": flipping(0.1)}, {"mutation": flipping(0.1, both=True)}),
        ({"mutation": flipping(0.1)}, {"mutation": flipping(0.2)}),
        ({"mutation": Hiding(0.1)}, {"mutation": Hiding(0.2)}),
        (
            {"selection": TournamentSelection(by_first)},
            {"selection": TournamentSelection(by_last)},
        ),
    ],
)
def test_changed_operators_are_not_taken_for_the_earlier_ones(
    tmp_path: Path, one: dict[str, Any], two: dict[str, Any]
) -> None:
    for parts, files in ((one, 1), (one, 1), (two, 2), (one, 2)):
        study({"ours": algorithm(**parts)}, seeds=1, folder=tmp_path)
        assert len(list(tmp_path.iterdir())) == files


def rarity(power: int) -> pm.Measure:
    """A measure as it looks before and after somebody has edited its code."""

    class Rarity(pm.Measure):
        name = "rarity"
        sense = "min"

        def batch(self, groups: pm.GroupBatch) -> Any:
            return groups.reduce(1.0 / groups.sizes**power)

        def range(self, table: pm.Table) -> tuple[float, float]:
            return 0.0, float(table.n_records)

    return Rarity()


def test_changed_measures_and_problems_are_not_taken_for_the_earlier_ones(tmp_path: Path) -> None:
    for power, files in ((1, 1), (1, 1), (2, 2)):
        problem = small(objectives=[pm.KAnonymity(), rarity(power)])
        study(SMALL, problem, seeds=1, folder=tmp_path)
        assert len(list(tmp_path.iterdir())) == files

    class Mine(pm.problems.Cuts):
        pass

    study(SMALL, Mine(TABLE), seeds=1, folder=tmp_path)
    Mine.default_operators = lambda self: pm.problems.Cuts.default_operators(self)  # type: ignore[method-assign]
    study(SMALL, Mine(TABLE), seeds=1, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_functions_that_call_themselves_are_described() -> None:
    def again(problem: Any, seed: int, budget: Any, left: int = 2) -> Any:
        return again(problem, seed, budget, left - 1) if left else good(problem, seed, budget)

    found = study({"again": again}, seeds=1)
    assert found.solvers[0].settings["Cuts"]["closure"] == ["itself"]


def test_settings_of_known_operators_are_as_before() -> None:
    for name in ("nsga2", "nsga3", "spea2", "sms-emoa", "age-moea", "random"):
        assert "own_code" not in pm.Solver.algorithm(name).describe(small())
    described = pm.Solver.algorithm(algorithm(mutation=Hiding(0.1))).describe(small())
    assert described["own_code"][0]["hidden"] == {"_rate": 0.1}
