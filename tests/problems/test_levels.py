"""Problems of levels: contract, staircases, files, repeated runs, the gap to the exact front, refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2

import privmoo as pm
from privmoo.data.table import Table
from privmoo.errors import HierarchyError, MeasureError, ProblemError
from privmoo.exact import exact_front, lower_bound
from privmoo.front import Front
from privmoo.measures import GeneralLoss, KAnonymity, SuppressedShare
from privmoo.problems import Levels, LevelsAndSuppression
from privmoo.suppression import BelowThreshold
from privmoo.testing import check_problem, example_table, valid_rows
from tests.scenery.levels import Column, best_of, every_threshold, random_case

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

KINDS: dict[str, Any] = {
    "none": lambda t: Levels(t),
    "budget": lambda t: Levels(t, suppression=pm.Budget(0.2)),
    "below": lambda t: Levels(t, suppression=BelowThreshold(2)),
    "threshold": lambda t: Levels(t, max_suppression=0.4),
    "no limit": lambda t: Levels(t, max_suppression=1),
    "records": lambda t: LevelsAndSuppression(t, min_k=1),
    "records of k = 2": lambda t: LevelsAndSuppression(t),
    "without stairs": lambda t: LevelsAndSuppression(t, stairs=False),
}


def made(n: int = 60, seed: int = 0, **roles: Any) -> Table:
    """Hierarchies of one to four levels, one of unequal depth, one with a restricted range."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 16, n),
            "job": rng.choice(["baker", "miller", "judge", "none"], n),
            "zip": rng.choice(["111", "112", "121", "211", "222"], n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(list("abc"), n),
            "who": np.arange(n) // 2,
        }
    )
    return Table(
        frame,
        quasi_identifiers={
            "age": pm.Hierarchy.intervals(0, 15, widths=[4, 8]),
            "job": pm.Hierarchy.tree([{"food": ["baker", "miller"]}, "judge", "none"]),
            "zip": pm.QuasiIdentifier(hierarchy=pm.Hierarchy.masking(), weight=2.0, max_level=2),
            "sex": pm.Hierarchy.flat(),
        },
        sensitive="ill",
        **roles,
    )


TABLE = made()
CONTRACT = list(KINDS)


@pytest.mark.parametrize("table", ["example", "made", "persons"])
@pytest.mark.parametrize("kind", CONTRACT)
def test_contract(kind: str, table: str) -> None:
    tables: dict[str, Callable[[], Table]] = {
        "example": example_table,
        "made": made,
        "persons": lambda: made(subject="who"),
    }
    check_problem(KINDS[kind](tables[table]()))


@pytest.mark.parametrize("kind", CONTRACT)
def test_contract_on_random_tables(kind: str) -> None:
    for seed in range(6):
        check_problem(KINDS[kind](random_case(np.random.default_rng(seed))[0]))


def test_hierarchies_of_unequal_depth_and_a_highest_level() -> None:
    problem = Levels(TABLE)
    assert problem.space.n_levels.tolist() == [4, 3, 3, 2]
    assert problem.space.n_nodes == 72
    release = pm.make_release(TABLE, problem.recoding(np.array([0, 1, 2, 0])), shuffle=False)
    jobs = {"baker": "food", "miller": "food", "judge": "judge", "none": "none"}
    assert release.frame["job"].astype(str).tolist() == [jobs[j] for j in TABLE.frame["job"]]
    assert set(release.frame["zip"].astype(str)) == {"1**", "2**"}


# The staircase


def stairs_by_hand(rows: Any, problem: Any, columns: list[Column], least: int) -> list[Any]:
    seen = {tuple(row) for row in problem.space.levels(rows).tolist()}
    limit = float(problem.space.max_suppression)
    return [r for r in every_threshold(columns, limit) if r.levels in seen and r.k >= least]


