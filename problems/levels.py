"""Levels: one generalization level for every whole column (full-domain generalization)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.measures import (
    Constraint,
    FrequencyDiversity,
    GeneralLoss,
    KAnonymity,
    Measure,
    SuppressedShare,
)
from privmoo.problem import AnonymizationProblem
from privmoo.spaces.levels import LevelSpace, ThresholdLevelSpace
from privmoo.suppression import Suppression

__all__ = ["Levels"]


class Levels(AnonymizationProblem):
    """One level per quasi-identifier, the same for the whole column.

    A policy decides which records are left out. With `max_suppression`, a threshold decides instead, which
    is a decision variable too: smaller groups are left out. One evaluated vector of levels then yields all
    its thresholds at once, and all of them are considered for the front.

    Args:
        table: The records; every quasi-identifier needs a hierarchy.
        objectives: Measures to optimise; k and general loss by default.
        constraints: Bounds such as `KAnonymity() >= 5`.
        suppression: Which records are left out; none by default.
        max_suppression: The largest share of records left out by a threshold, instead of a policy.
        extras: Further measures to record.
        threads: The number of threads of the evaluation; all cores by default.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> problem = Levels(table, max_suppression=0.5)
    >>> measured = problem.evaluate_measures(np.array([[1, 2]]))
    >>> measured["k"].tolist(), measured["records_suppressed"].tolist()
    ([2.0], [1.0])
    """

    space: LevelSpace
    parameter_names: ClassVar[tuple[str, ...]] = ("max_suppression",)

    def __init__(
        self,
        table: Table,
        *,
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        suppression: Suppression | None = None,
        max_suppression: float | None = None,
        extras: Iterable[Measure] | None = None,
        threads: int | None = None,
    ) -> None:
        if suppression is not None and max_suppression is not None:
            raise ProblemError(
                "max_suppression: pass either max_suppression or suppression, not both"
            )
        self.max_suppression = max_suppression
        space = LevelSpace(table)
        if max_suppression is not None:
            space = ThresholdLevelSpace(table, max_suppression)
            constraints = (*constraints, SuppressedShare() <= float(max_suppression))
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
        """Return k, loss and suppression, and ℓ if there is a sensitive attribute."""
        diversity = [FrequencyDiversity()] if self.table.sensitive else []
        return [KAnonymity(), GeneralLoss(), SuppressedShare(), *diversity]
