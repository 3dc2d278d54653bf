"""The problems: contract suite, Dewri's numbers and claims, and what they refuse."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import privmoo as pm
from privmoo.errors import HierarchyError, MeasureError, ProblemError
from privmoo.evaluation.cache import EvaluationCache
from privmoo.problems import AnySuppression, BudgetSuppression, Cuts, KLSafe, ZeroSuppression
from privmoo.testing import check_problem, example_table

PRESETS: dict[str, Callable[[pm.Table], Cuts]] = {
    "P1": lambda t: ZeroSuppression(t),
    "P1 by l": lambda t: ZeroSuppression(t, privacy="l"),
    "P2": lambda t: BudgetSuppression(t, max_suppression=0.2),
    "P2 without suppression": lambda t: BudgetSuppression(t, max_suppression=0),
    "P2 by l": lambda t: BudgetSuppression(t, max_suppression=0.2, privacy="l"),
    "P2 of generalization": lambda t: BudgetSuppression(t, loss="generalization"),
    "P3": lambda t: AnySuppression(t),
    "P3 by l": lambda t: AnySuppression(t, privacy="l"),
    "P4 prefers k": lambda t: KLSafe(t, max_suppression=0.3, prefer="k"),
    "P4 prefers l": lambda t: KLSafe(t, max_suppression=0.3, prefer="l", loss="generalization"),
    "own": lambda t: Cuts(
        t,
        objectives=[pm.GeneralLoss(), pm.TCloseness(distance="equal")],
        constraints=[pm.KAnonymity() >= 2],
        suppression=pm.Budget(0.1),
    ),
}


@pytest.mark.parametrize("name", PRESETS)
def test_contract(name: str) -> None:
    check_problem(PRESETS[name](example_table()))


def test_table_2_of_the_paper() -> None:
    """Dewri et al., section 5.4: weighted-k is 29/7 for T1 and 17/7 for T2."""
    people = pd.DataFrame(
        {
            "age": [15, 17, 20, 26, 28, 30, 30],
            "status": ["Never Married"] * 2 + ["Civ", "AF", "AF", "Civ", "AF"],
        }
    )
    table = pm.Table(
        people,
        quasi_identifiers={
            "age": pm.Hierarchy.ordered(),
            "status": pm.Hierarchy.tree(
                {"Not Married": ["Never Married"], "Married": ["Civ", "AF"]}
            ),
        },
    )
    ages = ["15", "17", "20", "26", "28", "30"]
    t1 = [int(a == "17") for a in ages[:-1]]
    t2 = [int(a in ("17", "28")) for a in ages[:-1]]
    problem = ZeroSuppression(table)
    X = np.array([[*t1, 1, 0], [*t2, 1, 0]], dtype=bool)
    measured = problem.evaluate_measures(X)
    assert measured["weighted_k"].tolist() == pytest.approx([29 / 7, 17 / 7])
    assert measured["k"].tolist() == [2, 2]


def _counter_example() -> pm.Table:
    """Sizes 1, 3 and 4; the group of four has one single sensitive value."""
    df = pd.DataFrame(
        {"q": ["a", *["b"] * 3, *["c"] * 4], "s": ["x", "x", "y", "z", "x", "x", "x", "x"]}
    )
    return pm.Table(df, quasi_identifiers={"q": pm.Hierarchy.flat()}, sensitive="s")


def test_the_papers_loop_index_is_not_what_the_release_has() -> None:
    """By size first, the loop ends at (d1, d2) = (3, 3): but a group of four with ℓ = 1 remains."""
    table = _counter_example()
    problem = KLSafe(table, max_suppression=0.2, prefer="l")  # one of eight records may go
    x = problem.space.finest()
    groups = sorted([(1, 1, 1), (3, 3, 3), (4, 1, 4)])  # size, floor of ℓ, records
    spent, index = 0, None
    for size, diversity, records in groups:
        if spent + records > 0.2 * table.n_records:
            index = (size, diversity)
            break
        spent += records
    assert index == (3, 3)
    measured = problem.evaluate_measures(x[None])
    assert (measured["k"][0], measured["l"][0]) == (3, 1)
    release = pm.make_release(table, problem.recoding(x), suppression=problem.suppression)
    assert release.certificate.privacy["k"] == 3
    assert release.certificate.privacy["sensitive"]["s"]["l"] == 1


@settings(max_examples=80)
@given(data=st.data())
def test_problem_2_equals_the_definition(data: st.DataObject) -> None:
    n = data.draw(st.integers(4, 25))
    values = st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(lambda v: len(set(v)) > 1)
    df = pd.DataFrame({"q": data.draw(values)})
    table = pm.Table(df, quasi_identifiers={"q": pm.Hierarchy.ordered()})
    eta = data.draw(st.sampled_from([0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.9]))
    problem = BudgetSuppression(table, max_suppression=eta)
    x = np.array(data.draw(st.lists(st.booleans(), min_size=problem.n_var, max_size=problem.n_var)))
    blocks = np.concatenate([[0], np.cumsum(x)])
    own = blocks[[table.qis[0].leaves.index(str(v)) for v in df["q"]]]
    sizes = pd.Series(own).value_counts()
    d = max(d for d in range(n + 1) if sizes[sizes <= d].sum() * 1000 <= round(eta * 1000) * n)
    left = sizes[sizes > d]
    measured = problem.evaluate_measures(x[None].astype(bool))
    assert measured["records_suppressed"][0] == sizes[sizes <= d].sum()
    assert measured["k"][0] == left.min()  # something is always left: η < 1
    width = max(table.qis[0].n_leaves - 1, 1)
    kept_loss = sum((np.sum(blocks == b) - 1) / width * c for b, c in left.items())
    assert measured["loss"][0] == pytest.approx((kept_loss + sizes[sizes <= d].sum()) / n)


def test_everything_suppressed_is_infeasible_and_worst() -> None:
    df = pd.DataFrame({"q": [1, 2, 3, 4]})
    table = pm.Table(df, quasi_identifiers={"q": pm.Hierarchy.ordered()})
    problem = BudgetSuppression(table, max_suppression=1)
    out: dict[str, np.ndarray] = {}
    problem._evaluate(problem.space.finest()[None], out)
    assert out["F"].tolist() == [[-0.0, 1.0]]
    assert out["G"][0, -1] > 0


def test_problem_3_measures_weighted_k_before_suppression() -> None:
    df = pd.DataFrame({"q": [1, 2, 2, 3, 3, 3]})
    table = pm.Table(df, quasi_identifiers={"q": pm.Hierarchy.ordered()})
    problem = AnySuppression(table)
    measured = problem.evaluate_measures(problem.space.finest()[None])
    assert measured["weighted_k_before"][0] == pytest.approx(14 / 6)
    assert measured["records_suppressed"][0] == 3  # sizes 1 and 2 are below 2.33
    assert (measured["k"][0], measured["weighted_k"][0]) == (3, 3)


def test_the_same_candidates_are_evaluated_once() -> None:
    problem = ZeroSuppression(example_table())
    X = problem.default_operators()["sampling"](
        problem, 20, random_state=np.random.default_rng(0)
    ).get("X")
    problem.evaluate_measures(X)
    known = len(problem.evaluator.cache)
    problem.evaluate_measures(np.concatenate([X, X]))
    assert len(problem.evaluator.cache) == known == len(np.unique(X, axis=0))


def test_the_cache_keeps_what_it_was_told_first() -> None:
    cache = EvaluationCache(1)
    cache.store([b"a"], np.array([[1.0]]))
    cache.store([b"a"], np.array([[2.0]]))
    cache.store([b"b"], np.array([[3.0]]))
    assert cache.values([b"a", b"b"]).tolist() == [[1.0], [3.0]]


def test_threads_may_share_a_problem_and_processes_a_copy() -> None:
    table = pm.datasets.german_credit()
    X = (
        ZeroSuppression(table)
        .default_operators()["sampling"](
            ZeroSuppression(table), 100, random_state=np.random.default_rng(0)
        )
        .get("X")
    )
    expected = ZeroSuppression(table).evaluate_measures(X)["loss"]
    shared = ZeroSuppression(table)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: shared.evaluate_measures(X)["loss"], range(8)))
    assert all(np.array_equal(own, expected) for own in found)
    copied = pickle.loads(pickle.dumps(shared))  # noqa: S301
    assert np.array_equal(copied.evaluate_measures(X)["loss"], expected)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_problem_can_be_pickled_after_a_release(engine: str, tmp_path: Path) -> None:
    table = example_table()
    if engine == "duckdb":
        example_table().frame.to_csv(tmp_path / "records.csv", index=False)
        table = pm.Table.scan(
            tmp_path / "records.csv",
            quasi_identifiers={qi.name: qi.hierarchy for qi in table.qis if qi.hierarchy},
        )
    problem = pm.problems.Levels(table)
    X = np.array([[1] * problem.n_var])
    pm.Front.of(problem, X)[0].write(tmp_path / "released.csv")
    copied = pickle.loads(pickle.dumps(problem))  # noqa: S301
    assert np.array_equal(copied.evaluator.values(X), problem.evaluator.values(X))


@pytest.mark.parametrize(
    "make", [Cuts, pm.problems.Regions, pm.problems.TradeOff, pm.problems.Levels]
)
def test_wrong_constraints_and_policies_are_named(make: Any) -> None:
    table = example_table()
    with pytest.raises(ProblemError, match="constraints: expected a bound such as"):
        make(table, constraints=[pm.KAnonymity()])
    with pytest.raises(ProblemError, match="constraints: must be a list such as"):
        make(table, constraints=pm.KAnonymity() >= 5)
    if make is not pm.problems.TradeOff:
        with pytest.raises(ProblemError, match="suppression: must be a policy such as"):
            make(table, suppression=0.1)
    with pytest.raises(ProblemError, match="table: must be a privmoo Table, got DataFrame"):
        pm.baselines.mondrian(table.frame, 2)


def test_what_is_no_cut_of_a_tree_is_infeasible() -> None:
    tree = pm.Hierarchy.tree([["a", "b"], ["c", "d"]])
    table = pm.Table(pd.DataFrame({"q": list("abcd") * 3}), quasi_identifiers={"q": tree})
    problem = ZeroSuppression(table)
    out: dict[str, np.ndarray] = {}
    problem._evaluate(np.array([[1, 0, 1], [0, 1, 0]], dtype=bool), out)
    assert (out["G"][:, -1] > 0).tolist() == [True, False]


def test_descriptions_tell_problems_apart() -> None:
    table = example_table()

    def described(**parts: object) -> dict[str, object]:
        return Cuts(table, **parts).describe()

    risk = pm.RecordsAtRisk
    assert described(constraints=[risk(tau=0.5) <= 0.2]) != described(
        constraints=[risk(tau=0.05) <= 0.2]
    )
    assert described(constraints=[risk(tau=0.5) <= 0.2]) == described(
        constraints=[risk(tau=0.5) <= 0.2]
    )
    one, other = (
        pm.measure(sense="min", bounds=(0, 9), name="own")(function)
        for function in (lambda groups: groups.sizes.min(), lambda groups: groups.sizes.max())
    )
    assert described(objectives=[one]) != described(objectives=[other])


def refused(sentence: str, error: type[Exception], make: Callable[[], object]) -> None:
    with pytest.raises(error, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_refused() -> None:
    table = example_table()
    bare = pm.Table(pd.DataFrame({"q": [1, 1, 2]}), quasi_identifiers=["q"])
    plain = pm.Table(pd.DataFrame({"q": [1, 1, 2]}), quasi_identifiers={"q": pm.Hierarchy.flat()})
    refused(
        "fraction of the records from 0 to 1",
        ProblemError,
        lambda: BudgetSuppression(table, max_suppression=1.5),
    )
    refused(
        "fraction of the records from 0 to 1",
        ProblemError,
        lambda: KLSafe(table, max_suppression=-0.1),
    )
    single = pm.Table(pd.DataFrame({"q": [1, 1]}), quasi_identifiers={"q": pm.Hierarchy.ordered()})
    refused("nothing to generalise", ProblemError, lambda: Cuts(single))
    refused("'q' has no hierarchy", HierarchyError, lambda: Cuts(bare))
    refused("no sensitive attribute", MeasureError, lambda: KLSafe(plain))
    refused(
        "privacy: must be 'k' or 'l'", ProblemError, lambda: ZeroSuppression(table, privacy="t")
    )
    refused("prefer: must be 'k' or 'l'", ProblemError, lambda: KLSafe(table, prefer="both"))
    refused("loss: must be", ProblemError, lambda: BudgetSuppression(table, loss="all"))
    refused("objectives: there are none", ProblemError, lambda: Cuts(table, objectives=[]))
    refused("expected measures such as", ProblemError, lambda: Cuts(table, objectives=["k"]))  # type: ignore[list-item]
    classes: list[Any] = [pm.GeneralLoss, pm.KAnonymity]
    refused(
        r"objectives: GeneralLoss is a class; add parentheses, as in GeneralLoss\(\)",
        ProblemError,
        lambda: Cuts(table, objectives=classes),
    )
    refused(
        "have the same name; use measure.named",
        ProblemError,
        lambda: Cuts(table, objectives=[pm.KAnonymity(), pm.KAnonymity()]),
    )
    refused(
        "expected a bound such as KAnonymity",
        ProblemError,
        lambda: Cuts(table, constraints=[pm.KAnonymity()]),  # type: ignore[list-item]
    )
    refused(
        "cannot be satisfied; on this table of 3 records",
        MeasureError,
        lambda: Cuts(plain, constraints=[pm.KAnonymity() >= 4]),
    )
    refused("strict comparison", MeasureError, lambda: pm.KAnonymity() > 4)
    refused("finite bound", MeasureError, lambda: pm.KAnonymity() >= float("nan"))
    refused(
        "two different measures are called 'at_risk'",
        ProblemError,
        lambda: Cuts(
            table,
            objectives=[pm.RecordsAtRisk(tau=0.1), pm.GeneralLoss()],
            constraints=[pm.RecordsAtRisk(tau=0.2) <= 0.5],
        ),
    )
    both = Cuts(
        table,
        objectives=[pm.RecordsAtRisk(tau=0.1), pm.GeneralLoss()],
        constraints=[pm.RecordsAtRisk(tau=0.2).named("at_risk_20") <= 0.5],
    )
    assert {"at_risk", "at_risk_20"} <= set(both.evaluate_measures(both.space.finest()[None]))
    refused("tau", MeasureError, lambda: pm.RecordsAtRisk(tau=0.0))
