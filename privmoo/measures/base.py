"""Measure and Constraint: a named number of a candidate's QI-groups, and a bound on it."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from privmoo.audit.formulas import OF_GROUPS, OF_VALUES
from privmoo.data.table import Table
from privmoo.errors import Hint, MeasureError, nearest
from privmoo.groups.groups import GroupBatch, Grouping, Stage

if TYPE_CHECKING:
    from privmoo.suppression.staircase import Steps

__all__ = ["NEEDS", "Constraint", "FloatArray", "Measure", "Sense"]

FloatArray = NDArray[np.float64]
Sense = Literal["min", "max"]
NEEDS = frozenset({"sizes", "loss", "counts", "target", "labels", "blocks"})
"""The parts of the QI-groups that a measure can read."""


_Initialise = TypeVar("_Initialise", bound=Callable[..., None])


def _explain_arguments(initialise: _Initialise) -> _Initialise:
    """Make a constructor explain what to write if it gets arguments that it does not accept."""
    signature = inspect.signature(initialise)
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return initialise

    @wraps(initialise)
    def explained(self: Measure, *arguments: Any, **options: Any) -> None:
        try:
            signature.bind(self, *arguments, **options)
        except TypeError:
            raise MeasureError(_wrong_arguments(self, signature, arguments, options)) from None
        initialise(self, *arguments, **options)

    return cast(_Initialise, explained)


def _wrong_arguments(
    measure: Measure,
    signature: inspect.Signature,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> str:
    """Return why a constructor does not accept its arguments, and how to write a constraint."""
    name = type(measure).__name__
    constructor = list(signature.parameters.items())[1:]
    parameters = {key: p for key, p in constructor if p.kind is not p.VAR_KEYWORD}
    takes_any_option = len(parameters) < len(constructor)
    relation = ">=" if measure.sense == "max" else "<="
    positional = [p for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    argument_list = ", ".join(map(repr, arguments[: len(positional)]))
    parameter_list = (
        f"its parameters are {', '.join(parameters)}" if parameters else "it has no parameters"
    )
    if len(arguments) > len(positional):
        stray = arguments[-1]
        if isinstance(stray, int | float):
            return (
                f"{name} does not take the bound {stray!r}; for a constraint write "
                f"{name}({argument_list}) {relation} {stray!r}"
            )
        return f"{name} does not take an argument of type {type(stray).__name__} here; {parameter_list}"
    for key, value in options.items():
        if takes_any_option or key in parameters:
            continue
        suggestion = nearest(key, parameters)
        if not suggestion and isinstance(value, int | float):
            suggestion = f"; for a constraint write {name}({argument_list}) {relation} {value!r}"
        return f"{name} has no parameter {key!r}{suggestion or f'; {parameter_list}'}"
    missing = [
        key
        for key, p in list(parameters.items())[len(arguments) :]
        if p.default is p.empty and key not in options
    ]
    if missing:
        return f"{name} needs the parameter {missing[0]!r}; write {name}({missing[0]}=...)"
    return f"{name} got one parameter twice; {parameter_list}"


class Measure:
    """Base of all measures: they are objectives, constraints (`measure >= value`) and lines of reports.

    A subclass sets the class attributes and defines `batch` and `range`.

    Attributes:
        name: Short name; the column of a front.
        sense: Whether less or more is better.
        needs: The parts of the groups that the measure reads: `sizes`, `loss`, `counts` (of the sensitive
            attributes), `target` (counts of the target), `labels` (the group of every tuple), `blocks`.
        stage: Whether it reads the groups after suppression (the release) or before.
        audited: Whether it is a function of the released rows alone, so that an auditor can check it.
        definition: The version of its formula. A file keeps it, so that values by an older formula are
            not taken for today's.
        coarser: "better" if merging groups can only improve the value, "worse" if it can only worsen it,
            None if both can happen; `privmoo.testing.check_measure` checks this.
        label: The name on an axis or above a column; by default the name with spaces.
        symbol: The name in running text, such as ℓ; by default the name with spaces.
        unit: The unit of the values, such as "bits".
        percent: Whether values are fractions that people read as percentages.
    """

    name: ClassVar[str] = ""
    sense: ClassVar[Sense] = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes"})
    stage: Stage = "after"
    audited: bool = False
    definition: ClassVar[int] = 1
    coarser: ClassVar[Literal["better", "worse"] | None] = None
    label: ClassVar[str] = ""
    symbol: ClassVar[str] = ""
    unit: ClassVar[str] = ""
    percent: ClassVar[bool] = False
    _alias: str | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = _explain_arguments(cls.__init__)  # type: ignore[method-assign]

    @_explain_arguments
    def __init__(self) -> None:
        pass

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the value of every candidate in a chunk; a candidate without groups may have any value."""
        raise TypeError(f"{type(self).__name__} must define batch(groups)")

    def of_steps(self, steps: Steps, n_records: int) -> FloatArray | None:
        """Return the value at every step of staircases if it follows from sums; None otherwise.

        Args:
            steps: The steps.
            n_records: The records of the table.
        """
        return None

    def range(self, table: Table) -> tuple[float, float]:
        """Return the smallest and the largest possible value on a table, both finite."""
        raise TypeError(f"{type(self).__name__} must define range(table)")

    def check(self, table: Table) -> None:
        """Raise a MeasureError if the measure is not defined for this table, or cannot be audited."""
        if "counts" in self.needs and not table.sensitive:
            raise MeasureError(
                f"{self.name}: the table has no sensitive attribute",
                hint=Hint(parameter="sensitive", call="Table"),
            )
        if "target" in self.needs and table.target is None:
            raise MeasureError(
                f"{self.name}: the table has no target",
                hint=Hint(parameter="target", call="Table"),
            )
        if self.audited and self.name not in {*OF_GROUPS, *OF_VALUES}:
            raise MeasureError(
                f"{self.name}: {type(self).__name__} says audited = True, but the audit has no formula for "
                "it, so no release could be checked",
                hint=Hint(f"write one with @formula({self.name!r}) or set audited = False"),
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor, for reports, files and the audit.

        Arguments that are None are left out, and so is the default stage.
        """
        names = [p for p in inspect.signature(type(self).__init__).parameters if p != "self"]
        arguments = {name: getattr(self, name, None) for name in names}
        if arguments.get("stage") == "after":
            del arguments["stage"]
        return {name: value for name, value in arguments.items() if value is not None}

    @classmethod
    def qualifier(cls, parameters: Mapping[str, Any]) -> str:
        """Return the text that a label adds in parentheses for these arguments; empty by default.

        It is a class method because a saved front knows only the name and the arguments of a measure.

        Args:
            parameters: Arguments of the constructor by name; those of a file may be of any type.

        >>> from privmoo.measures import RecordsAtRisk
        >>> RecordsAtRisk.qualifier({"tau": 0.1})
        'τ = 0.1'
        """
        return ""

    @classmethod
    def is_count(cls, parameters: Mapping[str, Any]) -> bool:
        """Return whether the values with these arguments are counts, not percentages; False by default.

        Args:
            parameters: Arguments of the constructor by name; those of a file may be of any type.
        """
        return False

    @property
    def key(self) -> str:
        """The column of a front: the name, with the stage if it is not the default one."""
        if self._alias is not None:
            return self._alias
        return self.name if self.stage == "after" else f"{self.name}_before"

    def named(self, name: str) -> Self:
        """Return the same measure under another name, so that a front can have it twice.

        >>> from privmoo.measures import RecordsAtRisk
        >>> RecordsAtRisk(tau=0.1).named("at_risk_10").key
        'at_risk_10'
        """
        if not name.isidentifier():
            raise MeasureError(f"named: {name!r} must be a word such as 'at_risk_10'")
        measure = copy.copy(self)
        measure._alias = name
        return measure

    def worst(self, table: Table) -> float:
        """Return the value of a release without records."""
        low, high = self.range(table)
        return high if self.sense == "min" else low

    def values(self, groups: GroupBatch) -> FloatArray:
        """Return the values of `batch`, and the worst value where nothing is released; all are finite."""
        with np.errstate(all="ignore"):
            result = np.asarray(self.batch(groups), dtype=np.float64).copy()
        if result.shape != (len(groups),):
            raise MeasureError(
                f"{self.name}: must return one value per candidate, shape ({len(groups)},), "
                f"got {result.shape}"
            )
        low, high = self.range(groups.table)
        empty = groups.n_groups == 0
        is_nan = np.isnan(result) & ~empty
        if is_nan.any():
            raise MeasureError(
                f"{self.name}: returned NaN for candidate {int(np.flatnonzero(is_nan)[0])} of a chunk; "
                "a measure must be a finite number"
            )
        result[empty] = self.worst(groups.table)
        return np.nan_to_num(result, nan=low, posinf=high, neginf=low)

    def __call__(self, groups: Grouping) -> float:
        """Return the value for the groups of one candidate.

        Raises:
            MeasureError: The measure is not defined for the table of the groups.
        """
        self.check(groups.batch.table)
        return float(self.values(groups.batch)[0])

    def __ge__(self, bound: float) -> Constraint:
        return Constraint(self, ">=", bound)

    def __le__(self, bound: float) -> Constraint:
        return Constraint(self, "<=", bound)

    def __lt__(self, bound: float) -> Constraint:
        raise MeasureError(f"{self.name}: a constraint needs <= or >=, got a strict comparison")

    def __gt__(self, bound: float) -> Constraint:
        raise MeasureError(f"{self.name}: a constraint needs <= or >=, got a strict comparison")

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"{type(self).__name__}({inside})"


class Constraint:
    """A measure that must stay on one side of a bound.

    >>> from privmoo.measures import KAnonymity
    >>> KAnonymity() >= 5
    k >= 5
    """

    def __init__(self, measure: Measure, relation: Literal["<=", ">="], bound: float) -> None:
        if not math.isfinite(bound):
            raise MeasureError(f"{measure.name}: a constraint needs a finite bound, got {bound!r}")
        self.measure = measure
        self.relation = relation
        self.bound = bound

    def check(self, table: Table) -> None:
        """Raise a MeasureError if no release of the table can satisfy it."""
        self.measure.check(table)
        low, high = self.measure.range(table)
        if (self.relation == ">=" and self.bound > high) or (
            self.relation == "<=" and self.bound < low
        ):
            raise MeasureError(
                f"{self.measure.name}: {self.measure.name} {self.relation} {self.bound:g} cannot be "
                f"satisfied; on this table of {table.n_records} records, it lies between {low:g} and "
                f"{high:g}"
            )

    def violation(self, values: FloatArray) -> FloatArray:
        """Return how far each value is beyond the bound; at most 0 if the constraint holds."""
        return self.bound - values if self.relation == ">=" else values - self.bound

    def describe(self) -> str | dict[str, Any]:
        """Return plain data that `constraint_from` reads: a sentence, or a mapping with parameters.

        >>> from privmoo.measures import KAnonymity, RecordsAtRisk
        >>> (KAnonymity() >= 5).describe()
        'k >= 5'
        >>> (RecordsAtRisk(0.1) <= 0.2).describe()
        {'measure': 'at_risk', 'tau': 0.1, 'at_most': 0.2}
        """
        measure, bound = self.measure, float(self.bound)
        defaults = inspect.signature(type(measure)).parameters
        parameters = {
            name: value
            for name, value in measure.parameters.items()
            if value != defaults[name].default
        }
        alias = {} if measure._alias is None else {"name": measure._alias}
        if parameters or alias:
            word = "at_least" if self.relation == ">=" else "at_most"
            return {"measure": measure.name, **alias, **parameters, word: bound}
        short = f"{bound:g}"
        return f"{measure.name} {self.relation} {short if float(short) == bound else repr(bound)}"

    def __repr__(self) -> str:
        return f"{self.measure.name} {self.relation} {self.bound:g}"
