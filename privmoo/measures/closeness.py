"""Closeness: how near the sensitive values of a QI-group are to those of the whole table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, flag
from privmoo.data.cache import per_table
from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Segments, Stage
from privmoo.groups.missing import present_values
from privmoo.hierarchy.canonical import MISSING
from privmoo.kernels import closeness as kernels
from privmoo.measures.base import FloatArray
from privmoo.measures.value_measure import ValueMeasure

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
        """Return the counts of the reference; empty for the released records, which kernels add up."""
        if self.reference == "released":
            return np.zeros(0, np.int64)
        totals = attribute.totals
        if attribute.unknown is not None:
            totals[attribute.unknown] = 0
        return totals

    def _by_kernel(
        self, kernel: Callable[..., None], groups: GroupBatch, attribute: Attribute, *arguments: Any
    ) -> FloatArray:
        """Return the result of a kernel on the values that are present."""
        out = np.empty(len(groups))
        present = present_values(groups, attribute)
        kernel(groups.starts, groups.stops, *present, *arguments, out)
        return out


class TCloseness(_Compared):
    """t-closeness: the largest earth mover's distance of a group's values. Less is better.

    Li, Li & Venkatasubramanian 2007. With the distributions p of a group and q of the reference:
    `equal`: `½ Σ|p - q|`; `ordered`: `Σᵢ |Σ_{j≤i} (pⱼ - qⱼ)| / (M - 1)` over the M values of the
    reference in their order; `hierarchical`: moving mass across a node of level λ in a hierarchy of height
    H costs λ/H.

    Args:
        distance: `"equal"`, `"ordered"` or `"hierarchical"`.
        reference: Compare with the values of the `"released"` records or of the `"original"` table.
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
        """Raise a MeasureError if the hierarchical distance lacks a hierarchy."""
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
        kernel: Callable[..., None] = kernels.equal_distance
        domain: Any = attribute.n_values
        if self.distance == "ordered":
            kernel, domain = kernels.ordered_distance, value_orders(groups.table)[attribute.name]
        elif self.distance == "hierarchical":
            self.check(groups.table)
            kernel = kernels.hierarchical_distance
            domain = None if attribute.hierarchy is None else attribute.hierarchy.level_blocks
        return self._by_kernel(kernel, groups, attribute, domain, self._reference(attribute))

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from equal distributions to disjoint ones."""
        return 0.0, 1.0


class BetaLikeness(_Compared):
    """β-likeness: the largest relative gain `(p - q)/q` of a value in a group. Less is better.

    Cao & Karras 2012, Definition 2. `enhanced` also bounds the gain by -ln q (Definition 3); if a gain is
    larger, no β holds, and the value is the number of reference records minus one, which is more than any
    gain.

    Args:
        enhanced: Whether to require the second bound.
        reference: Compare with the values of the `"released"` records or of the `"original"` table.
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
        domain, reference = attribute.n_values, self._reference(attribute)
        return self._by_kernel(
            kernels.largest_gain, groups, attribute, domain, reference, self.enhanced
        )

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from equal distributions to a group of one record with a unique value."""
        return 0.0, table.n_records - 1.0


class DeltaDisclosure(_Compared):
    """δ-disclosure: the largest `|log₂(p/q)|` of a value that a group has. Less is better.

    Brickell & Shmatikov 2008, as ARX measures it: values that a group lacks do not count.

    Args:
        reference: Compare with the values of the `"released"` records or of the `"original"` table.
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
        domain, reference = attribute.n_values, self._reference(attribute)
        return self._by_kernel(kernels.disclosure, groups, attribute, domain, reference)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from equal distributions to a group of one record with a unique value."""
        return 0.0, math.log2(table.n_records)


@per_table
def value_orders(table: Table) -> dict[str, NDArray[np.int64]]:
    """Return the values of every sensitive attribute from lowest to highest, missing last.

    Values have the order of the leaves of their hierarchy. Without a hierarchy, numbers and dates are
    sorted by value, and texts by code point, even if they look like numbers.
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
