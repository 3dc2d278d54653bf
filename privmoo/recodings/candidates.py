"""Candidates: a population as the engine takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from privmoo.recodings.base import Recoding

__all__ = ["Candidates", "leaf_blocks"]


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
        losses: With labels, candidates × tuples, the general loss of a record of the tuple, where clusters
            release generalised values.
        cells: With labels, recodings that publish record by record; the labels then number the published
            tuples.
        published: Candidates × records, which records are published, where candidates choose.
        thresholds: The least size of a group that is published, where candidates choose.
    """

    blocks: NDArray[np.uint32] | None = None
    labels: NDArray[np.int32] | None = None
    centres: NDArray[np.float64] | None = None
    losses: NDArray[np.float64] | None = None
    cells: Sequence[Recoding] | None = None
    published: NDArray[np.bool_] | None = None
    thresholds: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        rows = self.blocks if self.blocks is not None else self.labels
        return 0 if rows is None else len(rows)

    def __getitem__(self, part: slice) -> Candidates:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Candidates(**{k: None if v is None else v[part] for k, v in values.items()})


def leaf_blocks(rows: Sequence[NDArray[Any]]) -> NDArray[np.uint32]:
    """Return the blocks of all quasi-identifiers side by side, as the kernels read them."""
    return np.concatenate(rows, axis=-1).astype(np.uint32)
