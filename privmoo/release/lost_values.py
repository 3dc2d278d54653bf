"""Lost values: what no longer occurs in a release, because the records that had it were left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.cache import per_table
from privmoo.data.table import Table
from privmoo.recodings.base import Recoding
from privmoo.recodings.columns import PublishedColumn

__all__ = ["LostValues", "lost_values"]


@dataclass(frozen=True)
class LostValues:
    """The values of one column that no released record may have.

    Attributes:
        lost: The number of lost values.
        occurring: The number of values that the original records have.
        records: The number of records that had the lost values.
        unit: What a value is: a `"value"` of the data or a `"base interval"`.
        people: Whether every record is a person.

    >>> print(LostValues(lost=3, occurring=8, records=31))
    5 of 8 values remain, 31 people affected
    >>> print(LostValues(lost=1, occurring=2, records=1, people=False))
    1 of 2 values remains, 1 record affected
    """

    lost: int
    occurring: int
    records: int
    unit: str = "value"
    people: bool = True

    @property
    def remaining(self) -> str:
        """How many values are left, such as "5 of 8 values remain"."""
        n_left = self.occurring - self.lost
        verb = "remains" if n_left == 1 else "remain"
        return f"{n_left:,} of {self.occurring:,} {self.unit}s {verb}"

    def __str__(self) -> str:
        is_single = self.records == 1
        nouns = ("person", "people") if self.people else ("record", "records")
        who = f"{self.records:,} {nouns[0] if is_single else nouns[1]}"
        return f"{self.remaining}, {who} affected"


def lost_values(table: Table, recoding: Recoding, rows: NDArray[np.int64]) -> dict[str, LostValues]:
    """Return, per quasi-identifier, the values that occur in a table but in no released record.

    A value is lost if no released label may stand for it. Columns without lost values have no entry.
    Neither do numbers that are published as means or with noise, because those change anyway.

    Args:
        table: The original.
        recoding: What the quasi-identifiers become.
        rows: The rows of `Table.originals` that are released.

    >>> import pandas as pd
    >>> from privmoo.hierarchy import Hierarchy
    >>> from privmoo.recodings.blocks import cut_recoding
    >>> ages = pd.DataFrame({"age": [20, 21, 22, 40]})
    >>> table = Table(ages, quasi_identifiers={"age": Hierarchy.ordered()})
    >>> recoding = cut_recoding(table, [[0, 1, 1]])
    >>> {name: str(lost) for name, lost in lost_values(table, recoding, np.array([0, 2])).items()}
    {'age': '3 of 4 values remain, 1 person affected'}
    """
    lost_by_column = {}
    leaf_counts = _records_of_leaves(table)
    codes = recoding.codes(table, rows)
    for j, (column, cells) in enumerate(zip(recoding.columns, codes, strict=True)):
        if not column.shows_values:
            continue
        counts = leaf_counts[j]
        lost = (counts > 0) & ~_covered_leaves(column, np.flatnonzero(np.bincount(cells)))
        if lost.any():
            lost_by_column[column.name] = LostValues(
                lost=int(lost.sum()),
                occurring=int((counts > 0).sum()),
                records=int(counts[lost].sum()),
                unit="value" if column.qi.exact else "base interval",
                people=table.subject_name is None,
            )
    return lost_by_column


@per_table
def _records_of_leaves(table: Table) -> list[NDArray[Any]]:
    """Count the original records that have each leaf of every quasi-identifier."""
    originals = table.originals
    leaves = table.tuples[originals.tuples]
    return [
        np.bincount(leaves[:, j], originals.row_weights, qi.n_leaves)
        for j, qi in enumerate(table.qis)
    ]


def _covered_leaves(column: PublishedColumn, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which leaves some cells may stand for."""
    start, stop = column.leaf_ranges()
    changes = np.zeros(column.qi.n_leaves + 1, np.int64)
    np.add.at(changes, start[cells], 1)
    np.add.at(changes, stop[cells], -1)
    return np.asarray(np.cumsum(changes[:-1]) > 0)
