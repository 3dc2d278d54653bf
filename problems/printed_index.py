"""The index (d₁, d₂) that Dewri et al. (2011) print for (k, ℓ)-safety: a claim, not a measured property."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from privmoo.data.table import Table
from privmoo.groups.diversity import diversity_of_groups
from privmoo.groups.groups import GroupBatch
from privmoo.measures.base import FloatArray, Measure, Sense
from privmoo.measures.diversity import FrequencyDiversity
from privmoo.suppression.ranks import Property, check_property

__all__ = ["PrintedDiversity", "PrintedK"]


class _PrintedIndex(Measure):
    """One part of the index of the first class of equal (k, ⌊ℓ⌋) that stays, in the order of the policy.

    Args:
        prefer: The more desired property, as for `KLBudget`.
    """

    sense: ClassVar[Sense] = "max"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "counts"})
    by: ClassVar[Property]

    def __init__(self, prefer: Property = "k") -> None:
        check_property("prefer", prefer)
        self.prefer = prefer

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the part of the index of every candidate."""
        sizes, diversity = groups.sizes, np.floor(diversity_of_groups(groups))
        # The less desired property is the primary key.
        primary, secondary = (sizes, diversity) if self.prefer == "l" else (diversity, sizes)
        result = np.zeros(len(groups))
        for c, (start, stop) in enumerate(zip(groups.starts, groups.stops, strict=True)):
            if start == stop:
                continue
            least = primary[start:stop].min()
            result[c] = least
            if self.by == self.prefer:
                result[c] = secondary[start:stop][primary[start:stop] == least].min()
        return result


class PrintedK(_PrintedIndex):
    """d₁: the size of the first class that stays, which the paper equates with k (Eqs. 8 and 9).

    With `prefer="k"`, smaller groups may remain after it.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2, 2], "ill": ["x", "y", "z", "z", "z"]})
    >>> table = pm.Table(df, quasi_identifiers=["a"], sensitive="ill")
    >>> PrintedK("k")(pm.group(table)), pm.KAnonymity()(pm.group(table))
    (3.0, 2.0)
    """

    name = "d1"
    label = "d₁, a claim of k"
    symbol = "d₁"
    by = "k"

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to one group."""
        return 0.0, float(table.n_persons)


class PrintedDiversity(_PrintedIndex):
    """d₂: ⌊ℓ⌋ of the first class that stays, which the paper equates with ℓ (Eqs. 8 and 9).

    With `prefer="l"`, less diverse groups may remain after it.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2, 2], "ill": ["x", "y", "z", "z", "z"]})
    >>> table = pm.Table(df, quasi_identifiers=["a"], sensitive="ill")
    >>> PrintedDiversity("l")(pm.group(table)), pm.FrequencyDiversity()(pm.group(table))
    (2.0, 1.0)
    """

    name = "d2"
    label = "d₂, a claim of ℓ"
    symbol = "d₂"
    by = "l"

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range of ℓ."""
        return FrequencyDiversity().range(table)
