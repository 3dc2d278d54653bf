"""What does not follow from noise and clusters, in sentences for the certificate."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.recodings.nodes import numeric_columns

__all__ = ["MEASURED", "NO_DP", "OF_NOISE", "UNMEASURED", "check_fine", "of_grids", "of_texts"]

NO_DP = (
    "Laplace noise was added to single values. This is not ε-differential privacy of the release: which "
    "records violate and which cluster they are in was read from the original data, categories are "
    "published without noise, and every record is published."
)
_NEAR = (
    "A number with noise is still near the original one: where few people have numbers near it, it still "
    "points at them. "
)
MEASURED = f"{_NEAR}The disclosure risk stated here is for an attacker who knows that."
UNMEASURED = f"{_NEAR}How likely an attacker who knows that finds a person was not measured here."
OF_NOISE = (
    "A label is made of numbers with noise, so it need not cover the original number of a record."
)
_FINEST = 1e-6


def check_fine(table: Table, places: Sequence[int]) -> None:
    """Refuse numbers that are too fine for noise, which has six digits at most."""
    for j in places:
        own = np.asarray(numeric_columns(table)[j])
        coarse = np.array_equal(np.round(own, 6), own)
        if not coarse and np.ptp(own) < 1000 * _FINEST:
            raise ProblemError(
                f"table: the numbers of {table.qi_names[j]!r} differ by less than a thousandth, too little "
                "for noise of six digits; give it in a smaller unit"
            )


def of_texts(table: Table, places: Sequence[int]) -> list[str]:
    """Categories that look like fractions: numbers that were read as text have no noise."""
    return [
        f"{qi.name!r} holds numbers as text, so it was published in categories without noise."
        for qi in (table.qis[j] for j in places)
        if all(map(_is_number, qi.leaves)) and any("." in leaf for leaf in qi.leaves)
    ]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "missing"
    return True


def of_grids(
    table: Table,
    places: Sequence[int],
    steps: Sequence[float],
    scales: Sequence[float],
    bounded: Collection[str],
) -> list[str]:
    """Where rounding undoes noise, and where the ends of the domain are those of the data."""
    said = []
    for j, step, scale in zip(places, steps, scales, strict=True):
        distinct = np.unique(np.asarray(numeric_columns(table)[j]))
        apart = float(np.diff(distinct).min()) if len(distinct) > 1 else 0.0
        if apart > 1.5 * step and scale < apart / 2:
            said.append(
                f"The numbers of {table.qi_names[j]!r} are at least {apart:.6g} apart, and noise of scale "
                f"{scale:.3g} seldom reaches from one to the next: rounding gives them back. A larger "
                "sensitivity would hide them."
            )
    unbounded = [table.qi_names[j] for j in places if table.qi_names[j] not in bounded]
    if unbounded:
        said.append(
            f"Numbers with noise are kept within a smallest and a largest one, which for "
            f"{', '.join(map(repr, unbounded))} may be values of the data: no bounds were given."
        )
    return said