@pytest.mark.parametrize("least", [1, 2])
def test_one_generation_holds_every_threshold_of_its_levels(least: int) -> None:
    for seed in range(12):
        table, columns = random_case(np.random.default_rng(seed), most=24, qis=(2, 3))
        for problem in (
            LevelsAndSuppression(table, min_k=least),
            Levels(table, max_suppression=0.5, constraints=[KAnonymity() >= least]),
        ):
            problem.default_population = 5
            rows = valid_rows(problem, 5, seed=seed)
            heard = stairs_by_hand(rows, problem, columns, least)
            if not heard:
                continue
            front = pm.optimize(problem, budget=1, seed=1, progress=False, start=rows)
            is_loss = isinstance(problem, Levels)
            want = [(-r.k, r.loss if is_loss else -r.transparency) for r in heard]
            for point in best_of(want):
                assert (np.array(point) + 1e-7 >= front.F).all(axis=1).any(), seed


def test_untouched_records_are_on_the_front_from_the_first_generation() -> None:
    """AD = 1 has TD = quasi-identifiers × records, as nothing is generalised or suppressed."""
    front = pm.optimize(LevelsAndSuppression(TABLE, min_k=1), budget=1, seed=1, progress=False)
    assert front[0].k == 1
    assert front.column("transparency")[0] == TABLE.n_qis * TABLE.n_records
    with_two = pm.optimize(LevelsAndSuppression(TABLE), budget=1, seed=1, progress=False)
    assert with_two.column("k").min() >= 2


def test_without_stairs_nothing_is_added() -> None:
    problem = LevelsAndSuppression(TABLE, min_k=1, stairs=False)
    rows = problem.default_operators()["sampling"](problem, 20, to_numpy=True, random_state=1)
    front = pm.Front.of(problem, rows, stairs=True)
    assert problem.evaluator.evaluate(rows, stairs=True).companions is None
    stairs = LevelsAndSuppression(TABLE, min_k=1)
    more = pm.Front.of(stairs, rows, stairs=True)
    assert len(more) > len(front)
    assert all((f >= more.F).all(axis=1).any() for f in front.F)


@pytest.mark.parametrize("kind", ["threshold", "no limit", "records", "without stairs"])
def test_a_search_is_never_better_than_the_exact_front(kind: str) -> None:
    for seed in range(2):
        problem = KINDS[kind](made(40, seed))
        problem.default_population = 40
        exact = exact_front(problem, progress=False)
        front = pm.optimize(problem, budget=4, seed=seed, progress=False)
        for f in front.F:
            assert (f + 1e-9 >= exact.F).all(axis=1).any()
        assert front.gap(exact).hypervolume_ratio <= 1 + 1e-12
        assert front.column("records_suppressed").max() < 40
        if kind != "without stairs":  # most of the 72 vectors of levels have been seen
            assert front.gap(exact).hypervolume_ratio > 0.95


def test_the_papers_algorithm() -> None:
    problem = LevelsAndSuppression(TABLE, min_k=1, stairs=False)
    exact = exact_front(problem, progress=False)
    algorithm = NSGA2(pop_size=30, **problem.paper_operators())
    front = pm.optimize(problem, algorithm, budget=8, seed=1, progress=False)
    assert all((f + 1e-9 >= exact.F).all(axis=1).any() for f in front.F)
    assert 0 < front.gap(exact).hypervolume_ratio <= 1
    assert problem.default_population == 30 and problem.default_generations == 8  # 4 × 60 / 30


@pytest.mark.parametrize("selection", ["crowding", "domination count"])
@pytest.mark.parametrize("pairing", ["tournament", "everybody"])
def test_both_accounts_of_the_papers_selection(selection: str, pairing: str) -> None:
    problem = LevelsAndSuppression(TABLE, min_k=1, stairs=False)
    operators = problem.paper_operators(selection=selection, pairing=pairing)
    front = pm.optimize(problem, NSGA2(30, **operators), budget=6, seed=1, progress=False)
    children = 15 if pairing == "everybody" else 30
    assert front.run["evaluations"] == 30 + 5 * children
    exact = exact_front(problem, progress=False)
    assert all((f + 1e-9 >= exact.F).all(axis=1).any() for f in front.F)


