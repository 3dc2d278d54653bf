"""Utility of QI-groups: general loss, suppression, class sizes, classification."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, flag
from privmoo.data.facts import leaf_offsets
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Stage
from privmoo.kernels.cells import block_leaves, column_sums
from privmoo.kernels.diversity import majorities
from privmoo.kernels.sizes import squares, weighted_sums
from privmoo.measures.base import FloatArray, Measure
from privmoo.measures.staged import Staged

if TYPE_CHECKING:
    from privmoo.suppression.staircase import Steps

__all__ = [
    "AverageClassSize",
    "ClassificationMetric",
    "Discernibility",
    "GeneralLoss",
    "GeneralizationLoss",
    "SuppressedShare",
]


class GeneralizationLoss(Staged):
    """The generalization part of the general loss: the mean of `(b - 1)/(|Σ| - 1)` over all cells.

    Iyengar 2002; Dewri et al. 2011, Section 5.1: b of the |Σ| leaves of a quasi-identifier are
    under the released value; weighted by the quasi-identifiers' weights. A suppressed record counts
    0 here but stays in the denominator. Less is better.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 1, 2, 3]}), quasi_identifiers=["a"])
    >>> merged = pm.recodings.Candidates(blocks=np.array([[0, 0, 1]], np.uint32))
    >>> GeneralizationLoss()(pm.group(table, merged))
    0.375
    """

    name = "generalization_loss"
    percent = True
    sense = "min"
    needs = frozenset({"sizes", "loss"})
    coarser = "worse"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the loss of every candidate."""
        total = np.empty(len(groups))
        weighted_sums(
            groups.starts, groups.stops, groups.records, groups.need_losses(self.name), total
        )
        return total / groups.table.n_records

    def of_steps(self, steps: Steps, n_records: int) -> FloatArray | None:
        """Return the value at every step of staircases.

        Args:
            steps: The steps.
            n_records: The records of the table.
        """
        return steps.losses / n_records if self.stage == "after" else None

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from untouched values to one group."""
        return 0.0, 1.0


class GeneralLoss(Staged):
    """General loss: `(b - 1)/(|Σ| - 1)` per released cell and 1 per suppressed cell. Less is better.

    Iyengar 2002; Dewri et al. 2011, Sections 5.1 and 5.2. `L_j` is the mean over all records of one
    quasi-identifier; they combine as `Σ w_j L_j / Σ w_j`, or, as in ARX, geometrically:
    `Π (1 + L_j)^(w_j / Σ w) - 1`.

    Args:
        aggregate: `"arithmetic"` or `"geometric"`.
        stage: `"after"` or `"before"` suppression.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 1, 2, 3]}), quasi_identifiers=["a"])
    >>> merged = pm.recodings.Candidates(blocks=np.array([[0, 0, 1]], np.uint32))
    >>> GeneralLoss()(pm.group(table, merged, suppression=pm.BelowThreshold(2)))
    0.625
    """

    name = "loss"
    percent = True
    sense = "min"
    needs = frozenset({"sizes", "loss"})
    coarser = "worse"

    def __init__(
        self,
        *,
        aggregate: Literal["arithmetic", "geometric"] = "arithmetic",
        stage: Stage = "after",
    ) -> None:
        choice("aggregate", aggregate, ("arithmetic", "geometric"), error=MeasureError)
        self.aggregate = aggregate
        super().__init__(stage=stage)

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the loss of every candidate."""
        n = groups.table.n_records
        if self.aggregate == "arithmetic":
            total = np.empty(len(groups))
            weighted_sums(
                groups.starts, groups.stops, groups.records, groups.need_losses(self.name), total
            )
            return np.asarray((total + count_suppressed(groups)) / n)
        sums = leaf_sums(groups, leaves_per_block(groups, "geometric loss") - 1)
        sizes = np.array([max(qi.n_leaves - 1, 1) for qi in groups.table.qis])
        losses = (sums / sizes + count_suppressed(groups)[:, None]) / n
        return np.expm1(weighted_sum(np.log1p(losses), shares_of_weight(groups.table)))

    def of_steps(self, steps: Steps, n_records: int) -> FloatArray | None:
        """Return the value at every step of staircases.

        Args:
            steps: The steps.
            n_records: The records of the table.
        """
        return (
            (steps.losses + steps.suppressed) / n_records
            if (self.stage, self.aggregate) == ("after", "arithmetic")
            else None
        )

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from untouched values to nothing released."""
        return 0.0, 1.0


class SuppressedShare(Measure):
    """Share of the table's records that are not released, `s / n`. Less is better.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 1, 1, 2]}), quasi_identifiers=["a"])
    >>> SuppressedShare()(pm.group(table, suppression=pm.BelowThreshold(2)))
    0.25
    """

    name = "suppression"
    percent = True
    sense = "min"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the share of every candidate."""
        return np.asarray(count_suppressed(groups) / groups.table.n_records)

    def of_steps(self, steps: Steps, n_records: int) -> FloatArray | None:
        """Return the value at every step of staircases.

        Args:
            steps: The steps.
            n_records: The records of the table.
        """
        return steps.suppressed / n_records

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from no record to all."""
        return 0.0, 1.0


class Discernibility(Measure):
    """Discernibility: `Σ|g|² + s·n`; a suppressed record looks like all others. Less is better.

    Bayardo & Agrawal 2005, ARX's DM. `star` is ARX's DM*: `Σ|g|²` over the groups before
    suppression.

    Args:
        star: Whether to ignore suppression.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 1, 1, 2]}), quasi_identifiers=["a"])
    >>> Discernibility()(pm.group(table, suppression=pm.BelowThreshold(2)))
    13.0
    """

    name = "discernibility"
    sense = "min"
    coarser = "worse"

    def __init__(self, *, star: bool = False) -> None:
        flag("star", star, error=MeasureError)
        self.star = star
        self.stage = "before" if star else "after"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the sum of every candidate."""
        total = np.empty(len(groups), np.int64)
        squares(groups.starts, groups.stops, groups.records, total)
        if not self.star:
            total += count_suppressed(groups) * groups.table.n_records
        return total.astype(np.float64)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from all records alone to one group."""
        return float(table.n_records), float(table.n_records) ** 2


class AverageClassSize(Staged):
    """Average equivalence class size: `n / (groups + 1 if any record is suppressed)`.

    LeFevre, DeWitt & Ramakrishnan 2006, as in ARX: the suppressed records are one more class. Less
    is better.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 1, 1, 2]}), quasi_identifiers=["a"])
    >>> AverageClassSize()(pm.group(table))
    2.0
    """

    name = "aecs"
    label = "average QI-group size / k"
    sense = "min"
    coarser = "worse"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the mean size of every candidate."""
        return np.asarray(
            groups.table.n_records / (groups.n_groups + (count_suppressed(groups) > 0))
        )

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from all records alone to one group."""
        return 1.0, float(table.n_records)


class ClassificationMetric(Staged):
    """Classification metric: share of records that are suppressed or not in their group's majority class.

    Iyengar 2002, CM, with the table's target as class; if classes are tied, one of them counts as the
    majority. Less is better.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2], "pay": list("hhll")})
    >>> ClassificationMetric()(pm.group(pm.Table(df, quasi_identifiers=["a"], target="pay")))
    0.25
    """

    name = "classification"
    sense = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "target"})
    coarser = "worse"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the share of every candidate."""
        self.check(groups.table)
        segments = groups.segments[str(groups.table.target_name)]
        right = np.empty(len(groups), np.int64)
        majorities(groups.starts, groups.stops, segments, right)
        return np.asarray((groups.table.n_records - right) / groups.table.n_records)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from pure groups to nothing released."""
        return 0.0, 1.0


def count_suppressed(groups: GroupBatch) -> NDArray[np.int64]:
    """Return the number of records that each candidate leaves out."""
    return np.asarray(groups.table.n_records - groups.n_records)


def shares_of_weight(table: Table) -> FloatArray:
    """Return the weights of the quasi-identifiers, scaled to the sum 1."""
    weights = np.array([qi.weight for qi in table.qis])
    return np.asarray(weights / weights.sum())


def weighted_sum(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted sum over columns; a matrix product may round differently in larger chunks.

    Args:
        columns: Candidates × quasi-identifiers.
        weights: One per quasi-identifier.
    """
    return np.asarray((columns * weights).sum(axis=1))


def leaves_per_block(groups: GroupBatch, measure: str) -> FloatArray:
    """Return, for every candidate and leaf, the number of leaves under its released value.

    Args:
        groups: The groups of a chunk of candidates.
        measure: The name of the measure that asks, for errors.
    """
    blocks = groups.need_blocks(measure)
    out = np.empty(blocks.shape)
    block_leaves(blocks, leaf_offsets(groups.table), out)
    return out


def leaf_sums(groups: GroupBatch, leaf_values: FloatArray) -> FloatArray:
    """Return, per candidate and quasi-identifier, the sum of a value of leaves over its records.

    Args:
        groups: The groups of a chunk of candidates.
        leaf_values: Candidates × leaves.
    """
    out = np.empty((len(groups), groups.table.n_qis))
    column_sums(
        groups.starts,
        groups.stops,
        groups.records,
        groups.firsts,
        groups.table.tuples,
        leaf_offsets(groups.table),
        leaf_values,
        out,
    )
    return out
