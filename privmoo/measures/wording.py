"""Wording: the words and units for the values of a measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from privmoo.measures.base import Measure

__all__ = ["QualifiedWording", "Wording", "wording_of"]


class Wording(TypedDict, total=False):
    """The words and units for the values of a measure; missing parts have their defaults.

    Attributes:
        label: The name on an axis or above a column; by default the measure's name with spaces.
        symbol: The name in running text, such as ℓ; by default the measure's name with spaces.
        unit: The unit of the values, such as "bits".
        percent: Whether values are fractions that people read as percentages.
    """

    label: str
    symbol: str
    unit: str
    percent: bool


class QualifiedWording(Wording, total=False):
    """The words and units for the values of a measure with certain arguments.

    Attributes:
        qualifier: The text that label and symbol add in parentheses for the arguments, such as "τ = 0.1".
    """

    qualifier: str


def wording_of(measure: Measure | type[Measure], parameters: Mapping[str, Any]) -> QualifiedWording:
    """Return the wording of a measure, without the parts that have their defaults.

    Args:
        measure: A measure or its class.
        parameters: The arguments of the measure by name.

    >>> from privmoo.measures import FrequencyDiversity, RecordsAtRisk
    >>> wording_of(FrequencyDiversity, {})
    {'label': 'ℓ-diversity', 'symbol': 'ℓ'}
    >>> wording_of(RecordsAtRisk, {"tau": 0.1, "count": True})
    {'label': 'records at risk', 'qualifier': 'τ = 0.1'}
    """
    wording = QualifiedWording()
    if measure.label:
        wording["label"] = measure.label
    if measure.symbol:
        wording["symbol"] = measure.symbol
    if measure.unit:
        wording["unit"] = measure.unit
    if measure.percent and not measure.is_count(parameters):
        wording["percent"] = True
    if qualifier := measure.qualifier(parameters):
        wording["qualifier"] = qualifier
    return wording
