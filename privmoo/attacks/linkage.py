"""Attacks with a control group: what works on released people, and on people who were not in the table.

What an attack achieves on people who were not in the table follows from what the release says of everybody.
Only the difference is the fault of publishing these people. Giomi et al. 2023 made the design known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo.attacks.fit import Rows
from privmoo.attacks.intervals import difference, wilson
from privmoo.errors import AttackError

__all__ = ["Outcome", "infer_values", "link_tables", "single_out"]

IntArray = NDArray[np.int64]
Hits = tuple[int, int]


@dataclass(frozen=True)
class Outcome:
    """How often an attack worked.

    Attributes:
        attack: The name of the attack.
        target: Successes and attempts against people in the table.
        control: Successes and attempts against people who were not in the table.

    >>> outcome = Outcome("inference", (60, 100), (50, 100))
    >>> [round(x, 3) for x in outcome.gain]
    [0.1, -0.037, 0.232]
    """

    attack: str
    target: Hits
    control: Hits

    @property
    def rate(self) -> float:
        """The share of successes against people in the table."""
        return self.target[0] / self.target[1]

    @property
    def control_rate(self) -> float:
        """The share of successes against people who were not in the table."""
        return self.control[0] / self.control[1]

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of `rate`."""
        return wilson(*self.target)

    @property
    def gain(self) -> tuple[float, float, float]:
        """The difference of both shares, with the ends of its 95 % interval."""
        return difference(self.target, self.control)


def infer_values(rows: Rows, *, attempts: int = 1000, seed: int = 0) -> Outcome:
    """Guess the sensitive value of people: the most frequent one of the released rows that fit them best.

    The attacker knows all quasi-identifiers. Of equally frequent values, the one is guessed that is more
    frequent in the whole release.

    Args:
        rows: Released rows with a sensitive column, people of the table, and control people.
        attempts: How many people of each kind are attacked; all if there are fewer.
        seed: The seed of the choice.
    """
    if rows.secrets is None or rows.truths is None:
        raise AttackError("sensitive: name the column whose values are guessed")
    secrets, truths = rows.secrets, rows.truths
    popularity = secrets.sum(axis=0) / (secrets.sum() + 1.0)

    def guess(kind: int, person: int) -> bool:
        """Return whether the guess about a person is right.

        Args:
            kind: The kind of people, 0 for those of the table.
            person: The number of the person.
        """
        counts = secrets[rows.fitting(rows.people[kind][person])].sum(axis=0)
        return bool((counts + popularity).argmax() == truths[kind][person])

    return _against_both("inference", rows, guess, attempts, seed)


def link_tables(rows: Rows, first: Sequence[int], *, attempts: int = 500, seed: int = 0) -> Outcome:
    """Link what two tables know of the same people: some columns here, the others there.

    The attacker picks a person of the first table and a released row that fits, at random by its records,
    and guesses one of the people of the second table whom this row fits best. Both tables have the people
    that are attacked. Without the release, a guess is right once in their number.

    Args:
        rows: Released rows, people of the table, and control people.
        first: The columns of the first table; the second has the others.
        attempts: How many people of each kind are attacked; all if there are fewer.
        seed: The seed of the choices.
    """
    n_columns = len(rows.columns)
    second = [j for j in range(n_columns) if j not in set(first)]
    if not second or not len(first) or not set(first) <= set(range(n_columns)):
        raise AttackError("first: some columns, but not all, belong to the first table")
    rng = np.random.default_rng(seed)
    size = min(attempts, *(len(people) for people in rows.people))
    hits = []
    for people in rows.people[:2]:
        attacked = people[rng.choice(len(people), size, replace=False)]
        right = 0
        for person in range(size):
            fitting = rows.fitting(attacked[person], first)
            weights = rows.records[fitting]
            row = int(fitting[rng.choice(len(fitting), p=weights / weights.sum())])
            away = np.zeros(size)
            for j in second:
                column = rows.columns[j]
                away += column.distance[column.labels[row], attacked[:, j]]
            candidates = np.flatnonzero(away <= away.min() + 1e-12)
            right += int(rng.choice(candidates) == person)
        hits.append((right, size))
    return Outcome("linkability", hits[0], hits[1])


