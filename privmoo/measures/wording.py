"""Wording: how people read the values of a measure."""

from __future__ import annotations

from typing import TypedDict

from privmoo.measures.base import Measure

__all__ = ["Wording", "wording_of"]


class Wording(TypedDict, total=False):
    """How people read the values of a measure; a part that is missing has its default.

    Attributes:
        label: The name on an axis or above a column; by default the measure's name with spaces.
        symbol: The name in running text, such as ℓ; by default the measure's name with spaces.
        unit: The unit of the values, such as "bits".
        percent: Whether values are fractions that people read as per cent.
    """

    label: str
    symbol: str
    unit: str
    percent: bool


def wording_of(measure: Measure | type[Measure]) -> Wording:
    """Return the wording of a measure, without the parts that have their default.

    >>> from privmoo.measures import FrequencyDiversity
    >>> wording_of(FrequencyDiversity())
    {'label': 'ℓ-diversity', 'symbol': 'ℓ'}
    """
    wording = Wording()
    if measure.label:
        wording["label"] = measure.label
    if measure.symbol:
        wording["symbol"] = measure.symbol
    if measure.unit:
        wording["unit"] = measure.unit
    if measure.percent:
        wording["percent"] = True
    return wording
