"""Constraints on sensitive values in the form that the sweep of the lattice checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.kernels import value_rules as kernel
from privmoo.kernels.value_rules import ValueRules
from privmoo.measures import (
    Alpha,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    Measure,
    PSensitivity,
    RecursiveDiversity,
    TCloseness,
)
from privmoo.measures.base import Constraint
from privmoo.measures.closeness import value_orders

__all__ = ["is_value_demand", "no_rules", "rules_of"]

_DISTANCES = {
    "equal": kernel.T_EQUAL,
    "ordered": kernel.T_ORDERED,
    "hierarchical": kernel.T_HIERARCHICAL,
}
_KINDS: dict[type[Measure], Callable[..., int]] = {
    FrequencyDiversity: lambda measure: kernel.FREQUENCY,
    DistinctDiversity: lambda measure: kernel.DISTINCT,
    PSensitivity: lambda measure: kernel.DISTINCT,
    EntropyDiversity: lambda measure: kernel.ENTROPY,
    RecursiveDiversity: lambda measure: kernel.RECURSIVE,
    Alpha: lambda measure: kernel.ALPHA,
    BetaLikeness: lambda measure: kernel.BETA,
    TCloseness: lambda measure: _DISTANCES[measure.distance],
    DeltaDisclosure: lambda measure: kernel.DELTA,
}


def is_value_demand(table: Table, constraint: Constraint) -> bool:
    """Return whether the sweep can check a constraint: a demand on the values of one attribute.

    Missing values, several attributes and measures before suppression are left to the evaluator.

    Args:
        table: The records.
        constraint: The constraint.
    """
    measure = constraint.measure
    if type(measure) not in _KINDS or measure.stage != "after" or len(table.sensitive) != 1:
        return False
    [attribute] = table.sensitive.values()
    is_demand = constraint.relation == (">=" if measure.sense == "max" else "<=")
    return is_demand and attribute.unknown is None


def no_rules() -> ValueRules:
    """Return that nothing is demanded of sensitive values."""
    return _rules([], None, np.zeros(0, np.int64), suppresses=False)


def rules_of(table: Table, constraints: Sequence[Constraint], *, suppresses: bool) -> ValueRules:
    """Return demands on the values of the sensitive attribute.

    All of them judge a group by the distribution p of its values. Merging groups mixes their
    distributions, and these demands are then kept: entropy is concave in p; the largest share (ℓ by
    frequency, α), the earth mover's distances (t) and the gains of β are convex in p for a reference that
    stays the same; distinct and recursive ℓ are monotone (Machanavajjhala et al. 2007). δ is not: a value
    that a group lacks does not count, but its share in a merged group may be too small. With the
    released records as reference, suppression changes the reference, so t and β are monotone only without
    it.

    Args:
        table: The records.
        constraints: Constraints for which `is_value_demand` holds.
        suppresses: Whether records may be suppressed.
    """
    if not constraints:
        return no_rules()
    [attribute] = table.sensitive.values()
    return _rules(
        constraints, attribute, value_orders(table)[attribute.name], suppresses=suppresses
    )


def _rules(
    constraints: Sequence[Constraint],
    attribute: Attribute | None,
    order: np.ndarray,
    *,
    suppresses: bool,
) -> ValueRules:
    measures = [c.measure for c in constraints]
    released = [suppresses and getattr(m, "reference", "") == "released" for m in measures]
    monotone = [
        m.coarser == "better" and not by_released
        for m, by_released in zip(measures, released, strict=True)
    ]
    factors = [float(getattr(m, "c", getattr(m, "enhanced", 0.0))) for m in measures]
    hierarchy = None if attribute is None else attribute.hierarchy
    blocks = np.zeros((2, 1)) if hierarchy is None else hierarchy.level_blocks
    totals = np.zeros(0) if attribute is None else attribute.totals
    return ValueRules(
        kinds=np.array([_KINDS[type(m)](m) for m in measures], dtype=np.int64),
        bounds=np.array([c.bound for c in constraints], dtype=np.float64),
        factors=np.array(factors, dtype=np.float64),
        released=np.array(released, dtype=np.bool_),
        monotone=np.array(monotone, dtype=np.bool_),
        totals=np.ascontiguousarray(totals, dtype=np.int64),
        order=np.ascontiguousarray(order, dtype=np.int64),
        level_blocks=np.ascontiguousarray(blocks, dtype=np.int32),
    )
