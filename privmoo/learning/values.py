"""Values: the leaves of the original domain, or the number, that a column's values stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ReleaseError, TableError
from privmoo.hierarchy.canonical import MISSING, canonical, distinct
from privmoo.release.release import Release

__all__ = ["Domain", "Reading", "check_release", "domain_of", "read_original", "read_released"]


@dataclass(frozen=True)
class Domain:
    """The original values of one column.

    Attributes:
        name: The column.
        leaves: Its values; numbers of columns that are not quasi-identifiers need not be listed.
        numbers: The number of each leaf, nan for the missing one; None for categories.
    """

    name: str
    leaves: tuple[str, ...]
    numbers: NDArray[np.float64] | None


@dataclass(frozen=True)
class Reading:
    """A column whose distinct values are interpreted.

    Attributes:
        domain: The original domain of the column.
        codes: The distinct value of every row.
        leaves: Per distinct value the positions of the leaves it stands for; none for a number that
            is not a leaf, such as the mean of a cluster.
        numbers_of_values: Per distinct value that number; nan if the value stands for leaves.
    """

    domain: Domain
    codes: NDArray[np.intp]
    leaves: Sequence[NDArray[np.intp]]
    numbers_of_values: NDArray[np.float64]

    def numbers(self) -> NDArray[np.float64]:
        """Return the number of every row, the mean of its leaves; nan if one is missing."""
        if self.domain.numbers is None:
            raise TableError(
                f"column {self.domain.name!r} holds categories, not numbers; encode its leaves instead"
            )
        values = self.numbers_of_values.copy()
        for i, leaves in enumerate(self.leaves):
            if len(leaves):
                values[i] = self.domain.numbers[leaves].mean()
        return values[self.codes]


def check_release(table: Table, release: Release, name: str = "release") -> None:
    """Raise an error if a release cannot have been made from a table.

    Args:
        table: The original.
        release: The release.
        name: The release's name in the error.

    >>> import privmoo as pm
    >>> small = pm.Table(pd.DataFrame({"age": [1, 2]}), quasi_identifiers=["age"])
    >>> large = pm.Table(pd.DataFrame({"age": [1, 2, 3]}), quasi_identifiers=["age"])
    >>> check_release(small, pm.make_release(large, pm.recodings.identity_recoding(large)))
    Traceback (most recent call last):
        ...
    privmoo.errors.ReleaseError: 'release': it has rows of a table of at least 3 records, but ...
    """
    if not isinstance(release, Release):
        raise ReleaseError(f"{name!r}: expected a Release, got {type(release).__name__}")
    rows = release.rows
    if len(rows) != len(release.frame) or len(np.unique(rows)) < len(rows):
        raise ReleaseError(f"{name!r}: `rows` must name one original row for each released row")
    if not len(rows):
        raise ReleaseError(f"{name!r}: it has no rows, so there is nothing to measure")
    if rows.min() < 0 or rows.max() >= table.n_records:
        raise ReleaseError(
            f"{name!r}: it has rows of a table of at least {int(rows.max()) + 1} records, but this "
            f"one has {table.n_records}; give the table the release was made from"
        )
    for column in table.released_columns:
        if column not in release.frame.columns:
            raise ReleaseError(
                f"{name!r}: it lacks the column {column!r} of the table; give the table the release "
                "was made from"
            )


def domain_of(table: Table, name: str) -> Domain:
    """Return the original domain of a column: the table's leaves, or the values that occur.

    Args:
        table: The original.
        name: The column.

    >>> import privmoo as pm
    >>> df = pd.DataFrame({"age": [3, 1], "cost": [2.5, None], "city": ["B", "A"]})
    >>> table = pm.Table(df, quasi_identifiers=["age"], others="insensitive")
    >>> [domain_of(table, name).leaves for name in df]
    [('1', '3'), ('missing',), ('A', 'B')]
    """
    for qi in table.qis:
        if qi.name == name:
            return Domain(name, qi.leaves, qi.numbers)
    if name in table.sensitive:
        return Domain(name, table.sensitive[name].values, table.sensitive[name].numbers)
    occurring = distinct(table.frame[name], name)
    missing = (MISSING,) if occurring.has_missing else ()
    if occurring.kind == "number":
        return Domain(name, missing, np.full(len(missing), np.nan))
    return Domain(name, tuple(dict.fromkeys([*sorted(occurring.spellings()), *missing])), None)


def read_original(table: Table, name: str) -> Reading:
    """Read a column of the original: numbers stand for themselves, categories for their leaves.

    Args:
        table: The original.
        name: The column.
    """
    domain = domain_of(table, name)
    for j, qi in enumerate(table.qis):
        if qi.name == name and qi.numbers is None:
            single = [np.array([leaf]) for leaf in range(qi.n_leaves)]
            codes = table.tuples[table.row_tuple, j].astype(np.intp)
            return Reading(domain, codes, single, np.full(len(single), np.nan))
    return _read(domain, table.frame[name], {}, "table")


def read_released(table: Table, name: str, release: Release) -> Reading:
    """Read a column of a release: labels by their meanings, anything else stands for itself.

    Args:
        table: The original.
        name: The column.
        release: The release.
    """
    meanings = release.meanings.get(name, {})
    return _read(domain_of(table, name), release.frame[name], meanings, "release")


def _read(
    domain: Domain, column: pd.Series[Any], meanings: Mapping[str, Sequence[str]], what: str
) -> Reading:
    raw, index = pd.factorize(column)
    codes = raw.astype(np.intp)
    values: list[Any] = list(np.asarray(index))
    if (codes < 0).any():
        codes = np.where(codes < 0, len(values), codes)
        values.append(None)
    place = {leaf: i for i, leaf in enumerate(domain.leaves)}
    leaves: list[NDArray[np.intp]] = []
    numbers = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        text = canonical(value)
        positions = [place.get(leaf, -1) for leaf in meanings.get(text, [text])]
        if domain.numbers is not None and positions == [-1] and text not in meanings:
            numbers[i] = _number(value)
            positions = []
        if -1 in positions or (not positions and not np.isfinite(numbers[i])):
            row = int((codes == i).argmax())
            raise ReleaseError(
                f"{what}: column {domain.name!r}, row {row} (counted from 0): the value is neither a "
                "label with a meaning nor a value of the original; give the table the release was "
                "made from"
            ).at(domain.name, row)
        leaves.append(np.array(positions, dtype=np.intp))
    return Reading(domain, codes, leaves, numbers)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
