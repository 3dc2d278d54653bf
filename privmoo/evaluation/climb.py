"""Climb: which steps of the staircases of a run are worth measuring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated
from privmoo.measures.base import Measure
from privmoo.suppression.staircase import Steps

if TYPE_CHECKING:
    from privmoo.evaluation.evaluator import Evaluation, Formulation

__all__ = ["Climb", "Measured"]

Measured = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The steps of one recoding that were measured: their thresholds, and their values."""


class Climb:
    """Adds all thresholds of every recoding of a run, once.

    For fixed values of the quasi-identifiers the best records to publish are known for every threshold: all
    groups that reach it. So one recoding gives a whole staircase of trade-offs, for the price of grouping
    once. Where k, ℓ, loss and suppression are all that counts, the trade-offs of all steps are known from
    sums over the groups; only those that nothing in the run dominates are measured in full.

    Args:
        formulation: The problem.

    Attributes:
        F: The objectives of the best trade-offs of the run, minimised.
        logged: Steps that were measured before the run was interrupted, by the key of their recoding.
    """

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation
        self.F = np.empty((0, len(formulation.objectives)))
        self.logged: dict[bytes, Measured] = {}
        self._followed: set[bytes] = set()

    def new(self, keys: Sequence[bytes], valid: NDArray[np.bool_]) -> list[int]:
        """Return the places of recodings that were not followed yet, each once, and follow them.

        Args:
            keys: The keys of the recodings.
            valid: Which of them are valid recodings.
        """
        places = []
        for place, key in enumerate(keys):
            if valid[place] and key not in self._followed:
                self._followed.add(key)
                places.append(place)
        return places

    def add(self, evaluation: Evaluation) -> None:
        """Consider evaluated candidates for the best trade-offs."""
        feasible = evaluation.F[evaluation.feasible]
        if len(feasible):
            together = np.concatenate([self.F, feasible])
            self.F = together[non_dominated(together)]

    def promising(self, steps: Steps) -> Steps:
        """Return the steps that may be on the front; all of them if sums do not decide that."""
        formulation = self.formulation
        n_records = formulation.table.n_records
        feasible = np.ones(len(steps.owners), np.bool_)
        for constraint in formulation.constraints:
            values = _from_sums(constraint.measure, steps, n_records)
            if values is None:
                return steps
            feasible &= constraint.violation(values) <= 0
        columns = []
        for objective in formulation.objectives:
            values = _from_sums(objective, steps, n_records)
            if values is None:
                return steps
            columns.append(values)
        places = np.flatnonzero(feasible)
        F = formulation.minimised(np.column_stack(columns)[places])
        better = non_dominated(np.concatenate([self.F, F]))[len(self.F) :]
        return steps.at(places[better])


def _from_sums(measure: Measure, steps: Steps, n_records: int) -> NDArray[np.float64] | None:
    """Return what a measure says of steps, unless a subclass computes the measure in another way."""
    for cls in type(measure).__mro__:
        if "of_steps" in vars(cls):
            return measure.of_steps(steps, n_records)
        if {"batch", "values", "_of_attribute", "attributes"} & vars(cls).keys():
            return None
    return None
