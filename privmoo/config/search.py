"""The search in a TOML file: algorithm, population, budget, seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privmoo.config.section import Section
from privmoo.errors import ConfigError, PrivmooError

if TYPE_CHECKING:
    from privmoo.front.front import Front
    from privmoo.problem import AnonymizationProblem
    from privmoo.search.budgets import RunBudget

__all__ = ["EXACT", "Search"]

EXACT = "exact"
_LARGEST = 1_000_000
_KEYS = ("algorithm", "population", "generations", "evaluations", "seconds", "seed", "focus")


@dataclass(frozen=True)
class Search:
    """The settings of a search.

    Attributes:
        algorithm: A name of `algorithm_names()`, or `"exact"` for the proven front of a problem of
            levels or cuts; the problem's default if not given.
        population: The size of the population; the problem's default if not given.
        generations: The budget in generations.
        evaluations: The budget in evaluations.
        seconds: The budget in seconds; the first budget that is used up ends the search.
        seed: The seed, which makes the search repeatable.
        focus: For each objective, the range of values that matters most, as for `privmoo.optimize`.
    """

    algorithm: str | None = None
    population: int | None = None
    generations: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    seed: int | None = None
    focus: dict[str, Any] | None = None

    @classmethod
    def of(cls, section: Section) -> Search:
        """Read the table [search]."""
        from privmoo.search.algorithms import algorithm_names

        search = cls(
            algorithm=section.choice("algorithm", [*algorithm_names(), EXACT], None),
            population=section.take("population", int, None),
            generations=section.take("generations", int, None),
            evaluations=section.take("evaluations", int, None),
            seconds=section.take("seconds", float, None),
            seed=section.take("seed", int, None),
            focus=section.take("focus", dict, None),
        )
        section.end()
        try:
            search.budget()
        except PrivmooError as error:
            raise ConfigError.of(error, section.where) from error
        if search.algorithm == EXACT:
            for key in ("population", "generations", "evaluations", "focus"):
                if getattr(search, key) is not None:
                    raise ConfigError(
                        f"{section.where}: {key!r} has no meaning for the exact algorithm; leave it out"
                    )
        if search.seed is not None and not 0 <= search.seed < 2**32:
            raise ConfigError(f"{section.where}: 'seed' must be at least 0 and below 2**32")
        if search.population is not None and not 2 <= search.population <= _LARGEST:
            raise ConfigError(
                f"{section.where}: 'population' must be at least 2 and at most {_LARGEST:,}"
            )
        return search

    def budget(self) -> RunBudget | None:
        """Return all budgets of the file combined; None for the problem's default."""
        from privmoo.search.budgets import Evaluations, Generations, Seconds

        budgets: list[RunBudget] = []
        if self.generations is not None:
            budgets.append(Generations(self.generations))
        if self.evaluations is not None:
            budgets.append(Evaluations(self.evaluations))
        if self.seconds is not None:
            budgets.append(Seconds(self.seconds))
        return reduce(or_, budgets) if budgets else None

    def run(
        self,
        problem: AnonymizationProblem,
        *,
        progress: bool = True,
        checkpoint: str | Path | None = None,
    ) -> Front:
        """Search for the front of a problem.

        Args:
            problem: The problem.
            progress: Whether to show a progress bar.
            checkpoint: The file to continue from, as for `privmoo.optimize`.
        """
        from privmoo.exact import exact_front
        from privmoo.search.algorithms import make_algorithm
        from privmoo.search.optimization import optimize

        if self.algorithm == EXACT:
            return exact_front(problem, seconds=self.seconds, progress=progress)
        algorithm: Any = self.algorithm
        if self.population is not None:
            algorithm = make_algorithm(problem, self.algorithm, population=self.population)
        return optimize(
            problem,
            algorithm,
            self.budget(),
            seed=self.seed,
            progress=progress,
            checkpoint=checkpoint,
            polish=self.algorithm is None,
            focus=self.focus,
        )

    def cut_short(self, front: Front) -> bool:
        """Return whether an exact search was interrupted by hand, not by its time."""
        return self.algorithm == EXACT and front.run.get("stopped_by_hand") is True

    def to_dict(self) -> dict[str, Any]:
        """Return what the file states as plain data."""
        return {key: value for key in _KEYS if (value := getattr(self, key)) is not None}
