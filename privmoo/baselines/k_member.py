"""Greedy k-member clustering: clusters that grow by the record that costs least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.baselines.common import (
    Kinds,
    category_offsets,
    check,
    classes_of,
    labels_of_rows,
    published,
    sort_column,
)
from privmoo.data.points import Scale, Space
from privmoo.data.table import Table
from privmoo.kernels.class_merging import absorb_leftovers
from privmoo.kernels.growth_by_spread import SpreadKinds, grow_clusters
from privmoo.recodings.classes import PartitionRecoding
from privmoo.recodings.means import Means

__all__ = ["grown_labels", "k_member"]


def k_member(
    table: Table,
    k: int,
    *,
    scale: Scale = "raw",
    l: int = 1,  # noqa: E741
    means: Means | None = None,
) -> PartitionRecoding:
    """Cluster greedily by k-member (Byun, Kamra, Bertino, Li 2007), publishing mean and mode.

    A cluster starts with the record farthest from the last one taken (at first: from the lowest
    tuple) and gets the record that costs least until it has k. The cost is the exact increase of
    spread: squared distance to the mean plus records that differ from the mode. Fewer than k
    records are left at the end; each goes where it costs least. Among equals, the lowest tuple comes
    first.

    With l > 1, a cluster with only as many open places as missing sensitive values takes records that
    bring one, and grows past k if necessary. When the remaining records have fewer than l values of
    some attribute, they go where they cost least.

    Time is O(n · t) for n records of t distinct tuples. Without categories, growing is much faster,
    because the search follows the number that varies most and stops early.

    Args:
        table: The records.
        k: Fewest records of a class.
        scale: The unit of numbers: `"raw"`, `"standard"` deviations or `"minmax"`.
        l: Fewest distinct values of every sensitive attribute in a class.
        means: How means are published, such as `Means(step=5)`; exactly by default.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 50, 22, 54, 21]}), quasi_identifiers=["age"])
    >>> k_member(table, 2).apply(table, np.arange(5))["age"].tolist()
    [21.0, 52.0, 21.0, 52.0, 21.0]
    """
    labels = grown_labels(table, k, scale=scale, l=l)
    return published(table, labels, by="records", means=means)


def grown_labels(
    table: Table,
    k: int,
    *,
    scale: Scale = "raw",
    l: int = 1,  # noqa: E741
    by_increase: bool = True,
    near_start: bool = False,
) -> NDArray[np.int64]:
    """Return the cluster of every record, grown by the increase of spread or the distance to its start.

    Args:
        table: The records.
        k: Fewest records of a cluster.
        scale: The unit of numbers: `"raw"`, `"standard"` deviations or `"minmax"`.
        l: Fewest distinct values of every sensitive attribute in a cluster.
        by_increase: Whether a record costs the increase of spread, or its distance to the start.
        near_start: Whether a cluster starts with the record nearest to the last one taken, instead of
            the farthest.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 50, 22, 54]}), quasi_identifiers=["age"])
    >>> grown_labels(table, 2).tolist()
    [1, 0, 1, 0]
    """
    check(table, k, diversity=l)
    space = Space.of(table, scale)
    kinds = Kinds.of(table, sensitive=l > 1)
    points = space.points[kinds.tuples]
    units, clusters, counts = grow_clusters(
        SpreadKinds(
            points,
            space.numeric,
            category_offsets(table, space),
            kinds.sensitive,
            kinds.n_values,
            kinds.weights,
        ),
        sort_column(space, table.weights),
        k,
        l,
        by_increase,
        near_start,
    )
    alone = clusters < 0
    n_clusters = int(clusters.max()) + 1
    clusters[alone] = np.arange(n_clusters, n_clusters + np.count_nonzero(alone))
    classes = classes_of(
        points[units], space.numeric, counts, clusters, int(clusters.max()) + 1, []
    )
    labels = absorb_leftovers(classes, n_clusters)[clusters]
    return labels_of_rows(kinds.of_row, units, labels, counts)