@pytest.mark.parametrize("word", ["selection", "pairing"])
def test_selections_that_do_not_exist_are_refused(word: str) -> None:
    with pytest.raises(ProblemError, match=rf"^{word}: must be "):
        LevelsAndSuppression(TABLE).paper_operators(**{word: "best"})


def test_objectives_and_constraints_besides_the_papers() -> None:
    objectives = [KAnonymity(), GeneralLoss(), SuppressedShare()]
    problem = LevelsAndSuppression(
        TABLE, objectives=objectives, constraints=[SuppressedShare() <= 0.3], min_k=2
    )
    check_problem(problem)
    assert problem.objective_names == ["k", "loss", "suppression"]
    front = exact_front(problem, progress=False)
    levels = Levels(
        TABLE, objectives=objectives, max_suppression=0.3, constraints=[KAnonymity() >= 2]
    )
    # Bits can say what a threshold says, and the best bits are those of a threshold.
    assert np.allclose(front.F, exact_front(levels, progress=False).F)
    searched = pm.optimize(problem, budget=4, seed=1, progress=False)
    assert all((f + 1e-9 >= front.F).all(axis=1).any() for f in searched.F)
    assert searched.column("suppression").max() <= 0.3 and searched.column("k").min() >= 2


def test_a_front_of_other_objectives_is_loaded_by_its_problem(tmp_path: Path) -> None:
    def problem() -> LevelsAndSuppression:
        return LevelsAndSuppression(TABLE, objectives=[KAnonymity(), GeneralLoss()])

    front = pm.optimize(problem(), budget=2, seed=1, progress=False)
    front.save(tmp_path / "a.front")
    assert Front.load(tmp_path / "a.front", problem=problem()) == front
    assert Front.load(tmp_path / "a.front", table=TABLE) == front


# Files, and the same again


@pytest.mark.parametrize("by", ["table", "problem"])
@pytest.mark.parametrize("kind", ["threshold", "no limit", "budget", "none"])
def test_loaded_solutions_release_the_same(kind: str, by: str, tmp_path: Path) -> None:
    problem = KINDS[kind](TABLE)
    front = exact_front(problem, progress=False)
    front.save(tmp_path / "a.front")
    given = {"table": TABLE} if by == "table" else {"problem": KINDS[kind](TABLE)}
    loaded = Front.load(tmp_path / "a.front", **given)
    assert loaded == front and loaded.proven
    assert loaded.gap(front).missed == 0
    several = set()
    for a, b in zip(front, loaded, strict=True):
        assert a.suppression == b.suppression and a.recoding.key() == b.recoding.key()
        one, other = a.release(seed=1), b.release(seed=1)
        pd.testing.assert_frame_equal(one.frame, other.frame)
        assert other.certificate.privacy["k"] == a.k
        assert len(other.frame) == 60 - a.values["records_suppressed"]
        assert b.explain() == a.explain()
        pd.testing.assert_series_equal(a.loss_per_attribute(), b.loss_per_attribute())
        several.add(len(other.frame))
    assert kind in ("budget", "none") or len(several) > 1


def test_loaded_choices_of_records(tmp_path: Path) -> None:
    problem = LevelsAndSuppression(TABLE)
    front = exact_front(problem, progress=False)
    front.save(tmp_path / "a.front")
    loaded = Front.load(tmp_path / "a.front", problem=problem)
    for a, b in zip(front, loaded, strict=True):
        pd.testing.assert_frame_equal(a.release(seed=1).frame, b.release(seed=1).frame)
    part = Front.load(tmp_path / "a.front", table=TABLE)
    assert part == front
    for a, b in zip(front, part, strict=True):
        if a.values["records_suppressed"]:  # which records were left out only the problem knows
            with pytest.raises(pm.errors.PrivmooError) as caught:
                b.release()
            assert "\n" not in str(caught.value)


