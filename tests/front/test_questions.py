"""A publisher's questions: the best within limits, the runner-up, what demands cost, flat regions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmoo.errors import ProblemError
from privmoo.front.flat_regions import flat_regions
from privmoo.front.front import Front
from tests.scenery.fronts import FRONT, THREE, toy


def test_the_answer_names_the_runner_up_just_outside() -> None:
    front = toy([3, 14, 17, 36], [0.1, 0.249, 0.26, 0.30])
    answer = front.best_within(max_loss=0.25, maximise="k")
    assert str(answer) == "k = 14 at 24.9 % loss; allowing 26 % loss would give k = 17"
    assert answer and answer.solution is not None and answer.solution.k == 14
    assert answer.runners_up["max_loss"].k == 17
    assert str(front.best_within(max_loss=0.5)) == "k = 36 at 30 % loss"
    nothing = front.best_within(max_loss=0.01)
    assert not nothing and nothing.solution is None
    assert str(nothing) == (
        "not possible: no solution has loss ≤ 1 %; the closest has 10 % loss and k = 3"
    )
    assert "the front is empty" in str(front[:0].best_within(max_loss=0.5))


def test_several_limits_and_several_aims() -> None:
    front = toy([2, 5, 5, 9], [0.1, 0.2, 0.25, 0.3], l=[4, 3, 3.5, 2])
    answer = front.best_within(max_loss=0.2, min_l=3, maximise="k")
    assert str(answer) == "k = 5 at 20 % loss and ℓ = 3"
    assert str(front.best_within(max_loss=0.3, min_l=3, maximise="k")).endswith(
        "allowing ℓ = 2 would give k = 9"
    )
    both = front.best_within(max_loss=0.3, maximise=("k", "l"))
    assert str(both) == "k = 5 and ℓ = 3.5 at 25 % loss (or k = 9 and ℓ = 2 or k = 2 and ℓ = 4)"


def test_can_two_properties_be_combined() -> None:
    front = toy([2, 5, 5, 9], [0.1, 0.2, 0.25, 0.3], l=[4, 3, 3.5, 2])
    answer = front.cheapest_with(min_k=5, min_l=3.2)
    assert str(answer) == (
        "possible: k = 5 and ℓ = 3.5 at 25 % loss; with k = 2 it would be 10 % loss; "
        "with ℓ = 3 it would be 20 % loss"
    )
    impossible = front.cheapest_with(min_k=9, min_l=4)
    assert not impossible and "no solution has k ≥ 9 and ℓ ≥ 4" in str(impossible)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda f: f.where(max_loss="0.3"), "where: max_loss must be a number, got '0.3'"),
        (lambda f: f.where(max_loss=True), "where: max_loss must be a number, got True"),
        (lambda f: f.where(max_loss=float("nan")), "where: max_loss must be a number, got nan"),
        (
            lambda f: f.where(max_loss=30),
            "where: max_loss = 30 is above the largest possible value 1; did you mean 0.3?",
        ),
        (
            lambda f: f.best_within(max_loss=300),
            "best_within: max_loss = 300 is above the largest possible value 1",
        ),
        (
            lambda f: f.where(max_foo=5),
            "where: 'max_foo' is not max_ or min_ and a recorded quantity; recorded are k, loss, "
            "records_suppressed",
        ),
        (
            lambda f: f.cheapest_with(k=5),
            "cheapest_with: 'k' is not max_ or min_ and a recorded quantity; recorded are k, loss, "
            "records_suppressed; did you mean 'min_k'?",
        ),
        (
            lambda f: f.best_within(max_loss=0.5, maximise="loss"),
            "maximise: less of 'loss' is better; limit it instead, such as max_loss=…, or ask "
            "cheapest_with(minimise='loss', …)",
        ),
        (
            lambda f: f.best_within(max_loss=0.5, maximise=("k", "loss")),
            "maximise: less of 'loss' is better; limit it instead, such as max_loss=…, or ask "
            "cheapest_with(minimise='loss', …)",
        ),
        (
            lambda f: f.cheapest_with(min_k=5, minimise="k"),
            "minimise: more of 'k' is better; limit it instead, such as min_k=…, or ask "
            "best_within(maximise='k', …)",
        ),
        (lambda f: f.merge(3), "merge: takes fronts, got int"),
        (
            lambda f: f.hypervolume(ref=[1]),
            "ref: must have one value for each of k, loss, got [1]",
        ),
        (
            lambda f: f.hypervolume(ref={"k": "x"}),
            "ref: must be of finite numbers, got {'k': 'x'}",
        ),
    ],
)
def test_questions_that_make_no_sense(ask: Callable[[Front], object], sentence: str) -> None:
    with pytest.raises(ProblemError) as raised:
        ask(toy([2, 5, 9], [0.1, 0.2, 0.3]))
    assert str(raised.value) == sentence


def test_limits_at_and_beyond_the_ends_are_allowed() -> None:
    front = toy([2, 5, 9], [0.1, 0.2, 0.3])
    assert len(front.where(max_loss=1)) == len(front.where(max_loss=np.float32(1))) == 3
    assert len(front.where(max_loss=float("inf"), max_k=10**6, min_loss=-1)) == 3
    with pytest.raises(IndexError, match="there is no solution 999; it has 3, counted from 0"):
        front[999]


def test_the_hypervolume_of_a_box_without_width_is_nothing() -> None:
    front = toy([2, 5, 1000], [0.0, 0.2, 1.0])
    assert front.hypervolume(ref=[1000, 1]) == front.hypervolume(ref={"loss": 0}) == 0
    assert front.hypervolume(ref={"loss": -1}) == 0 < front.hypervolume()


def test_the_answer_on_a_real_front_is_the_best_there_is() -> None:
    frame = THREE.to_frame()
    for bound in (0.2, 0.4, 0.6):
        answer = THREE.best_within(max_loss=bound, maximise="l")
        inside = frame[frame["loss"] <= bound]
        assert answer.solution is not None and answer.solution.l == inside["l"].max()
        runner = answer.runners_up.get("max_loss")
        better = frame[(frame["loss"] > bound) & (frame["l"] > answer.solution.l)]
        assert (runner is None) == better.empty
        if runner is not None:
            assert runner.loss == better["loss"].min()


def test_flat_regions_are_where_k_rises_steeply() -> None:
    front = toy([1, 2, 3, 50, 51, 52, 53], [0.0, 0.3, 0.31, 0.32, 0.6, 0.8, 1.0])
    regions = front.flat_regions()
    assert regions[["k_from", "k_to"]].to_numpy().tolist() == [[3, 50]]
    assert regions["solution_from"].tolist() == [2] and regions["steepness"][0] > 50
    assert len(front.flat_regions(steepness=100)) == 0
    assert len(toy([5], [0.5]).flat_regions()) == len(FRONT[:0].flat_regions()) == 0
    real = FRONT.flat_regions()
    assert (real["steepness"] >= 2).all() and (real["k_to"] > real["k_from"]).all()
    assert (real["solution_from"].to_numpy()[1:] >= real["solution_to"].to_numpy()[:-1]).all()


@settings(max_examples=60)
@given(
    steps=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12),
    steepness=st.sampled_from([1.0, 2.0, 3.0]),
)
def test_flat_regions_cannot_be_extended(steps: list[tuple[int, int]], steepness: float) -> None:
    k = np.cumsum([1, *(a for a, _ in steps)]).astype(float)
    loss = np.cumsum([0, *(b for _, b in steps)]) / 200
    front = toy(k.tolist(), loss.tolist())
    regions = flat_regions(front, steepness=steepness, min_gain=0.0)
    logs = np.log10(k) if k[-1] > 100 else k
    profit = (logs - logs[0]) / np.ptp(logs) - steepness * loss / loss[-1]
    for region in regions.itertuples():
        i, j = int(region.solution_from), int(region.solution_to)
        inside = profit[i : j + 1]
        assert inside.min() == pytest.approx(profit[i]) and inside.max() == pytest.approx(profit[j])
    best = max(profit[j] - profit[i] for i in range(len(k)) for j in range(i, len(k)))
    listed = [
        profit[int(r.solution_to)] - profit[int(r.solution_from)] for r in regions.itertuples()
    ]
    assert max(listed, default=0.0) == pytest.approx(max(best, 0.0), abs=1e-9)
