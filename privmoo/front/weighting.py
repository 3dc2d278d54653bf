"""Weighting: the same releases, measured and ranked by other weights of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import feasible_rows, non_dominated
from privmoo.errors import ProblemError
from privmoo.front.quantities import RECORDS_SUPPRESSED, quantities_of

if TYPE_CHECKING:
    from privmoo.front.front import Front
    from privmoo.problem import AnonymizationProblem

__all__ = ["with_weights"]

_PROVEN = ("proven", "proven_solutions", "bound")


def with_weights(front: Front, weights: Mapping[str, float]) -> Front:
    """Return the front that other weights of the columns leave, for `Front.with_weights`.

    Args:
        front: The front, with its problem.
        weights: Weights by quasi-identifier.
    """
    if front.problem is None:
        raise ProblemError(
            "with_weights: the front was loaded without its problem; use Front.load(path, problem=…)"
        )
    problem = front.problem.with_table(front.problem.table.with_weights(weights))
    values, violations = _measure(front, problem)
    _check_same_releases(front, problem, values)
    signs = np.array([q.sign for q in front.objectives])
    objectives = values[:, : front.n_objectives] * signs
    allowed = feasible_rows(objectives, violations)
    if not len(allowed):
        raise ProblemError(
            "with_weights: no solution keeps the constraints with these weights; search again"
        )
    rows = allowed[non_dominated(objectives[allowed])]
    rows = rows[np.lexsort(values[rows, : front.n_objectives].T[::-1])]
    part = front.rows(rows, by=())
    nothing = np.empty((0, front.n_objectives))  # how others would rank now is not known
    return replace(
        part,
        quantities=quantities_of(problem),
        values=values[rows],
        run=_run(front),
        description=problem.describe(),
        dominated=nothing,
        infeasible=nothing,
        problem=problem,
        table=problem.table,
    )


def _measure(
    front: Front, problem: AnonymizationProblem
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the quantities of all solutions with the new weights, and what they violate."""
    evaluator = problem.evaluator
    values = evaluator.values_of_solutions(front.X, front.thresholds)
    for i, recoding in enumerate(front.recodings or ()):
        if recoding is not None:  # found elsewhere: the decision vector is only the nearest one
            values[i] = evaluator.judge_recodings([front[i].recoding]).values[0]
    violations = [
        c.violation(values[:, evaluator.names.index(c.measure.key)]) for c in problem.constraints
    ]
    columns = [evaluator.names.index(q.key) for q in quantities_of(problem)]
    return values[:, columns], np.column_stack([np.zeros(len(values)), *violations])


def _check_same_releases(
    front: Front, problem: AnonymizationProblem, values: NDArray[np.float64]
) -> None:
    """Raise if a solution is another release under the new weights: then its rank would be a guess."""
    audited = {m.key for m in problem.measures if m.audited} | {RECORDS_SUPPRESSED}
    for j, q in enumerate(front.quantities):
        if q.key in audited and not np.allclose(values[:, j], front.values[:, j], rtol=1e-9):
            raise ProblemError(
                "with_weights: the weights decide what the solutions of this problem publish; search "
                "again with them, as in pm.optimize(problem.with_table(table.with_weights(…)))"
            )


def _run(front: Front) -> dict[str, object]:
    """Return the facts of the search, which was one with other weights."""
    facts = {name: fact for name, fact in front.run.items() if name not in _PROVEN}
    return {
        **facts,
        "reproducible": False,
        "why_not_reproducible": "its columns were given other weights after the search",
    }
