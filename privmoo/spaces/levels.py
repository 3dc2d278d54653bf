"""LevelSpace: one generalization level per quasi-identifier, the lattice of full-domain recodings."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.recodings.blocks import need_hierarchy
from privmoo.recodings.candidates import Candidates

__all__ = ["Elite", "LevelSpace", "Stairs", "levels_of", "most_suppressed", "stairs_of"]


class LevelSpace:
    """All vectors of levels that a table's quasi-identifiers allow.

    Attributes:
        lowest: The lowest level of every quasi-identifier.
        highest: The highest one.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> space = LevelSpace(table)
    >>> space.n_nodes, space.blocks(np.array([[1]])).tolist()
    (4, [[0, 0, 1]])
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.hierarchies = [need_hierarchy(qi) for qi in table.qis]
        self.lowest = np.array([qi.min_level for qi in table.qis], dtype=np.int64)
        self.highest = np.array([qi.max_level for qi in table.qis], dtype=np.int64)

    @property
    def n_levels(self) -> NDArray[np.int64]:
        """Levels of every quasi-identifier."""
        return self.highest - self.lowest + 1

    @property
    def n_nodes(self) -> int:
        """Vectors of levels."""
        return math.prod(self.n_levels.tolist())

    def levels(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """The levels in decision vectors: rounded, and within bounds."""
        rows = np.atleast_2d(np.asarray(X))[:, : self.table.n_qis]
        whole = np.rint(rows.astype(np.float64)).astype(np.int64)
        return np.clip(whole, self.lowest, self.highest)

    def blocks(self, levels: NDArray[np.int64]) -> NDArray[np.uint32]:
        """The block of every leaf, for every vector of levels."""
        offsets = np.cumsum([0, *(h.n_leaves for h in self.hierarchies)])
        rows = np.empty((len(levels), int(offsets[-1])), np.uint32)
        for j, (a, b) in enumerate(pairwise(offsets)):
            rows[:, a:b] = self.hierarchies[j].level_blocks[levels[:, j]]
        return rows

    def check(self, levels: NDArray[Any]) -> None:
        """Raise where a level is out of range."""
        outside = (levels < self.lowest) | (levels > self.highest)
        if outside.any():
            j = int(np.flatnonzero(outside.any(axis=0))[0])
            raise ProblemError(
                f"levels: {self.table.qis[j].name!r} may have levels {self.lowest[j]} to "
                f"{self.highest[j]}, got {levels[outside[:, j], j][0]}"
            )


class Elite:
    """The vectors of levels behind the best trade-offs that a run has seen.

    >>> elite = Elite()
    >>> elite.add(np.array([[0], [1], [2]]), np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0]]))
    >>> elite.levels.tolist()
    [[0], [1]]
    """

    def __init__(self) -> None:
        self.levels = np.zeros((0, 0), np.int64)
        self._values = np.zeros((0, 0))
        self._owner: object = None
        self._known: set[bytes] = set()

    def new(self, levels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those vectors that were not asked for before."""
        fresh = [row for row in levels if row.tobytes() not in self._known]
        self._known.update(row.tobytes() for row in fresh)
        return np.array(fresh, dtype=np.int64).reshape(-1, levels.shape[1])

    def begin(self, owner: object) -> None:
        """Forget everything if another run listens now."""
        if owner is not self._owner:
            self.__init__()  # type: ignore[misc]  # as new
            self._owner = owner

    def add(self, levels: NDArray[np.int64], F: NDArray[np.float64]) -> None:
        """Consider some vectors with the minimised objectives of one of their thresholds each."""
        if not len(levels):
            return
        if len(self._values):
            levels, F = np.concatenate([self.levels, levels]), np.concatenate([self._values, F])
        keep = non_dominated(F)
        self.levels, self._values = levels[keep], F[keep]


def levels_of(problem: Any) -> LevelSpace:
    """The level space of a problem, or one sentence that it has none."""
    space = getattr(problem, "lattice", None)
    if not isinstance(space, LevelSpace):
        raise ProblemError(
            f"operator: works on problems of levels such as Levels, got {type(problem).__name__}"
        )
    return space


def most_suppressed(share: float, n_records: int) -> int:
    """The largest number of records whose share is within a limit, compared as the constraint does.

    >>> most_suppressed(1 / 3, 3)
    1
    """
    return int((np.arange(n_records + 1) / n_records <= share).sum()) - 1


class Stairs(NamedTuple):
    """The thresholds of a vector of levels."""

    sizes: NDArray[np.int64]
    """The distinct sizes of its groups."""
    suppressed: NDArray[np.int64]
    """The records in smaller groups."""
    of_tuples: NDArray[np.int64]
    """The size of every distinct tuple's group; empty if the engine has no labels."""


def stairs_of(engine: Any, space: LevelSpace, nodes: NDArray[np.int64]) -> list[Stairs]:
    """All thresholds of some vectors of levels."""

    def of_chunk(before: Any, after: Any) -> list[Stairs]:
        found = []
        for c in range(len(before)):
            own = slice(int(before.starts[c]), int(before.stops[c]))
            sizes, place = np.unique(before.sizes[own], return_inverse=True)
            records = np.bincount(place, weights=before.records[own]).astype(np.int64)
            of_tuples = np.zeros(0, np.int64)
            if before.labels is not None:
                of_tuples = before.sizes[before.starts[c] + before.labels[c]]
            found.append(Stairs(sizes, np.cumsum(records) - records, of_tuples))
        return found

    candidates = Candidates(blocks=space.blocks(nodes), thresholds=np.ones(len(nodes)))
    return [stairs for part in engine.map(candidates, of_chunk) for stairs in part]
