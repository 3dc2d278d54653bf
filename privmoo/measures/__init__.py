"""Measures of privacy, risk and utility, for objectives, constraints and reports."""

from __future__ import annotations

from privmoo.measures.base import Constraint, Measure, Sense
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
from privmoo.measures.function_measure import FunctionMeasure, measure
from privmoo.measures.generalization import (
    Ambiguity,
    Distortion,
    NonUniformEntropy,
    Precision,
    Transparency,
)
from privmoo.measures.information import InformationLoss
from privmoo.measures.names import measure_by_name, names
from privmoo.measures.notation import constraint_from, measure_from
from privmoo.measures.partial_knowledge import Confidence, KmAnonymity
from privmoo.measures.population import JournalistRisk, MarketerRisk
from privmoo.measures.privacy import AverageK, KAnonymity, WeightedK
from privmoo.measures.query_error import QueryError
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
    "Confidence",
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
    "KmAnonymity",
    "MarketerRisk",
    "Measure",
    "MinimumEntropy",
    "NonUniformEntropy",
    "Originality",
    "PSensitivity",
    "Precision",
    "ProsecutorRisk",
    "QueryError",
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
    "constraint_from",
    "measure",
    "measure_by_name",
    "measure_from",
    "names",
]
