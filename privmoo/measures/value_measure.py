"""ValueMeasure: a measure of the sensitive values within QI-groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.groups.groups import GroupBatch, Segments
from privmoo.groups.missing import worst_case
from privmoo.measures.base import FloatArray
from privmoo.measures.staged import Staged

__all__ = ["ValueMeasure", "values_by_kernel"]


class ValueMeasure(Staged):
    """A measure of the sensitive values in groups; the worst attribute counts."""

    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "counts"})
    audited = True

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the worst of the attributes, for every candidate."""
        worst = np.minimum if self.sense == "max" else np.maximum
        values = [
            self._of_attribute(groups, attribute, worst_case(groups, attribute))
            for attribute in self.attributes(groups.table)
        ]
        return reduce(worst, values)

    def attributes(self, table: Table) -> list[Attribute]:
        """Return the sensitive attributes that the measure reads."""
        return list(table.sensitive.values())

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the measure of one attribute, for every candidate.

        Args:
            groups: The groups of a chunk of candidates.
            attribute: The sensitive attribute.
            segments: The counts of its values in every group; a missing value counts as the most
                frequent one.
        """
        raise TypeError(f"{type(self).__name__} must define _of_attribute(groups, ...)")


def values_by_kernel(
    kernel: Callable[..., None], groups: GroupBatch, segments: Segments, *arguments: Any
) -> FloatArray:
    """Return the result of a kernel for one attribute and every candidate.

    Args:
        kernel: A function of starts, stops, records, segments, `arguments` and the array to fill.
        groups: The groups of a chunk of candidates.
        segments: The counts of the attribute's values in every group.
        arguments: Further arguments of the kernel.
    """
    out = np.empty(len(groups))
    kernel(groups.starts, groups.stops, groups.records, segments, *arguments, out)
    return out
