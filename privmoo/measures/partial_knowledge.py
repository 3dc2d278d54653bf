"""What an attacker finds who knows any m of the quasi-identifiers: k^m-anonymity, and C of LKC-privacy."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from privmoo._util.checks import whole_number
from privmoo.attacks.partial_knowledge import largest_share, smallest_support
from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Stage
from privmoo.groups.known_columns import labels_of_groups, on_columns
from privmoo.measures.base import FloatArray
from privmoo.measures.staged import Staged

__all__ = ["Confidence", "KmAnonymity"]


class _PartialKnowledge(Staged):
    """A measure of the records that agree in any m quasi-identifiers."""

    audited = True
    coarser = "better"

    def __init__(self, m: int = 2, *, stage: Stage = "after") -> None:
        self.m = whole_number("m", m, error=MeasureError)
        super().__init__(stage=stage)

    @classmethod
    def qualifier(cls, parameters: Mapping[str, Any]) -> str:
        """Return how many columns the attacker knows."""
        return f"m = {parameters.get('m', 2)}"


class KmAnonymity(_PartialKnowledge):
    """k^m-anonymity: the fewest records that agree in any m quasi-identifiers. More is better.

    Terrovitis, Mamoulis & Kalnis 2008; K of LKC-privacy (Mohammed et al. 2009). The attacker knows m of the
    columns, and nobody knows which. It is never below k, and is k where m is the number of columns.
    It counts persons if the table has a subject column.

    Args:
        m: How many quasi-identifiers the attacker knows.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"age": [1, 1, 2, 2], "sex": list("fmfm")})
    >>> groups = pm.group(pm.Table(df, quasi_identifiers=["age", "sex"]))
    >>> KmAnonymity(1)(groups), KmAnonymity(2)(groups)
    (2.0, 1.0)
    """

    name = "km"
    label = "kᵐ-anonymity"
    symbol = "kᵐ"
    sense = "max"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "blocks"})

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the fewest records of every candidate."""
        if groups.table.subjects is not None:
            return self._persons(groups)
        result = np.zeros(len(groups))
        for c, (start, stop) in enumerate(zip(groups.starts, groups.stops, strict=True)):
            if start < stop:
                labels = labels_of_groups(groups, c)
                result[c] = smallest_support(labels, groups.records[start:stop], self.m)
        return result

    def _persons(self, groups: GroupBatch) -> FloatArray:
        """Return the fewest persons: those of several groups are not the sum."""
        names = groups.table.qi_names
        result = np.full(len(groups), np.inf)
        for columns in combinations(names, min(self.m, len(names))):
            agreeing = on_columns(groups, columns)
            for c, (start, stop) in enumerate(zip(agreeing.starts, agreeing.stops, strict=True)):
                result[c] = min(result[c], agreeing.sizes[start:stop].min(initial=2**62))
        return result

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to one group."""
        return 0.0, float(table.n_persons)


class Confidence(_PartialKnowledge):
    """Confidence: the largest share of a sensitive value among records that agree in any m columns.

    C of LKC-privacy (Mohammed, Fung, Hung & Lee 2009). Less is better: 1 means that up to m columns reveal
    somebody's value. Of several sensitive attributes the worst counts. A missing value may be the most
    frequent one of its group.

    Args:
        m: How many quasi-identifiers the attacker knows.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"age": [1, 1, 2, 2], "sex": list("fmfm"), "ill": list("xyyy")})
    >>> groups = pm.group(pm.Table(df, quasi_identifiers=["age", "sex"], sensitive="ill"))
    >>> Confidence(1)(groups)
    1.0
    """

    name = "confidence"
    label = "largest share of a value"
    sense = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "counts", "blocks"})

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the largest share of every candidate."""
        result = np.zeros(len(groups))
        for c, n_groups in enumerate(groups.n_groups):
            if n_groups:
                labels = labels_of_groups(groups, c)
                result[c] = max(
                    self._of_attribute(groups, c, attribute, labels)
                    for attribute in groups.table.sensitive.values()
                )
        return result

    def _of_attribute(
        self, groups: GroupBatch, candidate: int, attribute: Attribute, labels: Any
    ) -> float:
        segments = groups[candidate].segments(attribute.name)
        lengths = segments.stops - segments.starts
        places = np.repeat(segments.starts - np.cumsum(lengths) + lengths, lengths)
        places += np.arange(len(places))
        entries = (
            np.repeat(np.arange(len(lengths)), lengths),
            segments.values[places].astype(np.int64),
            segments.counts[places].astype(np.int64),
        )
        return largest_share(labels, entries, self.m, unknown=attribute.unknown)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from the most even values to one value for all."""
        return 0.0, 1.0
