"""Sizes of QI-groups: k-anonymity and averages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmoo.data.table import Table
from privmoo.groups.groups import GroupBatch
from privmoo.kernels.sizes import smallest, squares, weighted_sums
from privmoo.measures.base import FloatArray
from privmoo.measures.staged import Staged

if TYPE_CHECKING:
    from privmoo.suppression.staircase import Steps

__all__ = ["AverageK", "KAnonymity", "WeightedK"]


class KAnonymity(Staged):
    """k: the size of the smallest QI-group, `min |g|` (Samarati 2001; Sweeney 2002). More is better.

    It counts persons if the table has a subject column, and records otherwise.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 1, 1, 2, 2]}), quasi_identifiers=["a"])
    >>> KAnonymity()(pm.group(table))
    2.0
    """

    name = "k"
    label = "k-anonymity"
    sense = "max"
    audited = True
    coarser = "better"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the smallest group of every candidate."""
        sizes = np.empty(len(groups), np.int64)
        smallest(groups.starts, groups.stops, groups.sizes, sizes)
        return sizes.astype(np.float64)

    def of_steps(self, steps: Steps, n_records: int) -> FloatArray | None:
        """Return the value at every step of staircases.

        Args:
            steps: The steps.
            n_records: The records of the table.
        """
        return steps.k if self.stage == "after" else None

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to one group."""
        return 0.0, float(table.n_persons)


class WeightedK(Staged):
    """Weighted-k: the group size of a random record, `Σ|g|² / n`. More is better.

    Dewri, Ray, Ray & Whitley 2011, Eq. 6; before suppression with `stage="before"`. Sizes count persons
    if the table has a subject column.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1] * 5 + [2] * 2}), quasi_identifiers=["a"])
    >>> WeightedK()(pm.group(table)) == 29 / 7
    True
    """

    name = "weighted_k"
    label = "weighted-k anonymity"
    symbol = "weighted-k"
    sense = "max"
    audited = True
    coarser = "better"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the mean group size over the records of every candidate."""
        if groups.sizes is groups.records:
            total = np.empty(len(groups), np.int64)
            squares(groups.starts, groups.stops, groups.records, total)
            return np.asarray(total / groups.n_records)
        by_records = np.empty(len(groups))
        weighted_sums(
            groups.starts, groups.stops, groups.records, groups.sizes.astype(np.float64), by_records
        )
        return np.asarray(by_records / groups.n_records)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to one group."""
        return 0.0, float(table.n_records)


class AverageK(Staged):
    """Average number of records (persons, with a subject column) per group, `n / groups`. More is better.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 1, 1, 2, 2]}), quasi_identifiers=["a"])
    >>> AverageK()(pm.group(table))
    2.5
    """

    name = "average_k"
    label = "average group size"
    sense = "max"
    audited = True
    coarser = "better"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the mean group size over the groups of every candidate."""
        return np.asarray(groups.reduce(groups.sizes) / groups.n_groups)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to one group."""
        return 0.0, float(table.n_records)
