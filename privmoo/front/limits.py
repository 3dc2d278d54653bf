"""Limits: bounds on recorded quantities, such as `max_loss=0.25`, and the solutions within them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import is_number
from privmoo.errors import ProblemError, nearest
from privmoo.front.quantities import Quantity

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["Limit", "check_value", "nothing_within", "read_limits", "within"]

_ROUNDING = 1e-12  # a loss of 0.4 may come out as 0.4000000000000001


@dataclass(frozen=True)
class Limit:
    """A bound on one recorded quantity.

    Attributes:
        quantity: What is bounded.
        side: Whether the bound is the largest (`"max"`) or the smallest (`"min"`) value allowed.
        bound: The bound, in the quantity's natural sense.

    >>> print(Limit(Quantity("loss", "loss", "min", best=0.0, worst=1.0), "max", 0.25))
    loss ≤ 25 %
    """

    quantity: Quantity
    side: Literal["max", "min"]
    bound: float

    @classmethod
    def wish(cls, quantity: Quantity, value: float) -> Limit:
        """Return the limit of a wish: the value or better.

        Args:
            quantity: What is wished for.
            value: The value that is good enough.
        """
        return cls(quantity, "min" if quantity.sense == "max" else "max", value)

    def __str__(self) -> str:
        relation = "≤" if self.side == "max" else "≥"
        return f"{self.quantity.words} {relation} {self.quantity.write(self.bound)}"

    def excess(self, front: Front) -> NDArray[np.float64]:
        """Return how far every solution is beyond the bound: at most 0 where it is within."""
        column = front.column(self.quantity.key)
        return column - self.bound if self.side == "max" else self.bound - column

    def holds(self, front: Front) -> NDArray[np.bool_]:
        """Return which solutions are within the bound, with a tolerance for rounding."""
        within_bound = self.excess(front) <= _ROUNDING * max(1.0, abs(self.bound))
        return np.asarray(within_bound)


def read_limits(front: Front, bounds: Mapping[str, float], method: str) -> dict[str, Limit]:
    """Return the limits that keyword arguments such as `max_loss=0.25` set.

    Args:
        front: The front whose quantities are bounded.
        bounds: Bounds by `max_` or `min_` and the key of a quantity.
        method: The method that was called, for errors.

    Raises:
        ProblemError: A name is not the name of a limit, or a bound is impossible.
    """
    quantities = {q.key: q for q in front.quantities}
    limits: dict[str, Limit] = {}
    for name, bound in bounds.items():
        side, _, key = name.partition("_")
        if side not in ("max", "min") or key not in quantities:
            raise ProblemError(
                f"{method}: {name!r} is not max_ or min_ and a recorded quantity; recorded are "
                f"{', '.join(quantities)}{_suggestion(name, quantities)}"
            )
        check_value(quantities[key], name, bound, method)
        limits[name] = Limit(quantities[key], "max" if side == "max" else "min", bound)
    return limits


def _suggestion(name: str, quantities: Mapping[str, Quantity]) -> str:
    if name in quantities:
        side = "min" if quantities[name].sense == "max" else "max"
        return f"; did you mean {f'{side}_{name}'!r}?"
    side, _, key = name.partition("_")
    if side in ("max", "min"):
        return nearest(key, quantities, prefix=f"{side}_")
    return nearest(name, [f"{side}_{key}" for key in quantities for side in ("max", "min")])


def check_value(quantity: Quantity, name: str, value: Any, method: str) -> None:
    """Raise if a value is not a number, or is a percentage instead of a fraction.

    Args:
        quantity: The quantity that has the value.
        name: The argument's name, for the error.
        value: What was passed.
        method: The method that was called, for the error.

    Raises:
        ProblemError: The value is not possible.
    """
    if not is_number(value):
        raise ProblemError(f"{method}: {name} must be a number, got {value!r}")
    low, high = sorted((quantity.best, quantity.worst))
    # A reader who thinks in percent would otherwise get everything, or nothing.
    if 0 <= low < high <= 1 < value < math.inf:
        hint = f"; did you mean {value / 100:g}?" if value <= 100 else ""
        raise ProblemError(
            f"{method}: {name} = {value:g} is above the largest possible value {high:g}{hint}"
        )


def within(front: Front, limits: Iterable[Limit]) -> NDArray[np.bool_]:
    """Return which solutions are within all limits.

    Args:
        front: The front.
        limits: The limits.
    """
    inside = np.ones(len(front), dtype=np.bool_)
    for limit in limits:
        inside &= limit.holds(front)
    return inside


def nothing_within(front: Front, limits: Iterable[Limit], method: str) -> str:
    """Return the error sentence for limits that no solution is within.

    Args:
        front: The front.
        limits: The limits.
        method: The method that was called.
    """
    limits = list(limits)
    demand = " and ".join(map(str, limits))
    if not len(front):
        return f"{method}: the front is empty, so no solution has {demand}"
    spans = "; ".join(
        f"{q.words} goes from {q.write(column.min())} to {q.write(column.max())}"
        for q in dict.fromkeys(limit.quantity for limit in limits)
        for column in (front.column(q.key),)
    )
    return f"{method}: no solution of the front has {demand}; {spans}"
