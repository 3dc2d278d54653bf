"""The minimality attack: what follows from the fact that a finer release was not published.

Wong, Fu, Wang & Pei 2007. A method that generalises no more than it must publishes a release only if every
finer one that it prefers breaks ℓ-diversity. Whoever knows that, and who is in the table with which
quasi-identifiers, leaves out the worlds in which a finer release would have been diverse enough.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privmoo.attacks.worlds import (
    Posterior,
    arrangements,
    believe,
    count_arrangements,
    draw_arrangements,
)
from privmoo.errors import AttackError

__all__ = ["breaks_diversity", "minimality"]

IntArray = NDArray[np.int64]


def minimality(
    classes: IntArray,
    values: IntArray,
    finer: Sequence[IntArray],
    l: float,  # noqa: E741, the field's name
    *,
    most_worlds: int = 50_000,
    samples: int = 10_000,
    seed: int = 0,
) -> Posterior:
    """Return what somebody believes who knows that finer releases are preferred if they are ℓ-diverse.

    All worlds are as likely as each other before the release is seen. ℓ is a group's size over the count of
    its most frequent value. Nothing may have been suppressed, or finer releases could be diverse enough
    without the suppressed people.

    Args:
        classes: The released QI-group of every person.
        values: The sensitive value of every person, as a code. Only the values of each group are used.
        finer: For every release that the method prefers to this one, the QI-group of every person in it.
        l: The ℓ that the method demands.
        most_worlds: Up to how many worlds all of them are tried.
        samples: How many worlds are drawn if there are more.
        seed: The seed of the draws.

    Raises:
        AttackError: No world that was tried is consistent with the release.

    >>> towns = np.array([0, 0, 1, 1, 1, 1])  # finer: the towns; released: no town
    >>> ills = np.array([0, 0, 1, 2, 3, 4])
    >>> minimality(np.zeros(6, int), ills, [towns], 2).shares[:, 0].tolist()
    [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """
    if any(len(groups_of) != len(values) for groups_of in (classes, *finer)):
        raise AttackError(
            f"classes: there must be one for each of {len(values)} persons, here and in every finer release"
        )
    codes, released = np.unique(values, return_inverse=True)
    numbers, place = np.unique(classes, return_inverse=True)
    persons = [np.flatnonzero(place == g) for g in range(len(numbers))]
    groups = [released[members].tolist() for members in persons]
    exact = count_arrangements(groups) <= most_worlds
    if exact:
        worlds = arrangements(groups, persons)
    else:
        worlds = draw_arrangements(
            released.astype(np.int64), place, samples, np.random.default_rng(seed)
        )
    partitions = [np.unique(groups_of, return_inverse=True)[1] for groups_of in finer]

    def not_finer(rows: IntArray) -> NDArray[np.bool_]:
        consistent = np.ones(len(rows), np.bool_)
        for partition in partitions:
            candidates = np.flatnonzero(consistent)
            consistent[candidates] = breaks_diversity(rows[candidates], partition, len(codes), l)
        return consistent

    return believe(worlds, not_finer, len(codes), exact=exact)


def breaks_diversity(
    worlds: IntArray,
    partition: IntArray,
    n_values: int,
    l: float,  # noqa: E741, the field's name
) -> NDArray[np.bool_]:
    """Return in which worlds some group of a partition is less than ℓ-diverse.

    Args:
        worlds: Worlds × persons: the value of each.
        partition: The group of every person, from 0.
        n_values: The number of values.
        l: The least |g| / count of the most frequent value.

    >>> breaks_diversity(np.array([[0, 0], [0, 1]]), np.array([0, 0]), 2, 2).tolist()
    [True, False]
    """
    sizes = np.bincount(partition)
    cells = len(sizes) * n_values
    breaks = np.zeros(len(worlds), np.bool_)
    step = max(1, (1 << 22) // cells)
    for begin in range(0, len(worlds), step):
        part = worlds[begin : begin + step]
        keys = partition * n_values + part + np.arange(len(part))[:, None] * cells
        counts = np.bincount(keys.ravel(), minlength=len(part) * cells)
        largest_counts = counts.reshape(len(part), len(sizes), n_values).max(axis=2)
        breaks[begin : begin + step] = (largest_counts * l > sizes * (1 + 1e-12)).any(axis=1)
    return breaks
