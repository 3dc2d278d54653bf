"""Budgets: how long a run may search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from privmoo._util.checks import positive, whole_number
from privmoo.errors import ProblemError

__all__ = ["Evaluations", "Generations", "RunBudget", "RunState", "Seconds", "Stalled", "as_budget"]


@dataclass
class RunState:
    """The state of a run after a generation.

    Attributes:
        generation: Generations done.
        evaluations: Candidates evaluated, those answered from the cache included.
        seconds: Time used, that of an interrupted part included and that of compiling not.
        hypervolume: Returns the share of the ideal box that the front so far dominates.
    """

    generation: int
    evaluations: int
    seconds: float
    hypervolume: Callable[[], float]


class RunBudget(ABC):
    """Base of all budgets, which decide when a run ends; `a | b` ends when either does.

    >>> Generations(250) | Seconds(60)
    Generations(250) | Seconds(60)
    """

    reproducible: bool = True

    @abstractmethod
    def fraction(self, state: RunState) -> float:
        """Return how much of the budget is used; the run ends at 1. It is called after every generation."""

    def fresh(self) -> RunBudget:
        """Return the budget for a new run, without what it remembers of an earlier one."""
        return self

    def share(self, fraction: float) -> RunBudget:
        """Return a part of the budget, for one of several runs; a budget without a size stays as it is."""
        return self

    def rest(self, used: RunState) -> RunBudget:
        """Return what a run has left over for others; a budget without a size is the same.

        >>> used = RunState(generation=4, evaluations=800, seconds=2.5, hypervolume=float)
        >>> Generations(10).rest(used), Seconds(60).rest(used)
        (Generations(6), Seconds(57.5))
        """
        return self

    def __or__(self, other: RunBudget) -> RunBudget:
        return _Either((*parts_of(self), *parts_of(as_budget(other))))


@dataclass(frozen=True)
class Generations(RunBudget):
    """A number of generations; `budget=250` is short for `Generations(250)`.

    >>> Generations(250)
    Generations(250)
    """

    number: int

    def __post_init__(self) -> None:
        whole_number("budget", self.number)

    def fraction(self, state: RunState) -> float:
        """Return the share of the generations that are done."""
        return state.generation / self.number

    def share(self, fraction: float) -> RunBudget:
        """Return a share of the generations, at least one."""
        return Generations(max(1, round(self.number * fraction)))

    def rest(self, used: RunState) -> RunBudget:
        """Return the generations that are left, at least one."""
        return Generations(max(1, self.number - used.generation))

    def __repr__(self) -> str:
        return f"Generations({self.number})"


@dataclass(frozen=True)
class Evaluations(RunBudget):
    """A number of evaluated candidates; the generation that reaches it is completed.

    >>> Evaluations(50_000)
    Evaluations(50000)
    """

    number: int

    def __post_init__(self) -> None:
        whole_number("budget", self.number)

    def fraction(self, state: RunState) -> float:
        """Return the share of the evaluations that are done."""
        return state.evaluations / self.number

    def share(self, fraction: float) -> RunBudget:
        """Return a share of the evaluations, at least one."""
        return Evaluations(max(1, round(self.number * fraction)))

    def rest(self, used: RunState) -> RunBudget:
        """Return the evaluations that are left, at least one."""
        return Evaluations(max(1, self.number - used.evaluations))

    def __repr__(self) -> str:
        return f"Evaluations({self.number})"


@dataclass(frozen=True)
class Seconds(RunBudget):
    """A time in seconds; the generation in which it runs out is completed.

    The time in which kernels are compiled, once on a machine, does not count.
    How many generations fit differs from run to run: `front.run["reproducible"]` is False, and
    `Generations(front.run["generations"])` repeats such a run.

    >>> Seconds(60)
    Seconds(60)
    """

    number: float
    reproducible = False

    def __post_init__(self) -> None:
        positive("budget", self.number)

    def fraction(self, state: RunState) -> float:
        """Return the share of the time that is used."""
        return state.seconds / self.number

    def share(self, fraction: float) -> RunBudget:
        """Return a share of the time."""
        return Seconds(self.number * fraction)

    def rest(self, used: RunState) -> RunBudget:
        """Return the time that is left; a moment if there is none, in which a run has one generation."""
        return Seconds(max(1e-3, self.number - used.seconds))

    def __repr__(self) -> str:
        return f"Seconds({self.number:g})"


class Stalled(RunBudget):
    """A search that ends when the hypervolume stalls.

    Args:
        generations: The run ends when the hypervolume, as a share of the ideal box, has grown by less
            than `tolerance` over this many generations.
        tolerance: The least growth that counts as progress.
        at_most: The run ends after this many generations in any case.

    >>> Stalled(30)
    Stalled(30, tolerance=0.0001, at_most=10000)
    """

    def __init__(
        self, generations: int = 30, *, tolerance: float = 1e-4, at_most: int = 10_000
    ) -> None:
        self.generations = whole_number("generations", generations)
        self.tolerance = positive("tolerance", tolerance)
        self.at_most = whole_number("at_most", at_most)
        self._history: list[float] = []

    def fresh(self) -> RunBudget:
        """Return an equal budget that has seen no run yet."""
        return Stalled(self.generations, tolerance=self.tolerance, at_most=self.at_most)

    def fraction(self, state: RunState) -> float:
        """Return 1 when the search stalls, and before that the share of `at_most` that is done."""
        self._history.append(state.hypervolume())
        if len(self._history) > self.generations:
            before = self._history[-1 - self.generations]
            # Zero means that nothing feasible was found: then it searches on.
            if self._history[-1] > 0 and self._history[-1] - before < self.tolerance:
                return 1.0
        return state.generation / self.at_most

    def __repr__(self) -> str:
        return f"Stalled({self.generations}, tolerance={self.tolerance:g}, at_most={self.at_most})"


class _Either(RunBudget):
    def __init__(self, parts: tuple[RunBudget, ...]) -> None:
        self.parts = parts
        self.reproducible = all(part.reproducible for part in parts)

    def fresh(self) -> RunBudget:
        return _Either(tuple(part.fresh() for part in self.parts))

    def share(self, fraction: float) -> RunBudget:
        return _Either(tuple(part.share(fraction) for part in self.parts))

    def rest(self, used: RunState) -> RunBudget:
        return _Either(tuple(part.rest(used) for part in self.parts))

    def fraction(self, state: RunState) -> float:
        return max(part.fraction(state) for part in self.parts)

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.parts))


def parts_of(budget: RunBudget) -> tuple[RunBudget, ...]:
    """Return the budgets that a joined budget consists of.

    >>> parts_of(Generations(250) | Seconds(60))
    (Generations(250), Seconds(60))
    """
    return budget.parts if isinstance(budget, _Either) else (budget,)


def as_budget(budget: object) -> RunBudget:
    """Return a budget as it is, and a number as that many generations.

    >>> as_budget(250)
    Generations(250)
    """
    if isinstance(budget, RunBudget):
        return budget
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise ProblemError(
            "budget: must be a number of generations, Generations(…), Evaluations(…), Seconds(…) or "
            f"Stalled(…), got {budget!r}"
        )
    return Generations(budget)
