"""The registry: every measure, policy, recoding, problem, … by its name, built-in or from a plug-in.

Built-in objects are found in the modules of their room, so adding one means adding a file. Another
package announces its own in its pyproject.toml::

    [project.entry-points."privmoo.measures"]
    small_groups = "my_package:SmallGroups"

There is one group of entry points per kind, `privmoo.<kind>`, with the kinds of `KINDS`. A program can
also call `register("measures", "small_groups", SmallGroups)`, which applies to the running process only.
Nothing is imported before its name is used, and an entry point only adds a name: plain
`import my_package` works as well.

`privmoo.testing` checks the objects of a plug-in in the same way as the built-in ones.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from privmoo.errors import PluginError, nearest

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "KINDS",
    "Kind",
    "PluginWarning",
    "built_in_names",
    "contains",
    "load",
    "load_object",
    "modules",
    "names",
    "plugins",
    "register",
    "unregister",
]


class Kind(NamedTuple):
    """Where the built-in objects of a kind are, and what an object of the kind has to be.

    Attributes:
        room: The package whose modules hold the built-in objects.
        expected: What an object has to be, in words.
        bases: Classes as `"module:Class"`, of which an object is a subclass. Without any, objects are
            functions, and a built-in function has the name of its module.
        attribute: The class attribute that holds the name, or a tuple of names.
        instances: Whether an instance of the bases is accepted as well.
        elsewhere: Built-in objects outside of `room`, by name, as `"module:object"`.
    """

    room: str
    expected: str
    bases: tuple[str, ...] = ()
    attribute: str = "__name__"
    instances: bool = False
    elsewhere: tuple[tuple[str, str], ...] = ()


_KINDS = {
    "measures": Kind(
        room="privmoo.measures",
        expected="a Measure",
        bases=("privmoo.measures.base:Measure",),
        attribute="name",
        instances=True,
        elsewhere=(("accuracy", "privmoo.learning.accuracy:ForestAccuracy"),),
    ),
    "policies": Kind(
        room="privmoo.suppression",
        expected="a class derived from Suppression",
        bases=("privmoo.suppression.base:Suppression", "privmoo.suppression.staircase:Staircase"),
    ),
    "recodings": Kind(
        room="privmoo.recodings",
        expected="a class derived from Recoding",
        bases=("privmoo.recodings.base:Recoding",),
        attribute="name",
    ),
    "spaces": Kind(
        room="privmoo.spaces",
        expected="a class derived from SearchSpace",
        bases=("privmoo.spaces.base:SearchSpace",),
    ),
    "problems": Kind(
        room="privmoo.problems",
        expected="a class derived from AnonymizationProblem",
        bases=("privmoo.problem:AnonymizationProblem",),
    ),
    "operators": Kind(
        room="privmoo.operators",
        expected="a class derived from pymoo's Operator or DuplicateElimination",
        bases=("pymoo.core.operator:Operator", "pymoo.core.duplicate:DuplicateElimination"),
    ),
    "baselines": Kind(room="privmoo.baselines", expected="a function of table and k"),
    "datasets": Kind(
        room="privmoo.datasets", expected="a function that returns a Table or a data frame"
    ),
    "engines": Kind(
        room="privmoo.engines",
        expected="a class derived from ScanEngine",
        bases=("privmoo.data.source:ScanEngine",),
        attribute="name",
    ),
}

KINDS = tuple(_KINDS)
"""The kinds of objects that a plug-in can provide."""

_VIEWS = {
    "audit_table": "privmoo.analysis.original_risk:audit_table",
    "explore": "privmoo.explorer.widget:explore",
    "plot_attainment": "privmoo.plot.attainment:plot_attainment",
    "plot_attainment_difference": "privmoo.plot.attainment_difference:plot_attainment_difference",
    "plot_convergence": "privmoo.plot.convergence:plot_convergence",
    "plot_front": "privmoo.plot.fronts:plot_front",
    "plot_front_3d": "privmoo.plot.fronts:plot_front_3d",
    "plot_group_sizes": "privmoo.plot.solutions:plot_group_sizes",
    "plot_heat_maps": "privmoo.plot.heat_maps:plot_heat_maps",
    "plot_indicator": "privmoo.plot.indicators:plot_indicator",
    "plot_loss": "privmoo.plot.solutions:plot_loss",
    "plot_parallel": "privmoo.plot.parallel:plot_parallel",
    "plot_ranking": "privmoo.plot.ranking:plot_ranking",
    "plot_rates": "privmoo.plot.rates:plot_rates",
    "plot_trade_off": "privmoo.plot.trade_off:plot_trade_off",
    "refine": "privmoo.search.refine:refine",
    "report": "privmoo.explorer.page:write_report",
    "search_families": "privmoo.families.search:search_families",
    "thumbnail": "privmoo.plot.fronts:thumbnail",
}
"""Objects of higher rooms that methods of lower rooms call, as "module:object"."""

_registered: dict[tuple[str, str], Any] = {}


class PluginWarning(UserWarning):
    """A plug-in cannot be used and was left out."""


def load(kind: str, name: str) -> Any:
    """Return the object with a name, and import it if necessary.

    Args:
        kind: One of `KINDS`, or `"views"`.
        name: The name of the object.

    Returns:
        The object itself: a class, a function, or a measure made by `@measure`.

    Raises:
        PluginError: If there is no such object, or if a plug-in cannot be used.

    >>> load("policies", "Budget")(0.1)
    Budget(fraction=0.1, by='k')
    >>> load("policies", "Bugdet")
    Traceback (most recent call last):
    privmoo.errors.PluginError: policies: 'Bugdet' is not known; did you mean 'Budget'?
    """
    if kind == "views":
        if name not in _VIEWS:
            raise PluginError(f"{_where(kind, name)} is not known{nearest(name, _VIEWS)}")
        return load_object(_VIEWS[name])
    _check_kind(kind)
    if name in _built_in(kind):
        return load_object(_built_in(kind)[name])
    if (kind, name) in _registered:
        target = _registered[kind, name]
        where = _where(kind, name)
        loaded_object = (
            _load(where, lambda: load_object(target)) if isinstance(target, str) else target
        )
        return _check_target(kind, name, loaded_object, where)
    return _from_entry_point(kind, name)


def names(kind: str) -> list[str]:
    """Return the names of a kind: built-in ones first, then those of plug-ins, each in order.

    Plug-ins are not imported.

    Args:
        kind: One of `KINDS`.

    >>> names("baselines")
    ['k_member', 'local_search', 'local_suppression', 'mdav', 'mondrian', 'univariate', 'ward', 'zheng']
    """
    built_in = built_in_names(kind)
    return [*built_in, *sorted(set(_plugin_names(kind)) - set(built_in))]


def contains(kind: str, name: str) -> bool:
    """Return whether there is an object with a name; a plug-in is not imported.

    Args:
        kind: One of `KINDS`.
        name: The name of the object.

    >>> contains("measures", "k"), contains("measures", "kk")
    (True, False)
    """
    return name in _built_in(_check_kind(kind)) or name in _plugin_names(kind)


def built_in_names(kind: str) -> list[str]:
    """Return the names of the built-in objects of a kind.

    Args:
        kind: One of `KINDS`.

    >>> "ViolatingGroups" in built_in_names("policies")
    True
    """
    return sorted(_built_in(_check_kind(kind)))


def register(kind: str, name: str, target: Any) -> None:
    """Add an object to the registry of this process.

    Worker processes do not see it; a package announces its objects by entry points instead.

    Args:
        kind: One of `KINDS`.
        name: The name to add.
        target: The object, or `"module:object"` to import when the name is first used.

    Raises:
        PluginError: If the name is taken, or if the object is not of the kind.

    >>> register("baselines", "mine", lambda table, k: None)
    >>> "mine" in names("baselines")
    True
    >>> unregister("baselines", "mine")
    """
    _check_kind(kind)
    where = _where(kind, name)
    if (kind, name) in _registered:
        raise PluginError(
            f"{where} is registered already; choose another name, or call unregister first"
        )
    if name in names(kind):
        owner = "privmoo itself" if name in _built_in(kind) else "another plug-in"
        raise PluginError(f"{where} is already provided by {owner}; choose another name")
    if not isinstance(target, str):
        _check_target(kind, name, target, where)
    _registered[kind, name] = target


def unregister(kind: str, name: str) -> None:
    """Remove what `register` added; do nothing if it was not added.

    Args:
        kind: One of `KINDS`.
        name: The name to remove.
    """
    _registered.pop((_check_kind(kind), name), None)


def plugins() -> pd.DataFrame:
    """Return the objects that plug-ins provide: kind, name, package, version, and the object or the error.

    Every plug-in is imported to see whether it works. If it does not, a warning names it.

    >>> list(plugins().columns)
    ['kind', 'name', 'package', 'version', 'object', 'error']
    """
    import pandas as pd

    rows = []
    for kind in KINDS:
        for point in _entry_points(kind):
            target, error = None, ""
            try:
                target = _from_entry_point(kind, point.name)
            except PluginError as problem:
                error = str(problem)
                warnings.warn(f"{error}; it is left out", PluginWarning, stacklevel=2)
            version = "" if point.dist is None else point.dist.version
            rows.append((kind, point.name, _package(point), version, target, error))
    columns = ["kind", "name", "package", "version", "object", "error"]
    return pd.DataFrame(rows, columns=columns).astype({"object": object})


def load_object(target: str) -> Any:
    """Import an object by its path.

    Args:
        target: The path as `"module:object"`.

    >>> load_object("math:sqrt")(4)
    2.0
    """
    module, _, path = target.partition(":")
    return functools.reduce(getattr, path.split("."), importlib.import_module(module))


def modules(package: str) -> dict[str, ModuleType]:
    """Import the modules and sub-packages of a package.

    Args:
        package: The dotted name of the package.

    Returns:
        The modules by their names within the package.

    >>> "run" in modules("privmoo.cli.commands")
    True
    """
    paths = importlib.import_module(package).__path__
    return {
        entry.name: importlib.import_module(f"{package}.{entry.name}")
        for entry in pkgutil.iter_modules(paths)
    }


def _check_kind(kind: str) -> str:
    if kind not in _KINDS:
        raise PluginError(
            f"registry: {kind!r} is not one of {', '.join(KINDS)}{nearest(kind, KINDS)}"
        )
    return kind


def _where(kind: str, name: str) -> str:
    return f"{kind}: {name!r}"


@functools.cache
def _bases(kind: str) -> tuple[type, ...]:
    return tuple(load_object(base) for base in _KINDS[kind].bases)


@functools.cache
def _built_in(kind: str) -> dict[str, str]:
    """Return the built-in objects of a kind by name, as "module:object"."""
    objects = dict(_KINDS[kind].elsewhere)
    for module in modules(_KINDS[kind].room).values():
        for name, attribute in _objects_of(kind, module):
            target = f"{module.__name__}:{attribute}"
            if objects.setdefault(name, target) != target:
                raise PluginError(f"{_where(kind, name)} is both {objects[name]} and {target}")
    return objects


def _objects_of(kind: str, module: ModuleType) -> Iterator[tuple[str, str]]:
    """Return the name and the attribute of every object of the kind that a module defines."""
    bases = _bases(kind)
    if not bases:
        function = module.__name__.rpartition(".")[2]
        if inspect.isfunction(getattr(module, function, None)):
            yield function, function
        return
    for attribute in getattr(module, "__all__", ()):
        target = getattr(module, attribute)
        if target in bases or not _fits(kind, target):
            continue
        for name in _names_of(kind, target):
            yield name, attribute


def _fits(kind: str, target: Any) -> bool:
    bases = _bases(kind)
    if not bases:
        return callable(target)
    if inspect.isclass(target):
        return issubclass(target, bases)
    return _KINDS[kind].instances and isinstance(target, bases)


def _load(where: str, importer: Callable[[], Any]) -> Any:
    try:
        return importer()
    except (Exception, SystemExit) as error:  # whatever foreign code raises
        raise PluginError(
            f"{where} cannot be imported ({type(error).__name__}: {error})"
        ) from error


def _check_target(kind: str, name: str, target: Any, where: str) -> Any:
    if not _fits(kind, target):
        raise PluginError(
            f"{where} must be {_KINDS[kind].expected}, got an object of type {type(target).__name__}"
        )
    if _bases(kind) and name not in _names_of(kind, target):
        raise PluginError(
            f"{where} calls itself {', '.join(map(repr, _names_of(kind, target)))}; files would not find "
            "it, so register it under that name"
        )
    return target


def _names_of(kind: str, target: Any) -> tuple[str, ...]:
    """Return the names that an object gives itself; none if it is abstract."""
    names = getattr(target, _KINDS[kind].attribute, "")
    return tuple(name for name in ((names,) if isinstance(names, str) else names) if name)


def _plugin_names(kind: str) -> list[str]:
    registered_names = [name for group, name in _registered if group == kind]
    return [*registered_names, *(point.name for point in _entry_points(kind))]


def _from_entry_point(kind: str, name: str) -> Any:
    points = [point for point in _entry_points(kind) if point.name == name]
    if not points:
        raise PluginError(f"{_where(kind, name)} is not known{nearest(name, names(kind))}")
    if len(points) > 1:
        packages = " and ".join(sorted(repr(_package(point)) for point in points))
        raise PluginError(f"{_where(kind, name)} is provided by {packages}; uninstall one of them")
    where = f"{_where(kind, name)} of the package {_package(points[0])!r}"
    if name in _built_in(kind):
        raise PluginError(f"{where} has the name of a built-in object; rename it")
    return _check_target(kind, name, _load(where, points[0].load), where)


def _entry_points(kind: str) -> list[EntryPoint]:
    # A folder that is on the path twice lists its packages twice.
    points = {
        (point.name, point.value, _package(point)): point
        for point in entry_points(group=f"privmoo.{kind}")
    }
    return [points[key] for key in sorted(points)]


def _package(point: EntryPoint) -> str:
    return "" if point.dist is None else point.dist.name
