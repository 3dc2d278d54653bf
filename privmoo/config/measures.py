"""Measures, constraints and suppression policies as a TOML file states them."""

from __future__ import annotations

import inspect
import re
from typing import Any

from privmoo.config.section import Section
from privmoo.errors import ConfigError, PrivmooError, nearest
from privmoo.measures import Constraint, Measure, measure_by_name
from privmoo.suppression import policies as suppression

__all__ = ["constraints_of", "measures_of", "policy_of"]

_SENTENCE = re.compile(r"\s*(\w+)\s*(<=|>=)\s*([-+0-9.eE]+)\s*")
_POLICIES: dict[str, type[suppression.Suppression]] = {
    policy.__name__: policy
    for policy in (
        suppression.NoSuppression,
        suppression.Budget,
        suppression.KLBudget,
        suppression.BelowThreshold,
        suppression.BelowAverage,
    )
}


def measures_of(given: Any, where: str) -> list[Measure]:
    """Measures by name, or tables with `measure`, its parameters and, if wanted, another `name`.

    >>> measures_of(["k", {"measure": "at_risk", "tau": 0.1, "name": "at_risk_10"}], "job.toml")
    [KAnonymity(), RecordsAtRisk(tau=0.1, count=False)]
    """
    if not isinstance(given, list):
        raise ConfigError(f"{where}: must be a list in brackets, such as ['k', 'loss']")
    return [_measure(entry, where)[0] for entry in given]


def constraints_of(given: Any, where: str) -> list[Constraint]:
    """Sentences such as `"k >= 5"`, or tables of a measure with `at_least` or `at_most`.

    >>> constraints_of(["k >= 5", {"measure": "at_risk", "tau": 0.1, "at_most": 0.2}], "job.toml")
    [k >= 5, at_risk <= 0.2]
    """
    if not isinstance(given, list):
        raise ConfigError(f"{where}: must be a list in brackets, such as ['k >= 5']")
    found = []
    for entry in given:
        if isinstance(entry, str):
            sentence = _SENTENCE.fullmatch(entry)
            if sentence is None:
                raise ConfigError(f"{where}: {entry!r} must be like 'k >= 5' or 'loss <= 0.3'")
            measure = _measure(sentence[1], where)[0]
            bounds = {sentence[2]: _number(sentence[3], where)}
        else:
            measure, bounds = _measure(entry, where)
        if len(bounds) != 1:
            raise ConfigError(
                f"{where}: a constraint has either at_least or at_most, {measure.key!r} has "
                f"{'both' if bounds else 'neither'}"
            )
        ((relation, bound),) = bounds.items()
        found.append(measure >= bound if relation == ">=" else measure <= bound)
    return found


def policy_of(given: Any, where: str) -> suppression.Suppression:
    """A table with the name of a `policy` and its parameters, or just the name.

    >>> policy_of({"policy": "Budget", "fraction": 0.1}, "job.toml")
    Budget(fraction=0.1, by='k')
    """
    entries = {"policy": given} if isinstance(given, str) else given
    if not isinstance(entries, dict):
        raise ConfigError(
            f"{where}: must be a table such as {{ policy = 'Budget', fraction = 0.1 }}"
        )
    section = Section(where, entries)
    name = section.choice("policy", _POLICIES)
    made = _POLICIES[name]
    known = list(inspect.signature(made).parameters)
    arguments = section.rest()
    for key in arguments:
        if key not in known:
            raise ConfigError(f"{where}: {name} has no {key!r}{nearest(key, known)}")
    try:
        return made(**arguments)
    except PrivmooError as error:
        raise ConfigError(f"{where}: {error}") from error
    except TypeError:
        raise ConfigError(f"{where}: {name} takes {', '.join(known) or 'nothing'}") from None


def _measure(given: Any, where: str) -> tuple[Measure, dict[str, float]]:
    """A measure, and the bounds that stand beside it."""
    entries = {"measure": given} if isinstance(given, str) else given
    if not isinstance(entries, dict):
        raise ConfigError(f"{where}: a measure is a name in quotes, or a table with 'measure'")
    section = Section(where, entries)
    name, label = section.take("measure", str), section.take("name", str, None)
    bounds = {
        relation: float(value)
        for word, relation in (("at_least", ">="), ("at_most", "<="))
        if (value := section.take(word, float, None)) is not None
    }
    parameters = section.rest()
    try:
        measure = measure_by_name(name, **parameters)
        return (measure if label is None else measure.named(label)), bounds
    except PrivmooError as error:
        raise ConfigError(f"{where}: {error}") from error
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {name!r} cannot be made with {sorted(parameters)}") from error


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{where}: {text!r} is no number") from None
