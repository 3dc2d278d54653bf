"""Suppression of the groups that break a constraint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.groups import GroupBatch
from privmoo.suppression.policies import Suppression

if TYPE_CHECKING:
    from privmoo.measures.base import Constraint

__all__ = ["ViolatingGroups"]

_READABLE = frozenset({"sizes", "loss", "counts"})


class ViolatingGroups(Suppression):
    """Every group that breaks a constraint by itself is left out, as ARX does.

    A constraint is asked of each group alone: k of a group is its size, ℓ and t are those of its values.
    Measures that compare with all released records must compare with the original table instead
    (`TCloseness(reference="original")`), because who is released depends on the answer.

    Args:
        constraints: Such as `KAnonymity() >= 5`, `EntropyDiversity() >= 3`.

    >>> from privmoo.measures import FrequencyDiversity, KAnonymity
    >>> ViolatingGroups(KAnonymity() >= 5, FrequencyDiversity() >= 2).describe()
    {'policy': 'ViolatingGroups', 'constraints': ['k >= 5', 'l >= 2']}
    """

    def __init__(self, *constraints: Constraint) -> None:
        if not constraints:
            raise ProblemError("constraints: name at least one, such as KAnonymity() >= 5")
        for constraint in constraints:
            if not (hasattr(constraint, "measure") and hasattr(constraint, "violation")):
                raise ProblemError(
                    f"constraints: expected a bound such as KAnonymity() >= 5, got {constraint!r}"
                )
            m = constraint.measure
            if m.needs - _READABLE:
                raise ProblemError(
                    f"constraints: {m.name} is not a property of a single group, so no group can violate it"
                )
            if getattr(m, "reference", "original") != "original":
                raise ProblemError(
                    f"constraints: {m.name} compares with the released records, which depend on who is "
                    "left out; use reference='original'"
                )
        self.constraints = constraints

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, if a constraint reads them."""
        return frozenset({"counts"}) & frozenset().union(
            *(c.measure.needs for c in self.constraints)
        )

    def describe(self) -> dict[str, Any]:
        """The constraints in words."""
        return {"policy": "ViolatingGroups", "constraints": [repr(c) for c in self.constraints]}

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Groups that satisfy every constraint."""
        ranges = zip(groups.starts, groups.stops, strict=True)
        every = np.concatenate([np.arange(a, b) for a, b in ranges] or [np.zeros(0, np.int64)])
        alone = replace(
            groups,
            starts=every,
            stops=every + 1,
            labels=None,
            blocks=None,
            clusters=None,
            centres=None,
            kept=None,
            stage="after",
        )
        kept = np.zeros(len(groups.sizes), dtype=np.bool_)
        fine = np.ones(len(every), dtype=np.bool_)
        for constraint in self.constraints:
            fine &= constraint.violation(constraint.measure.values(alone)) <= 0
        kept[every] = fine
        return kept

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ViolatingGroups) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash(repr(self.describe()))

    def __repr__(self) -> str:
        return f"ViolatingGroups({', '.join(map(repr, self.constraints))})"
