"""Pairs: the trade-off between two quantities of a front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated
from privmoo.errors import ProblemError
from privmoo.front.quantities import Quantity, find

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["Pair", "pair_of"]


@dataclass(frozen=True)
class Pair:
    """A gain and a cost, along the solutions that no other solution beats in both.

    Attributes:
        gained: What is gained.
        paid: What is paid.
        rows: Places of the solutions, from the cheapest to the most expensive.
        gains: Their values of what is gained, in its natural sense.
        costs: Their values of what is paid.
    """

    gained: Quantity
    paid: Quantity
    rows: NDArray[np.intp]
    gains: NDArray[np.float64]
    costs: NDArray[np.float64]

    def scaled(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return cost and gain, both growing from 0 to 1, on the axes of a plot."""
        return self.paid.scaled(self.costs), 1 - self.gained.scaled(self.gains)

    def phrase(self, gain: float, cost: float) -> str:
        """Write a point of the trade-off, such as "k = 14 at 24.9 % loss".

        Args:
            gain: A value of what is gained.
            cost: A value of what is paid.
        """
        return f"{self.gained.phrase(gain)} at {self.paid.phrase(cost)}"


def pair_of(front: Front, gain: str | None = None, cost: str | None = None) -> Pair:
    """Return the trade-off of two quantities.

    Args:
        front: The front.
        gain: What is gained; the first objective that is maximised by default. Where no objective is
            maximised, it is the first one.
        cost: What is paid; the first objective that is minimised by default. Where no objective is
            minimised, it is the first one that is not the gain.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]])
    >>> pair = pair_of(front)
    >>> pair.gained.key, pair.paid.key, pair.rows.tolist()
    ('k', 'loss', [0, 1])
    """
    paid = None if cost is None else find(front.quantities, cost, what="cost")
    gained = None if gain is None else find(front.quantities, gain, what="gain")
    gained = gained or _first(front, "max", paid, "gain")
    paid = paid or _first(front, "min", gained, "cost")
    if gained == paid:
        raise ProblemError(f"cost: {paid.key!r} is the gain already; name another quantity")
    values = np.column_stack([q.sign * front.column(q.key) for q in (paid, gained)])
    rows = np.flatnonzero(non_dominated(values))
    rows = rows[np.argsort(values[rows, 0], kind="stable")]
    return Pair(gained, paid, rows, front.column(gained.key)[rows], front.column(paid.key)[rows])


def _first(front: Front, sense: str, partner: Quantity | None, what: str) -> Quantity:
    free = [q for q in front.objectives if q != partner]
    for quantity in (*(q for q in free if q.sense == sense), *free):
        return quantity
    raise ProblemError(
        f"{what}: this front has one objective, and a trade-off needs two quantities; "
        f"name another of {', '.join(q.key for q in front.quantities)}"
    )
