"""Checks of tables and parameters of the hybrid scheme, before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privmoo._util.checks import fraction, is_number, positive
from privmoo.data.table import Table, check_table
from privmoo.errors import Hint, ProblemError, nearest
from privmoo.recodings.nodes import node_cells, numeric_columns

__all__ = [
    "check_numbers",
    "check_pair",
    "check_scheme_table",
    "names_in",
]

_EXACT = 2.0**53


def check_scheme_table(table: Table, *, records: bool = True) -> None:
    """Raise unless the scheme can work on a table.

    Args:
        table: The records.
        records: Whether scanned tables are refused too.
    """
    check_table(table)
    if records:
        table.need_records(
            "a front of the hybrid scheme",
            "find its parameters on table.sample(n), and use them with HybridScheme.like(table, …)",
        )
    if not table.sensitive:
        raise ProblemError(
            "table: the scheme needs a sensitive attribute, whose diversity it looks at, but there is none",
            hint=Hint(parameter="sensitive", call="Table"),
        )
    if table.subjects is not None:
        raise ProblemError(
            "table: it has several rows per person, so k would count rows, not persons; give a table with "
            "one row per person and without subject="
        )
    columns = numeric_columns(table)
    if all(numbers is not None for numbers in columns):
        raise ProblemError(
            "table: it has no categorical quasi-identifier to split by and to generalise; cluster "
            "numbers with pm.problems.Clusters or pm.baselines.mdav instead"
        )
    for j, (qi, numbers) in enumerate(zip(table.qis, columns, strict=True)):
        if numbers is not None and np.isnan(numbers).any():
            raise ProblemError(
                f"table: column {qi.name!r} has missing numbers, to which noise cannot be added",
                hint=Hint(parameter="missing", value="drop", call="Table"),
            )
        if numbers is not None and np.abs(numbers).max() >= _EXACT:
            raise ProblemError(
                f"table: column {qi.name!r} has numbers of at least 2**53, whose last digits would be "
                "lost; give it in a larger unit, or as text if it is a code"
            )
        if numbers is not None and (qi.min_level > 0 or qi.max_level < node_cells(table)[j].height):
            raise ProblemError(
                f"table: {qi.name!r} has a lowest or highest level, but the scheme publishes numbers with "
                "noise, or their intervals; leave min_level and max_level out"
            )


def check_numbers(
    table: Table,
    sensitivity: float | Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]] | None,
    weight: float,
) -> None:
    """Raise unless the parameters of noise and clusters are possible and about numeric columns.

    Args:
        table: The records.
        sensitivity: Δf of the noise, for all numbers or by quasi-identifier.
        bounds: Smallest and largest number, by quasi-identifier.
        weight: How much diversity counts against similarity in clusters.
    """
    columns = dict(zip(table.qi_names, numeric_columns(table), strict=True))
    numeric = [name for name, numbers in columns.items() if numbers is not None]
    if isinstance(sensitivity, Mapping):
        for name, value in sensitivity.items():
            if name not in numeric:
                raise ProblemError(
                    f"sensitivity: {name!r} is not a numeric quasi-identifier{nearest(name, numeric)}"
                )
            positive(f"sensitivity of {name!r}", value)
    else:
        positive("sensitivity", sensitivity)
    if bounds is not None and not isinstance(bounds, Mapping):
        raise ProblemError(f"bounds: must be a mapping by column, got {type(bounds).__name__}")
    for name, ends in (bounds or {}).items():
        if name not in numeric:
            raise ProblemError(
                f"bounds: {name!r} is not a numeric quasi-identifier{nearest(name, numeric)}"
            )
        check_pair(f"bounds of {name!r}", ends)
        if not max(map(abs, ends)) < _EXACT:
            raise ProblemError(f"bounds: those of {name!r} must lie within ±2**53, got {ends!r}")
    fraction("weight", weight)


def check_pair(name: str, ends: Any) -> None:
    """Raise unless a parameter is a smallest and a largest number.

    Args:
        name: The parameter's name, for the error.
        ends: What was passed.
    """
    pair = isinstance(ends, Sequence) and not isinstance(ends, str) and len(ends) == 2
    if not pair or not all(map(is_number, ends)) or not ends[0] <= ends[1]:
        raise ProblemError(f"{name}: must be a smallest and a largest number, got {ends!r}")


def names_in(name: str, names: object) -> list[str]:
    """Return a parameter that is one name or several as a list, or raise.

    Args:
        name: The parameter's name, for the error.
        names: What was passed.

    >>> names_in("patterns", "race"), names_in("patterns", ["race"])
    (['race'], ['race'])
    """
    if isinstance(names, str):
        return [names]
    if isinstance(names, Sequence) and all(isinstance(entry, str) for entry in names):
        return list(names)
    raise ProblemError(f"{name}: must be a name or a list of names, got {names!r}")
