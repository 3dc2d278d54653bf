"""The public curve: what k costs in loss, so coarse that it says nothing about single people."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from privmoo.front.front import Front
from privmoo.front.quantities import RECORDS_SUPPRESSED
from privmoo.front.solution import Solution
from privmoo.measures import GeneralLoss, KAnonymity, SuppressedShare
from privmoo.measures.function_measure import FunctionMeasure
from privmoo.problem import AnonymizationProblem
from privmoo.spaces.cuts import CutSpace
from privmoo.spaces.levels import LevelSpace

__all__ = ["LEAST_RECORDS", "PublicCurve", "public_curve"]

LEAST_RECORDS = 1_000
"""With fewer released records, no curve is drawn."""

_STEPS = 20  # of 5 %
_HARMLESS = frozenset({"sizes", "loss", "blocks"})
_HARMLESS_FILTERS = frozenset(
    {KAnonymity().key, GeneralLoss().key, SuppressedShare().key, RECORDS_SUPPRESSED}
)


@dataclass(frozen=True)
class PublicCurve:
    """A rounded curve.

    Attributes:
        points: k and the smallest loss with at least that k, to the nearest 5 %.
        pick: k of the release rounded down to one of these, and its rounded loss; None if its k is
            smaller than all.
    """

    points: tuple[tuple[int, float], ...]
    pick: tuple[int, float] | None


def public_curve(front: Front, pick: Solution, n_released: int) -> PublicCurve | None:
    """Return the curve of loss over k, or None if it could tell something about people.

    It is drawn only for 1,000 released records or more, at k = 5, 10, 20, 50 and so on up to a tenth of
    the records, with the loss to the nearest 5 %; and only if no sensitive value had a say in it:
    objectives, constraints and suppression of the problem must be measures of this package that look at
    quasi-identifiers alone, the recoding cuts or levels, and solutions may have been left out by limits on
    k, loss and suppression only, as in `front.where(min_k=5)`. Nobody knows how decision vectors were
    chosen that come from no search, as in `Front.of(problem, X)` without `run`: they give no curve. Then
    anyone who knows everybody's quasi-identifiers can compute the curve, and learns nothing about
    sensitive values from it.

    What remains: anyone who does not know the quasi-identifiers learns, at this coarseness, how similar
    people are in them. That is a few numbers about all records together, the suppressed ones included;
    it is not differential privacy. A search that was started from your own recodings is treated as
    one that has seen no sensitive values.

    Args:
        front: The front.
        pick: The solution that is released.
        n_released: The number of released records.
    """
    k, loss = KAnonymity().key, GeneralLoss().key
    keys = [q.key for q in front.quantities if q.key == q.name]  # not another measure of that name
    if n_released < LEAST_RECORDS or k not in keys or loss not in keys:
        return None
    if front.problem is None or not _is_blind(front.problem):
        return None
    if not _comes_from_a_search(front.run) or not front.filters <= _HARMLESS_FILTERS:
        return None
    ks, losses = front.column(k), front.column(loss)
    grid = [step for step in _round_numbers(n_released // 10) if step <= ks.max()]
    points = tuple((step, _round_loss(losses[ks >= step].min())) for step in grid)
    below = [step for step in grid if step <= pick.values[k]]
    mark = (below[-1], _round_loss(pick.values[loss])) if below else None
    return PublicCurve(points, mark) if len(points) > 1 else None


def _comes_from_a_search(run: Mapping[str, Any]) -> bool:
    """Return whether there are facts about a search, or about every one of several."""
    return bool(run) and all(map(_comes_from_a_search, run.get("merged", ())))


def _is_blind(problem: AnonymizationProblem) -> bool:
    """Return whether the search used quasi-identifiers only."""
    measures = [*problem.objectives, *(constraint.measure for constraint in problem.constraints)]
    return (
        isinstance(problem.space, CutSpace | LevelSpace)
        and all(m.needs <= _HARMLESS and not isinstance(m, FunctionMeasure) for m in measures)
        and problem.suppression.required <= _HARMLESS | {"labels"}
    )


def _round_numbers(most: int) -> list[int]:
    """Return 5, 10, 20, 50, 100 … up to a number.

    >>> _round_numbers(120)
    [5, 10, 20, 50, 100]
    """
    steps = (digit * 10**zeros for zeros in range(19) for digit in (1, 2, 5))
    return [step for step in itertools.takewhile(lambda step: step <= most, steps) if step >= 5]


def _round_loss(loss: float) -> float:
    return round(loss * _STEPS) / _STEPS
