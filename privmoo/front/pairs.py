"""Pairs: the trade-off between two quantities of a front, and the words for a step along it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated
from privmoo.errors import ProblemError
from privmoo.front.quantities import Quantity, find

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["Pair", "join", "pair_of"]


@dataclass(frozen=True)
class Pair:
    """What is gained and what is paid, along the solutions that no other beats in both.

    Attributes:
        gained: What is gained.
        paid: What is paid.
        rows: Places of the solutions, from the cheapest to the dearest.
        gains: What they have of the one, in its natural sense.
        costs: What they have of the other.
    """

    gained: Quantity
    paid: Quantity
    rows: NDArray[np.intp]
    gains: NDArray[np.float64]
    costs: NDArray[np.float64]

    def scaled(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Cost and gain from 0 to 1, both growing, on the axes of a plot."""
        return self.paid.scaled(self.costs), 1 - self.gained.scaled(self.gains)

    def phrase(self, gain: float, cost: float) -> str:
        """Such as "k = 14 at 24.9 % loss"."""
        return f"{self.gained.phrase(gain)} at {self.paid.phrase(cost)}"


def pair_of(front: Front, gain: str | None = None, cost: str | None = None) -> Pair:
    """The trade-off of two quantities, by default the first objective that is maximised, and minimised.

    Where all objectives have one sense, the first is the gain and the second the cost.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]])
    >>> pair = pair_of(front)
    >>> pair.gained.key, pair.paid.key, pair.rows.tolist()
    ('k', 'loss', [0, 1])
    """
    known = front.quantities
    paid = None if cost is None else find(known, cost, what="cost")
    gained = None if gain is None else find(known, gain, what="gain")
    gained = gained or _first(front, "max", paid, "gain")
    paid = paid or _first(front, "min", gained, "cost")
    if gained == paid:
        raise ProblemError(f"cost: {paid.key!r} is the gain already; name another quantity")
    both = np.column_stack([q.sign * front.column(q.key) for q in (paid, gained)])
    rows = np.flatnonzero(non_dominated(both))
    rows = rows[np.argsort(both[rows, 0], kind="stable")]
    return Pair(gained, paid, rows, front.column(gained.key)[rows], front.column(paid.key)[rows])


def _first(front: Front, sense: str, other: Quantity | None, what: str) -> Quantity:
    left = [q for q in front.objectives if q != other]
    for quantity in (*(q for q in left if q.sense == sense), *left):
        return quantity
    raise ProblemError(
        f"{what}: this front has one objective, and a trade-off needs two quantities; "
        f"name another of {', '.join(q.key for q in front.quantities)}"
    )


def join(parts: Iterable[str]) -> str:
    """Parts of a sentence with commas and "and".

    >>> join(["k = 5", "ℓ = 2", "20 % loss"])
    'k = 5, ℓ = 2 and 20 % loss'
    """
    *most, last = [*parts] or [""]
    return f"{', '.join(most)} and {last}" if most else last
