"""Two releases of the same people, against people who look through both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmoo.attacks import compose
from privmoo.errors import AttackError


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2), st.integers(0, 3)), min_size=1))
def test_composition_equals_looking_through_both(people: list[tuple[int, int, int]]) -> None:
    first, second, values = (np.array(column) for column in zip(*people, strict=True))
    in_both = [i for i, (g, h, _) in enumerate(people) if g >= 0 and h >= 0]
    if not in_both:
        with pytest.raises(AttackError, match="nobody is in both"):
            compose(first, second, values)
        return
    both = compose(first, second, values)
    assert both.people.tolist() == in_both
    for i, candidates, left in zip(in_both, both.candidates, both.values, strict=True):
        g, h, _ = people[i]
        assert candidates == sum(p[:2] == (g, h) for p in people)
        assert left == len(
            {p[2] for p in people if p[0] == g} & {p[2] for p in people if p[1] == h}
        )
    assert both.alone == sum(both.candidates == 1) and both.k == min(both.candidates)
    assert both.revealed == sum(both.values == 1) and both.distinct_l == min(both.values)


def test_one_release_twice_tells_nothing_new() -> None:
    groups, values = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1])
    both = compose(groups, groups, values)
    assert (both.k, both.distinct_l, both.alone, both.revealed) == (2, 2, 0, 0)


def test_different_people_are_refused() -> None:
    with pytest.raises(AttackError, match="for all of 2 people, got 3 and 2"):
        compose(np.zeros(3, int), np.zeros(2, int), np.zeros(2, int))
