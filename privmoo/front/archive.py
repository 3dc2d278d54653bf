"""Archive: every feasible, non-dominated candidate of a run, not only those that survived."""

from __future__ import annotations

from typing import Any

import moocore
import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated
from privmoo.evaluation.evaluator import Evaluation, Observer

__all__ = ["Archive", "share_of_box"]

_SHOWN = 5_000
_REMEMBERED = 200_000


class Archive(Observer):
    """Collects what a problem evaluates; unbounded, so that no non-dominated candidate is lost.

    It observes the problem's evaluator. Of dominated and infeasible ones it remembers objective
    values only, for the picture.

    >>> archive = Archive(2)
    >>> archive.add(np.arange(3)[:, None], {"F": np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0]])})
    >>> [int(x[0]) for x in archive.rows], len(archive)
    ([0, 1], 2)
    """

    def __init__(self, n_obj: int) -> None:
        self.n_obj = n_obj
        self.rows: list[Any] = []
        self.F = np.empty((0, n_obj))
        self.n_infeasible = 0
        self._seen: list[NDArray[np.float64]] = []
        self._n_seen = 0
        self._forbidden = np.empty((0, n_obj))

    def __len__(self) -> int:
        return len(self.rows)

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Take a batch of judged candidates, its companions first."""
        if evaluation.companions is not None:
            self.on_evaluation(evaluation.companions)
        self.add(evaluation.X, {"F": evaluation.F, "G": evaluation.G})

    def add(self, X: Any, out: dict[str, Any]) -> None:
        """Take a batch of candidates with their minimised objectives F and violations G."""
        F = np.atleast_2d(out["F"])
        X = X if len(X) == len(F) else [X]
        feasible = feasible_rows(F, out.get("G"))
        if len(feasible) < len(F):
            self.n_infeasible += len(F) - len(feasible)
            self._forbid(np.delete(F, feasible, axis=0))
        if not len(feasible):
            return
        self._remember(F[feasible])
        both = np.concatenate([self.F, F[feasible]])
        keep = np.flatnonzero(non_dominated(both))
        old = len(self.rows)
        if keep[-1] < old:  # nothing new: what was non-dominated still is
            return
        rows = [self.rows[i] if i < old else _copied(X[feasible[i - old]]) for i in keep]
        self.rows, self.F = rows, both[keep]

    def _remember(self, F: NDArray[np.float64]) -> None:
        self._seen.append(F)
        self._n_seen += len(F)
        if self._n_seen > _REMEMBERED:
            thinner = np.unique(np.concatenate(self._seen), axis=0)[::2]
            self._seen, self._n_seen = [thinner], len(thinner)

    def _forbid(self, F: NDArray[np.float64]) -> None:
        found = np.unique(np.concatenate([self._forbidden, F]), axis=0)
        self._forbidden = found[:: max(1, -(-len(found) // _SHOWN))]

    def infeasible(self) -> NDArray[np.float64]:
        """Objective values, as minimised, of some of the infeasible candidates."""
        return self._forbidden

    def dominated(self) -> NDArray[np.float64]:
        """Objective values, as minimised, of some thousands of the dominated candidates."""
        if not self._seen:
            return np.empty((0, self.n_obj))
        points = np.unique(np.concatenate(self._seen), axis=0)
        front = {row.tobytes() for row in self.F}
        points = points[[row.tobytes() not in front for row in points]]
        return points[:: max(1, -(-len(points) // _SHOWN))]


def _copied(row: Any) -> Any:
    return row.copy() if isinstance(row, np.ndarray) else row


def feasible_rows(F: NDArray[np.float64], G: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """Positions of rows that violate nothing."""
    if G is None or not np.size(G):
        return np.arange(len(F))
    return np.flatnonzero((np.asarray(G).reshape(len(F), -1) <= 0).all(axis=1))


def share_of_box(
    F: NDArray[np.float64], ideal: NDArray[np.float64], reference: NDArray[np.float64]
) -> float:
    """Hypervolume of minimised points as a share of the box from the ideal point to the reference.

    A box without width in some objective has no volume: the share is 0.

    >>> share_of_box(np.array([[0.0, 0.5], [0.5, 0.0]]), np.zeros(2), np.ones(2))
    0.75
    """
    width = reference - ideal
    if not len(F) or not (width > 0).all():
        return 0.0
    inside = (F - ideal) / width
    inside = inside[(inside <= 1).all(axis=1)]
    if not len(inside):
        return 0.0
    if inside.shape[1] == 1:
        return float(1 - max(inside.min(), 0.0))
    return float(moocore.hypervolume(np.maximum(inside, 0.0), ref=np.ones(inside.shape[1])))
