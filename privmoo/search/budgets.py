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
    """Where a run stands after a generation.

    Attributes:
        generation: Generations done.
        evaluations: Candidates evaluated, those answered from the cache included.
        seconds: Time used, that of an interrupted part included.
        hypervolume: Gives the share of the ideal box that the front so far dominates.
    """

    generation: int
    evaluations: int
    seconds: float
    hypervolume: Callable[[], float]


class RunBudget(ABC):
    """When a run ends; `a | b` ends when either does.

    >>> Generations(250) | Seconds(60)
    Generations(250) | Seconds(60)
    """

    reproducible: bool = True

    @abstractmethod
    def fraction(self, state: RunState) -> float:
        """How much of the budget is used: at 1 the run ends. Called once after every generation."""

    def fresh(self) -> RunBudget:
        """The budget as a new run needs it."""
        return self

    def __or__(self, other: RunBudget) -> RunBudget:
        return _Either((*parts_of(self), *parts_of(as_budget(other))))


@dataclass(frozen=True)
class Generations(RunBudget):
    """A number of generations; a plain integer means the same.

    >>> Generations(250)
    Generations(250)
    """

    number: int

    def __post_init__(self) -> None:
        whole_number("budget", self.number)

    def fraction(self, state: RunState) -> float:
        """Share of the generations done."""
        return state.generation / self.number

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
        """Share of the evaluations done."""
        return state.evaluations / self.number

    def __repr__(self) -> str:
        return f"Evaluations({self.number})"


@dataclass(frozen=True)
class Seconds(RunBudget):
    """A time; the generation in which it ends is completed.

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
        """Share of the time used."""
        return state.seconds / self.number

    def __repr__(self) -> str:
        return f"Seconds({self.number:g})"


class Stalled(RunBudget):
    """Until the hypervolume stalls.

    Args:
        generations: Ends when the hypervolume, as a share of the ideal box, grew by less than
            `tolerance` over this many generations.
        tolerance: That share.
        at_most: Ends after this many generations anyway.

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
        """The same without a memory."""
        return Stalled(self.generations, tolerance=self.tolerance, at_most=self.at_most)

    def fraction(self, state: RunState) -> float:
        """1 when it stalls; before, the share of the largest number of generations."""
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

    def fraction(self, state: RunState) -> float:
        return max(part.fraction(state) for part in self.parts)

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.parts))


def parts_of(budget: RunBudget) -> tuple[RunBudget, ...]:
    """The budgets that one is joined of.

    >>> parts_of(Generations(250) | Seconds(60))
    (Generations(250), Seconds(60))
    """
    return budget.parts if isinstance(budget, _Either) else (budget,)


def as_budget(budget: object) -> RunBudget:
    """A budget, or a number of generations, as a budget.

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
