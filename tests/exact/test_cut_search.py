"""The search by switches, against every cut and every threshold, one by one, and stopped anywhere."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.errors import InfeasibleError
from privmoo.exact import exact_front
from privmoo.exact.costs import goal_of
from privmoo.exact.cut_front import search_cuts
from privmoo.exact.cut_search import cut_table, undecided_cut
from privmoo.exact.stopwatch import Stopwatch
from privmoo.front import Front
from privmoo.kernels.cut_bounds import examine
from privmoo.kernels.partial_cuts import CLOSED, OPEN, UNDECIDED, CutAim
from privmoo.problems import Cuts
from tests.scenery.cuts import every_cut, random_cuts
from tests.scenery.levels import best_of, is_bound, points_of
from tests.scenery.parameters import first_in_make_test


@pytest.fixture(autouse=True)
def _switches_for_small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privmoo.exact.lattice._SWEPT", 0)


def by_switches(problem: Any, nodes: int = -1, **options: Any) -> Front:
    """The front of a search that ends after some partial cuts; never, if negative."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("privmoo.exact.lattice.Stopwatch", partial(Stopwatch, nodes=nodes))
        front = exact_front(problem, seconds=600, progress=False, **options)
    assert front.run["algorithm"] == "exact cuts" and front.proven == (nodes < 0 or front.proven)
    return front


def weighted(seed: int) -> Cuts:
    """A random problem of weighted-k against loss."""
    table = random_cuts(np.random.default_rng(seed)).table
    return Cuts(table, objectives=[pm.WeightedK(), pm.GeneralLoss()])


def valid_rows(problem: Cuts) -> np.ndarray:
    n = problem.space.n_bits
    rows = (np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1
    return np.asarray(rows[problem.space.valid(rows)])


@pytest.mark.parametrize("part", first_in_make_test(range(10), 2))
def test_the_front_equals_every_cut_and_every_threshold(part: int) -> None:
    for seed in range(part * 100, part * 100 + 100):
        problem = random_cuts(np.random.default_rng(seed))
        front = by_switches(problem)
        assert front.proven and points_of(front) == best_of(every_cut(problem)), seed


@given(st.integers(0, 10**6))
def test_weighted_k_equals_every_cut(seed: int) -> None:
    problem = weighted(seed)
    front = by_switches(problem)
    values = problem.evaluate(valid_rows(problem), return_values_of=["F"])
    assert front.proven and points_of(front) == best_of(values)


@given(st.integers(0, 10**6))
def test_transparency_equals_every_cut(seed: int) -> None:
    table = random_cuts(np.random.default_rng(seed)).table
    problem = Cuts(table, objectives=[pm.KAnonymity(), pm.Transparency()])
    values = problem.evaluate(valid_rows(problem), return_values_of=["F"])
    assert points_of(by_switches(problem)) == best_of(values)


@given(st.integers(0, 10**6), st.integers(0, 60))
def test_an_early_end_gives_bounds_that_hold(seed: int, nodes: int) -> None:
    problem = random_cuts(np.random.default_rng(seed), most=40)
    check_early_end(problem, nodes, "k")


@given(st.integers(0, 10**6), st.integers(0, 60))
def test_an_early_end_gives_bounds_of_weighted_k_that_hold(seed: int, nodes: int) -> None:
    check_early_end(weighted(seed), nodes, "weighted_k")


def check_early_end(problem: Cuts, nodes: int, privacy: str) -> None:
    """Check every claim of a search that was stopped against the whole front."""
    whole, front = by_switches(problem), by_switches(problem, nodes)
    if front.proven:
        assert points_of(front) == points_of(whole)
        return
    bound = pd.DataFrame(front.run["bound"], columns=[privacy, "loss"])
    for level, loss in zip(whole.column(privacy), whole.column("loss"), strict=True):
        place = int(np.searchsorted(bound[privacy], level - 1e-9))
        assert bound["loss"][place] <= loss + 1e-9
    if privacy == "k":
        assert is_bound(bound, whole, "loss", 1) and is_bound(bound, front, "loss", 1)
    optimal = points_of(whole)
    for i in front.run["proven_solutions"]:
        assert points_of(front[i : i + 1]) <= optimal
    gap = front.gap()
    assert (gap.possible <= np.nan_to_num(gap.found, nan=np.inf) + 1e-9).all()


def test_searches_are_stopped_and_prove_part_of_their_front() -> None:
    """The checks above see searches that were stopped, with solutions that are proven and others."""
    n_stopped = n_sure = n_open = 0
    for seed in range(30):
        front = by_switches(random_cuts(np.random.default_rng(seed), most=40), 40)
        if not front.proven:
            sure = front.run["proven_solutions"]
            n_stopped, n_sure = n_stopped + 1, n_sure + len(sure)
            n_open += len(front) - len(sure)
    assert n_stopped > 5 and n_sure > 5 and n_open > 5


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([-1, 0, 3]))
def test_the_least_loss_for_one_k(seed: int, k: int, nodes: int) -> None:
    problem = random_cuts(np.random.default_rng(seed))
    k = min(k, problem.table.n_records)
    losses = [loss for size, loss in every_cut(problem) if -size >= k]
    one = Cuts(
        problem.table,
        objectives=[pm.GeneralLoss()],
        constraints=[pm.KAnonymity() >= k],
        suppression=problem.suppression,
    )
    try:
        front = by_switches(one, nodes)
    except InfeasibleError:
        assert not losses or nodes >= 0
        return
    if front.proven:
        assert front[0].loss == pytest.approx(min(losses), abs=1e-9)
    else:
        [[level, bound]] = front.run["bound"]
        assert level == k and bound <= min(losses) + 1e-9


