"""privmoo: the whole trade-off between privacy and usefulness of a published table.

Names are imported when they are first used (PEP 562): pandas, numba and pymoo take over a second to
import, and not everything needs them. The stub `__init__.pyi` shows the same names to type checkers.
"""

from __future__ import annotations

import importlib
from typing import Any

_ROOMS = (
    "analysis",
    "audit",
    "baselines",
    "data",
    "datasets",
    "errors",
    "evaluation",
    "exact",
    "explorer",
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
    "evaluation.engine": ["group"],
    "exact": ["exact_front"],
    "explorer.widget": ["explore"],
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
    "release.release": ["Release", "make_release"],
    "search": ["Evaluations", "Generations", "Seconds", "Stalled", "optimize"],
    "study": ["Solver", "Study", "compare"],
    "suppression": [
        "BelowAverage",
        "BelowThreshold",
        "Budget",
        "ExplicitRecords",
        "KLBudget",
        "NoSuppression",
        "ViolatingGroups",
    ],
}
"""The public names by the module that defines them: the one table of lazy imports, `__all__` and `dir`."""

_MOVED = {
    "Answer": "front",
    "Candidates": "recodings.candidates",
    "CellRecoding": "recodings.cells",
    "CentroidSpace": "spaces.centroids",
    "CutSpace": "spaces.cuts",
    "Engine": "evaluation.engine",
    "GroupBatch": "groups.groups",
    "Grouping": "groups.groups",
    "LevelSpace": "spaces.levels",
    "PartitionRecoding": "recodings.classes",
    "PluginWarning": "registry",
    "Recoding": "recodings.base",
    "ReleaseWarning": "release.release",
    "SpreadSurvival": "search",
    "algorithm_names": "search",
    "cluster_recoding": "recodings.classes",
    "cut_recoding": "recodings.blocks",
    "identity_recoding": "recodings.blocks",
    "level_recoding": "recodings.blocks",
    "make_algorithm": "search",
    "optimize_islands": "study",
    "plugins": "registry",
    "range_recoding": "recodings.classes",
}

_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = sorted((*_HOMES, *_ROOMS))


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"privmoo.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("privmoo")
    home = _HOMES.get(name, _MOVED.get(name))
    if home is None:
        raise AttributeError(f"module 'privmoo' has no attribute {name!r}")
    return getattr(importlib.import_module(f"privmoo.{home}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