def single_out(
    rows: Rows,
    *,
    size: int = 1,
    ends: bool = False,
    secret: bool = False,
    attempts: int = 1000,
    seed: int = 0,
) -> Outcome:
    """Describe exactly one person with what the release says, without knowing anybody.

    A description takes a released row at random, and its labels in some columns. It is a success if it fits
    exactly one person. This is counted among equally many people of the table and control people, drawn
    at random where there are more: among fewer people, a description fits one of them more easily. With as
    many control people as there are people in the table, all of them count.

    Args:
        rows: Released rows, people of the table, and control people.
        size: How many columns are in a description; all if there are fewer.
        ends: Whether one column is described by an end of its interval, where it has one.
        secret: Whether the sensitive value of the row is part of the description: the rarest of the row.
        attempts: How many descriptions are drawn. Those that are drawn again do not count again.
        seed: The seed of the choices.
    """
    if secret and (rows.secrets is None or rows.truths is None):
        raise AttackError("sensitive: name the column whose values are part of descriptions")
    rng = np.random.default_rng(seed)
    n_each = min(len(people) for people in rows.people[:2])
    tables = [rng.choice(len(people), n_each, replace=False) for people in rows.people[:2]]
    covers = [column.covers for column in rows.columns]
    hits, tried = [0, 0], set()
    for _ in range(attempts):
        row = int(rng.choice(len(rows.records), p=rows.records / rows.records.sum()))
        places = rng.permutation(len(rows.columns))[:size]
        end_of = _an_end(rows, row, places, rng) if ends else None
        value = _rarest(rows, row) if secret else None
        predicate = tuple((int(j), int(rows.columns[j].labels[row])) for j in sorted(places))
        if (predicate, end_of, value) in tried:
            continue
        tried.add((predicate, end_of, value))
        for kind, members in enumerate(tables):
            people = rows.people[kind][members]
            fits = np.ones(len(members), np.bool_)
            for j in places:
                column = rows.columns[j]
                if end_of is not None and j == end_of[0]:
                    fits &= people[:, j] == end_of[1]
                else:
                    fits &= covers[j][column.labels[row], people[:, j]]
            if value is not None and rows.truths is not None:
                fits &= rows.truths[kind][members] == value
            hits[kind] += int(np.count_nonzero(fits) == 1)
    n_columns = min(size, len(rows.columns))
    words = f"singling out by {n_columns} column{'s' * (n_columns > 1)}"
    words += (" and an end" if ends else "") + (" and the value" if secret else "")
    return Outcome(words, (hits[0], len(tried)), (hits[1], len(tried)))


def _an_end(
    rows: Rows, row: int, places: IntArray, rng: np.random.Generator
) -> tuple[int, int] | None:
    """Return a column and the value at one end of its interval; None if no column has one."""
    options = [
        (int(j), int(value))
        for j in places
        for value in rows.columns[j].ends[rows.columns[j].labels[row]]
        if value >= 0
    ]
    return options[int(rng.integers(len(options)))] if options else None


def _rarest(rows: Rows, row: int) -> int | None:
    """Return the rarest sensitive value of the records of a row."""
    if rows.secrets is None:
        return None
    counts = rows.secrets[row]
    return int(np.where(counts > 0, counts, counts.max() + 1).argmin())


def _against_both(
    attack: str,
    rows: Rows,
    works: Callable[[int, int], bool],
    attempts: int,
    seed: int,
) -> Outcome:
    """Return how often an attack works against people of the table and against control people."""
    rng = np.random.default_rng(seed)
    hits = []
    for kind, people in enumerate(rows.people[:2]):
        size = min(attempts, len(people))
        persons = rng.choice(len(people), size, replace=False)
        hits.append((sum(works(kind, int(person)) for person in persons), size))
    return Outcome(attack, hits[0], hits[1])
