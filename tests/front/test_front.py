"""Front and Solution: what is on it, choosing, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from privmoo._util.dominance import share_of_box
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.front.front import Front
from privmoo.hierarchy import Hierarchy
from privmoo.measures import (
    GeneralizationLoss,
    GeneralLoss,
    KAnonymity,
    measure,
)
from privmoo.problems import Cuts
from privmoo.search.optimization import optimize
from privmoo.suppression import BelowThreshold, Budget, NoSuppression
from tests.scenery.fronts import EVERY, FRONT, PROBLEM, TABLE, THREE, toy

# Tests release one table many times, which a publisher should not.
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


def dominated(a: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    return any((b <= a).all() and (b < a).any() for b in others)


@pytest.mark.parametrize("front", [FRONT, THREE])
def test_only_non_dominated_distinct_rows_sorted(front: Front) -> None:
    every = PROBLEM.minimised(
        np.column_stack([PROBLEM.evaluate_measures(EVERY)[n] for n in ("k", "loss")])
    )
    if front is FRONT:
        expected = {tuple(row) for row in every.tolist() if not dominated(np.array(row), every)}
        assert {tuple(row) for row in front.F.tolist()} == expected
    assert len({tuple(row) for row in front.F.tolist()}) == len(front) > 5
    assert not any(dominated(row, front.F) for row in front.F)
    assert (np.diff(front.column("k")) >= 0).all()


def test_infeasible_rows_are_left_out() -> None:
    problem = Cuts(TABLE, constraints=(KAnonymity() >= 4,), suppression=Budget(0.1))
    assert (Front.of(problem, EVERY).column("k") >= 4).all()
    with pytest.raises(ProblemError, match="nothing feasible among 1 candidates"):
        Front.of(problem, np.ones((1, 12), dtype=bool))
    with pytest.raises(ProblemError, match="no candidates"):
        Front.of(problem, [])


def test_it_is_a_sequence_and_immutable() -> None:
    assert FRONT[0] == FRONT[-len(FRONT)] and FRONT[-1] == list(FRONT)[-1]
    assert [s.k for s in FRONT[2:5]] == FRONT.column("k")[2:5].tolist()
    assert isinstance(FRONT[1:1], Front) and len(FRONT[1:1]) == 0
    with pytest.raises(IndexError):
        FRONT[len(FRONT)]
    with pytest.raises(AttributeError):
        FRONT.values = FRONT.values * 2  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        FRONT.values[0, 0] = 7
    with pytest.raises(TypeError):
        FRONT.run["seed"] = 7  # type: ignore[index]
    again = Front.of(PROBLEM, EVERY)
    assert again == FRONT and again != FRONT[1:] and again != 7


def test_frame_in_natural_sense() -> None:
    frame = FRONT.to_frame()
    assert list(frame)[:2] == ["k", "loss"] and list(frame)[-1] == "records_suppressed"
    assert frame["k"].min() >= 1 and frame["loss"].between(0, 1).all()
    measured = PROBLEM.evaluate_measures(FRONT.X)
    for name in frame:
        assert np.array_equal(frame[name], measured[str(name)])


def test_where_and_best_against_the_definition() -> None:
    frame = FRONT.to_frame()
    chosen = FRONT.where(max_loss=0.5, min_k=3)
    assert len(chosen) == ((frame["loss"] <= 0.5) & (frame["k"] >= 3)).sum()
    assert FRONT.where(max_loss=0.5).best("k").k == frame["k"][frame["loss"] <= 0.5].max()
    assert FRONT.best("loss").loss == frame["loss"].min()
    least = FRONT.best("records_suppressed")
    ties = frame[frame["records_suppressed"] == frame["records_suppressed"].min()]
    assert least.k == ties["k"].max()
    assert len(FRONT.where(max_records_suppressed=0)) == (frame["records_suppressed"] == 0).sum()


def test_limits_hold_up_to_rounding() -> None:
    value = float(FRONT.column("loss")[3])
    assert len(FRONT.where(max_loss=value - 1e-16)) == len(FRONT.where(max_loss=value)) == 4


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: FRONT.where(max_los=0.1), "did you mean 'max_loss'"),
        (lambda: FRONT.where(k=3), "recorded are k, loss"),
        (lambda: FRONT.where(min_k=1000), r"no solution .* k ≥ 1,000; k goes from 2 to 150"),
        (lambda: FRONT.where(max_loss=float("nan")), "must be a number"),
        (lambda: FRONT[:0].where(min_k=1), "the front is empty"),
        (lambda: FRONT.best("los"), "did you mean 'loss'"),
        (lambda: FRONT[:0].best("k"), "the front is empty"),
        (lambda: FRONT[:0].knee(), "the front is empty"),
        (lambda: FRONT.compromise({"kk": 1}), "did you mean 'k'"),
        (lambda: FRONT.compromise({"k": -1}), "must be 0 or more"),
        (lambda: FRONT.compromise({"k": 0}), "weight above 0"),
        (lambda: FRONT.best_within(), "give a limit"),
        (lambda: FRONT.best_within(max_loss=1, maximise="l2"), "not recorded"),
        (lambda: FRONT.best_within(max_loss=1, maximise=()), "name at least one"),
        (lambda: FRONT.cheapest_with(), "give a demand"),
        (lambda: FRONT.hypervolume({"los": 1}), "did you mean 'loss'"),
        (lambda: FRONT.merge(THREE), "different problems"),
    ],
)
def test_mistakes_are_told_in_one_sentence(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ProblemError, match=sentence) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_the_knee_is_where_it_is_seen() -> None:
    assert toy([1, 2, 9, 10], [0.0, 0.1, 0.2, 1.0]).knee().k == 9
    # Over more than two decades k counts by its logarithm: 10 is half way up.
    assert toy([1, 10, 20, 1000], [0.0, 0.1, 0.5, 1.0]).knee().k == 10
    assert toy([5], [0.5]).knee().k == 5


def test_compromise_follows_the_weights() -> None:
    front = toy([1, 4, 7, 10], [0.0, 0.1, 0.5, 1.0])
    assert front.compromise({"k": 1}).k == 10 and front.compromise({"loss": 1}).k == 1
    heavier = [front.compromise({"k": w, "loss": 1}).k for w in (0.01, 0.5, 1, 5, 100)]
    assert heavier == sorted(heavier) and len(set(heavier)) > 2
    assert front.compromise() == front.compromise({"k": 2, "loss": 2})


def test_hypervolume_is_a_share_of_the_box() -> None:
    assert toy([1000], [0.0]).hypervolume() == 1.0
    front = toy([1, 500.5], [0.0, 0.5])
    assert front.hypervolume() == pytest.approx(0.25)
    assert front.hypervolume({"loss": 0.5}) == 0.0
    assert front.hypervolume([1, 1]) == front.hypervolume({"k": 1, "loss": 1})
    signs = np.array([-1, 1])
    box = share_of_box(FRONT.F, np.array([-150.0, 0.0]), PROBLEM.reference_point)
    assert FRONT.hypervolume() == pytest.approx(box) and (FRONT.F * signs >= 0).all()


def test_merge_keeps_the_best_of_both() -> None:
    halves = FRONT[::2].merge(FRONT[1::2], FRONT[:3])
    assert halves == FRONT
    worse = Front.of(PROBLEM, EVERY[:40])
    assert worse.merge(FRONT).hypervolume() == FRONT.hypervolume() > worse.hypervolume()


# Solutions


def test_a_solution_explains_itself() -> None:
    solution = FRONT.where(max_loss=0.4).best("k")
    text = solution.explain()
    for part in ("What is published", "age: ", "k-anonymity: ", "Loss per attribute", "QI-groups"):
        assert part in text
    suppressed = int(solution.records_suppressed)
    assert f"records suppressed: {suppressed} of 150" in text
    assert solution.values == {**FRONT.to_frame().loc[solution.index].to_dict()}
    assert "k" in dir(solution) and repr(solution).startswith(f"Solution {solution.index} of")
    with pytest.raises(AttributeError, match="did you mean 'loss'"):
        _ = solution.los


def test_numbers_of_groups_are_written_out() -> None:
    ages = np.repeat([20, 40, 60], [1500, 12_345, 30_162])
    problem = Cuts(
        Table(pd.DataFrame({"age": ages}), quasi_identifiers={"age": Hierarchy.ordered()})
    )
    apart, half, whole = Front.of(problem, [[0, 0], [0, 1], [1, 1]])
    for solution, expected in (
        (whole, "44,007, 44,007, 44,007"),
        (half, "13,845, 22,003.5, 30,162"),
        (apart, "1,500, 12,345, 30,162"),
    ):
        assert f"smallest, median, largest: {expected}\n" in solution.explain()
    assert repr(whole.release()) == "Release of 44,007 records in 1 QI-group, k = 44,007, loss = 1"


def test_losses_of_attributes_add_up_to_the_loss() -> None:
    for problem in (
        PROBLEM,
        Cuts(TABLE, suppression=NoSuppression()),
        Cuts(TABLE, suppression=BelowThreshold(4)),
    ):
        for solution in Front.of(problem, EVERY)[::3]:
            assert solution.loss_per_attribute().mean() == pytest.approx(solution.loss)


def test_group_sizes_count_every_released_record() -> None:
    for solution in FRONT[::2]:
        by_size = solution.group_sizes()
        released = TABLE.n_records - solution.records_suppressed
        assert by_size["records"].sum() == released
        assert (by_size["records"] == by_size["groups"] * by_size.index).all()
        assert by_size.index.min() == solution.k == solution.groups().sizes.min()


def test_a_release_confirms_the_solution_and_names_the_search() -> None:
    front = optimize(Cuts(TABLE, suppression=Budget(0.1)), budget=8, seed=3, progress=False)
    solution = front.where(max_loss=0.5).best("k")
    first, second = solution.release(seed=1), solution.release(seed=1)
    assert first.frame.equals(second.frame)
    assert len(first) == TABLE.n_records - solution.records_suppressed
    assert {c.measure: c.claimed for c in first.certificate.claims}["k"] == solution.k
    method = first.certificate.method
    assert (method["problem"], method["algorithm"], method["seed"]) == ("Cuts", "NSGA2", 3)


# Showing


def test_everything_shown_is_escaped() -> None:
    evil = "<script>alert('&')</script>"
    df = pd.DataFrame({evil: [f"{evil}{i % 4}" for i in range(20)]})
    table = Table(df, quasi_identifiers={evil: Hierarchy.ordered()})

    @measure(sense="min", bounds=(0, 1), name=evil)
    def evil_measure(groups: Any) -> float:
        return 0.5

    problem = Cuts(table, objectives=(KAnonymity(), GeneralLoss()), extras=(evil_measure,))
    front = Front.of(problem, [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    for shown in (front._repr_html_(), front[0]._repr_html_()):
        assert "&lt;script&gt;" in shown and "<script" not in shown
    assert "data:image/png;base64," in front._repr_html_()


def test_reprs() -> None:
    assert repr(FRONT).startswith(
        f"Front of {len(FRONT)} solutions: k 2 … 150, loss 1.333 % … 100 %"
    )
    assert repr(FRONT[:0]) == "Front of 0 solutions" and FRONT[:0]._repr_html_()
    shown = THREE._repr_html_()
    assert shown.count("<tr>") == 1 + min(20, len(THREE))
    assert f"20 of {len(THREE)} solutions shown" in shown
    front = optimize(Cuts(TABLE), budget=2, seed=5, progress=False)
    assert "Cuts by NSGA2, seed 5, 2 generations" in repr(front)
    one = Front.of(Cuts(TABLE, objectives=(GeneralizationLoss(),)), EVERY)
    assert "<img" in one._repr_html_() and "<table>" in one._repr_html_()
