"""Candidates: a population as the engine takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from privmoo.recodings.base import Recoding

__all__ = ["Candidates", "MixedCandidates", "leaf_blocks"]


@dataclass(frozen=True)
class Candidates:
    """A population as the engine takes it: by blocks of leaves, or by explicit labels.

    Attributes:
        blocks: Candidates × leaves, the block of every leaf of every quasi-identifier, numbered
            from 0 in the order of the leaves.
        labels: Candidates × tuples, the cluster of every tuple, numbered from 0. A cluster releases the
            mean of its numbers and the mode of its other values, unless `centres` or `losses` are given.
        centres: With labels, candidates × clusters × quasi-identifiers: what a cluster releases, a
            number or the code of a leaf.
        losses: With labels, candidates × tuples, the general loss of a record of the tuple, if clusters
            release generalised values.
        spans: With labels, per candidate an array of clusters × quasi-identifiers × 2: the first leaf that
            a cluster publishes and one after the last, if clusters publish ranges of leaves.
        cells: With labels, recodings that publish record by record; the labels then number the published
            tuples.
        published: Candidates × records, which records are published, if candidates choose them.
        thresholds: The smallest size of a group that is published, if candidates choose it.
        steps: Per candidate steps × thresholds: the steps of its staircase that are wanted.
    """

    blocks: NDArray[np.uint32] | None = None
    labels: NDArray[np.int32] | None = None
    centres: NDArray[np.float64] | None = None
    losses: NDArray[np.float64] | None = None
    spans: Sequence[NDArray[np.int64]] | None = None
    cells: Sequence[Recoding] | None = None
    published: NDArray[np.bool_] | None = None
    thresholds: NDArray[np.float64] | None = None
    steps: Sequence[NDArray[np.float64]] | None = None

    def __len__(self) -> int:
        rows = self.blocks if self.blocks is not None else self.labels
        return 0 if rows is None else len(rows)

    def with_steps(
        self, rows: NDArray[np.intp], steps: Sequence[NDArray[np.float64]]
    ) -> Candidates:
        """Return the recodings of some candidates, with the steps of their staircases that are wanted.

        Args:
            rows: The places of the candidates, in ascending order.
            steps: For each of them, steps × thresholds.
        """
        values = {f.name: getattr(self, f.name) for f in fields(Candidates)}
        values |= {"published": None, "thresholds": None, "steps": None}
        parts: dict[str, Any] = {
            name: v[rows] if isinstance(v, np.ndarray) else [v[i] for i in rows]
            for name, v in values.items()
            if v is not None
        }
        return Candidates(**{**parts, "steps": list(steps)})

    def __getitem__(self, part: slice) -> Candidates:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Candidates(**{k: None if v is None else v[part] for k, v in values.items()})

    def chunks(self, size: int) -> list[Candidates]:
        """Cut the population into chunks of candidates that are grouped together.

        Args:
            size: The largest number of candidates in a chunk.
        """
        return [self[i : i + size] for i in range(0, len(self), size)]


@dataclass(frozen=True)
class MixedCandidates(Candidates):
    """A population of several kinds: runs of candidates that can be grouped together.

    Attributes:
        runs: The candidates, in the order of the population.
    """

    runs: tuple[Candidates, ...] = ()

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def chunks(self, size: int) -> list[Candidates]:
        """Cut every run into chunks."""
        return [chunk for run in self.runs for chunk in run.chunks(size)]

    def with_steps(
        self, rows: NDArray[np.intp], steps: Sequence[NDArray[np.float64]]
    ) -> Candidates:
        """Return the recodings of some candidates, run by run.

        Args:
            rows: The places of the candidates, in ascending order.
            steps: For each of them, steps × thresholds.
        """
        runs, begin = [], 0
        for run in self.runs:
            low, high = np.searchsorted(rows, [begin, begin + len(run)])
            if low < high:
                runs.append(run.with_steps(rows[low:high] - begin, steps[low:high]))
            begin += len(run)
        return MixedCandidates(runs=tuple(runs))


def leaf_blocks(rows: Sequence[NDArray[Any]]) -> NDArray[np.uint32]:
    """Return the blocks of all quasi-identifiers side by side, as the kernels read them."""
    return np.concatenate(rows, axis=-1).astype(np.uint32)
