"""Staircase: every threshold of the vectors of levels that a run evaluates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo.evaluation.evaluator import Evaluation, Evaluator
from privmoo.operators.elite import Elite
from privmoo.recodings.candidates import Candidates
from privmoo.suppression.staircase import most_suppressed

if TYPE_CHECKING:
    from privmoo.spaces.levels import LevelSpace

__all__ = ["Staircase"]


class Staircase:
    """Follows every vector of levels by all its thresholds, once per run.

    For fixed levels the best records to publish are known for every k: all groups of at least k. So one
    vector of levels gives a whole staircase of trade-offs, for the price of grouping once.

    Attributes:
        elite: The vectors of levels whose steps no other step dominates.
    """

    def __init__(self) -> None:
        self.elite = Elite()
        self._followed: set[bytes] = set()

    def follow(
        self, space: LevelSpace, X: NDArray[np.int64], evaluator: Evaluator
    ) -> Evaluation | None:
        """Judge all thresholds of the levels in decision vectors that were not followed yet.

        Args:
            space: The space of the decision vectors.
            X: The decision vectors that were evaluated.
            evaluator: What judges the thresholds.

        Returns:
            The judged thresholds, with the row of X that brought each along; None if all were followed.
        """
        unique, first = np.unique(space.levels(X), axis=0, return_index=True)
        new = np.array([row.tobytes() not in self._followed for row in unique], dtype=np.bool_)
        if not new.any():
            return None
        nodes, origins = unique[new], first[new]
        self._followed.update(row.tobytes() for row in nodes)
        blocks = space.blocks(nodes)
        limit = most_suppressed(float(space.max_suppression or 0.0), space.table.n_records)
        staircases = evaluator.engine.stairs(blocks)
        sizes = [stairs.within(limit) for stairs in staircases]
        rows = [
            space.stair_rows(node, steps, stairs)
            for node, steps, stairs in zip(nodes, sizes, staircases, strict=True)
        ]
        owners = np.repeat(np.arange(len(nodes)), [len(steps) for steps in sizes])
        thresholds = np.concatenate(sizes).astype(np.float64)

        def decode(positions: list[int]) -> Candidates:
            return Candidates(blocks=blocks[owners[positions]], thresholds=thresholds[positions])

        steps = evaluator.judge(np.concatenate(rows), decode=decode)
        feasible = steps.feasible
        self.elite.add(space.levels(steps.X[feasible]), steps.F[feasible])
        return replace(steps, origins=origins[owners])
