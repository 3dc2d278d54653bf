"""Limits on regions: what constraints and objectives demand of the sensitive values of every group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.kernels.region_layout import (
    ALPHA,
    BETA,
    DELTA,
    DISTINCT,
    ENHANCED_BETA,
    ENTROPY,
    EQUAL_T,
    FREQUENCY,
    HIERARCHICAL_T,
    ORDERED_T,
    RECURSIVE,
    Limits,
    Outliers,
)
from privmoo.measures import (
    Alpha,
    BetaLikeness,
    Constraint,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Measure,
    MinimumEntropy,
    RecursiveDiversity,
    SuppressedShare,
    TCloseness,
)
from privmoo.measures.closeness import value_orders
from privmoo.spaces.region_columns import sizes_of
from privmoo.suppression.base import BySize, Suppression
from privmoo.suppression.staircase import most_suppressed

__all__ = ["Demands", "Target"]

_LOOSEST = {True: 0.0, False: 1e300}


@dataclass(frozen=True)
class Target:
    """What every region of a partition must have.

    Attributes:
        k: The least number of records, or of persons where these are counted.
        bounds: A bound for every limit on sensitive values.
    """

    k: int
    bounds: NDArray[np.float64]


class Demands:
    """What constraints demand of every region, and what objectives make worth varying.

    Args:
        table: The records.
        constraints: The constraints of a problem. Those that no single region can break are judged after
            the search, and limit nothing here.
        objectives: Its objectives.
        suppression: Which records are left out; None for nobody.

    Attributes:
        k: The least size of a region.
        part: What one person adds to the size of a region in the kernels.
        left_out: How small regions are left out; by default none are.
        varies_k: Whether sizes above k are worth trying.
        goals: The limits whose bounds are worth varying.
        limits: All limits, as the kernels read them.
    """

    def __init__(
        self,
        table: Table,
        constraints: Sequence[Constraint],
        objectives: Sequence[Measure],
        suppression: Suppression | None = None,
    ) -> None:
        sizes = [c.bound for c in constraints if _is_size(c.measure) and c.relation == ">="]
        self.part = sizes_of(table)[1]
        self.left_out = _by_size(table, constraints, suppression)
        if self.left_out.below is not None:
            sizes.append(self.left_out.below)  # what is smaller is not published
        self.k = max(1, math.ceil(max(sizes, default=1)))
        self._kinds: list[int] = []
        self._attributes: list[int] = []
        self._bounds: list[float] = []
        self._parameters: list[float] = []
        n = len(table.sensitive)
        for constraint in constraints:
            kind = _kind(constraint.measure, n)
            if kind is not None and constraint.relation == (">=" if kind < ALPHA else "<="):
                bound = float(constraint.bound)
                if isinstance(constraint.measure, MinimumEntropy):
                    bound = 2.0**bound
                self._add(constraint.measure, kind, bound, n)
        fixed = len(self._kinds)
        for objective in objectives:
            kind = _kind(objective, n)
            if kind is not None:
                self._add(objective, kind, _LOOSEST[kind < ALPHA], n)
        self.goals = range(fixed, len(self._kinds))
        self.varies_k = not self.goals or any(_is_size(m) for m in objectives)
        self.limits = self._limits(table)

    def _add(self, measure: Measure, kind: int, bound: float, n_attributes: int) -> None:
        for a in range(n_attributes):
            self._kinds.append(kind)
            self._attributes.append(a)
            self._bounds.append(bound)
            self._parameters.append(float(getattr(measure, "c", 0.0)))

    @property
    def loosest(self) -> Target:
        """What the constraints demand."""
        return Target(self.k, self.limits.bounds)

    def limits_for(
        self, target: Target, *, below: float | None = None, share: float = 1.0
    ) -> Limits:
        """Return the limits with the bounds of a target.

        Args:
            target: The target.
            below: Regions smaller than this are left out; by default, those that are too small for the
                target. 0 for none.
            share: How much of the budget for leaving out may be used.
        """
        if below is None:
            below = target.k if self.left_out.below is None else self.left_out.below
        most = int(share * self.left_out.most) if below else 0
        outliers = Outliers(
            most,
            math.ceil(below) * self.part,
            np.array([most], np.int64),
            np.ones(1),
        )
        return self.limits._replace(bounds=np.ascontiguousarray(target.bounds), outliers=outliers)

    def at_least(self, goal: int) -> bool:
        """Return whether the bound of a limit is a least value."""
        return self._kinds[goal] < ALPHA

    def bound_differences(self, target: Target) -> bool:
        """Return whether a target bounds from above how a region differs from the table, as t does."""
        is_bound = (self.limits.kinds >= ALPHA) & (target.bounds < _LOOSEST[False])
        return bool(is_bound.any())

    def stricter(self, one: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return bounds that are at least as strict as those of the constraints."""
        least = np.array(self._kinds) < ALPHA
        fixed = self.limits.bounds
        return np.where(least, np.maximum(one, fixed), np.minimum(one, fixed))

    def _limits(self, table: Table) -> Limits:
        attributes = list(table.sensitive.values()) if self._kinds else []
        orders = value_orders(table) if attributes else {}
        offsets = np.concatenate([[0], np.cumsum([a.n_values for a in attributes])])
        owners, values, counts = [], [], []
        for start, a in zip(offsets, attributes, strict=False):
            owners.append(np.repeat(np.arange(table.n_tuples), np.diff(a.offsets)))
            values.append(a.codes + start)
            counts.append(a.counts)
        trees = [_tree(a) for a in attributes]
        none = np.empty(0, np.int64)
        owner = np.concatenate([none, *owners])
        order = np.argsort(owner, kind="stable")
        return Limits(
            starts=np.searchsorted(owner[order], np.arange(table.n_tuples + 1)).astype(np.int64),
            values=np.concatenate([none, *values])[order].astype(np.int32),
            counts=np.concatenate([none, *counts])[order].astype(np.int64),
            offsets=offsets.astype(np.int64),
            unknown=np.array(
                [-1 if a.unknown is None else a.unknown for a in attributes], np.int64
            ),
            kinds=np.array(self._kinds, np.int64),
            attributes=np.array(self._attributes, np.int64),
            bounds=np.array(self._bounds, np.float64),
            parameters=np.array(self._parameters, np.float64),
            shares=np.concatenate([np.empty(0), *(_shares(a) for a in attributes)]),
            order=np.concatenate([none, *(orders[a.name] for a in attributes)]).astype(np.int64),
            heights=np.array([len(tree) for tree in trees], np.int64),
            tree_starts=np.cumsum([0, *(tree.size for tree in trees)])[:-1].astype(np.int64),
            nodes=np.concatenate([none, *(tree.ravel() for tree in trees)]),
            outliers=Outliers(0, 0, np.zeros(1, np.int64), np.ones(1)),
        )


