"""Operators on levels: the contract, and what each of them promises beyond it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pymoo.core.population import Population

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.operators import BestThreshold, LevelCrossover, LevelMutation, LevelSampling, NewLevels
from privmoo.problems import Cuts, Levels, LevelsAndSuppression
from privmoo.suppression import Budget
from privmoo.testing import check_operator, example_table, valid_rows
from tests.scenery.levels import groups_at, random_case

TABLE = example_table()
PROBLEMS: dict[str, Callable[[Any], Any]] = {
    "levels": lambda t: Levels(t),
    "a policy": lambda t: Levels(t, suppression=Budget(0.2)),
    "a threshold": lambda t: Levels(t, max_suppression=0.3),
    "records": lambda t: LevelsAndSuppression(t, min_k=1),
}
OPERATORS = {
    "sampling": LevelSampling(),
    "crossover": LevelCrossover(),
    "certain crossover": LevelCrossover(prob=1.0),
    "mutation": LevelMutation(0.5),
    "steps": LevelMutation(step=0.7),
    "only steps": LevelMutation(1.0, step=1.0),
}


def tables() -> list[Table]:
    return [random_case(np.random.default_rng(seed))[0] for seed in range(12)]


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_contract(operator: str, name: str) -> None:
    check_operator(OPERATORS[operator], PROBLEMS[name](TABLE))


@pytest.mark.parametrize("name", PROBLEMS)
def test_default_operators_on_odd_tables(name: str) -> None:
    for table in tables():
        problem = PROBLEMS[name](table)
        if (problem.space.highest - problem.space.lowest).sum() < 2:
            continue  # there is one other vector of levels, so seeds cannot differ
        for operator in problem.default_operators().values():
            if not isinstance(operator, NewLevels):  # drops more than equal individuals
                check_operator(operator, problem)


def test_new_levels_are_kept_once_in_their_order() -> None:
    problem = LevelsAndSuppression(TABLE, min_k=1)
    rows, n = valid_rows(problem, 60), TABLE.n_qis
    _, first = np.unique(rows[:, :n], axis=0, return_index=True)
    new = NewLevels(problem.space)
    kept = new.do(Population.new("X", rows[:30])).get("X")
    assert (kept == rows[np.sort(first[first < 30])]).all()
    assert len(new.do(Population.new("X", rows[:30]))) == 0
    rest = new.do(Population.new("X", rows))
    assert (rest.get("X") == rows[np.sort(first[first >= 30])]).all()


def test_operators_of_the_paper_and_the_best_threshold() -> None:
    problem = LevelsAndSuppression(TABLE, min_k=1)
    for part in ("sampling", "crossover", "mutation", "eliminate_duplicates"):
        check_operator(problem.paper_operators()[part], problem)
    check_operator(BestThreshold(LevelMutation(step=0.7)), problem)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_first_two_samples_are_untouched_and_all_generalised(name: str) -> None:
    problem = PROBLEMS[name](TABLE)
    space, n = problem.space, TABLE.n_qis
    rows = valid_rows(problem, 300)
    assert (rows[0, :n] == space.lowest).all() and (rows[1, :n] == space.highest).all()
    assert (rows[:2, n:] == 1).all()
    assert problem.evaluate_measures(rows[:2])["records_suppressed"].tolist()[1] == 0
    for j in range(n):
        assert set(rows[:, j]) == set(range(space.lowest[j], space.highest[j] + 1))
    one = LevelSampling()(problem, 1, random_state=np.random.default_rng(0), to_numpy=True)
    assert one.shape == (1, problem.n_var) and (one[0] == rows[0]).all()


def test_sampled_thresholds_have_all_magnitudes() -> None:
    rows = valid_rows(Levels(TABLE, max_suppression=0.5), 500)
    assert rows[:, -1].min() == 1 and rows[:, -1].max() <= TABLE.n_records
    assert len(set(rows[:, -1])) > 5
    bits = valid_rows(LevelsAndSuppression(TABLE, min_k=1), 200)[:, TABLE.n_qis :]
    assert set(np.unique(bits)) == {0, 1}
    assert (bits[2:].mean(axis=1) > 0.5).mean() > 0.5


def test_children_have_their_parents_levels_and_the_union_of_records() -> None:
    problem = LevelsAndSuppression(TABLE, min_k=1)
    rows = valid_rows(problem, 80)
    pairs = np.stack([rows[:40], rows[40:]])
    children = LevelCrossover()._do(problem, pairs, random_state=np.random.default_rng(1))
    n = TABLE.n_qis
    for one, other, a, b in zip(*children, *pairs, strict=True):
        assert (np.sort([one[:n], other[:n]], axis=0) == np.sort([a[:n], b[:n]], axis=0)).all()
        assert (one[n:] == (a[n:] | b[n:])).all() and (other[n:] == one[n:]).all()
    assert (children[0, :, :n] != pairs[0, :, :n]).any()
    only = LevelCrossover(children=1)._do(problem, pairs, random_state=np.random.default_rng(1))
    assert (only == children[:1]).all()
    with pytest.raises(ProblemError, match=r"^children: must be 1 or 2, got 3$"):
        LevelCrossover(children=3)
    threshold = Levels(TABLE, max_suppression=0.5)
    rows = valid_rows(threshold, 80)
    pairs = np.stack([rows[:40], rows[40:]])
    children = LevelCrossover()._do(threshold, pairs, random_state=np.random.default_rng(1))
    assert (np.sort(children[:, :, -1], axis=0) == np.sort(pairs[:, :, -1], axis=0)).all()


def test_mutation_steps_or_jumps_at_its_rate() -> None:
    problem = LevelsAndSuppression(TABLE, min_k=1)
    rows, n = np.tile(valid_rows(problem, 40), (50, 1)), TABLE.n_qis

    def mutated(operator: Any) -> Any:
        return operator._do(problem, rows, random_state=np.random.default_rng(2))

    same = mutated(LevelMutation(0.0))
    assert (same == rows).all()
    moved = mutated(LevelMutation(1.0, step=1.0))
    movable = problem.space.highest > problem.space.lowest
    assert (np.abs(moved[:, :n] - rows[:, :n]) == movable).all()
    assert (moved[:, n:] == 1 - rows[:, n:]).all()
    tenth = mutated(LevelMutation(0.1))
    assert (tenth[:, n:] != rows[:, n:]).mean() == pytest.approx(0.1, abs=0.02)
    changed = (tenth[:, :n] != rows[:, :n])[:, movable]
    assert changed.mean() == pytest.approx(0.1, abs=0.02)
    jumped = mutated(LevelMutation(1.0))[:, :n]
    assert (jumped != rows[:, :n]).all(axis=0).tolist() == movable.tolist()
    for j in np.flatnonzero(movable):  # every other level is drawn, and equally often
        others = jumped[rows[:, j] == rows[0, j], j]
        n_others = problem.space.highest[j] - problem.space.lowest[j]
        shares = np.unique(others, return_counts=True)[1] / len(others)
        assert shares.tolist() == pytest.approx([1 / n_others] * n_others, abs=0.15)
    # With steps, at least one level per child on average.
    stepped = mutated(LevelMutation(0.0, step=1.0))
    assert (stepped[:, :n] != rows[:, :n]).sum(axis=1).mean() == pytest.approx(
        movable.mean(), abs=0.1
    )
    assert (stepped[:, n:] == rows[:, n:]).all()


def test_mutated_thresholds_stay_within_bounds_and_move_both_ways() -> None:
    problem = Levels(TABLE, max_suppression=0.5)
    rows = np.tile(valid_rows(problem, 40), (20, 1))
    new = LevelMutation(0.0)._do(problem, rows, random_state=np.random.default_rng(3))[:, -1]
    assert new.min() >= 1 and new.max() <= TABLE.n_records
    inner = (rows[:, -1] > 3) & (rows[:, -1] < TABLE.n_records // 2)
    assert (new < rows[:, -1])[inner].any() and (new > rows[:, -1])[inner].any()
    assert (new == rows[:, -1])[inner].mean() > 0.3


def test_the_best_threshold_publishes_all_groups_of_some_size_and_never_nothing() -> None:
    for seed in range(20):
        table, columns = random_case(np.random.default_rng(seed))
        problem = LevelsAndSuppression(table, min_k=1)
        rows = valid_rows(problem, 30, seed=seed)
        operator = BestThreshold(LevelMutation(0.3))
        children = operator._do(problem, rows, random_state=np.random.default_rng(seed))
        for child, parent in zip(children, rows, strict=True):
            levels, bits = child[: table.n_qis], child[table.n_qis :].astype(bool)
            records = groups_at(columns, levels.tolist())
            sizes = Counter(records)
            own = np.array([sizes[record] for record in records])
            if bits.any() and (bits == (own >= own[bits].min())).all():
                continue
            # A threshold above all groups leaves what the mutation made.
            assert len(levels) == len(parent) - len(bits)
            assert own.max() < table.n_records


def test_what_operators_refuse() -> None:
    cuts = Cuts(TABLE)
    rng = np.random.default_rng(0)
    rows = valid_rows(cuts, 4)
    sentence = r"^problem: Cuts does not search levels; use a problem such as Levels$"
    with pytest.raises(ProblemError, match=sentence):
        LevelSampling()(cuts, 4, random_state=rng)
    with pytest.raises(ProblemError, match=sentence):
        LevelMutation()._do(cuts, rows, random_state=rng)
    with pytest.raises(ProblemError, match=sentence):
        LevelCrossover()._do(cuts, np.stack([rows, rows]), random_state=rng)
    levels = Levels(TABLE)
    with pytest.raises(
        ProblemError, match=r"^problem: Levels does not search records; use a problem such as"
    ):
        BestThreshold(LevelMutation())._do(levels, valid_rows(levels, 3), random_state=rng)
    for options in ({"rate": -0.1}, {"rate": 1.5}, {"step": 2.0}, {"step": float("nan")}):
        with pytest.raises(
            ProblemError, match=rf"^{next(iter(options))}: must be a number from 0 to 1, got"
        ):
            LevelMutation(**options)
