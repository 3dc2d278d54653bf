"""What the built-in measures share: stages, the worst of several attributes, checks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, fraction, positive
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
    "mean_inverse_size",
]

FloatArray = NDArray[np.float64]


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
