"""Source: where the records of a table are, and how they are read, counted and copied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.noise import RowNoise
from privmoo.errors import TableError

__all__ = [
    "SUBJECT",
    "WEIGHT",
    "CopyCounts",
    "CopyPlan",
    "Counts",
    "DiskFullError",
    "ScanEngine",
    "ScanOptions",
    "Source",
    "SourceSample",
    "folder_for",
    "too_many_combinations",
]

IntArray = NDArray[np.int64]
WEIGHT = "\x01count"
"""The name of the column of weights in a frame; no column of the data can have it."""
SUBJECT = "\x01subject"
"""The name by which persons are counted like an attribute; no column of the data can have it."""


class DiskFullError(TableError):
    """There is no space left on the disk."""


@dataclass(frozen=True)
class SourceSample:
    """A few rows of a source, read cheaply.

    Attributes:
        frame: The rows.
        complete: Whether the source has no other rows.
        n_rows: The estimated number of rows of the source; None if it cannot be estimated.
    """

    frame: pd.DataFrame
    complete: bool
    n_rows: int | None = None


@dataclass(frozen=True)
class Counts:
    """The number of records with each combination of keys, and of keys with the values of an attribute.

    The rows form one part per attribute: first the combinations with the first attribute, then those with
    the second, and so on. Every part counts all records. Without attributes there is one part, named "".

    Attributes:
        keys: For each key column, the values of all rows as in a table in memory.
        engine_keys: These values as the engine holds them, of any type; only the engine reads them.
        attributes: For each attribute, the values of the rows of its part.
        weights: The number of records of every row.
        parts: The rows of every attribute's part.
        combinations: A function that returns a number for every row, the same where the engine's keys are
            equal.
        n_dropped: The number of records that were left out because a value is missing.
        column_kinds: Further facts about columns that the engine needs for a copy.
    """

    keys: Mapping[str, pd.Series[Any]]
    engine_keys: Any
    attributes: Mapping[str, pd.Series[Any]]
    weights: IntArray
    parts: Mapping[str, slice]
    combinations: Callable[[], IntArray]
    n_dropped: int = 0
    column_kinds: Any = None

    @property
    def first_part(self) -> slice:
        """The rows of the first part; like every part, it counts all records."""
        return next(iter(self.parts.values()))

    @property
    def n_records(self) -> int:
        """The number of records that were counted."""
        return int(self.weights[self.first_part].sum())

    def frames(self, names: Sequence[str]) -> dict[str, pd.DataFrame]:
        """Return one frame per attribute: keys, the attribute's values, and weights in column `WEIGHT`.

        Args:
            names: The keys that the frames contain.
        """
        frames = {}
        for attribute, part in self.parts.items():
            columns = {name: self.keys[name].iloc[part].reset_index(drop=True) for name in names}
            if attribute in self.attributes:
                columns[attribute] = self.attributes[attribute]
            frames[attribute] = pd.DataFrame(columns).assign(**{WEIGHT: self.weights[part]})
        return frames


@dataclass(frozen=True)
class CopyPlan:
    """A plan of a copy: the released values of every row of `Table.originals` that is kept.

    Attributes:
        rows: The kept rows, as numbers of `Originals.rows`.
        values: For each quasi-identifier, the released value of each of these rows.
        columns: The columns of the copy, in their order.
        complete: Columns in which no value may be missing; other records are left out.
        secret: The secret that determines the random order of the copy; None keeps the order of the
            records, and in memory that of `rows`.
        spreadsheets: Whether texts that a spreadsheet would execute as a formula get an apostrophe.
        noise: The noise of every quasi-identifier whose numbers get noise.
        noise_secret: The secret that determines the draws of the noise.
        subject: The person of every row, if persons are counted. It is counted with the rows of the copy,
            under the name `SUBJECT`, and not copied.
    """

    rows: IntArray
    values: Mapping[str, pd.Series[Any]]
    columns: Sequence[str]
    complete: Sequence[str] = ()
    secret: str | None = None
    spreadsheets: bool = False
    noise: Mapping[str, RowNoise] = field(default_factory=dict)
    noise_secret: str = ""
    subject: pd.Series[Any] | None = None


@dataclass(frozen=True)
class CopyCounts:
    """The counts of a copy.

    Attributes:
        counts: The combinations of quasi-identifiers, and of these with each attribute.
        spread: For each further column, the approximate numbers of distinct values and of present values.
        combinations: A function that returns the approximate number of combinations of values of some
            further columns, and the number of rows; it reads the copy once more.
        sha256: The hash of every file by its name, if the copy is a folder of parts.
        sizes: The sizes of the groups by all quasi-identifiers, and the number of groups of each size, if
            there are too many combinations to count.
    """

    counts: Counts
    spread: Mapping[str, tuple[int, int]]
    combinations: Callable[[Sequence[str]], tuple[int, int]]
    sha256: Mapping[str, str] = field(default_factory=dict)
    sizes: tuple[IntArray, IntArray] | None = None


class Source(Protocol):
    """The records of a table, wherever they are."""

    @property
    def in_parts(self) -> bool:
        """Whether a copy is a folder of parts instead of one file."""

    @property
    def name(self) -> str:
        """The name in messages."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""

    @property
    def facts(self) -> dict[str, Any]:
        """Facts that distinguish the source from others without reading it; fingerprints contain them."""

    @property
    def paths(self) -> Sequence[Path]:
        """The files that are read, if they are known; a release must not overwrite them."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None if it is not known before reading."""

    def sample(self, columns: Sequence[str], n_rows: int) -> SourceSample:
        """Read a few rows from all over the source, cheaply.

        Args:
            columns: The columns to read.
            n_rows: The approximate number of rows.
        """

    def count(
        self,
        keys: Sequence[str],
        attributes: Sequence[str],
        *,
        complete: Sequence[str] = (),
        others: Sequence[str] = (),
        max_rows: int,
    ) -> Counts:
        """Count the combinations of keys, and of keys with each attribute.

        Args:
            keys: The quasi-identifiers.
            attributes: The sensitive attributes and the target.
            complete: Columns in which no value may be missing; other records are left out.
            others: Further columns that a copy will contain.
            max_rows: The largest number of rows of a part.

        Raises:
            TableError: There are more combinations than `max_rows`.
        """

    def first_rows(self, column: str, counts: Counts, *, complete: Sequence[str] = ()) -> IntArray:
        """Return the first record, from 0, that has the value of each row of a column in `counts`.

        Args:
            column: The column.
            counts: The counts whose rows are meant.
            complete: Columns in which no value may be missing.
        """

    def draw(
        self,
        counts: Counts,
        columns: Sequence[str],
        n: int,
        secret: str,
        *,
        complete: Sequence[str] = (),
    ) -> pd.DataFrame:
        """Draw records at random, in a random order.

        Args:
            counts: What was counted.
            columns: The columns of the records.
            n: The number of records; all records if there are fewer.
            secret: The secret that determines the choice.
            complete: Columns in which no value may be missing.
        """

    def copy(self, counts: Counts, plan: CopyPlan, path: Path) -> Any:
        """Write a copy with released values, and return what is needed to read it back.

        Args:
            counts: What was counted.
            plan: The released values and the order.
            path: The file to write, `.csv` or `.parquet`; where the source is `in_parts`, an empty folder.

        Raises:
            DiskFullError: There is no space left.
        """

    def recount(
        self,
        path: Path,
        handle: Any,
        keys: Sequence[str],
        attributes: Sequence[str],
        others: Sequence[str],
    ) -> CopyCounts:
        """Count a copy from its file.

        Args:
            path: The copy.
            handle: The result of `copy`.
            keys: The quasi-identifiers.
            attributes: The sensitive attributes and the target.
            others: Further columns of the copy.
        """

    def group_sizes(
        self, path: Path, handle: Any, keys: Sequence[str]
    ) -> tuple[IntArray, IntArray]:
        """Return the sizes of the groups of a copy, and the number of groups of each size.

        Args:
            path: The copy.
            handle: The result of `copy`.
            keys: The columns whose equal values form a group; there may be any number of groups.
        """


