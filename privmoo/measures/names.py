"""Measures by their names, built-in or from a plug-in."""

from __future__ import annotations

import inspect
from typing import Any

from privmoo import registry
from privmoo.errors import MeasureError, nearest
from privmoo.measures.base import Measure

__all__ = ["measure_by_name", "names"]


def names() -> list[str]:
    """Return the names of the built-in measures, in order.

    >>> names()[:3]
    ['accuracy', 'aecs', 'alpha']
    """
    return registry.built_in_names("measures")


def measure_by_name(name: str, **parameters: Any) -> Measure:
    """Make the measure with a name: a built-in one, or one of a plug-in.

    Args:
        name: The name of the measure.
        parameters: Its parameters.

    Raises:
        MeasureError: If there is no such measure, or if it does not take these parameters.

    >>> measure_by_name("at_risk", tau=0.1)
    RecordsAtRisk(tau=0.1, count=False)
    >>> measure_by_name("weighted-k")
    Traceback (most recent call last):
    privmoo.errors.MeasureError: measure: 'weighted-k' is not known; did you mean 'weighted_k'?
    """
    if not registry.contains("measures", name):
        hint = nearest(name, registry.names("measures"))
        raise MeasureError(f"measure: {name!r} is not known{hint}")
    measure: type[Measure] | Measure = registry.load("measures", name)
    if isinstance(measure, Measure):  # made by `@measure`: it has no parameters
        if parameters:
            raise MeasureError(f"measure: {name!r} takes no parameters, got {sorted(parameters)}")
        return measure
    signature = inspect.signature(measure)
    try:
        signature.bind(**parameters)
    except TypeError:
        raise MeasureError(
            f"measure: {name!r} takes the parameters {list(signature.parameters)}, "
            f"got {sorted(parameters)}"
        ) from None
    return measure(**parameters)
