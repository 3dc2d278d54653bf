"""The audit of a table: every privacy and risk measure, from its rows alone."""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt
import pandas as pd

from privmoo.audit import risk
from privmoo.audit.counts import Counts, ValueCounts
from privmoo.audit.figure_words import words_for
from privmoo.audit.formulas import OF_GROUPS, OF_VALUES
from privmoo.audit.frame import Roles, count_frame
from privmoo.audit.values import factorize
from privmoo.errors import AuditError, ColumnError, nearest

__all__ = ["Audit", "audit", "is_nearly_unique", "nearly_unique"]

_ATTRIBUTE_TABLE = ("distinct_l", "entropy_l", "l", "alpha", "t", "beta", "delta")
_KINDS = {"max": "largest", "average": "average", "records": "records", "share": "share"}


class _Row(NamedTuple):
    """One line of a report: the measure with its parameters, its words for people, and its value."""

    measure: str
    words: str
    value: float
    attribute: str = ""


@dataclass(frozen=True, repr=False)
class Audit:
    """The privacy and risk that an outsider can measure on a table; `audit` returns it.

    Attributes:
        counts: The counts that everything is computed from.
        taus: The thresholds at which records at risk are reported.
        sampling_fraction: The share of the population that is in the table, if known.

    >>> result = audit(pd.DataFrame({"age": [1, 1, 2]}), quasi_identifiers=["age"])
    >>> result.k, result.n_groups, result.measure("weighted_k") == 5 / 3
    (1, 2, True)
    """

    counts: Counts
    taus: tuple[float, ...] = (0.05, 0.075, 0.1)
    sampling_fraction: float | None = None

    @property
    def n_records(self) -> int:
        """The number of records in the table."""
        return self.counts.n_records

    @property
    def n_groups(self) -> int:
        """The number of QI-groups in the table."""
        return self.counts.n_groups

    @property
    def k(self) -> int:
        """The size of the smallest group, in persons if a subject was named."""
        return int(self.measure("k"))

    @property
    def weighted_k(self) -> float:
        """The average size of the group of a random record."""
        return self.measure("weighted_k")

    @property
    def average_k(self) -> float:
        """The mean number of records per group."""
        return self.measure("average_k")

    @property
    def l(self) -> float:  # noqa: E743, the field's name
        """The smallest |g| / count of the most frequent sensitive value."""
        return self.measure("l")

    @property
    def distinct_l(self) -> int:
        """The smallest number of distinct sensitive values in a group."""
        return int(self.measure("distinct_l"))

    @property
    def entropy_l(self) -> float:
        """The exponential of the smallest entropy of a group."""
        return self.measure("entropy_l")

    @property
    def uniqueness(self) -> float:
        """The share of records alone in their group."""
        return self.measure("uniqueness")

    def measure(self, name: str, *, attribute: Hashable | None = None, **params: Any) -> float:
        """Return one measure by its name and parameters.

        Args:
            name: The name of the measure as in `privmoo.measures`, for example ``"t"`` or ``"at_risk"``.
            attribute: The sensitive attribute to measure; by default the worst of all is reported.
            **params: The measure's parameters, for example ``tau=0.1``.

        >>> df = pd.DataFrame({"age": [1, 1, 2], "job": ["a", "b", "a"]})
        >>> audit(df, quasi_identifiers=["age"], sensitive=["job"]).measure("at_risk", tau=0.6)
        0.3333333333333333
        """
        if name in OF_GROUPS:
            function = OF_GROUPS[name]
            if attribute is not None:
                raise AuditError(f"measure: {name!r} does not take an attribute")
            if "sampling_fraction" in inspect.signature(function).parameters:
                params.setdefault("sampling_fraction", self.sampling_fraction)
            return _call(name, function, self.counts, params)
        if name in OF_VALUES:
            function, combine = OF_VALUES[name]
            attributes = self._attributes(name, attribute)
            return float(combine([_call(name, function, values, params) for values in attributes]))
        names = [*OF_GROUPS, *OF_VALUES]
        raise AuditError(f"measure: {name!r} is unknown to the audit{nearest(name, names)}")

    def _attributes(self, measure: str, attribute: Hashable | None) -> list[ValueCounts]:
        sensitive = self.counts.sensitive
        if not sensitive:
            raise AuditError(f"{measure}: name at least one sensitive attribute")
        if attribute is None:
            if measure == "similarity":
                with_tree = [values for values in sensitive.values() if values.nodes is not None]
                return with_tree or list(sensitive.values())
            return list(sensitive.values())
        if attribute not in sensitive:
            raise AuditError(
                f"{measure}: {str(attribute)!r} is not a sensitive attribute"
                f"{nearest(attribute, sensitive)}"
            )
        return [sensitive[attribute]]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole report as plain data, ready for JSON.

        >>> result = audit(pd.DataFrame({"age": [1, 1, 2]}), quasi_identifiers=["age"])
        >>> result.to_dict()["prosecutor_risk"]
        {'max': 1.0, 'average': 0.6666666666666666}
        """
        result: dict[str, Any] = {
            "n_records": self.n_records,
            "n_groups": self.n_groups,
            "k": self.k,
            "weighted_k": self.weighted_k,
            "average_k": self.average_k,
            "uniqueness": self.uniqueness,
            "prosecutor_risk": self._both("prosecutor_risk"),
            "at_risk": [
                {
                    "tau": tau,
                    "records": int(self.measure("at_risk", tau=tau, count=True)),
                    "share": self.measure("at_risk", tau=tau),
                }
                for tau in self.taus
            ],
        }
        if self.counts.population is not None or self.sampling_fraction is not None:
            result["journalist_risk"] = self._both("journalist_risk")
            result["marketer_risk"] = self.measure("marketer_risk")
        if self.counts.target is not None:
            result["classification"] = self.measure("classification")
        if self.counts.sensitive:
            result["homogeneity"] = {
                "records": int(self.measure("homogeneity", count=True)),
                "share": self.measure("homogeneity"),
            }
            result["sensitive"] = {str(name): self._table(name) for name in self.counts.sensitive}
        return result

    def _both(self, name: str) -> dict[str, float]:
        return {kind: self.measure(name, statistic=kind) for kind in ("max", "average")}

    def _table(self, name: Hashable) -> dict[str, float]:
        row = {measure: self.measure(measure, attribute=name) for measure in _ATTRIBUTE_TABLE}
        row["distinct_l"] = int(row["distinct_l"])
        alone = Counts(self.counts.sizes, {name: self.counts.sensitive[name]})
        row["homogeneity"] = risk.homogeneity(alone)
        alike = self.counts.sensitive[name].alike
        return {**row, "values_alike": alike} if alike else row

    def to_frame(self) -> pd.DataFrame:
        """Return the report as a table with the columns measure, attribute and value.

        >>> result = audit(pd.DataFrame({"age": [1, 1, 2]}), quasi_identifiers=["age"])
        >>> float(result.to_frame().set_index("measure").loc["k", "value"])
        1.0
        """
        rows = [(row.measure, row.attribute, float(row.value)) for row in self._rows()]
        return pd.DataFrame(rows, columns=["measure", "attribute", "value"])

    def _rows(self) -> Iterator[_Row]:
        for name, value in self.to_dict().items():
            words = words_for(name)
            if name == "at_risk":
                for entry in value:
                    tau = f"tau={entry['tau']:g}"
                    yield _Row(f"{name}({tau})", f"{words} ({tau}), share", entry["share"])
                    yield _Row(f"{name}({tau}, count)", f"{words} ({tau})", entry["records"])
            elif name == "sensitive":
                for attribute, measures in value.items():
                    for measure, number in measures.items():
                        words = words_for(measure, of_attribute=True)
                        yield _Row(measure, words, number, attribute)
            elif isinstance(value, dict):
                for kind, number in value.items():
                    yield _Row(f"{name}({kind})", f"{words}, {_KINDS[kind]}", number)
            else:
                yield _Row(name, words, value)

    def __str__(self) -> str:
        rows = [
            (f"{row.attribute}: {row.words}" if row.attribute else row.words, _number(row.value))
            for row in self._rows()
        ]
        label_width = max(len(label) for label, _ in rows)
        number_width = max(len(number) for _, number in rows)
        return "\n".join(
            f"{label:<{label_width}}  {number:>{number_width}}" for label, number in rows
        )

    def __repr__(self) -> str:
        records = f"{self.n_records:,} record{'' if self.n_records == 1 else 's'}"
        groups = f"{self.n_groups:,} QI-group{'' if self.n_groups == 1 else 's'}"
        return f"Audit of {records} in {groups}, k = {self.k:,}"

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{html.escape(row.words)}</td><td>{html.escape(row.attribute)}</td>"
            f"<td>{html.escape(_number(row.value))}</td></tr>"
            for row in self._rows()
        )
        head = "<tr><th>measure</th><th>attribute</th><th>value</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def audit(
    df: pd.DataFrame,
    *,
    quasi_identifiers: Iterable[Hashable] | str,
    sensitive: Iterable[Hashable] | str = (),
    subject: Hashable | pd.Series[Any] | npt.NDArray[Any] | None = None,
    target: Hashable | None = None,
    population: pd.DataFrame | None = None,
    sampling_fraction: float | None = None,
    taus: Sequence[float] = (0.05, 0.075, 0.1),
    hierarchies: Mapping[Any, pd.DataFrame | Iterable[Sequence[object]]] | None = None,
    original: pd.DataFrame | pd.Series[Any] | None = None,
    missing: str = "unknown",
) -> Audit:
    """Measure the privacy and risk of a table from its rows alone.

    Args:
        df: Any table, released by this project or not.
        quasi_identifiers: Columns an attacker may know.
        sensitive: Columns an attacker wants to learn.
        subject: A column (or one entry per row) that says whose record it is; k then counts persons.
        target: A column to predict, for the classification metric.
        population: A table with the same labels that contains this one, for journalist and
            marketer risk.
        sampling_fraction: The share of the population that is in the table; use it instead of `population`.
        taus: Thresholds at which records at risk are reported.
        hierarchies: Per sensitive attribute a table in ARX's layout, one column per level, leaf
            first (for the hierarchical t and for similarity; its order serves the ordered t).
        original: The sensitive columns before anonymization, for ``reference="original"``.
        missing: `"unknown"`: a missing sensitive value, or a text that programs read as one such as `"NA"`,
            `"?"` or an empty one, could be any value. Diversity counts it as the
            most frequent value of its group; t, β, δ and skewness compare the values that are present.
            `"value"`: it is a value like any other, as in ARX.

    >>> df = pd.DataFrame({"zip": ["1*", "1*", "2*", "2*"], "ill": ["flu", "flu", "flu", "cold"]})
    >>> result = audit(df, quasi_identifiers=["zip"], sensitive=["ill"])
    >>> result.k, result.l, result.measure("homogeneity")
    (2, 1.0, 0.5)
    """
    for tau in taus:
        risk.check_fraction(tau, "taus")
    if sampling_fraction is not None:
        risk.check_fraction(sampling_fraction, "sampling_fraction")
        if population is not None:
            raise AuditError("give one of population and sampling_fraction, not both")
    counts = count_frame(
        df,
        Roles(quasi_identifiers, sensitive, subject, target, missing),
        population=population,
        hierarchies=hierarchies,
        original=original,
    )
    return Audit(counts, tuple(float(tau) for tau in taus), sampling_fraction)


def is_nearly_unique(distinct: int, present: int, share: float = 0.9) -> bool:
    """Return whether a column's values are (nearly) all different.

    Args:
        distinct: The number of distinct values.
        present: The number of values that are not missing.
        share: How many distinct values the column must have, as a share of its present values.

    >>> is_nearly_unique(95, 100), is_nearly_unique(2, 100), is_nearly_unique(0, 0)
    (True, False, False)
    """
    return present > 0 and distinct >= share * present


def nearly_unique(
    df: pd.DataFrame, columns: Iterable[Hashable], share: float = 0.9
) -> list[Hashable]:
    """Return the columns whose values are (nearly) all different and so identify people in any role.

    Args:
        df: The table.
        columns: The columns to look at.
        share: How many distinct values a column must have, as a share of its present values.

    >>> df = pd.DataFrame({"note": ["a", "b", "c"], "sex": ["m", "f", "m"]})
    >>> nearly_unique(df, ["note", "sex"])
    ['note']
    """
    risk.check_fraction(share, "share")
    unique = []
    for name in columns:
        if name not in df.columns:
            raise ColumnError(
                f"columns: column {str(name)!r} is not in the data{nearest(name, df.columns)}"
            )
        codes, uniques = factorize(df[name], name)
        present = int((codes >= 0).sum())
        if is_nearly_unique(len(uniques), present, share):
            unique.append(name)
    return unique


def _call(
    name: str, function: Callable[..., float], counts: object, params: dict[str, Any]
) -> float:
    try:
        inspect.signature(function).bind(counts, **params)
    except TypeError:
        parameters = list(inspect.signature(function).parameters)[1:]
        raise AuditError(
            f"measure: {name!r} takes the parameters {parameters}, got {sorted(params)}"
        ) from None
    return function(counts, **params)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
