"""Merging distinct tuples, the cheapest merge first, until every class is large and diverse enough."""

from __future__ import annotations

import numpy as np

from privmoo.baselines.common import check, classes_of, published
from privmoo.data.points import Scale, Space
from privmoo.data.table import Table
from privmoo.kernels.ward import ward_merges
from privmoo.recodings.classes import PartitionRecoding
from privmoo.recodings.means import Means

__all__ = ["ward"]


def ward(
    table: Table,
    k: int,
    *,
    l: int = 1,  # noqa: E741
    scale: Scale = "raw",
    means: Means | None = None,
) -> PartitionRecoding:
    """Merge classes of distinct tuples by Ward's criterion, publishing mean and mode.

    A class is unfinished while it has fewer than k records or fewer than l values of some sensitive
    attribute. The cheapest merge of an unfinished class with any other is made, until all classes are
    finished. The cost is the exact increase of spread: for classes of a and b records the squared
    distance of their means times ab / (a + b), plus the additional records that differ from the mode.
    Among equally cheap merges, that of the lowest tuples is made. Equal records stay together.

    Memory is O(t) for t distinct tuples. The search follows a k-d tree of the numbers, so that time
    is about O(t log t) for few of them; without any number it is O(t²), minutes for 40,000 tuples.

    Args:
        table: The records.
        k: Fewest records of a class.
        l: Fewest distinct values of every sensitive attribute in a class.
        scale: The unit of numbers: `"raw"`, `"standard"` deviations or `"minmax"`.
        means: How means are published, such as `Means(step=5)`; exactly by default.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 50, 22, 54, 21]}), quasi_identifiers=["age"])
    >>> ward(table, 2).apply(table, np.arange(5))["age"].tolist()
    [21.0, 52.0, 21.0, 52.0, 21.0]
    """
    check(table, k, diversity=l)
    space = Space.of(table, scale)
    tuples = np.arange(table.n_tuples)
    attributes = []
    if l > 1:
        for a in table.sensitive.values():
            of_tuple = np.repeat(tuples, np.diff(a.offsets))
            attributes.append((of_tuple, a.codes.astype(np.int64), a.counts))
    classes = classes_of(
        space.points, space.numeric, table.weights, tuples, len(tuples), attributes
    )
    return published(table, ward_merges(classes, k, l), by="tuples", means=means)
