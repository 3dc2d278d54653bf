"""Cuts: one bit between each two neighbouring leaves of every quasi-identifier (Iyengar 2002)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.measures import (
    Constraint,
    FrequencyDiversity,
    GeneralizationLoss,
    GeneralLoss,
    KAnonymity,
    Measure,
    SuppressedShare,
    WeightedK,
)
from privmoo.problem import AnonymizationProblem
from privmoo.spaces.cuts import CutSpace
from privmoo.suppression import Suppression

__all__ = ["Cuts"]


class Cuts(AnonymizationProblem):
    """Every cut of every quasi-identifier's domain: the general problem behind Dewri's four.

    Decision variables are bits: 1 keeps two neighbouring leaves apart, 0 merges them. Attributes with a
    tree are restricted to nodes of the tree; ordered attributes can be cut anywhere. The loss counts leaves
    of the hierarchy; with `Hierarchy.ordered(step=5)`, the leaves of an attribute are base intervals.

    Args:
        table: The records; every quasi-identifier needs a hierarchy.
        objectives: Measures to optimise; k and general loss by default.
        constraints: Bounds such as `KAnonymity() >= 5`.
        suppression: Which records are left out; none by default.
        extras: Further measures to record; k, ℓ, weighted-k and the parts of the loss by default.
        threads: The number of threads of the evaluation; all cores by default.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = Cuts(table)
    >>> measured = problem.evaluate_measures(np.array([[False, True, False]]))
    >>> measured["k"].tolist(), measured["loss"].round(3).tolist()
    ([2.0], [0.333])
    """

    space: CutSpace

    def __init__(
        self,
        table: Table,
        *,
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        suppression: Suppression | None = None,
        extras: Iterable[Measure] | None = None,
        threads: int | None = None,
    ) -> None:
        space = CutSpace(table)
        if space.n_bits == 0:
            raise ProblemError(
                "table: every quasi-identifier has a single value, so there is nothing to generalise"
            )
        super().__init__(
            table,
            space=space,
            objectives=objectives,
            constraints=constraints,
            suppression=suppression,
            extras=extras,
            threads=threads,
        )

    def default_extras(self) -> Sequence[Measure]:
        """Return k, weighted-k, the parts of the loss, and ℓ if there is a sensitive attribute."""
        diversity = [FrequencyDiversity()] if self.table.sensitive else []
        return [
            KAnonymity(),
            WeightedK(),
            GeneralLoss(),
            GeneralizationLoss(),
            SuppressedShare(),
            *diversity,
        ]
