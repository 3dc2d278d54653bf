"""Ranks of QI-groups by size or diversity, and which groups a limit or a threshold keeps."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.diversity import diversity_of_groups
from privmoo.groups.groups import GroupBatch
from privmoo.kernels.suppression import keep_above, keep_within_budget

__all__ = [
    "Property",
    "above",
    "above_thresholds",
    "check_property",
    "ranks",
    "within",
]

Property = Literal["k", "l"]


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
        limit: The number of records that may go.
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
