"""New solutions: what a search found, each linked to the earlier solution that it is nearest to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.front.front import Front

__all__ = ["NewSolution", "new_solutions"]

_ROUNDING = 1e-12


class NewSolution(NamedTuple):
    """A solution that the last search found.

    Attributes:
        place: Its place on the front.
        earlier: The objective values of an earlier solution: the nearest of those that it beats, or else
            the nearest of all.
        says: What it is to that one, in a sentence.
    """

    place: int
    earlier: NDArray[np.float64]
    says: str


def new_solutions(earlier: Front, front: Front) -> tuple[NewSolution, ...]:
    """Return the solutions of a front that an earlier one did not have.

    Args:
        earlier: The front before the search.
        front: The front after it, with the same objectives.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> before = pm.Front.of(problem, [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
    >>> [new] = new_solutions(before, before.merge(pm.Front.of(problem, [[0, 0, 1, 0, 0]])))
    >>> new.place, new.says
    (1, 'The nearest earlier one is solution 0, with k = 1, 0 % loss.')
    """
    known_rows = {tuple(row) for row in earlier.values.round(12).tolist()}
    rows = front.values.round(12).tolist()
    places = [i for i, row in enumerate(rows) if tuple(row) not in known_rows]
    if not places:
        return ()
    n = len(earlier)
    numbers_now = {tuple(row): int(front.numbers[i]) for i, row in enumerate(rows)}
    both = np.concatenate([earlier.values, front.values])
    scaled = np.column_stack([q.scaled(both[:, j]) for j, q in enumerate(earlier.objectives)])
    solutions = []
    for place in places:
        distance = np.abs(scaled[:n] - scaled[n + place]).max(axis=1)
        beaten = (front.F[place] <= earlier.F + _ROUNDING).all(axis=1)
        nearest = int(np.argmin(np.where(beaten, distance, np.inf) if beaten.any() else distance))
        values = earlier.values[nearest]
        phrases = (q.phrase(float(values[j])) for j, q in enumerate(earlier.objectives))
        where = ", ".join(phrases)
        number = numbers_now.get(tuple(values.round(12).tolist()))
        if beaten.any() or number is None:
            says = f"It takes the place of an earlier solution with {where}."
        else:
            says = f"The nearest earlier one is solution {number}, with {where}."
        solutions.append(NewSolution(place, values[: earlier.n_objectives], says))
    return tuple(solutions)
