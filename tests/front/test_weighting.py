"""Fronts under other weights: the same releases, measured anew and ranked anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo.errors import ProblemError, TableError

Make = Callable[[pm.Table], Any]
WEIGHTS = st.fixed_dictionaries(
    {name: st.sampled_from([0, 0.5, 1, 2, 7.5]) for name in ("age", "city", "sex")}
).filter(lambda weights: any(weights.values()))
PROBLEMS: dict[str, Make] = {
    "cuts": lambda table: pm.problems.Cuts(table, suppression=pm.Budget(0.2)),
    "levels": lambda table: pm.problems.Levels(table, max_suppression=0.2),
    "regions": lambda table: pm.problems.Regions(table, max_suppression=0.2),
    "tight": lambda table: pm.problems.Regions(table, publish="tight"),
    "geometric": lambda table: pm.problems.Cuts(
        table, objectives=[pm.KAnonymity(), pm.GeneralLoss(aggregate="geometric")]
    ),
    "both": lambda table: pm.problems.KLSafe(table, max_suppression=0.2),
    "families": lambda table: pm.problems.TradeOff(table),
}


def made_table(seed: int = 1, n: int = 90) -> pm.Table:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 32, n),
            "city": rng.choice(["Rome", "Bari", "Pisa", "Como"], n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(["flu", "cold", "gout"], n),
        }
    )
    tree = pm.Hierarchy.tree({"north": ["Pisa", "Como"], "south": ["Rome", "Bari"]})
    qis = {"age": pm.Hierarchy.ordered(), "city": tree, "sex": pm.Hierarchy.flat()}
    return pm.Table(frame, quasi_identifiers=qis, sensitive="ill")


FRONTS: dict[str, pm.Front] = {}


def front_of(name: str) -> pm.Front:
    if name not in FRONTS:
        problem = PROBLEMS[name](made_table())
        problem.default_population = 20
        FRONTS[name] = pm.optimize(problem, budget=4, seed=1, progress=False)
    return FRONTS[name]


@pytest.mark.parametrize("name", PROBLEMS)
@given(weights=WEIGHTS)
@settings(max_examples=15)
def test_values_are_those_of_the_releases(name: str, weights: dict[str, float]) -> None:
    front = front_of(name)
    weighted = front.with_weights(weights)
    by_number = {solution.number: solution for solution in front}
    shares = pd.Series(weights) / sum(weights.values())
    for solution in weighted:
        before = by_number[solution.number]
        assert np.array_equal(before.x, solution.x)
        lost = before.loss_per_attribute()
        loss = float((shares * lost).sum())
        if name == "geometric":
            loss = float(np.expm1((shares * np.log1p(lost)).sum()))
        assert solution.loss == pytest.approx(loss)
        assert solution.k == before.k
        assert solution.records_suppressed == before.records_suppressed
    better = np.array([[q.sign for q in front.objectives]])
    F = weighted.values[:, : front.n_objectives] * better
    for i, point in enumerate(F):
        rest = np.delete(F, i, axis=0)
        assert not ((rest <= point).all(axis=1) & (rest < point).any(axis=1)).any()


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_solution_is_left_out_without_a_reason(name: str) -> None:
    front = front_of(name)
    weights = {"age": 5.0, "sex": 0.5}
    weighted = front.with_weights(weights)
    table = weighted.table
    assert table is not None
    shares = pd.Series({qi.name: qi.weight for qi in table.qis})
    shares /= shares.sum()
    for solution in front:
        if solution.number in weighted.numbers:
            continue
        lost = solution.loss_per_attribute()
        loss = (shares * lost).sum()
        if name == "geometric":
            loss = np.expm1((shares * np.log1p(lost)).sum())
        rivals = weighted.to_frame()
        assert ((rivals["k"] >= solution.k) & (rivals["loss"] <= loss + 1e-9)).any()


@pytest.mark.parametrize("name", ["cuts", "regions", "families"])
def test_the_same_weights_change_nothing_and_a_release_is_audited(name: str) -> None:
    front = front_of(name)
    same = front.with_weights({"age": 1})
    assert np.allclose(same.values, front.values) and same == front
    weighted = front.with_weights({"age": 4, "city": 0})
    release = weighted.where(min_k=3).best("loss").release()
    assert release.certificate.privacy["k"] >= 3
    again = weighted.refine(budget=2, seed=2, progress=False)
    assert again.problem is weighted.problem and not again.proven
    assert not weighted.run["reproducible"]
    assert again.hypervolume() >= weighted.hypervolume() - 1e-12


def test_a_limit_on_the_loss_counts_by_the_new_weights() -> None:
    table = made_table()
    problem = pm.problems.Cuts(table, constraints=[pm.GeneralLoss() <= 0.5])
    front = pm.optimize(problem, budget=15, seed=1, progress=False)
    assert (front.with_weights({"sex": 50}).column("loss") <= 0.5).all()


def test_weights_that_change_releases_are_refused() -> None:
    class ByWeight(pm.problems.Levels):
        """Publishes other levels if age counts much."""

        def candidates(self, X: Any) -> Any:
            return super().candidates(X * 0 if self.table.qis[0].weight > 2 else X)

    table = made_table()
    problem = ByWeight(table)
    front = pm.Front.of(problem, [[0, 0, 0], [1, 1, 1], [2, 2, 1]])
    with pytest.raises(ProblemError, match="search again with them"):
        front.with_weights({"age": 3})


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"agee": 1}, "did you mean 'age'"),
        ({"age": -1}, "at least 0"),
        ({"age": float("nan")}, "finite number"),
        ({"age": "2"}, "finite number"),
        ({"age": 0, "city": 0, "sex": 0}, "all are 0"),
    ],
)
def test_wrong_weights_are_named(weights: dict[str, Any], message: str) -> None:
    with pytest.raises(TableError, match=message):
        front_of("cuts").with_weights(weights)


def test_a_front_without_its_problem_cannot_be_measured(tmp_path: Any) -> None:
    front = front_of("cuts")
    front.save(tmp_path / "a.front")
    loaded = pm.Front.load(tmp_path / "a.front", table=front.table)
    with pytest.raises(ProblemError, match="without its problem"):
        loaded.with_weights({"age": 2})


def test_settings_of_a_problem_stay() -> None:
    problem = pm.problems.Cuts(made_table())
    problem.default_population = 12
    other = problem.with_table(made_table(2))
    assert other.default_population == 12 and other.table is not problem.table
    space = pm.spaces.CutSpace(made_table())
    plain = pm.problem.AnonymizationProblem(space.table, space=space)
    with pytest.raises(ProblemError, match="another table"):
        plain.with_table(made_table(2))
