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
from privmoo.kernels.class_parts import cheaper_parts
from privmoo.kernels.class_state import Demands, Field, new_state
from privmoo.kernels.local_search import anneal, costs_per_record
from privmoo.recodings.classes import PartitionRecoding, as_classes
from privmoo.spaces.units import cut_up, field_of

__all__ = ["local_search"]

# The temperatures of an annealing: a share of what the costliest record costs, and one of what the cheapest
# tenth of the records costs. Tables with outliers need a wide range; others would waste steps on it.
_HOT, _COLD = 0.3, 0.15
_LEAST_COLD = 1e-5  # of the hot temperature
_HOT_SHARE = 0.65  # of the budget, for annealings of the whole table
_COSTLY_SHARE = 6  # steps that go where the loss is, for every step that goes anywhere
_MOST_HOT, _STEPS_OF_HOT = 6, 15_000  # how many, and the steps per record from which there are more
_LOCAL_HEAT, _LOCAL_COLD = (0.05, 2.0), 0.001  # in regions, in costs of an average record there
_REGION = 64  # the fewest units of a region
_STEPS_PER_RECORD = 2_000
_STEPS_PER_SECOND = 5_000_000  # a guess, for plans by the clock
_LEAST_BATCH, _BATCH = 50, 200_000  # steps between two looks at the clock


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
    less often if the increase is large or comes late. Most steps concern records that cost much. After one
    annealing of the whole table, or a few if there are steps enough, short ones take random regions.
    Temperatures follow from what records cost there. Each annealing changes the best classes only where
    that is cheaper, so the result is never worse than the start. Partners come from lists of near
    neighbours, so a step takes less than a microsecond, however many records there are.

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
        self.batch = min(max(_LEAST_BATCH, steps // 10_000), _BATCH)

    def share(self) -> float:
        """Return how much of the budget is used."""
        return self.used / self.steps if self.steps else 1.0


class _Clock(_Steps):
    """A budget of time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(int(seconds * _STEPS_PER_SECOND))
        self.seconds, self.began = seconds, time.perf_counter()

    def share(self) -> float:
        """Return how much of the time has passed."""
        return (time.perf_counter() - self.began) / self.seconds


def _anneal_classes(
    field: Field, labels: NDArray[np.int32], demands: Demands, seed: int, budget: _Steps
) -> NDArray[np.int32]:
    """Return the cheapest parts of several annealings, each from the best classes so far."""
    n_records = int(field.weights.sum())
    n_classes = max(int(labels.max()) + 1, n_records // demands.k)
    rng = np.random.default_rng(seed)
    best = labels
    for end, is_local in _plan(budget.steps, len(labels)):
        state = new_state(field, best, n_classes, int(rng.integers(1 << 62)))
        costs = costs_per_record(field, state)
        costly = _costly_units(costs, rng)
        units = np.concatenate([np.arange(len(labels)), costly])
        hot, cold = _HOT * costs.max(), _COLD * np.quantile(costs, 0.1)
        if is_local:
            units = _region(field, int(rng.choice(costly)))
            unit = costs[units].mean()
            hot, cold = unit * np.exp(rng.uniform(*np.log(_LOCAL_HEAT))), unit * _LOCAL_COLD
        begin = budget.share()
        if hot <= 0 or begin >= end:
            continue
        fall = max(cold / hot, _LEAST_COLD)
        while (share := budget.share()) < end:
            temperature = hot * fall ** ((share - begin) / (end - begin))
            anneal(field, state, demands, units, budget.batch, temperature, temperature)
            budget.used += budget.batch
        best = cheaper_parts(field, best, state.labels)
    return best


def _costly_units(costs: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return units drawn by the square root of what their records cost.

    A few outliers cost more than all other records, and most steps elsewhere change next to nothing.
    """
    likely = np.sqrt(np.maximum(costs, 0.0))
    if not likely.sum() > 0:
        return np.arange(len(costs))
    return rng.choice(len(costs), size=_COSTLY_SHARE * len(costs), p=likely / likely.sum())


def _plan(steps: int, n_units: int) -> list[tuple[float, bool]]:
    """Return where in the budget every annealing ends, and whether it takes a region only."""
    if not steps:
        return []
    n_hot = int(np.clip(_HOT_SHARE * steps / n_units // _STEPS_OF_HOT, 1, _MOST_HOT))
    n_local = max(1, round((1 - _HOT_SHARE) * steps / (_STEPS_PER_RECORD * _region_size(n_units))))
    hot = np.linspace(0, _HOT_SHARE, n_hot + 1)[1:]
    local = np.linspace(_HOT_SHARE, 1, n_local + 1)[1:]
    return [(end, False) for end in hot.tolist()] + [(end, True) for end in local.tolist()]


def _region_size(n_units: int) -> int:
    """Return how many units a region has: some classes, and more in a large table."""
    return min(n_units, max(_REGION, n_units // 50))


def _region(field: Field, centre: int) -> NDArray[np.int64]:
    """Return the units nearest to one."""
    size = _region_size(len(field.weights))
    apart = ((field.numbers - field.numbers[centre]) ** 2).sum(axis=1)
    apart += (field.codes != field.codes[centre]).sum(axis=1)
    return np.argpartition(apart, size - 1)[:size]
