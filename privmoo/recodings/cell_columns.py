"""CellColumn: what every record publishes of one quasi-identifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ReleaseError

__all__ = ["CellColumn", "Kind"]

Kind = Literal["nodes", "numbers", "intervals"]


@dataclass(frozen=True)
class CellColumn:
    """What every record publishes of one quasi-identifier.

    Attributes:
        kind: `"nodes"` of its hierarchy, `"numbers"`, or `"intervals"` of numbers.
        codes: The cell of every record: its place in `NodeCells`, or in `low` and `high`.
        low: The number, or the lower end.
        high: The same number, or the upper end.
        scales: The scale of the noise in every part of the records; none where there is no noise.
    """

    kind: Kind
    codes: NDArray[np.int32]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    scales: tuple[float, ...] = ()

    @classmethod
    def of_numbers(cls, values: NDArray[np.float64], step: float | None = None) -> CellColumn:
        """One number per record; `step`, if they are its multiples, spares the search for equal ones."""
        low, high = float(values.min()), float(values.max())
        if step == 1.0 and high - low < len(values):
            grid = np.asarray(low + np.arange(int(high - low) + 1), np.float64)
            return cls("numbers", np.rint(values - low).astype(np.int32), grid, grid)
        distinct, codes = np.unique(values, return_inverse=True)
        return cls("numbers", codes.astype(np.int32), distinct, distinct)

    @classmethod
    def of_intervals(
        cls, low: NDArray[np.float64], high: NDArray[np.float64], owner: NDArray[np.int64]
    ) -> CellColumn:
        """The interval that owns every record."""
        ends, place = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
        codes = place.ravel()[owner].astype(np.int32)
        return cls("intervals", codes, ends[:, 0].copy(), ends[:, 1].copy())

    @property
    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both ends of every cell of numbers."""
        if self.low is None or self.high is None:
            raise ReleaseError("recoding: nodes of a hierarchy have no numbers as ends")
        return self.low, self.high

    def __len__(self) -> int:
        return 0 if self.low is None else len(self.low)
