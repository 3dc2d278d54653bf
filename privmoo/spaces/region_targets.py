"""Targets: the sizes and bounds of regions that are worth searching for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privmoo.spaces.region_limits import Demands, Target

__all__ = ["Targets"]

_USUAL_K = (5, 10, 25, 50, 100, 3, 20, 2, 4, 7, 15, 30, 75)


class Targets:
    """The targets that are worth searching for: sizes that people publish, and others beside them.

    Args:
        demands: What constraints demand of every region.
        n_persons: How many people the table has.
        focus: The sizes that matter most in a run; None if all do.
    """

    def __init__(self, demands: Demands, n_persons: int, focus: tuple[float, float] | None) -> None:
        self.demands = demands
        self.n_persons = n_persons
        self.focus: tuple[int, int] | None = None
        if focus is not None:
            low, high = np.clip(focus, demands.k, max(demands.k, n_persons))
            self.focus = math.floor(low), math.ceil(high)

    def draw(
        self, rng: np.random.Generator, number: int, reach: NDArray[np.float64]
    ) -> list[Target]:
        """Return targets from the smallest size of a region to the largest.

        Args:
            rng: The source of randomness.
            number: How many.
            reach: The values of the limits where all records are one region.
        """
        demands = self.demands
        targets = []
        for k in self._sizes(number):
            bounds = demands.limits.bounds.copy()
            for goal in demands.goals:
                if demands.at_least(goal):
                    bounds[goal] = 1.0 + (max(reach[goal], 1.0) - 1.0) * rng.random()
                else:
                    bounds[goal] = reach[goal] + np.exp(rng.uniform(np.log(0.01), 0.0))
            targets.append(Target(k, demands.stricter(bounds)))
        return targets

    def most_usual(self, targets: Sequence[Target], number: int) -> list[int]:
        """Return the places of some different targets, those with sizes that people publish first.

        Args:
            targets: The targets.
            number: The largest number of places.
        """
        places: dict[tuple[int, bytes], int] = {}
        for i, target in enumerate(targets):
            places.setdefault((target.k, target.bounds.tobytes()), i)
        rank = {k: i for i, k in enumerate(_USUAL_K)}
        order = sorted(places.values(), key=lambda i: rank.get(targets[i].k, len(rank)))
        return sorted(order[:number])

    def _sizes(self, number: int) -> list[int]:
        """Return sizes of regions: those that people publish, others up to half of the records, and all.

        They are different as far as there are enough.
        """
        least = self.demands.k
        if not self.demands.varies_k:
            return [least] * number
        largest = max(least, self.n_persons // 2)
        focus = self.focus
        usual = [k for k in _USUAL_K if least <= k <= largest]
        if focus is not None:
            low, high = focus
            inside = np.rint(low * (high / low) ** np.linspace(0.0, 1.0, -(-3 * number // 4)))
            usual = [low, high, *(k for k in usual if low < k < high), *inside.astype(int).tolist()]
        shares = np.linspace(0.0, 1.0, number)
        spread = np.rint(least * (largest / least) ** shares).astype(np.int64).tolist()
        spread[-1] = max(least, self.n_persons)  # everybody in one region
        sizes = list(dict.fromkeys([*usual, *spread[::-1]]))[:number]
        return sorted(np.resize(sizes, number).tolist())

    def near(self, target: Target, rng: np.random.Generator) -> Target:
        """Return a target that differs a little from another one.

        Args:
            target: The other one.
            rng: The source of randomness.
        """
        demands = self.demands
        k, bounds = target.k, target.bounds.copy()
        for goal in demands.goals:
            bounds[goal] *= np.exp(rng.normal(0.0, 0.1))
        focus = self.focus
        is_outside = focus is not None and not focus[0] <= k <= focus[1]
        if demands.varies_k and focus is not None and is_outside and rng.random() < 0.75:
            k = round(focus[0] * (focus[1] / focus[0]) ** rng.random())
        elif demands.varies_k:
            step = rng.choice([-1, 1]) if rng.random() < 0.5 else 0
            k = max(2, round(k * np.exp(rng.normal(0.0, 0.15))) + step)
        k = min(max(k, demands.k), max(demands.k, self.n_persons))
        return Target(int(k), demands.stricter(bounds))

    @property
    def usual_sizes(self) -> list[int]:
        """The sizes that people publish, within the constraints and what matters most."""
        low, high = self.focus or (self.demands.k, self.n_persons)
        return [k for k in _USUAL_K if low <= k <= high]
