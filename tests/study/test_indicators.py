"""Indicators, differences of attainment and escaped texts against their slow, obvious definitions."""

from __future__ import annotations

import itertools
import math

import hypothesis.strategies as st
import moocore
import numpy as np
import pytest
from hypothesis import assume, given, settings

from privmoo.plot.attainment_difference import differing
from privmoo.study.indicators import Box
from privmoo.study.tables import escape_latex, escape_markdown


@st.composite
def points(draw: st.DrawFn, n_obj: int = 2) -> np.ndarray:
    n = draw(st.integers(1, 6))
    cells = st.integers(0, 8).map(lambda v: v / 8)
    return np.array(draw(st.lists(cells, min_size=n * n_obj, max_size=n * n_obj))).reshape(n, n_obj)


def dominated_share(F: np.ndarray) -> float:
    """Hypervolume up to 1 in every objective, cell by cell of a grid that all points lie on."""
    n_obj = F.shape[1]
    cells = itertools.product(range(8), repeat=n_obj)
    inside = sum(bool((np.array(cell) + 1e-9 >= F * 8).all(axis=1).any()) for cell in cells)
    return float(inside / 8**n_obj)


@settings(max_examples=60)
@given(st.integers(1, 3), st.data())
def test_indicators_by_their_definitions(n_obj: int, data: st.DataObject) -> None:
    F, other = data.draw(points(n_obj)), data.draw(points(n_obj))
    zero = np.zeros((1, n_obj))  # so that the box is the unit cube
    box = Box.of([F, other], (), np.ones(n_obj), exact=np.concatenate([zero, other]))
    assert box.exact and np.array_equal(box.reference, zero)
    assert box.hypervolume(F) == pytest.approx(dominated_share(F))
    box = Box(np.zeros(n_obj), np.ones(n_obj), (0,) * n_obj, other)
    reference = other if n_obj > 1 else other[[other.argmin()]]
    box = Box(np.zeros(n_obj), np.ones(n_obj), (0,) * n_obj, reference)
    epsilon = max(min(max(f - r) for f in F) for r in reference)
    assert box.epsilon(F) == pytest.approx(epsilon)
    away = [min(np.linalg.norm(np.maximum(f - r, 0)) for f in F) for r in reference]
    assert box.igd_plus(F) == pytest.approx(np.mean(away))


@given(points(), points(), st.floats(0.1, 1e3), st.floats(-1e3, 1e3))
def test_indicators_do_not_depend_on_units(
    one: np.ndarray, two: np.ndarray, factor: float, shift: float
) -> None:
    plain = Box.of([one, two], (), np.full(2, 2.0))
    moved = Box.of(
        [one * factor + shift, two * factor + shift], (), np.full(2, 2.0) * factor + shift
    )
    for name in ("hypervolume", "igd_plus", "epsilon"):
        expected = plain.measure(name, one)
        assert moved.measure(name, one * factor + shift) == pytest.approx(expected, abs=1e-6)
    assert plain.igd_plus(np.concatenate([one, two])) == pytest.approx(0)
    assert plain.hypervolume(np.empty((0, 2))) == 0 and math.isinf(plain.epsilon(np.empty((0, 2))))


@settings(max_examples=60)
@given(st.lists(points(), min_size=1, max_size=3), st.lists(points(), min_size=1, max_size=4))
def test_differences_of_attainment_by_definition(
    first: list[np.ndarray], second: list[np.ndarray]
) -> None:
    corner = np.array([1.0, 1.0])
    boxes, differences = differing(first, second, corner)
    for x, y in itertools.product(np.arange(8) / 8 + 1 / 16, repeat=2):
        shares = [
            np.mean([bool((run <= (x, y)).all(axis=1).any()) for run in runs])
            for runs in (first, second)
        ]
        inside = (boxes[:, :2] <= (x, y)).all(axis=1) & (boxes[:, 2:] > (x, y)).all(axis=1)
        assert inside.sum() <= 1
        assert differences[inside].sum() == pytest.approx(shares[0] - shares[1])


@settings(max_examples=30)
@given(st.integers(1, 4), st.data())
def test_differences_of_equally_many_runs_are_those_of_moocore(n: int, data: st.DataObject) -> None:
    first, second = ([data.draw(points()) for _ in range(n)] for _ in range(2))
    boxes, differences = differing(first, second, np.array([2.0, 2.0]))
    assume(len(boxes))  # moocore raises where nothing differs

    def numbered(runs: list[np.ndarray]) -> np.ndarray:
        return np.vstack([np.column_stack([F, np.full(len(F), i + 1)]) for i, F in enumerate(runs)])

    theirs = np.asarray(moocore.eafdiff(numbered(first), numbered(second), rectangles=True))

    def area(rectangles: np.ndarray, sign: int, weights: np.ndarray) -> float:
        sides = np.minimum(rectangles[:, 2:4], 2.0) - rectangles[:, :2]
        return float((sides.prod(axis=1) * np.maximum(sign * weights, 0)).sum())

    for sign in (1, -1):
        expected = area(theirs, sign, theirs[:, 4] / n)
        assert area(boxes, sign, differences) == pytest.approx(expected)


@given(st.text(max_size=20))
def test_escaping_leaves_nothing_that_means_something(text: str) -> None:
    cell = escape_markdown(text)
    assert cell.replace("\\\\", "").replace("\\|", "").count("|") == 0
    plain = escape_latex(text)
    for sign in "&%$#_":
        assert plain.count(sign) == plain.count("\\" + sign) == text.count(sign)