def test_a_partial_front_is_saved_with_its_bound(tmp_path: Path, monkeypatch: Any) -> None:
    class Clock:
        now = 0.0

        def perf_counter(self) -> float:
            self.now += 1
            return self.now

    problem = Levels(TABLE, max_suppression=0.4)
    with monkeypatch.context() as patched:
        patched.setattr("privmoo.exact.stopwatch.time", Clock())
        front = exact_front(problem, seconds=1.5, progress=False)
    assert not front.proven and front.run["bound"]
    front.save(tmp_path / "a.front")
    loaded = Front.load(tmp_path / "a.front", table=TABLE)
    assert loaded.run["bound"] == front.run["bound"] and not loaded.proven


@pytest.mark.parametrize("kind", ["threshold", "records", "without stairs", "budget"])
def test_a_seed_gives_the_same_front_also_after_a_stop(kind: str, tmp_path: Path) -> None:
    def run(budget: int, threads: int = 2, log: Path | None = None) -> Front:
        table = random_case(np.random.default_rng(8), most=60, qis=(3,))[0]
        problem = KINDS[kind](table)
        problem.default_population = 6
        problem.evaluator.engine.threads = threads
        return pm.optimize(problem, budget=budget, seed=5, progress=False, checkpoint=log)

    front = run(6)
    assert run(6, threads=1) == front
    run(2, log=tmp_path / "a.log")
    assert run(6, log=tmp_path / "a.log") == front


# The gap


def test_the_gap_of_the_exact_front_is_none_and_grows() -> None:
    problem = Levels(TABLE, max_suppression=0.4)
    exact = exact_front(problem, progress=False)
    own = exact.gap(exact)
    assert (own.hypervolume_ratio, own.epsilon, own.missed) == (1.0, 0.0, 0)
    assert own.points == len(exact) > 4
    before = own
    for n in range(len(exact) - 1, 0, -1):
        gap = exact[:n].gap(exact)
        assert gap.missed == len(exact) - n
        assert gap.hypervolume_ratio < before.hypervolume_ratio
        assert gap.epsilon >= before.epsilon and gap.epsilon > 0
        before = gap
    # One point alone: by hand, from k = 0 … 60 (best) and loss 0 … 1.
    one = exact[:1]
    worst = max(
        min(1.0, max((k - one[0].k) / 60, one[0].values["loss"] - loss))
        for k, loss in zip(exact.column("k"), exact.column("loss"), strict=True)
    )
    assert one.gap(exact).epsilon == pytest.approx(worst)
    assert repr(own).startswith("Gap: 100 % of the hypervolume, epsilon 0, 0 of ")


def test_the_gap_to_a_bound() -> None:
    for problem in (Levels(TABLE, max_suppression=0.4), LevelsAndSuppression(TABLE, min_k=1)):
        exact = exact_front(problem, progress=False)
        tight, loose = lower_bound(problem), lower_bound(problem, most_nodes=4)
        gap = exact.gap(tight)
        assert gap.hypervolume_ratio == pytest.approx(1) and gap.missed == 0
        assert gap.epsilon == pytest.approx(0, abs=1e-9)
        wide = exact.gap(loose)
        assert wide.hypervolume_ratio <= 1 + 1e-12 and wide.missed > 0
        shuffled = exact.gap(tight.sample(frac=1, random_state=1)[tight.columns[::-1]])
        assert shuffled.hypervolume_ratio == pytest.approx(1) and shuffled.missed == 0


def test_gaps_between_different_objectives_are_refused() -> None:
    loss = exact_front(Levels(TABLE, max_suppression=0.4), progress=False)
    problem = LevelsAndSuppression(TABLE)
    with pytest.raises(ProblemError) as caught:
        loss.gap(exact_front(problem, progress=False))
    assert str(caught.value) == (
        "gap: the fronts have different objectives, k, loss and k, transparency"
    )
    with pytest.raises(ProblemError) as caught:
        loss.gap(lower_bound(problem))
    assert str(caught.value) == (
        "gap: the bound must have the objectives k, loss as columns, has k, transparency"
    )


# What is refused

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"max_suppression": -0.1}, "max_suppression: must be a number from 0 to 1, got -0.1"),
    ({"max_suppression": 1.5}, "max_suppression: must be a number from 0 to 1, got 1.5"),
    ({"max_suppression": float("nan")}, "max_suppression: must be a number from 0 to 1, got nan"),
    ({"max_suppression": "0.1"}, "max_suppression: must be a number from 0 to 1, got '0.1'"),
    (
        {"max_suppression": 0.1, "suppression": pm.Budget(0.1)},
        "max_suppression: pass either max_suppression or suppression, not both",
    ),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG)
