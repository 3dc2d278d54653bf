"""ViolatingGroups: the groups that break a constraint are left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.groups import GroupBatch
from privmoo.measures.base import Constraint
from privmoo.measures.notation import constraint_from
from privmoo.suppression.base import BySize, Suppression
from privmoo.suppression.ranks import READABLE, alone

__all__ = ["ViolatingGroups"]


class ViolatingGroups(Suppression):
    """Leave out every group that breaks a constraint by itself, as in ARX.

    A constraint applies to each group alone: k of a group is its size, ℓ and t are those of its values.
    Measures that compare with all released records must compare with the original table instead
    (`TCloseness(reference="original")`), because the released records depend on the result.

    Args:
        constraints: At least one, such as `KAnonymity() >= 5`, `EntropyDiversity() >= 3`.

    >>> from privmoo.measures import FrequencyDiversity, KAnonymity
    >>> ViolatingGroups(KAnonymity() >= 5, FrequencyDiversity() >= 2).describe()
    {'policy': 'ViolatingGroups', 'constraints': ['k >= 5', 'l >= 2']}
    """

    def __init__(self, *constraints: Constraint) -> None:
        if not constraints:
            raise ProblemError("constraints: name at least one, such as KAnonymity() >= 5")
        for constraint in constraints:
            if not isinstance(constraint, Constraint):
                raise ProblemError(
                    "constraints: expected a constraint such as KAnonymity() >= 5, got an object of type "
                    f"{type(constraint).__name__}"
                )
            measure = constraint.measure
            if measure.needs - READABLE:
                raise ProblemError(
                    f"constraints: {measure.name} is not a property of a single group, so no group can "
                    "break it"
                )
            if getattr(measure, "population", None) is not None:
                raise ProblemError(
                    f"constraints: {measure.name} groups a whole population for every candidate, which "
                    "cannot be done for single groups; use sampling_fraction= instead of population="
                )
            if getattr(measure, "reference", "original") != "original":
                raise ProblemError(
                    f"constraints: {measure.name} compares with the released records, which depend on "
                    "the groups that are left out; use reference='original'"
                )
        self.constraints = constraints

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, if a constraint reads them."""
        return frozenset({"counts"}) & frozenset().union(
            *(constraint.measure.needs for constraint in self.constraints)
        )

    def describe(self) -> dict[str, Any]:
        """Return the name and the constraints as plain data."""
        return {
            "policy": "ViolatingGroups",
            "constraints": [constraint.describe() for constraint in self.constraints],
        }

    @classmethod
    def from_description(cls, parameters: Mapping[str, Any]) -> Self:
        """Make the policy from a list of constraints such as `"k >= 5"`."""
        if set(parameters) != {"constraints"} or not isinstance(parameters["constraints"], list):
            raise ProblemError(
                "suppression: ViolatingGroups takes a list of constraints, such as ['k >= 5']"
            )
        return cls(*map(constraint_from, parameters["constraints"]))

    def by_size(self, n_records: int) -> BySize | None:
        """Return the largest bound on k; None if there is none."""
        bounds = [c.bound for c in self.constraints if c.measure.name == "k" and c.relation == ">="]
        return BySize(n_records, max(bounds)) if bounds else None

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Keep the groups that satisfy every constraint."""
        single, places = alone(groups)
        holds = np.ones(len(places), dtype=np.bool_)
        for constraint in self.constraints:
            holds &= constraint.violation(constraint.measure.values(single)) <= 0
        keep = np.zeros(len(groups.sizes), dtype=np.bool_)
        keep[places] = holds
        return keep

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ViolatingGroups) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash(repr(self.describe()))

    def __repr__(self) -> str:
        return f"ViolatingGroups({', '.join(map(repr, self.constraints))})"
