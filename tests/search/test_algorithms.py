"""Algorithms: all names run and repeat, and what one cannot do is said in a sentence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pymoo.algorithms.moo.moead import MOEAD
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.operators.sampling.rnd import FloatRandomSampling
from pymoo.util.ref_dirs import get_reference_directions

from privmoo.errors import ProblemError
from privmoo.measures import (
    FrequencyDiversity,
    GeneralLoss,
    KAnonymity,
)
from privmoo.recodings.blocks import BlockRecoding
from privmoo.search.algorithms import algorithm_names, describe_algorithm, make_algorithm
from privmoo.search.optimization import optimize
from tests.scenery.runs import TABLE, Levels, small


def slow_front(F: NDArray[np.float64]) -> set[tuple[float, ...]]:
    """Non-dominated rows, by definition."""
    points = {tuple(row) for row in F.tolist()}
    return {
        a
        for a in points
        if not any(b != a and all(y <= x for x, y in zip(a, b, strict=True)) for b in points)
    }


@pytest.mark.parametrize(
    "name",
    [
        # pymoo compiles parts of AGE-MOEA-II anew in every process, which takes ten seconds.
        pytest.param(n, marks=[pytest.mark.slow] if n == "age-moea2" else [])
        for n in algorithm_names()
        if n not in ("ga", "de", "pso", "cmopso")
    ],
)
def test_every_algorithm_by_name_gives_a_reproducible_valid_front(name: str) -> None:
    fronts = []
    for _ in range(2):
        problem = small(objectives=(KAnonymity(), FrequencyDiversity(), GeneralLoss()))
        fronts.append(optimize(problem, name, 4, seed=5, progress=False))
    first, second = fronts
    assert first == second and hash(first) == hash(second)
    assert first.run["reproducible"] is True
    assert len(slow_front(first.F)) == len(first) > 2
    assert first.run["generations"] == 4


@pytest.mark.parametrize("name", ["ga", "random", None])
def test_one_objective(name: str | None) -> None:
    problem = small(objectives=(GeneralLoss(),), constraints=(KAnonymity() >= 4,))
    front = optimize(problem, name, 15, seed=1, progress=False)
    assert len(front) == 1 and front[0].k >= 4
    assert "GA" in front.run["algorithm"] or name == "random"


@pytest.mark.parametrize(("name", "n_obj"), [("pso", 1), ("de", 1), ("cmopso", 2)])
def test_algorithms_that_move_in_real_numbers(name: str, n_obj: int) -> None:
    class RealLevels(Levels):
        def recoding(self, x: NDArray[Any]) -> BlockRecoding:
            return super().recoding(np.rint(np.clip(x, self.xl, self.xu)))

        def default_operators(self) -> dict[str, Any]:
            return {"sampling": FloatRandomSampling()}

    problem = RealLevels(TABLE, constraints=(KAnonymity() >= 3,))
    problem.vtype = float
    if n_obj == 1:
        problem.objectives, problem.n_obj = (GeneralLoss(),), 1
    front = optimize(problem, name, 15, seed=1, progress=False)
    assert len(front) >= 1 and front.where(min_k=3) == front
    assert front.run["reproducible"] is (name != "cmopso")


def test_names_are_read_kindly_and_errors_name_the_nearest() -> None:
    problem = small()
    for spelled in ("NSGA-II", "nsga_2", "SMS EMOA", "AGEMOEA", "U-NSGA-III"):
        make_algorithm(problem, spelled)
    with pytest.raises(ProblemError, match="did you mean 'nsga2'"):
        optimize(problem, "nsga22", progress=False)
    with pytest.raises(ProblemError, match="must be a name"):
        optimize(problem, 7, progress=False)


@pytest.mark.parametrize(
    ("algorithm", "sentence"),
    [
        ("moead", "MOEAD cannot take constraints"),
        ("MOPSO-CD", "MOPSO_CD cannot take constraints"),
        (
            MOEAD(get_reference_directions("das-dennis", 2, n_partitions=9)),
            "cannot take constraints",
        ),
        ("ga", "ga is for 1 objective, but the problem has 2"),
        (GA(pop_size=10), "GA is for 1 objective"),
        (NSGA3(get_reference_directions("das-dennis", 3, n_partitions=3)), "is for 3 objectives"),
        ("cmopso", "'cmopso' moves in real numbers, but the variables of Cuts are bool"),
    ],
)
def test_what_an_algorithm_cannot_do_is_said_in_one_sentence(algorithm: Any, sentence: str) -> None:
    with pytest.raises(ProblemError, match=sentence) as raised:
        optimize(small(), algorithm, 2, progress=False)
    assert "\n" not in str(raised.value)


def test_three_objectives_with_directions_for_two() -> None:
    problem = small(objectives=(KAnonymity(), FrequencyDiversity(), GeneralLoss()))
    two = NSGA3(
        get_reference_directions("das-dennis", 2, n_partitions=9), **problem.default_operators()
    )
    with pytest.raises(
        ProblemError, match=r"this NSGA3 is for 2 objectives.* has 3 \(k, l, loss\)"
    ):
        optimize(problem, two, 2, progress=False)


def test_descriptions_of_algorithms_are_the_same_for_the_same_settings() -> None:
    problem = small()
    first = describe_algorithm(make_algorithm(problem))
    assert first == describe_algorithm(make_algorithm(small()))
    assert first != describe_algorithm(make_algorithm(problem, population=30))
    assert first != describe_algorithm(make_algorithm(problem, "spea2"))


def test_nsga3_is_marked_where_it_is_not_reproducible() -> None:
    problem = small(constraints=(KAnonymity() >= 3,))
    front = optimize(problem, "nsga3", 3, seed=1, progress=False)
    assert front.run["infeasible"] > 0 and front.run["reproducible"] is False
    assert "NSGA3" in front.run["why_not_reproducible"]


def test_pymoo_does_not_silence_the_warnings_of_the_process() -> None:
    before = list(warnings.filters)
    optimize(small(), "nsga3", 3, seed=1, progress=False)
    assert warnings.filters == before