@given(st.integers(0, 10**6))
def test_a_start_changes_nothing_but_the_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_cuts(rng)
    whole = by_switches(problem)
    rows = problem.space.repair(rng.random((6, problem.space.n_bits)) < 0.5)
    start = pm.Front.of(problem, rows, stairs=True)
    assert points_of(by_switches(problem, start=start)) == points_of(whole)
    assert points_of(by_switches(problem, start=whole)) == points_of(whole)


@given(st.integers(0, 10**6), st.integers(0, 2**32), st.booleans())
def test_bounds_and_forced_decisions_of_partial_cuts(
    seed: int, choices: int, by_bound: bool
) -> None:
    """Every completion that is good enough costs the bound at least and keeps the forced decisions."""
    problem = random_cuts(np.random.default_rng(seed), most=30)
    table, space, goal = problem.table, problem.space, goal_of(problem)
    assert goal is not None
    rng = np.random.default_rng(choices)
    status = undecided_cut(space)
    rows = valid_rows(problem)
    model = rows[rng.integers(len(rows))][space.first]
    for switch in rng.permutation(len(status))[: int(rng.integers(len(status) + 1))]:
        above = space.parent[switch]
        if status[switch] == UNDECIDED and (above < 0 or status[above] != UNDECIDED):
            status[switch] = OPEN if model[switch] else CLOSED
    level = int(rng.integers(1, table.n_records + 1))
    aim = CutAim(level, False, goal.most_suppressed)
    decided = status != UNDECIDED
    below = [row for row in rows if ((row[space.first] == (status == OPEN)) | ~decided).all()]
    costs = [cost_at(problem, row, level, goal.most_suppressed) for row in below]
    floor = float(rng.choice([np.inf, *[c + 1e-9 for c in costs if np.isfinite(c)]]))
    after = status.copy()
    bound, switch, _ = examine(cut_table(table, space, "loss"), aim, after, floor, by_bound)
    for row, cost in zip(below, costs, strict=True):
        if cost < floor - 1e-6:
            assert bound <= cost + 1e-6
            is_kept = (row[space.first] == (after == OPEN)) | (after == UNDECIDED)
            assert is_kept.all()
    if switch < 0 and np.isfinite(bound):
        assert bound == pytest.approx(min(costs), abs=1e-6)


def cost_at(problem: Cuts, row: np.ndarray, level: int, most_suppressed: int) -> float:
    """The summed loss of a cut that suppresses all groups below a size; infinite if these are too many."""
    table = problem.table
    recoding = problem.space.blocks([row])[0]
    leaves = np.concatenate([[0], np.cumsum([qi.n_leaves for qi in table.qis])])
    shares = np.array([qi.weight for qi in table.qis]) / sum(qi.weight for qi in table.qis)
    codes = table.tuples[table.row_tuple]
    labels, lost = np.empty_like(codes), np.zeros(table.n_records)
    for j, qi in enumerate(table.qis):
        blocks = recoding[leaves[j] : leaves[j + 1]]
        labels[:, j] = blocks[codes[:, j]]
        widths = np.bincount(blocks)[blocks]
        lost += shares[j] * ((widths - 1) / max(qi.n_leaves - 1, 1))[codes[:, j]]
    _, group, counts = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
    is_small = counts[group.ravel()] < level
    if is_small.sum() > most_suppressed:
        return float("inf")
    return float(np.where(is_small, 1.0, lost).sum())


def test_ctrl_c_anywhere_keeps_a_bound_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_cuts(np.random.default_rng(11), most=40)
    whole = by_switches(problem)
    goal = goal_of(problem)
    assert goal is not None
    optima = dict(
        zip(whole.column("k"), whole.column("loss") * problem.table.n_records, strict=True)
    )
    n_interrupted = 0
    for calls in (1, 2, 4, 9):
        counter = itertools.count(1)

        def interrupted(*arguments: Any, last: int = calls, counter: Any = counter) -> Any:
            if next(counter) == last:
                raise KeyboardInterrupt
            return examine(*arguments)

        monkeypatch.setattr("privmoo.exact.cut_search.examine", interrupted)
        outcome = search_cuts(problem.space, goal, Stopwatch())
        assert outcome.finished == (next(counter) <= calls)
        n_interrupted += not outcome.finished
        for k, cost in optima.items():
            assert outcome.bound(np.array([int(k)]))[0] <= cost + 1e-9
    assert n_interrupted > 1
