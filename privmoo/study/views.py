"""The pictures of a study, as methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmoo.study.study import Study


def plot_convergence(
    self: Study,
    problem: str | None = None,
    *,
    indicator: str = "hypervolume",
    ax: Axes | None = None,
) -> Axes:
    """Draw an indicator over the budget; see `privmoo.plot.plot_convergence`."""
    from privmoo.plot.convergence import plot_convergence as draw

    return draw(self, problem, indicator=indicator, ax=ax)


def plot_indicator(
    self: Study,
    problem: str | None = None,
    *,
    indicator: str = "hypervolume",
    ax: Axes | None = None,
) -> Axes:
    """Draw boxes of an indicator, one per solver; see `privmoo.plot.plot_indicator`."""
    from privmoo.plot.indicators import plot_indicator as draw

    return draw(self, problem, indicator=indicator, ax=ax)


def plot_attainment(
    self: Study,
    problem: str | None = None,
    *,
    objectives: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what runs attain; see `privmoo.plot.plot_attainment`."""
    from privmoo.plot.attainment import plot_attainment as draw

    return draw(self.fronts(problem), objectives=objectives, colours=_places(self), ax=ax)


def plot_attainment_difference(
    self: Study,
    first: str,
    second: str,
    problem: str | None = None,
    *,
    objectives: Sequence[str] | None = None,
) -> list[Axes]:
    """Draw where one solver attains more often than another.

    See `privmoo.plot.plot_attainment_difference`.
    """
    from privmoo.errors import ProblemError, nearest
    from privmoo.plot.attainment_difference import plot_attainment_difference as draw

    fronts = self.fronts(problem)
    for name in (first, second):
        if name not in fronts:
            raise ProblemError(
                f"solver: {name!r} has no front; there are those of {', '.join(fronts)}"
                f"{nearest(name, fronts)}"
            )
    both = {name: fronts[name] for name in (first, second)}
    return draw(both, objectives=objectives, colours=_places(self))


def _places(study: Study) -> dict[str, int]:
    """A solver has the same colour in every picture, also where another is missing."""
    return {solver.name: i for i, solver in enumerate(study.solvers)}


def plot_ranking(
    self: Study,
    *,
    indicator: str = "hypervolume",
    alpha: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Draw mean ranks over problems; see `privmoo.plot.plot_ranking`."""
    from privmoo.plot.ranking import plot_ranking as draw

    return draw(self.ranking(indicator, alpha=alpha), ax=ax)
