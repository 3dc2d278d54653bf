"""QI-groups as measures read them: of a chunk of candidates, and of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import MeasureError, nearest
from privmoo.kernels.cells import sum_groups
from privmoo.kernels.segments import Segments

if TYPE_CHECKING:
    from privmoo.recodings.base import Recoding

__all__ = ["GroupBatch", "Grouping", "Segments", "Stage"]

Stage = Literal["before", "after"]


@dataclass(frozen=True)
class GroupBatch:
    """The QI-groups of a chunk of candidates; groups of candidate c are `starts[c]:stops[c]`.

    Attributes:
        sizes: Persons in every group (records, unless the table has a subject column).
        records: Records in every group.
        losses: General loss of every record of the group: the weighted mean over its cells.
        firsts: One tuple of every group: a group's released labels are this tuple's.
        segments: Per sensitive or target attribute, its values in every group.
        labels: Candidates × tuples, the group of every tuple counted from its candidate's start;
            groups at or after the stop are suppressed. Only if a measure needs it.
        blocks: Candidates × leaves, the block of every leaf; None for clusters.
        clusters: Candidates × tuples, the cluster of every tuple as the candidate numbers them; None
            for blocks.
        centres: Candidates × clusters × quasi-identifiers, what clusters release, where that is not
            their mean and mode.
        spans: Per candidate the ranges of leaves that its clusters publish; None if they publish no
            ranges.
        cells: Per candidate what every record publishes, where that is neither blocks nor centres.
        has_losses: Whether `losses` are known: clusters that release centres have none.
        kept: Candidates × tuples, records kept, where a candidate chooses single records.
        stage: Before or after suppression.
        derived: What was computed of these groups and is needed again, by name.
    """

    table: Table
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    sizes: NDArray[np.int64]
    records: NDArray[np.int64]
    losses: NDArray[np.float64]
    firsts: NDArray[np.int32]
    segments: dict[str, Segments] = field(default_factory=dict)
    labels: NDArray[np.int32] | None = None
    blocks: NDArray[np.uint32] | None = None
    clusters: NDArray[np.int32] | None = None
    centres: NDArray[np.float64] | None = None
    spans: Sequence[NDArray[np.int64]] | None = None
    cells: Sequence[Recoding] | None = None
    has_losses: bool = True
    kept: NDArray[np.int64] | None = None
    stage: Stage = "before"
    derived: dict[tuple[str, ...], Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def n_groups(self) -> NDArray[np.int64]:
        """Groups of every candidate."""
        return self.stops - self.starts

    @cached_property
    def n_records(self) -> NDArray[np.int64]:
        """Records of every candidate: released ones, after suppression."""
        return self.reduce(self.records)

    def reduce(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum a value of the groups for every candidate."""
        sums = np.empty(len(self), values.dtype)
        sum_groups(self.starts, self.stops, values, sums)
        return sums

    def need_blocks(self, measure: str) -> NDArray[np.uint32]:
        """Return the blocks, or raise if the groups are clusters, which have none."""
        if self.blocks is None:
            raise MeasureError(
                f"{measure}: needs generalised values, but these groups are clusters; choose another "
                "measure"
            )
        return self.blocks

    def need_losses(self, measure: str) -> NDArray[np.float64]:
        """Return the general losses, or raise if the groups have none."""
        if not self.has_losses:
            raise MeasureError(
                f"{measure}: needs generalised values, but these groups release means or noised numbers; "
                "choose another measure such as InformationLoss()"
            )
        return self.losses

    def need_labels(self, measure: str) -> NDArray[np.int32]:
        """Return the group of every tuple, or raise if the engine was not asked for it."""
        if self.labels is None:
            raise MeasureError(
                f"{measure}: labels were not asked for; use Engine(needs={{'labels'}})"
            )
        return self.labels

    def at(self, candidates: slice) -> GroupBatch:
        """Return the groups of some of the candidates."""
        part = replace(self, starts=self.starts[candidates], stops=self.stops[candidates])
        rows = {
            name: value[candidates]
            for name in ("labels", "blocks", "clusters", "centres", "spans", "cells", "kept")
            if (value := getattr(self, name)) is not None
        }
        return replace(part, **rows)

    def __getitem__(self, index: int) -> Grouping:
        return Grouping(self.at(slice(index, index + 1)))


class Grouping:
    """The QI-groups of one candidate: what a measure written in Python reads.

    >>> import pandas as pd, privmoo as pm
    >>> table = Table(pd.DataFrame({"a": [1, 1, 2], "s": list("xyx")}),
    ...               quasi_identifiers={"a": pm.Hierarchy.flat()}, sensitive="s")
    >>> groups = pm.group(table)
    >>> groups.sizes.tolist(), groups.n_groups, groups.counts("s")[0]
    ([2, 1], 2, {'x': 1, 'y': 1})
    """

    def __init__(self, batch: GroupBatch) -> None:
        self.batch = batch
        self._range = slice(int(batch.starts[0]), int(batch.stops[0]))

    @property
    def table(self) -> Table:
        """The table that was grouped."""
        return self.batch.table

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self._range.stop - self._range.start

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Persons in every group."""
        return self.batch.sizes[self._range]

    @property
    def records(self) -> NDArray[np.int64]:
        """Records in every group."""
        return self.batch.records[self._range]

    @property
    def losses(self) -> NDArray[np.float64]:
        """General loss per record in every group, 0 … 1."""
        return self.batch.losses[self._range]

    @property
    def n_records(self) -> int:
        """Records in these groups."""
        return int(self.records.sum())

    @property
    def n_suppressed(self) -> int:
        """Records of the table that are in none of these groups."""
        return self.table.n_records - self.n_records

    @property
    def labels(self) -> NDArray[np.int32]:
        """The group of every distinct tuple; -1 if it is suppressed."""
        if self.batch.labels is None:
            raise MeasureError(
                "groups: labels were not asked for; a measure declares needs={'labels'}"
            )
        labels = self.batch.labels[0]
        return np.where(labels < self.n_groups, labels, np.int32(-1))

    def segments(self, attribute: str) -> Segments:
        """Return the sparse counts of one sensitive attribute in the groups of this candidate."""
        available = self.batch.segments
        if attribute not in available:
            raise MeasureError(
                f"groups: no counts of {attribute!r}; sensitive attributes are "
                f"{', '.join(available) or 'none'}{nearest(attribute, available)}"
            )
        starts, stops, values, counts = available[attribute]
        return Segments(starts[self._range], stops[self._range], values, counts)

    def counts(self, attribute: str) -> list[dict[str, int]]:
        """Return how many records of every group have each value of a sensitive attribute."""
        names = (
            self.table.sensitive[attribute].values
            if attribute in self.table.sensitive
            else self.table.target.values  # type: ignore[union-attr]  # segments() has checked
        )
        starts, stops, values, counts = self.segments(attribute)
        return [
            {names[v]: int(n) for v, n in zip(values[a:b], counts[a:b], strict=True)}
            for a, b in zip(starts, stops, strict=True)
        ]
