"""Problems as a TOML file states them: a name, and any of the parameters of its class."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from privmoo import registry
from privmoo.config.measures import constraints_of, measures_of, policy_of
from privmoo.data.table import Table
from privmoo.errors import ConfigError, PrivmooError, nearest
from privmoo.problem import AnonymizationProblem

__all__ = ["check_parameters", "parameters_of", "problem_class", "problem_names", "problem_of"]

_READERS = {
    "objectives": measures_of,
    "extras": measures_of,
    "constraints": constraints_of,
    "suppression": policy_of,
}
_OF_ALL = (*_READERS, "threads")
# Objects that no file can state; what they are made from can be stated instead.
_UNSTATED = {"table", ("Hybrid", "split")}


def problem_names() -> list[str]:
    """Return the names of the problems, built-in ones and those of plug-ins.

    >>> problem_names()[:3]
    ['AnySuppression', 'BudgetSuppression', 'Clusters']
    """
    return registry.names("problems")


def problem_class(name: str, where: str) -> type[AnonymizationProblem]:
    """Return the class of a problem.

    Args:
        name: Its name.
        where: The file and the table, for messages.
    """
    names = problem_names()
    if name not in names:
        raise ConfigError(
            f"{where}: the problem {name!r} is none of {', '.join(names)}{nearest(name, names)}"
        )
    problem: type[AnonymizationProblem] = registry.load("problems", name)
    return problem


def parameters_of(made: type[AnonymizationProblem]) -> dict[str, inspect.Parameter]:
    """The parameters of a problem that a file can state.

    >>> from privmoo.problems import LevelsAndSuppression
    >>> list(parameters_of(LevelsAndSuppression))
    ['min_k', 'stairs', 'threads']
    """
    stated = dict(inspect.signature(made).parameters)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in stated.values()):
        # `**options` are handed on to the base of all problems.
        base = inspect.signature(AnonymizationProblem).parameters
        stated = {**{name: base[name] for name in _OF_ALL}, **stated}
    return {
        name: parameter
        for name, parameter in stated.items()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        and name not in _UNSTATED
        and (made.__name__, name) not in _UNSTATED
    }


def check_parameters(name: str, given: Mapping[str, Any], where: str) -> None:
    """Raise where a parameter is unknown or missing; needs no table."""
    known = parameters_of(problem_class(name, where))
    for key in given:
        if key not in known:
            hint = nearest(key, known) or f"; there are {', '.join(known)}"
            raise ConfigError(f"{where}: {name} has no parameter {key!r}{hint}")
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in given and key not in _OF_ALL:
            raise ConfigError(f"{where}: {name} needs {key!r}")


def problem_of(
    name: str, given: Mapping[str, Any], table: Table, where: str
) -> AnonymizationProblem:
    """The problem of a name on a table, with the parameters that are stated."""
    check_parameters(name, given, where)
    arguments: dict[str, Any] = {
        key: _READERS[key](value, f"{where}, {key}") if key in _READERS else _frozen(value)
        for key, value in given.items()
    }
    try:
        made: Any = problem_class(name, where)
        found: AnonymizationProblem = made(table, **arguments)
        return found
    except PrivmooError as error:
        raise ConfigError(f"{where}: {error}") from error
    except (TypeError, ValueError, OverflowError, LookupError) as error:
        raise ConfigError(
            f"{where}: {name} cannot be made with these parameters ({type(error).__name__}); look at "
            f"{', '.join(arguments) or 'the table'}"
        ) from error


def _frozen(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    if isinstance(value, list):
        return tuple(_frozen(entry) for entry in value)
    if isinstance(value, dict):
        return {key: _frozen(entry) for key, entry in value.items()}
    return value
