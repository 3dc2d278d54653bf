"""Possible worlds: the tables that a release may have come from, as far as an attacker can tell.

The attacker goes through all tables that agree with the released rows, and keeps those from which the
method would have published the same. The share of the worlds in which a person has a value is what the
attacker believes of that person. Where there are too many worlds, some are drawn at random.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from privmoo.attacks.intervals import lower_bounds
from privmoo.errors import AttackError

__all__ = ["Posterior", "arrangements", "believe", "count_arrangements", "draw_arrangements"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Consistent = Callable[[IntArray], NDArray[np.bool_]]
"""Takes worlds × persons, the value of each; returns which worlds the method publishes in the same way."""
_CHUNK = 1024


@dataclass(frozen=True)
class Posterior:
    """What an attacker believes of everybody.

    Attributes:
        counts: Two halves × persons × values: in how many consistent worlds a person has a value.
        tried: The number of worlds that were tried.
        exact: Whether these were all worlds; if not, they were drawn at random.
    """

    counts: IntArray
    tried: int
    exact: bool

    @property
    def consistent(self) -> int:
        """The number of worlds from which the method publishes the same."""
        return int(self.counts[:, 0].sum())

    @property
    def shares(self) -> FloatArray:
        """Persons × values: the share of the consistent worlds in which a person has a value."""
        return np.asarray(self.counts.sum(axis=0) / self.consistent)

    @property
    def largest(self) -> float:
        """The largest belief in anybody's value.

        If worlds were drawn, the largest of many estimates is too large by chance. So it is then a lower
        bound that holds for all persons and values together with a probability of 95 %.
        """
        if self.exact:
            return float(self.shares.max())
        hits = self.counts.sum(axis=0)
        return float(lower_bounds(hits, self.consistent, tests=hits.size).max())

    @property
    def success(self) -> float:
        """The share of the persons for whom the attacker's best guess is right, on average over worlds.

        If worlds were drawn, guesses are made in one half of them and judged in the other.
        """
        if self.exact:
            return float(self.shares.max(axis=1).mean())
        rates = []
        for guess, judge in (self.counts, self.counts[::-1]):
            n_worlds = int(judge[0].sum())
            if n_worlds:
                right = np.take_along_axis(judge, guess.argmax(axis=1)[:, None], axis=1)
                rates.append(float(right.mean() / n_worlds))
        return float(np.mean(rates))


def believe(
    worlds: Iterable[IntArray], consistent: Consistent, n_values: int, *, exact: bool
) -> Posterior:
    """Return what an attacker believes who keeps the consistent ones of some worlds.

    Args:
        worlds: The value of every person, world by world.
        consistent: Which worlds the method publishes in the same way.
        n_values: The number of values.
        exact: Whether these are all worlds.

    Raises:
        AttackError: No world is consistent.

    >>> worlds = [np.array([0, 1]), np.array([1, 0]), np.array([1, 1])]
    >>> believe(worlds, lambda w: w[:, 0] == 1, 2, exact=True).shares.tolist()
    [[0.0, 1.0], [0.5, 0.5]]
    """
    source = iter(worlds)
    counts, tried, half = None, 0, 0
    while chunk := list(islice(source, _CHUNK)):
        rows = np.asarray(chunk, np.int64)
        tried += len(rows)
        rows = rows[consistent(rows)]
        if counts is None:
            counts = np.zeros((2, rows.shape[1], n_values), np.int64)
        persons = np.arange(rows.shape[1])
        for world in rows:
            counts[half, persons, world] += 1
            half = 1 - half
    if counts is None or not counts.any():
        raise AttackError(
            f"worlds: the method publishes none of {tried:,} worlds in this way, so nothing follows; "
            "draw more of them, or check the description of the method"
        )
    return Posterior(counts, tried, exact)


def count_arrangements(groups: Sequence[Sequence[int]]) -> int:
    """Return in how many ways the values of groups can be given to their members.

    Args:
        groups: The values of every group.

    >>> count_arrangements([[0, 0, 1], [2, 3]])
    6
    """
    number = 1
    for values in groups:
        number *= math.factorial(len(values))
        for times in Counter(values).values():
            number //= math.factorial(times)
    return number


def arrangements(groups: Sequence[Sequence[int]], places: Sequence[IntArray]) -> Iterator[IntArray]:
    """Yield all worlds in which the members of groups have the values of their group.

    Args:
        groups: The values of every group.
        places: The persons of every group.

    >>> [w.tolist() for w in arrangements([[0, 0, 1]], [np.array([0, 1, 2])])]
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    n_persons = sum(len(values) for values in groups)
    orders = [list(_orders(sorted(values))) for values in groups]
    for world in product(*orders):
        values = np.empty(n_persons, np.int64)
        for persons, order in zip(places, world, strict=True):
            values[persons] = order
        yield values


def _orders(values: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the different orders of some values, which may occur several times."""
    if not values:
        yield ()
    for first in sorted(set(values)):
        rest = values.copy()
        rest.remove(first)
        for order in _orders(rest):
            yield (first, *order)


def draw_arrangements(
    values: IntArray, classes: IntArray, number: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    """Yield worlds in which the values of every class are shuffled among its members.

    Args:
        values: The value of every person, in any order within a class.
        classes: The class of every person.
        number: How many worlds.
        rng: The random generator.
    """
    members = np.argsort(classes, kind="stable")
    for _ in range(number):
        world = np.empty_like(values)
        shuffled = np.lexsort((rng.random(len(values)), classes))
        world[members] = values[shuffled]
        yield world
