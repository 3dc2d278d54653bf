"""Measures of privacy, risk and utility: objectives, constraints and lines of reports alike."""

from __future__ import annotations

import inspect
from typing import Any

from privmoo.errors import MeasureError, nearest
from privmoo.measures.base import Constraint, FunctionMeasure, Measure, Sense, measure
from privmoo.measures.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from privmoo.measures.disclosure import DisclosureRisk
from privmoo.measures.diversity import (
    Alpha,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    MinimumEntropy,
    PSensitivity,
    RecursiveDiversity,
    WeightedDiversity,
)
from privmoo.measures.generalization import (
    Ambiguity,
    Distortion,
    NonUniformEntropy,
    Precision,
    Transparency,
)
from privmoo.measures.information import InformationLoss
from privmoo.measures.population import JournalistRisk, MarketerRisk
from privmoo.measures.privacy import AverageK, KAnonymity, WeightedK
from privmoo.measures.records import Originality
from privmoo.measures.risk import (
    Homogeneity,
    ProsecutorRisk,
    RecordsAtRisk,
    Similarity,
    Skewness,
    Uniqueness,
)
from privmoo.measures.utility import (
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    GeneralizationLoss,
    GeneralLoss,
    SuppressedShare,
)

__all__ = [
    "Alpha",
    "Ambiguity",
    "AverageClassSize",
    "AverageK",
    "BetaLikeness",
    "ClassificationMetric",
    "Constraint",
    "DeltaDisclosure",
    "Discernibility",
    "DisclosureRisk",
    "DistinctDiversity",
    "Distortion",
    "EntropyDiversity",
    "FrequencyDiversity",
    "FunctionMeasure",
    "GeneralLoss",
    "GeneralizationLoss",
    "Homogeneity",
    "InformationLoss",
    "JournalistRisk",
    "KAnonymity",
    "MarketerRisk",
    "Measure",
    "MinimumEntropy",
    "NonUniformEntropy",
    "Originality",
    "PSensitivity",
    "Precision",
    "ProsecutorRisk",
    "RecordsAtRisk",
    "RecursiveDiversity",
    "Sense",
    "Similarity",
    "Skewness",
    "SuppressedShare",
    "TCloseness",
    "Transparency",
    "Uniqueness",
    "WeightedDiversity",
    "WeightedK",
    "measure",
    "measure_by_name",
    "names",
]

_BUILT_IN: tuple[type[Measure], ...] = (
    KAnonymity,
    WeightedK,
    AverageK,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    WeightedDiversity,
    RecursiveDiversity,
    Alpha,
    PSensitivity,
    TCloseness,
    BetaLikeness,
    DeltaDisclosure,
    MinimumEntropy,
    ProsecutorRisk,
    JournalistRisk,
    MarketerRisk,
    RecordsAtRisk,
    Homogeneity,
    Uniqueness,
    Skewness,
    Similarity,
    DisclosureRisk,
    GeneralLoss,
    GeneralizationLoss,
    SuppressedShare,
    Discernibility,
    AverageClassSize,
    Precision,
    NonUniformEntropy,
    Ambiguity,
    InformationLoss,
    Transparency,
    Distortion,
    Originality,
    ClassificationMetric,
)
_BY_NAME = {built_in.name: built_in for built_in in _BUILT_IN}


def names() -> list[str]:
    """Names of the built-in measures: privacy, risk, then utility.

    >>> names()[:3]
    ['k', 'weighted_k', 'average_k']
    """
    return list(_BY_NAME)


def _from_plugin(name: str) -> type[Measure] | Measure:
    from privmoo.registry import plugin, plugin_names

    others = plugin_names("measures")
    if name not in others:
        raise MeasureError(f"measure: {name!r} is not known{nearest(name, [*_BY_NAME, *others])}")
    found: type[Measure] | Measure = plugin("measures", name)
    return found


def measure_by_name(name: str, **parameters: Any) -> Measure:
    """The measure with this name: a built-in one, or one of a plug-in.

    >>> measure_by_name("at_risk", tau=0.1)
    RecordsAtRisk(tau=0.1, count=False)
    >>> measure_by_name("weighted-k")
    Traceback (most recent call last):
    privmoo.errors.MeasureError: measure: 'weighted-k' is not known; did you mean 'weighted_k'?
    """
    made = _BY_NAME.get(name) or _from_plugin(name)
    if isinstance(made, Measure):  # made by `@measure`: it has no parameters
        if parameters:
            raise MeasureError(f"measure: {name!r} takes no parameters, got {sorted(parameters)}")
        return made
    signature = inspect.signature(made)
    try:
        signature.bind(**parameters)
    except TypeError:
        raise MeasureError(
            f"measure: {name!r} takes the parameters {list(signature.parameters)}, "
            f"got {sorted(parameters)}"
        ) from None
    return made(**parameters)
