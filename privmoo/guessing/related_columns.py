"""Columns that belong together: codes beside words, and places inside places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privmoo.guessing.column_facts import Facts
from privmoo.guessing.proposals import propose_levels
from privmoo.guessing.role_guesses import ColumnGuess
from privmoo.guessing.toml_writer import quote
from privmoo.guessing.vocabulary import meanings

__all__ = ["follow_twins", "nest_places", "without_twins"]

_ENOUGH = 10
"""How many rows per value tell that two columns go together."""


def follow_twins(columns: list[ColumnGuess], facts: dict[str, Facts]) -> list[ColumnGuess]:
    """Give a code and its description one role, where the name of only one of them says what it is.

    What goes with a sensitive column is sensitive, too, whatever its own name says: it tells the same.

    Args:
        columns: The guesses.
        facts: The facts about every column, by name.
    """
    decided = [c for c in columns if c.role in ("sensitive", "quasi-identifying")]
    decided.sort(key=lambda column: column.role != "sensitive")
    result = []
    for column in columns:
        facts_here = facts[column.name]
        twin = next(
            (c for c in decided if c is not column and is_twin(facts_here, facts[c.name])), None
        )
        if twin is not None and twin.role == "sensitive" and column.role != "sensitive":
            if column.unsure or column.role == "quasi-identifying":
                reason = f"goes with column {quote(twin.name)}, which is sensitive"
                column = ColumnGuess(column.name, "sensitive", reason)
        elif twin is not None and column.unsure:
            column = ColumnGuess(column.name, "identifying", _repeats(twin.name))
        result.append(column)
    return result


def without_twins(columns: list[ColumnGuess], facts: dict[str, Facts]) -> list[ColumnGuess]:
    """Exclude quasi-identifying columns that repeat another one, such as codes beside words.

    Args:
        columns: The guesses.
        facts: The facts about every column, by name.
    """
    distinct: list[Facts] = []
    twins: dict[str, str] = {}
    quasi = [facts[column.name] for column in columns if column.role == "quasi-identifying"]
    for candidate in sorted(quasi, key=lambda facts: facts.kind != "text"):  # words before codes
        twin = next((earlier for earlier in distinct if is_twin(candidate, earlier)), None)
        if twin is None:
            distinct.append(candidate)
        else:
            twins[candidate.name] = _repeats(twin.name)
    return [
        ColumnGuess(column.name, "identifying", twins[column.name])
        if column.name in twins
        else column
        for column in columns
    ]


def nest_places(columns: list[ColumnGuess], facts: dict[str, Facts]) -> list[ColumnGuess]:
    """Make the hierarchy of a column of places from other columns, such as city, county and state.

    The columns that become levels are excluded: the finest one is published as one of them.

    Args:
        columns: The guesses.
        facts: The facts about every column, by name.
    """
    places = [
        facts[column.name]
        for column in columns
        if column.role == "quasi-identifying"
        and facts[column.name].kind == "text"
        and any(meaning.place for meaning in meanings(column.name))
    ]
    new_guesses: dict[str, ColumnGuess] = {}
    by_name = {column.name: column for column in columns}
    for finest in sorted(places, key=lambda place: -place.n_values):
        above = [] if finest.name in new_guesses else _chain(finest, places, new_guesses)
        hierarchy = propose_levels(finest, above) if above else None
        if hierarchy is None:
            continue
        names = " and ".join(quote(column.name) for column in above)
        reason = f"{by_name[finest.name].reason}; every value lies in one of {names}"
        new_guesses[finest.name] = replace(by_name[finest.name], hierarchy=hierarchy, reason=reason)
        for column in above:
            reason = (
                f"is a level of the hierarchy of column {quote(finest.name)}, so it is excluded"
            )
            new_guesses[column.name] = ColumnGuess(column.name, "identifying", reason)
    return [new_guesses.get(column.name, column) for column in columns]


def _chain(finest: Facts, places: list[Facts], new_guesses: dict[str, ColumnGuess]) -> list[Facts]:
    """Return the places that hold the finest one, each in the next."""
    chain = [finest]
    coarser = [place for place in places if place is not finest and place.name not in new_guesses]
    for place in sorted(coarser, key=lambda place: -place.n_values):
        if 1 < place.n_values < chain[-1].n_values and all(_holds(p, place) for p in chain):
            chain.append(place)
    return chain[1:]


def _holds(finer: Facts, coarser: Facts) -> bool:
    """Return whether each value of the finer column goes with one value of the coarser."""
    if finer.data is None or coarser.data is None or coarser.data.has_missing:
        return False
    # Where each value occurs once, every column would seem to hold it.
    if finer.rows < 2 * finer.n_values:
        return False
    pairs = (finer.data.codes + 1) * np.int64(coarser.n_values + 1) + coarser.data.codes + 1
    return all(
        len(np.unique(pairs[:rows])) == len(np.unique(finer.data.codes[:rows]))
        for rows in (1_000, len(pairs))
    )


def is_twin(first: Facts, second: Facts) -> bool:
    """Return whether each value of the first column goes with one value of the second.

    Args:
        first: The facts about a column.
        second: The facts about another column.
    """
    n = first.n_values
    if (
        first.data is None
        or second.data is None
        or n != second.n_values
        or n < 3
        or first.rows < _ENOUGH * n
    ):
        return False
    pairs = (first.data.codes + 1) * (n + 1) + second.data.codes + 1
    # Most columns differ in their first rows already.
    return all(len(np.unique(pairs[:rows])) <= n for rows in (1_000, len(pairs)))


def _repeats(name: str) -> str:
    return f"says the same as column {quote(name)}, so it is excluded"
