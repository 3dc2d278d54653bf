"""Laplace noise on a published column: rounded to a step, and cut at the ends of the domain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import RecodingError

__all__ = ["Laplace", "unit_of"]

FloatArray = NDArray[np.float64]
_LARGEST_PART = 100


@dataclass(frozen=True, kw_only=True)
class Laplace:
    """The distribution of the noise on a column.

    A draw is rounded to a multiple of the step and added. A sum beyond an end of the domain becomes that
    end.

    Attributes:
        scales: The scale in every part of the column.
        step: The unit to which noise is rounded.
        low: The smallest number of the domain.
        high: The largest number of the domain.
        parts: The part of every record or tuple; all are in the first part if None.
    """

    scales: tuple[float, ...]
    step: float
    low: float = -math.inf
    high: float = math.inf
    parts: NDArray[np.int8] | None = None

    def scale_of(self, units: NDArray[Any]) -> FloatArray:
        """Return the scale for some records or tuples."""
        scales = np.array(self.scales)
        return np.full(len(units), scales[0]) if self.parts is None else scales[self.parts[units]]

    def unchanged(self, values: NDArray[Any], units: NDArray[Any]) -> FloatArray:
        """Compute the probability that the noise leaves a number as it is.

        At an end of the domain, noise beyond it is cut.

        Args:
            values: The numbers before noise.
            units: The record or tuple of every number.

        >>> noise = Laplace(scales=(1.0,), step=1.0, low=0.0, high=9.0)
        >>> noise.unchanged(np.array([5, 9]), np.array([0, 0])).round(3).tolist()
        [0.393, 0.697]
        """
        inside = -np.expm1(-0.5 * self.step / self.scale_of(units))
        ends = (values == self.low).astype(int) + (values == self.high)
        digits = max(0, -math.floor(math.log10(self.step)))
        possible = (
            (np.round(values, digits) == values) & (values >= self.low) & (values <= self.high)
        )
        return np.where(possible, inside + ends * (1 - inside) / 2, 0.0)

    def before_rounding(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the ends of what is rounded and cut to the numbers from `low` to `high`.

        Args:
            low: The smallest published numbers.
            high: The largest ones.

        >>> noise = Laplace(scales=(1.0,), step=1.0, low=0.0, high=9.0)
        >>> [ends.tolist() for ends in noise.before_rounding(np.array([0.0, 4.0]), np.array([3.0, 9.0]))]
        [[-inf, 3.5], [3.5, inf]]
        """
        return (
            np.where(low <= self.low, -np.inf, low - self.step / 2),
            np.where(high >= self.high, np.inf, high + self.step / 2),
        )

    def to_json(self) -> dict[str, Any]:
        """Return step and domain as plain data; an end that is not known is None."""
        ends = [None if math.isinf(end) else end for end in (self.low, self.high)]
        return {"step": self.step, "domain": ends}

    @classmethod
    def from_json(
        cls,
        name: str,
        scales: Sequence[Any],
        data: Mapping[str, Any] | None,
        *,
        parts: NDArray[np.int8],
        numbers: FloatArray,
    ) -> Laplace | None:
        """Read back the noise of a column; None if it has none.

        Args:
            name: The column's name, for errors.
            scales: The scale in every part.
            data: What `to_json` returned. Files of version 0.1 have none: the step is read off the
                numbers then, and the domain has no ends.
            parts: The part of every record.
            numbers: The published numbers.

        Raises:
            RecodingError: There is no such noise.
        """
        if not scales:
            return None
        known_scales = tuple(float(scale) for scale in scales)
        if not all(0 < scale < np.inf for scale in known_scales) or len(scales) > _LARGEST_PART:
            raise RecodingError(f"recoding: {name!r} has noise of impossible scales")
        if not 0 <= parts.min() <= parts.max() < len(known_scales):
            raise RecodingError(f"recoding: {name!r} lacks the noise of some records")
        if data is None:
            return cls(scales=known_scales, step=unit_of(numbers), parts=parts)
        low, high = (
            end if number is None else float(number)
            for number, end in zip(data["domain"], (-math.inf, math.inf), strict=True)
        )
        step = float(data["step"])
        if not (0 < step < np.inf and low <= numbers.min() and numbers.max() <= high):
            raise RecodingError(f"recoding: {name!r} has noise of an impossible step or domain")
        return cls(scales=known_scales, step=step, low=low, high=high, parts=parts)


def unit_of(values: FloatArray) -> float:
    """Return the unit of some numbers: 1, or a power of ten down to a millionth.

    >>> unit_of(np.array([1.0, 2.5]))
    0.1
    """
    for digits in range(7):
        if np.array_equal(np.round(values, digits), values):
            return float(10.0**-digits)
    return 1e-6
