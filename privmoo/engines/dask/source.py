"""A Dask DataFrame as a source, counted and copied partition by partition."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.counting import Tally, counts_of, number_rows, tally
from privmoo.data.source import (
    CopyCounts,
    CopyPlan,
    Counts,
    SourceSample,
    too_many_combinations,
)
from privmoo.engines.dask.copy import copy
from privmoo.engines.dask.part_files import PartFiles
from privmoo.engines.dask.partitions import Partitions, concat, merge_tallies, merge_tree
from privmoo.engines.dask.recount import recount
from privmoo.engines.dask.sampling import partition_sample, smallest_keys
from privmoo.engines.dask.sizes import group_sizes
from privmoo.errors import TableError

__all__ = ["DaskSource"]

IntArray = NDArray[np.int64]
_SAMPLED = 8


class DaskSource:
    """The partitions of a Dask DataFrame; a `Source`.

    They are computed by the scheduler that Dask would use: the active client, or this process.

    Args:
        frame: The Dask DataFrame.
        temporary: The folder for intermediate files of a copy; by default that of the system.
        progress: Whether progress is shown.
    """

    in_parts = True
    name = "the Dask DataFrame"

    def __init__(
        self, frame: Any, *, temporary: Path | None = None, progress: bool = False
    ) -> None:
        from dask.dataframe import DataFrame

        if not isinstance(frame, DataFrame):
            raise TableError(
                f"source: must be a Dask DataFrame, got a Dask {type(frame).__name__}; convert it"
            )
        for name in frame.columns:
            if not isinstance(name, str):
                raise TableError(f"source: column names must be strings, got {name!r}; rename it")
        twice = frame.columns[frame.columns.duplicated()]
        if len(twice):
            raise TableError(f"source: column name {twice[0]!r} occurs more than once; rename one")
        self.partitions = Partitions(frame, self.name, progress=progress)
        self.temporary = temporary

    @property
    def frame(self) -> Any:
        """The Dask DataFrame."""
        return self.partitions.frame

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return list(self.frame.columns)

    @property
    def facts(self) -> dict[str, Any]:
        """The types of the columns; how records are divided into partitions does not matter."""
        return {"columns": {name: str(kind) for name, kind in self.frame.dtypes.items()}}

    @property
    def paths(self) -> Sequence[Path]:
        """Empty: the files behind the partitions are unknown."""
        return ()

    @property
    def n_rows(self) -> int | None:
        """None: the number of rows is unknown until the partitions are computed."""
        return None

    def sample(self, columns: Sequence[str], n_rows: int) -> SourceSample:
        """Read the first rows of a few evenly spaced partitions.

        Args:
            columns: The columns to read.
            n_rows: About how many rows.
        """
        n = len(self.partitions)
        partition_numbers = np.unique(np.linspace(0, n - 1, _SAMPLED).astype(int)).tolist()
        head = partial(_head, n_rows=max(n_rows // len(partition_numbers), 1))
        tasks = [
            task
            for i in partition_numbers
            for task in self.partitions.tasks(columns, head, self.frame.partitions[i])
        ]
        results = self.partitions.compute(tasks, columns)
        heads = [frame for frame, _ in results if len(frame)] or [results[0][0]]
        total = sum(length for _, length in results)
        frame = concat(heads).reset_index(drop=True)
        complete = len(partition_numbers) == n and len(frame) == total
        return SourceSample(frame, complete, round(total / len(partition_numbers) * n))

    def count(
        self,
        keys: Sequence[str],
        attributes: Sequence[str],
        *,
        complete: Sequence[str] = (),
        others: Sequence[str] = (),
        max_rows: int,
    ) -> Counts:
        """Count partitions on their workers, which return only distinct combinations; see `Source.count`.

        Args:
            keys: The quasi-identifiers.
            attributes: The sensitive attributes and the target.
            complete: Columns in which no value may be missing; other records are left out.
            others: Further columns that a copy will contain.
            max_rows: The largest number of rows of a part.
        """
        column_names = [*keys, *attributes]
        count_partition = partial(
            tally, keys=list(keys), attributes=list(attributes), complete=list(complete)
        )
        tasks = self.partitions.tasks(column_names, count_partition)
        merge = partial(merge_tallies, max_rows=max_rows)
        total: Tally | None = self.partitions.compute([merge_tree(tasks, merge)], column_names)[0]
        if total is None:
            raise too_many_combinations(self.name, max_rows)
        if not total.n_rows:
            raise TableError(f"{self.name} has columns but no rows; add at least one record")
        return counts_of(total, keys, attributes, concat)

    def first_rows(self, column: str, counts: Counts, *, complete: Sequence[str] = ()) -> IntArray:
        """Find the first record of every value by one more scan; see `Source.first_rows`.

        Args:
            column: The column.
            counts: The counts whose rows are meant.
            complete: Columns in which no value may be missing.
        """
        column_names = list(dict.fromkeys([column, *complete]))
        firsts = partial(_first_rows, column=column, complete=list(complete))
        results = self.partitions.compute(self.partitions.tasks(column_names, firsts), column_names)
        starts = np.cumsum([0, *(length for _, _, length in results)])
        values = counts.keys[column] if column in counts.keys else counts.attributes[column]
        frames = [values.to_frame(column), *(v.to_frame(column) for v, _, _ in results if len(v))]
        numbers = number_rows(concat(frames).reset_index(drop=True), [column])[0]
        places = [
            rows + start for (v, rows, _), start in zip(results, starts, strict=False) if len(v)
        ]
        first = pd.Series(np.concatenate(places)).groupby(numbers[len(values) :]).min()
        return np.asarray(first.reindex(numbers[: len(values)]), dtype=np.int64)

    def draw(
        self,
        counts: Counts,
        columns: Sequence[str],
        n: int,
        secret: str,
        *,
        complete: Sequence[str] = (),
    ) -> pd.DataFrame:
        """Draw the records with the smallest random keys; see `Source.draw`.

        Args:
            counts: What was counted.
            columns: The columns of the records.
            n: The number of records; all records if there are fewer.
            secret: Determines the choice.
            complete: Columns in which no value may be missing.
        """
        import dask

        column_names = list(columns)
        choose = partial(partition_sample, n=n, secret=secret, complete=list(complete))
        task = dask.delayed(choose, pure=False)
        tasks = [task(part, i) for i, part in enumerate(self.partitions.delayed(column_names))]
        merged_sample = merge_tree(tasks, partial(smallest_keys, n=n))
        sample: pd.DataFrame = self.partitions.compute([merged_sample], column_names)[0]
        return sample[column_names].reset_index(drop=True)

    def copy(self, counts: Counts, plan: CopyPlan, path: Path) -> PartFiles:
        """Write a folder of parts; see `Source.copy`.

        Args:
            counts: What was counted.
            plan: The released values and the order.
            path: An empty folder, which all workers must reach.
        """
        return copy(self.partitions, self.temporary, counts, plan, path)

    def recount(
        self,
        path: Path,
        handle: PartFiles,
        keys: Sequence[str],
        attributes: Sequence[str],
        others: Sequence[str],
    ) -> CopyCounts:
        """Read and count the parts of a copy like partitions; see `Source.recount`.

        Args:
            path: The folder of the copy.
            handle: What `copy` returned.
            keys: The quasi-identifiers.
            attributes: The sensitive attributes and the target.
            others: Further columns of the copy.
        """
        return recount(self.partitions, path, handle, keys, attributes, others)

    def group_sizes(
        self, path: Path, handle: PartFiles, keys: Sequence[str]
    ) -> tuple[IntArray, IntArray]:
        """Return the sizes of the groups in a copy, and how many groups have each size.

        Args:
            path: The folder of the copy.
            handle: What `copy` returned.
            keys: The columns whose equal values form a group.
        """
        return group_sizes(self.partitions, path, handle, keys)


def _head(frame: pd.DataFrame, n_rows: int) -> tuple[pd.DataFrame, int]:
    return frame.head(n_rows), len(frame)


def _first_rows(
    frame: pd.DataFrame, column: str, complete: list[str]
) -> tuple[pd.Series[Any], IntArray, int]:
    """Return the distinct values of a partition's column, the first row of each, and its length."""
    rows = np.arange(len(frame))
    if complete:
        rows = rows[frame[complete].notna().all(axis=1).to_numpy()]
    numbers = number_rows(frame.iloc[rows], [column])[0]
    first = np.unique(numbers, return_index=True)[1]
    return frame[column].iloc[rows[first]], rows[first], len(frame)
