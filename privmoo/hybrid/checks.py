"""What the hybrid scheme refuses, in one sentence each, before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privmoo._util.checks import fraction, is_number, positive
from privmoo.data.table import Table
from privmoo.errors import Hint, ProblemError, nearest
from privmoo.recodings.nodes import node_cells, numeric_columns

__all__ = [
    "check_numbers",
    "check_pair",
    "check_table",
    "names_in",
]

_EXACT = 2.0**53


def check_table(table: Table, *, records: bool = True) -> None:
    """Refuse tables that the scheme cannot work on, in one sentence; with `records` scanned ones too."""
    if not isinstance(table, Table):
        raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
    if records:
        table.need_records(
            "a front of the hybrid scheme",
            "find its parameters on table.sample(n), and use them with HybridScheme.like(table, …)",
        )
    if not table.sensitive:
        raise ProblemError(
            "table: the scheme looks at the diversity of a sensitive attribute, and there is none",
            hint=Hint(parameter="sensitive", call="Table"),
        )
    if table.subjects is not None:
        raise ProblemError(
            "table: has several rows per person, and k would count rows, not persons; give a table "
            "with one row per person and no subject"
        )
    columns = numeric_columns(table)
    if all(own is not None for own in columns):
        raise ProblemError(
            "table: has no categorical quasi-identifier, so there is nothing to split by and nothing to "
            "generalise; cluster numbers with pm.problems.Clusters or pm.baselines.mdav instead"
        )
    for j, (qi, own) in enumerate(zip(table.qis, columns, strict=True)):
        if own is not None and np.isnan(own).any():
            raise ProblemError(
                f"table: column {qi.name!r} has missing numbers, which take no noise",
                hint=Hint(parameter="missing", value="drop", call="Table"),
            )
        if own is not None and np.abs(own).max() >= _EXACT:
            raise ProblemError(
                f"table: column {qi.name!r} has numbers from 2**53 on, whose last digits noise loses; "
                "give it in a larger unit, or as text if it is a code"
            )
        if own is not None and (qi.min_level > 0 or qi.max_level < node_cells(table)[j].height):
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
    """Refuse parameters of noise and clusters that are no possible numbers, or of no such column."""
    own = dict(zip(table.qi_names, numeric_columns(table), strict=True))
    numeric = [name for name, numbers in own.items() if numbers is not None]
    if isinstance(sensitivity, Mapping):
        for name, value in sensitivity.items():
            if name not in numeric:
                raise ProblemError(
                    f"sensitivity: {name!r} is no numeric quasi-identifier{nearest(name, numeric)}"
                )
            positive(f"sensitivity of {name!r}", value)
    else:
        positive("sensitivity", sensitivity)
    if bounds is not None and not isinstance(bounds, Mapping):
        raise ProblemError(f"bounds: must be given by column, got {type(bounds).__name__}")
    for name, ends in (bounds or {}).items():
        if name not in numeric:
            raise ProblemError(
                f"bounds: {name!r} is no numeric quasi-identifier{nearest(name, numeric)}"
            )
        check_pair(f"bounds of {name!r}", ends)
        if not max(map(abs, ends)) < _EXACT:
            raise ProblemError(f"bounds: those of {name!r} must lie within ±2**53, got {ends!r}")
    fraction("weight", weight)


def check_pair(name: str, ends: Any) -> None:
    """Raise unless a parameter is a smallest and a largest number."""
    pair = isinstance(ends, Sequence) and not isinstance(ends, str) and len(ends) == 2
    if not pair or not all(map(is_number, ends)) or not ends[0] <= ends[1]:
        raise ProblemError(f"{name}: must be a smallest and a largest number, got {ends!r}")


def names_in(name: str, given: object) -> list[str]:
    """A parameter that is one name or several, as a list.

    >>> names_in("patterns", "race"), names_in("patterns", ["race"])
    (['race'], ['race'])
    """
    if isinstance(given, str):
        return [given]
    if isinstance(given, Sequence) and all(isinstance(one, str) for one in given):
        return list(given)
    raise ProblemError(f"{name}: must be names, got {given!r}")
