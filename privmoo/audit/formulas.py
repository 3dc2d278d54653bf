"""Formulas: the functions with which the audit computes measures, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["OF_GROUPS", "OF_VALUES", "formula"]

Formula = TypeVar("Formula", bound=Callable[..., float])
Combine = Callable[[list[float]], float]

OF_GROUPS: dict[str, Callable[..., float]] = {}
"""Functions of `Counts`."""
OF_VALUES: dict[str, tuple[Callable[..., float], Combine]] = {}
"""Functions of the `ValueCounts` of one sensitive attribute, and how several attributes are combined."""


def formula(*names: str, combine: Combine | None = None) -> Callable[[Formula], Formula]:
    """Register a function as the audit's formula of a measure.

    The function takes `Counts`, or `ValueCounts` if `combine` is given, and the measure's parameters. It
    must share no code with the measure, or comparing the two would prove nothing.

    Args:
        names: The names of measures; by default the function's name.
        combine: How the results of several sensitive attributes are combined: `min`, `max` or `sum`.

    >>> @formula("number_of_groups")
    ... def count(counts):
    ...     return float(counts.n_groups)
    >>> OF_GROUPS.pop("number_of_groups") is count
    True
    """

    def register(function: Formula) -> Formula:
        for name in names or (function.__name__,):
            if combine is None:
                OF_GROUPS[name] = function
            else:
                OF_VALUES[name] = (function, combine)
        return function

    return register
