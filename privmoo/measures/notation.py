"""Measures and constraints as text and plain data: the notation of jobs and files.

A measure is its name, such as `"k"`, or a mapping of `measure`, its parameters and perhaps another `name`.
A constraint is a sentence such as `"k >= 5"`, or such a mapping with `at_least` or `at_most`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from privmoo.errors import MeasureError, PrivmooError
from privmoo.measures.base import Constraint, Measure
from privmoo.measures.names import measure_by_name

__all__ = ["constraint_from", "measure_from"]

_SENTENCE = re.compile(r"\s*(\w+)\s*(<=|>=)\s*([-+0-9.eE]+)\s*")
_RELATIONS = {"at_least": ">=", "at_most": "<="}


def measure_from(entry: Any) -> Measure:
    """Make a measure from its name, or from a mapping of name and parameters.

    >>> measure_from({"measure": "at_risk", "tau": 0.1, "name": "at_risk_10"})
    RecordsAtRisk(tau=0.1, count=False)
    """
    measure, bounds = _measure_and_bounds(entry)
    if bounds:
        raise MeasureError(f"measure: {measure.key!r} has a bound, which only a constraint takes")
    return measure


def constraint_from(entry: Any) -> Constraint:
    """Make a constraint from a sentence, or from a mapping of a measure and a bound.

    >>> constraint_from("k >= 5"), constraint_from({"measure": "at_risk", "tau": 0.1, "at_most": 0.2})
    (k >= 5, at_risk <= 0.2)
    """
    if isinstance(entry, str):
        sentence = _SENTENCE.fullmatch(entry)
        if sentence is None:
            raise MeasureError(f"constraint: {entry!r} must be like 'k >= 5' or 'loss <= 0.3'")
        measure = measure_from(sentence[1])
        bounds = {sentence[2]: _number(sentence[3])}
    else:
        measure, bounds = _measure_and_bounds(entry)
    if len(bounds) != 1:
        raise MeasureError(
            f"constraint: give either at_least or at_most; {measure.key!r} has "
            f"{'both' if bounds else 'neither'}"
        )
    ((relation, bound),) = bounds.items()
    return measure >= bound if relation == ">=" else measure <= bound


def _measure_and_bounds(entry: Any) -> tuple[Measure, dict[str, float]]:
    parameters = {"measure": entry} if isinstance(entry, str) else entry
    if not isinstance(parameters, Mapping) or not isinstance(parameters.get("measure"), str):
        raise MeasureError("measure: must be a name in quotes, or a table with 'measure'")
    parameters = dict(parameters)
    name, alias = parameters.pop("measure"), parameters.pop("name", None)
    bounds = {
        relation: _bound(word, parameters.pop(word))
        for word, relation in _RELATIONS.items()
        if word in parameters
    }
    try:
        measure = measure_by_name(name, **parameters)
        return (measure if alias is None else measure.named(alias)), bounds
    except PrivmooError:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise MeasureError(
            f"measure: {name!r} cannot be made with the parameters {sorted(parameters)}"
        ) from error


def _bound(word: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MeasureError(f"constraint: {word!r} must be a number, got {type(value).__name__}")
    return float(value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise MeasureError(f"constraint: {text!r} is not a number") from None
