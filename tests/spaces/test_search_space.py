"""A search space of one's own, without a subclass of the problem."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from pymoo.operators.crossover.ux import UniformCrossover
from pymoo.operators.mutation.pm import PM
from pymoo.operators.repair.rounding import RoundingRepair
from pymoo.operators.sampling.rnd import IntegerRandomSampling

import privmoo as pm
from privmoo.errors import CheckpointError, ProblemError
from privmoo.operators.space import space_of
from privmoo.spaces.base import SearchSpace
from privmoo.spaces.levels import LevelSpace
from privmoo.testing import check_problem, example_table
from tests.scenery import runs

TABLE = pm.Table(
    pd.DataFrame({"age": [20, 21, 22, 40, 41, 60, 61, 62], "ill": list("abababab")}),
    quasi_identifiers={"age": pm.Hierarchy.ordered()},
    sensitive="ill",
)


class EqualWidths(SearchSpace):
    """The number of ranges of equal width, for every quasi-identifier."""

    kinds: ClassVar[tuple[str, ...]] = ("widths",)
    variable_type: ClassVar[type] = int

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.ones(self.table.n_qis), np.array([qi.n_leaves for qi in self.table.qis], float)

    def recoding(self, x: NDArray[Any]) -> Any:
        cuts = []
        for qi, n in zip(self.table.qis, x, strict=True):
            part = np.arange(qi.n_leaves) * int(n) // qi.n_leaves
            cuts.append(np.diff(part) > 0)
        return pm.recodings.cut_recoding(self.table, cuts)

    def candidates(self, X: NDArray[Any]) -> pm.recodings.Candidates:
        blocks = [self.recoding(x).candidate(self.table).blocks for x in X]
        return pm.recodings.Candidates(blocks=np.concatenate(blocks))

    def operators(self) -> dict[str, Any]:
        return {
            "sampling": IntegerRandomSampling(),
            "crossover": UniformCrossover(),
            "mutation": PM(prob=1.0, vtype=float, repair=RoundingRepair()),
            "eliminate_duplicates": pm.operators.HashDuplicates(),
        }


def problem() -> pm.AnonymizationProblem:
    return pm.AnonymizationProblem(
        TABLE, space=EqualWidths(TABLE), objectives=[pm.KAnonymity(), pm.GeneralLoss()]
    )


def test_a_space_makes_a_problem_that_can_be_solved_and_released() -> None:
    check_problem(problem())
    front = pm.optimize(problem(), budget=5, seed=1, progress=False)
    assert front.best("k").k == TABLE.n_records
    assert front == pm.optimize(problem(), budget=5, seed=1, progress=False)


def test_operators_of_other_spaces_refuse_it() -> None:
    with pytest.raises(ProblemError, match="AnonymizationProblem does not search cuts"):
        space_of(problem(), "cuts")
    with pytest.raises(ProblemError, match="a search over widths cannot start from recodings"):
        problem().encode(problem().recoding(np.array([2])))


def test_a_problem_refuses_what_is_not_a_space_of_its_table() -> None:
    goals: dict[str, Any] = {"objectives": [pm.KAnonymity()]}
    other = pm.Table(pd.DataFrame({"age": [1, 2]}), quasi_identifiers=["age"])
    for space, message in (
        (EqualWidths(other), "space: this one was made for another table"),
        (LevelSpace(example_table()), "space: this one was made for another table"),
        (EqualWidths, r"got the class; write EqualWidths\(table\)"),
        ("cuts", "space: must be a SearchSpace, got str"),
        (None, "space: none given; pass a search space, or the variables"),
    ):
        with pytest.raises(ProblemError, match=message):
            pm.AnonymizationProblem(TABLE, space=space, **goals)
    equal = EqualWidths(copy.copy(TABLE))
    assert pm.AnonymizationProblem(TABLE, space=equal, **goals).space is equal


class Widest(EqualWidths):
    """At most so many ranges of equal width."""

    def __init__(self, table: pm.Table, most: int) -> None:
        super().__init__(table)
        self.most = most

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        low, high = super().bounds
        return low, np.minimum(high, self.most)

    def parameters(self) -> dict[str, Any]:
        return {"most": self.most}


def test_files_of_one_space_are_not_taken_for_those_of_another(tmp_path: Path) -> None:
    goals: dict[str, Any] = {"objectives": [pm.KAnonymity(), pm.GeneralLoss()]}
    spaces = [EqualWidths(TABLE), Widest(TABLE, 8), Widest(TABLE, 7)]
    first, *others = [pm.AnonymizationProblem(TABLE, space=s, **goals) for s in spaces]
    file, log = tmp_path / "front.zip", tmp_path / "run.log"
    front = pm.optimize(first, budget=3, seed=1, progress=False, checkpoint=log)
    front.save(file)
    assert pm.Front.load(file, problem=first) == front
    assert pm.optimize(first, budget=3, seed=1, progress=False, checkpoint=log) == front
    descriptions = [other.describe() for other in others]
    assert descriptions[0]["space"] == {"name": "Widest", "parameters": {"most": 8}}
    assert descriptions[0] != descriptions[1]
    for other in others:
        with pytest.raises(CheckpointError, match="another problem"):
            pm.Front.load(file, problem=other)
        with pytest.raises(CheckpointError, match="another problem"):
            pm.optimize(other, budget=3, seed=1, progress=False, checkpoint=log)
    assert "space" not in pm.problems.Cuts(TABLE).describe()


class Forgetful(EqualWidths):
    """Returns the first candidates only, and leaves duplicates to pymoo."""

    returned = 1

    def candidates(self, X: NDArray[Any]) -> pm.recodings.Candidates:
        return super().candidates(X)[: self.returned]

    def operators(self) -> dict[str, Any]:
        operators = super().operators()
        del operators["eliminate_duplicates"]
        return operators


def test_a_space_returns_one_candidate_per_decision_vector() -> None:
    space = Forgetful(TABLE)
    forgetful = pm.AnonymizationProblem(TABLE, space=space, objectives=[pm.KAnonymity()])
    X = np.array([[1], [2], [3]])
    for space.returned in (0, 1):
        for keep in (True, False):
            with pytest.raises(
                ProblemError, match=f"per decision vector, got {space.returned} for 3"
            ):
                forgetful.evaluator.judge(X, keep=keep)


def test_a_space_may_leave_duplicates_to_pymoo() -> None:
    space = Forgetful(TABLE)
    space.returned = 1000
    goals = [pm.KAnonymity(), pm.GeneralLoss()]
    plain = pm.AnonymizationProblem(TABLE, space=space, objectives=goals)
    check_problem(plain)
    assert pm.optimize(plain, budget=3, seed=1, progress=False).best("k").k == TABLE.n_records


def test_what_is_missing_is_named() -> None:
    empty = SearchSpace(TABLE)
    row = np.zeros((1, 1))
    for use, name in (
        (lambda: empty.bounds, "bounds"),
        (lambda: empty.candidates(row), "candidates"),
        (lambda: empty.recoding(row[0]), "recoding"),
        (lambda: empty.operators(), "operators"),
    ):
        with pytest.raises(TypeError, match=f"SearchSpace must define {name}"):
            use()
    with pytest.raises(ProblemError, match="table: must be a privmoo Table, got str"):
        SearchSpace("a table")
    bare = pm.AnonymizationProblem(TABLE, objectives=[pm.KAnonymity()], n_var=1, xl=0, xu=1)
    with pytest.raises(TypeError, match="AnonymizationProblem must define default_operators"):
        bare.default_operators()
    with pytest.raises(TypeError, match=r"AnonymizationProblem must define candidates\(X\)"):
        bare.candidates(row)
    with pytest.raises(TypeError, match=r"AnonymizationProblem must define recoding\(x\)"):
        bare.recoding(row[0])


@pytest.mark.parametrize(
    "make",
    [
        lambda: pm.problems.Cuts(example_table()),
        lambda: pm.problems.Levels(example_table()),
        lambda: pm.problems.Levels(example_table(), max_suppression=0.5),
        lambda: pm.problems.LevelsAndSuppression(example_table()),
        lambda: pm.problems.Clusters(example_table(), 3),
    ],
)
def test_problems_take_bounds_and_operators_from_their_space(make: Any) -> None:
    made = make()
    low, high = made.space.bounds
    assert made.n_var == made.space.n_variables == len(low)
    assert np.array_equal(made.xl, low) and np.array_equal(made.xu, high)
    assert made.vtype is made.space.variable_type
    assert set(made.default_operators()) == set(made.space.operators())
    assert copy.deepcopy(made.space) is made.space


def test_a_subclass_that_decodes_itself_has_a_space_too() -> None:
    problem = runs.Levels(runs.TABLE)
    heights = [qi.hierarchy.height for qi in runs.TABLE.qis if qi.hierarchy is not None]
    assert problem.space.n_variables == problem.n_var == len(heights)
    assert problem.space.bounds[1].tolist() == heights
    X = np.array([[0] * len(heights), heights])
    assert problem.space.recoding(X[1]).key() == problem.recoding(X[1]).key()
    assert np.array_equal(problem.space.candidates(X).blocks, problem.candidates(X).blocks)
    assert problem.space.operators().keys() == problem.default_operators().keys()
    again = pickle.loads(pickle.dumps(problem))  # noqa: S301
    assert np.array_equal(again.evaluator.values(X), problem.evaluator.values(X))
    with pytest.raises(ProblemError, match="start: this search cannot start from recodings"):
        problem.encode(problem.recoding(X[0]))


def test_variables_without_limits_have_infinite_bounds() -> None:
    bare = pm.AnonymizationProblem(TABLE, objectives=[pm.KAnonymity()], n_var=2)
    assert [bound.tolist() for bound in bare.space.bounds] == [[-np.inf] * 2, [np.inf] * 2]
