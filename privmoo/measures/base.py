"""What a measure is: a named number of a candidate's QI-groups, with a sense and a range."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Grouping, Stage

__all__ = ["Constraint", "FunctionMeasure", "Measure", "Sense", "measure"]

Sense = Literal["min", "max"]
_NEEDS = frozenset({"sizes", "loss", "counts", "target", "labels", "blocks"})


class Measure:
    """Base of all measures: objective, constraint (`measure >= value`) and report line alike.

    A subclass sets the class attributes and defines `batch`.

    Attributes:
        name: Short name; the column of a front.
        sense: Whether less or more is better.
        needs: What it reads of the groups: `sizes`, `loss`, `counts` (of the sensitive attributes),
            `target` (counts of the target), `labels` (the group of every tuple), `blocks`.
        stage: Whether it looks at the groups after suppression (the release) or before.
        audited: Whether it is a function of the released rows alone, so that an auditor can check it.
        coarser: Whether merging groups can only make it better ("better"), only worse ("worse"), or
            either (None); `privmoo.testing.check_measure` checks the claim.
    """

    name: ClassVar[str] = ""
    sense: ClassVar[Sense] = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes"})
    stage: Stage = "after"
    label: str | None = None
    audited: bool = False
    coarser: ClassVar[Literal["better", "worse"] | None] = None

    def batch(self, groups: GroupBatch) -> NDArray[np.float64]:
        """The measure of every candidate of a chunk; candidates without groups may give anything."""
        raise TypeError(f"{type(self).__name__} must define batch(groups)")

    def range(self, table: Table) -> tuple[float, float]:
        """Smallest and largest possible value on a table, both finite."""
        raise TypeError(f"{type(self).__name__} must define range(table)")

    def check(self, table: Table) -> None:
        """Raise a MeasureError where the measure makes no sense on this table."""
        if "counts" in self.needs and not table.sensitive:
            raise MeasureError(
                f"{self.name}: the table has no sensitive attribute; "
                "name one in Table(..., sensitive=...)"
            )
        if "target" in self.needs and table.target is None:
            raise MeasureError(
                f"{self.name}: the table has no target; name one in Table(..., target=...)"
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments it was made with, for reports, files and the audit.

        Left out are those that were not given (None) and the usual stage.
        """
        names = [p for p in inspect.signature(type(self).__init__).parameters if p != "self"]
        given = {name: getattr(self, name, None) for name in names}
        if given.get("stage") == "after":
            del given["stage"]
        return {name: value for name, value in given.items() if value is not None}

    @property
    def key(self) -> str:
        """The column of a front: the name, with the stage if it is not the usual one."""
        if self.label is not None:
            return self.label
        return self.name if self.stage == "after" else f"{self.name}_before"

    def named(self, label: str) -> Self:
        """The same measure under another name, so that two of a kind can stand side by side.

        >>> from privmoo.measures import RecordsAtRisk
        >>> RecordsAtRisk(tau=0.1).named("at_risk_10").key
        'at_risk_10'
        """
        if not label.isidentifier():
            raise MeasureError(f"named: {label!r} must be a word such as 'at_risk_10'")
        other = copy.copy(self)
        other.label = label
        return other

    def worst(self, table: Table) -> float:
        """What a release of no records is worth."""
        low, high = self.range(table)
        return high if self.sense == "min" else low

    def values(self, groups: GroupBatch) -> NDArray[np.float64]:
        """`batch`, with the worst value where nothing is released and never a NaN or infinity."""
        with np.errstate(all="ignore"):
            result = np.asarray(self.batch(groups), dtype=np.float64).copy()
        if result.shape != (len(groups),):
            raise MeasureError(
                f"{self.name}: must give one value per candidate, shape ({len(groups)},), "
                f"got {result.shape}"
            )
        low, high = self.range(groups.table)
        empty = groups.n_groups == 0
        broken = np.isnan(result) & ~empty
        if broken.any():
            raise MeasureError(
                f"{self.name}: gave NaN for candidate {int(np.flatnonzero(broken)[0])} of a chunk; "
                "a measure must be a finite number"
            )
        result[empty] = self.worst(groups.table)
        return np.nan_to_num(result, nan=low, posinf=high, neginf=low)

    def __call__(self, groups: Grouping) -> float:
        """The measure of one candidate's groups."""
        return float(self.values(groups.batch)[0])

    def __ge__(self, bound: float) -> Constraint:
        return Constraint(self, ">=", bound)

    def __le__(self, bound: float) -> Constraint:
        return Constraint(self, "<=", bound)

    def __lt__(self, bound: float) -> Constraint:
        raise MeasureError(f"{self.name}: a constraint is <= or >=, got a strict comparison")

    def __gt__(self, bound: float) -> Constraint:
        raise MeasureError(f"{self.name}: a constraint is <= or >=, got a strict comparison")

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
                f"satisfied, on this table of {table.n_records} records it lies between {low:g} and "
                f"{high:g}"
            )

    def violation(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each value is on the wrong side; at most 0 where the constraint holds."""
        return self.bound - values if self.relation == ">=" else values - self.bound

    def __repr__(self) -> str:
        return f"{self.measure.name} {self.relation} {self.bound:g}"


class FunctionMeasure(Measure):
    """A measure made from a function by `@measure`."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str,
        sense: Sense,
        needs: frozenset[str],
        stage: Stage,
        bounds: tuple[float, float],
        batched: bool,
    ) -> None:
        self.function = function
        self.name = name  # type: ignore[misc]  # a function's measure has its own of each
        self.sense = sense  # type: ignore[misc]
        self.needs = needs  # type: ignore[misc]
        self.stage = stage
        self.bounds = bounds
        self.batched = batched
        self.__doc__ = function.__doc__

    @property
    def parameters(self) -> dict[str, Any]:
        """A function's measure has no parameters."""
        return {}

    def batch(self, groups: GroupBatch) -> NDArray[np.float64]:
        """Call the function: once per chunk if it is batched, else once per candidate (slow)."""
        if self.batched:
            return np.asarray(self.function(groups), dtype=np.float64)
        worst = self.bounds[1] if self.sense == "min" else self.bounds[0]
        values = np.full(len(groups), worst, dtype=np.float64)  # bounds may be whole numbers
        for c in np.flatnonzero(groups.n_groups):
            value = self.function(groups[int(c)])
            try:
                values[c] = float(value)
            except (TypeError, ValueError):
                raise MeasureError(
                    f"{self.name}: must give a number, got {type(value).__name__}"
                ) from None
        return values

    def range(self, table: Table) -> tuple[float, float]:
        """The bounds it was declared with."""
        return self.bounds

    def __repr__(self) -> str:
        return f"measure {self.name!r} ({self.sense})"


