"""A table cut up into the units that classes are made of, and the field that a local search walks on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from privmoo.data.points import Space
from privmoo.data.table import Table
from privmoo.kernels.class_state import Field
from privmoo.kernels.partition import Units

__all__ = ["cut_up", "field_of", "nearest_tuples"]

_REACH = 24  # neighbours of a tuple; more find little, and fewer miss classes of outliers


def cut_up(table: Table, coordinates: Space, split: int) -> tuple[Table, Units]:
    """Return the table with a tuple for every unit, and the units.

    Args:
        table: The records.
        coordinates: The points of its tuples.
        split: How many records of a distinct tuple are units of their own; the others are one unit.
    """
    view, owners = table, np.arange(table.n_tuples)
    if split > 0:
        order = np.argsort(table.row_tuple, kind="stable")
        starts = np.cumsum(table.weights) - table.weights
        rank = np.empty(table.n_records, np.int64)
        rank[order] = np.arange(table.n_records) - np.repeat(starts, table.weights)
        view = table.split(np.minimum(rank, split))
        owners = np.empty(view.n_tuples, np.int64)
        owners[view.row_tuple] = table.row_tuple
    categories = np.flatnonzero(~coordinates.numeric)
    attributes = list(view.sensitive.values())
    n_values = np.array([a.n_values for a in attributes], dtype=np.int64)
    entries = []
    for s, a in enumerate(attributes):
        owner = np.repeat(np.arange(view.n_tuples), np.diff(a.offsets))
        value = a.codes + n_values[:s].sum()
        entries.append(np.column_stack([owner, np.full(len(owner), s), value, a.counts]))
    joined = np.concatenate([np.empty((0, 4), np.int64), *entries]).astype(np.int64)
    joined = joined[np.argsort(joined[:, 0], kind="stable")]
    units = Units(
        points=coordinates.points[owners],
        weights=view.weights.astype(np.int64),
        owners=owners,
        numbers=np.flatnonzero(coordinates.numeric),
        categories=categories,
        category_starts=_starts([table.qis[j].n_leaves for j in categories]),
        n_values=n_values,
        entry_starts=_starts(np.bincount(joined[:, 0], minlength=view.n_tuples).tolist()),
        entry_attributes=np.ascontiguousarray(joined[:, 1]),
        entry_values=np.ascontiguousarray(joined[:, 2]),
        entry_counts=np.ascontiguousarray(joined[:, 3]),
    )
    return view, units


def field_of(units: Units, coordinates: Space) -> Field:
    """Return what a local search walks on.

    Args:
        units: What is partitioned.
        coordinates: The points of the tuples that they are of.
    """
    codes = units.points[:, units.categories].astype(np.int64) + units.category_starts[:-1]
    records = np.arange(units.weights.sum() + 1.0)
    return Field(
        numbers=np.ascontiguousarray(units.points[:, units.numbers]),
        codes=np.ascontiguousarray(codes),
        code_starts=units.category_starts,
        weights=units.weights,
        owners=units.owners,
        unit_starts=_starts(np.bincount(units.owners).tolist()),
        neighbours=nearest_tuples(coordinates, _REACH),
        value_starts=_starts(units.n_values.tolist()),
        entry_starts=units.entry_starts,
        entry_values=units.entry_values,
        entry_counts=units.entry_counts,
        entropy_terms=records * np.log2(np.maximum(records, 1)),
    )


def nearest_tuples(coordinates: Space, reach: int) -> NDArray[np.int32]:
    """Return the nearest tuples of every tuple, itself among them.

    Args:
        coordinates: The points of the tuples.
        reach: How many; all if there are fewer.
    """
    points, numeric = coordinates.points, coordinates.numeric
    # Indicators that are 1/√2 apart in two places have the squared distance 1 of two categories.
    indicators = [
        (points[:, [j]] == np.unique(points[:, j])) / np.sqrt(2) for j in np.flatnonzero(~numeric)
    ]
    embedded = np.hstack([points[:, numeric], *indicators])
    reach = min(reach, len(points))
    _, nearest = cKDTree(embedded).query(embedded, k=np.arange(1, reach + 1))
    return np.ascontiguousarray(nearest, dtype=np.int32)


def _starts(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
