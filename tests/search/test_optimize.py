"""optimize: names, budgets, archive, seeds, Ctrl-C, start, and one sentence for every mistake."""

from __future__ import annotations

import itertools
import signal
import threading
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.spea2 import SPEA2
from pymoo.optimize import minimize

from privmoo._util.dominance import non_dominated, share_of_box
from privmoo._util.stopwatch import Stopwatch
from privmoo.errors import ProblemError
from privmoo.front.archive import Archive
from privmoo.front.front import Front
from privmoo.measures import (
    GeneralLoss,
    KAnonymity,
    SuppressedShare,
    measure,
)
from privmoo.problems import Cuts
from privmoo.search.budgets import Evaluations, Generations, RunState, Seconds, Stalled
from privmoo.search.optimization import optimize
from privmoo.search.progress import Progress
from privmoo.suppression import BelowThreshold, Budget
from tests.scenery.runs import TABLE, Levels, small


def slow_front(F: NDArray[np.float64]) -> set[tuple[float, ...]]:
    """Non-dominated rows, by definition."""
    points = {tuple(row) for row in F.tolist()}
    return {
        a
        for a in points
        if not any(b != a and all(y <= x for x, y in zip(a, b, strict=True)) for b in points)
    }


def covers(front: Front, F: NDArray[np.float64]) -> bool:
    """Whether no point lies outside what a front dominates."""
    return all(any((f <= point).all() for f in front.F) for point in F)


def test_a_formulation_of_ones_own_is_solved_to_its_exact_front() -> None:
    problem = Levels(TABLE, suppression=Budget(0.1))
    every = np.array(list(itertools.product(*(range(int(h) + 1) for h in problem.xu))))
    points = []
    for size in range(1, TABLE.n_records + 1):
        values = Levels(TABLE, suppression=BelowThreshold(size)).evaluate_measures(every)
        inside = values["records_suppressed"] <= 0.1 * TABLE.n_records
        points.append(np.column_stack([-values["k"], values["loss"]])[inside])
    exact = slow_front(np.concatenate(points))
    front = optimize(problem, budget=60, seed=3, progress=False)
    assert {tuple(row) for row in front.F.tolist()} == exact
    assert len(front) == len(exact) == len(Front.of(problem, every))
    solution = front.where(min_k=5).best("loss")
    release = solution.release(seed=0)
    assert release.certificate.privacy["k"] == solution.k
    assert solution.recoding.to_json()["kind"] == "levels"


def test_an_instance_is_not_changed_by_a_run_nor_are_shared_defaults() -> None:
    problem = small()
    given = SPEA2(pop_size=20, **problem.default_operators())
    first = optimize(problem, given, 5, seed=2, progress=False)
    assert given.pop is None and given.survival.norm is None
    assert optimize(small(), given, 5, seed=2, progress=False) == first
    given.is_initialized = True
    with pytest.raises(ProblemError, match="has run already"):
        optimize(problem, given, 5, progress=False)


@pytest.mark.parametrize("budget", [0, -3, 1.5, True, "long", None.__class__])
def test_bad_budgets(budget: Any) -> None:
    with pytest.raises(ProblemError, match=r"^budget: .*got"):
        optimize(small(), budget=budget, progress=False)


@pytest.mark.parametrize(
    ("kind", "number"),
    [(Generations, 0), (Evaluations, 0), (Evaluations, 1.5), (Seconds, 0), (Seconds, float("nan"))],
)
def test_bad_numbers_in_budgets(kind: Any, number: float) -> None:
    with pytest.raises(ProblemError, match=r"^budget: "):
        kind(number)


