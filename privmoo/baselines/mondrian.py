"""Mondrian: multidimensional recoding by cuts at the median."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.baselines.common import Publish, check, publish
from privmoo.data.points import Space
from privmoo.data.table import Table
from privmoo.kernels.mondrian import (
    BY_CATEGORIES,
    BY_MEDIAN,
    BY_TREE,
    Columns,
    SensitiveValues,
    mondrian_cuts,
)
from privmoo.recodings.classes import PartitionRecoding

__all__ = ["mondrian", "mondrian_labels"]


def mondrian(
    table: Table,
    k: int,
    *,
    strict: bool = True,
    l: int = 1,  # noqa: E741
    release: Publish = "range",
) -> PartitionRecoding:
    """Mondrian (LeFevre, DeWitt & Ramakrishnan 2006): cut classes while all parts stay allowed.

    The quasi-identifier with the widest range in the class, as a share of its range in the table, is
    cut first, the next one if no cut of it leaves k records and l values everywhere. Numbers and ordered
    values are cut at the median; categories with a tree into the children of the lowest node above
    them, without one into two halves of the sorted categories, the middle one in the first half if
    that is allowed, else in the second. Their width is counted in categories.

    `strict` keeps equal values together: the cut is beside the median's value, on the more even
    side if that is allowed, else on the other. Relaxed, records that have the median's value are
    divided so that both parts have half of the records; equal records may then be in different
    classes, in the order of the rows.

    Time is O(n log² n) for n distinct tuples (records, if relaxed).

    Args:
        table: The records.
        k: Fewest records of a class.
        strict: Whether equal values of the cut quasi-identifier stay together.
        l: Fewest distinct values of every sensitive attribute in a class.
        release: Publish the `"range"` of every class (the lowest node or interval that covers it), or
            its `"mean"` and mode.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 50, 22, 54]}), quasi_identifiers=["age"])
    >>> mondrian(table, 2).apply(table, np.arange(4))["age"].tolist()
    ['20–22', '50–54', '20–22', '50–54']
    """
    labels = mondrian_labels(table, k, strict=strict, l=l)
    return publish(table, labels, release, by="tuples" if strict else "records")


def mondrian_labels(
    table: Table,
    k: int,
    *,
    strict: bool = True,
    l: int = 1,  # noqa: E741
) -> NDArray[np.int64]:
    """Return the class of every distinct tuple, or of every record if not `strict`.

    Args:
        table: The records.
        k: Fewest records of a class.
        strict: Whether equal values of the cut quasi-identifier stay together.
        l: Fewest distinct values of every sensitive attribute in a class.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 20, 20, 20]}), quasi_identifiers=["age"])
    >>> mondrian_labels(table, 2).tolist(), mondrian_labels(table, 2, strict=False).tolist()
    ([0], [0, 0, 0, 0])
    """
    check(table, k, diversity=l)
    values = Space.of(table).points
    kinds, trees, levels, spans = [], [], [], []
    for j, qi in enumerate(table.qis):
        span = float(len(np.unique(table.tuples[:, j])) - 1)
        tree = np.zeros((1, qi.n_leaves), np.int64)
        if qi.numbers is not None:
            kinds.append(BY_MEDIAN)
            span = float(np.ptp(values[:, j]))
        elif qi.hierarchy is None:
            kinds.append(BY_CATEGORIES)
        elif qi.hierarchy.constrained:
            kinds.append(BY_TREE)
            tree = qi.hierarchy.level_blocks.astype(np.int64)
        else:
            kinds.append(BY_MEDIAN)
            span = float(np.ptp(values[:, j]))
        trees.append(tree.ravel())
        levels.append(len(tree))
        spans.append(span if span > 0 else 1.0)
    starts: list[NDArray[np.int64]] = []
    codes: list[NDArray[Any]] = []
    sizes = [0]
    n_entries = table.n_tuples if strict else table.n_records
    for attribute in table.sensitive.values() if l > 1 else ():
        before = sum(map(len, codes))
        if strict:
            starts.append(attribute.offsets + before)
            codes.append(attribute.codes)
        else:
            starts.append(np.arange(n_entries + 1) + before)
            codes.append(attribute.row_codes)
        sizes.append(attribute.n_values)
    columns = Columns(
        values=values if strict else values[table.row_tuple],
        weights=table.weights if strict else np.ones(n_entries, np.int64),
        kinds=np.array(kinds),
        trees=np.concatenate(trees),
        tree_starts=np.concatenate([[0], np.cumsum([len(tree) for tree in trees])]),
        tree_levels=np.array(levels),
        spans=np.array(spans),
    )
    sensitive = SensitiveValues(
        starts=np.array(starts, dtype=np.int64).reshape(-1, n_entries + 1),
        codes=np.concatenate([np.empty(0, np.int64), *codes]).astype(np.int64),
        offsets=np.cumsum(sizes),
    )
    return mondrian_cuts(columns, sensitive, k, l, strict)
