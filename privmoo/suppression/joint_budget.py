"""JointBudget: a budget that thresholds on several properties share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.groups import GroupBatch
from privmoo.suppression.base import Suppression
from privmoo.suppression.budget import check_fraction, largest_number
from privmoo.suppression.ranks import measure_of_groups
from privmoo.suppression.staircase import Staircase, Steps
from privmoo.suppression.thresholds import Thresholds
from privmoo.suppression.violating_groups import ViolatingGroups

__all__ = ["JointBudget"]


@dataclass(frozen=True)
class JointBudget(Staircase):
    """Leave out groups below a threshold on one property *or* another, up to a share of the records.

    A search considers every pair of thresholds within the budget: what remains has both properties. By
    itself the policy keeps the pair with the largest ln k₀ · ln ℓ₀, so that both are above 1 if possible.
    For other properties, it keeps the pair with the largest sum.

    Args:
        fraction: The largest share of records that may be left out, from 0 to 1.
        by: One or two of `"k"`, `"l"` and names of measures of single groups, such as `"entropy_l"` or
            `"t"` (compared with the original table); of two, one must be `"k"`.

    >>> JointBudget(0.1).describe()
    {'policy': 'JointBudget', 'fraction': 0.1, 'by': ['k', 'l']}
    """

    fraction: float
    by: tuple[str, ...] = ("k", "l")

    def __post_init__(self) -> None:
        check_fraction(self.fraction)
        by: object = self.by
        object.__setattr__(self, "by", (by,) if isinstance(by, str) else tuple(self.by))
        if not 0 < len(set(self.by)) == len(self.by) <= 2 or (
            len(self.by) == 2 and "k" not in self.by
        ):
            raise ProblemError(
                f"by: must be one property, or 'k' and another, got {', '.join(map(repr, self.by))}"
            )
        for name in self.by:
            if name not in ("k", "l"):
                measure_of_groups(name)

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, unless only sizes matter."""
        return frozenset({"counts"}) if self.by != ("k",) else frozenset()

    def describe(self) -> dict[str, Any]:
        """Return name and parameters as plain data."""
        return {"policy": "JointBudget", "fraction": self.fraction, "by": list(self.by)}

    @classmethod
    def from_description(cls, parameters: Mapping[str, Any]) -> Self:
        """Make the policy from its parameters."""
        by = parameters.get("by", ("k", "l"))
        if not isinstance(by, list | tuple | str) or not all(isinstance(name, str) for name in by):
            raise ProblemError(f"by: must be a list of names such as ['k', 'l'], got {by!r}")
        return super().from_description(parameters)

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties in their order."""
        return self.by

    def limit(self, n_records: int) -> int:
        """Return the largest number of records that may be left out."""
        return largest_number(self.fraction, n_records)

    def at(self, thresholds: NDArray[np.float64]) -> Suppression:
        """Return the thresholds as a policy."""
        values = dict(zip(self.by, thresholds.tolist(), strict=True))
        if set(values) <= {"k", "l"}:
            return Thresholds(**values)
        constraints = []
        for name, value in values.items():
            measure = measure_of_groups(name)
            constraints.append(measure >= value if measure.sense == "max" else measure <= -value)
        return ViolatingGroups(*constraints)

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Keep the groups above the pair of thresholds that raises both properties most."""
        return self.keep_of(groups, self.steps(groups))

    def keep_of(self, groups: GroupBatch, steps: Steps) -> NDArray[np.bool_]:
        """Return what `keep` returns, where the steps are known already.

        Args:
            groups: The groups of a chunk of candidates.
            steps: All their steps.
        """
        worth = steps.thresholds.sum(axis=1)
        if set(self.by) == {"k", "l"}:
            worth = np.log(steps.thresholds).prod(axis=1)
        # Among equal steps, the one that leaves out the fewest records comes first.
        order = np.lexsort((steps.suppressed, -worth, steps.owners))
        owners, first = np.unique(steps.owners[order], return_index=True)
        thresholds = np.full((len(groups), len(self.by)), np.inf)
        thresholds[owners] = steps.thresholds[order[first]]
        return self.keep_at(groups, thresholds)