def test_budgets_end_where_they_say() -> None:
    assert optimize(small(), budget=3, seed=1, progress=False).run["generations"] == 3
    front = optimize(small(), budget=Evaluations(50), seed=1, progress=False)
    assert 50 <= front.run["evaluations"] < 50 + 20
    both = optimize(small(), budget=Generations(50) | Evaluations(50), seed=1, progress=False)
    assert both.run["budget"] == "Generations(50) | Evaluations(50)"
    assert both == front
    timed = optimize(small(), budget=Seconds(0.05), seed=1, progress=False)
    assert timed.run["reproducible"] is False
    again = timed.run["generations"]
    assert f"Generations({again})" in timed.run["why_not_reproducible"]
    assert optimize(small(), budget=again, seed=1, progress=False) == timed


def test_stalled_ends_when_the_hypervolume_does_not_grow() -> None:
    heights = iter([0.0, 0.0, 0.0, 0.1, 0.2, 0.2001, 0.2002, 0.20021])
    budget = Stalled(2, tolerance=0.01, at_most=100).fresh()
    seen = [budget.fraction(RunState(g, g, 0.0, lambda: next(heights))) for g in range(1, 8)]
    assert [f >= 1 for f in seen] == [False] * 6 + [True]
    front = optimize(small(), budget=Stalled(10, tolerance=1e-3), seed=1, progress=False)
    assert 10 < front.run["generations"] < 2000 and front.run["reproducible"]
    assert (
        optimize(small(), budget=Stalled(9, at_most=3), seed=1, progress=False).run["generations"]
        == 3
    )


def test_unbounded_measures_can_be_optimised() -> None:
    @measure(sense="max")
    def groups_of_three(groups: Any) -> float:
        return float((groups.sizes >= 3).sum())

    problem = small(objectives=(groups_of_three, GeneralLoss()))
    front = optimize(problem, budget=Stalled(3, at_most=10), seed=1, progress=False)
    assert len(front) > 1
    with pytest.raises(ProblemError, match=r"hypervolume: 'groups_of_three' has no bounds"):
        front.hypervolume()


def test_nothing_that_was_ever_evaluated_is_lost() -> None:
    problem = small()
    seen: list[NDArray[np.float64]] = []
    problem.callback = lambda X, out: seen.append(out["F"])
    problem.default_population = 6  # far smaller than the front
    front = optimize(problem, budget=40, seed=1, progress=False)
    assert problem.callback is not None
    assert covers(front, np.concatenate(seen[:-1]))
    assert {tuple(row) for row in front.F.tolist()} == slow_front(front.F)
    assert len(front) > 6
    on_front = {tuple(row) for row in front.values[:, :2].tolist()}
    beside = {tuple(row) for row in front.dominated.tolist()}
    assert beside and not beside & on_front
    assert covers(front, problem.minimised(front.dominated))


def test_the_seed_is_drawn_recorded_and_repeats_the_run() -> None:
    first = optimize(small(), budget=5, progress=False)
    assert optimize(small(), budget=5, seed=first.run["seed"], progress=False) == first
    other = optimize(small(), budget=5, seed=first.run["seed"] + 1, progress=False)
    assert not np.array_equal(other.dominated, first.dominated)
    for bad in (-1, 1.5, True):
        with pytest.raises(ProblemError, match="seed: must be a whole number"):
            optimize(small(), budget=5, seed=bad, progress=False)


def test_nothing_feasible_is_said_with_the_constraints() -> None:
    problem = Cuts(TABLE, constraints=(KAnonymity() >= 200, SuppressedShare() >= 0.5))
    with pytest.raises(
        ProblemError, match=r"nothing feasible among .* k >= 200, suppression >= 0.5"
    ):
        optimize(problem, budget=2, seed=1, progress=False)


