"""Archive: every feasible, non-dominated candidate of a run, not only those that survived."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import feasible_rows, non_dominated
from privmoo.evaluation.evaluator import Evaluation, Observer

__all__ = ["Archive"]

_SHOWN = 5_000
_REMEMBERED = 200_000


class Archive(Observer):
    """A collection of evaluated candidates; it is unbounded, so no non-dominated candidate is lost.

    It observes the problem's evaluator. For dominated and infeasible candidates it stores only objective
    values, for the picture.

    >>> archive = Archive(2)
    >>> archive.add(np.arange(3)[:, None], {"F": np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0]])})
    >>> [int(x[0]) for x in archive.rows], len(archive)
    ([0, 1], 2)
    """

    def __init__(self, n_obj: int) -> None:
        self.n_obj = n_obj
        self.rows: list[Any] = []
        self.F = np.empty((0, n_obj))
        self._further: dict[str, list[Any]] = {"G": [], "values": [], "thresholds": []}
        self.n_infeasible = 0
        self._seen: list[NDArray[np.float64]] = []
        self._n_seen = 0
        self._forbidden = np.empty((0, n_obj))

    def __len__(self) -> int:
        return len(self.rows)

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Add a batch of evaluated candidates, its companions first."""
        if evaluation.companions is not None:
            self.on_evaluation(evaluation.companions)
        thresholds = evaluation.thresholds
        extras = {"values": evaluation.values}
        if thresholds is not None:
            extras["thresholds"] = thresholds
        self.add(evaluation.X, {"F": evaluation.F, "G": evaluation.G, **extras})

    def add(self, X: Any, out: dict[str, Any]) -> None:
        """Add a batch of candidates.

        Args:
            X: The candidates.
            out: Their minimised objectives F; violations G if there are constraints; all measured
                values and the thresholds of steps if they are known.
        """
        F = np.atleast_2d(out["F"])
        X = X if len(X) == len(F) else [X]
        feasible = feasible_rows(F, out.get("G"))
        if len(feasible) < len(F):
            self.n_infeasible += len(F) - len(feasible)
            self._forbid(np.delete(F, feasible, axis=0))
        if not len(feasible):
            return
        self._remember(F[feasible])
        together = np.concatenate([self.F, F[feasible]])
        keep = np.flatnonzero(non_dominated(together))
        old = len(self.rows)
        if keep[-1] < old:  # nothing new: what was non-dominated still is
            return
        rows = [self.rows[i] if i < old else _copy_row(X[feasible[i - old]]) for i in keep]
        for name, values in self._further.items():
            new_values = out.get(name)
            self._further[name] = [
                values[i]
                if i < old
                else None
                if new_values is None
                else _copy_row(new_values[feasible[i - old]])
                for i in keep
            ]
        self.rows, self.F = rows, together[keep]

    def evaluation(self) -> Evaluation | None:
        """Return the content of the archive as evaluated candidates; None if it is empty."""
        if not self.rows:
            return None
        thresholds = self._further["thresholds"]
        width = max((len(t) for t in thresholds if t is not None), default=0)
        nothing = np.full(width, np.nan)
        return Evaluation(
            np.array(self.rows),
            self.F,
            np.array(self._further["G"], dtype=np.float64),
            np.array(self._further["values"], dtype=np.float64),
            thresholds=np.array([nothing if t is None else t for t in thresholds])
            if width
            else None,
        )

    def _remember(self, F: NDArray[np.float64]) -> None:
        self._seen.append(F)
        self._n_seen += len(F)
        if self._n_seen > _REMEMBERED:
            thinner = np.unique(np.concatenate(self._seen), axis=0)[::2]
            self._seen, self._n_seen = [thinner], len(thinner)

    def _forbid(self, F: NDArray[np.float64]) -> None:
        points = np.unique(np.concatenate([self._forbidden, F]), axis=0)
        self._forbidden = points[:: max(1, -(-len(points) // _SHOWN))]

    def infeasible(self) -> NDArray[np.float64]:
        """Return minimised objective values of a sample of the infeasible candidates."""
        return self._forbidden

    def dominated(self) -> NDArray[np.float64]:
        """Return minimised objective values of a sample of the dominated candidates."""
        if not self._seen:
            return np.empty((0, self.n_obj))
        points = np.unique(np.concatenate(self._seen), axis=0)
        front = {row.tobytes() for row in self.F}
        points = points[[row.tobytes() not in front for row in points]]
        return points[:: max(1, -(-len(points) // _SHOWN))]


def _copy_row(row: Any) -> Any:
    return row.copy() if isinstance(row, np.ndarray) else row
