"""Repair: the nearest valid cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.repair import Repair

from privmoo.operators.space import space_of

__all__ = ["CutRepair"]


class CutRepair(Repair):  # type: ignore[misc]  # pymoo has no types
    """Repair that finds the nearest valid cut (Iyengar 2002), for crossovers that break trees.

    The result differs in as few bits as possible; of equally near cuts the coarser is taken. Rows
    that are not boolean, such as those of a particle swarm, are rounded and keep their type.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Cuts
    >>> tree = pm.Hierarchy.tree([["a", "b"], ["c", "d"]])
    >>> problem = Cuts(pm.Table(pd.DataFrame({"job": ["a", "d"]}), quasi_identifiers={"job": tree}))
    >>> from pymoo.core.population import Population
    >>> CutRepair().do(problem, Population.new("X", [[True, False, True]])).get("X").tolist()
    [[True, True, True]]
    """

    def _do(self, problem: Problem, X: NDArray[Any], **kwargs: Any) -> NDArray[Any]:
        return space_of(problem, "cuts").repair(X).astype(np.asarray(X).dtype, copy=False)
