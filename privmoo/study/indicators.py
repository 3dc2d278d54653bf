"""Quality of fronts: hypervolume, IGD+ and additive epsilon, in one box per problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import moocore
import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated, share_of_box
from privmoo.errors import ProblemError, nearest
from privmoo.front.quantities import Quantity

__all__ = ["INDICATORS", "Box", "Scale", "better", "check_indicator"]

Points = NDArray[np.float64]
Scale = Literal["linear", "decades"]
INDICATORS = {"hypervolume": "max", "igd_plus": "min", "epsilon": "min"}
_DECADES = 2.0
_TINY = 1e-300


def check_indicator(name: str) -> str:
    """Return the name of an indicator, or raise."""
    if name not in INDICATORS:
        raise ProblemError(
            f"indicator: {name!r} is not one of {', '.join(INDICATORS)}{nearest(name, INDICATORS)}"
        )
    return name


def better(name: str) -> int:
    """Return 1 if a larger value of the indicator is better, otherwise -1."""
    return 1 if INDICATORS[check_indicator(name)] == "max" else -1


@dataclass(frozen=True)
class Box:
    """How all fronts of one problem are scaled, and the front they are compared with.

    An objective goes from 0, the best value of the reference front, to 1, the worst value that the
    problem allows; where that has no bound, to the worst value that any run gave.

    Attributes:
        low: The best value of every objective, as minimised.
        high: The worst.
        decades: 1 or -1, its sign, for an objective that is taken by its logarithm; 0 for the others.
        reference: The exact front, or the best known one, as minimised.
        exact: Whether it is exact.

    >>> box = Box.of([np.array([[0.0, 1.0], [1.0, 0.0]])], (), np.array([2.0, 2.0]))
    >>> box.hypervolume(np.array([[0.0, 1.0], [1.0, 0.0]])), box.epsilon(np.array([[1.0, 1.0]]))
    (0.75, 0.5)
    """

    low: Points
    high: Points
    decades: tuple[int, ...]
    reference: Points
    exact: bool = False

    @classmethod
    def of(
        cls,
        fronts: Sequence[Points],
        objectives: Sequence[Quantity],
        worst: Points,
        *,
        exact: Points | None = None,
        scale: Scale = "linear",
    ) -> Box:
        """Return the box of all fronts of a problem.

        Args:
            fronts: The fronts of all runs, as minimised.
            objectives: The objectives; unbounded ones have no worst value.
            worst: The problem's reference point, as minimised.
            exact: The exact front, where it is known.
            scale: `"decades"` takes objectives that span more than two decades, such as k, by their
                logarithm, so that small k count as much as large ones.
        """
        everyone = np.concatenate([front for front in fronts if len(front)])
        reference = everyone if exact is None else exact
        reference = np.unique(reference[non_dominated(reference)], axis=0)
        free = np.array([not q.bounded for q in objectives] or [False] * len(worst))
        everyone = np.concatenate([everyone, reference])
        worst = np.where(free, everyone.max(axis=0), np.maximum(worst, everyone.max(axis=0)))
        decades = tuple(_decades(column) if scale == "decades" else 0 for column in everyone.T)
        # A k of 0, that of an empty release, has no logarithm.
        usable = np.array(decades) * worst > 0
        worst = np.where((np.array(decades) == 0) | usable, worst, everyone.max(axis=0))
        scaled_reference = _by_decades(reference, decades)
        low, high = scaled_reference.min(axis=0), _by_decades(worst[None, :], decades)[0]
        return cls(
            low, np.where(high > low, high, low + 1.0), decades, reference, exact is not None
        )

    def scaled(self, F: Points) -> Points:
        """Scale every objective of points from 0 to 1."""
        return np.asarray((_by_decades(F, self.decades) - self.low) / (self.high - self.low))

    def hypervolume(self, F: Points) -> float:
        """Compute the share of the box that the points dominate."""
        if not len(F):
            return 0.0
        n = F.shape[1]
        return share_of_box(self.scaled(F), np.zeros(n), np.ones(n))

    def igd_plus(self, F: Points) -> float:
        """Compute the mean distance from the reference to what the points dominate.

        Ishibuchi et al. 2015.
        """
        if not len(F):
            return np.inf
        if F.shape[1] == 1:
            return max(0.0, self._behind(F))
        return float(moocore.igd_plus(self.scaled(F), ref=self.scaled(self.reference)))

    def epsilon(self, F: Points) -> float:
        """Compute by how much all points would have to be better to be as good as the reference."""
        if not len(F):
            return np.inf
        if F.shape[1] == 1:
            return self._behind(F)
        return float(moocore.epsilon_additive(self.scaled(F), ref=self.scaled(self.reference)))

    def _behind(self, F: Points) -> float:
        return float(self.scaled(F).min() - self.scaled(self.reference).min())

    def measure(self, name: str, F: Points) -> float:
        """Compute an indicator.

        Args:
            name: The name of the indicator.
            F: Points, as minimised.
        """
        value: float = getattr(self, check_indicator(name))(F)
        return value


def _decades(column: Points) -> int:
    if not ((column > 0).all() or (column < 0).all()):
        return 0
    wide = np.ptp(np.log10(np.abs(column))) > _DECADES
    return int(np.sign(column[0])) if wide else 0


def _by_decades(F: Points, decades: Sequence[int]) -> Points:
    points = np.array(F, dtype=np.float64)
    for j, sign in enumerate(decades):
        if sign:
            points[:, j] = sign * np.log10(np.maximum(sign * F[:, j], _TINY))
    return points
