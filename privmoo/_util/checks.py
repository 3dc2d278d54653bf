"""Checks of arguments: each returns the value, or raises one sentence that names the argument."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import TypeGuard, TypeVar

import numpy as np

from privmoo.errors import PrivmooError, ProblemError, nearest

__all__ = [
    "choice",
    "flag",
    "fraction",
    "is_number",
    "is_unicode",
    "is_whole",
    "number",
    "positive",
    "whole_number",
]

T = TypeVar("T")
_LIMITS = {  # of a fraction: whether it must be above 0, and below 1
    (False, False): "be a number from 0 to 1",
    (True, False): "be above 0 and at most 1",
    (False, True): "be at least 0 and below 1",
    (True, True): "lie between 0 and 1",
}


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number of Python or numpy; truth values are not.

    >>> is_whole(3), is_whole(np.int8(3)), is_whole(3.0), is_whole(True)
    (True, True, False, False)
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number of Python or numpy; truth values and NaN are not.

    >>> is_number(0.5), is_number(np.int8(3)), is_number(float("nan")), is_number(True)
    (True, True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    return not math.isnan(value)


def whole_number(
    name: str,
    value: object,
    *,
    at_least: int = 1,
    error: type[PrivmooError] = ProblemError,
) -> int:
    """Return a whole number that is large enough, or raise.

    Args:
        name: The argument's name, for the error.
        value: What was passed.
        at_least: The smallest number allowed.
        error: The class of the error.

    >>> whole_number("k", 5, at_least=2)
    5
    >>> whole_number("k", 1, at_least=2)
    Traceback (most recent call last):
    privmoo.errors.ProblemError: k: must be a whole number of at least 2, got 1
    """
    if not is_whole(value) or value < at_least:
        raise error(f"{name}: must be a whole number of at least {at_least}, got {value!r}")
    return int(value)


def number(
    name: str,
    value: object,
    *,
    at_least: float = 0,
    error: type[PrivmooError] = ProblemError,
) -> float:
    """Return a number that is large enough, or raise.

    Args:
        name: The argument's name, for the error.
        value: What was passed.
        at_least: The smallest number allowed.
        error: The class of the error.

    >>> number("radius", -1)
    Traceback (most recent call last):
    privmoo.errors.ProblemError: radius: must be a number of at least 0, got -1
    """
    if not is_number(value) or value < at_least:
        raise error(f"{name}: must be a number of at least {at_least:g}, got {value!r}")
    return float(value)


def fraction(
    name: str,
    value: object,
    *,
    above_zero: bool = False,
    below_one: bool = False,
    error: type[PrivmooError] = ProblemError,
) -> float:
    """Return a number from 0 to 1, or raise.

    Args:
        name: The argument's name, for the error.
        value: What was passed.
        above_zero: Whether 0 is refused.
        below_one: Whether 1 is refused.
        error: The class of the error.

    >>> fraction("share", 0.25)
    0.25
    >>> fraction("share", 25, above_zero=True)
    Traceback (most recent call last):
    privmoo.errors.ProblemError: share: must be above 0 and at most 1, got 25
    """
    fits = is_number(value) and 0 <= value <= 1
    if fits and not (above_zero and value == 0) and not (below_one and value == 1):
        return float(value)  # type: ignore[arg-type]
    raise error(f"{name}: must {_LIMITS[above_zero, below_one]}, got {value!r}")


def positive(name: str, value: object, *, error: type[PrivmooError] = ProblemError) -> float:
    """Return a finite number above 0, or raise.

    Args:
        name: The argument's name, for the error.
        value: What was passed.
        error: The class of the error.

    >>> positive("scale", 0)
    Traceback (most recent call last):
    privmoo.errors.ProblemError: scale: must be a finite number above 0, got 0
    """
    if not is_number(value) or not 0 < value < math.inf:
        raise error(f"{name}: must be a finite number above 0, got {value!r}")
    return float(value)


def choice(
    name: str, value: T, options: Iterable[object], *, error: type[PrivmooError] = ProblemError
) -> T:
    """Return a value that is one of some words, or raise and name the nearest of them.

    Args:
        name: The argument's name, for the error.
        value: What was passed.
        options: The words allowed.
        error: The class of the error.

    >>> choice("release", "maen", ["mean", "range"])
    Traceback (most recent call last):
    privmoo.errors.ProblemError: release: must be one of 'mean', 'range', got 'maen'; did you mean 'mean'?
    """
    words = list(options)
    if value not in words:
        word_list = ", ".join(repr(word) for word in words)
        raise error(f"{name}: must be one of {word_list}, got {value!r}{nearest(value, words)}")
    return value


def flag(name: str, value: object, *, error: type[PrivmooError] = ProblemError) -> bool:
    """Return a value that is True or False, or raise.

    Args:
        name: The argument's name, for the error.
        value: What was passed.
        error: The class of the error.

    >>> flag("count", 1)
    Traceback (most recent call last):
    privmoo.errors.ProblemError: count: must be True or False, got 1
    """
    if not isinstance(value, bool):
        raise error(f"{name}: must be True or False, got {value!r}")
    return value


def is_unicode(text: str) -> bool:
    """Return whether a text can be written at all: half of a surrogate pair cannot.

    >>> is_unicode("a"), is_unicode(chr(0xD800))
    (True, False)
    """
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
