"""trade_off: one front over several families, and the problem behind it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

import privmoo as pm
from privmoo.errors import ProblemError
from privmoo.families import cost_of_consistency
from privmoo.operators import FamilyCrossover, FamilyMutation, FamilySampling
from privmoo.problems import TradeOff
from privmoo.testing import check_operator, check_problem, example_table

BUDGET = pm.Generations(9)


@pytest.fixture(scope="module")
def front() -> pm.Front:
    return pm.trade_off(example_table(), budget=BUDGET, seed=3, progress=False)


def dominates(first: np.ndarray, second: np.ndarray) -> bool:
    return bool((first <= second).all() and (first < second).any())


def test_the_problem_and_its_operators_conform() -> None:
    problem = TradeOff(example_table())
    check_problem(problem)
    for operator in (FamilySampling(), FamilyCrossover(), FamilyMutation()):
        check_operator(operator, problem)


def test_no_solution_of_a_family_alone_dominates_the_front(front: pm.Front) -> None:
    problem = front.problem
    assert isinstance(problem, TradeOff)
    for name, part in problem.space.parts.items():
        run = front.run["families"][name]["run"]
        if run.get("proven"):
            alone = pm.exact_front(part, progress=False)
        else:
            share = pm.Generations(run["generations"])
            alone = pm.optimize(part, budget=share, seed=3, progress=False)
        assert not any(dominates(a, b) for a in alone.F for b in front.F)


@pytest.mark.filterwarnings("ignore:this is release number")
def test_solutions_know_their_family_and_can_be_released(front: pm.Front) -> None:
    assert front.families is not None
    for name in set(front.families):
        selection = front.where(family=name)
        assert {solution.family for solution in selection} == {name}
        solution = selection.where(min_k=2)[0]
        release = solution.release(seed=1)
        assert release.certificate.privacy["k"] == solution.k
    with pytest.raises(ProblemError, match="no solutions of the family 'cutss'"):
        front.where(family="cutss")


def test_a_saved_front_keeps_its_families(front: pm.Front, tmp_path: Path) -> None:
    front.save(tmp_path / "front.npz")
    again = pm.Front.load(tmp_path / "front.npz", table=front.table)
    assert again.families == front.families
    with_problem = pm.Front.load(tmp_path / "front.npz", problem=TradeOff(example_table()))
    assert with_problem == front
    place = len(front) // 2
    assert again[place].recoding.key() == with_problem[place].recoding.key()


def test_a_front_without_a_step_of_a_staircase_loads_again(front: pm.Front, tmp_path: Path) -> None:
    whole = front.where(family="levels")  # their thresholds are decision variables
    whole.save(tmp_path / "levels.npz")
    assert pm.Front.load(tmp_path / "levels.npz", problem=front.problem) == whole


def test_the_same_seed_gives_the_same_front_and_a_checkpoint_continues(
    front: pm.Front, tmp_path: Path
) -> None:
    logs = {"checkpoint": tmp_path / "run.log"}
    pm.trade_off(example_table(), budget=pm.Generations(3), seed=3, progress=False, **logs)
    again = pm.trade_off(example_table(), budget=BUDGET, seed=3, progress=False, **logs)
    assert again == front


def test_plain_pymoo_solves_it_too() -> None:
    problem = TradeOff(example_table())
    operators = problem.default_operators()
    result = minimize(problem, NSGA2(pop_size=20, **operators), ("n_gen", 5), seed=1)
    found = pm.Front.from_result(problem, result)
    assert len(found) > 1


def test_consistency_has_a_price(front: pm.Front) -> None:
    table = cost_of_consistency(front, [2, 3])
    assert {"levels", "cuts"} <= set(table.columns)
    assert (table["cuts"] <= table["levels"] + 0.2).all()


def test_columns_without_a_hierarchy() -> None:
    table = pm.Table(pd.DataFrame({"a": [1, 2, 3]}), quasi_identifiers=["a"])
    with pytest.raises(ProblemError, match="'a' has none"):
        TradeOff(table, families=["cuts"])


def test_focus_and_consistent_columns_reach_the_families() -> None:
    focused = pm.trade_off(
        example_table(),
        budget={"cuts": 22, "regions": 1},
        seed=1,
        progress=False,
        focus={"k": (3, 10)},
        consistent=["age"],
    )
    assert focused.run["families"]["cuts"]["run"]["polish"]["marks"]["k"][0] == 3
    assert focused.problem is not None and focused.problem.parameters()["consistent"] == ("age",)
    table = focused.problem.table
    ages = table.tuples[table.row_tuple, table.qi_names.index("age")]
    for solution in focused.where(family="regions"):
        labels = solution.recoding.apply(table, np.arange(table.n_records))["age"]
        assert pd.Series(labels.to_numpy()).groupby(ages).nunique().max() == 1
    with pytest.raises(ProblemError, match="focus: 'kk' is not an objective"):
        pm.trade_off(example_table(), focus={"kk": (1, 2)}, progress=False)


def test_a_budget_of_generations_is_spent_to_the_last(front: pm.Front) -> None:
    runs = {name: facts["run"] for name, facts in front.run["families"].items()}
    assert runs["levels"]["proven"]
    assert [runs[name]["generations"] for name in ("cuts", "regions")] == [4, 5]


def test_a_family_that_ends_early_leaves_its_time_to_the_next() -> None:
    budget = pm.Seconds(1000) | pm.Generations(2)
    ended = pm.trade_off(example_table(), budget=budget, seed=3, progress=False)
    shares = [ended.run["families"][name]["run"]["budget"] for name in ("cuts", "regions")]
    first, second = (float(text.split(")")[0].removeprefix("Seconds(")) for text in shares)
    assert first <= 500 < 900 < second < 1000


def test_budgets_of_single_families() -> None:
    budget = {"cuts": pm.Generations(3), "regions": 2}
    own = pm.trade_off(example_table(), budget=budget, seed=3, progress=False)
    runs = {name: facts["run"] for name, facts in own.run["families"].items()}
    assert (runs["cuts"]["generations"], runs["regions"]["generations"]) == (3, 2)
    assert own.run["budget"] == "{'cuts': Generations(3), 'regions': Generations(2)}"
    with pytest.raises(ProblemError, match=r"budget: 'cut' is not one of .* did you mean 'cuts'"):
        pm.trade_off(example_table(), budget={"cut": 3}, progress=False)


def test_clusters_on_request_with_measures_that_fit_means(tmp_path: Path) -> None:
    assert "clusters" not in TradeOff(example_table()).families
    measures = [pm.KAnonymity(), pm.QueryError()]
    problem = TradeOff(example_table(), families=["clusters", "cuts"], objectives=measures)
    check_problem(problem)
    both = pm.optimize(problem, budget=6, seed=1, progress=False)
    assert set(both.run["families"]) == {"clusters", "cuts"}
    both.save(tmp_path / "front.npz")
    assert pm.Front.load(tmp_path / "front.npz", problem=problem) == both
    with pytest.raises(ProblemError, match=r"'loss' is not defined for clusters; .*QueryError"):
        TradeOff(example_table(), families=["cuts", "clusters"])
    measures = [pm.KAnonymity(), pm.InformationLoss()]
    with pytest.raises(ProblemError, match="'il' is not defined for cuts"):
        TradeOff(example_table(), families=["clusters", "cuts"], objectives=measures)


@pytest.mark.parametrize(
    ("demand", "by"),
    [
        (pm.KAnonymity() >= 2, None),
        (pm.FrequencyDiversity() >= 1.2, ("k", "l")),
        (pm.TCloseness() <= 0.5, ("k", "t")),
        (pm.TCloseness(distance="ordered") <= 0.9, None),
    ],
)
def test_records_are_left_out_by_what_is_demanded(
    demand: pm.measures.Constraint, by: tuple[str, ...] | None
) -> None:
    problem = TradeOff(example_table(), constraints=[demand], max_suppression=0.1)
    expected = pm.Budget(0.1) if by is None else pm.JointBudget(0.1, by=by)
    assert problem.suppression == expected
    for part in problem.space.parts.values():
        assert "levels" in part.space.kinds or part.suppression == expected


@pytest.mark.filterwarnings("ignore:this is release number")
def test_diversity_as_an_objective_is_released_as_claimed() -> None:
    measures = [pm.KAnonymity(), pm.FrequencyDiversity(), pm.GeneralLoss()]
    diverse = pm.trade_off(
        example_table(), objectives=measures, max_suppression=0.1, budget=4, seed=1, progress=False
    )
    for name in set(diverse.families or ()):
        solution = diverse.where(family=name, min_k=2)[0]
        assert solution.release(seed=1).certificate.privacy["k"] == solution.k


def test_constraints_that_no_division_keeps_are_said() -> None:
    table = example_table()
    strict = [pm.KAnonymity() >= 50]
    alone = pm.optimize(
        pm.problems.Regions(table, constraints=strict), budget=1, seed=1, progress=False
    )
    sentence = "No division into regions was found that keeps the constraints"
    assert len(alone) == 1 and sentence in str(alone)
    options = {"families": ["cuts", "regions"], "max_suppression": 0.0}
    joined = pm.trade_off(table, constraints=strict, budget=2, seed=1, progress=False, **options)
    assert sentence in str(joined)
    free = pm.optimize(pm.problems.Regions(table), budget=1, seed=1, progress=False)
    assert sentence not in str(free)


@pytest.mark.parametrize(
    ("families", "reason"),
    [
        (["cut"], "families: 'cut' is not one of"),
        ([], "families: name at least one"),
        ("cuts", "families: name at least one"),
    ],
)
def test_wrong_families(families: list[str], reason: str) -> None:
    with pytest.raises(ProblemError, match=reason):
        TradeOff(example_table(), families=families)


def test_a_generation_is_as_short_as_that_of_the_slowest_family() -> None:
    table = pm.testing.example_table()
    assert pm.problems.TradeOff(table).default_offspring == pm.problems.Regions.default_offspring
    assert pm.problems.TradeOff(table, families=["cuts"]).default_offspring is None
