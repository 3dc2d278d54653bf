"""Gap: how far a front is from the exact one, or from a bound that nothing can beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.dominance import share_of_box
from privmoo.errors import ProblemError

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["Gap", "gap"]


@dataclass(frozen=True)
class Gap:
    """The distance of a front to an exact one.

    Attributes:
        hypervolume_ratio: The hypervolume as a share of that of the exact front, between the best and the
            worst possible values; 1 if nothing is missing.
        epsilon: The least share of the objectives' ranges by which all solutions would have to be better
            in every objective to be as good as the exact front (additive epsilon).
        missed: The number of points of the exact front that no solution equals or dominates.
        points: The number of points of the exact front.

    >>> Gap(0.995, 0.01, 3, 40)
    Gap: 99.5 % of the hypervolume, epsilon 0.01, 3 of 40 points missed
    """

    hypervolume_ratio: float
    epsilon: float
    missed: int
    points: int

    def __repr__(self) -> str:
        return (
            f"Gap: {self.hypervolume_ratio * 100:.6g} % of the hypervolume, epsilon {self.epsilon:.4g}, "
            f"{self.missed:,} of {self.points:,} points missed"
        )


def gap(front: Front, exact: Front | pd.DataFrame) -> Gap:
    """Compare a front with an exact one of the same objectives, or with a table of a bound.

    Args:
        front: The front of a search.
        exact: The result of `exact_front` or `lower_bound`.
    """
    names = [q.key for q in front.objectives]
    signs = np.array([q.sign for q in front.objectives])
    if isinstance(exact, pd.DataFrame):
        if not set(names) <= set(exact.columns):
            raise ProblemError(
                f"gap: the bound must have the objectives {', '.join(names)} as columns, has "
                f"{', '.join(map(str, exact.columns))}"
            )
        reference = exact[names].to_numpy(dtype=np.float64) * signs
    else:
        if [q.key for q in exact.objectives] != names:
            raise ProblemError(
                f"gap: the fronts have different objectives, {', '.join(names)} and "
                f"{', '.join(q.key for q in exact.objectives)}"
            )
        reference = exact.F
    ideal = signs * np.array([q.best for q in front.objectives])
    worst = signs * np.array([q.worst for q in front.objectives])
    reference_volume = share_of_box(reference, ideal, worst)
    share = share_of_box(front.F, ideal, worst)
    span = np.where(worst > ideal, worst - ideal, 1.0)
    short = _shortfall(front.F / span, reference / span)
    # Values of an exact front and of a bound are sums in another order.
    return Gap(
        share / reference_volume if reference_volume else 1.0,
        max(0.0, float(short.max())),
        int((short > 1e-9).sum()),
        len(reference),
    )


def _shortfall(F: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for every reference point, how much worse the nearest solution is in its worst objective."""
    return np.array([(F - point).max(axis=1).min() for point in reference])