def test_impossible_suppression(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProblemError) as caught:
        Levels(TABLE, **options)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("least", [0, -3, 2.0, "2", True, None])
def test_impossible_least_k(least: Any) -> None:
    with pytest.raises(ProblemError) as caught:
        LevelsAndSuppression(TABLE, min_k=least)
    assert str(caught.value) == f"min_k: must be a whole number of at least 1, got {least!r}"


def test_more_k_than_records_or_persons() -> None:
    with pytest.raises(
        ProblemError,
        match=r"^min_k: must be at most 60, the number of persons in the table, got 61",
    ):
        LevelsAndSuppression(TABLE, min_k=61)
    with pytest.raises(
        ProblemError,
        match=r"^min_k: must be at most 30, the number of persons in the table, got 31",
    ):
        LevelsAndSuppression(made(subject="who"), min_k=31)
    with pytest.raises(MeasureError, match=r"^k: k >= 61 cannot be satisfied"):
        Levels(TABLE, constraints=[KAnonymity() >= 61])


@pytest.mark.parametrize("problem", [Levels, LevelsAndSuppression])
def test_tables_and_levels_that_do_not_fit(problem: Any) -> None:
    with pytest.raises(ProblemError, match=r"^table: must be a privmoo Table, got DataFrame$"):
        problem(TABLE.frame)
    without = Table(TABLE.frame, quasi_identifiers=["sex"])
    with pytest.raises(
        HierarchyError, match=r"^quasi_identifiers: 'sex' has no hierarchy, and cut"
    ):
        problem(without)
    for levels, wrong in (
        ([0, 3, 0, 0], "'job' may have levels 0 to 2, got 3"),
        ([-1] * 4, "'age'"),
    ):
        with pytest.raises(ProblemError, match=rf"^levels: {wrong}"):
            problem(TABLE).space.from_levels(np.array(levels))
    with pytest.raises(ProblemError, match=r"^levels: 'zip' may have levels 0 to 2, got 3"):
        problem(TABLE).space.from_levels(np.array([0, 0, 3, 0]), 5)


def test_a_release_of_nothing_is_infeasible() -> None:
    problem = Levels(TABLE, max_suppression=1)
    x = problem.space.from_levels(problem.space.lowest, TABLE.n_records)
    records = LevelsAndSuppression(TABLE, min_k=1)
    b = records.space.from_levels(records.space.lowest, TABLE.n_records)
    for own, row in ((problem, x), (records, b)):
        assert own.evaluate_measures(row[None])["records_suppressed"][0] == TABLE.n_records
        assert (own.evaluate(row[None], return_values_of=["G"]) > 0).any()
        with pytest.raises(ProblemError, match=r"^front: nothing feasible among 1 candidates"):
            Front.of(own, row[None])


def test_decision_vectors_are_rounded_and_kept_within_bounds() -> None:
    problem = Levels(TABLE, max_suppression=0.5)
    odd = np.array([[0.4, 1.6, 99, -3, 2.2], [0, 2, 2, 0, 2], [0, 2, 2, 0, 0.0]])
    keys = problem.keys(odd)
    assert keys[0] == keys[1] != keys[2]
    assert problem.policy(odd[2]) == BelowThreshold(1)
    measured = problem.evaluate_measures(odd)
    assert measured["loss"][0] == measured["loss"][1]


def test_a_limit_holds_for_every_solution() -> None:
    for limit in (0, 0.05, 0.3):
        problem = Levels(
            TABLE,
            objectives=[KAnonymity(), GeneralLoss(), SuppressedShare()],
            max_suppression=limit,
        )
        problem.default_population = 20
        front = pm.optimize(problem, budget=2, seed=1, progress=False)
        assert front.column("suppression").max() <= limit
        assert exact_front(problem, progress=False).column("suppression").max() <= limit
