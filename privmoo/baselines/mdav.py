"""MDAV: microaggregation into groups of k records around the most distant ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.baselines.common import Publish, category_offsets, check, labels_of_rows, published
from privmoo.data.points import Scale, Space
from privmoo.data.table import Table
from privmoo.kernels.mdav import mdav_groups
from privmoo.recodings.classes import PartitionRecoding
from privmoo.recodings.means import Means

__all__ = ["mdav", "mdav_labels"]


def mdav(
    table: Table,
    k: int,
    *,
    scale: Scale = "standard",
    release: Publish = "mean",
    means: Means | None = None,
) -> PartitionRecoding:
    """Microaggregate numbers and categories by MDAV (Domingo-Ferrer & Torra 2005): k to 2k - 1 records.

    While 3k records are left, the record farthest from their centre, and then the record farthest from
    that one, each form a group of the k records nearest to it, itself included. The distance is the
    squared difference of numbers plus one per differing category; the centre is mean and mode. Among
    equally distant records, the one of the lowest tuple comes first; equal records are taken in the
    order of the rows.

    Groups with the same published values are one class of the release, so there may be fewer and
    larger classes than groups. Time is O(n · t / k) for n records of t distinct tuples.

    Args:
        table: The records.
        k: Fewest records of a group.
        scale: The unit of numbers: `"standard"` deviations, `"minmax"` or `"raw"`.
        release: Publish the `"mean"` and mode of every class, or the `"range"` of its members.
        means: How means are published, such as `Means(step=5)`; exactly by default.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 50, 22, 54]}), quasi_identifiers=["age"])
    >>> mdav(table, 2).apply(table, np.arange(4))["age"].tolist()
    [21.0, 52.0, 21.0, 52.0]
    """
    labels = mdav_labels(table, k, scale=scale)
    return published(table, labels, release, by="records", means=means)


def mdav_labels(table: Table, k: int, *, scale: Scale = "standard") -> NDArray[np.int64]:
    """Return the group of every record, before groups with the same centre become one class.

    Args:
        table: The records.
        k: Fewest records of a group.
        scale: The unit of numbers: `"standard"` deviations, `"minmax"` or `"raw"`.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 20, 20, 20]}), quasi_identifiers=["age"])
    >>> mdav_labels(table, 2).tolist()
    [0, 0, 1, 1]
    """
    check(table, k)
    space = Space.of(table, scale)
    tuples, groups, counts = mdav_groups(
        space.points, space.numeric, category_offsets(table, space), table.weights, k
    )
    return labels_of_rows(table.row_tuple.astype(np.int64), tuples, groups, counts)
