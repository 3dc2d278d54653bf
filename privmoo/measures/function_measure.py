"""Measures made from a function by the decorator `@measure`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Stage
from privmoo.measures.base import NEEDS, Measure, Sense
from privmoo.measures.wording import Wording

__all__ = ["FunctionMeasure", "measure"]


class FunctionMeasure(Measure):
    """A measure made from a function by `@measure`."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str,
        sense: Sense,
        needs: frozenset[str],
        stage: Stage,
        bounds: tuple[float, float],
        **options: Any,
    ) -> None:
        super().__init__()
        self.function = function
        self.name = name  # type: ignore[misc]  # every function has its own
        self.sense = sense  # type: ignore[misc]
        self.needs = needs  # type: ignore[misc]
        self.stage = stage
        self.bounds = bounds
        self.batched: bool = options.pop("batched", False)
        self.__doc__ = function.__doc__
        for attribute, text in options.items():  # label, symbol, unit, percent
            setattr(self, attribute, text)

    @property
    def parameters(self) -> dict[str, Any]:
        """An empty mapping: a measure made from a function has no parameters."""
        return {}

    def batch(self, groups: GroupBatch) -> NDArray[np.float64]:
        """Call the function once per chunk if it is batched, otherwise once per candidate (slow)."""
        if self.batched:
            return np.asarray(self.function(groups), dtype=np.float64)
        worst = self.bounds[1] if self.sense == "min" else self.bounds[0]
        values = np.full(len(groups), worst, dtype=np.float64)  # bounds may be whole numbers
        for c in np.flatnonzero(groups.n_groups):
            value = self.function(groups[int(c)])
            try:
                values[c] = float(value)
            except (TypeError, ValueError):
                raise MeasureError(
                    f"{self.name}: the function must return a number, got {type(value).__name__}"
                ) from None
        return values

    def range(self, table: Table) -> tuple[float, float]:
        """Return the bounds that were declared."""
        return self.bounds

    def __repr__(self) -> str:
        return f"measure {self.name!r} ({self.sense})"


def measure(
    _function: None = None,
    /,
    *,
    sense: Sense | None = None,
    needs: Iterable[str] = ("sizes", "loss"),
    stage: Stage = "after",
    bounds: tuple[float, float] = (-1e300, 1e300),
    batched: bool = False,
    name: str | None = None,
    **wording: Unpack[Wording],
) -> Callable[[Callable[..., Any]], FunctionMeasure]:
    """Make a measure from a function of the QI-groups.

    A plain function takes the groups of one candidate (`Grouping`) and returns a number. It is called once
    per candidate, in Python. This is slow, but problems cache the values. With `batched=True` the function
    takes a chunk of candidates (`GroupBatch`) and returns an array with one number each; it may hand the
    arrays to a function compiled by numba's `njit`.

    Args:
        sense: Whether small values (`"min"`) or large ones (`"max"`) are better.
        needs: The parts of the groups that the function reads: any of sizes, loss, counts, target, labels,
            blocks.
        stage: Whether to read the groups `"after"` or `"before"` suppression.
        bounds: The smallest and the largest value, both finite; a release without records gets the
            worse one.
        batched: Whether the function takes a chunk of candidates.
        name: The name of the measure; the function's by default.
        wording: The words for the values: `label`, `symbol`, `unit` and `percent` as in `Measure`.

    Returns:
        A decorator that turns the function into a measure.

    >>> @measure(sense="min", bounds=(0, 1))
    ... def small_groups(groups):
    ...     return groups.sizes[groups.sizes < 10].sum() / groups.n_records
    >>> small_groups
    measure 'small_groups' (min)
    """
    if _function is not None or sense not in ("min", "max"):
        raise MeasureError(
            f"sense: must be 'min' or 'max', got {sense!r}; write @measure(sense='min') above the function"
        )
    if stage not in ("before", "after"):
        raise MeasureError(f"stage: must be 'before' or 'after', got {stage!r}")
    parts = frozenset(needs)
    if parts - NEEDS:
        raise MeasureError(
            f"needs: unknown {', '.join(sorted(parts - NEEDS))}; known are {', '.join(sorted(NEEDS))}"
        )
    if not (math.isfinite(bounds[0]) and math.isfinite(bounds[1]) and bounds[0] <= bounds[1]):
        raise MeasureError(f"bounds: must be two finite numbers, smallest first, got {bounds!r}")

    def make(function: Callable[..., Any]) -> FunctionMeasure:
        return FunctionMeasure(
            function,
            name=name or cast("str", getattr(function, "__name__", "measure")),
            sense=sense,
            needs=parts,
            stage=stage,
            bounds=bounds,
            batched=batched,
            **wording,
        )

    return make
