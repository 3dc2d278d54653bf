"""Ranks of QI-groups by size or diversity, and which groups a limit or a threshold keeps."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo import registry
from privmoo.errors import ProblemError
from privmoo.groups.diversity import diversity_of_groups
from privmoo.groups.groups import GroupBatch
from privmoo.kernels.suppression import keep_above, keep_within_budget
from privmoo.measures.base import Measure
from privmoo.measures.names import measure_by_name

__all__ = [
    "READABLE",
    "Property",
    "above",
    "above_thresholds",
    "alone",
    "check_property",
    "group_ranks",
    "measure_of_groups",
    "ranks",
    "within",
]

Property = Literal["k", "l"]
READABLE = frozenset({"sizes", "loss", "counts"})
"""The parts of the groups that a measure of a single group may read."""


def check_property(name: str, value: str) -> None:
    """Raise a ProblemError unless a parameter is `"k"` or `"l"`.

    Args:
        name: The parameter, for the message.
        value: Its value.
    """
    if value not in ("k", "l"):
        raise ProblemError(f"{name}: must be 'k' or 'l', got {value!r}")


def ranks(groups: GroupBatch, by: Property) -> NDArray[Any]:
    """Return how well each group is protected.

    Args:
        groups: The groups of a chunk of candidates.
        by: `"k"`: its size in persons; `"l"`: its diversity.
    """
    return groups.sizes if by == "k" else diversity_of_groups(groups)


def group_ranks(groups: GroupBatch, name: str) -> NDArray[np.float64]:
    """Return how well each group is protected, by any measure of single groups: more is better.

    Args:
        groups: The groups of a chunk of candidates.
        name: `"k"`, `"l"`, or the name of a measure; one that compares with all records compares with
            the original table.
    """
    if name in ("k", "l"):
        return np.asarray(ranks(groups, "k" if name == "k" else "l"), dtype=np.float64)
    measure = measure_of_groups(name)
    single, places = alone(groups)
    result = np.full(len(groups.sizes), -np.inf)
    values = measure.values(single)
    result[places] = values if measure.sense == "max" else -values
    return result


def alone(groups: GroupBatch) -> tuple[GroupBatch, NDArray[np.int64]]:
    """Return every group as a candidate of its own, and the place of each in the arrays."""
    ranges = zip(groups.starts, groups.stops, strict=True)
    places = np.unique(
        np.concatenate(
            [np.arange(start, stop) for start, stop in ranges] or [np.zeros(0, np.int64)]
        )
    )
    single = replace(
        groups,
        starts=places,
        stops=places + 1,
        labels=None,
        blocks=None,
        clusters=None,
        centres=None,
        spans=None,
        cells=None,
        kept=None,
        stage="after",
    )
    return single, places


def measure_of_groups(name: str) -> Measure:
    """Return the measure with a name, as far as it is a property of a single group.

    Raises:
        ProblemError: The measure is about all groups together.
    """
    kind = registry.load("measures", name) if registry.contains("measures", name) else None
    takes_reference = kind is not None and "reference" in inspect.signature(kind).parameters
    measure = measure_by_name(name, **({"reference": "original"} if takes_reference else {}))
    if measure.needs - READABLE:
        raise ProblemError(
            f"by: {name} is not a property of a single group, so no group can be below it"
        )
    return measure


def above(
    groups: GroupBatch, ranks: NDArray[Any], thresholds: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which groups have at least the rank of their candidate's threshold.

    Args:
        groups: The groups of a chunk of candidates.
        ranks: One rank per group.
        thresholds: One threshold per candidate.
    """
    keep = np.empty(len(groups.sizes), np.bool_)
    keep_above(groups.starts, groups.stops, ranks, thresholds, keep)
    return keep


def above_thresholds(groups: GroupBatch, thresholds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which groups have at least the size that their candidate asks for.

    Args:
        groups: The groups of a chunk of candidates.
        thresholds: One size per candidate.
    """
    return above(groups, groups.sizes, thresholds)


def within(
    groups: GroupBatch, limit: int, first: Property, second: Property | None = None
) -> NDArray[np.bool_]:
    """Return which groups stay when the least protected classes go, as long as they fit a limit.

    Args:
        groups: The groups of a chunk of candidates.
        limit: The number of records that may be left out.
        first: The property that orders the classes.
        second: The property that orders groups within the last class.
    """
    keys: list[NDArray[np.int64]] = []
    for by in (first, second):
        if by is None:
            keys.append(np.zeros(0, np.int64))
        elif by == "k":
            keys.append(groups.sizes)
        else:
            diversity = diversity_of_groups(groups)
            keys.append(np.where(np.isfinite(diversity), diversity, 0).astype(np.int64))
    keep = np.empty(len(groups.sizes), np.bool_)
    keep_within_budget(groups.starts, groups.stops, keys[0], keys[1], groups.records, limit, keep)
    return keep
