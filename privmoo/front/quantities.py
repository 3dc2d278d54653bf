"""Quantities: the measures that a front records, and the words for their values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privmoo import registry
from privmoo.errors import CheckpointError, PluginError, ProblemError, nearest
from privmoo.measures.base import Measure, Sense
from privmoo.measures.wording import QualifiedWording, wording_of

if TYPE_CHECKING:
    from privmoo.problem import AnonymizationProblem

__all__ = ["RECORDS_SUPPRESSED", "Quantity", "find", "quantities_of"]

RECORDS_SUPPRESSED = "records_suppressed"
_UNBOUNDED = 1e100  # a measure made by `@measure` without bounds says ±1e300
_DECADES = 2.0


@dataclass(frozen=True)
class Quantity:
    """One recorded measure: name, sense, bounds, and how its values are written.

    Attributes:
        key: The column of a front.
        name: The measure's name.
        sense: Whether small values (`"min"`) or large ones (`"max"`) are better.
        best: The best value possible on the table.
        worst: The worst value possible on the table.
        stage: Whether it is measured `"before"` or `"after"` suppression.
        parameters: The measure's arguments.
        wording: The words for its values; by default those of the registered measure with that name.

    >>> loss = Quantity("loss", "loss", "min", best=0.0, worst=1.0)
    >>> loss.label, loss.write(0.2487), loss.phrase(0.2487)
    ('loss (%)', '24.87 %', '24.87 % loss')
    >>> Quantity("k", "k", "max", best=100.0, worst=1.0).phrase(14.0)
    'k = 14'
    """

    key: str
    name: str
    sense: Sense
    best: float
    worst: float
    stage: str = "after"
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    wording: QualifiedWording | None = field(default=None, hash=False, compare=False)

    @property
    def _wording(self) -> QualifiedWording:
        if self.wording is not None:
            return self.wording
        return _registered_wording(self.name, self.parameters)

    @property
    def sign(self) -> float:
        """The factor for minimisation: 1 if less is better, otherwise -1."""
        return 1.0 if self.sense == "min" else -1.0

    @property
    def bounded(self) -> bool:
        """Whether both bounds are finite; huge bounds mean that there are none."""
        return max(abs(self.best), abs(self.worst)) < _UNBOUNDED

    @property
    def percent(self) -> bool:
        """Whether values are fractions that people read as percentages."""
        return self._wording.get("percent", False)

    @property
    def words(self) -> str:
        """The name in running text."""
        return (self._wording.get("symbol") or self.name.replace("_", " ")) + self._qualifier

    @property
    def _qualifier(self) -> str:
        qualifier = self._wording.get("qualifier")
        text = f" ({qualifier})" if qualifier else ""
        return text + (" before suppression" if self.stage == "before" else "")

    @property
    def label(self) -> str:
        """The name on an axis or above a column."""
        text = (self._wording.get("label") or self.name.replace("_", " ")) + self._qualifier
        unit = "%" if self.percent else self._wording.get("unit")
        return f"{text} ({unit})" if unit else text

    def shown(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values as an axis shows them: fractions become percentages."""
        return values * 100.0 if self.percent else values

    def write(self, value: float) -> str:
        """Write a value as people read it."""
        if self.percent:
            return f"{value * 100:.4g} %"
        if float(value).is_integer() and abs(value) < 1e15:
            return f"{int(value):,}"
        return f"{value:,.1f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"

    def write_difference(self, amount: float) -> str:
        """Write the distance between two values: that of two percentages is in percentage points.

        >>> Quantity("loss", "loss", "min", best=0.0, worst=1.0).write_difference(0.031)
        '3.1 points'
        """
        if not self.percent:
            return self.write(amount)
        points = f"{amount * 100:.4g}"
        return f"{points} {'point' if points == '1' else 'points'}"

    def phrase(self, value: float) -> str:
        """Write a value with its name, for sentences."""
        if self.percent or self.key == RECORDS_SUPPRESSED:
            return f"{self.write(value)} {self.words}"
        return f"{self.words} = {self.write(value)}"

    def logarithmic(self, values: NDArray[np.float64]) -> bool:
        """Return whether values spread over more than two decades, so that an axis needs a logarithm."""
        if self.percent or not len(values):
            return False
        low, high = float(values.min()), float(values.max())
        return low > 0 and math.log10(high / low) > _DECADES

    def scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scale values from 0 (best of these) to 1 (worst), on the axis that a plot would use."""
        if not len(values):
            return values
        position = self.sign * (np.log10(values) if self.logarithmic(values) else values)
        low, high = position.min(), position.max()
        if not high > low:
            return np.zeros_like(position)
        return np.asarray((position - low) / (high - low))

    def to_json(self) -> dict[str, Any]:
        """Return plain data that `from_json` reads back."""
        parameters = {key: _plain(value) for key, value in self.parameters.items()}
        known_wording = self._wording == _registered_wording(self.name, self.parameters)
        return {
            "key": self.key,
            "name": self.name,
            "sense": self.sense,
            "best": self.best,
            "worst": self.worst,
            "stage": self.stage,
            "parameters": parameters,
            **({} if known_wording else {"wording": dict(self._wording)}),
        }

    @classmethod
    def from_json(cls, data: Any) -> Quantity:
        """Read back what `to_json` wrote, from a file that anyone may have written."""
        try:
            texts = [data[part] for part in ("key", "name", "sense", "stage")]
            best, worst = float(data["best"]), float(data["worst"])
            parameters = dict(data["parameters"])
            wording = _checked_wording(data["wording"]) if "wording" in data else None
        except (KeyError, TypeError, ValueError) as problem:
            raise CheckpointError(
                f"front: a measure is not described as it should be ({problem})"
            ) from None
        if not all(isinstance(text, str) and len(text) <= 200 for text in texts):
            raise CheckpointError("front: the name of a measure is not a short text")
        key, name, sense, stage = texts
        if sense not in ("min", "max") or not (math.isfinite(best) and math.isfinite(worst)):
            raise CheckpointError(f"front: measure {key!r} has no valid sense and range")
        return cls(key, name, sense, best, worst, stage, parameters, wording)


def _registered_wording(name: str, parameters: Mapping[str, Any]) -> QualifiedWording:
    """Return how people read the measure with a name; empty if there is no usable one."""
    try:
        measure: Measure | type[Measure] = registry.load("measures", name)
    except PluginError:
        return QualifiedWording()
    return wording_of(measure, parameters)


def _checked_wording(data: Mapping[str, Any]) -> QualifiedWording:
    """Return the wording of a file, which anyone may have written, or raise."""
    wording = QualifiedWording()
    for part in ("label", "symbol", "unit", "qualifier"):
        text = data.get(part, "")
        if not isinstance(text, str) or len(text) > 200:
            raise ValueError(f"its {part} is not a short text")
        if text:
            wording[part] = text
    if data.get("percent") is True:
        wording["percent"] = True
    return wording


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return value  # names of columns
    return f"<{type(value).__name__}>"  # not its repr: a population's would show people


def quantities_of(problem: AnonymizationProblem) -> tuple[Quantity, ...]:
    """Return what a front of a problem records: objectives, other measures, suppressed records."""

    def of(m: Measure) -> Quantity:
        low, high = problem.range_of(m)
        best, worst = (low, high) if m.sense == "min" else (high, low)
        return Quantity(
            key=m.key,
            name=m.name,
            sense=m.sense,
            best=float(best),
            worst=float(worst),
            stage=m.stage,
            parameters=m.parameters,
            wording=wording_of(m, m.parameters),
        )

    objectives = {m.key for m in problem.objectives}
    others = [m for m in problem.measures if m.key not in objectives]
    records = float(problem.table.n_records)
    return (
        *(of(m) for m in (*problem.objectives, *others)),
        Quantity(
            RECORDS_SUPPRESSED, RECORDS_SUPPRESSED, "min", 0.0, records, wording=QualifiedWording()
        ),
    )


def find(quantities: Iterable[Quantity], name: str, *, what: str = "measure") -> Quantity:
    """Return the quantity with a name.

    Args:
        quantities: The recorded quantities.
        name: The key of one of them.
        what: What the caller asked for, for the error.

    Raises:
        ProblemError: There is no such quantity; the nearest name is suggested.

    >>> find([Quantity("k", "k", "max", 9.0, 1.0)], "k").sense
    'max'
    """
    by_key = {q.key: q for q in quantities}
    if name in by_key:
        return by_key[name]
    raise ProblemError(
        f"{what}: {name!r} is not recorded in this front; recorded are {', '.join(by_key)}"
        f"{nearest(name, by_key)}"
    )
