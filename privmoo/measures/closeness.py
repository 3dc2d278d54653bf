"""Privacy by how close the sensitive values of a QI-group are to those of the whole table."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, flag
from privmoo.data.cache import per_table
from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Segments, Stage
from privmoo.hierarchy.canonical import MISSING
from privmoo.kernels import closeness as kernels
from privmoo.measures.base import FloatArray
from privmoo.measures.value_measure import ValueMeasure, values_by_kernel

__all__ = ["BetaLikeness", "DeltaDisclosure", "Distance", "Reference", "TCloseness"]

Reference = Literal["released", "original"]
Distance = Literal["equal", "ordered", "hierarchical"]


class _Compared(ValueMeasure):
    """A measure that compares groups with a reference distribution."""

    sense = "min"

    def __init__(self, *, reference: Reference = "released", stage: Stage = "after") -> None:
        choice("reference", reference, ("released", "original"), error=MeasureError)
        self.reference: Reference = reference
        if reference == "original":
            self.audited = False  # what was suppressed cannot be seen in the release
        super().__init__(stage=stage)

    def _reference(self, attribute: Attribute) -> NDArray[np.int64]:
        """Return the counts of the reference; none for the released records: kernels add those up."""
        return attribute.totals if self.reference == "original" else np.zeros(0, np.int64)


class TCloseness(_Compared):
    """t-closeness: the largest earth mover's distance of a group's values. Less is better.

    Li, Li & Venkatasubramanian 2007. With p a group's and q the reference's distribution:
    `equal`: `½ Σ|p - q|`; `ordered`: `Σᵢ |Σ_{j≤i} (pⱼ - qⱼ)| / (M - 1)` over the M values of the
    reference in their order; `hierarchical`: what passes a node of level λ of the attribute's
    hierarchy of height H costs λ/H.

    Args:
        distance: `"equal"`, `"ordered"` or `"hierarchical"`.
        reference: Distribution in the `"released"` records or in the `"original"` table.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2], "ill": list("xxyy")})
    >>> TCloseness()(pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")))
    0.5
    """

    name = "t"
    label = "t-closeness"
    coarser = "better"

    def __init__(
        self,
        *,
        distance: Distance = "equal",
        reference: Reference = "released",
        stage: Stage = "after",
    ) -> None:
        choice("distance", distance, ("equal", "ordered", "hierarchical"), error=MeasureError)
        self.distance: Distance = distance
        super().__init__(reference=reference, stage=stage)

    def check(self, table: Table) -> None:
        """Raise a MeasureError where the hierarchical distance lacks a hierarchy."""
        super().check(table)
        for attribute in table.sensitive.values():
            if self.distance == "hierarchical" and attribute.hierarchy is None:
                raise MeasureError(
                    f"t: the hierarchical distance needs a hierarchy of {attribute.name!r}; give the "
                    "sensitive attribute one"
                )

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the largest distance by one attribute."""
        out = np.empty(len(groups))
        counts = (groups.starts, groups.stops, groups.records, segments)
        reference = self._reference(attribute)
        if self.distance == "equal":
            kernels.equal_distance(*counts, attribute.n_values, reference, out)
        elif self.distance == "ordered":
            order = _orders(groups.table)[attribute.name]
            kernels.ordered_distance(*counts, order, reference, out)
        elif attribute.hierarchy is not None:
            kernels.hierarchical_distance(*counts, attribute.hierarchy.level_blocks, reference, out)
        else:
            self.check(groups.table)
        return out

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from equal distributions to disjoint ones."""
        return 0.0, 1.0


class BetaLikeness(_Compared):
    """β-likeness: the largest relative gain `(p - q)/q` of a value in a group. Less is better.

    Cao & Karras 2012, Definition 2. `enhanced` also bounds the gain by -ln q (Definition 3); where
    a gain is larger no β holds, and the reference's number of records less one is given, which is
    more than any gain.

    Args:
        enhanced: Whether to demand the second bound.
        reference: Distribution in the `"released"` records or in the `"original"` table.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2], "ill": list("xxyy")})
    >>> groups = pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill"))
    >>> BetaLikeness()(groups), BetaLikeness(enhanced=True)(groups)
    (1.0, 3.0)
    """

    name = "beta"
    label = "β-likeness"
    symbol = "β"
    coarser = "better"

    def __init__(
        self,
        *,
        enhanced: bool = False,
        reference: Reference = "released",
        stage: Stage = "after",
    ) -> None:
        flag("enhanced", enhanced, error=MeasureError)
        self.enhanced = enhanced
        super().__init__(reference=reference, stage=stage)

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the largest gain of one attribute's values."""
        return values_by_kernel(
            kernels.largest_gain,
            groups,
            segments,
            attribute.n_values,
            self._reference(attribute),
            self.enhanced,
        )

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from equal distributions to a group of one record with a value of its own."""
        return 0.0, table.n_records - 1.0


class DeltaDisclosure(_Compared):
    """δ-disclosure: the largest `|log₂(p/q)|` of a value that a group has. Less is better.

    Brickell & Shmatikov 2008, as ARX measures it: values a group lacks do not count.

    Args:
        reference: Distribution in the `"released"` records or in the `"original"` table.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2], "ill": list("xxyy")})
    >>> DeltaDisclosure()(pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")))
    1.0
    """

    name = "delta"
    label = "δ-disclosure"
    symbol = "δ"

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the largest logarithmic ratio of one attribute's values."""
        return values_by_kernel(
            kernels.disclosure, groups, segments, attribute.n_values, self._reference(attribute)
        )

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from equal distributions to a group of one record with a value of its own."""
        return 0.0, math.log2(table.n_records)


@per_table
def _orders(table: Table) -> dict[str, NDArray[np.int64]]:
    """Return the values of every sensitive attribute from lowest to highest, missing last.

    The order of the hierarchy's leaves; without one numbers and dates by value and text by code
    point, also where the text looks like numbers.
    """
    orders = {}
    for name, attribute in table.sensitive.items():
        order = list(range(attribute.n_values))
        if attribute.hierarchy is None and attribute.kind == "text" and not attribute.ordered:
            order.sort(key=attribute.values.__getitem__)
        if attribute.has_missing:
            order.sort(key=lambda i: attribute.values[i] == MISSING)
        orders[name] = np.array(order, dtype=np.int64)
    return orders
