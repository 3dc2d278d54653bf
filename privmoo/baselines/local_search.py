"""Local search: simulated annealing that moves and swaps records, and dissolves and splits classes."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.baselines.common import check, published
from privmoo.baselines.mdav import mdav_labels
from privmoo.data.points import Scale, Space
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.kernels.class_state import Demands, Field, new_state, total_cost
from privmoo.kernels.local_search import anneal
from privmoo.recodings.classes import PartitionRecoding, as_classes
from privmoo.spaces.units import cut_up, field_of

__all__ = ["local_search"]

_HOT, _COLD = 2.0, 0.001  # temperatures, in costs of an average record
_STEPS_PER_RECORD = 2_000
_BATCH = 200_000  # steps between two looks at the clock


def local_search(
    table: Table,
    k: int,
    *,
    scale: Scale = "standard",
    start: PartitionRecoding | None = None,
    steps: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> PartitionRecoding:
    """Microaggregate by simulated annealing, publishing mean and mode: the least loss of all baselines.

    Records move to near classes, swap places with records of near classes, or start new ones; classes
    dissolve, and classes of 2k records split. A step that increases the loss is accepted at random,
    less often if the increase is large or comes late. The result is never worse than the start.
    Partners come from lists of near neighbours, so a step takes less than a microsecond, however many
    records there are.

    Args:
        table: The records.
        k: Fewest records of a class.
        scale: The unit of numbers: `"raw"`, `"standard"` deviations or `"minmax"`.
        start: Classes to start from, such as those of another baseline; those of MDAV by default.
        steps: How many random steps are tried; 2,000 per record by default.
        seconds: How long to search instead; then results differ from machine to machine.
        seed: Makes the search repeatable.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 50, 22, 54, 21]}), quasi_identifiers=["age"])
    >>> local_search(table, 2).apply(table, np.arange(5))["age"].tolist()
    [21.0, 52.0, 21.0, 52.0, 21.0]
    """
    check(table, k)
    if steps is not None and seconds is not None:
        raise ProblemError("steps: give steps or seconds, not both")
    if seconds is not None and not seconds > 0:
        raise ProblemError(f"seconds: must be more than 0, got {seconds}")
    steps = _STEPS_PER_RECORD * table.n_records if steps is None else steps
    steps = whole_number("steps", steps, at_least=0)
    seed = whole_number("seed", seed, at_least=0)
    coordinates = Space.of(table, scale)
    view, units = cut_up(table, coordinates, table.n_records)
    field = field_of(units, coordinates)
    labels = np.empty(view.n_tuples, np.int32)
    labels[view.row_tuple] = _start_labels(table, k, scale, start)
    demands = Demands(k, 1, np.zeros(len(table.sensitive)))
    budget = _Steps(steps) if seconds is None else _Clock(seconds)
    best = _anneal_classes(field, labels, demands, seed, budget)
    return published(table, best[view.row_tuple].astype(np.int64), by="records")


def _start_labels(
    table: Table, k: int, scale: Scale, start: PartitionRecoding | None
) -> NDArray[np.int64]:
    """Return the class of every record at the start."""
    if start is None:
        return mdav_labels(table, k, scale=scale)
    start = as_classes(start, table)
    if start.sizes.min() < k:
        raise ProblemError(
            f"start: a class has {start.sizes.min()} records, fewer than k = {k}; start from classes of k"
        )
    return start.labels.astype(np.int64)


class _Steps:
    """A budget of steps."""

    def __init__(self, steps: int) -> None:
        self.steps, self.used = steps, 0
        self.batch = int(np.clip(steps // 200, 1, _BATCH))

    def share(self) -> float:
        """Return how much of the budget is used."""
        return self.used / self.steps if self.steps else 1.0


class _Clock(_Steps):
    """A budget of time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(0)
        self.batch, self.seconds = _BATCH, seconds
        self.began = time.perf_counter()

    def share(self) -> float:
        """Return how much of the time has passed."""
        return (time.perf_counter() - self.began) / self.seconds


def _anneal_classes(
    field: Field, labels: NDArray[np.int32], demands: Demands, seed: int, budget: _Steps
) -> NDArray[np.int32]:
    """Return the best classes of an annealing whose temperature falls as the budget is used up."""
    n_records = int(field.weights.sum())
    state = new_state(field, labels, max(int(labels.max()) + 1, n_records // demands.k), seed)
    best, least = labels, total_cost(field, state)
    unit = least / n_records
    while (share := budget.share()) < 1 and unit > 0:
        hot = unit * _HOT * (_COLD / _HOT) ** share
        anneal(field, state, demands, budget.batch, hot, hot)
        budget.used += budget.batch
        cost = total_cost(field, state)
        if cost < least:
            best, least = state.labels.copy(), cost
    return best
