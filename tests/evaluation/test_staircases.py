"""Staircases: every threshold within a budget, against all thresholds there could be, one by one."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

import privmoo as pm
from privmoo.errors import CheckpointError, ProblemError
from privmoo.evaluation.climb import Climb
from privmoo.evaluation.engine import Engine
from privmoo.suppression import Budget, JointBudget, Thresholds
from privmoo.suppression.ranks import group_ranks
from privmoo.suppression.staircase import Staircase

# Every test publishes the same records again, which a publisher should not.
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

FRONTS = {
    "k": ([pm.KAnonymity(), pm.GeneralLoss()], Budget(0.3)),
    "k and l": ([pm.KAnonymity(), pm.FrequencyDiversity(), pm.GeneralLoss()], Budget(0.3)),
    "l": ([pm.FrequencyDiversity(), pm.GeneralLoss()], Budget(0.4, by="l")),
    "real l": ([pm.FrequencyDiversity(), pm.GeneralizationLoss()], JointBudget(0.4, by=("l",))),
    "both": ([pm.KAnonymity(), pm.FrequencyDiversity(), pm.GeneralLoss()], JointBudget(0.4)),
    "all of it": ([pm.KAnonymity(), pm.FrequencyDiversity(), pm.GeneralLoss()], JointBudget(1.0)),
    "other measures": ([pm.WeightedK(), pm.EntropyDiversity(), pm.GeneralLoss()], JointBudget(0.4)),
    "released rows": ([pm.TCloseness(distance="equal"), pm.GeneralLoss()], Budget(0.3)),
    "entropy": (
        [pm.EntropyDiversity(), pm.GeneralLoss()],
        JointBudget(0.3, by=("k", "entropy_l")),
    ),
}


def table_of(seed: int, n: int = 24, ages: int = 5) -> pm.Table:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, ages, n),
            "job": rng.choice(list("abc"), n),
            "ill": rng.choice(list("xyz"), n),
        }
    )
    hierarchies = {"age": pm.Hierarchy.ordered(), "job": pm.Hierarchy.flat()}
    return pm.Table(frame, quasi_identifiers=hierarchies, sensitive="ill")


def problem_of(name: str, seed: int, **sizes: int) -> pm.problems.Cuts:
    objectives, policy = FRONTS[name]
    problem = pm.problems.Cuts(table_of(seed, **sizes), objectives=objectives, suppression=policy)
    problem.default_population = 20
    return problem


def all_steps(problem: Any, x: np.ndarray) -> np.ndarray:
    """The objectives of every release that thresholds on ranks of groups can give within the budget."""
    policy = problem.suppression
    view = problem.recoding(x)
    engine = Engine(problem.table, needs={"counts"}, threads=1)
    groups = engine.groups(view.candidate(problem.table))[0]
    ranks = [
        np.unique(group_ranks(groups, name)[groups.starts[0] : groups.stops[0]])
        for name in policy.properties
    ]
    rows = []
    for thresholds in itertools.product(*ranks):
        other = pm.problems.Cuts(
            problem.table,
            objectives=problem.objectives,
            suppression=policy.at(np.array(thresholds)),
        )
        judged = other.evaluator.judge(x[None])
        suppressed = judged.values[0, -1]
        if suppressed <= policy.limit(problem.table.n_records) and judged.feasible[0]:
            rows.append(judged.F[0])
    return np.array(rows)


def best(F: np.ndarray) -> set[tuple[float, ...]]:
    rounded = np.unique(np.round(F, 9), axis=0)
    return {
        tuple(row)
        for row in rounded.tolist()
        if not any((other <= row).all() and (other < row).any() for other in rounded)
    }


@pytest.mark.parametrize("name", FRONTS)
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), data=st.data())
def test_a_staircase_has_every_release_of_thresholds(
    name: str, seed: int, data: st.DataObject
) -> None:
    problem = problem_of(name, seed)
    bits = st.lists(st.booleans(), min_size=problem.n_var, max_size=problem.n_var)
    [x] = problem.space.repair([data.draw(bits)])
    evaluation = problem.evaluator.evaluate(x[None], stairs=True)
    by_itself = evaluation.F[evaluation.feasible]  # nothing may be left by the whole budget
    steps = by_itself[:0] if evaluation.companions is None else evaluation.companions.F
    slowly = np.concatenate([by_itself, all_steps(problem, x)])
    assert best(np.concatenate([by_itself, steps])) == best(slowly)


@pytest.mark.parametrize("name", FRONTS)
def test_values_of_steps_are_those_of_their_policy(name: str) -> None:
    problem = problem_of(name, 7)
    X = np.random.default_rng(1).random((12, problem.n_var)) < 0.5
    steps = problem.evaluator.evaluate(X, stairs=True).companions
    assert steps is not None and steps.thresholds is not None
    for x, thresholds, values in zip(steps.X, steps.thresholds, steps.values, strict=True):
        policy = problem.policy(x, thresholds)
        assert not isinstance(policy, Staircase)
        other = pm.problems.Cuts(problem.table, objectives=problem.objectives, suppression=policy)
        assert other.evaluator.values(x[None])[0].tolist() == values.tolist()


@pytest.mark.parametrize("name", ["k", "both", "entropy"])
def test_steps_are_released_saved_and_loaded(name: str, tmp_path: Path) -> None:
    problem = problem_of(name, 11)
    front = pm.optimize(problem, budget=8, seed=1, progress=False)
    assert front.thresholds is not None and not np.isnan(front.thresholds).all()
    front.save(tmp_path / "a.front")
    by_problem = pm.Front.load(tmp_path / "a.front", problem=problem)
    by_table = pm.Front.load(tmp_path / "a.front", table=problem.table)
    for i, solution in enumerate(front):
        rows = solution.release(seed=1).frame  # audited: what it claims is what the rows have
        assert len(rows) == problem.table.n_records - solution.records_suppressed
        for other in (by_problem[i], by_table[i]):
            assert other.suppression == solution.suppression
            pd.testing.assert_frame_equal(other.release(seed=1).frame, rows)
    assert by_problem == front and by_problem[0] == front[0]
    merged = front[:3].merge(front[2:])
    assert merged == front and np.array_equal(merged.thresholds, front.thresholds, equal_nan=True)


def test_thresholds_in_a_file_are_not_trusted(tmp_path: Path) -> None:
    from privmoo._util.packing import Packed, pack

    problem = problem_of("k", 11)
    pm.optimize(problem, budget=4, seed=1, progress=False).save(tmp_path / "a.front")
    arrays = ("values", "X", "dominated")
    packed = Packed(
        tmp_path / "a.front", where="", what="front", form="privmoo front 1", arrays=arrays
    )
    n = len(packed.arrays["values"])
    for thresholds in (
        3,
        [],
        [[1.0]] * (n + 1),
        [["a"]] * n,
        [[float("nan")]] * n,
        [[1.0, 2.0]] * n,
    ):
        with (tmp_path / "b.front").open("wb") as file:
            pack(file, {**packed.head, "thresholds": thresholds}, packed.arrays, name="front")
        with pytest.raises(CheckpointError):
            pm.Front.load(tmp_path / "b.front", problem=problem)


@pytest.mark.parametrize("name", ["k", "both", "other measures"])
def test_an_interrupted_run_goes_on_without_measuring_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pm.optimize(problem_of(name, 5, n=80, ages=30), budget=26, seed=3, progress=False)
    log = tmp_path / "run.log"
    pm.optimize(
        problem_of(name, 5, n=80, ages=30), budget=23, seed=3, progress=False, checkpoint=log
    )
    problem = problem_of(name, 5, n=80, ages=30)
    measured: list[int] = []
    measure = problem.evaluator._measure_stairs

    def counted(X: np.ndarray, climb: Climb) -> Any:
        measured.append(len(X))
        return measure(X, climb)

    monkeypatch.setattr(problem.evaluator, "_measure_stairs", counted)
    assert pm.optimize(problem, budget=23, seed=3, progress=False, checkpoint=log).F.shape
    assert not measured
    assert (
        pm.optimize(
            problem_of(name, 5, n=80, ages=30), budget=26, seed=3, progress=False, checkpoint=log
        )
        == whole
    )


def test_threads_and_a_warm_cache_change_nothing() -> None:
    objectives, policy = FRONTS["both"]
    table = table_of(3, 200)
    fronts = []
    for threads in (1, 2):
        problem = pm.problems.Cuts(
            table, objectives=objectives, suppression=policy, threads=threads
        )
        fronts += [pm.optimize(problem, budget=10, seed=1, progress=False) for _ in range(2)]
    assert all(front == fronts[0] for front in fronts)


def test_a_result_of_pymoo_gets_its_staircases() -> None:
    problem = problem_of("k", 2)
    result = minimize(
        problem, NSGA2(20, **problem.default_operators()), ("n_gen", 5), seed=1, verbose=False
    )
    front = pm.Front.from_result(problem, result)
    plain = pm.Front.of(problem, result.pop.get("X"))
    assert front.thresholds is not None
    assert all((row >= front.F).all(axis=1).any() for row in plain.F)


def test_a_measure_that_counts_in_its_own_way_is_measured() -> None:
    class Half(pm.KAnonymity):
        def batch(self, groups: Any) -> Any:
            return super().batch(groups) / 2

    problem = pm.problems.Cuts(
        table_of(1), objectives=[Half(), pm.GeneralLoss()], suppression=Budget(0.3)
    )
    X = problem.space.finest()[None]
    steps = problem.evaluator.evaluate(X, stairs=True).companions
    assert steps is not None
    exact = pm.problems.Cuts(table_of(1), suppression=Budget(0.3)).evaluator
    plain = exact.evaluate(X, stairs=True).companions
    assert plain is not None and steps.F[:, 0].min() * 2 == plain.F[:, 0].min()


def test_policies_say_what_is_wrong() -> None:
    for make, message in (
        (lambda: Thresholds(k=0), "k: must be a number of at least 1"),
        (lambda: Thresholds(l=float("nan")), "l: must be a number of at least 1"),
        (lambda: JointBudget(1.5), "the budget is a fraction"),
        (lambda: JointBudget(0.1, by=("l", "entropy_l")), "by: must be one property"),
        (lambda: JointBudget(0.1, by=("k", "weighted_k", "l")), "by: must be one property"),
        (lambda: JointBudget.from_description({"fraction": 0.1, "by": 3}), "by: must be a list"),
    ):
        with pytest.raises(ProblemError, match=message):
            make()
    assert pm.suppression.policy_from(JointBudget(0.2, by="t").describe()) == JointBudget(
        0.2, by=("t",)
    )
