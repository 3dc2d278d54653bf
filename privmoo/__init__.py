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
        comparison,
        datasets,
        errors,
        evaluation,
        explorer,
        hierarchy,
        hybrid,
        learning,
        measures,
        operators,
        plot,
        problems,
        testing,
    )
    from privmoo.baselines import exact_front
    from privmoo.candidates import Candidates
    from privmoo.cells import CellRecoding
    from privmoo.centroids import CentroidSpace
    from privmoo.columns import QuasiIdentifier
    from privmoo.columns import QuasiIdentifier as QI  # noqa: N817
    from privmoo.comparison import Solver, Study, compare, optimize_islands
    from privmoo.config import Config
    from privmoo.cuts import CutSpace
    from privmoo.engine import Engine, group
    from privmoo.entry_points import PluginWarning, plugin, plugins
    from privmoo.explorer.widget import explore
    from privmoo.front import Answer, Front, Solution
    from privmoo.grouping import GroupBatch, Grouping
    from privmoo.hierarchy import Hierarchy
    from privmoo.hybrid import HybridScheme
    from privmoo.levels import LevelSpace
    from privmoo.measures import Measure, measure
    from privmoo.partition import PartitionRecoding, cluster_recoding, range_recoding
    from privmoo.problem import AnonymizationProblem
    from privmoo.recoding import Recoding, cut_recoding, identity_recoding, level_recoding
    from privmoo.release import Release, ReleaseWarning, make_release
    from privmoo.run import (
        Evaluations,
        Generations,
        Seconds,
        SpreadSurvival,
        Stalled,
        algorithm_names,
        make_algorithm,
        optimize,
    )
    from privmoo.suppression import (
        BelowAverage,
        BelowThreshold,
        Budget,
        ExplicitRecords,
        KLBudget,
        NoSuppression,
    )
    from privmoo.table import Table
    from privmoo.violating import ViolatingGroups

_MODULES = (
    "analysis",
    "audit",
    "baselines",
    "comparison",
    "datasets",
    "errors",
    "evaluation",
    "explorer",
    "hierarchy",
    "hybrid",
    "learning",
    "measures",
    "operators",
    "plot",
    "problems",
    "suppression",
    "testing",
)
_HOMES = {
    "columns": ["QuasiIdentifier"],
    "centroids": ["CentroidSpace"],
    "cuts": ["CutSpace"],
    "baselines": ["exact_front"],
    "comparison": ["Solver", "Study", "compare", "optimize_islands"],
    "config": ["Config"],
    "candidates": ["Candidates"],
    "cells": ["CellRecoding"],
    "engine": ["Engine", "group"],
    "explorer.widget": ["explore"],
    "entry_points": ["PluginWarning", "plugin", "plugins"],
    "front": ["Answer", "Front", "Solution"],
    "grouping": ["GroupBatch", "Grouping"],
    "hierarchy": ["Hierarchy"],
    "hybrid": ["HybridScheme"],
    "levels": ["LevelSpace"],
    "measures": ["Measure", "measure"],
    "partition": ["PartitionRecoding", "cluster_recoding", "range_recoding"],
    "problem": ["AnonymizationProblem"],
    "recoding": ["Recoding", "cut_recoding", "identity_recoding", "level_recoding"],
    "release": ["Release", "ReleaseWarning", "make_release"],
    "run": [
        "Evaluations",
        "Generations",
        "Seconds",
        "SpreadSurvival",
        "Stalled",
        "algorithm_names",
        "make_algorithm",
        "optimize",
    ],
    "suppression": [
        "BelowAverage",
        "BelowThreshold",
        "Budget",
        "ExplicitRecords",
        "KLBudget",
        "NoSuppression",
    ],
    "table": ["Table"],
    "violating": ["ViolatingGroups"],
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
    "comparison",
    "cut_recoding",
    "datasets",
    "errors",
    "evaluation",
    "exact_front",
    "explore",
    "explorer",
    "group",
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
    "plugin",
    "plugins",
    "problems",
    "range_recoding",
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
