"""Help with deciding: wishes, pseudo-weights, knees by trade-off, marginal rates, advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.explorer.data import gather
from privmoo.front.front import Front
from privmoo.front.knees import marked_knee
from privmoo.plot import picture_of
from tests.scenery.fronts import FRONT, THREE, toy

STEPS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=0, max_size=12)


def staircase(steps: list[tuple[int, int]], unit: float = 1 / 200) -> Front:
    """A front that goes up by whole steps of k and loss."""
    k = np.cumsum([1, *(a for a, _ in steps)]).astype(float)
    loss = np.cumsum([0, *(b for _, b in steps)]) * unit
    return toy(k.tolist(), loss.tolist())


def three(seed: int, n: int = 25) -> Front:
    """A random front of three objectives; nothing on it is dominated."""
    rng = np.random.default_rng(seed)
    F = rng.integers(1, 12, (n, 3)).astype(float)
    F = np.unique(F, axis=0)
    better = [not any((g <= f).all() and (g < f).any() for g in F) for f in F]
    F = F[better]
    return toy((30 - F[:, 0]).tolist(), (F[:, 1] / 20).tolist(), l=(13 - F[:, 2]).tolist())


def box(front: Front) -> NDArray[np.float64]:
    """Objectives from 0 to 1, one loop at a time."""
    result = np.zeros_like(front.F)
    for j, q in enumerate(front.objectives):
        f = front.F[:, j]
        if q.logarithmic(np.abs(f)):
            f = -np.log10(-f)
        for i in range(len(f)):
            result[i, j] = (f[i] - f.min()) / (f.max() - f.min()) if f.max() > f.min() else 0
    return result


# Wishes


def test_a_wish_is_answered_in_words() -> None:
    front = toy([3, 14, 17, 36], [0.1, 0.249, 0.26, 0.30])
    assert str(front.near(k=14, loss=0.25)) == "reached: k = 14 and 24.9 % loss"
    missed = front.near(k=20, loss=0.25)
    assert str(missed) == (
        "not reached: the closest is k = 17 (3 too low) and 26 % loss (1 point too high); with k ≥ 20 it "
        "would be k = 36 and 30 % loss; with loss ≤ 25 % it would be k = 14 and 24.9 % loss"
    )
    assert missed.solution == front[2]
    assert {name: s.k for name, s in missed.runners_up.items()} == {"k": 36, "loss": 14}
    # Nobody has k = 50, so nobody can keep it.
    far = front.near(k=50, loss=0.31)
    assert str(far) == "not reached: the closest is k = 36 (14 too low) and 30 % loss"


def test_what_is_not_wished_for_is_as_good_as_the_wishes_allow() -> None:
    assert FRONT.near(k=5).solution == FRONT.cheapest_with(min_k=5).solution
    assert FRONT.near(loss=0.3).solution == FRONT.best_within(max_loss=0.3).solution
    frame = THREE.to_frame()
    both = THREE.near(k=5, l=1.5).solution
    allowed = frame[(frame["k"] >= 5) & (frame["l"] >= 1.5)]
    assert both is not None and both.loss == allowed["loss"].min()
    diverse = THREE.near(k=5, loss=0.4).solution
    allowed = frame[(frame["k"] >= 5) & (frame["loss"] <= 0.4)]
    assert diverse is not None and diverse.l == allowed["l"].max()
    # Nothing has them: the closest in what was wished for.
    far = THREE.near(k=150, l=9)
    assert far.solution is not None and far.solution.l == frame["l"].max()
    assert set(far.runners_up) == {"k"}


@settings(max_examples=60)
@given(steps=STEPS, at=st.integers(0, 12))
def test_a_wish_on_the_front_returns_that_solution(steps: list[tuple[int, int]], at: int) -> None:
    front = staircase(steps)
    own = front[at % len(front)]
    answer = front.near(k=own.k, loss=own.loss)
    assert answer.solution == own and str(answer).startswith("reached: ")


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_a_wish_on_a_front_of_three_returns_that_solution(seed: int) -> None:
    front = three(seed)
    for own in front:
        assert front.near(k=own.k, l=own.l, loss=own.loss).solution == own


@settings(max_examples=60)
@given(steps=STEPS, k=st.integers(0, 130), loss=st.integers(0, 130))
def test_near_is_the_least_achievement(steps: list[tuple[int, int]], k: int, loss: int) -> None:
    front = staircase(steps)
    chosen = front.near(k=k, loss=loss / 200).solution
    assert chosen is not None
    ks, losses = front.column("k"), front.column("loss")
    logarithmic = ks.max() / ks.min() > 100
    axis: Callable[[Any], Any] = np.log10 if logarithmic else np.asarray
    wished = axis(max(k, ks.min() / 1000)) if logarithmic else k
    spans = [np.ptp(axis(ks)) or 1, np.ptp(losses) or 1]
    lacks = [max((wished - axis(s.k)) / spans[0], (s.loss - loss / 200) / spans[1]) for s in front]
    assert lacks[chosen.index] == pytest.approx(min(lacks))
    reachable = any(s.k >= k and s.loss <= loss / 200 + 1e-12 for s in front)
    assert str(front.near(k=k, loss=loss / 200)).startswith("reached") == reachable


@settings(max_examples=40)
@given(
    steps=STEPS, k=st.integers(1, 90), loss=st.integers(0, 120), factor=st.sampled_from([1, 0.5])
)
def test_near_does_not_depend_on_units_or_order(
    steps: list[tuple[int, int]], k: int, loss: int, factor: float
) -> None:
    front = staircase(steps[:9])
    other = staircase(steps[:9], unit=factor / 200)
    first = front.near(k=k, loss=loss / 200).solution
    second = other.near(loss=factor * loss / 200, k=k).solution
    assert first is not None and second is not None and first.index == second.index


# Pseudo-weights


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_pseudo_weights_add_up_and_follow_the_definition(seed: int) -> None:
    front = three(seed)
    weights = front.pseudo_weights()
    assert np.allclose(weights.sum(axis=1), 1) and (weights >= 0).all().all()
    good = 1 - box(front)
    if (np.ptp(good, axis=0) > 0).all():
        for i, row in enumerate(good):
            assert np.allclose(weights.iloc[i], row / row.sum())
    for solution in front:
        own = weights.loc[solution.index]
        found = front.best_by_weights((7 * own).to_dict())
        assert np.allclose(weights.loc[found.index], own)


def test_weights_lead_from_one_end_to_the_other() -> None:
    assert FRONT.best_by_weights({"loss": 1}) == FRONT.best("loss")
    assert FRONT.best_by_weights({"k": 1}) == FRONT.best("k")
    ks = [FRONT.best_by_weights({"k": w, "loss": 1 - w}).k for w in np.linspace(0, 1, 11)]
    assert ks == sorted(ks) and len(set(ks)) > 4
    assert toy([5], [0.5]).pseudo_weights().to_numpy().tolist() == [[0.5, 0.5]]
    # What does not vary says nothing about a solution.
    flat = toy([2, 5, 9], [0.1, 0.2, 0.3], l=[3, 3, 3])
    assert (flat.pseudo_weights()["l"] == 0).all()


# Knees by trade-off


def worth(front: Front, i: int, neighbours: list[int]) -> float:
    f = box(front)
    ratios = []
    for j in neighbours:
        lost = sum(max(0.0, f[j, m] - f[i, m]) for m in range(f.shape[1]))
        won = sum(max(0.0, f[i, m] - f[j, m]) for m in range(f.shape[1]))
        ratios.append(lost / won if won else np.inf)
    return min(ratios)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), radius=st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_trade_offs_by_one_loop_at_a_time(seed: int, radius: float) -> None:
    front = three(seed)
    f = box(front)
    expected = {}
    for i in range(len(front)):
        away = [max(abs(f[j] - f[i])) for j in range(len(front))]
        near = {j for j in range(len(front)) if j != i and away[j] <= radius}
        for m in range(3):
            better = [j for j in range(len(front)) if f[j, m] < f[i, m]]
            near |= {min(better, key=lambda j: away[j])} if better else set()
        end = any(f[i, m] == 0 and np.ptp(f[:, m]) > 0 for m in range(3))
        if near and not end and (own := worth(front, i, sorted(near))) > 1:
            expected[i] = own
    found = front.high_trade_off(radius=radius)
    assert found["worth"].to_dict() == pytest.approx(expected)
    assert (np.diff(found["worth"]) <= 0).all()
    assert np.array_equal(found["k"], front.column("k")[found.index])


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_if_all_are_neighbours_only_the_knee_is_left(seed: int) -> None:
    front = three(seed)
    found = front.high_trade_off(radius=1.0)
    sums = box(front).sum(axis=1)
    knees = np.flatnonzero(sums <= sums.min() + 1e-9)  # rounding decides between equal ones
    assert front.knee().index in knees and set(found.index) <= set(knees)
    inner = not (box(front)[front.knee().index] == 0).any()
    if len(knees) == 1:
        assert len(found) == (inner and len(front) > 1)


def test_few_solutions_have_no_knees_but_a_bulge() -> None:
    assert len(toy([5], [0.5]).high_trade_off()) == 0
    assert len(toy([5, 6], [0.5, 0.6]).high_trade_off()) == 0
    bulge = toy([1, 9, 10], [0.0, 0.1, 1.0]).high_trade_off()
    assert bulge.index.tolist() == [1]
    # Going up gains 1/9 of k for 9/10 of the loss; going down, 1/10 of the loss for 8/9 of k.
    assert bulge["worth"].tolist() == pytest.approx([min(0.9 * 9, 8 / 9 * 10)])
    assert len(toy([1, 2, 10], [0.0, 0.9, 1.0]).high_trade_off()) == 0
    assert len(FRONT[:0].high_trade_off()) == 0


# Rates


def test_what_the_next_per_cent_buys() -> None:
    front = toy([14, 17, 20, 36, 40], [0.20, 0.204, 0.21, 0.24, 0.2404])
    frame = front.rates()
    assert frame["sentence"].tolist() == [
        "the next 1 point of loss buys k +6: k = 20 at 21 % loss",
        "the next 1 point of loss buys k +3: k = 20 at 21 % loss",
        "the next 1 point of loss buys nothing; 3 points more loss buys k +16: k = 36 at 24 % loss",
        "the next 1 point of loss buys k +4: k = 40 at 24.04 % loss",
    ]
    assert frame["rate"].tolist() == pytest.approx([7.5, 5, 16 / 3, 100])
    assert str(front.next_step(4)) == "more loss buys nothing: k = 40 is the most"
    assert front.next_step(front[0]).solution == front[2] == front.next_step(-5).solution
    part = front.where(min_k=17)
    assert part.next_step(front[1]).solution == front[2]
    assert str(front.next_step(0, step=0.05)).endswith("buys k +26: k = 40 at 24.04 % loss")


def test_rates_the_other_way_round_and_of_solutions_beside_the_pair() -> None:
    front = toy([14, 17, 20], [0.20, 0.25, 0.30], l=[3, 2, 1])
    assert str(front.next_step(2, gain="loss", cost="k")) == (
        "giving up 1 of k buys nothing; 3 less k buys loss −5 points: k = 17 at …"
    ).replace("k = 17 at …", "25 % loss at k = 17")
    beside = toy([14, 17, 20], [0.30, 0.25, 0.30], l=[3, 2, 1])
    assert beside.rates().index.tolist() == [1]
    assert str(beside.next_step(0)) == "k +6 costs nothing in loss: k = 20 at 30 % loss"


@settings(max_examples=60)
@given(steps=STEPS)
def test_rates_reproduce_the_differences(steps: list[tuple[int, int]]) -> None:
    front = staircase(steps)
    frame = front.rates()
    assert len(frame) == len(steps)
    for (solution, row), (up, paid) in zip(frame.iterrows(), steps, strict=True):
        here, there = front[int(str(solution))], front[int(row["next_solution"])]
        assert row["k_step"] == there.k - here.k == up
        assert row["loss_step"] == pytest.approx(paid / 200)
        assert row["rate"] == pytest.approx(up / (paid / 2))
        assert (row["k"], row["loss"]) == (here.k, here.loss)
        reachable = [s for s in front if s.loss <= here.loss + 0.01 + 1e-9]
        best = max(reachable, key=lambda s: s.k)
        answer = front.next_step(here)
        assert answer.sentence == row["sentence"]
        assert answer.solution == (best if best.k > here.k else there)


# Advice


def test_advice_names_what_the_other_questions_find() -> None:
    front = toy([1, 2, 3, 50, 51, 52, 53], [0.0, 0.3, 0.31, 0.32, 0.6, 0.8, 1.0])
    text = front.advice()
    assert text.splitlines()[:4] == [
        "The choices: k ≥ 3 at 31 % loss (solution 2), k ≥ 5 at 32 % loss (solution 3), k ≥ 10 at 32 % "
        "loss (solution 3), k ≥ 20 at 32 % loss (solution 3), k ≥ 50 at 32 % loss (solution 3); begin with "
        "solution 3, k = 50 and 32 % loss.",
        "The range: 7 solutions, from k = 1 at 0 % loss to k = 53 at 100 % loss.",
        "The knee: solution 3, k = 50 and 32 % loss; from there the next 1 point of loss buys nothing; 28 "
        "points more loss buys k +1: k = 51 at 60 % loss.",
        "Much for little: from k = 3 at 31 % loss to k = 50 at 32 % loss.",
    ]
    questions = text.rpartition("To ask: ")[2].removesuffix(".").split(", front.")
    assert len(questions) == 7 and "cheapest_with(min_k=5)" in questions
    for question in questions:
        if "plot" not in question:
            call = question.removeprefix("front.")
            assert eval(f"front.{call}", {"front": front}) is not None  # noqa: S307
    assert "ℓ = " in THREE.advice()


def test_advice_about_little() -> None:
    assert toy([5], [0.5]).advice() == "The range: 1 solution, which has k = 5 at 50 % loss."
    two = toy([5, 9], [0.5, 0.6]).advice()
    assert "begin with solution 0" in two and "knee" not in two and "Much for little" not in two


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda f: f.near(), "near: say what you wish for, such as near(k=20, loss=0.2)"),
        (lambda f: f.near(k="5"), "near: k must be a number, got '5'"),
        (
            lambda f: f.near(k=float("inf")),
            "near: k must be a finite number; leave it out if you have no wish",
        ),
        (
            lambda f: f.near(k=5, loss=20),
            "near: loss = 20 is above the largest possible value 1; did you mean 0.2?",
        ),
        (
            lambda f: f.near(los=0.2),
            "near: 'los' is not recorded in this front; recorded are k, loss, records_suppressed; did "
            "you mean 'loss'?",
        ),
        (lambda f: f[:0].near(k=2), "near: the front is empty"),
        (lambda f: f[:0].pseudo_weights(), "pseudo_weights: the front is empty"),
        (lambda f: f[:0].advice(), "advice: the front is empty"),
        (lambda f: f[:0].rates(), "rates: the front is empty"),
        (
            lambda f: f.best_by_weights({"los": 1}),
            "best_by_weights: 'los' is not one of the objectives k, loss; did you mean 'loss'?",
        ),
        (
            lambda f: f.best_by_weights({}),
            "best_by_weights: at least one objective needs a weight above 0",
        ),
        (
            lambda f: f.best_by_weights({"k": "1"}),
            "best_by_weights: the weight of 'k' must be 0 or more, got '1'",
        ),
        (
            lambda f: f.rates(gain="k", cost="k"),
            "cost: 'k' is the gain already; name another quantity",
        ),
        (lambda f: f.rates(step=True), "step: must be a number above 0, got True"),
        (lambda f: f.rates(step=0), "step: must be a number above 0, got 0"),
        (
            lambda f: f.high_trade_off(radius=-1),
            "high_trade_off: radius must be a number of at least 0, got -1",
        ),
        (
            lambda f: f.next_step("knee"),
            "next_step: takes a solution or its number, got str",
        ),
        (
            lambda f: f[:1].next_step(f[2]),
            "next_step: the solution is not on this front",
        ),
    ],
)
def test_mistakes_are_told_in_one_sentence(ask: Callable[[Front], object], sentence: str) -> None:
    with pytest.raises(ProblemError) as raised:
        ask(toy([2, 5, 9], [0.1, 0.2, 0.3]))
    assert str(raised.value) == sentence


def test_an_objective_that_is_the_same_for_all_takes_no_knee_away() -> None:
    front = toy([2, 10, 12], [0, 0.1, 1])
    same = toy([2, 10, 12], [0, 0.1, 1], z=[3.0, 3.0, 3.0])
    assert "The knee: solution 1" in front.advice() and "The knee: solution 1" in same.advice()


def test_the_knee_that_is_marked_is_the_one_that_is_told() -> None:
    for front in (FRONT, THREE, toy([1, 10, 12], [0, 0.1, 1])):
        place = marked_knee(front)
        assert ("The knee" in front.advice()) == (place is not None)
        assert picture_of(front).knee == place == gather(front).to_json()["fronts"][0]["knee"]


def test_a_step_that_costs_nothing_says_so() -> None:
    front = toy([140, 150], [0.3, 0.1 + 0.2], z=[2.0, 1.0])
    assert str(front.next_step(0)).startswith("k +10 costs nothing in loss")
