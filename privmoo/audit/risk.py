"""Layer two of the audit: re-identification and disclosure risk measured on counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privmoo.audit.counts import Counts, ValueCounts
from privmoo.audit.formulas import formula
from privmoo.errors import AuditError

__all__ = [
    "at_risk",
    "classification",
    "homogeneity",
    "journalist_risk",
    "marketer_risk",
    "prosecutor_risk",
    "similarity",
    "skewness",
    "uniqueness",
]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


@formula()
def prosecutor_risk(counts: Counts, statistic: str = "max") -> float:
    """Return 1/|g|, the largest or the average over records (El Emam 2013).

    Args:
        counts: The counts of a table.
        statistic: `"max"` or `"average"`.

    >>> counts = Counts(np.array([5, 2, 1]))
    >>> prosecutor_risk(counts), prosecutor_risk(counts, statistic="average")
    (1.0, 0.375)
    """
    _check_statistic(statistic)
    if statistic == "max":
        return float(1 / counts.hidden.min())
    return float((counts.sizes / counts.hidden).sum() / counts.n_records)


@formula()
def journalist_risk(
    counts: Counts, statistic: str = "max", sampling_fraction: float | None = None
) -> float:
    """Return 1/F with F the group's size in the population (El Emam 2013; ARX).

    The average is the larger of groups/ΣF and the mean of 1/F over the released records.

    Args:
        counts: The counts of a table.
        statistic: `"max"` or `"average"`.
        sampling_fraction: The share of the population that is in the table, if the counts have none.

    >>> journalist_risk(Counts(np.array([4, 2])), sampling_fraction=0.5)
    0.25
    """
    _check_statistic(statistic)
    size = _population_sizes(counts, sampling_fraction)
    if statistic == "max":
        return float(1 / size.min())
    return max(counts.n_groups / float(size.sum()), _success(counts, size))


@formula()
def marketer_risk(counts: Counts, sampling_fraction: float | None = None) -> float:
    """Return the expected share of released records that link correctly, the mean of 1/F (El Emam 2013).

    Args:
        counts: The counts of a table.
        sampling_fraction: The share of the population that is in the table, if the counts have none.

    >>> marketer_risk(Counts(np.array([4, 2])), sampling_fraction=0.5) == 1 / 6
    True
    """
    return _success(counts, _population_sizes(counts, sampling_fraction))


@formula()
def at_risk(counts: Counts, tau: float, count: bool = False) -> float:
    """Return the records with 1/|g| > τ, strictly (Wei et al. 2025).

    Args:
        counts: The counts of a table.
        tau: The threshold.
        count: Whether to return their number instead of their share.

    >>> at_risk(Counts(np.array([20, 19])), tau=0.05, count=True)
    19.0
    """
    check_fraction(tau, "tau")
    return _records(counts, 1.0 / counts.hidden > tau, count)


@formula()
def uniqueness(counts: Counts) -> float:
    """Return the share of records alone in their group.

    >>> uniqueness(Counts(np.array([3, 1])))
    0.25
    """
    return _records(counts, counts.hidden == 1, count=False)


@formula()
def homogeneity(counts: Counts, count: bool = False) -> float:
    """Return the records whose group has a single value of any sensitive attribute (Wei et al. 2025).

    Args:
        counts: The counts of a table.
        count: Whether to return their number instead of their share.

    >>> one = ValueCounts("s", np.array([3]), np.array([0]), np.array([0]), np.array([3]), 1)
    >>> homogeneity(Counts(np.array([3]), {"s": one}))
    1.0
    """
    if not counts.sensitive:
        raise AuditError("homogeneity: name at least one sensitive attribute")
    single = np.zeros(counts.n_groups, dtype=bool)
    for values in counts.sensitive.values():
        single |= np.bincount(values.worst.group, minlength=counts.n_groups) == 1
    return _records(counts, single, count)


@formula(combine=max)
def skewness(values: ValueCounts, factor: float) -> float:
    """Return the share of records whose group has a value over `factor` times as frequent as in the table.

    Args:
        values: The counts of one attribute.
        factor: How many times as frequent.

    >>> sizes = np.array([2, 2])
    >>> half = ValueCounts("s", sizes, np.array([0, 1]), np.array([0, 1]), np.array([2, 2]), 2)
    >>> skewness(half, factor=1.5), skewness(half, factor=2)
    (1.0, 0.0)
    """
    if not factor > 0:
        raise AuditError(f"factor: expected a number above 0, got {factor!r}")
    present = values.present
    sizes = present.sizes
    # whole numbers up to the one division, so that equal ratios compare as equal
    gain = (present.count * sizes.sum()) / (sizes[present.group] * present.released[present.value])
    if not len(gain):
        return 0.0
    skewed = np.logical_or.reduceat(gain > factor, present.starts)
    n_present = np.bincount(
        values.group[values.value != values.missing], minlength=len(values.sizes)
    )
    is_skewed = np.zeros(len(values.sizes), dtype=np.bool_)
    is_skewed[np.flatnonzero(n_present)] = skewed
    return _share(values, is_skewed)


@formula(combine=max)
def similarity(values: ValueCounts, level: int) -> float:
    """Return the share of records whose group's values all lie under one node of a level.

    Args:
        values: The counts of one attribute.
        level: The level of its hierarchy.

    >>> flat = ValueCounts("s", np.array([2]), np.array([0, 0]), np.array([0, 1]),
    ...                    np.array([1, 1]), 2, nodes=np.array([[0, 1], [0, 0]]))
    >>> similarity(flat, level=0), similarity(flat, level=1)
    (0.0, 1.0)
    """
    nodes = values.worst.at_level(level)
    return _share(values, np.bincount(nodes.group, minlength=len(values.sizes)) == 1)


@formula()
def classification(counts: Counts) -> float:
    """Return the share of released records that differ from their group's majority (Iyengar 2002).

    >>> target = ValueCounts("c", np.array([3]), np.array([0, 0]), np.array([0, 1]),
    ...                      np.array([2, 1]), 2)
    >>> classification(Counts(np.array([3]), target=target)) == 1 / 3
    True
    """
    if counts.target is None:
        raise AuditError("classification: name the target column as target=")
    majority = np.maximum.reduceat(counts.target.count, counts.target.starts)
    return float((counts.n_records - majority.sum()) / counts.n_records)


def check_fraction(value: float, name: str) -> None:
    """Raise unless a parameter lies in (0, 1].

    Args:
        value: The value of the parameter.
        name: The parameter's name, for the error.

    >>> check_fraction(1.5, "tau")
    Traceback (most recent call last):
    privmoo.errors.AuditError: tau: expected a number in (0, 1], got 1.5
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise AuditError(f"{name}: expected a number in (0, 1], got {value!r}")
    if not 0 < float(value) <= 1:
        raise AuditError(f"{name}: expected a number in (0, 1], got {value!r}")


def _check_statistic(statistic: str) -> None:
    if statistic not in ("max", "average"):
        raise AuditError(f"statistic: expected 'max' or 'average', got {statistic!r}")


def _population_sizes(counts: Counts, sampling_fraction: float | None) -> FloatArray:
    if (counts.population is None) == (sampling_fraction is None):
        raise AuditError("journalist and marketer risk need a population or a sampling_fraction")
    if sampling_fraction is None:
        if counts.persons is not None:
            raise AuditError("population: its persons are unknown; give a sampling_fraction")
        return np.asarray(counts.population, dtype=np.float64)
    check_fraction(sampling_fraction, "sampling_fraction")
    return np.asarray(counts.hidden / sampling_fraction, dtype=np.float64)


def _success(counts: Counts, size: FloatArray) -> float:
    return float((counts.sizes / size).sum() / counts.n_records)


def _records(counts: Counts, mask: BoolArray, count: bool) -> float:
    number = int(counts.sizes[mask].sum())
    return float(number) if count else number / counts.n_records


def _share(values: ValueCounts, mask: BoolArray) -> float:
    return float(values.sizes[mask].sum() / values.sizes.sum())
