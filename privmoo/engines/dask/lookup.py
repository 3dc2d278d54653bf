"""A lookup of the released row of a record by the spelling of its original values."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.counting import number_rows
from privmoo.data.frame_files import decode_dictionary
from privmoo.data.noise import RowNoise
from privmoo.data.source import CopyPlan, Counts
from privmoo.engines.dask.part_files import write_whole
from privmoo.errors import Hint, ReleaseError
from privmoo.hierarchy.canonical import canonical

__all__ = ["Lookup", "arrow_array", "read_lookup", "write_lookup"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Lookup:
    """Released values by the spelling of original ones.

    Attributes:
        codes: Per quasi-identifier a code for the spelling of every original value.
        rows: The released row of every kept combination of codes.
        values: Per quasi-identifier the released values of the rows, as an Arrow array.
        noise: The noise of every quasi-identifier whose numbers get noise.
    """

    codes: Mapping[str, Mapping[str, int]]
    rows: Mapping[tuple[int, ...], int]
    values: Mapping[str, Any]
    noise: Mapping[str, RowNoise]

    @classmethod
    def of(cls, counts: Counts, plan: CopyPlan) -> Lookup:
        """Return the lookup of a plan.

        Args:
            counts: What was counted.
            plan: The released values.
        """
        codes: dict[str, dict[str, int]] = {}
        columns = []
        values: dict[str, Any] = {}
        for name, released in plan.values.items():
            originals = counts.engine_keys[name].iloc[plan.rows]
            spellings = [canonical(value) for value in originals.tolist()]
            code_of = {text: i for i, text in enumerate(dict.fromkeys(spellings))}
            columns.append([code_of[text] for text in spellings])
            codes[name] = code_of
            values[name] = arrow_array(released, name)
        rows = {key: i for i, key in enumerate(zip(*columns, strict=True))}
        return cls(codes, rows, values, dict(plan.noise))

    def rows_of(self, frame: pd.DataFrame) -> IntArray:
        """Return the released row of every record; -1 if the record is left out."""
        names = list(self.codes)
        combination, uniques = pd.factorize(number_rows(frame, names)[0])
        first = np.zeros(len(uniques), np.int64)
        first[combination[::-1]] = np.arange(len(combination))[::-1]
        columns = []
        for name in names:
            codes, values = pd.factorize(frame[name].iloc[first])
            code_of = self.codes[name]
            leaf_codes = [code_of.get(canonical(value), -1) for value in values.tolist()]
            columns.append(
                np.array([*leaf_codes, code_of.get(canonical(None), -1)])[codes].tolist()
            )
        rows = [self.rows.get(key, -1) for key in zip(*columns, strict=True)]
        return np.array(rows, np.int64)[combination] if rows else np.empty(0, np.int64)


def arrow_array(values: pd.Series[Any], name: str) -> Any:
    """Return values as an Arrow array; categories become plain values.

    Args:
        values: The values.
        name: The column, for the message.

    Raises:
        ReleaseError: If a file cannot hold the values.
    """
    import pyarrow as pa

    try:
        array = pa.array(decode_dictionary(values), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        raise ReleaseError(
            f"release: column {name!r} has values that a file cannot hold; convert it to numbers, "
            "text or dates"
        ) from None
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def write_lookup(lookup: Lookup, path: Path) -> None:
    """Write a lookup for the workers.

    Args:
        lookup: The lookup.
        path: The file.
    """
    write_whole(path, partial(_pickle, lookup))


def _pickle(value: Any, path: Path) -> None:
    with path.open("wb") as file:
        pickle.dump(value, file, protocol=5)


@lru_cache(maxsize=1)
def read_lookup(path: Path) -> Lookup:
    """Read a lookup; a worker reads it once.

    Raises:
        ReleaseError: If this worker does not reach the file.
    """
    try:
        with path.open("rb") as file:
            lookup: Lookup = pickle.load(file)  # noqa: S301  # written by `copy`, in a folder of its own
    except FileNotFoundError:
        raise ReleaseError(
            f"release: a worker of Dask does not reach the temporary folder {str(path.parents[1])!r}",
            hint=Hint("give a folder that all workers share", parameter="temporary"),
        ) from None
    return lookup
