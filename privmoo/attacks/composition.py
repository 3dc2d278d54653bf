"""Two releases of the same people: what follows from both together (Ganta, Kasiviswanathan & Smith 2008).

A person who is in both releases is in a group of each. The person's sensitive value is one that occurs in
both groups. If the rows of the two releases can be linked, the person is also one of those who are in both
groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import AttackError

__all__ = ["Composition", "compose"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Composition:
    """What two releases leave open about every person who is in both.

    Attributes:
        people: The persons, as places in the table.
        candidates: How many people are in the same group as the person in both releases.
        values: How many sensitive values occur in both groups of the person.
    """

    people: IntArray
    candidates: IntArray
    values: IntArray

    @property
    def k(self) -> int:
        """The fewest candidates that are left of anybody."""
        return int(self.candidates.min())

    @property
    def distinct_l(self) -> int:
        """The fewest values that are left of anybody."""
        return int(self.values.min())

    @property
    def alone(self) -> int:
        """The number of people who are their only candidate."""
        return int((self.candidates == 1).sum())

    @property
    def revealed(self) -> int:
        """The number of people of whom one value is left."""
        return int((self.values == 1).sum())


def compose(first: IntArray, second: IntArray, values: IntArray) -> Composition:
    """Return what two releases of the same people leave open together.

    Both publish the sensitive value as it is. Groups may be regions that overlap: the attacker is
    assumed to know the group of a person in each release.

    Args:
        first: The group of every person in the first release; -1 where the person is left out.
        second: The same in the second release.
        values: The sensitive value of every person, as a code.

    Raises:
        AttackError: Nobody is in both releases, or the arrays are about different people.

    >>> both = compose(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), np.array([5, 6, 5, 7]))
    >>> both.candidates.tolist(), both.values.tolist(), both.revealed
    ([1, 1, 1, 1], [1, 2, 1, 2], 2)
    """
    if not len(first) == len(second) == len(values):
        raise AttackError(
            f"releases: there must be a group of each release for all of {len(values)} people, got "
            f"{len(first)} and {len(second)}"
        )
    people = np.flatnonzero((first >= 0) & (second >= 0))
    if not len(people):
        raise AttackError("releases: nobody is in both")
    pairs = np.column_stack([first, second])[people]
    _, place, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    tables = [_occurring(groups, values) for groups in (first, second)]
    n_values = [
        len(tables[0][int(g)] & tables[1][int(h)])
        for g, h in pairs[np.unique(place.ravel(), return_index=True)[1]]
    ]
    return Composition(people, counts[place.ravel()], np.array(n_values, np.int64)[place.ravel()])


def _occurring(groups: IntArray, values: IntArray) -> dict[int, set[int]]:
    """Return the values that occur in every group, those of people included who are in one release only."""
    result: dict[int, set[int]] = {}
    for group, value in np.unique(np.column_stack([groups, values]), axis=0).tolist():
        if group >= 0:
            result.setdefault(group, set()).add(value)
    return result
