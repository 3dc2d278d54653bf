"""About how many distinct values there are, from the smallest of their hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["Sketch"]

_KEPT = 4096


@dataclass(frozen=True)
class Sketch:
    """The smallest hashes of values (k minimum values, Bar-Yossef et al. 2002), and present values.

    >>> one, other = Sketch.of(pd.Series(range(600))), Sketch.of(pd.Series(range(300, 900)))
    >>> Sketch.together([one, other]).estimate()
    (900, 1200)
    """

    smallest: NDArray[np.uint64]
    present: int

    @classmethod
    def of(cls, values: pd.Series[Any]) -> Sketch:
        """The sketch of a column."""
        values = values.dropna()
        if pd.api.types.is_object_dtype(values.dtype):
            values = values.map(str)
        hashes = pd.util.hash_pandas_object(values, index=False).to_numpy().astype(np.uint64)
        return cls(np.unique(hashes)[:_KEPT].copy(), len(values))

    @classmethod
    def together(cls, sketches: Sequence[Sketch]) -> Sketch:
        """The sketch of several columns, one below the other."""
        hashes = np.unique(np.concatenate([one.smallest for one in sketches]))
        return cls(hashes[:_KEPT].copy(), sum(one.present for one in sketches))

    def estimate(self) -> tuple[int, int]:
        """About how many distinct values, and how many values."""
        n = len(self.smallest)
        if n == _KEPT:
            n = round((_KEPT - 1) / (float(self.smallest[-1]) / 2**64))
        return min(n, self.present), self.present
