"""Problems in a TOML file: a name, and any of the parameters of the class."""

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


def problem_names() -> list[str]:
    """Return the names of the problems, built-in ones and those of plug-ins.

    >>> problem_names()[:3]
    ['AnySuppression', 'BudgetSuppression', 'Clusters']
    """
    return registry.names("problems")


def problem_class(name: str, where: str) -> type[AnonymizationProblem]:
    """Return the class of a problem.

    Args:
        name: The name of the problem.
        where: The file and the table, for messages.
    """
    names = problem_names()
    if name not in names:
        raise ConfigError(
            f"{where}: the problem {name!r} is not one of {', '.join(names)}{nearest(name, names)}"
        )
    problem: type[AnonymizationProblem] = registry.load("problems", name)
    return problem


def parameters_of(problem: type[AnonymizationProblem]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a problem that a file can state.

    >>> from privmoo.problems import LevelsAndSuppression
    >>> list(parameters_of(LevelsAndSuppression))
    ['objectives', 'constraints', 'min_k', 'stairs', 'extras', 'threads']
    """
    parameters = dict(inspect.signature(problem).parameters)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        # `**options` are passed on to the base of all problems.
        base = inspect.signature(AnonymizationProblem).parameters
        parameters = {**{name: base[name] for name in _OF_ALL}, **parameters}
    return {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        and name != "table"
        and name not in problem.objects
    }


def check_parameters(name: str, entries: Mapping[str, Any], where: str) -> None:
    """Raise an error if a parameter is unknown or missing; this needs no table.

    Args:
        name: The name of the problem.
        entries: The parameters that the file states.
        where: The file and the table, for messages.
    """
    parameters = parameters_of(problem_class(name, where))
    for key in entries:
        if key not in parameters:
            suggestion = nearest(key, parameters) or f"; there are {', '.join(parameters)}"
            raise ConfigError(f"{where}: {name} has no parameter {key!r}{suggestion}")
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in entries and key not in _OF_ALL:
            raise ConfigError(f"{where}: {name} needs {key!r}")


def problem_of(
    name: str, entries: Mapping[str, Any], table: Table, where: str
) -> AnonymizationProblem:
    """Build a problem with the parameters that the file states.

    Args:
        name: The name of the problem.
        entries: The parameters that the file states.
        table: The table of the problem.
        where: The file and the table, for messages.
    """
    check_parameters(name, entries, where)
    arguments: dict[str, Any] = {
        key: _READERS[key](value, f"{where}, {key}") if key in _READERS else _frozen(value)
        for key, value in entries.items()
    }
    try:
        problem: Any = problem_class(name, where)
        instance: AnonymizationProblem = problem(table, **arguments)
        return instance
    except PrivmooError as error:
        raise ConfigError.of(error, where) from error
    except (TypeError, ValueError, OverflowError, LookupError) as error:
        raise ConfigError(
            f"{where}: {name} cannot be built with these parameters ({type(error).__name__}); check "
            f"{', '.join(arguments) or 'the table'}"
        ) from error


def _frozen(value: Any) -> Any:
    """Turn lists into tuples, at every depth."""
    if isinstance(value, list):
        return tuple(_frozen(entry) for entry in value)
    if isinstance(value, dict):
        return {key: _frozen(entry) for key, entry in value.items()}
    return value
