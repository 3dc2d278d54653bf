"""Sizes of QI-groups: k-anonymity and averages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from privmoo.data.roles import column_names
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Stage
from privmoo.groups.known_columns import on_columns, places_of_columns
from privmoo.kernels.sizes import smallest, squares, weighted_sums
from privmoo.measures.base import FloatArray, Measure
from privmoo.measures.staged import Staged

if TYPE_CHECKING:
    from privmoo.suppression.staircase import Steps

__all__ = ["AverageK", "KAnonymity", "WeightedK", "is_group_size"]

_WORD = re.compile(r"[^\W_]+(_[^\W_]+)*")
"""A name that is part of a key as it is."""


class KAnonymity(Staged):
    """k: the size of the smallest QI-group, `min |g|` (Samarati 2001; Sweeney 2002). More is better.

    It counts persons if the table has a subject column, and records otherwise.

    With `columns`, the attacker knows only these quasi-identifiers: the groups are of records that publish
    the same in them. So one problem can have several attackers, each with a bound of its own.

    Args:
        columns: The quasi-identifiers that the attacker knows; all by default.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2, 2], "b": list("xxyyy")})
    >>> groups = pm.group(pm.Table(df, quasi_identifiers=["a", "b"]))
    >>> KAnonymity()(groups), KAnonymity(columns=["a"])(groups)
    (1.0, 2.0)
    """

    name = "k"
    label = "k-anonymity"
    sense = "max"
    audited = True
    coarser = "better"

    def __init__(
        self, *, columns: Sequence[str] | str | None = None, stage: Stage = "after"
    ) -> None:
        self.columns = None if columns is None else list(dict.fromkeys(column_names(columns)))
        if self.columns is not None:
            if not self.columns:
                raise MeasureError("columns: name at least one quasi-identifier, or leave it out")
            self.needs = frozenset({"sizes", "blocks"})  # type: ignore[misc]
        super().__init__(stage=stage)

    @property
    def key(self) -> str:
        """The column of a front: `k`, with the columns that the attacker knows; `named` gives another one.

        Names of columns are joined by two underscores. If a name has other characters than a word, or more
        than one underscore in a row, a digest of the names at the end keeps keys apart.

        >>> KAnonymity(columns=["age", "zip_code"]).key, KAnonymity(columns="zip code").key
        ('k_age__zip_code', 'k_zip_code___5625edc9')
        """
        if self.columns is None or self._alias is not None:
            return super().key
        return f"{super().key}_{_key_of_columns(self.columns)}"

    @classmethod
    def qualifier(cls, parameters: Mapping[str, Any]) -> str:
        """Return the columns that the attacker knows, if these are not all."""
        return ", ".join(map(str, parameters.get("columns") or ()))

    def check(self, table: Table) -> None:
        """Raise a MeasureError if a column is not a quasi-identifier."""
        super().check(table)
        places_of_columns(table, self.columns or ())

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the smallest group of every candidate."""
        if self.columns is not None:
            groups = on_columns(groups, self.columns)
        sizes = np.empty(len(groups), np.int64)
        smallest(groups.starts, groups.stops, groups.sizes, sizes)
        return sizes.astype(np.float64)

    def of_steps(self, steps: Steps, n_records: int) -> FloatArray | None:
        """Return the value at every step of staircases.

        Args:
            steps: The steps.
            n_records: The records of the table.
        """
        return steps.k if is_group_size(self) else None

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to one group."""
        return 0.0, float(table.n_persons)


def _key_of_columns(names: Sequence[str]) -> str:
    """Return a word that differs for different lists of column names."""
    readable = "__".join(re.sub(r"[\W_]+", "_", name).strip("_") for name in names)
    if all(_WORD.fullmatch(name) for name in names):
        return readable
    digest = hashlib.blake2b(repr(list(names)).encode(), digest_size=4).hexdigest()
    return f"{readable}___{digest}"


def is_group_size(measure: Measure) -> bool:
    """Return whether a measure is k of the released QI-groups, on all quasi-identifiers.

    >>> is_group_size(KAnonymity()), is_group_size(KAnonymity(columns=["age"]))
    (True, False)
    """
    return isinstance(measure, KAnonymity) and measure.columns is None and measure.stage == "after"


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
