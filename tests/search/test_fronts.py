"""Fronts that special programs do not beat, focus, and the local search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.errors import ProblemError
from privmoo.evaluation.evaluator import Evaluation, Observer
from privmoo.operators.class_demands import aims_of, drawn_demands, varied_demands
from privmoo.operators.space import space_of
from privmoo.search.optimization import possible_focus
from privmoo.search.polish import Polish
from privmoo.search.slices import best_of_slices, marks_of, read_focus
from tests.scenery.goals import GOALS, NEEDS

TOLERANCE = 0.001
"""How far above its figure a front may be, as a share."""

TABLE = pm.Table(
    pd.DataFrame(
        {
            "age": np.random.default_rng(1).integers(0, 60, 300),
            "job": np.random.default_rng(2).choice(list("abcdef"), 300),
        }
    ),
    quasi_identifiers={
        "age": pm.Hierarchy.ordered(),
        "job": pm.Hierarchy.tree({"x": ["a", "b", "c"], "y": ["d", "e", "f"]}),
    },
)


@pytest.mark.slow
@pytest.mark.parametrize("name", GOALS)
def test_what_special_programs_reach_is_reached(name: str) -> None:
    if name in NEEDS and not NEEDS[name].exists():
        pytest.skip("the data are not here")
    for seed in (1, 2, 3) if name == "all cuts" else (1,):
        for goal in GOALS[name](seed):
            assert goal.reached(tolerance=TOLERANCE), (seed, goal)


@pytest.mark.parametrize("kind", ["cuts", "levels"])
def test_neighbours_are_valid_distinct_and_one_move_away(kind: str) -> None:
    problem = pm.problems.Cuts(TABLE) if kind == "cuts" else pm.problems.Levels(TABLE)
    X = problem.default_operators()["sampling"](problem, 12, to_numpy=True, random_state=1)
    for x in X:
        rows = problem.neighbours(x)
        assert len(rows) and problem.valid(rows).all()
        keys = problem.keys(rows)
        assert len(set(keys)) == len(keys) and problem.keys(x[None])[0] not in keys
        for row in rows:  # and there is a way back
            assert (
                problem.keys(x[None])[0] in problem.keys(problem.neighbours(row)) or kind == "cuts"
            )


def test_a_polished_search_counts_and_repeats_and_is_turned_off() -> None:
    problem = pm.problems.Cuts(TABLE, suppression=pm.Budget(0.1))
    problem.default_population = 20
    polished = pm.optimize(problem, budget=40, seed=1, progress=False)
    assert polished == pm.optimize(problem, budget=40, seed=1, progress=False)
    assert polished.run["polish"]["batch"] == 20 and polished.run["evaluations"] <= 800
    plain = pm.optimize(problem, budget=40, seed=1, progress=False, polish=False)
    assert plain.run["polish"] is None
    by_name = pm.optimize(problem, "nsga2", 40, seed=1, progress=False)
    assert by_name == plain
    # A longer run begins like a shorter one.
    assert all(
        (row >= polished.F).all(axis=1).any()
        for row in pm.optimize(problem, budget=30, seed=1, progress=False).F
    )


class _Counter(Observer):
    """Counts the recodings that are evaluated, whoever asks for them."""

    def __init__(self) -> None:
        self.rows = 0

    def on_evaluation(self, evaluation: Evaluation) -> None:
        self.rows += len(evaluation)


@pytest.mark.parametrize("number", [30, 401, 420, 1000])
@pytest.mark.parametrize("algorithm", [None, "nsga2"])
def test_a_budget_of_evaluations_holds_with_the_local_search(
    number: int, algorithm: str | None
) -> None:
    problem = pm.problems.Cuts(TABLE, suppression=pm.Budget(0.1))
    problem.default_population = 20
    start = problem.default_operators()["sampling"](problem, 7, to_numpy=True, random_state=1)
    for rows in (None, start):
        counter = _Counter()
        with problem.evaluator.observed_by(counter):
            run = pm.optimize(
                problem,
                algorithm,
                pm.Evaluations(number),
                seed=1,
                start=rows,
                polish=True,
                progress=False,
            ).run
        assert run["evaluations"] == counter.rows
        assert number <= counter.rows < number + 20  # the last batch is completed


@pytest.mark.parametrize(
    ("kind", "third"), [("cuts", "settled"), ("levels", "walks"), ("averages", "walks")]
)
def test_a_run_names_every_mechanism_of_its_local_search(
    kind: str, third: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers = {"neighbours": "_around", "children": "_children", "settled": "_settled"}
    used = set()

    def recorded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def record(self: Polish, *arguments: Any) -> Any:
            used.add(name)
            return method(self, *arguments)

        return record

    for name, method in (makers | {"walks": "_walks"}).items():
        monkeypatch.setattr(Polish, method, recorded(name, getattr(Polish, method)))
    problem = {
        "cuts": pm.problems.BudgetSuppression(TABLE),
        "levels": pm.problems.Levels(pm.datasets.adult("dewri").sample(90, seed=1)),
        "averages": pm.problems.ZeroSuppression(TABLE),
    }[kind]
    algorithm = pm.search.make_algorithm(problem, population=6)
    run = pm.optimize(problem, algorithm, 40, seed=1, polish=True, progress=False).run
    assert run["polish"]["kinds"] == ["neighbours", "children", third]
    assert used == set(run["polish"]["kinds"])


def test_slices_hold_the_best_of_every_mark() -> None:
    problem = pm.problems.Cuts(TABLE)
    marks = marks_of(problem, read_focus(problem, {"k": (3, 50)}))
    assert marks == {0: [3, 4, 5, 7, 10, 15, 20, 30, 50]}
    assert marks_of(problem, {"loss": (0.1, 0.2)})[1][::7] == [0.1, 0.2]
    F = np.array([[-2, 0.1], [-4, 0.2], [-12, 0.3], [-60, 0.9]])
    slices = best_of_slices(problem, F, marks)
    assert [each.place for each in slices] == [1, 1, 2, 2, 2, 3, 3, 3, 3]
    assert [each.marks[0] for each in slices] == marks[0]


def test_regions_and_classes_aim_at_the_focus_of_a_run() -> None:
    table = pm.datasets.adult("dewri").sample(600, seed=1)
    regions = pm.problems.Regions(table)
    rng = np.random.default_rng(1)
    usual = [target.k for target in regions.space.draw_targets(rng, 40)]
    regions.space.focus = {"k": (20.0, 40.0)}
    focused = [target.k for target in regions.space.draw_targets(rng, 40)]
    assert sum(20 <= k <= 40 for k in focused) >= 15 > sum(20 <= k <= 40 for k in usual)
    assert min(focused) < 20 and max(focused) > 40
    outside = regions.space.demands.loosest
    near = [regions.space.targets.near(outside, rng).k for _ in range(40)]
    assert sum(20 <= k <= 40 for k in near) >= 20
    clusters = pm.problems.Clusters(table, 100, objectives=[pm.KAnonymity(), pm.InformationLoss()])
    clusters.space.focus = {"k": (20.0, 40.0)}
    sizes = [drawn_demands(clusters.space, aims_of(clusters), rng).k for _ in range(40)]
    assert sum(20 <= k <= 40 for k in sizes) >= 20


def test_classes_aim_at_sums_of_entropies() -> None:
    table = pm.datasets.german_credit()
    problem = pm.problems.MOOBAM(table, 30, 5)
    space, aims, rng = problem.space, aims_of(problem), np.random.default_rng(1)
    space.focus = {"min_entropy": (3.1, 3.2)}
    sums = [drawn_demands(space, aims, rng).entropy.sum() for _ in range(60)]
    assert sum(3.1 - 1e-9 <= total <= 3.2 + 1e-9 for total in sums) >= 30
    outside = drawn_demands(space, aims, rng)._replace(entropy=np.zeros(len(table.sensitive)))
    near = [varied_demands(space, outside, aims, rng).entropy.sum() for _ in range(60)]
    assert sum(3.1 - 1e-9 <= total <= 3.2 + 1e-9 for total in near) >= 12


def test_a_focus_that_classes_cannot_hold_is_refused() -> None:
    problem = pm.problems.MOOBAM(pm.datasets.german_credit(), 30, 5)
    message = "focus: the operators of this problem aim at k or min_entropy, not at 'il'"
    with pytest.raises(ProblemError, match=message):
        pm.optimize(problem, focus={"il": (0.0, 0.1)}, budget=1, progress=False)
    assert possible_focus(problem, {"il": (0.0, 0.1), "min_entropy": (1, 2)}) == {
        "min_entropy": (1, 2)
    }


def test_a_focus_is_of_one_run_and_turns_the_local_search_on() -> None:
    problem = pm.problems.Cuts(TABLE)
    front = pm.optimize(problem, "nsga2", 3, focus={"k": (3, 9)}, seed=1, progress=False)
    assert front.run["polish"]["marks"]["k"][0] == 3
    assert pm.optimize(problem, "nsga2", 3, seed=1, progress=False).run["polish"] is None
    assert problem.space.focus == {}
    with pytest.raises(ProblemError, match="focus: the local search holds it, but polish=False"):
        pm.optimize(problem, budget=1, focus={"k": (3, 9)}, polish=False, progress=False)


def test_the_local_search_of_operators_is_counted() -> None:
    table = pm.datasets.adult("dewri").sample(80, seed=1)

    def run_of(problem: pm.AnonymizationProblem, generations: int) -> Mapping[str, Any]:
        algorithm = pm.search.make_algorithm(problem, population=12)
        return pm.optimize(problem, algorithm, generations, seed=1, progress=False).run

    run = run_of(pm.problems.Regions(table), 3)
    assert run["passes"] >= 2 * 12 * 16.0 * 4.0  # a tuple costs a quarter in a tree
    assert run_of(pm.problems.Regions(table), 3)["passes"] == run["passes"]
    clusters = pm.problems.Clusters(table, 15)
    run = run_of(clusters, 2)
    assert run["passes"] >= 12 * (400 + 15)
    assert run["moves"] == run["passes"] * space_of(clusters, "classes").n_units
    assert "passes" not in run_of(pm.problems.Cuts(TABLE), 2)


@pytest.mark.parametrize(
    ("focus", "message"),
    [
        ({"l": (1, 2)}, "focus: 'l' is not an objective"),
        ({"k": (5, 2)}, "must be two numbers, the smaller first"),
        ({"k": 5}, "must be two numbers"),
        ({"k": ("a", "b")}, "must be two numbers"),
        (["k"], "focus: must be like"),
    ],
)
def test_a_wrong_focus_is_refused(focus: object, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        pm.optimize(pm.problems.Cuts(TABLE), focus=focus, budget=1, progress=False)
