"""A special program: one pair of thresholds, one objective, and nothing but a local search for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import privmoo as pm

_FIRST = 200
_BATCH = 40
_STEPS = (2, 6)
_WARMTH = 0.004


def least_loss_of_cuts(
    table: pm.Table, max_suppression: float, seed: int, evaluations: int, **thresholds: float
) -> float:
    """The least loss of cuts where groups below the thresholds are left out, within a budget."""
    problem = pm.problems.Cuts(
        table,
        objectives=[pm.GeneralLoss()],
        constraints=[pm.SuppressedShare() <= max_suppression],
        suppression=pm.Thresholds(**thresholds),
        extras=[],
    )
    return IteratedLocalSearch(problem, seed).run(evaluations)


def least_loss_of_levels(table: pm.Table, k: int, seed: int, evaluations: int) -> float:
    """The least loss of levels where groups below k are left out, however many."""
    problem = pm.problems.Levels(
        table, objectives=[pm.GeneralLoss()], suppression=pm.BelowThreshold(k), extras=[]
    )
    return IteratedLocalSearch(problem, seed).run(evaluations)


class IteratedLocalSearch:
    """Descends to a local optimum, walks away from it at random, and descends again.

    A worse optimum is accepted now and then, less and less often. What violates a constraint is worse than
    everything that does not.
    """

    def __init__(self, problem: pm.AnonymizationProblem, seed: int) -> None:
        self.problem = problem
        self.random = np.random.default_rng(seed)
        self.values: dict[bytes, float] = {}

    def run(self, evaluations: int) -> float:
        """The least objective that so many evaluations find."""
        sampling = self.problem.default_operators()["sampling"]
        rows = sampling(self.problem, _FIRST, to_numpy=True, random_state=self.random)
        x, value = self.descend(rows[np.argmin(self.judged(rows))])
        best = value
        rounds_without_news = 0
        while len(self.values) < evaluations and rounds_without_news < 1000:
            before = len(self.values)
            y, other = self.descend(self.walk(x))
            cooled = _WARMTH * (1 - len(self.values) / evaluations)
            if other < value + cooled * self.random.exponential():
                x, value = y, other
            best = min(best, value)
            rounds_without_news = 0 if len(self.values) > before else rounds_without_news + 1
        return best

    def walk(self, x: np.ndarray) -> np.ndarray:
        for _ in range(self.random.integers(*_STEPS, endpoint=True)):
            rows = self.problem.neighbours(x)
            x = rows[self.random.integers(len(rows))]
        return x

    def descend(self, x: np.ndarray) -> tuple[np.ndarray, float]:
        value = self.judged(x[None])[0]
        while True:
            rows = self.random.permutation(self.problem.neighbours(x))
            for begin in range(0, len(rows), _BATCH):
                values = self.judged(rows[begin : begin + _BATCH])
                place = int(np.argmin(values))
                if values[place] < value - 1e-12:
                    x, value = rows[begin + place], values[place]
                    break
            else:
                return x, value

    def judged(self, rows: Sequence[np.ndarray] | np.ndarray) -> list[float]:
        keys = self.problem.keys(rows)
        new = {key: row for key, row in zip(keys, rows, strict=True) if key not in self.values}
        if new:
            judged = self.problem.evaluator.evaluate(np.array(list(new.values())))
            penalty = 10 * np.maximum(judged.G, 0).sum(axis=1)
            values = np.nan_to_num(judged.F[:, 0] + penalty, nan=1e9, posinf=1e9)
            self.values.update(zip(new, values.tolist(), strict=True))
            self.problem.forget()
        return [self.values[key] for key in keys]
