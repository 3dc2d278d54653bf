"""What the built-in measures share: stages, the worst of several attributes, checks, tables' facts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, fraction, positive
from privmoo.data.cache import per_table
from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Segments, Stage
from privmoo.kernels.sizes import weighted_sums
from privmoo.measures.base import Measure

__all__ = [
    "FloatArray",
    "Staged",
    "ValueMeasure",
    "check_choice",
    "check_flag",
    "check_fraction",
    "check_positive",
    "fewest_values",
    "leaf_offsets",
    "mean_digits",
    "mean_inverse_size",
    "no_distance",
    "value_numbers",
]

FloatArray = NDArray[np.float64]
_LARGEST = 1e140  # squares of larger numbers, and of smaller differences than its inverse, are none


class Staged(Measure):
    """A measure of the groups after suppression or, if asked for, before it.

    Only what is released can be audited, so a measure of the groups before suppression is not.
    """

    def __init__(self, *, stage: Stage = "after") -> None:
        check_choice("stage", stage, ("after", "before"))
        self.stage = stage
        if stage == "before":
            self.audited = False


class ValueMeasure(Staged):
    """A measure of the sensitive values in groups; of several attributes the worst one counts."""

    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "counts"})
    audited = True

    def batch(self, groups: GroupBatch) -> FloatArray:
        """The worst of the attributes, for every candidate."""
        worst = np.minimum if self.sense == "max" else np.maximum
        values = [
            self.of_attribute(groups, attribute, groups.segments[attribute.name])
            for attribute in self.attributes(groups.table)
        ]
        return reduce(worst, values)

    def attributes(self, table: Table) -> list[Attribute]:
        """The sensitive attributes it looks at."""
        return list(table.sensitive.values())

    def of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """The measure of one attribute."""
        raise TypeError(f"{type(self).__name__} must define of_attribute(groups, ...)")


@per_table
def leaf_offsets(table: Table) -> NDArray[np.int64]:
    """Where the leaves of every quasi-identifier begin in a row of blocks."""
    return np.concatenate([[0], np.cumsum([qi.n_leaves for qi in table.qis])]).astype(np.int64)


@per_table
def mean_digits(table: Table) -> FloatArray:
    """Per quasi-identifier the power of ten to which released means are rounded; 1 for categories.

    Nine digits of the column's range, as far as a float has them: two classes whose means differ only by
    the order of a sum release the same value.
    """
    digits = np.ones(table.n_qis)
    for j, qi in enumerate(table.qis):
        if qi.numbers is None:
            continue
        values = qi.numbers[table.tuples[:, j]]
        values = values[~np.isnan(values)]
        span = float(values.max() - values.min()) if len(values) else 0.0
        largest = float(np.abs(values).max()) if len(values) else 0.0
        if largest > 0 and math.isfinite(span):
            exact = 15 - math.ceil(math.log10(largest))
            wanted = exact if span == 0 else min(exact, 9 - math.ceil(math.log10(span)))
            digits[j] = 10.0 ** np.clip(wanted, -300, 300)
    return digits


def no_distance(name: str, values: FloatArray) -> str | None:
    """Why numbers have no mean or no squared distance, as the rest of a sentence; None if they have.

    >>> no_distance("pay", np.array([1.0, 1e200]))
    "column 'pay' has numbers beyond ±1e+140, whose squares are no numbers; give it in a larger unit"
    """
    if np.isnan(values).any():
        return (
            f"column {name!r} has missing values, which have no mean and no distance; leave those rows "
            "out with Table(..., missing='drop')"
        )
    if len(values) and np.abs(values).max() > _LARGEST:
        return (
            f"column {name!r} has numbers beyond ±{_LARGEST:g}, whose squares are no numbers; "
            "give it in a larger unit"
        )
    span = float(values.max() - values.min()) if len(values) else 0.0
    if 0 < span < 1 / _LARGEST:
        return (
            f"column {name!r} has differences below {1 / _LARGEST:g}, whose squares are 0; give it in a "
            "smaller unit"
        )
    return None


@per_table
def value_numbers(table: Table) -> tuple[int, ...]:
    """Distinct values of every sensitive attribute in the table."""
    return tuple(int((attribute.totals > 0).sum()) for attribute in table.sensitive.values())


def fewest_values(table: Table) -> int:
    """Distinct values of the sensitive attribute that has fewest; no group can have more."""
    return min(value_numbers(table), default=0)


def mean_inverse_size(groups: GroupBatch) -> FloatArray:
    """The mean of 1/|g| over the records of every candidate; |g| in persons, if they are known."""
    if groups.sizes is groups.records:
        return np.asarray(groups.n_groups / groups.n_records)
    total = np.empty(len(groups))
    inverse = np.zeros(len(groups.sizes))
    for a, b in zip(groups.starts, groups.stops, strict=True):
        inverse[a:b] = 1 / groups.sizes[a:b]
    weighted_sums(groups.starts, groups.stops, groups.records, inverse, total)
    return np.asarray(total / groups.n_records)


def check_choice(name: str, value: object, options: Iterable[str]) -> None:
    """Raise unless a parameter is one of some words."""
    choice(name, value, options, error=MeasureError)


def check_flag(name: str, value: object) -> None:
    """Raise unless a parameter is True or False."""
    if not isinstance(value, bool):
        raise MeasureError(f"{name}: must be True or False, got {value!r}")


def check_fraction(name: str, value: Any) -> None:
    """Raise unless a parameter lies in (0, 1].

    >>> check_fraction("tau", 1.5)
    Traceback (most recent call last):
    privmoo.errors.MeasureError: tau: must be above 0 and at most 1, got 1.5
    """
    fraction(name, value, above_zero=True, error=MeasureError)


def check_positive(name: str, value: Any) -> None:
    """Raise unless a parameter is a finite number above 0."""
    positive(name, value, error=MeasureError)
