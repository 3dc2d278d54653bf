"""Value classes: super-major, major, minor and super-minor values of a quasi-identifier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from privmoo.data.table import Table
from privmoo.errors import ColumnError, ProblemError, nearest

__all__ = ["CLASSES", "ValueClasses", "check_thresholds", "column_of", "value_classes"]

CLASSES = ("super-major", "major", "minor", "super-minor")


@dataclass(frozen=True)
class ValueClasses:
    """How frequent the values of one quasi-identifier are.

    Attributes:
        column: The quasi-identifier.
        frame: Its values that occur, most frequent first: records, share, and class.
        thresholds: The smallest share of a super-major, a major and a minor value.
    """

    column: str
    frame: pd.DataFrame
    thresholds: tuple[float, float, float]

    def of(self, *classes: str) -> list[str]:
        """Return the values of these classes."""
        return [str(value) for value in self.frame.index[self.frame["class"].isin(classes)]]

    def __repr__(self) -> str:
        return f"{self.column}\n{self.frame.to_string()}"

    def _repr_html_(self) -> str:
        return self.frame.to_html(escape=True, border=0)


def value_classes(
    table: Table, column: str, *, thresholds: tuple[float, float, float] = (0.25, 0.05, 0.01)
) -> ValueClasses:
    """Sort the values of a quasi-identifier by how frequent they are (Majeed and Hwang 2023, Example 1).

    The paper gives an example but no thresholds; these defaults reproduce it.

    Args:
        table: The records.
        column: A quasi-identifier.
        thresholds: The smallest share of records of a super-major, a major and a minor value.

    >>> df = pd.DataFrame({"race": ["w"] * 90 + ["b"] * 8 + ["o"] * 2})
    >>> value_classes(Table(df, quasi_identifiers=["race"]), "race").frame["class"].tolist()
    ['super-major', 'major', 'minor']
    """
    limits = check_thresholds(thresholds)
    j = column_of(table, column)
    records = np.bincount(
        table.tuples[:, j], weights=table.weights, minlength=table.qis[j].n_leaves
    ).astype(np.int64)
    order = np.argsort(-records, kind="stable")
    order = order[records[order] > 0]
    share = records[order] / table.n_records
    rank = (share[:, None] < np.array(limits)).sum(axis=1)
    frame = pd.DataFrame(
        {"records": records[order], "share": share, "class": [CLASSES[r] for r in rank]},
        index=pd.Index([table.qis[j].leaves[i] for i in order], name=column),
    )
    return ValueClasses(column, frame, limits)


def check_thresholds(thresholds: Any) -> tuple[float, float, float]:
    """Return three descending shares, or raise."""
    try:
        first, second, third = (float(limit) for limit in thresholds)
    except (TypeError, ValueError):
        first, second, third = math.nan, math.nan, math.nan
    if not 1 >= first >= second >= third >= 0:
        raise ProblemError(
            f"thresholds: must be three shares from 1 to 0, largest first, got {thresholds!r}"
        )
    return first, second, third


def column_of(table: Table, column: str) -> int:
    """Return the place of a quasi-identifier, or raise.

    Args:
        table: The records.
        column: The name of the quasi-identifier.
    """
    if column not in table.qi_names:
        raise ColumnError(
            f"column: {column!r} is not a quasi-identifier{nearest(column, table.qi_names)}"
        )
    return table.qi_names.index(column)