def interrupting(problem: Cuts, *evaluations: int) -> Cuts:
    """Press Ctrl-C during these calls of the evaluation."""
    count = itertools.count(1)

    def press(X: Any, out: Any) -> None:
        if next(count) in evaluations:
            signal.raise_signal(signal.SIGINT)

    problem.callback = press
    return problem


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
def test_ctrl_c_returns_the_front_so_far_and_a_second_one_raises() -> None:
    before = signal.getsignal(signal.SIGINT)
    front = optimize(interrupting(small(), 3), budget=50, seed=1, progress=False)
    assert front.run["generations"] == 3 and front.run["stopped_by_hand"]
    assert front.run["reproducible"] is False
    assert front == optimize(small(), budget=3, seed=1, progress=False)
    with pytest.raises(KeyboardInterrupt):
        optimize(interrupting(twice(small()), 3), budget=50, seed=1, progress=False)
    assert signal.getsignal(signal.SIGINT) is before


def twice(problem: Cuts) -> Cuts:
    """Two presses within one evaluation."""
    evaluate = problem._evaluate
    count = itertools.count(1)

    def slow(X: Any, out: Any, *args: Any, **kwargs: Any) -> None:
        if next(count) == 3:
            signal.raise_signal(signal.SIGINT)
        evaluate(X, out, *args, **kwargs)

    problem._evaluate = slow  # type: ignore[method-assign]
    return problem


def test_a_run_in_another_thread_works_too() -> None:
    found: list[Front] = []
    thread = threading.Thread(
        target=lambda: found.append(optimize(small(), budget=3, seed=1, progress=False))
    )
    thread.start()
    thread.join()
    assert found[0] == optimize(small(), budget=3, seed=1, progress=False)


def test_a_start_is_never_made_worse() -> None:
    good = optimize(small(), budget=40, seed=1, progress=False)
    for start in (good, good.X, good.X[:1]):
        front = optimize(small(), budget=1, seed=9, start=start, progress=False)
        for row in np.atleast_2d(start.F if isinstance(start, Front) else good.F[: len(start)]):
            assert any((found <= row).all() for found in front.F)
    random = optimize(small(), "random", 2, seed=9, start=good, progress=False)
    assert random.hypervolume() >= good.hypervolume()
    with pytest.raises(ProblemError, match="start: must be a front or rows of"):
        optimize(small(), budget=1, start=np.zeros((2, 3), bool), progress=False)


def test_the_start_fills_at_most_half_of_the_first_population() -> None:
    good = optimize(small(), budget=40, seed=1, progress=False)
    problem, first = small(), []
    problem.callback = lambda X, out: first.append(np.asarray(X))
    optimize(problem, budget=1, seed=9, start=good, progress=False)
    population = first[1]  # first[0] are all of the start
    known = {x.tobytes() for x in good.X}
    assert len(first[0]) == len(good)
    assert 0 < sum(x.tobytes() in known for x in population) <= 10 + 2


def test_plain_pymoo_gives_a_front_too() -> None:
    problem = small()
    algorithm = NSGA2(pop_size=20, **problem.default_operators())
    res = minimize(problem, algorithm, ("n_gen", 5), seed=1)
    front = Front.from_result(problem, res)
    assert covers(front, np.asarray(res.F))
    assert {tuple(row) for row in front.F.tolist()} == slow_front(front.F)
    assert front.run["seed"] == 1 and front.run["algorithm"] == "NSGA2"
    with pytest.raises(ProblemError, match=r"got Result; write Front.from_result\(problem, res\)"):
        Front.from_result(res, problem)
    with pytest.raises(ProblemError, match="res: must be what pymoo's minimize returned, got Sol"):
        Front.from_result(problem, front[0])
    impossible = Cuts(TABLE, constraints=(KAnonymity() >= 200, SuppressedShare() >= 0.5))
    res = minimize(impossible, NSGA2(20, **problem.default_operators()), ("n_gen", 2), seed=1)
    with pytest.raises(ProblemError, match="nothing feasible"):
        Front.from_result(impossible, res)


def test_progress_is_few_lines_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    optimize(small(), budget=50, seed=1)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 8  # one may say that kernels are being compiled
    assert "generation 50 (100%), front " in lines[-1] and "hypervolume 0." in lines[-1]
    optimize(small(), budget=5, seed=1, progress=False)
    assert capsys.readouterr() == ("", "")


