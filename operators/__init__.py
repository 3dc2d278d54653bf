"""Sampling, crossover, mutation and repair for recodings; import as ``privmoo.operators``."""

from __future__ import annotations

if __name__ == "operators":
    raise ImportError("the folder operators is the package privmoo.operators: import that instead")

from typing import Any

from privmoo.operators.attribute_exchange import AttributeExchange
from privmoo.operators.cut_mutation import CutMutation
from privmoo.operators.cut_repair import CutRepair
from privmoo.operators.cut_sampling import CutSampling
from privmoo.operators.hash_duplicates import HashDuplicates
from privmoo.operators.lunacek import LunacekCrossover

__all__ = [
    "AttributeExchange",
    "CutMutation",
    "CutRepair",
    "CutSampling",
    "HashDuplicates",
    "LunacekCrossover",
    "for_problem",
]


def for_problem(problem: Any) -> dict[str, Any]:
    """The operators that fit a problem, by the names that pymoo's algorithms take them.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Cuts
    >>> table = pm.Table(pd.DataFrame({"age": [1, 2, 3]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> sorted(for_problem(Cuts(table)))
    ['crossover', 'eliminate_duplicates', 'mutation', 'sampling']
    """
    operators: dict[str, Any] = problem.default_operators()
    return operators
