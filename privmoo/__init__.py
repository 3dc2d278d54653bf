"""privmoo: the whole trade-off between privacy and usefulness of a published table.

Names are imported when they are first used (PEP 562): pandas, numba and pymoo take over a second to
import, and not everything needs them. The stub `__init__.pyi` shows the same names to type checkers.
"""

from __future__ import annotations

import importlib
import logging
from typing import Any

# Silent unless a program asks for it: https://docs.python.org/3/howto/logging.html
logging.getLogger("privmoo").addHandler(logging.NullHandler())

_ROOMS = (
    "analysis",
    "attacks",
    "audit",
    "baselines",
    "config",
    "data",
    "datasets",
    "engines",
    "errors",
    "evaluation",
    "exact",
    "explorer",
    "families",
    "front",
    "groups",
    "hierarchy",
    "hybrid",
    "learning",
    "measures",
    "operators",
    "plot",
    "problems",
    "recodings",
    "registry",
    "release",
    "search",
    "spaces",
    "study",
    "suppression",
    "testing",
)
_NAMES = {
    "analysis": ["evaluate"],
    "config": ["Config"],
    "data.columns": ["QI", "QuasiIdentifier"],
    "data.table": ["Table"],
    "evaluation": ["group"],
    "exact": ["exact_front"],
    "explorer.widget": ["explore"],
    "families": ["trade_off"],
    "front": ["Front", "Solution"],
    "hierarchy": ["Hierarchy"],
    "hybrid": ["HybridScheme"],
    "measures": [
        "Alpha",
        "Ambiguity",
        "AverageClassSize",
        "AverageK",
        "BetaLikeness",
        "ClassificationMetric",
        "Confidence",
        "DeltaDisclosure",
        "Discernibility",
        "DisclosureRisk",
        "DistinctDiversity",
        "Distortion",
        "EntropyDiversity",
        "FrequencyDiversity",
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
        "Similarity",
        "Skewness",
        "SuppressedShare",
        "TCloseness",
        "Transparency",
        "Uniqueness",
        "WeightedDiversity",
        "WeightedK",
        "measure",
    ],
    "problem": ["AnonymizationProblem"],
    "release": ["Release", "make_release"],
    "search": ["Evaluations", "Generations", "Seconds", "Stalled", "optimize"],
    "study": ["Solver", "Study", "compare"],
    "suppression": [
        "BelowAverage",
        "BelowThreshold",
        "Budget",
        "ExplicitRecords",
        "JointBudget",
        "KLBudget",
        "NoSuppression",
        "Thresholds",
        "ViolatingGroups",
    ],
}
"""The public names by the module that defines them: the one table of lazy imports, `__all__` and `dir`."""

_MOVED = {
    "Answer": "front.Answer",
    "Candidates": "recodings.Candidates",
    "CellRecoding": "recodings.CellRecoding",
    "CentroidSpace": "spaces.CentroidSpace",
    "CutSpace": "spaces.CutSpace",
    "Engine": "evaluation.Engine",
    "GroupBatch": "groups.GroupBatch",
    "Grouping": "groups.Grouping",
    "LevelSpace": "spaces.LevelSpace",
    "PartitionRecoding": "recodings.PartitionRecoding",
    "PluginWarning": "registry.PluginWarning",
    "Recoding": "recodings.Recoding",
    "ReleaseWarning": "release.ReleaseWarning",
    "SpreadSurvival": "search.SpreadSurvival",
    "algorithm_names": "search.algorithm_names",
    "cluster_recoding": "recodings.cluster_recoding",
    "comparison": "study",
    "cut_recoding": "recodings.cut_recoding",
    "identity_recoding": "recodings.identity_recoding",
    "level_recoding": "recodings.level_recoding",
    "make_algorithm": "search.make_algorithm",
    "optimize_islands": "study.optimize_islands",
    "plugin": "registry.load",
    "plugins": "registry.plugins",
    "range_recoding": "recodings.range_recoding",
    "run": "search",
    "scanning": "engines",
}
"""Names and rooms of version 0.1, and where they are now."""

_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = sorted((*_HOMES, *_ROOMS))


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"privmoo.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("privmoo")
    if name in _MOVED:
        raise AttributeError(f"privmoo.{name} is now privmoo.{_MOVED[name]}")
    if name not in _HOMES:
        raise AttributeError(f"module 'privmoo' has no attribute {name!r}")
    return getattr(importlib.import_module(f"privmoo.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
