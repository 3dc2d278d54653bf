"""Workload: random counting queries over the quasi-identifiers of a table, with their true answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.kernels.queries import Terms, estimate_counts

__all__ = ["Workload", "draw_workload"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Workload:
    """Counting queries: how many records satisfy a condition on each of a few quasi-identifiers.

    Attributes:
        conditions: Per query, the leaves that satisfy its condition, by quasi-identifier.
        terms: The conditions in the form that the kernels need.
        counts: The true answer of every query.
    """

    conditions: tuple[dict[int, NDArray[np.bool_]], ...]
    terms: Terms
    counts: FloatArray

    def __len__(self) -> int:
        return len(self.conditions)

    def estimates(
        self, low: NDArray[np.int32], high: NDArray[np.int32], records: NDArray[np.int64]
    ) -> FloatArray:
        """Return the answers that a release gives.

        Args:
            low: Groups × quasi-identifiers, the first leaf that the published value stands for.
            high: One after the last leaf.
            records: The released records of every group.
        """
        answers = np.empty(len(self))
        estimate_counts(low, high, records, self.terms, answers)
        return answers


def draw_workload(
    table: Table, *, queries: int, most_columns: int, selectivity: float, seed: int
) -> Workload:
    """Draw counting queries around random records, so that none has the answer 0.

    A query has conditions on 1 to `most_columns` quasi-identifiers. A condition on numbers is a range
    of values, any other a set of values. It grows at random around the value of a record until it holds
    the share of records that would give the query its selectivity if columns were independent; a value
    that many records share makes a query less selective, and its later conditions narrower.

    Args:
        table: The records.
        queries: The number of queries.
        most_columns: The largest number of quasi-identifiers in a query.
        selectivity: The share of records that a query is meant to count.
        seed: The seed of the random draws.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 30, 40, 50]}), quasi_identifiers=["age"])
    >>> draw_workload(table, queries=3, most_columns=1, selectivity=0.5, seed=1).counts.tolist()
    [2.0, 2.0, 2.0]
    """
    rng = np.random.default_rng(seed)
    shares = [
        np.bincount(table.tuples[:, j], weights=table.weights, minlength=qi.n_leaves)
        / table.n_records
        for j, qi in enumerate(table.qis)
    ]
    probabilities = table.weights / table.weights.sum()
    conditions = []
    for record in rng.choice(table.n_tuples, size=queries, p=probabilities):
        n_columns = int(rng.integers(1, min(most_columns, table.n_qis) + 1))
        query, missing = {}, selectivity
        for i, j in enumerate(rng.choice(table.n_qis, size=n_columns, replace=False).tolist()):
            share = min(missing ** (1 / (n_columns - i)), 1.0)
            query[j] = _condition(table.qis[j], int(table.tuples[record, j]), share, shares[j], rng)
            missing /= shares[j][query[j]].sum()
        conditions.append(query)
    counts = [
        table.weights[
            np.logical_and.reduce([leaves[table.tuples[:, j]] for j, leaves in query.items()])
        ].sum()
        for query in conditions
    ]
    return Workload(tuple(conditions), _terms(conditions), np.array(counts, np.float64))


def _condition(
    qi: QIColumn,
    leaf: int,
    share: float,
    leaf_shares: FloatArray,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Grow the leaves of a condition around one leaf until they hold a share of the records."""
    is_inside = np.zeros(qi.n_leaves, np.bool_)
    is_inside[leaf] = True
    if qi.numbers is not None and not np.isnan(qi.numbers[leaf]):
        order = np.argsort(qi.numbers, kind="stable")
        order = order[~np.isnan(qi.numbers[order])]
        first = last = int(np.flatnonzero(order == leaf)[0])
        while leaf_shares[is_inside].sum() < share and not is_inside[order].all():
            if first > 0 and (last + 1 == len(order) or rng.random() < 0.5):
                first -= 1
            else:
                last += 1
            is_inside[order[first : last + 1]] = True
    else:
        for other in rng.permutation(qi.n_leaves):
            if leaf_shares[is_inside].sum() >= share:
                break
            is_inside[other] = True
    return is_inside


def _terms(conditions: list[dict[int, NDArray[np.bool_]]]) -> Terms:
    """Return conditions in the form that the kernels need."""
    pairs = [pair for query in conditions for pair in query.items()]
    matches = [np.concatenate([[0], np.cumsum(leaves)]) for _, leaves in pairs]
    return Terms(
        offsets=np.cumsum([0, *(len(query) for query in conditions)]).astype(np.int64),
        columns=np.array([j for j, _ in pairs], np.int64),
        starts=np.cumsum([0, *(len(counts) for counts in matches[:-1])]).astype(np.int64),
        matches=np.concatenate(matches).astype(np.int32),
    )
