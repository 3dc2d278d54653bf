"""Selection: the solution that a command is about, by its number or by limits and a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privmoo.errors import ProblemError, nearest
from privmoo.front.limits import nothing_within, read_limits, within
from privmoo.front.quantities import find

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privmoo.front import Front

__all__ = ["Selection", "parse_limits"]


@dataclass(frozen=True)
class Selection:
    """The choice of a solution of a front by options.

    Attributes:
        front: The front.
        limits: Limits of quantities, such as `{"max_loss": 0.25}`.
        solution: The number of a solution.
        best: The measure by which a solution is the best within the limits.
        knee: Whether to choose the knee within the limits.
    """

    front: Front
    limits: Mapping[str, float]
    solution: int | None = None
    best: str | None = None
    knee: bool = False

    @classmethod
    def parse(
        cls,
        front: Front,
        arguments: Sequence[str],
        *,
        solution: int | None,
        best: str | None,
        knee: bool,
    ) -> Selection:
        """Read the options of a command.

        Args:
            front: The front.
            arguments: Options that typer does not know, which should be limits.
            solution: The number of a solution, if one is given.
            best: The name of a measure, if one is given.
            knee: Whether to choose the knee.
        """
        limits = parse_limits(arguments)
        keys = [quantity.key for quantity in front.quantities]
        for limit in limits:
            side, _, key = limit.partition("_")
            if key not in keys:
                raise ProblemError(
                    f"--{side}-{key}: there is no {key!r} to limit, only {', '.join(keys)}"
                    f"{nearest(key, keys, prefix=f'--{side}-')}"
                )
        if best is not None:
            find(front.quantities, best, what="--best")
        return cls(front, limits, solution, best, knee)

    @property
    def is_open(self) -> bool:
        """Whether the options do not say which of the solutions within the limits to choose."""
        return self.solution is None and self.best is None and not self.knee

    def number(self) -> int:
        """Return the number of the solution on the whole front."""
        if (self.solution is not None) + (self.best is not None) + self.knee > 1:
            raise ProblemError("choose: give only one of --solution, --best and --knee")
        if self.solution is not None:
            return self._check_number(self.solution)
        numbers = self.within_limits()
        candidates = self.front.rows(numbers)
        choice = candidates.knee() if self.best is None else candidates.best(self.best)
        return int(numbers[choice.index])

    def within_limits(self) -> NDArray[np.intp]:
        """Return the numbers of the solutions within the limits; raise if there are none."""
        if not self.limits:
            return np.arange(len(self.front))
        limits = read_limits(self.front, self.limits, "choose").values()
        numbers = np.flatnonzero(within(self.front, limits))
        if not len(numbers):
            raise ProblemError(nothing_within(self.front, limits, "choose"))
        return numbers

    def _check_number(self, number: int) -> int:
        if self.limits:
            raise ProblemError("choose: limits go with --best or --knee, not with --solution")
        if not 0 <= number < len(self.front):
            raise ProblemError(
                f"choose: there is no solution {number}; the numbers go from 0 to {len(self.front) - 1}"
            )
        return number


def parse_limits(arguments: Sequence[str]) -> dict[str, float]:
    """Read limits from options that typer does not know.

    >>> parse_limits(["--max-loss", "0.25", "--min-k=5"])
    {'max_loss': 0.25, 'min_k': 5.0}
    """
    limits: dict[str, float] = {}
    remaining = list(arguments)
    while remaining:
        name, equals, text = remaining.pop(0).partition("=")
        if not name.startswith(("--max-", "--min-")):
            raise ProblemError(
                f"{name} is not an option; limits look like --max-loss 0.25 or --min-k 5"
            )
        if not equals:
            if not remaining:
                raise ProblemError(f"{name} needs a number, such as {name} 0.25")
            text = remaining.pop(0)
        key = name.removeprefix("--").replace("-", "_")
        if key in limits:
            raise ProblemError(f"{name} is given twice; give it once")
        try:
            limits[key] = float(text)
        except ValueError:
            raise ProblemError(f"{name} needs a number, such as {name} 0.25") from None
    return limits
