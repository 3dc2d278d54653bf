"""Risks of re-identification and disclosure, counted on the records of the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, flag, fraction, is_number, positive, whole_number
from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Segments, Stage
from privmoo.groups.missing import present_values, worst_case
from privmoo.kernels.closeness import under_one_node, with_gain_above
from privmoo.kernels.diversity import flag_single_values
from privmoo.kernels.sizes import at_risk, records_of_flagged, smallest, weighted_sums
from privmoo.measures.base import FloatArray
from privmoo.measures.staged import Staged
from privmoo.measures.value_measure import ValueMeasure

__all__ = [
    "Homogeneity",
    "ProsecutorRisk",
    "RecordsAtRisk",
    "Similarity",
    "Skewness",
    "Statistic",
    "Uniqueness",
    "mean_inverse_size",
]

Statistic = Literal["max", "average"]


class ProsecutorRisk(Staged):
    """Prosecutor risk: the chance of picking the right record of a group, `1/|g|`. Less is better.

    El Emam 2013. The attacker knows that the person is in the table. The value is the largest risk, `1 /
    min|g|`, or the average over the records, `groups / n`.

    Args:
        statistic: `"max"` or `"average"`.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> groups = pm.group(pm.Table(pd.DataFrame({"a": [1, 1, 1, 2]}), quasi_identifiers=["a"]))
    >>> ProsecutorRisk()(groups), ProsecutorRisk(statistic="average")(groups)
    (1.0, 0.5)
    """

    name = "prosecutor_risk"
    sense = "min"
    audited = True
    coarser = "better"

    def __init__(self, *, statistic: Statistic = "max", stage: Stage = "after") -> None:
        choice("statistic", statistic, ("max", "average"), error=MeasureError)
        self.statistic: Statistic = statistic
        super().__init__(stage=stage)

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the largest or the average risk of every candidate."""
        if self.statistic == "average":
            return mean_inverse_size(groups)
        smallest_sizes = np.empty(len(groups), np.int64)
        smallest(groups.starts, groups.stops, groups.sizes, smallest_sizes)
        return 1 / smallest_sizes

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from one group to a record that is alone."""
        return 1 / table.n_records, 1.0


class _CountedRecords(Staged):
    """A number of records, or their share of the released ones."""

    sense = "min"
    audited = True

    def __init__(self, *, count: bool = False, stage: Stage = "after") -> None:
        flag("count", count, error=MeasureError)
        self.count = count
        super().__init__(stage=stage)

    @classmethod
    def is_count(cls, parameters: Mapping[str, Any]) -> bool:
        """Return whether the number of records was asked for instead of their share."""
        return parameters.get("count") is True

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the number or the share of the records of every candidate."""
        number = np.empty(len(groups), np.int64)
        self._number(groups, number)
        return number.astype(np.float64) if self.count else np.asarray(number / groups.n_records)

    def _number(self, groups: GroupBatch, out: NDArray[np.int64]) -> None:
        raise TypeError(f"{type(self).__name__} must define _number(groups, out)")

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from no record to all."""
        return 0.0, float(table.n_records) if self.count else 1.0


class RecordsAtRisk(_CountedRecords):
    """Records whose prosecutor risk is above τ, strictly: `1/|g| > τ`. Less is better.

    Wei et al. 2025, as a share of the released records or as their number.

    Args:
        tau: The threshold, in (0, 1].
        count: Whether to return the number instead of the share.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> groups = pm.group(pm.Table(pd.DataFrame({"a": [1, 1, 1, 2]}), quasi_identifiers=["a"]))
    >>> RecordsAtRisk(0.5)(groups), RecordsAtRisk(0.3, count=True)(groups)
    (0.25, 4.0)
    """

    name = "at_risk"
    label = "records at risk"
    coarser = "better"

    def __init__(self, tau: float, *, count: bool = False, stage: Stage = "after") -> None:
        fraction("tau", tau, above_zero=True, error=MeasureError)
        self.tau = float(tau)
        super().__init__(count=count, stage=stage)

    @classmethod
    def qualifier(cls, parameters: Mapping[str, Any]) -> str:
        """Return the threshold, such as "τ = 0.1"."""
        tau = parameters.get("tau")
        return f"τ = {tau:g}" if is_number(tau) else ""

    def _number(self, groups: GroupBatch, out: NDArray[np.int64]) -> None:
        at_risk(groups.starts, groups.stops, groups.sizes, groups.records, self.tau, out)


class Homogeneity(_CountedRecords):
    """Records whose group has only one value in some sensitive attribute. Less is better.

    The homogeneity attack of Machanavajjhala et al. 2007, counted as in Wei et al. 2025: a record that
    is alone counts, and one exposed attribute is enough.

    Args:
        count: Whether to return the number instead of the share.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2], "ill": list("xxxy")})
    >>> Homogeneity()(pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")))
    0.5
    """

    name = "homogeneity"
    label = "records open to homogeneity"
    needs = frozenset({"sizes", "counts"})
    coarser = "better"

    def _number(self, groups: GroupBatch, out: NDArray[np.int64]) -> None:
        flags = np.zeros(len(groups.records), np.bool_)
        for attribute in groups.table.sensitive.values():
            segments = worst_case(groups, attribute)
            flag_single_values(groups.starts, groups.stops, segments, flags)
        records_of_flagged(groups.starts, groups.stops, groups.records, flags, out)


class Uniqueness(Staged):
    """Share of the released records that are alone in their group. Less is better.

    >>> import pandas as pd, privmoo as pm
    >>> groups = pm.group(pm.Table(pd.DataFrame({"a": [1, 1, 1, 2]}), quasi_identifiers=["a"]))
    >>> Uniqueness()(groups)
    0.25
    """

    name = "uniqueness"
    percent = True
    sense = "min"
    audited = True
    coarser = "better"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the share of every candidate."""
        number = np.empty(len(groups), np.int64)
        # only a group of one (person) has 1/|g| above a half
        at_risk(groups.starts, groups.stops, groups.sizes, groups.records, 0.5, number)
        return np.asarray(number / groups.n_records)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from no record to all."""
        return 0.0, 1.0


class Skewness(ValueMeasure):
    """Share of records whose group has a value more than `factor` times as frequent as the release.

    The skewness attack of Li et al. 2007: `(c_g(v)·n) / (|g|·c(v)) > factor` for some value v of the
    group. Less is better. If there are several attributes, the largest share counts.

    Args:
        factor: How much more frequent a value may be; above 0.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2, 2, 2], "ill": list("xxxyyz")})
    >>> groups = pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill"))
    >>> round(Skewness(1.5)(groups), 4), Skewness(2)(groups)
    (0.3333, 0.0)
    """

    name = "skewness"
    sense = "min"

    def __init__(self, factor: float, *, stage: Stage = "after") -> None:
        positive("factor", factor, error=MeasureError)
        self.factor = float(factor)
        super().__init__(stage=stage)

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the share by one attribute."""
        number = np.empty(len(groups), np.int64)
        with_gain_above(
            groups.starts,
            groups.stops,
            groups.records,
            *present_values(groups, attribute),
            attribute.n_values,
            self.factor,
            number,
        )
        return np.asarray(number / groups.n_records)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from no record to all."""
        return 0.0, 1.0


class Similarity(ValueMeasure):
    """Share of records in groups whose values all fall under one node of a level. Less is better.

    The similarity attack of Li et al. 2007 ("some stomach disease"). Level 0 consists of single values.
    Only sensitive attributes with a hierarchy count; if there are several, the largest share counts.

    Args:
        level: A level of the sensitive attributes' hierarchies.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2], "ill": ["flu", "cold", "flu", "ulcer"]})
    >>> ill = pm.Hierarchy.tree({"lung": ["flu", "cold"], "stomach": ["ulcer"]})
    >>> table = pm.Table(df, quasi_identifiers=["a"], sensitive={"ill": ill})
    >>> Similarity(0)(pm.group(table)), Similarity(1)(pm.group(table))
    (0.0, 0.5)
    """

    name = "similarity"
    sense = "min"
    coarser = "better"

    def __init__(self, level: int, *, stage: Stage = "after") -> None:
        self.level = whole_number("level", level, at_least=0, error=MeasureError)
        super().__init__(stage=stage)

    def attributes(self, table: Table) -> list[Attribute]:
        """Return the sensitive attributes that have a hierarchy."""
        return [a for a in table.sensitive.values() if a.hierarchy is not None]

    def check(self, table: Table) -> None:
        """Raise a MeasureError if no sensitive attribute has a hierarchy, or one lacks the level."""
        super().check(table)
        attributes = self.attributes(table)
        if not attributes:
            raise MeasureError(
                "similarity: no sensitive attribute has a hierarchy; give at least one attribute a "
                "hierarchy"
            )
        for attribute in attributes:
            height = attribute.hierarchy.height if attribute.hierarchy is not None else 0
            if self.level > height:
                raise MeasureError(
                    f"similarity: the hierarchy of {attribute.name!r} has levels 0 to {height}, "
                    f"got level={self.level}"
                )

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the share by one attribute."""
        number = np.empty(len(groups), np.int64)
        if attribute.hierarchy is not None:
            nodes = attribute.hierarchy.level_blocks[self.level]
            under_one_node(groups.starts, groups.stops, groups.records, segments, nodes, number)
        return np.asarray(number / groups.n_records)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from no record to all."""
        return 0.0, 1.0


def mean_inverse_size(groups: GroupBatch) -> FloatArray:
    """Return the mean of 1/|g| over the records of every candidate; |g| in persons, if known."""
    if groups.sizes is groups.records:
        return np.asarray(groups.n_groups / groups.n_records)
    total = np.empty(len(groups))
    inverse = np.zeros(len(groups.sizes))
    for start, stop in zip(groups.starts, groups.stops, strict=True):
        inverse[start:stop] = 1 / groups.sizes[start:stop]
    weighted_sums(groups.starts, groups.stops, groups.records, inverse, total)
    return np.asarray(total / groups.n_records)
