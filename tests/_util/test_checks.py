"""Checks of arguments: what they accept, what they return, and what they say."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from privmoo._util.checks import (
    choice,
    fraction,
    is_number,
    is_whole,
    number,
    positive,
    whole_number,
)
from privmoo.errors import MeasureError, ProblemError, TableError


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_python_and_numpy_come_back_as_python_numbers(value: object) -> None:
    assert is_whole(value)
    assert type(whole_number("k", value)) is int


@pytest.mark.parametrize("value", [True, np.True_, 3.0, "3", None, math.nan, 0, -1])
def test_what_is_not_a_whole_number_from_1_is_refused(value: object) -> None:
    with pytest.raises(TableError, match=r"^k: must be a whole number of at least 1, got "):
        whole_number("k", value, error=TableError)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), Fraction(1, 2)])
def test_real_numbers_come_back_as_floats(value: object) -> None:
    assert is_number(value)
    for check in (fraction, number, positive):
        assert type(check("share", value)) is float


@pytest.mark.parametrize("value", [True, "0.5", None, math.nan, 1j])
@pytest.mark.parametrize("check", [fraction, number, positive])
def test_what_is_not_a_number_is_refused(check: Callable[..., float], value: object) -> None:
    assert not is_number(value)
    with pytest.raises(MeasureError, match=r"^share: must be .*, got "):
        check("share", value, error=MeasureError)


def test_both_ends_of_a_fraction_are_allowed_unless_refused() -> None:
    assert [fraction("a", value) for value in (0, 1)] == [0.0, 1.0]
    assert fraction("a", 1, above_zero=True) == 1.0
    assert fraction("a", 0, below_one=True) == 0.0
    with pytest.raises(ProblemError, match=r"^a: must be above 0 and at most 1, got 0$"):
        fraction("a", 0, above_zero=True)
    with pytest.raises(ProblemError, match=r"^a: must be at least 0 and below 1, got 1$"):
        fraction("a", 1, below_one=True)
    with pytest.raises(ProblemError, match=r"^a: must lie between 0 and 1, got 0$"):
        fraction("a", 0, above_zero=True, below_one=True)
    for value in (-0.1, 1.1, math.inf):
        with pytest.raises(ProblemError, match=r"^a: must be a number from 0 to 1, got "):
            fraction("a", value)


def test_infinity_is_a_number_but_not_a_positive_finite_one() -> None:
    assert number("a", math.inf) == math.inf
    with pytest.raises(ProblemError, match=r"^a: must be a finite number above 0, got inf$"):
        positive("a", math.inf)


def test_a_choice_comes_back_or_the_nearest_word_is_named() -> None:
    assert choice("by", "mean", ("mean", "range")) == "mean"
    with pytest.raises(
        TableError, match=r"must be one of 'mean', 'range', got 'rnage'; did you mean 'range'\?$"
    ):
        choice("by", "rnage", ("mean", "range"), error=TableError)
