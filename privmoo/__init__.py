"""privmoo: the whole trade-off between privacy and usefulness of a published table.

Names are imported when they are first used (PEP 562): pandas, numba and pymoo take over a second to
import, and not everything needs them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privmoo import (
        analysis,
        audit,
        baselines,
        data,
        datasets,
        errors,
        evaluation,
        exact,
        explorer,
        groups,
        hierarchy,
        hybrid,
        learning,
        measures,
        operators,
        plot,
        problems,
        recodings,
        registry,
        release,
        search,
        spaces,
        study,
        suppression,
        testing,
    )
    from privmoo.analysis.releases import evaluate
    from privmoo.config import Config
    from privmoo.data.columns import QuasiIdentifier
    from privmoo.data.columns import QuasiIdentifier as QI  # noqa: N817
    from privmoo.data.table import Table
    from privmoo.evaluation.engine import Engine, group
    from privmoo.exact.lattice import exact_front
    from privmoo.explorer.widget import explore
    from privmoo.front import Answer, Front, Solution
    from privmoo.groups.groups import GroupBatch, Grouping
    from privmoo.hierarchy import Hierarchy
    from privmoo.hybrid import HybridScheme
    from privmoo.measures import Measure, measure
    from privmoo.problem import AnonymizationProblem
    from privmoo.recodings.base import Recoding
    from privmoo.recodings.blocks import cut_recoding, identity_recoding, level_recoding
    from privmoo.recodings.candidates import Candidates
    from privmoo.recodings.cells import CellRecoding
    from privmoo.recodings.classes import PartitionRecoding, cluster_recoding, range_recoding
    from privmoo.registry import PluginWarning, plugins
    from privmoo.release.release import Release, ReleaseWarning, make_release
    from privmoo.search import (
        Evaluations,
        Generations,
        Seconds,
        SpreadSurvival,
        Stalled,
        algorithm_names,
        make_algorithm,
        optimize,
    )
    from privmoo.spaces.centroids import CentroidSpace
    from privmoo.spaces.cuts import CutSpace
    from privmoo.spaces.levels import LevelSpace
    from privmoo.study import Solver, Study, compare, optimize_islands
    from privmoo.suppression import (
        BelowAverage,
        BelowThreshold,
        Budget,
        ExplicitRecords,
        KLBudget,
        NoSuppression,
        ViolatingGroups,
    )

_MODULES = (
    "analysis",
    "audit",
    "baselines",
    "data",
    "datasets",
    "errors",
    "evaluation",
    "exact",
    "explorer",
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
_HOMES = {
    "analysis.releases": ["evaluate"],
    "config": ["Config"],
    "data.columns": ["QuasiIdentifier"],
    "data.table": ["Table"],
    "evaluation.engine": ["Engine", "group"],
    "exact.lattice": ["exact_front"],
    "explorer.widget": ["explore"],
    "front": ["Answer", "Front", "Solution"],
    "groups.groups": ["GroupBatch", "Grouping"],
    "hierarchy": ["Hierarchy"],
    "hybrid": ["HybridScheme"],
    "measures": ["Measure", "measure"],
    "problem": ["AnonymizationProblem"],
    "recodings.candidates": ["Candidates"],
    "recodings.cells": ["CellRecoding"],
    "recodings.classes": ["PartitionRecoding", "cluster_recoding", "range_recoding"],
    "recodings.base": ["Recoding"],
    "recodings.blocks": ["cut_recoding", "identity_recoding", "level_recoding"],
    "registry": ["PluginWarning", "plugins"],
    "release.release": ["Release", "ReleaseWarning", "make_release"],
    "search": [
        "Evaluations",
        "Generations",
        "Seconds",
        "SpreadSurvival",
        "Stalled",
        "algorithm_names",
        "make_algorithm",
        "optimize",
    ],
    "spaces.centroids": ["CentroidSpace"],
    "spaces.cuts": ["CutSpace"],
    "spaces.levels": ["LevelSpace"],
    "study": ["Solver", "Study", "compare", "optimize_islands"],
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
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_SHORT = {"QI": "QuasiIdentifier"}

__all__ = [
    "QI",
    "AnonymizationProblem",
    "Answer",
    "BelowAverage",
    "BelowThreshold",
    "Budget",
    "Candidates",
    "CellRecoding",
    "CentroidSpace",
    "Config",
    "CutSpace",
    "Engine",
    "Evaluations",
    "ExplicitRecords",
    "Front",
    "Generations",
    "GroupBatch",
    "Grouping",
    "Hierarchy",
    "HybridScheme",
    "KLBudget",
    "LevelSpace",
    "Measure",
    "NoSuppression",
    "PartitionRecoding",
    "PluginWarning",
    "QuasiIdentifier",
    "Recoding",
    "Release",
    "ReleaseWarning",
    "Seconds",
    "Solution",
    "Solver",
    "SpreadSurvival",
    "Stalled",
    "Study",
    "Table",
    "ViolatingGroups",
    "algorithm_names",
    "analysis",
    "audit",
    "baselines",
    "cluster_recoding",
    "compare",
    "cut_recoding",
    "data",
    "datasets",
    "errors",
    "evaluate",
    "evaluation",
    "exact",
    "exact_front",
    "explore",
    "explorer",
    "group",
    "groups",
    "hierarchy",
    "hybrid",
    "identity_recoding",
    "learning",
    "level_recoding",
    "make_algorithm",
    "make_release",
    "measure",
    "measures",
    "operators",
    "optimize",
    "optimize_islands",
    "plot",
    "plugins",
    "problems",
    "range_recoding",
    "recodings",
    "registry",
    "release",
    "search",
    "spaces",
    "study",
    "suppression",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"privmoo.{name}")
    home = _HOME_OF.get(_SHORT.get(name, name))
    if home is None and not name.startswith("_"):
        # Every built-in measure is also a name of the package: pm.GeneralLoss().
        measures = importlib.import_module("privmoo.measures")
        if name in measures.__all__:
            return getattr(measures, name)
    if home is None:
        raise AttributeError(f"module 'privmoo' has no attribute {name!r}")
    return getattr(importlib.import_module(f"privmoo.{home}"), _SHORT.get(name, name))


def __dir__() -> list[str]:
    return sorted(__all__)
