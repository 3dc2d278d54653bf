"""A table's records in memory, as a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.counting import counts_of, number_rows, tally
from privmoo.data.frame_files import FrameFile, drop_unused_categories, read_frame, write_frame
from privmoo.data.source import (
    SUBJECT,
    CopyCounts,
    CopyPlan,
    Counts,
    SourceSample,
    too_many_combinations,
)
from privmoo.errors import AuditError, TableError

__all__ = ["MemorySource"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class CopiedFrame:
    """A copy of records in memory.

    Attributes:
        file: The facts needed to read it back.
        subject: The person of every row, if persons are counted.
    """

    file: FrameFile
    subject: pd.Series[Any] | None


class MemorySource:
    """Records that are in memory; a `Source`.

    The rows of a `CopyPlan` are records here, and a copy has them in the order of the plan.

    Args:
        frame: The records, numbered from 0 by their index.

    >>> source = MemorySource(pd.DataFrame({"age": [31, 45, 31]}))
    >>> source.count(["age"], [], max_rows=10).weights.tolist()
    [2, 1]
    """

    in_parts = False
    name = "the table in memory"
    paths: Sequence[Path] = ()

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return list(self.frame.columns)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The types of the columns, and the number of records."""
        types = {str(name): str(kind) for name, kind in self.frame.dtypes.items()}
        return {"columns": types, "records": len(self.frame)}

    @property
    def n_rows(self) -> int:
        """The number of records."""
        return len(self.frame)

    def sample(self, columns: Sequence[str], n_rows: int) -> SourceSample:
        """Return records that are spread evenly.

        Args:
            columns: The columns to read.
            n_rows: The approximate number of records.
        """
        rows = np.unique(np.linspace(0, len(self.frame) - 1, n_rows).astype(np.int64))
        frame = self.frame[list(columns)].iloc[rows].reset_index(drop=True)
        return SourceSample(frame, len(frame) == len(self.frame), len(self.frame))

    def count(
        self,
        keys: Sequence[str],
        attributes: Sequence[str],
        *,
        complete: Sequence[str] = (),
        others: Sequence[str] = (),
        max_rows: int,
    ) -> Counts:
        """Count the combinations of keys, and of keys with each attribute; see `Source.count`.

        Args:
            keys: The quasi-identifiers.
            attributes: The sensitive attributes and the target.
            complete: Columns in which no value may be missing; other records are left out.
            others: Further columns that a copy will contain.
            max_rows: The largest number of rows of a part.
        """
        total = tally(self.frame, keys, attributes, complete)
        if any(len(part) > max_rows for part in total.parts):
            raise too_many_combinations(self.name, max_rows)
        return counts_of(total, keys, attributes, _concat)

    def first_rows(self, column: str, counts: Counts, *, complete: Sequence[str] = ()) -> IntArray:
        """Return the first record that has the value of each row of a column; see `Source.first_rows`.

        Args:
            column: The column.
            counts: The counts whose rows are meant.
            complete: Columns in which no value may be missing.
        """
        values = counts.keys[column] if column in counts.keys else counts.attributes[column]
        records = self._complete_rows(complete)
        frames = [values.to_frame(column), self.frame[[column]].iloc[records]]
        numbers = number_rows(_concat(frames).reset_index(drop=True), [column])[0]
        first = pd.Series(records).groupby(numbers[len(values) :]).min()
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
        """Draw records at random, in a random order; see `Source.draw`.

        Args:
            counts: What was counted.
            columns: The columns of the records.
            n: The number of records; all records if there are fewer.
            secret: The secret that determines the choice.
            complete: Columns in which no value may be missing.
        """
        records = self._complete_rows(complete)
        order = np.random.default_rng(list(secret.encode())).permutation(records)[:n]
        return self.frame[list(columns)].iloc[order].reset_index(drop=True)

    def copied_rows(self, plan: CopyPlan) -> pd.DataFrame:
        """Return the rows of a copy without writing them.

        Args:
            plan: The released values; their order is that of `plan.rows`.

        Raises:
            TableError: The plan asks for an order or noise by a secret, which only engines have.
        """
        if plan.secret is not None or plan.noise:
            raise TableError(
                "copy: records in memory are copied as planned; give rows in their order, and values "
                "with their noise"
            )
        columns = {}
        for name in plan.columns:
            values = plan.values.get(name)
            column = self.frame[name].iloc[plan.rows] if values is None else values
            columns[name] = drop_unused_categories(column).reset_index(drop=True)
        return pd.DataFrame(columns)

    def copy(self, counts: Counts, plan: CopyPlan, path: Path) -> CopiedFrame:
        """Write a copy with released values; see `Source.copy`.

        Args:
            counts: What was counted.
            plan: The released values; their order is that of `plan.rows`.
            path: The file to write, `.csv` or `.parquet`.
        """
        file = write_frame(self.copied_rows(plan), path, spreadsheets=plan.spreadsheets)
        return CopiedFrame(file, plan.subject)

    def recount(
        self,
        path: Path,
        handle: CopiedFrame,
        keys: Sequence[str],
        attributes: Sequence[str],
        others: Sequence[str],
    ) -> CopyCounts:
        """Count a copy from its file; see `Source.recount`.

        Args:
            path: The copy.
            handle: The result of `copy`.
            keys: The quasi-identifiers.
            attributes: The sensitive attributes and the target.
            others: Further columns of the copy.
        """
        names = [name for name in (*keys, *attributes, *others) if name != SUBJECT]
        rows = MemorySource(read_frame(path, handle.file, names))
        return rows.count_copy(handle.subject, keys, attributes, others)

    def count_copy(
        self,
        subject: pd.Series[Any] | None,
        keys: Sequence[str],
        attributes: Sequence[str],
        others: Sequence[str],
    ) -> CopyCounts:
        """Count these records as a copy.

        Args:
            subject: The person of every row, if persons are counted.
            keys: The quasi-identifiers.
            attributes: The sensitive attributes and the target; `SUBJECT` for persons.
            others: Further columns.
        """
        frame = self.frame
        spread = {name: _spread(frame[name]) for name in others}
        if subject is not None:
            if len(subject) != len(frame):
                raise AuditError(
                    f"release: {len(subject):,} rows should be in the file, but {len(frame):,} can be "
                    "read; nothing is released"
                )
            frame = frame.assign(**{SUBJECT: subject.to_numpy(dtype=object)})
        counts = counts_of(tally(frame, keys, attributes), keys, attributes, _concat)
        return CopyCounts(counts, spread, self.combinations)

    def combinations(self, columns: Sequence[str]) -> tuple[int, int]:
        """Return the number of combinations of values of some columns, and the number of rows."""
        return len(np.unique(number_rows(self.frame, columns)[0])), len(self.frame)

    def group_sizes(
        self, path: Path, handle: CopiedFrame, keys: Sequence[str]
    ) -> tuple[IntArray, IntArray]:
        """Return the sizes that groups of a copy have, and how many groups have each.

        Args:
            path: The copy.
            handle: The result of `copy`.
            keys: The columns whose equal values form a group.
        """
        counts = self.recount(path, handle, keys, [], []).counts
        sizes, groups = np.unique(counts.weights, return_counts=True)
        return sizes, groups.astype(np.int64)

    def _complete_rows(self, columns: Sequence[str]) -> IntArray:
        """Return the records that miss no value of these columns."""
        if not columns:
            return np.arange(len(self.frame))
        return np.flatnonzero(self.frame[list(columns)].notna().all(axis=1).to_numpy())


def _spread(column: pd.Series[Any]) -> tuple[int, int]:
    """Return the number of distinct values and of present values."""
    try:
        codes, distinct = pd.factorize(column)
    except (TypeError, NotImplementedError):  # the second is Arrow's
        raise AuditError(
            f"column {str(column.name)!r} holds values that cannot be compared, such as lists; convert it "
            "to strings or numbers"
        ) from None
    return len(distinct), int((codes >= 0).sum())


def _concat(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames)
