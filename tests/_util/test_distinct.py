"""Distinct keys: the look-up and the sort against numpy's own."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from privmoo._util.distinct import number_by_appearance, number_equal
from privmoo.recodings.class_labels import member_bounds

LABELS = st.lists(st.integers(0, 9) | st.sampled_from([10**3, 10**9]), min_size=1, max_size=20)


@given(LABELS)
def test_labels_are_numbered_by_their_first_appearance(labels: list[int]) -> None:
    numbers, old = number_by_appearance(np.array(labels))
    assert old.tolist() == list(dict.fromkeys(labels))
    assert old[numbers].tolist() == labels
    assert numbers.dtype == np.int32


@given(st.lists(st.tuples(*[st.integers(0, 3) | st.just(2**40)] * 3), min_size=1, max_size=20))
def test_equal_rows_have_one_number(rows: list[tuple[int, ...]]) -> None:
    numbers, first = number_equal(np.array(rows))
    distinct = sorted(set(rows))
    assert [distinct.index(row) for row in rows] == numbers.tolist()
    assert [rows.index(row) for row in distinct] == first.tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 200), st.integers(0, 9)), min_size=1))
def test_bounds_of_members_are_their_extremes(rows: list[tuple[int, int, int]]) -> None:
    used, classes = np.unique([row[0] for row in rows], return_inverse=True)
    codes = np.array([row[1:] for row in rows], np.uint8)
    start, stop = member_bounds(codes, classes, len(used))
    for c in range(len(used)):
        members = codes[classes == c].astype(int)
        assert start[c].tolist() == members.min(axis=0).tolist()
        assert stop[c].tolist() == (members.max(axis=0) + 1).tolist()
