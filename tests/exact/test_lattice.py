"""The exact front of the lattice of levels, against every node and every threshold, one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.exact import exact_front, lattice_cost, lower_bound
from privmoo.front import Front
from privmoo.measures import (
    AverageClassSize,
    Discernibility,
    EntropyDiversity,
    FrequencyDiversity,
    GeneralLoss,
    KAnonymity,
    Measure,
    NonUniformEntropy,
    SuppressedShare,
    TCloseness,
    Transparency,
)
from privmoo.problems import Cuts, Levels, LevelsAndSuppression
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import ViolatingGroups
from tests.scenery.levels import (
    Clock,
    best_of,
    by_numpy,
    case,
    every_subset,
    every_threshold,
    exact,
    exact_or_none,
    huge_table,
    is_bound,
    one_by_one,
    points_of,
    wide_table,
)
from tests.scenery.parameters import first_in_make_test
from tests.scenery.paths import SHARED

LIMITS = [0, 0.02, 0.1, 0.25, 0.5, 0.75, 1]


# The whole lattice, by hand


@pytest.mark.parametrize("part", first_in_make_test(range(10), 4))
def test_k_and_loss_equal_every_node_and_every_threshold(part: int) -> None:
    for seed in range(part * 40, part * 40 + 40):
        table, columns, rng = case(seed, most=24, qis=(1, 2, 3, 3, 4))
        limit = float(rng.choice([*LIMITS, rng.random()]))
        least = int(rng.integers(1, table.n_records + 1)) if rng.random() < 0.3 else 1
        demands = [KAnonymity() >= least] if least > 1 else []
        known = [r for r in every_threshold(columns, limit) if r.k >= least]
        objectives = [KAnonymity(), GeneralLoss()]
        problem = Levels(
            table,
            objectives=objectives if seed % 2 else objectives[::-1],
            constraints=demands,
            max_suppression=limit,
        )
        if not known:
            with pytest.raises(ProblemError, match=r"^front: nothing feasible among"):
                exact(problem)
            continue
        want = best_of([(-r.k, r.loss) if seed % 2 else (r.loss, -r.k) for r in known])
        front = exact(problem)
        assert best_of(front.F) == want, seed
        assert (front.column("records_suppressed") < table.n_records).all()


@pytest.mark.parametrize("part", range(5))
def test_without_suppression(part: int) -> None:
    for seed in range(1000 + part * 40, 1000 + part * 40 + 40):
        table, columns, _ = case(seed)
        known = every_threshold(columns, 0)
        objectives = [Transparency(), KAnonymity()] if seed % 2 else None
        front = exact(Levels(table, objectives=objectives))
        want = [(-r.transparency, -r.k) if seed % 2 else (-r.k, r.loss) for r in known]
        assert best_of(front.F) == best_of(want), seed


@pytest.mark.parametrize("part", range(5))
def test_k_and_transparency_equal_every_node_and_every_threshold(part: int) -> None:
    for seed in range(2000 + part * 40, 2000 + part * 40 + 40):
        table, columns, _ = case(seed)
        least = 1 + seed % 2
        front = exact_or_none(LevelsAndSuppression(table, min_k=least))
        known = [r for r in every_threshold(columns) if r.k >= least]
        assert points_of(front) == best_of([(-r.k, -r.transparency) for r in known]), seed


@pytest.mark.parametrize("least", [1, 2, 3])
def test_no_choice_of_records_is_better_than_a_threshold(least: int) -> None:
    for seed in range(3000, 3014):
        table, columns, _ = case(seed, most=7, qis=(1, 2))
        if table.n_records < least:
            continue
        front = exact_or_none(LevelsAndSuppression(table, min_k=least))
        known = [r for r in every_subset(columns) if r.k >= least]
        assert points_of(front) == best_of([(-r.k, -r.transparency) for r in known]), seed


@pytest.mark.parametrize("part", range(5))
def test_all_limits_at_once(part: int) -> None:
    """With suppression as a third objective, the front for any limit is a part of one front."""
    for seed in range(4000 + part * 30, 4000 + part * 30 + 30):
        table, columns, rng = case(seed)
        limit = float(rng.choice(LIMITS))
        known = every_threshold(columns, limit)
        n = table.n_records
        order = rng.permutation(3)
        kinds = [KAnonymity(), GeneralLoss(), SuppressedShare()]
        problem = Levels(table, objectives=[kinds[i] for i in order], max_suppression=limit)
        want = [np.array([-r.k, r.loss, r.suppressed / n])[order] for r in known]
        assert best_of(exact(problem).F) == best_of(want), seed


@pytest.mark.parametrize("n", [3, 6, 7, 12, 49])
def test_a_limit_that_is_a_share_of_the_records(n: int) -> None:
    """m of n records may go if the limit is m / n, as the constraint of the problem says."""
    table = Table(
        pd.DataFrame({"q": [*(f"a{i}" for i in range(n // 3)), *["b"] * (n - n // 3)]}),
        quasi_identifiers={"q": pm.Hierarchy.flat()},
    )
    problem = Levels(table, max_suppression=(n // 3) / n)
    x = problem.space.from_levels(np.array([0]), 2)
    assert (problem.evaluate(x[None], return_values_of=["G"]) <= 0).all()
    assert {-n + n // 3, -n, -1} == set(exact(problem).F[:, 0])
    bound = lower_bound(problem)
    assert is_bound(bound, exact(problem), "loss", 1) and n - n // 3 in bound["k"].tolist()


# Candidate by candidate

GENERIC: dict[str, dict[str, Any]] = {
    "class size": {"objectives": [KAnonymity(), AverageClassSize()]},
    "discernibility": {"objectives": [KAnonymity(), Discernibility(star=True), GeneralLoss()]},
    "entropy": {"objectives": [NonUniformEntropy(), KAnonymity()]},
    "geometric": {"objectives": [KAnonymity(), GeneralLoss(aggregate="geometric")]},
    "two losses": {"objectives": [KAnonymity(), GeneralLoss(), Transparency()]},
    "before": {"objectives": [KAnonymity(stage="before"), GeneralLoss()]},
    "loss before": {"objectives": [KAnonymity(), GeneralLoss(stage="before")]},
    "at most k": {"constraints": [KAnonymity() <= 4]},
    "loss limit": {"constraints": [GeneralLoss() <= 0.6]},
    "diversity": {"constraints": [FrequencyDiversity() >= 1.5]},
    "entropy diversity": {"constraints": [EntropyDiversity() >= 1.2]},
    "closeness": {"constraints": [TCloseness(distance="equal") <= 0.4]},
    "k before": {"constraints": [KAnonymity(stage="before") >= 2]},
    "least suppression": {"constraints": [SuppressedShare() >= 0.1]},
}
POLICIES = {
    "none": {},
    "threshold": {"max_suppression": 0.4},
    "budget": {"suppression": pm.Budget(0.3)},
    "below": {"suppression": pm.BelowThreshold(2)},
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", [*GENERIC, "plain"])
def test_what_the_sweep_does_not_know_is_evaluated(kind: str, policy: str) -> None:
    for seed in range(5000, 5005):
        subject = {"subject": "who"} if seed % 3 == 2 else {}
        table, _, _ = case(seed, qis=(2, 3), sensitive="ill", **subject)
        problem = Levels(table, **GENERIC.get(kind, {}), **POLICIES[policy])
        assert points_of(exact_or_none(problem)) == one_by_one(problem), seed


def test_persons_instead_of_records() -> None:
    for seed in range(5100, 5115):
        table, _, _ = case(seed, subject="who")
        for problem in (
            LevelsAndSuppression(table, min_k=1),
            Levels(table, max_suppression=0.5),
            Levels(table),
        ):
            assert points_of(exact_or_none(problem)) == one_by_one(problem), seed


def test_more_nodes_than_one_chunk_of_candidates() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({c: rng.integers(10000, 13000, 12).astype(str) for c in "abcde"})
    table = Table(frame, quasi_identifiers={c: pm.Hierarchy.masking() for c in "abcde"})
    problem = Levels(table, objectives=[KAnonymity(), AverageClassSize()])
    front = exact(problem)
    assert front.run["nodes"] == front.run["visited"] == 6**5 > 4096
    assert points_of(front) == one_by_one(problem)


@pytest.mark.parametrize("n", first_in_make_test([300, 2300]))
@pytest.mark.parametrize("limit", [0.1, 1.0])
def test_more_keys_than_cells_are_hashed(n: int, limit: float) -> None:
    """Five columns that tell all records apart: 2300² keys are more than a table of cells holds."""
    table = wide_table(n)
    front = exact(Levels(table, max_suppression=limit))
    assert best_of(front.F) == by_numpy(table, limit)
    assert front.run["visited"] + front.run["left_out_by_bounds"] == front.run["nodes"]


# What does not fit the time, and what bounds it


KINDS: dict[str, Callable[[pm.Table, float], pm.AnonymizationProblem]] = {
    "loss": lambda table, limit: Levels(table, max_suppression=limit),
    "loss without suppression": lambda table, limit: Levels(table),
    "transparency": lambda table, limit: LevelsAndSuppression(table, min_k=1),
    "loss for k = 2": lambda table, limit: Levels(
        table, max_suppression=limit, constraints=[KAnonymity() >= 2]
    ),
}


@pytest.mark.parametrize("steps", first_in_make_test([1, 0, 2, 3], 2))
@pytest.mark.parametrize("kind", list(KINDS)[:4])
def test_an_early_end_gives_a_bound(kind: str, steps: int, monkeypatch: Any) -> None:
    name, sign = ("transparency", -1) if kind == "transparency" else ("loss", 1)
    stopped = 0
    for seed in range(6000, 6016):
        table, _, rng = case(seed, qis=(3,))
        problem = KINDS[kind](table, float(rng.choice(LIMITS)))
        whole = exact_or_none(problem)
        if whole is None:
            continue
        with monkeypatch.context() as patched:
            patched.setattr("privmoo.exact.stopwatch.time", Clock())
            patched.setattr(
                "privmoo.exact.russian_dolls._FEW", 0
            )  # small ones end at once otherwise
            front = exact_or_none(problem, seconds=steps + 0.5)
        if front is None:  # nothing feasible was met in time
            continue
        if front.proven:
            assert points_of(front) == points_of(whole)
            continue
        stopped += 1
        bound = pd.DataFrame(front.run["bound"], columns=["k", name])
        assert is_bound(bound, whole, name, sign) and is_bound(bound, front, name, sign), seed
        optimal = points_of(whole)
        for i in front.run["proven_solutions"]:
            assert points_of(front[i : i + 1]) <= optimal, seed
        assert all((f + 1e-9 >= whole.F).all(axis=1).any() for f in front.F), seed
    assert stopped > 3


def test_no_time_at_all_is_not_proven_but_bounded() -> None:
    table, _, _ = case(3, qis=(3,))
    for kind in KINDS.values():
        front = exact_front(kind(table, 0.5), seconds=0, progress=False)
        assert not front.proven and front.run["proven"] is False
        assert front.run["bound"] and front.run["visited"] == 0


def test_only_optimal_solutions_are_called_so_with_three_objectives(monkeypatch: Any) -> None:
    for seed, steps in itertools.product(range(6100, 6130), (1.5, 2.5, 5.5)):
        table, _, _ = case(seed, qis=(3,), most=30)
        objectives = [KAnonymity(), GeneralLoss(), SuppressedShare()]
        problem = Levels(table, objectives=objectives, max_suppression=1.0)
        with monkeypatch.context() as patched:
            patched.setattr("privmoo.exact.stopwatch.time", Clock())
            patched.setattr(
                "privmoo.exact.russian_dolls._FEW", 0
            )  # small ones end at once otherwise
            front = exact_front(problem, seconds=steps, progress=False)
        if not front.proven:
            optimal = points_of(exact(problem))
            sure = front.run.get("proven_solutions", [])
            assert all(points_of(front[i : i + 1]) <= optimal for i in sure), seed


def test_lower_bounds_hold_and_one_part_is_exact() -> None:
    for seed in range(6200, 6212):
        table, _, rng = case(seed, qis=(2, 3))
        for kind, make in KINDS.items():
            name, sign = ("transparency", -1) if kind == "transparency" else ("loss", 1)
            problem = make(table, float(rng.choice(LIMITS)))
            front = exact_or_none(problem)
            if front is None:
                continue
            for most in (1, 4, 12):
                assert is_bound(lower_bound(problem, most_nodes=most), front, name, sign), seed
            whole = lower_bound(problem)
            assert is_bound(whole, front, name, sign)
            points = np.column_stack([-whole["k"], sign * whole[name]])
            assert best_of(points) == best_of(
                np.column_stack([-front.column("k"), sign * front.column(name)])
            )


def test_lattices_that_were_refused_are_proven_or_bounded() -> None:
    problem = Levels(huge_table(), max_suppression=0.1)
    cost = lattice_cost(problem)
    assert cost["nodes"] == 7**16 and cost["seconds"] > 1e6
    front = exact_front(problem, seconds=60, progress=False)
    assert front.proven or front.gap().to_frame()["gap"].ge(0).all()
    for own in (Levels(case(1)[0]), LevelsAndSuppression(case(1)[0], min_k=1)):
        cost = lattice_cost(own)
        assert 0 < cost["seconds"] < 1 and cost["nodes"] == own.space.n_nodes


@pytest.mark.parametrize("seconds", ["soon", True, float("nan")])
def test_a_time_that_is_no_number(seconds: Any) -> None:
    with pytest.raises(ProblemError, match=r"^seconds: must be a number, got "):
        exact_front(Levels(case(1)[0]), seconds=seconds, progress=False)


def test_a_few_seconds_of_a_huge_lattice() -> None:
    problem = Levels(huge_table(), max_suppression=0.1)
    front = exact_front(problem, seconds=0.0, progress=False)
    assert not front.proven and front.run["visited"] < front.run["nodes"]
    assert is_bound(pd.DataFrame(front.run["bound"], columns=["k", "loss"]), front, "loss", 1)
    assert front.run["seconds"] < 20


def test_what_has_no_lattice_and_no_bound() -> None:
    table, _, _ = case(3)
    with pytest.raises(
        ProblemError, match=r"Cuts does not search levels; use a problem such as Levels$"
    ):
        lattice_cost(Cuts(table))
    other = Levels(table, objectives=[KAnonymity(), AverageClassSize()])
    with pytest.raises(
        ProblemError, match=r"^lower_bound: a bound is known for k against general loss"
    ):
        lower_bound(other)


# The Adult table of the ARX project

PINNED = {0: (0.603685, 0.635544), 0.02: (0.219404, 0.357482), 0.1: (0.166508, 0.227700)}


@pytest.fixture(scope="module")
def adult() -> Table:
    folder = SHARED / "arx_adult"
    if not folder.is_dir():
        pytest.skip("needs the evaluation data in ../shared/data")
    return pm.datasets.load_arx(folder)


@pytest.mark.parametrize("limit", PINNED)
def test_adult(adult: Table, limit: float) -> None:
    front = exact(Levels(adult, max_suppression=limit))
    assert front.run["nodes"] == 12_960
    assert len(front) == {0: 11, 0.02: 61, 0.1: 94}[limit]
    least = [front.where(min_k=k).column("loss").min() for k in (2, 5)]
    assert np.round(least, 6).tolist() == list(PINNED[limit])


@pytest.mark.parametrize(
    ("measure", "size", "entropy", "limit", "value", "suppressed"),
    [
        # Optima that ARX prints; a group of x, x, y, y, z, z has ℓ = 3, and rounding must not refuse it.
        (NonUniformEntropy(), 1, 5, 0.04, 228878.2039109517, 753),
        (NonUniformEntropy(), 1, 5, 0.0, 324620.5269918692, 0),
        (GeneralLoss(), 5, 3, 0.1, None, 2036),
    ],
)
def test_optima_of_arx_with_entropy_diversity(
    measure: Measure, size: int, entropy: int, limit: float, value: float | None, suppressed: int
) -> None:
    folder = SHARED / "arx_adult"
    if not folder.is_dir():
        pytest.skip("needs the evaluation data in ../shared/data")
    problem = Levels(
        pm.datasets.load_arx(folder, sensitive="occupation"),
        objectives=[measure, SuppressedShare()],
        constraints=[SuppressedShare() <= limit],
        suppression=ViolatingGroups(KAnonymity() >= size, EntropyDiversity() >= entropy),
    )
    best = exact(problem).best(measure.name)
    assert best.values["records_suppressed"] == suppressed
    assert value is None or best.values[measure.name] == pytest.approx(value, rel=1e-12)


@pytest.fixture(scope="module")
def every(adult: Table) -> Front:
    objectives = [KAnonymity(), GeneralLoss(), SuppressedShare()]
    return exact(Levels(adult, objectives=objectives, max_suppression=1))


def test_adult_with_all_limits_at_once(adult: Table, every: Front) -> None:
    """Nothing is left out by bounds where suppression is an objective, so this checks the bounds."""
    for limit in (*PINNED, 1):
        within = every.where(max_suppression=limit)
        least: dict[float, float] = {}
        for k, loss in zip(within.column("k"), within.column("loss"), strict=True):
            least[-k] = min(loss, least.get(-k, math.inf))
        front = exact(Levels(adult, max_suppression=limit))
        assert best_of(front.F) == best_of(list(least.items()))


def test_every_node_is_counted_once(every: Front) -> None:
    assert every.run["visited"] + every.run["left_out_by_bounds"] == every.run["nodes"]


@pytest.mark.slow
def test_adult_node_by_node(adult: Table) -> None:
    problem = Levels(adult, max_suppression=1)
    space, n = problem.space, adult.n_records
    ranges = [range(a, b + 1) for a, b in zip(space.lowest, space.highest, strict=True)]
    nodes = np.array(list(itertools.product(*ranges)))
    limits = (0, 0.02, 0.1, 1)
    least: dict[float, dict[float, float]] = {limit: {} for limit in limits}
    for node in nodes:
        groups = problem.evaluator.engine.groups(Candidates(blocks=space.blocks(node[None])))[0]
        own = slice(groups.starts[0], groups.stops[0])
        sizes, losses = groups.sizes[own], groups.losses[own]
        for size in np.unique(sizes):
            kept = sizes >= size
            gone = int(sizes[~kept].sum())
            loss = ((sizes * losses)[kept].sum() + gone) / n
            for limit in limits:
                if gone <= limit * n:
                    least[limit][size] = min(loss, least[limit].get(size, math.inf))
    for limit in limits:
        want = best_of([(-k, loss) for k, loss in least[limit].items()])
        assert best_of(exact(Levels(adult, max_suppression=limit)).F) == want


def test_the_bar_is_shown_in_terminals_only(capsys: pytest.CaptureFixture[str]) -> None:
    exact_front(Levels(case(1)[0]), progress=True)
    assert capsys.readouterr().err == ""
