"""Plug-ins: measures, problems, operators, baselines and data sets of other packages.

A package names what it brings in its pyproject.toml::

    [project.entry-points."privmoo.measures"]
    small_groups = "my_package:SmallGroups"

The groups are `privmoo.measures` (a Measure or what `@measure` made), `privmoo.problems` (a class of
AnonymizationProblem), `privmoo.operators` (a class of pymoo's Sampling, Crossover, Mutation, Repair or
duplicate elimination), `privmoo.baselines` (a function of table and k that gives a recoding) and
`privmoo.datasets` (a function that gives a Table). Nothing is imported before it is asked for, and plain
`import my_package` works as well: an entry point only adds a name.

`measure_by_name`, `baselines.by_name` and with it `Solver.baseline` know these names; `plugin(kind, name)`
gives any of them. `privmoo.testing` checks yours as it checks the built-in ones.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pandas as pd

from privmoo.errors import PluginError, nearest

__all__ = ["KINDS", "PluginWarning", "load", "load_object", "plugin", "plugin_names", "plugins"]

KINDS = ("measures", "problems", "operators", "baselines", "datasets")


_VIEWS: dict[str, str] = {"heat_maps": "privmoo.plot.heat_maps:plot_heat_maps"}
"""Objects of higher rooms that methods of lower rooms call, as "module:object"."""


def load(kind: str, name: str) -> Any:
    """Import a registered object.

    Args:
        kind: The kind of the object, such as `"views"`.
        name: Its name within the kind.

    Returns:
        The object itself.
    """
    return load_object(_VIEWS[name]) if kind == "views" else plugin(kind, name)


def load_object(path: str) -> Any:
    """Import an object by its path.

    >>> load_object("math:sqrt")(4)
    2.0
    """
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)


class PluginWarning(UserWarning):
    """A plug-in cannot be used, and was left out."""


def plugins() -> pd.DataFrame:
    """What other packages bring: kind, name, package, version, and the object or the error.

    Every plug-in is imported to see whether it works; one that does not is named in a warning.

    >>> list(plugins().columns)
    ['kind', 'name', 'package', 'version', 'object', 'error']
    """
    rows = []
    for kind in KINDS:
        for point in _points(kind):
            found, error = None, ""
            try:
                found = plugin(kind, point.name)
            except PluginError as problem:
                error = str(problem)
                warnings.warn(f"{error}; it is left out", PluginWarning, stacklevel=2)
            package = point.dist
            rows.append(
                {
                    "kind": kind,
                    "name": point.name,
                    "package": "" if package is None else package.name,
                    "version": "" if package is None else package.version,
                    "object": found,
                    "error": error,
                }
            )
    columns = ["kind", "name", "package", "version", "object", "error"]
    return pd.DataFrame(rows, columns=columns).astype({"object": object})


def plugin_names(kind: str) -> list[str]:
    """Names of the plug-ins of a kind, without importing them.

    >>> plugin_names("measures")
    []
    """
    return sorted({point.name for point in _points(_known(kind))})


def plugin(kind: str, name: str) -> Any:
    """One plug-in, imported now.

    Args:
        kind: `"measures"`, `"problems"`, `"operators"`, `"baselines"` or `"datasets"`.
        name: As its package calls it.

    >>> plugin("measures", "unheard_of")
    Traceback (most recent call last):
    privmoo.errors.PluginError: plugin: no package brings 'unheard_of' as one of measures
    """
    points = [point for point in _points(_known(kind)) if point.name == name]
    if not points:
        names = plugin_names(kind)
        raise PluginError(
            f"plugin: no package brings {name!r} as one of {kind}{nearest(name, names)}"
        )
    where = f"plugin: {name!r} of {_package(points[0])!r}"
    if len(points) > 1:
        packages = " and ".join(sorted(repr(_package(point)) for point in points))
        raise PluginError(f"plugin: {packages} both bring {name!r} as one of {kind}")
    if name in _own(kind):
        raise PluginError(f"{where} has the name of one of privmoo's own {kind}")
    try:
        found = points[0].load()
    except (Exception, SystemExit) as error:  # whatever foreign code raises
        raise PluginError(
            f"{where} cannot be imported ({type(error).__name__}: {error})"
        ) from error
    fits, expected = _EXPECTED[kind]
    if not fits(found):
        raise PluginError(f"{where} must be {expected}, is {type(found).__name__}")
    return found


def _points(kind: str) -> list[EntryPoint]:
    # A folder that is on the path twice gives its packages twice.
    found = {
        (point.name, point.value, _package(point)): point
        for point in entry_points(group=f"privmoo.{kind}")
    }
    return [found[key] for key in sorted(found)]


def _package(point: EntryPoint) -> str:
    return "" if point.dist is None else point.dist.name


def _known(kind: str) -> str:
    if kind not in KINDS:
        raise PluginError(f"plugin: {kind!r} is none of {', '.join(KINDS)}{nearest(kind, KINDS)}")
    return kind


def _own(kind: str) -> list[str]:
    if kind == "measures":
        from privmoo.measures import names

        return names()
    if kind == "baselines":
        from privmoo.baselines import names as own

        return own()
    return []


def _is_measure(found: Any) -> bool:
    from privmoo.measures.base import Measure

    return isinstance(found, Measure) or (inspect.isclass(found) and issubclass(found, Measure))


def _is_problem(found: Any) -> bool:
    from privmoo.problem import AnonymizationProblem

    return inspect.isclass(found) and issubclass(found, AnonymizationProblem)


def _is_operator(found: Any) -> bool:
    from pymoo.core.duplicate import DuplicateElimination
    from pymoo.core.operator import Operator

    return inspect.isclass(found) and issubclass(found, Operator | DuplicateElimination)


_EXPECTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "measures": (_is_measure, "a Measure"),
    "problems": (_is_problem, "a class of AnonymizationProblem"),
    "operators": (_is_operator, "a class of pymoo's operators"),
    "baselines": (callable, "a function of table and k"),
    "datasets": (callable, "a function that gives a Table"),
}
