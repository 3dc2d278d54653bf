"""Estimate the number of distinct values from the smallest of their hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.digest import row_hashes

__all__ = ["Sketch"]

_SIZE = 4096


@dataclass(frozen=True)
class Sketch:
    """The smallest hashes of values (k minimum values, Bar-Yossef et al. 2002).

    Attributes:
        smallest: The smallest distinct hashes, sorted.
        present: The number of values that are not missing.

    >>> low, high = Sketch.of(pd.Series(range(600))), Sketch.of(pd.Series(range(300, 900)))
    >>> Sketch.together([low, high]).estimate()
    (900, 1200)
    """

    smallest: NDArray[np.uint64]
    present: int

    @classmethod
    def of(cls, values: pd.Series[Any]) -> Sketch:
        """Return the sketch of a column."""
        values = values.dropna()
        if pd.api.types.is_object_dtype(values.dtype):
            values = values.map(str)
        hashes = pd.util.hash_pandas_object(values, index=False).to_numpy().astype(np.uint64)
        return cls(np.unique(hashes)[:_SIZE].copy(), len(values))

    @classmethod
    def of_rows(cls, frame: pd.DataFrame) -> Sketch:
        """Return the sketch of combinations of values; missing counts as a value."""
        object_columns = [
            str(name) for name in frame if pd.api.types.is_object_dtype(frame[name].dtype)
        ]
        hashes = row_hashes(frame.assign(**{name: frame[name].map(str) for name in object_columns}))
        return cls(np.unique(hashes)[:_SIZE].copy(), len(frame))

    @classmethod
    def together(cls, sketches: Sequence[Sketch]) -> Sketch:
        """Return the sketch of several columns joined end to end."""
        hashes = np.unique(np.concatenate([sketch.smallest for sketch in sketches]))
        return cls(hashes[:_SIZE].copy(), sum(sketch.present for sketch in sketches))

    def estimate(self) -> tuple[int, int]:
        """Return the approximate number of distinct values, and the number of present values."""
        n = len(self.smallest)
        if n == _SIZE:
            n = round((_SIZE - 1) / (float(self.smallest[-1]) / 2**64))
        return min(n, self.present), self.present
