"""Mondrian: multidimensional recoding by cuts at the median."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice
from privmoo.baselines.common import Publish, check, check_release, published
from privmoo.data.columns import QIColumn
from privmoo.data.points import Space
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.kernels.mondrian import (
    BY_CATEGORIES,
    BY_MEDIAN,
    BY_TREE,
    Columns,
    SensitiveValues,
    mondrian_cuts,
)
from privmoo.measures import Constraint, DistinctDiversity, KAnonymity
from privmoo.recodings.class_labels import By, PublishedEnds
from privmoo.recodings.classes import PartitionRecoding, range_recoding
from privmoo.recodings.means import Means
from privmoo.spaces.regions import RegionSpace

__all__ = ["MondrianClasses", "mondrian", "mondrian_classes"]

Split = Literal["median", "loss"]


class MondrianClasses(NamedTuple):
    """Classes with their regions.

    Attributes:
        labels: The class of every distinct tuple; of every record if not strict.
        start: Classes × quasi-identifiers: the first leaf of the region.
        stop: The leaf after its last one.
    """

    labels: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]


def mondrian(
    table: Table,
    k: int,
    *,
    strict: bool = True,
    l: int = 1,  # noqa: E741
    release: Publish = "range",
    publish: PublishedEnds = "region",
    split: Split = "median",
    means: Means | None = None,
) -> PartitionRecoding:
    """Cut classes while all parts stay allowed: Mondrian (LeFevre, DeWitt & Ramakrishnan 2006).

    The quasi-identifier with the widest range in the class, as a share of its range in the table, is
    cut first, the next one if no cut of it leaves k records and l values everywhere. Numbers and ordered
    values are cut at the median; categories with a tree into the children of the lowest node above
    them, without one into two halves of the sorted categories, the middle one in the first half if
    that is allowed, else in the second. Their width is counted in categories.

    `strict` keeps equal values together: the cut is beside the median's value, on the more even
    side if that is allowed, else on the other. Relaxed, records that have the median's value are
    divided so that both parts have half of the records; equal records may then be in different
    classes, in the order of the rows.

    The region of a class follows from the cuts and the domain. A cut lies at the roundest number between
    the last value on its left and the first on its right, so it reveals neither of them. If `strict` is
    False and a value is on both sides, both regions reach beyond it, up to such numbers. The outer ends
    are those of the domain. Numbers with a tree are then cut into its nodes, like categories.
    `publish="tight"` publishes the smallest range that covers the members instead: it loses less, and
    its ends are values of real people.

    `split="loss"` cuts elsewhere: of all quasi-identifiers and all their positions, or nodes, where the
    general loss of what is published falls most. That is the greedy search that `problems.Regions` starts
    from, alone. It usually loses much less than cuts at the median.

    Time is O(n log² n) for n distinct tuples (records, if relaxed).

    Args:
        table: The records.
        k: Fewest records of a class.
        strict: Whether equal values of the cut quasi-identifier stay together.
        l: Fewest distinct values of every sensitive attribute in a class.
        release: Publish the `"range"` of every class, or its `"mean"` and mode.
        publish: Ranges of the `"region"`, or `"tight"` ones around the members.
        split: Where classes are cut: at the `"median"`, or where that lowers the `"loss"` most.
        means: How means are published; exactly by default.

    >>> import pandas as pd
    >>> from privmoo import Hierarchy
    >>> df = pd.DataFrame({"age": [20, 50, 22, 54]})
    >>> table = Table(df, quasi_identifiers={"age": Hierarchy.ordered(range(18, 66))})
    >>> mondrian(table, 2).apply(table, np.arange(4))["age"].tolist()
    ['18–49', '50–65', '18–49', '50–65']
    >>> mondrian(table, 2, publish="tight").apply(table, np.arange(4))["age"].tolist()
    ['20–22', '50–54', '20–22', '50–54']
    """
    choice("publish", publish, get_args(PublishedEnds))
    choice("split", split, get_args(Split))
    check_release(release, means)
    if split == "loss":
        return _by_loss(table, k, strict=strict, l=l, release=release, publish=publish, means=means)
    is_region = release == "range" and publish == "region"
    classes = mondrian_classes(table, k, strict=strict, l=l, at_nodes=is_region)
    by: By = "tuples" if strict else "records"
    if is_region:
        return range_recoding(table, classes.labels, by=by, bounds=(classes.start, classes.stop))
    return published(table, classes.labels, release, by=by, means=means)


def _by_loss(
    table: Table,
    k: int,
    *,
    strict: bool,
    l: int,  # noqa: E741
    release: Publish,
    publish: PublishedEnds,
    means: Means | None,
) -> PartitionRecoding:
    """The greedy splits of regions for one k."""
    check(table, k, diversity=l)
    if not strict:
        raise ProblemError(
            "split: cuts by loss keep equal records together; leave out strict=False, or cut at the median"
        )
    demands: list[Constraint] = [KAnonymity() >= k]
    if l > 1:
        demands.append(DistinctDiversity() >= l)
    space = RegionSpace(table, publish=publish, constraints=demands)
    [row] = space.grow([space.demands.loosest], np.zeros(0, np.int64))
    recoding = space.recoding(row)
    if release == "range":
        return recoding
    labels = recoding.labels_for(table).astype(np.int64)
    return published(table, labels, release, by="tuples", means=means)


def mondrian_classes(
    table: Table,
    k: int,
    *,
    strict: bool = True,
    l: int = 1,  # noqa: E741
    at_nodes: bool = False,
) -> MondrianClasses:
    """Return the class of every distinct tuple, or of every record if not `strict`, and the regions.

    Args:
        table: The records.
        k: Fewest records of a class.
        strict: Whether equal values of the cut quasi-identifier stay together.
        l: Fewest distinct values of every sensitive attribute in a class.
        at_nodes: Whether numbers with a tree are cut into its nodes, not at the median.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 20, 20, 20]}), quasi_identifiers=["age"])
    >>> mondrian_classes(table, 2).labels.tolist()
    [0]
    >>> mondrian_classes(table, 2, strict=False).labels.tolist()
    [0, 0, 0, 0]
    """
    check(table, k, diversity=l)
    columns = _columns(table, strict=strict, at_nodes=at_nodes)
    sensitive = _sensitive(table, strict=strict, diversity=l)
    return MondrianClasses(*mondrian_cuts(columns, sensitive, k, l, strict))


def _columns(table: Table, *, strict: bool, at_nodes: bool) -> Columns:
    """Return how every quasi-identifier is cut."""
    values = Space.of(table).points
    kinds, trees, spans = [], [], []
    for j, qi in enumerate(table.qis):
        kind = _kind(qi, at_nodes=at_nodes)
        if qi.numbers is not None and not _ascends(qi):
            values[:, j] = table.tuples[:, j]  # the order that the hierarchy states
        n_values = float(len(np.unique(table.tuples[:, j])))
        span = float(np.ptp(values[:, j])) if kind == BY_MEDIAN else n_values - 1
        tree = np.zeros((1, qi.n_leaves), np.int64)
        if kind == BY_TREE and qi.hierarchy is not None:
            tree = qi.hierarchy.level_blocks.astype(np.int64)
            values[:, j] = table.tuples[:, j]
        kinds.append(kind)
        trees.append(tree)
        spans.append(span if span > 0 else 1.0)
    rows = slice(None) if strict else table.row_tuple
    codes = table.tuples[rows]
    return Columns(
        values=values[rows],
        codes=codes,
        n_leaves=np.array([qi.n_leaves for qi in table.qis], dtype=np.int64),
        origins=np.array([qi.origin for qi in table.qis], dtype=np.int64),
        weights=table.weights if strict else np.ones(len(codes), np.int64),
        kinds=np.array(kinds),
        trees=np.concatenate([tree.ravel() for tree in trees]),
        tree_starts=np.cumsum([0, *(tree.size for tree in trees)]),
        tree_levels=np.array([len(tree) for tree in trees]),
        spans=np.array(spans),
    )


def _kind(qi: QIColumn, *, at_nodes: bool) -> int:
    is_number = qi.numbers is not None and _ascends(qi)
    if qi.hierarchy is None:
        return BY_MEDIAN if is_number else BY_CATEGORIES
    if not qi.hierarchy.constrained or (is_number and not at_nodes):
        return BY_MEDIAN
    return BY_TREE


def _ascends(qi: QIColumn) -> bool:
    """Return whether the numbers of the leaves ascend, so that a range of leaves is one of numbers."""
    numbers = np.asarray(qi.numbers)
    return bool((np.diff(numbers[~np.isnan(numbers)]) > 0).all())


def _sensitive(table: Table, *, strict: bool, diversity: int) -> SensitiveValues:
    """Return the sensitive values of every tuple or record, if they count."""
    starts: list[NDArray[np.int64]] = []
    codes: list[NDArray[Any]] = []
    sizes = [0]
    n_entries = table.n_tuples if strict else table.n_records
    for attribute in table.sensitive.values() if diversity > 1 else ():
        before = sum(map(len, codes))
        if strict:
            starts.append(attribute.offsets + before)
            codes.append(attribute.codes)
        else:
            starts.append(np.arange(n_entries + 1) + before)
            codes.append(attribute.row_codes)
        sizes.append(attribute.n_values)
    return SensitiveValues(
        starts=np.array(starts, dtype=np.int64).reshape(-1, n_entries + 1),
        codes=np.concatenate([np.empty(0, np.int64), *codes]).astype(np.int64),
        offsets=np.cumsum(sizes),
    )
