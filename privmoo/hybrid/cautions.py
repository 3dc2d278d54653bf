"""What does not follow from noise and clusters, as facts for the certificate."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.recodings.base import Caution
from privmoo.recodings.nodes import numeric_columns

__all__ = ["check_fine", "of_grids", "of_noise", "of_seed", "of_texts"]

_FINEST = 1e-6


def check_fine(table: Table, places: Sequence[int]) -> None:
    """Refuse numbers that are too fine for noise, which has six digits at most.

    Args:
        table: The records.
        places: The places of the numeric quasi-identifiers.
    """
    for j in places:
        numbers = np.asarray(numeric_columns(table)[j])
        coarse = np.array_equal(np.round(numbers, 6), numbers)
        if not coarse and np.ptp(numbers) < 1000 * _FINEST:
            raise ProblemError(
                f"table: the numbers of {table.qi_names[j]!r} differ by less than a thousandth, too little "
                "for noise of six digits; give it in a smaller unit"
            )


def of_texts(table: Table, places: Sequence[int]) -> list[Caution]:
    """Return a caution for categories that look like fractions: numbers as text have no noise.

    Args:
        table: The records.
        places: The places of the categorical quasi-identifiers.
    """
    return [
        Caution("numbers_as_text", {"column": qi.name})
        for qi in (table.qis[j] for j in places)
        if all(map(_is_number, qi.leaves)) and any("." in leaf for leaf in qi.leaves)
    ]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "missing"
    return True


def of_noise(*, measured: bool, intervals: bool) -> list[Caution]:
    """Return the cautions of every release with noise.

    Args:
        measured: Whether the disclosure risk is measured.
        intervals: Whether intervals of numbers with noise are published.
    """
    return [
        Caution("noise_is_not_dp"),
        Caution("noise_stays_near", {"measured": measured}),
        *([Caution("labels_of_noise"), Caution("interval_ends")] if intervals else []),
    ]


def of_seed(seed: int | None) -> list[Caution]:
    """Return the caution of noise that somebody who knows the seed can repeat; none of secret noise.

    Args:
        seed: The seed that a user gave; None for a secret one.
    """
    return [] if seed is None else [Caution("seeded_noise")]


def of_grids(
    table: Table,
    places: Sequence[int],
    steps: Sequence[float],
    scales: Sequence[float],
    bounded: Collection[str],
) -> list[Caution]:
    """Return where rounding undoes noise, and where the ends of the domain are those of the data.

    Args:
        table: The records.
        places: The places of the numeric quasi-identifiers.
        steps: The unit to which the noise of each is rounded.
        scales: The scale of the noise of each.
        bounded: The quasi-identifiers with bounds that the user gave.
    """
    cautions = []
    for j, step, scale in zip(places, steps, scales, strict=True):
        distinct = np.unique(np.asarray(numeric_columns(table)[j]))
        apart = float(np.diff(distinct).min()) if len(distinct) > 1 else 0.0
        if apart > 1.5 * step and scale < apart / 2:
            facts = {"column": table.qi_names[j], "apart": apart, "scale": scale}
            cautions.append(Caution("rounding_undoes_noise", facts))
    unbounded = [table.qi_names[j] for j in places if table.qi_names[j] not in bounded]
    if unbounded:
        cautions.append(Caution("bounds_of_data", {"columns": unbounded}))
    return cautions
