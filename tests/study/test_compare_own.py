"""Solvers, operators and fronts of others: changed code is another solver, and what fails fails alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.mutation import Mutation
from pymoo.operators.selection.tournament import TournamentSelection

import privmoo as pm
from privmoo.study import processes
from privmoo.study.worker import read
from tests.scenery.compare import SMALL, good, study
from tests.scenery.runs import TABLE, small


def flipping(rate: float, *, both: bool = False) -> Mutation:
    """An operator as it looks before and after somebody has edited its code."""
    if both:

        class Flip(Mutation):  # type: ignore[misc]  # pymoo has no types
            def _do(
                self, problem: Any, X: Any, *args: Any, random_state: Any, **kwargs: Any
            ) -> Any:
                return X ^ (random_state.random(X.shape) < rate) ^ (random_state.random() < rate)

        return Flip()

    class Flip(Mutation):  # type: ignore[misc, no-redef]
        def _do(self, problem: Any, X: Any, *args: Any, random_state: Any, **kwargs: Any) -> Any:
            return X ^ (random_state.random(X.shape) < rate)

    return Flip()


class Hiding(Mutation):  # type: ignore[misc]  # pymoo has no types
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

        def batch(self, groups: pm.groups.GroupBatch) -> Any:
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


def test_functions_are_known_by_the_arguments_they_need() -> None:
    def factory(problem: Any, population: int = 10, eliminate: bool = True) -> Any:
        return NSGA2(population, **problem.default_operators())

    def solving(problem: Any, seed: int = 0, budget: Any = None) -> Any:
        return good(problem, seed, budget)

    def any_three(*arguments: Any) -> Any:
        return good(*arguments)

    found = study([factory, solving, any_three], seeds=1)
    assert (found.frame["status"] == "ok").all()
    kinds = [s.settings["Cuts"]["kind"] for s in found.solvers]
    assert kinds == ["algorithm", "function", "function"]


def endless(problem: Any, seed: int, budget: Any) -> pm.Front:
    front = pm.Front.of(problem, good(problem, seed, budget))
    return replace(front, values=front.values + np.inf) if seed == 1 else front


def bare(problem: Any, seed: int, budget: Any) -> pm.Front:
    """Without the problem's further quantities, which every run of a study must have."""
    return pm.Front.of(small(), good(problem, seed, budget))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_front_that_cannot_be_kept_fails_its_run_only(jobs: int) -> None:
    found = study([endless, bare], small(extras=[pm.Discernibility()]), jobs=jobs)
    assert found.failures["solver"].tolist() == ["endless", *["bare"] * 3]
    errors = found.failures["error"]
    assert "'endless' returned a front with values that are not finite" in errors[0]
    assert "'bare' returned a front whose recorded quantities are not the problem's" in errors[1]


def test_an_answer_that_cannot_be_read_fails_its_run_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "read", lambda stream: read(stream) and b"PK no outcome")
    found = study([SMALL], seeds=2, jobs=2)
    assert len(found.failures) == 2
    assert "is damaged or not a run" in found.failures["error"][0]


def test_settings_of_known_operators_are_as_before() -> None:
    for name in ("nsga2", "nsga3", "spea2", "sms-emoa", "age-moea", "random"):
        assert "own_code" not in pm.Solver.algorithm(name).describe(small())
    described = pm.Solver.algorithm(algorithm(mutation=Hiding(0.1))).describe(small())
    assert described["own_code"][0]["hidden"] == {"_rate": 0.1}
