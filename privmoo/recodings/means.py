"""Means: how the means of classes are published, exactly, rounded or with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import is_number, whole_number
from privmoo.data.facts import mean_digits
from privmoo.data.table import Table
from privmoo.errors import RecodingError, nearest

__all__ = ["Means"]

PerColumn = float | Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Means:
    """How the means of classes are published.

    Whoever knows all members of a class but one computes the last one exactly from an exact mean. From
    a rounded one, the last value of a class of n follows within ± n · step / 2; from one with noise, up
    to noise of n times the scale. Measures and the audit see the values that are published. Modes of
    categories are published as they are.

    Args:
        step: Means are rounded to multiples of it: one number, or one per column by name.
        noise: The scale of Laplace noise on every mean: one number, or one per column by name. Noise
            comes before rounding.
        seed: Draws the same noise again. Whoever knows it can remove the noise, so keep it secret;
            by default the noise is random, and nobody knows a seed.
        repeatable: Whether the noise was drawn with a seed that somebody chose; this may be known, as in a
            file, even if the seed itself is not.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 23], "pay": [10, 13]}), quasi_identifiers=["age", "pay"])
    >>> Means(step={"age": 5}).of(table, np.array([[21.5, 11.5]])).tolist()
    [[20.0, 11.5]]
    """

    step: PerColumn | None = None
    noise: PerColumn | None = None
    seed: int | None = field(default=None, repr=False, compare=False)
    repeatable: bool = field(default=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seed is not None and self.noise is not None:
            object.__setattr__(self, "repeatable", True)
        for name, value in (("step", self.step), ("noise", self.noise)):
            if value is None:
                continue
            numbers = list(value.values()) if isinstance(value, Mapping) else [value]
            if not numbers or not all(is_number(v) and 0 < v < math.inf for v in numbers):
                raise RecodingError(
                    f"means: {name} must be a number above 0, or one for each of some columns, got "
                    f"{value!r}"
                )
        if self.step is None and self.noise is None:
            raise RecodingError("means: give a step, a noise or both, such as Means(step=5)")
        if self.seed is not None:
            whole_number("means: seed", self.seed, at_least=0, error=RecodingError)

    @classmethod
    def from_json(cls, data: Any) -> Means:
        """Return what `to_json` wrote, or a mapping of the arguments such as a job states."""
        if isinstance(data, Means):
            return data
        if not isinstance(data, Mapping) or not {*data} <= {"step", "noise"}:
            raise RecodingError(
                "means: must be Means(step=..., noise=...), or a mapping with these keys"
            )
        return cls(step=data.get("step"), noise=data.get("noise"))

    def to_json(self) -> dict[str, Any]:
        """Return plain data; the seed is not in it."""
        parts = {"step": self.step, "noise": self.noise}
        return {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in parts.items()
            if value is not None
        }

    def of(self, table: Table, centres: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is published instead of exact means.

        Args:
            table: The records.
            centres: Classes × quasi-identifiers: means, and codes of leaves for categories.
        """
        self.check(table)
        values = np.array(centres)
        rng = np.random.default_rng(self.seed)
        digits = mean_digits(table)
        scales = _by_column(table, "noise", self.noise)
        for j, scale in scales.items():
            noisy = values[:, j] + rng.laplace(scale=scale, size=len(values))
            values[:, j] = np.rint(noisy * digits[j]) / digits[j]
        for j, step in _by_column(table, "step", self.step).items():
            places = 12 - math.floor(math.log10(step))  # 3 · 0.1 is 0.3, not 0.30000000000000004
            values[:, j] = np.round(np.rint(values[:, j] / step) * step, places)
        return values + 0.0  # no negative zero

    def check(self, table: Table) -> None:
        """Raise unless it names numeric quasi-identifiers of a table, with steps that are not too fine.

        Args:
            table: The records.
        """
        _by_column(table, "noise", self.noise)
        digits = mean_digits(table)
        for j, step in _by_column(table, "step", self.step).items():
            if step * digits[j] < 1:
                raise RecodingError(
                    f"means: the step of {table.qi_names[j]!r} is finer than the digits of its means; "
                    "take a larger one"
                )


def _by_column(table: Table, part: str, value: PerColumn | None) -> dict[int, float]:
    """Return the value for each quasi-identifier that has one, by its place."""
    numeric = {qi.name: j for j, qi in enumerate(table.qis) if qi.numbers is not None}
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return dict.fromkeys(numeric.values(), float(value))
    for name in value:
        if name not in numeric:
            raise RecodingError(
                f"means: {part} names {name!r}, which is not a numeric quasi-identifier"
                f"{nearest(name, numeric)}"
            )
    return {numeric[name]: float(v) for name, v in value.items()}
