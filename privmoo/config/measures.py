"""Measures, constraints and suppression policies in a TOML file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from privmoo import registry
from privmoo.config.section import Section
from privmoo.errors import ConfigError, PrivmooError
from privmoo.measures import Constraint, Measure, constraint_from, measure_from
from privmoo.suppression import Suppression, policy_from

__all__ = ["constraints_of", "measures_of", "policy_of"]

Built = TypeVar("Built")


def measures_of(entries: Any, where: str) -> list[Measure]:
    """Build measures from a list of names, or of tables with `measure` and its parameters.

    Args:
        entries: The list of the file.
        where: The file and the table, for messages.

    >>> measures_of(["k", {"measure": "at_risk", "tau": 0.1, "name": "at_risk_10"}], "job.toml")
    [KAnonymity(), RecordsAtRisk(tau=0.1, count=False)]
    """
    if not isinstance(entries, list):
        raise ConfigError(f"{where}: must be a list in brackets, such as ['k', 'loss']")
    return [_read(measure_from, entry, where) for entry in entries]


def constraints_of(entries: Any, where: str) -> list[Constraint]:
    """Build constraints from sentences, or from tables of a measure with `at_least` or `at_most`.

    Args:
        entries: The list of the file.
        where: The file and the table, for messages.

    >>> constraints_of(["k >= 5", {"measure": "at_risk", "tau": 0.1, "at_most": 0.2}], "job.toml")
    [k >= 5, at_risk <= 0.2]
    """
    if not isinstance(entries, list):
        raise ConfigError(f"{where}: must be a list in brackets, such as ['k >= 5']")
    return [_read(constraint_from, entry, where) for entry in entries]


def policy_of(entry: Any, where: str) -> Suppression:
    """Build a policy from its name, or from a table with the name of the `policy` and its parameters.

    Args:
        entry: The entry of the file.
        where: The file and the table, for messages.

    >>> policy_of({"policy": "ViolatingGroups", "constraints": ["k >= 5"]}, "job.toml")
    ViolatingGroups(k >= 5)
    """
    entries = {"policy": entry} if isinstance(entry, str) else entry
    if not isinstance(entries, dict):
        raise ConfigError(
            f"{where}: must be a table such as {{ policy = 'Budget', fraction = 0.1 }}"
        )
    Section(where, entries).choice("policy", registry.names("policies"))
    return _read(policy_from, entries, where)


def _read(reader: Callable[[Any], Built], entry: Any, where: str) -> Built:
    try:
        return reader(entry)
    except PrivmooError as error:
        raise ConfigError.of(error, where) from error
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError(
            f"{where}: cannot be built with these parameters ({type(error).__name__})"
        ) from error