def _by_size(
    table: Table, constraints: Sequence[Constraint], suppression: Suppression | None
) -> BySize:
    """Return how small regions are left out, within the constraints."""
    rule = None if suppression is None else suppression.by_size(table.n_records)
    if rule is None:
        return BySize(0, None)
    shares = [
        c.bound
        for c in constraints
        if isinstance(c.measure, SuppressedShare) and c.relation == "<="
    ]
    most = min([rule.most, *(most_suppressed(share, table.n_records) for share in shares)])
    return rule._replace(most=most)


def _tree(attribute: Attribute) -> NDArray[np.int64]:
    """Return the node above every value, for all levels of a hierarchy below its root."""
    if attribute.hierarchy is None:
        return np.empty((0, attribute.n_values), np.int64)
    levels = attribute.hierarchy.level_blocks[:-1].astype(np.int64)
    # A value that the hierarchy lacks is an unknown one, and never counted.
    return np.pad(levels, ((0, 0), (0, attribute.n_values - levels.shape[1])))


def _shares(attribute: Attribute) -> NDArray[np.float64]:
    """Return the share of every value among those that are known."""
    totals = attribute.totals.astype(np.float64)
    if attribute.unknown is not None:
        totals[attribute.unknown] = 0.0
    return np.asarray(totals / max(totals.sum(), 1.0))


def _is_size(measure: Measure) -> bool:
    return isinstance(measure, KAnonymity) and measure.columns is None


def _kind(measure: Measure, n_attributes: int) -> int | None:
    """Return which limit on a group a measure is; None if a group alone does not decide it."""
    if isinstance(measure, TCloseness):
        return {"equal": EQUAL_T, "ordered": ORDERED_T, "hierarchical": HIERARCHICAL_T}[
            measure.distance
        ]
    if isinstance(measure, BetaLikeness):
        return ENHANCED_BETA if measure.enhanced else BETA
    if isinstance(measure, MinimumEntropy):
        return ENTROPY if n_attributes == 1 else None
    kinds = {
        DistinctDiversity: DISTINCT,
        FrequencyDiversity: FREQUENCY,
        EntropyDiversity: ENTROPY,
        RecursiveDiversity: RECURSIVE,
        Alpha: ALPHA,
        DeltaDisclosure: DELTA,
    }
    return next((kind for cls, kind in kinds.items() if isinstance(measure, cls)), None)
