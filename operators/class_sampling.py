"""First classes: the best intervals along directions of the data, improved by local search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling

from privmoo._util.checks import whole_number
from privmoo.kernels.class_state import Demands
from privmoo.operators.class_demands import aims_of, drawn_demands
from privmoo.operators.space import space_of

if TYPE_CHECKING:
    from privmoo.spaces.classes import ClassSpace

__all__ = ["ClassSampling", "interval_classes", "search_steps"]


class ClassSampling(Sampling):  # type: ignore[misc]  # pymoo has no types
    """Classes that are intervals along a principal direction or a column, exact for their demands.

    Every row draws demands at random: records per class if the problem maximises them, and entropy of
    sensitive values if they matter. A local search improves it.

    Args:
        steps: How many random steps a local search tries; by default a number that grows with the table.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Clusters
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}), quasi_identifiers=["age"])
    >>> ClassSampling()(Clusters(table, 2), 1, to_numpy=True, random_state=1).tolist()
    [[0, 0, 1, 1]]
    """

    def __init__(self, steps: int | None = None) -> None:
        super().__init__()
        self.steps = None if steps is None else whole_number("steps", steps, at_least=0)

    def _do(
        self,
        problem: Problem,
        n_samples: int,
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.int64]:
        space = space_of(problem, "classes")
        rng = np.random.default_rng(random_state)
        aims = aims_of(problem)
        steps = search_steps(space, 400) if self.steps is None else self.steps

        def row(seed: int) -> NDArray[np.int64]:
            draw = np.random.default_rng(seed)
            demands = drawn_demands(space, aims, draw)
            labels = interval_classes(space, demands, draw)
            return space.annealed(labels, demands, steps=steps, heat=1.0, rng=draw)

        space.count_moves(n_samples * steps)
        rows = space.each(row, rng.integers(1 << 62, size=n_samples).tolist())
        return np.stack(rows) if rows else np.empty((0, space.n_units), np.int64)


def interval_classes(
    space: ClassSpace, demands: Demands, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the best classes that are intervals along a direction; one class if there are none.

    Args:
        space: The space.
        demands: What every class must have.
        rng: Which draws the direction, wide ones more often, and the order of equal units.
    """
    intervals = space.intervals
    n_directions = max(1, len(intervals.directions))
    direction = min(int(rng.geometric(0.5)) - 1, n_directions - 1)
    free = demands.diversity <= 1 and not (demands.entropy > 0).any()
    order, starts = intervals.positions(intervals.keys(direction), rng)
    heaviest = int(np.add.reduceat(space.field.weights[order], starts[:-1]).max())
    measured = intervals.measure(order, starts, most=2 * demands.k + heaviest if free else None)
    labels = intervals.best(order, starts, measured, demands, space.n_clusters)
    return np.zeros(space.n_units, np.int64) if labels is None else labels


def search_steps(space: ClassSpace, per_unit: int) -> int:
    """Return how many steps the local search of a row tries: some for every unit, within limits.

    Args:
        space: The space.
        per_unit: Steps for every unit of a table of up to a thousand.
    """
    return per_unit * min(max(space.n_units, 50), 1_000)
