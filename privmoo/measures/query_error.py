"""QueryError: the error of counts that are estimated from a release."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from privmoo._util.checks import fraction, whole_number
from privmoo.data.cache import per_table
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Stage
from privmoo.measures.base import FloatArray
from privmoo.measures.published_leaves import published_leaves
from privmoo.measures.staged import Staged
from privmoo.measures.workload import Workload, draw_workload

__all__ = ["QueryError"]

_Workloads = dict[tuple[int, int, float, int], Workload]


class QueryError(Staged):
    """Mean relative error of COUNT queries that are answered from a release. Less is better.

    The queries are drawn once per table and seed. Each counts the records that satisfy a condition on 1
    to `most_columns` quasi-identifiers: a range of numbers or a set of categories. A released row is
    spread evenly over the leaves that its published values may stand for, as LeFevre, DeWitt &
    Ramakrishnan 2006 and Xiao & Tao 2006 do; the mean of a class stands for the nearest leaf. The error
    of a query is `|estimate - count| / max(count, floor · n)`: the floor keeps very small counts from
    dominating the mean.

    Args:
        queries: The number of queries.
        most_columns: The largest number of quasi-identifiers in a query.
        selectivity: The share of records that a query is meant to count.
        floor: A share of the records; the errors of smaller counts are taken relative to it.
        seed: The seed with which the queries are drawn.
        stage: `"after"` or `"before"` suppression.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 30, 40, 50]}), quasi_identifiers=["age"])
    >>> error = QueryError(queries=20, most_columns=1, selectivity=0.25)
    >>> error(pm.group(table))
    0.0
    >>> pairs = pm.recodings.Candidates(blocks=np.array([[0, 0, 1, 1]], np.uint32))
    >>> error(pm.group(table, pairs, suppression=pm.BelowThreshold(2)))
    0.0
    >>> uneven = pm.Table(pd.DataFrame({"age": [20, 20, 20, 30]}), quasi_identifiers=["age"])
    >>> merged = pm.recodings.Candidates(blocks=np.array([[0, 0]], np.uint32))
    >>> 0 < error(pm.group(uneven, merged)) < 1
    True
    """

    name = "query_error"
    label = "error of counting queries"
    percent = True
    sense = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "blocks", "labels"})

    def __init__(
        self,
        *,
        queries: int = 200,
        most_columns: int = 4,
        selectivity: float = 0.05,
        floor: float = 0.001,
        seed: int = 0,
        stage: Stage = "after",
    ) -> None:
        super().__init__(stage=stage)
        self.queries = whole_number("queries", queries, error=MeasureError)
        self.most_columns = whole_number("most_columns", most_columns, error=MeasureError)
        self.selectivity = fraction("selectivity", selectivity, above_zero=True, error=MeasureError)
        self.floor = fraction("floor", floor, error=MeasureError)
        self.seed = whole_number("seed", seed, at_least=0, error=MeasureError)

    def workload(self, table: Table) -> Workload:
        """Return the queries of a table."""
        key = (self.queries, self.most_columns, self.selectivity, self.seed)
        workloads = _workloads(table)
        if key not in workloads:
            workloads[key] = draw_workload(
                table,
                queries=self.queries,
                most_columns=self.most_columns,
                selectivity=self.selectivity,
                seed=self.seed,
            )
        return workloads[key]

    def error(self, table: Table, estimates: FloatArray) -> float:
        """Return the mean relative error of estimated answers.

        Args:
            table: The records.
            estimates: An answer for every query of the workload.
        """
        counts = self.workload(table).counts
        return float((np.abs(estimates - counts) / self._scale(table)).mean())

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the mean error of every candidate."""
        workload = self.workload(groups.table)
        return np.array(
            [
                self.error(groups.table, workload.estimates(*published_leaves(groups, c)))
                for c in range(len(groups))
            ]
        )

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from exact answers to the worst ones that are possible."""
        counts = self.workload(table).counts
        farthest = np.maximum(counts, table.n_records - counts)
        return 0.0, float((farthest / self._scale(table)).mean())

    def _scale(self, table: Table) -> FloatArray:
        return np.maximum(self.workload(table).counts, self.floor * table.n_records)


@per_table
def _workloads(table: Table) -> _Workloads:
    """Return the workloads that were drawn for a table."""
    return {}
