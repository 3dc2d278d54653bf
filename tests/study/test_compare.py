"""compare and Study: what runs give, what is refused, files."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.util.ref_dirs import get_reference_directions

import privmoo as pm
from privmoo._util.dominance import non_dominated
from privmoo.errors import ProblemError
from privmoo.search.algorithms import make_algorithm
from privmoo.study.indicators import INDICATORS
from tests.scenery.clusters import people
from tests.scenery.compare import (
    CHANCE,
    SMALL,
    THREE,
    exiting,
    good,
    greedy,
    hopeless,
    raising,
    study,
    thrice,
)
from tests.scenery.optional import figure_of
from tests.scenery.runs import TABLE, Levels, small


@pytest.fixture(scope="module")
def two() -> pm.Study:
    return study(
        {"small": SMALL, "chance": CHANCE, "own": good, "none": hopeless},
        {"cuts": small(), "three": THREE},
    )


def test_one_row_per_run_with_equal_budgets(two: pm.Study) -> None:
    frame = two.frame
    assert len(frame) == 2 * 4 * 3
    by_algorithm = frame[frame["solver"].isin(["small", "chance"])]
    assert (by_algorithm["evaluations"] == 60).all()
    assert (frame[frame["solver"] == "none"]["status"] == "nothing feasible").all()
    none = frame[frame["solver"] == "none"]
    assert (none["hypervolume"] == 0).all() and np.isinf(none["igd_plus"]).all()
    for o in two.outcomes:  # feasible, non-dominated and distinct
        assert len(np.unique(o.F, axis=0)) == len(o.F)
        assert o.status != "ok" or non_dominated(o.F).all()
    problem = small()
    fronts = two.fronts("cuts")
    assert [q.key for q in fronts["own"][0].objectives] == problem.objective_names


def test_what_exceeds_the_budget_does_not_count() -> None:
    """A population of 25 completes its third generation; what is beyond 60 must not be seen."""
    problem = pm.problems.Cuts(TABLE)
    found = study(pm.Solver.algorithm("nsga2", population=25), problem, seeds=[4])
    heard: list[np.ndarray] = []
    problem.callback = lambda X, out: heard.append(
        np.column_stack([out["F"], np.max(out["G"], axis=1)])
    )
    pm.optimize(
        problem,
        pm.search.make_algorithm(problem, "nsga2", population=25),
        pm.Evaluations(60),
        seed=4,
        progress=False,
    )
    seen = np.concatenate(heard)[:60]
    assert len(np.concatenate(heard)) > 60
    seen = seen[seen[:, -1] <= 0, :-1]
    expected = np.unique(seen[non_dominated(seen)], axis=0)
    assert np.array_equal(np.unique(found.outcomes[0].F, axis=0), expected)


def test_what_a_candidate_brings_along_counts_with_it() -> None:
    """A vector of levels is one evaluation, with all its thresholds; those after the budget are not."""
    problem = pm.problems.Levels(TABLE, max_suppression=0.3)
    six: Any = pm.Solver.algorithm("nsga2", population=6)
    found = study(six, problem, seeds=[2], budget=8)
    heard: list[np.ndarray] = []
    problem.callback = lambda X, out: heard.append(X)
    algorithm = six.new_algorithm(problem)
    pm.optimize(problem, algorithm, pm.Evaluations(8), seed=2, progress=False)
    rows = np.concatenate(heard)[:8]
    problem.callback = None
    sizes = np.arange(1, TABLE.n_records + 1)
    every = np.concatenate(
        [[problem.space.from_levels(row[:-1], k) for k in sizes] for row in rows]
    )
    out = problem.evaluate(every, return_as_dictionary=True)
    F = out["F"][(out["G"] <= 0).all(axis=1)]
    expected = np.unique(F[non_dominated(F)], axis=0)
    assert found.frame["evaluations"].tolist() == [8]
    assert np.allclose(np.unique(found.outcomes[0].F, axis=0), expected)
    longer = study(six, problem, seeds=[2], budget=12)
    assert longer.frame["hypervolume"][0] >= found.frame["hypervolume"][0]
    assert len(np.concatenate(heard)) > 8  # there was something to leave out


def test_the_same_seeds_give_the_same_tables(two: pm.Study) -> None:
    again = study(
        {"small": SMALL, "chance": CHANCE, "own": good, "none": hopeless},
        {"cuts": small(), "three": THREE},
    )
    assert again.to_markdown() == two.to_markdown()
    assert again.to_latex() == two.to_latex()
    assert again.verdict() == two.verdict()
    pd.testing.assert_frame_equal(again.convergence(), two.convergence())


def test_convergence_never_gets_worse_and_ends_at_the_front(two: pm.Study) -> None:
    for name, sense in INDICATORS.items():
        for (problem, solver, seed), own in two.convergence(name).groupby(
            ["problem", "solver", "seed"]
        ):
            values = own[name].to_numpy()
            frame = two.frame
            row = frame[
                (frame["problem"] == problem)
                & (frame["solver"] == solver)
                & (frame["seed"] == seed)
            ].iloc[0]
            assert values[-1] == row[name]
            if solver in ("small", "chance"):
                better = np.diff(values[np.isfinite(values)])
                assert (better >= -1e-12).all() if sense == "max" else (better <= 1e-12).all()
            assert own["evaluations"].iloc[-1] == 60


def test_deterministic_solvers_run_once_and_the_exact_front_is_the_reference() -> None:
    problem = pm.problems.Levels(TABLE)
    found = study({"exact": "exact", "small": SMALL}, problem)
    frame = found.frame
    assert frame["solver"].tolist() == ["exact", "small", "small", "small"]
    assert pd.isna(frame["seed"][0])
    box = found.boxes["Levels"]
    assert box.exact and np.array_equal(
        np.unique(pm.exact_front(problem, progress=False).F, axis=0), box.reference
    )
    assert frame["igd_plus"][0] == 0 and frame["epsilon"][0] <= 1e-12
    assert (frame["hypervolume"] <= frame["hypervolume"][0] + 1e-12).all()
    pairs = found.pairwise()
    assert pairs["test"].tolist() == ["sign"]
    assert "the exact front has" in found.verdict()
    assert "With so few runs no difference could have been significant" in found.verdict()


def test_points_of_baselines_and_a_grid_of_swarms() -> None:
    table = people(60, sensitive=["ill"])
    problem = pm.problems.MOOBAM(table, n_clusters=6, k=4)
    problem.default_population = 10
    found = study(
        {
            "mdav": pm.Solver.baseline("mdav", k=[2, 4, 8]),
            "ward": pm.Solver.baseline(pm.baselines.ward, k=5),
            "grid": pm.Solver.pso_grid(n_clusters=[3, 6], k=[4], lam=[0.01, 1.0], particles=5),
            "ours": "nsga2",
        },
        problem,
        seeds=2,
    )
    frame = found.frame.set_index("solver")
    assert not len(found.failures)
    assert frame["front"]["mdav"] >= 1  # k = 2 is infeasible here and must not be among them
    assert np.all(frame.loc["grid", "evaluations"] == 60)
    steps = found.convergence()
    grid = steps[(steps["solver"] == "grid") & (steps["seed"] == 0)]["hypervolume"]
    assert grid.iloc[:-1].isna().all() and np.isfinite(grid.iloc[-1])
    assert steps[steps["solver"] == "mdav"]["hypervolume"].nunique() == 1
    pair = found.pairwise().query("first == 'mdav' and second == 'ward'").iloc[0]
    assert pair["test"] == "none"
    assert "neither has chance in it" in found.verdict()


def test_any_pymoo_algorithm_and_functions_that_make_one() -> None:
    problem = small()
    found = study(
        {
            "object": NSGA2(10, **problem.default_operators()),
            "made": lambda p: NSGA2(20, **p.default_operators()),
        },
        problem,
        seeds=2,
    )
    assert (found.frame["status"] == "ok").all()
    sizes = [s.settings["Cuts"]["pop_size"] for s in found.solvers]
    assert sizes == [10, 20]


def test_an_algorithm_with_the_local_search_has_the_same_budget() -> None:
    table = pm.Table(
        pd.DataFrame(
            {"age": np.random.default_rng(1).integers(0, 60, 200), "sex": ["m", "f"] * 100}
        ),
        quasi_identifiers={"age": pm.Hierarchy.ordered(), "sex": pm.Hierarchy.ordered()},
    )
    problem = pm.problems.Cuts(table, suppression=pm.Budget(0.1))
    solvers = {
        name: pm.Solver.algorithm("nsga2", population=10, polish=name == "local")
        for name in ("alone", "local")
    }
    both = study(solvers, {"cuts": problem}, seeds=2, budget=405)
    assert both.frame["evaluations"].eq(405).all()
    by_solver = {s.name: s.settings["cuts"] for s in both.solvers}
    assert by_solver["local"] == by_solver["alone"] | {"polish": True}
    budget = pm.Evaluations(405)
    front = pm.optimize(
        problem,
        make_algorithm(problem, population=10),
        budget,
        seed=0,
        polish=True,
        progress=False,
    )
    local = next(o for o in both.outcomes if (o.solver, o.seed) == ("local", 0))
    # The last batch of ten is completed; what is beyond the budget does not count.
    assert all((row >= front.F - 1e-12).all(axis=1).any() for row in local.F)
    with pytest.raises(ProblemError, match="polish: must be True or False"):
        pm.Solver.algorithm("nsga2", polish="yes")


def test_a_failing_run_is_reported_and_the_others_go_on() -> None:
    found = study([SMALL, raising])
    (error,) = found.failures["error"]
    assert error.startswith("ValueError: tired (in raising, line ")
    assert found.summary()["runs"].tolist() == [3, 2]
    for text in (found.verdict(), found.to_markdown(), found.to_latex()):
        assert "1 run of raising failed." in text
    assert np.isnan(found.frame["hypervolume"][4])


def test_a_solver_that_exits_ends_its_run_only() -> None:
    found = study([exiting])
    assert found.failures["error"].tolist()[0].startswith("SystemExit: enough (in exiting")
    assert found.summary()["runs"].tolist() == [2]


def test_all_searches_of_a_function_count() -> None:
    found = study([thrice], seeds=1).frame
    problem = small()
    alone = (
        pm.optimize(problem, SMALL.new_algorithm(problem), 6, seed=seed, progress=False)
        for seed in range(3)
    )
    expected = sum(front.run["evaluations"] for front in alone)
    assert found["evaluations"][0] == expected > 120
    assert found["over_budget"][0] == expected - 60


def test_irreproducible_and_greedy_solvers_are_marked() -> None:
    problem = pm.problems.MOOBAM(
        people(60, sensitive=["ill"]), n_clusters=4, k=4, assignment="balanced"
    )
    swarm = pm.Solver.algorithm("cmopso", population=10)
    found = study(swarm, problem, seeds=1)
    assert not found.frame["reproducible"][0]
    assert "cmopso: the same seed may give another front." in found.verdict()
    over = study([SMALL, greedy], seeds=1)
    own, more = over.frame["over_budget"]
    assert pd.isna(own) and 0 < more <= 60
    assert f"greedy used up to {more} evaluations more than the budget." in over.verdict()


def test_seconds_are_a_budget_too() -> None:
    found = study({"small": SMALL, "chance": CHANCE}, budget=pm.Seconds(0.3), seeds=1)
    assert (found.frame["status"] == "ok").all()
    assert not found.frame["reproducible"].any()
    steps = found.convergence()
    assert steps["seconds"].max() == pytest.approx(0.3)
    for outcome in found.outcomes:  # the generation in which the time runs out is completed
        assert (outcome.seconds[:-1] <= 0.3).all()


def test_decades_count_small_k_as_much_as_large_ones() -> None:
    found = study([SMALL, CHANCE])
    wide = found.scaled("decades")
    assert wide.boxes["Cuts"].decades == (-1, 0)  # k from 1 to 240, loss from 0 to 1
    assert (wide.frame["hypervolume"] != found.frame["hypervolume"]).all()
    assert wide.boxes["Cuts"].high[0] == 0.0
    with pytest.raises(ProblemError, match="scale: must be 'linear' or 'decades'"):
        found.scaled("square")


def many(_: Any) -> Any:
    return NSGA3(get_reference_directions("das-dennis", 3, n_partitions=3))


@pytest.mark.parametrize(
    ("solvers", "options", "sentence"),
    [
        ([SMALL], {"seeds": 0}, "seeds: must be a whole number of at least 1, got 0"),
        ([SMALL], {"seeds": []}, "seeds: at least one run per solver is needed, got none"),
        ([SMALL], {"seeds": [1, 1]}, "seeds: one is given twice"),
        ([SMALL], {"seeds": [-1]}, "seeds: must be a whole number of at least 0, got -1"),
        ([SMALL], {"seeds": 1.5}, "seeds: must be a number or a list of seeds"),
        ([SMALL], {"seeds": [2**63]}, r"seeds: must be below 2\*\*63"),
        (
            ["exact"],
            {"problem": pm.problems.Clusters(pm.testing.example_table(), 3, k=2)},
            "'exact' cannot solve Clusters: problem: Clusters does not search levels or cuts alone",
        ),
        (
            [pm.Solver.pso_grid(n_clusters=[2, 3], k=[2], lam=[1.0])],
            {},
            "'PSO grid' cannot solve Cuts: budget: 60 evaluations are fewer than one iteration of 2",
        ),
        (
            [pm.Solver.pso_grid(n_clusters=[2], k=[2])],
            {"budget": pm.Seconds(1)},
            "the PSO grid shares out evaluations",
        ),
        ({"max": max}, {}, "solvers: expected a name .* got builtin_function"),
        ([SMALL], {"problem": {"a\nb": small()}}, "problems: a name must be a short text"),
        ([SMALL], {"problem": {"": small()}}, "problems: a name must be a short text"),
        ([SMALL], {"problem": {"a" * 99: small()}}, "problems: a name must be a short text"),
        ([SMALL], {"problem": {1: small()}}, "problems: a name must be a short text"),
        ([SMALL], {"budget": 9}, "budget: 9 evaluations are fewer than the first population of "),
        ([CHANCE], {"budget": 9}, "of 'chance', which has 10"),
        ([SMALL], {"budget": pm.Stalled(5)}, r"budget: Stalled\(5, .* is not the same work"),
        ([SMALL], {"budget": "1 h"}, "budget: must be a number of evaluations"),
        ([SMALL], {"jobs": 0}, "jobs: must be a whole number of at least 1"),
        ([SMALL, SMALL], {}, "solvers: two are called 'small'"),
        ([], {}, "solvers: there are none"),
        ([3], {}, "solvers: expected a name .* got int"),
        ([lambda p, s, b: p], {}, "solvers: a lambda has no name"),
        ({"": SMALL}, {}, "solvers: a name must be a short text"),
        (["nsga9"], {}, "solvers: 'nsga9' cannot solve Cuts: algorithm: 'nsga9' is not one of"),
        (["ga"], {}, "'ga' cannot solve Cuts: algorithm: ga is for 1 objective, but .* has 2"),
        ([many], {}, "'many' cannot solve Cuts: .* is for 3 objectives, but the problem has 2"),
        (["moead"], {}, "MOEAD cannot take constraints"),
        ([SMALL], {"problem": []}, "problems: there are none"),
        ([SMALL], {"problem": [3]}, "problems: must be problems such as Cuts"),
        ([SMALL], {"problem": [small(), small()]}, "problems: two are called 'Cuts'"),
        ([SMALL], {"client": "localhost"}, "client: must be a dask.distributed.Client, got str"),
    ],
)
def test_bad_input_is_refused_before_any_run(
    solvers: Any, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ProblemError, match=sentence):
        study(solvers, **options)


def test_questions_that_have_no_answer() -> None:
    found = study(hopeless, seeds=2)
    assert found.verdict().startswith("Cuts: no run found anything feasible.")
    assert found.frame["hypervolume"].isna().all() and not found.fronts()
    assert "–" in found.to_markdown()
    for ask, sentence in (
        (found.plot_convergence, "no run on 'Cuts' found anything"),
        (found.plot_indicator, "no run on 'Cuts' found anything"),
        (found.ranking, "needs at least two problems and two solvers"),
        (lambda: found.pairwise("hyper"), "indicator: 'hyper' is not one of .*did you mean"),
        (lambda: found.problem("Cut"), "problem: 'Cut' is not one of Cuts; did you mean 'Cuts'"),
        (lambda: found.verdict(alpha=2.0), "alpha: must lie between 0 and 1"),
        (lambda: found.to_latex(alpha=0), "alpha: must lie between 0 and 1, got 0"),
        (lambda: found.pairwise(alpha="5 %"), "alpha: must lie between 0 and 1"),
        (lambda: found.to_markdown(["hyper"]), "indicator: 'hyper' is not one of"),
        (lambda: found.to_latex("epsilon"), "indicators: must be a list .* got 'epsilon'"),
        (lambda: found.to_latex([]), "indicators: must be a list"),
        (lambda: found.plot_attainment_difference("a", "b"), "solver: 'a' has no front"),
    ):
        with pytest.raises(ProblemError, match=sentence):
            ask()


def test_functions_that_give_something_else_fail_in_words() -> None:
    other = pm.Front.of(Levels(TABLE), [[0, 0, 0]])
    wrong = pm.problems.Cuts(TABLE, objectives=[pm.Discernibility(), pm.GeneralLoss()])
    found = study(
        {"text": lambda p, s, b: "nothing", "front": lambda p, s, b: other},
        {"cuts": small(), "wrong": wrong},
        seeds=1,
    )
    errors = found.failures["error"].tolist()
    assert len(errors) == 4
    assert "'front' returned a front whose recorded quantities are not the problem's" in errors[1]
    assert "'text' must return a Front, recodings, or rows of" in errors[0]
    assert "'front' returned a front whose objectives are not the problem's" in errors[-1]


def test_a_study_in_a_notebook(two: pm.Study) -> None:
    page = two._repr_html_()
    assert "Study of 4 solvers on 2 problems: 24 runs, 0 failed" in page
    assert "hypervolume_iqr" in page and "nothing feasible" in page


def test_every_picture_of_a_study(two: pm.Study) -> None:
    drawn = [
        two.plot_convergence("cuts"),
        two.plot_convergence("three", indicator="epsilon"),
        two.plot_indicator("cuts", indicator="igd_plus"),
        two.plot_attainment("cuts"),
        *two.plot_attainment_difference("small", "chance", "cuts"),
        two.plot_ranking(),
    ]
    for ax in drawn:
        assert ax.get_title() and ax.get_ylabel()
        assert ax.get_xlabel() or ax.get_xticklabels()[0].get_text()
        figure_of(ax).canvas.draw()
    plt.close("all")
    with pytest.raises(ProblemError, match="problem: name one of cuts, three"):
        two.plot_convergence()


def test_pictures_show_the_numbers_of_the_study(two: pm.Study) -> None:
    picture = pm.plot.convergence_of(two, "cuts")
    small_ = next(line for line in picture.lines if line.name == "small")
    ends = two.values("cuts", "hypervolume")["small"]
    assert small_.n_runs == 3 and small_.median[-1] == np.median(ends)
    assert small_.low[-1] == ends.min() and small_.high[-1] == ends.max()
    boxes = pm.plot.indicator_of(two, "cuts", indicator="epsilon")
    assert boxes.n_infeasible == {"none": 3} and len(boxes.values["none"]) == 0
    assert boxes.title == "cuts: additive epsilon of every run, less is better"
    ranking = pm.plot.ranking_of(two.ranking())
    assert set(ranking.names) == {"small", "chance", "own", "none"} and ranking.names[-1] == "none"
    difference = pm.plot.difference_of({k: two.fronts("cuts")[k] for k in ("small", "chance")})
    assert (np.abs(difference.differences) <= 1 + 1e-9).all() and len(difference.differences)
    with pytest.raises(ProblemError, match="compares two solvers, got 1"):
        pm.plot.difference_of({"small": two.fronts("cuts")["small"]})


def test_generations_are_the_same_evaluations_for_every_solver() -> None:
    problem = pm.problems.Cuts(pm.testing.example_table())
    budgets = (pm.Generations(2), pm.Evaluations(2 * problem.default_population))
    solvers = {"usual": "nsga2", "small": pm.Solver.algorithm("nsga2", population=10)}
    by_generations, by_evaluations = (
        pm.compare(problem, solvers, seeds=1, budget=budget, jobs=1, progress=False)
        for budget in budgets
    )
    assert by_generations.settings["evaluations"] == by_evaluations.settings["evaluations"]
