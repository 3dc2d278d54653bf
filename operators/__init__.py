"""Sampling, crossover, mutation and repair for recodings; import as ``privmoo.operators``."""

from __future__ import annotations

if __name__ == "operators":
    raise ImportError("the folder operators is the package privmoo.operators: import that instead")

from typing import Any

from privmoo.operators.attribute_exchange import AttributeExchange
from privmoo.operators.best_threshold import BestThreshold
from privmoo.operators.bit_flips import BitFlips
from privmoo.operators.centroid_mutation import CentroidMutation
from privmoo.operators.centroid_sampling import CentroidSampling
from privmoo.operators.class_crossover import ClassCrossover
from privmoo.operators.class_sampling import ClassSampling
from privmoo.operators.class_search import ClassSearch
from privmoo.operators.cluster_exchange import ClusterExchange
from privmoo.operators.cut_mutation import CutMutation
from privmoo.operators.cut_repair import CutRepair
from privmoo.operators.cut_sampling import CutSampling
from privmoo.operators.elite_steps import EliteSteps
from privmoo.operators.family_crossover import FamilyCrossover
from privmoo.operators.family_mutation import FamilyMutation
from privmoo.operators.family_sampling import FamilySampling
from privmoo.operators.hash_duplicates import HashDuplicates
from privmoo.operators.level_crossover import LevelCrossover
from privmoo.operators.level_mutation import LevelMutation
from privmoo.operators.level_sampling import LevelSampling
from privmoo.operators.lloyd_step import LloydStep
from privmoo.operators.lunacek import LunacekCrossover
from privmoo.operators.merge_repair import MergeRepair
from privmoo.operators.new_levels import NewLevels
from privmoo.operators.one_of import OneOf
from privmoo.operators.parameter_crossover import ParameterCrossover
from privmoo.operators.parameter_mutation import ParameterMutation
from privmoo.operators.parameter_sampling import ParameterSampling
from privmoo.operators.region_exchange import RegionExchange
from privmoo.operators.region_mutation import RegionMutation
from privmoo.operators.region_sampling import RegionSampling
from privmoo.operators.split_merge_drop import SplitMergeDrop

__all__ = [
    "AttributeExchange",
    "BestThreshold",
    "BitFlips",
    "CentroidMutation",
    "CentroidSampling",
    "ClassCrossover",
    "ClassSampling",
    "ClassSearch",
    "ClusterExchange",
    "CutMutation",
    "CutRepair",
    "CutSampling",
    "EliteSteps",
    "FamilyCrossover",
    "FamilyMutation",
    "FamilySampling",
    "HashDuplicates",
    "LevelCrossover",
    "LevelMutation",
    "LevelSampling",
    "LloydStep",
    "LunacekCrossover",
    "MergeRepair",
    "NewLevels",
    "OneOf",
    "ParameterCrossover",
    "ParameterMutation",
    "ParameterSampling",
    "RegionExchange",
    "RegionMutation",
    "RegionSampling",
    "SplitMergeDrop",
    "for_problem",
]


def for_problem(problem: Any) -> dict[str, Any]:
    """Return the operators that fit a problem, by the names that pymoo's algorithms use.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Cuts
    >>> table = pm.Table(pd.DataFrame({"age": [1, 2, 3]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> sorted(for_problem(Cuts(table)))
    ['crossover', 'eliminate_duplicates', 'mutation', 'sampling']
    """
    operators: dict[str, Any] = problem.default_operators()
    return operators