def measure(
    _function: None = None,
    /,
    *,
    sense: Sense | None = None,
    needs: Iterable[str] = ("sizes", "loss"),
    stage: Stage = "after",
    bounds: tuple[float, float] = (-1e300, 1e300),
    batched: bool = False,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], FunctionMeasure]:
    """Make a measure of a function of a `Grouping`, or of a `GroupBatch` if `batched`.

    A plain function is called once per candidate, in Python: slow, but cached by problems. A batched one
    gets a chunk of candidates at once and returns an array; it may be a function compiled by numba's
    `njit` wrapped in a line that hands it the arrays.

    Args:
        sense: `"min"` or `"max"`: what is better.
        needs: What it reads: any of sizes, loss, counts, target, labels, blocks.
        stage: `"after"` or `"before"` suppression.
        bounds: Finite smallest and largest value; a release of no records gets the worse one.
        batched: Whether it takes a chunk of candidates.
        name: Its name; the function's by default.

    >>> @measure(sense="min", bounds=(0, 1))
    ... def small_groups(groups):
    ...     return groups.sizes[groups.sizes < 10].sum() / groups.n_records
    >>> small_groups
    measure 'small_groups' (min)
    """
    if _function is not None or sense not in ("min", "max"):
        raise MeasureError(
            f"sense: must be 'min' or 'max', got {sense!r}; write @measure(sense='min') above the function"
        )
    if stage not in ("before", "after"):
        raise MeasureError(f"stage: must be 'before' or 'after', got {stage!r}")
    wanted = frozenset(needs)
    if wanted - _NEEDS:
        raise MeasureError(
            f"needs: unknown {', '.join(sorted(wanted - _NEEDS))}; known are {', '.join(sorted(_NEEDS))}"
        )
    if not (math.isfinite(bounds[0]) and math.isfinite(bounds[1]) and bounds[0] <= bounds[1]):
        raise MeasureError(f"bounds: must be two finite numbers, smallest first, got {bounds!r}")

    def make(function: Callable[..., Any]) -> FunctionMeasure:
        return FunctionMeasure(
            function,
            name=name or cast("str", getattr(function, "__name__", "measure")),
            sense=sense,
            needs=wanted,
            stage=stage,
            bounds=bounds,
            batched=batched,
        )

    return make
