"""Originality: how much of every record is published unchanged."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo.data.facts import leaf_offsets
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch
from privmoo.measures.base import FloatArray
from privmoo.measures.staged import Staged
from privmoo.measures.utility import leaf_sums, leaves_per_block
from privmoo.recodings.base import Recoding
from privmoo.recodings.columns import Intervals, Labels, Noised
from privmoo.recodings.nodes import numeric_columns
from privmoo.recodings.single_values import keeps_value

__all__ = ["Originality", "count_unchanged", "released_records"]


class Originality(Staged):
    """Originality: the share of quasi-identifier values that are published unchanged. More is better.

    Majeed & Hwang 2023, Table III. A value is unchanged if the published label stands for it alone; a
    number is unchanged if it is the number of the record. Suppressed records publish no values.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), quasi_identifiers=["a", "b"])
    >>> merged = pm.recodings.Candidates(blocks=np.array([[0, 1, 0, 0]], np.uint32))
    >>> Originality()(pm.group(table, merged))
    0.5
    """

    name = "originality"
    percent = True
    sense = "max"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "blocks"})
    coarser = "worse"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the share of every candidate."""
        table = groups.table
        cells = table.n_records * table.n_qis
        if groups.cells is not None:
            rows_of_candidates = released_records(groups, self.name)
            pairs = zip(groups.cells, rows_of_candidates, strict=True)
            counts = [count_unchanged(table, recoding)[rows].sum() for recoding, rows in pairs]
            return np.array(counts) / cells
        single = (leaves_per_block(groups, self.name) == 1).astype(np.float64)
        offsets = leaf_offsets(table)
        for j, qi in enumerate(table.qis):
            if not qi.exact:  # a base interval is not a value of the data
                single[:, offsets[j] : offsets[j + 1]] = 0.0
        return np.asarray(leaf_sums(groups, single).sum(axis=1) / cells)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing to everything unchanged."""
        return 0.0, 1.0


def released_records(groups: GroupBatch, measure: str) -> list[NDArray[np.int64]]:
    """Return the released records of every candidate.

    Args:
        groups: The groups of a chunk of candidates.
        measure: The name of the measure that asks, for errors.
    """
    if groups.kept is not None:
        raise MeasureError(
            f"{measure}: cannot be measured if candidates choose single records; use a policy such as "
            "BelowThreshold()"
        )
    labels = groups.need_labels(measure)
    row_tuple = groups.table.row_tuple
    return [
        np.flatnonzero(labels[c][row_tuple] < n_groups)
        for c, n_groups in enumerate(groups.n_groups.tolist())
    ]


def count_unchanged(table: Table, cells: Recoding) -> NDArray[np.int64]:
    """Count the quasi-identifiers that every record publishes unchanged.

    Args:
        table: The records.
        cells: A recoding that publishes record by record.
    """
    count = np.zeros(table.n_records, np.int64)
    for column, numbers in zip(cells.columns, numeric_columns(table), strict=True):
        if isinstance(column, Labels):
            count += keeps_value(column)[column.codes]
        elif isinstance(column, Noised | Intervals):
            low, high = (ends[column.codes] for ends in column.ends)
            count += (low == numbers) & (high == numbers)
    return count
