"""One of everything: two measures, a policy, a problem with an own operator, a baseline, a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pymoo.core.mutation import Mutation

import privmoo as pm


class Lonely(pm.Measure):
    """The share of records in QI-groups of fewer than `below`."""

    name = "lonely"
    sense = "min"

    def __init__(self, below: int = 2) -> None:
        self.below = below

    def batch(self, groups: pm.groups.GroupBatch) -> np.ndarray:
        small = np.where(groups.sizes < self.below, groups.sizes, 0)
        return groups.reduce(small) / np.maximum(groups.reduce(groups.sizes), 1)

    def range(self, table: pm.Table) -> tuple[float, float]:
        return 0.0, 1.0


@pm.measure(sense="min", bounds=(0, 1))
def largest_group(groups: pm.groups.Grouping) -> float:
    """The share of records in the largest QI-group."""
    return float(groups.sizes.max()) / groups.n_records


@dataclass(frozen=True)
class Pairs(pm.suppression.Suppression):
    """Groups of fewer than two persons are left out."""

    def keep(self, groups: pm.groups.GroupBatch) -> np.ndarray:
        return groups.sizes >= 2


class FlipOne(Mutation):
    """Removes or adds one cut point."""

    def _do(self, problem: Any, X: np.ndarray, *args: Any, random_state: Any, **kwargs: Any) -> Any:
        children = X.copy()
        at = random_state.integers(X.shape[1], size=len(X))
        children[np.arange(len(X)), at] ^= True
        return children


class Halves(pm.problems.Cuts):
    """Cuts with this package's measure and operator."""

    def __init__(self, table: pm.Table, **options: Any) -> None:
        super().__init__(table, objectives=[pm.KAnonymity(), Lonely(below=3)], **options)

    def default_operators(self) -> dict[str, Any]:
        return {**super().default_operators(), "mutation": FlipOne()}


def all_in_one(table: pm.Table, k: int) -> pm.recodings.PartitionRecoding:
    """Everybody in one class."""
    return pm.recodings.cluster_recoding(table, np.zeros(table.n_records, np.int64))


def villagers() -> pm.Table:
    """Forty people."""
    frame = pd.DataFrame({"age": np.arange(40) // 2, "ill": ["a", "b", "c", "d"] * 10})
    return pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.ordered()}, sensitive="ill")
