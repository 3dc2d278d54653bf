"""What a scanned table asks of an engine: counts, a sample, a row number, a mapped copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.engines.noise import Noised

__all__ = ["COUNT", "Counted", "Mapped", "Sample", "Source"]

IntArray = NDArray[np.int64]
COUNT = "\x01count"
"""The column of counts; no other can have its name."""


@dataclass(frozen=True)
class Sample:
    """Some rows of a source, whether they are all, and about how many there are, if that is seen."""

    frame: pd.DataFrame
    whole: bool
    n_rows: int | None = None


@dataclass(frozen=True)
class Counted:
    """How often combinations of keys, and of keys with each attribute, occur.

    Rows of the parts follow each other: first the combinations with the first attribute, and so on; all
    records are counted by each part. Without attributes there is one part, called "".

    Attributes:
        keys: Per key column the values of all rows, as a table in memory would have them.
        raw: The same as the engine has them, to be given back to it in `Mapped`; any type.
        attributes: Per attribute the values of the rows of its part.
        counts: Records of every row.
        parts: Where the part of every attribute is.
        combinations: Gives a number for every row, equal where the engine's keys are equal.
        n_dropped: Records left out because a value is missing.
        kinds: What else the engine must remember about columns for a copy.
    """

    keys: Mapping[str, pd.Series[Any]]
    raw: Any
    attributes: Mapping[str, pd.Series[Any]]
    counts: IntArray
    parts: Mapping[str, slice]
    combinations: Callable[[], IntArray]
    n_dropped: int = 0
    kinds: Any = None

    def tables(self, names: Sequence[str]) -> dict[str, pd.DataFrame]:
        """One table of counts for every attribute, with these keys."""
        found = {}
        for name, part in self.parts.items():
            own = {n: self.keys[n].iloc[part].reset_index(drop=True) for n in names}
            if name in self.attributes:
                own[name] = self.attributes[name]
            found[name] = pd.DataFrame(own).assign(**{COUNT: self.counts[part]})
        return found


@dataclass(frozen=True)
class Mapped:
    """How a source is copied: the released values of every kept combination of keys.

    Attributes:
        rows: Rows of `Counted.raw` that are kept, one for every combination.
        values: Per key column the released value of each of these rows.
        columns: The columns of the copy, in their order.
        complete: Columns in which no value may be missing; other records are left out.
        secret: What the order of the copy is made from; None keeps the order.
        spreadsheets: Whether texts that a spreadsheet would take for a formula get an apostrophe.
        noise: Per key column whose numbers get noise, what noise.
        noise_secret: What the draws of the noise are made from.
    """

    rows: IntArray
    values: Mapping[str, pd.Series[Any]]
    columns: Sequence[str]
    complete: Sequence[str] = ()
    secret: str | None = None
    spreadsheets: bool = False
    noise: Mapping[str, Noised] = field(default_factory=dict)
    noise_secret: str = ""


class Source(Protocol):
    """A table that stays where it is; messages call it by its `name`."""

    @property
    def in_parts(self) -> bool:
        """Whether a copy is a folder of parts, not one file."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def columns(self) -> list[str]:
        """Its columns, in their order."""

    @property
    def facts(self) -> dict[str, Any]:
        """What tells it from another one without reading it, for fingerprints."""

    @property
    def paths(self) -> Sequence[Path]:
        """The files that it is read from, as far as they are known; nothing may be written over them."""

    @property
    def n_rows(self) -> int | None:
        """Its rows, as far as that is known without reading it."""

    def sample(self, columns: Sequence[str], n_rows: int) -> Sample:
        """About so many rows from all over it, cheaply."""

    def count(
        self,
        keys: Sequence[str],
        attributes: Sequence[str],
        *,
        complete: Sequence[str] = (),
        others: Sequence[str] = (),
        most: int,
    ) -> Counted:
        """Count combinations; at most so many rows per part, or an error.

        Records that miss a value in a `complete` column are left out; `others` will be copied.
        """

    def first_rows(
        self, column: str, counted: Counted, *, complete: Sequence[str] = ()
    ) -> IntArray:
        """Per row of the column in `counted`, the first record that has its value, from 0."""

    def draw(
        self,
        counted: Counted,
        columns: Sequence[str],
        n: int,
        secret: str,
        *,
        complete: Sequence[str] = (),
    ) -> pd.DataFrame:
        """So many records at random, or all; the same ones for the same secret, in a random order."""

    def copy(self, counted: Counted, mapped: Mapped, path: Path) -> Any:
        """Write the copy to a file, `.csv` or `.parquet`; what is returned helps to read it back."""

    def recount(
        self,
        path: Path,
        written: Any,
        keys: Sequence[str],
        attributes: Sequence[str],
        others: Sequence[str],
    ) -> tuple[Counted, dict[str, tuple[int, int]]]:
        """Count a copy from its file; per column of `others`, distinct and present values (about)."""

    def group_sizes(
        self, path: Path, written: Any, keys: Sequence[str]
    ) -> tuple[IntArray, IntArray]:
        """Sizes that groups of a copy have, and how many groups have each; any number of groups."""
