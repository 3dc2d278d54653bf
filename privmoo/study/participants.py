"""Participants of a study: what it keeps of its problems and solvers, and the names that they may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from privmoo.errors import ProblemError
from privmoo.front.quantities import Quantity

__all__ = ["StudiedProblem", "StudiedSolver", "check_name", "check_names"]


@dataclass(frozen=True)
class StudiedProblem:
    """A problem as a study keeps it.

    Attributes:
        name: Its name in tables.
        quantities: What is recorded of every solution, objectives first.
        n_objectives: How many are objectives.
        worst: The worst values of the objectives, as minimised.
        description: The problem as plain data.
    """

    name: str
    quantities: tuple[Quantity, ...]
    n_objectives: int
    worst: tuple[float, ...]
    description: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def objectives(self) -> tuple[Quantity, ...]:
        """The quantities that are optimised."""
        return self.quantities[: self.n_objectives]


@dataclass(frozen=True)
class StudiedSolver:
    """A solver as a study keeps it.

    Attributes:
        name: Its name in tables.
        deterministic: Whether it runs once instead of once per seed.
        settings: Its settings by problem, as plain data.
    """

    name: str
    deterministic: bool
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)


def check_name(name: object, what: str) -> None:
    """Raise if a name does not fit in a cell of a table.

    Args:
        name: The name.
        what: The argument that it is from, for the error.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > 80 or not name.isprintable():
        raise ProblemError(f"{what}: a name must be a short text in one line, got {name!r}")


def check_names(names: Sequence[str], what: str) -> None:
    """Raise if a name occurs twice, or does not fit in a table.

    Args:
        names: The names.
        what: The argument that they are from, for the error.
    """
    for name in names:
        check_name(name, what)
        if list(names).count(name) > 1:
            raise ProblemError(f"{what}: two are called {name!r}; give them names: {{'one': …}}")
