"""Choices: the cheapest solution for each k, stable numbers, the suggested one, lost values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.errors import CheckpointError, ProblemError
from privmoo.explorer.data import gather
from privmoo.front.choices import suggested
from privmoo.front.front import Front
from privmoo.plot import picture_of
from tests.scenery.fronts import FRONT, TABLE, THREE, toy

STEPS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 9)), min_size=0, max_size=12)


def staircase(first: int, steps: list[tuple[int, int]]) -> Front:
    """A front that begins at some k and goes up by whole steps of k and loss."""
    k = np.cumsum([first, *(a for a, _ in steps)]).astype(float)
    loss = np.cumsum([0, *(b for _, b in steps)]) / 200
    return toy(k.tolist(), loss.tolist())


@given(st.integers(1, 6), STEPS)
def test_each_choice_is_the_cheapest_that_reaches_its_k(
    first: int, steps: list[tuple[int, int]]
) -> None:
    front = staircase(first, steps)
    ks, losses = front.column("k"), front.column("loss")
    offered = [k for k in (3, 5, 10, 20, 50) if k <= ks.max()]
    choices = front.choices()
    fallback = [2] if ks.max() == 2 else []
    assert [choice.demand.bound for choice in choices] == (offered or fallback)
    for choice in choices:
        cheapest = min(loss for k, loss in zip(ks, losses, strict=True) if k >= choice.demand.bound)
        assert choice.solution is not None and choice.solution.loss == cheapest
    # The suggested solution protects people wherever a solution does.
    place = suggested(front)
    assert (place is None) == (ks.max() < 2)
    if place is not None:
        level = next(k for k in (5, 3, 2) if k <= ks.max())
        assert losses[place] == losses[ks >= level].min() and ks[place] >= 2
    assert ks[front.knee().index] > 1 or ks.max() == 1


def test_choices_tell_what_happens_to_each_column() -> None:
    choices = FRONT.choices()
    text = repr(choices)
    head, *lines = text.splitlines()
    assert head.split()[:3] == ["k", "≥", "3"] and all(len(line) <= 110 for line in lines)
    assert "left out" in text and "error of counts" in text and "next step" in text
    frame = choices.to_frame()
    assert list(frame.index[:2]) == ["k ≥ 3", "k ≥ 5"] and {"age", "job", "loss"} <= set(frame)
    for choice in choices:
        assert choice.solution is not None
        assert frame.loc[str(choice.demand), "solution"] == choice.solution.number
        assert choice.columns == choice.solution.summarise_columns()
    assert choices.suggested == FRONT.where(min_k=5).best("loss")


def test_other_steps_and_what_cannot_be_chosen() -> None:
    front = toy([2, 5, 9], [0.1, 0.2, 0.3])
    assert [c.demand.bound for c in front.choices(k=[9, 2])] == [2, 9]
    (out_of_reach,) = front.choices(k=50)
    assert out_of_reach.solution is None and "ends at k = 9" in repr(front.choices(k=50))
    assert front.choices(k=50).to_frame()["solution"].isna().all()
    assert [c.demand.bound for c in THREE.choices(l=[1.2, 1.5])] == [1.2, 1.5]
    with pytest.raises(
        ProblemError, match="steps of one quantity, got k and loss; limit the others"
    ):
        front.choices(k=5, loss=0.1)
    with pytest.raises(ProblemError, match="did you mean 'k'"):
        front.choices(kk=5)
    with pytest.raises(ProblemError, match="has no steps"):
        front.choices(k=[])
    with pytest.raises(ProblemError, match="choices: the front is empty"):
        front[:0].choices()
    alone = toy([1], [0.0]).choices()
    assert not len(alone) and alone.suggested is None and "protects anybody" in repr(alone)


def test_the_users_own_minimum_is_the_suggested_one() -> None:
    problem = pm.problems.Cuts(TABLE, constraints=[pm.KAnonymity() >= 12])
    front = Front.of(problem, FRONT.X)
    place = suggested(front)
    assert place is not None and front[place].k >= 12
    assert front[place].loss == front.column("loss").min()
    assert front.choices()[0].demand.bound == 12
    assert "cheapest_with(min_k=12)" in front.advice()


def test_names_are_escaped() -> None:
    frame = pd.DataFrame({"<b>age": [20, 20, 30, 30]})
    table = pm.Table(frame, quasi_identifiers={"<b>age": pm.Hierarchy.ordered()})
    page = Front.of(pm.problems.Cuts(table), [[0], [1]]).choices(k=2)._repr_html_()
    assert "&lt;b&gt;age" in page and "<b>" not in page


@given(st.sets(st.integers(0, len(FRONT) - 1), min_size=1))
def test_numbers_are_names(places: set[int]) -> None:
    part = FRONT.rows(np.array(sorted(places)))
    again = part.where(min_k=float(part.column("k").max()))
    for front in (part, again):
        for solution in front:
            assert solution == FRONT[solution.number]
            assert repr(solution).startswith(f"Solution {solution.number} of {len(FRONT)}: ")
            assert str(front.next_step(solution)) == str(front.next_step(solution.number))
        assert list(front.to_frame().index) == [s.number for s in front]
        assert gather(front).to_json()["fronts"][0]["numbers"] == [s.number for s in front]


def test_numbers_survive_files(tmp_path: Path) -> None:
    part = FRONT.where(min_k=5)
    part.save(tmp_path / "part.npz")
    assert Front.load(tmp_path / "part.npz").numbers.tolist() == part.numbers.tolist()
    assert repr(Front.load(tmp_path / "part.npz")[0]) == repr(part[0])
    with pytest.raises(IndexError, match="there is no solution 0; the numbers are some of"):
        part.next_step(0)
    assert part.merge(FRONT).numbers.tolist() == list(range(len(FRONT)))


def test_a_damaged_list_of_numbers_is_refused(tmp_path: Path) -> None:
    part = FRONT.where(min_k=5)
    for numbers in (np.zeros(len(part), np.intp), part.numbers - 1000):
        broken = pm.Front(**{**vars(part), "numbers": numbers})
        broken.save(tmp_path / "part.npz", force=True)
        with pytest.raises(CheckpointError, match="numbers of its solutions"):
            Front.load(tmp_path / "part.npz")


def test_pictures_and_the_explorer_begin_with_the_suggested_solution() -> None:
    picture = picture_of(FRONT)
    assert picture.suggested and picture.pick == suggested(FRONT) == gather(FRONT).start
    chosen = picture_of(FRONT, pick=FRONT[2])
    assert not chosen.suggested and chosen.pick == 2 == gather(FRONT, pick=FRONT[2]).start
    assert FRONT.explore().solution == FRONT.choices().suggested


@given(st.integers(0, len(FRONT) - 1))
def test_lost_values_are_those_that_no_released_row_can_have(place: int) -> None:
    solution = FRONT[place]
    meanings, rows = solution.recoding.meanings(), solution.released_rows()
    released = solution.recoding.apply(TABLE, rows).astype(str)
    lost = solution.lost_values()
    for name in TABLE.qi_names:
        possible = {leaf for label in set(released[name]) for leaf in meanings[name][label]}
        original = TABLE.frame[name].astype(str)
        gone = original[~original.isin(possible)]
        if gone.empty:
            assert name not in lost
        else:
            assert (lost[name].lost, lost[name].records) == (gone.nunique(), len(gone))
            assert lost[name].occurring == original.nunique()
            assert f"{lost[name]}" in solution.explain()


def test_what_a_little_more_would_keep() -> None:
    age, roof = np.repeat([20, 30], 20), ["tile"] * 30 + ["straw"] * 10
    qis = {
        "age": pm.QuasiIdentifier(hierarchy=pm.Hierarchy.flat()),
        "roof": pm.QuasiIdentifier(hierarchy=pm.Hierarchy.flat(), weight=1.2),
    }
    table = pm.Table(pd.DataFrame({"age": age, "roof": roof}), quasi_identifiers=qis)
    front = Front.of(pm.problems.Levels(table), [[0, 1], [1, 0], [1, 1]])
    assert [a.sentence for a in front.for_a_little_more(0, at_most=0.2)] == [
        "9.1 points more loss keeps 'age' as it is, but not 'roof': k = 20, 54.55 % loss"
    ]
    assert front.for_a_little_more(0) == []
    answers = [(s, a) for s in front for a in front.for_a_little_more(s, at_most=0.2)]
    for solution, answer in answers:
        other = answer.solution
        assert other is not None and other.loss > solution.loss and other.k >= solution.k
        gained = set(other.kept_columns()) - set(solution.kept_columns())
        assert gained and all(repr(name) in str(answer) for name in gained)
        assert f"For a little more\n  solution {other.number}" in solution.explain() or (
            other.loss > solution.loss + 0.05
        )
    with pytest.raises(ProblemError, match="at_most must be a number above 0"):
        front.for_a_little_more(0, at_most=0)