@dataclass(frozen=True)
class ScanOptions:
    """The options of `Table.scan`, which describes them."""

    separator: str | None = None
    encoding: str = "utf-8-sig"
    missing_values: Sequence[str] = ("",)
    memory: str | int = "1GB"
    threads: int | None = None
    temporary: str | Path | None = None
    progress: bool = False
    table: str | None = None
    decimal: str = "."

    @property
    def changed_options(self) -> list[str]:
        """The names of the options that differ from their defaults.

        >>> ScanOptions(threads=2, missing_values=[""]).changed_options
        ['threads']
        """
        return [
            option.name
            for option in fields(self)
            if _comparable(getattr(self, option.name)) != _comparable(option.default)
        ]


def folder_for(temporary: str | Path | None) -> Path | None:
    """Return the folder that an option names; None stands for that of the system.

    Raises:
        TableError: There is no such folder.
    """
    folder = None if temporary is None else Path(temporary)
    if folder is not None and not folder.is_dir():
        raise TableError(f"temporary: there is no folder {str(folder)!r}; make it first")
    return folder


def _comparable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class ScanEngine(ABC):
    """Opens sources of one kind.

    A folder in `privmoo/engines` is found by the one subclass in its `__init__`. Another package
    registers its own engines under `privmoo.engines`. Importing it must not import the engine's
    library.

    Attributes:
        name: The name in the registry.
        reads: The kind of source for messages, such as "a Dask DataFrame".
    """

    name: ClassVar[str] = ""
    reads: ClassVar[str] = ""

    @abstractmethod
    def accepts(self, source: Any) -> bool:
        """Return whether the engine can open this, without reading it."""

    @abstractmethod
    def open(self, source: Any, options: ScanOptions) -> Source:
        """Open a source that the engine accepts.

        Args:
            source: What a user passed to `Table.scan`.
            options: How to read it; an engine refuses options that it does not have.
        """


def too_many_combinations(name: str, max_rows: int) -> TableError:
    """Return the error for a source whose distinct combinations do not fit.

    Args:
        name: The source.
        max_rows: The largest number that fits.
    """
    return TableError(
        f"{name} has more than {max_rows:,} distinct combinations of quasi-identifiers (with values of an "
        "attribute); round or shorten the columns with the most values, or pass a larger max_tuples"
    )