def test_progress_is_a_bar_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    optimize(small(), budget=5, seed=1)
    said = capsys.readouterr().err
    assert "100%" in said and "| front " in said and "|," not in said


def test_progress_is_lines_in_a_terminal_without_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import os
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "fileno", lambda: 2)
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((0, 0)))
    optimize(small(), budget=5, seed=1)
    assert "generation 5 (100%), front " in capsys.readouterr().err


def test_a_long_first_generation_is_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privmoo.search.progress._LONG", 0.01)
    progress = Progress(shown=True)
    waiting = progress._waiting
    assert waiting is not None
    waiting.join()
    progress.update(0.5, generation=1, front=3, hypervolume=lambda: 0.1)
    progress.close()
    begin, first, *rest = capsys.readouterr().err.splitlines()
    assert begin == "search: searching ..."
    assert first.startswith("first run: compiling") and len(rest) == 1


def test_two_runs_at_once_need_two_problems() -> None:
    problem = small()
    said: list[str] = []

    def second() -> None:
        try:
            optimize(problem, budget=1, seed=2, progress=False)
        except ProblemError as error:
            said.append(str(error))

    tried: list[bool] = []

    def hear(X: Any, out: Any) -> None:
        if not tried:  # once: were it not refused, every second run would start a third
            tried.append(True)
            thread = threading.Thread(target=second)
            thread.start()
            thread.join()

    problem.callback = hear
    front = optimize(problem, budget=2, seed=1, progress=False)
    assert len(said) == 1 and said[0].startswith("optimize: a run on this problem is under way")
    assert optimize(problem, budget=2, seed=1, progress=False) == front


def test_only_problems_can_be_optimised() -> None:
    with pytest.raises(ProblemError, match="problem: must be an AnonymizationProblem"):
        optimize(TABLE, progress=False)


def test_archive_against_the_definition() -> None:
    rng = np.random.default_rng(4)
    for n_obj in (1, 2, 3):
        archive, seen = Archive(n_obj), []
        for _ in range(20):
            F = rng.integers(0, 6, (15, n_obj)).astype(float)
            G = rng.integers(-1, 2, (15, 2)).astype(float)
            archive.add(F.copy(), {"F": F, "G": G})
            seen.append(F[(G <= 0).all(axis=1)])
        assert {tuple(r) for r in archive.F.tolist()} == slow_front(np.concatenate(seen))
        assert len(archive.F) == len(archive.rows)
        assert np.array_equal(np.array(archive.rows), archive.F)


def test_hypervolume_share_against_counting_cells() -> None:
    rng = np.random.default_rng(5)
    for n_obj in (1, 2, 3):
        F = rng.integers(0, 9, (6, n_obj)).astype(float)
        cells = np.array(list(itertools.product(range(8), repeat=n_obj)))
        covered = np.mean([any((f <= cell).all() for f in F) for cell in cells])
        share = share_of_box(F, np.zeros(n_obj), np.full(n_obj, 8.0))
        assert share == pytest.approx(covered)
    assert share_of_box(np.empty((0, 2)), np.zeros(2), np.ones(2)) == 0
    assert non_dominated(np.empty((0, 1))).tolist() == []


def test_times_are_those_of_the_budget(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(shown=True, what="search")
    # Its stopwatch stands still while kernels are compiled, as that of a budget does.
    progress._stopwatch = cast(Stopwatch, SimpleNamespace(seconds=10.0))
    progress.update(0.2, generation=1, front=3, hypervolume=lambda: 0.1)
    progress._stopwatch = cast(Stopwatch, SimpleNamespace(seconds=30.0))
    progress.update(0.6, generation=2, front=3, hypervolume=lambda: 0.1)
    progress.close()
    said = capsys.readouterr().err
    assert "0:10 used, 0:40 left" in said and "0:30 used, 0:20 left" in said
