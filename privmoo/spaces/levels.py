"""Level spaces: one generalization level per quasi-identifier, the lattice of full-domain recodings."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import fraction
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.evaluation.evaluator import Evaluation
from privmoo.groups.grouper import Grouper
from privmoo.operators import (
    BestThreshold,
    EliteSteps,
    HashDuplicates,
    LevelCrossover,
    LevelMutation,
    LevelSampling,
    NewLevels,
)
from privmoo.operators.elite import Elite
from privmoo.recodings.blocks import BlockRecoding, level_recoding, need_hierarchy
from privmoo.recodings.candidates import Candidates
from privmoo.spaces.base import SearchSpace
from privmoo.suppression import BelowThreshold, Budget, Suppression
from privmoo.suppression.staircase import most_suppressed

__all__ = ["LevelSpace", "RecordLevelSpace", "ThresholdLevelSpace"]


class LevelSpace(SearchSpace):
    """All vectors of levels that a table's quasi-identifiers allow; a policy leaves records out.

    Args:
        table: The records; every quasi-identifier needs a hierarchy.

    Attributes:
        lowest: The lowest level of every quasi-identifier.
        highest: The highest one.
        kinds: `"levels"`, and what decision vectors choose besides them: `"threshold"`, the least size of
            a published group, or `"records"`, one bit per record.
        max_suppression: The largest share of records that such a choice may leave out; None if decision
            vectors choose nothing besides the levels.
        elite: The vectors of levels behind the best trade-offs of the current run.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> space = LevelSpace(table)
    >>> space.n_nodes, space.blocks(np.array([[1]])).tolist()
    (4, [[0, 0, 1]])
    """

    kinds: ClassVar[tuple[str, ...]] = ("levels",)
    variable_type: ClassVar[type] = int
    max_suppression: float | None = None

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.hierarchies = [need_hierarchy(qi) for qi in table.qis]
        self.lowest = np.array([qi.min_level for qi in table.qis], dtype=np.int64)
        self.highest = np.array([qi.max_level for qi in table.qis], dtype=np.int64)
        self.elite = Elite()

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest level of every quasi-identifier."""
        return self.lowest.astype(np.float64), self.highest.astype(np.float64)

    @property
    def n_levels(self) -> NDArray[np.int64]:
        """The number of levels of every quasi-identifier."""
        return self.highest - self.lowest + 1

    @property
    def n_nodes(self) -> int:
        """The number of vectors of levels."""
        return math.prod(self.n_levels.tolist())

    def levels(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Return the levels in decision vectors: rounded, and within bounds."""
        rows = np.atleast_2d(np.asarray(X))[:, : self.table.n_qis]
        whole = np.rint(rows.astype(np.float64)).astype(np.int64)
        return np.clip(whole, self.lowest, self.highest)

    def blocks(self, levels: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the block of every leaf, for every vector of levels."""
        offsets = np.cumsum([0, *(h.n_leaves for h in self.hierarchies)])
        rows = np.empty((len(levels), int(offsets[-1])), np.uint32)
        for j, (a, b) in enumerate(pairwise(offsets)):
            rows[:, a:b] = self.hierarchies[j].level_blocks[levels[:, j]]
        return rows

    def check(self, levels: NDArray[Any]) -> None:
        """Raise if a level is out of range."""
        outside = (levels < self.lowest) | (levels > self.highest)
        if outside.any():
            j = int(np.flatnonzero(outside.any(axis=0))[0])
            raise ProblemError(
                f"levels: {self.table.qis[j].name!r} may have levels {self.lowest[j]} to "
                f"{self.highest[j]}, got {levels[outside[:, j], j][0]}"
            )

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return the blocks of the levels."""
        return Candidates(blocks=self.blocks(self.levels(X)))

    def recoding(self, x: NDArray[Any]) -> BlockRecoding:
        """Return the level of every quasi-identifier."""
        return level_recoding(self.table, self.levels(np.asarray(x))[0].tolist())

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return the levels themselves."""
        return [row.tobytes() for row in np.ascontiguousarray(self.levels(X))]

    def from_levels(
        self, levels: NDArray[np.int64], threshold: float | None = None
    ) -> NDArray[np.int64]:
        """Return the decision vector of a vector of levels.

        Args:
            levels: One level per quasi-identifier.
            threshold: The least size of a published group, where decision vectors choose records.
        """
        self.check(np.atleast_2d(levels))
        return np.asarray(levels, dtype=np.int64)

    def neighbours(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the decision vectors with one other level."""
        row = np.asarray(x)
        here = self.levels(row)[0]
        moves = [
            (j, level)
            for j, (low, high) in enumerate(zip(self.lowest, self.highest, strict=True))
            for level in range(low, high + 1)
            if level != here[j]
        ]
        rows = np.tile(row, (len(moves), 1))
        rows[:, : len(here)] = here
        if moves:
            places, levels = np.array(moves).T
            rows[np.arange(len(moves)), places] = levels
        return rows

    def stair_keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return the levels themselves."""
        return [row.tobytes() for row in np.ascontiguousarray(self.levels(X))]

    def learn(self, steps: Evaluation) -> None:
        """Consider the levels of evaluated steps for the elite."""
        feasible = steps.feasible
        self.elite.add(self.levels(steps.X[feasible]), steps.F[feasible])

    def begin_run(self) -> None:
        """Forget the elite."""
        self.elite = Elite()

    def operators(self) -> dict[str, Any]:
        """Return sampling at all heights, crossover gene by gene, and mutation by steps up and down."""
        return {
            "sampling": LevelSampling(),
            "crossover": LevelCrossover(),
            "mutation": LevelMutation(step=0.7),
            "eliminate_duplicates": HashDuplicates(),
        }


class ThresholdLevelSpace(LevelSpace):
    """Vectors of levels with a threshold; smaller groups are left out.

    Args:
        table: The records; every quasi-identifier needs a hierarchy.
        max_suppression: The largest share of records that a threshold may leave out.
    """

    kinds: ClassVar[tuple[str, ...]] = ("levels", "threshold")

    def __init__(self, table: Table, max_suppression: float = 1.0) -> None:
        super().__init__(table)
        self.max_suppression = fraction("max_suppression", max_suppression)
        self.staircase = _UpToShare(float(self.max_suppression), by="k")

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The bounds of the levels, and 1 to the number of records."""
        low, high = super().bounds
        return np.append(low, 1.0), np.append(high, float(self.table.n_records))

    def thresholds(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the least size of a published group, for every decision vector."""
        rounded = np.rint(np.asarray(X)[:, -1].astype(np.float64))
        return np.clip(rounded, 1, self.table.n_records)

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return the blocks of the levels, and the thresholds."""
        return Candidates(blocks=self.blocks(self.levels(X)), thresholds=self.thresholds(X))

    def policy(self, x: NDArray[Any]) -> Suppression:
        """Return the threshold of the decision vector as a policy."""
        return BelowThreshold(int(self.thresholds(np.asarray(x)[None])[0]))

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return the levels and the threshold themselves."""
        rows = np.column_stack([self.levels(X), self.thresholds(X).astype(np.int64)])
        return [row.tobytes() for row in np.ascontiguousarray(rows)]

    def from_levels(
        self, levels: NDArray[np.int64], threshold: float | None = None
    ) -> NDArray[np.int64]:
        """Return the decision vector of levels and a threshold; 1 publishes every group.

        Args:
            levels: One level per quasi-identifier.
            threshold: The least size of a published group; 1 by default.
        """
        return np.append(super().from_levels(levels), 1 if threshold is None else int(threshold))

    def step_rows(
        self, X: NDArray[Any], thresholds: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return the levels with their thresholds.

        Args:
            X: The decision vectors of the recodings, one row per step.
            thresholds: Steps × thresholds.
        """
        return np.column_stack([self.levels(X), thresholds.astype(np.int64)]), None

    def operators(self) -> dict[str, Any]:
        """Return the operators of levels, with steps from the best trade-offs; levels are not repeated."""
        return {
            **super().operators(),
            "mutation": EliteSteps(LevelMutation(step=0.7)),
            "eliminate_duplicates": NewLevels(self),
        }


class RecordLevelSpace(LevelSpace):
    """Vectors of levels (A) and one bit per record (B): 1 publishes it (Jahan et al. 2025).

    Args:
        table: The records, in memory; every quasi-identifier needs a hierarchy.
        stairs: Whether every vector of levels is followed by all its thresholds.
    """

    kinds: ClassVar[tuple[str, ...]] = ("levels", "records")
    max_suppression: float | None = 1.0

    def __init__(self, table: Table, *, stairs: bool = True) -> None:
        super().__init__(table)
        self.stairs = stairs
        self.staircase = _UpToShare(1.0, by="k") if stairs else None
        self._grouper: Grouper | None = None

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The bounds of the levels, and 0 to 1 for every record."""
        low, high = super().bounds
        n = self.table.n_records
        return np.concatenate([low, np.zeros(n)]), np.concatenate([high, np.ones(n)])

    def bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Return vector B of decision vectors: which records are published."""
        tail = np.atleast_2d(np.asarray(X))[:, self.table.n_qis :]
        return np.asarray(tail.astype(np.float64) >= 0.5)

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return the blocks of the levels, and the published records."""
        return Candidates(blocks=self.blocks(self.levels(X)), published=self.bits(X))

    def published(self, x: NDArray[Any]) -> NDArray[np.bool_]:
        """Return vector B."""
        return np.asarray(self.bits(x)[0])

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return levels and bits."""
        levels, bits = self.levels(X), np.packbits(self.bits(X), axis=1)
        return [a.tobytes() + b.tobytes() for a, b in zip(levels, bits, strict=True)]

    def from_levels(
        self, levels: NDArray[np.int64], threshold: float | None = None
    ) -> NDArray[np.int64]:
        """Return the decision vector of levels that publishes all groups of at least the threshold.

        Args:
            levels: One level per quasi-identifier.
            threshold: The least size of a published group; 1 by default.
        """
        smallest = np.array([1.0 if threshold is None else threshold])
        return np.asarray(self.publishing(np.atleast_2d(levels), smallest)[0])

    def publishing(
        self, levels: NDArray[np.int64], thresholds: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return decision vectors that publish the large groups of their levels.

        Args:
            levels: One vector of levels per row.
            thresholds: For every row, the least size of a published group.
        """
        levels = np.asarray(levels, dtype=np.int64)
        self.check(levels)
        if self._grouper is None:
            self._grouper = Grouper(self.table, needs={"labels"})
        blocks, step = self.blocks(levels), self._grouper.chunk
        published = np.empty((len(levels), self.table.n_records), np.bool_)
        for begin in range(0, len(levels), step):
            part = slice(begin, begin + step)
            groups = self._grouper.group(Candidates(blocks=blocks[part]))
            places = groups.starts[:, None] + groups.need_labels("publishing")
            sizes = groups.sizes[places][:, self.table.row_tuple]
            published[part] = sizes >= thresholds[part, None]
        return np.concatenate([levels, published], axis=1)

    def step_rows(
        self, X: NDArray[Any], thresholds: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return the levels with the records that their thresholds publish.

        Args:
            X: The decision vectors of the recodings, one row per step.
            thresholds: Steps × thresholds.
        """
        return self.publishing(self.levels(X), thresholds[:, 0]), None

    def operators(self) -> dict[str, Any]:
        """Return steps up and down in the lattice, with records chosen by the best threshold."""
        return {
            **super().operators(),
            "mutation": BestThreshold(EliteSteps(LevelMutation(step=0.7))),
            "eliminate_duplicates": NewLevels(self) if self.stairs else HashDuplicates(),
        }


class _UpToShare(Budget):
    """A budget that agrees with the constraint on the share of suppressed records."""

    def limit(self, n_records: int) -> int:
        """Return the largest number of records whose share is within the limit."""
        return most_suppressed(self.fraction, n_records)
