"""Missing sensitive values in QI-groups: each could be any value, so none of them adds privacy.

Where `Table(missing="unknown")`, the default, has missing values in a sensitive column:

- Measures of diversity (distinct, entropy, frequency and recursive ℓ, p, α, minimum entropy, homogeneity,
  similarity) count a missing value as the most frequent value of its group. That is the worst case for each
  of them: the measure holds whatever stands behind the missing values. A group of missing values alone
  counts as a group with one single value.
- Measures that compare a group with a reference (t, β, δ, skewness) compare the values that are present, on
  both sides. A group of missing values alone says nothing of any value: its distance is 0.

With `Table(missing="value")` a missing value is a value like any other, as in ARX.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.data.columns import Attribute
from privmoo.groups.groups import GroupBatch, Segments
from privmoo.kernels.missing import leave_out, move_to_most_frequent

__all__ = ["Present", "present_values", "worst_case"]


class Present(NamedTuple):
    """The values of one attribute that are known.

    Attributes:
        records: The number of records with a known value, by group.
        segments: The known values of every group.
    """

    records: NDArray[np.int64]
    segments: Segments


def worst_case(groups: GroupBatch, attribute: Attribute) -> Segments:
    """Return the values of every group, where a missing value counts as the most frequent one.

    Args:
        groups: The groups of a chunk of candidates.
        attribute: A sensitive attribute.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2, 2], "ill": ["x", None, "x", "y", None]})
    >>> groups = pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")).batch
    >>> worst_case(groups, groups.table.sensitive["ill"]).counts.tolist()
    [3, 2]
    """
    segments = groups.segments[attribute.name]
    if attribute.unknown is None:
        return segments
    key = ("worst case", attribute.name)
    if key not in groups.derived:
        result = _room(groups, segments)
        move_to_most_frequent(groups.starts, groups.stops, segments, attribute.unknown, result)
        groups.derived[key] = _trim_entries(result)
    segments_of_worst_case: Segments = groups.derived[key]
    return segments_of_worst_case


def present_values(groups: GroupBatch, attribute: Attribute) -> Present:
    """Return the values of every group that are known, and how many records have them.

    Args:
        groups: The groups of a chunk of candidates.
        attribute: A sensitive attribute.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2], "ill": ["x", None, "y", None]})
    >>> groups = pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")).batch
    >>> present_values(groups, groups.table.sensitive["ill"]).segments.counts.tolist()
    [1, 1]
    """
    segments = groups.segments[attribute.name]
    if attribute.unknown is None:
        return Present(groups.records, segments)
    key = ("present", attribute.name)
    if key not in groups.derived:
        result, records = _room(groups, segments), np.zeros_like(groups.records)
        leave_out(groups.starts, groups.stops, segments, attribute.unknown, records, result)
        groups.derived[key] = Present(records, _trim_entries(result))
    present: Present = groups.derived[key]
    return present


def _room(groups: GroupBatch, segments: Segments) -> Segments:
    """Return room for as many entries as the groups have."""
    places = np.zeros((2, len(segments.starts)), np.int64)
    n = 0
    for start, stop in zip(groups.starts, groups.stops, strict=True):
        n += int((segments.stops[start:stop] - segments.starts[start:stop]).sum())
    # One more than needed: the kernel looks at the place behind the last entry.
    return Segments(
        places[0], places[1], np.zeros(n + 1, np.int32), np.zeros(n + 1, segments.counts.dtype)
    )


def _trim_entries(segments: Segments) -> Segments:
    """Return the entries that were written."""
    n = int(segments.stops.max(initial=0))
    return segments._replace(values=segments.values[:n], counts=segments.counts[:n])
