"""Layer two of the audit: privacy measured on counts; each function is one textbook formula.

Missing values that could be any value add no privacy: formulas of diversity count each as the most frequent
value of its group (`ValueCounts.worst`); formulas that compare distributions leave them out on both sides
(`ValueCounts.present`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from privmoo.audit.counts import Counts, ValueCounts
from privmoo.audit.formulas import formula
from privmoo.errors import AuditError, nearest

__all__ = [
    "alpha",
    "average_k",
    "beta",
    "confidence",
    "delta",
    "distinct_l",
    "entropy_l",
    "frequency_l",
    "k",
    "km",
    "min_entropy",
    "recursive_l",
    "t",
    "weighted_k",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@formula()
def k(counts: Counts, columns: Sequence[Hashable] | None = None) -> float:
    """Return the smallest group size, in persons if a subject is known (Samarati 2001; Sweeney 2002).

    Args:
        counts: The counts of a table.
        columns: The quasi-identifiers that the attacker knows; all by default.

    >>> k(Counts(np.array([5, 2])))
    2.0
    """
    return float((counts if columns is None else counts.on(columns)).hidden.min())


@formula()
def km(counts: Counts, m: int = 2) -> float:
    """Return the smallest group of records that agree in some m columns (Terrovitis et al. 2008).

    Args:
        counts: The counts of a table.
        m: How many quasi-identifiers the attacker knows.

    >>> import pandas as pd
    >>> counts = Counts(np.array([5, 2]), labels=pd.DataFrame({"age": [0, 0], "sex": [0, 1]}))
    >>> km(counts, m=1)
    2.0
    """
    return min(float(combination.hidden.min()) for combination in _partly_known(counts, m))


@formula()
def confidence(counts: Counts, m: int = 2) -> float:
    """Return the largest share of a sensitive value among records that agree in some m columns.

    That is C of LKC-privacy (Mohammed et al. 2009). Of several attributes the worst counts.

    Args:
        counts: The counts of a table.
        m: How many quasi-identifiers the attacker knows.
    """
    if not counts.sensitive:
        raise AuditError("confidence: name at least one sensitive attribute")
    return max(
        float(values.worst.share.max())
        for combination in _partly_known(counts, m)
        for values in combination.sensitive.values()
    )


def _partly_known(counts: Counts, m: int) -> Iterator[Counts]:
    """Yield the counts on every combination of m quasi-identifiers."""
    if m < 1:
        raise AuditError(f"m: must be at least 1, got {m!r}")
    names = () if counts.labels is None else tuple(counts.labels.columns)
    for columns in combinations(names, min(m, len(names))):  # without labels, `on` says so
        yield counts.on(columns)


@formula()
def weighted_k(counts: Counts) -> float:
    """Return Σ|g|²/n, the size of the group a random record is in (Dewri et al. 2011, 5.3.1).

    >>> weighted_k(Counts(np.array([5, 2]))) == 29 / 7
    True
    """
    return float((counts.sizes * counts.hidden).sum() / counts.n_records)


@formula()
def average_k(counts: Counts) -> float:
    """Return the mean number of records per group, or of persons if a subject is known.

    >>> average_k(Counts(np.array([5, 2])))
    3.5
    """
    return float(counts.hidden.sum() / counts.n_groups)


@formula("distinct_l", "p", combine=min)
def distinct_l(values: ValueCounts) -> float:
    """Return the smallest number of distinct values in a group: distinct ℓ, and p of p-sensitivity.

    >>> distinct_l(_example())
    1.0
    """
    return float(np.bincount(values.worst.group, minlength=len(values.sizes)).min())


@formula(combine=min)
def entropy_l(values: ValueCounts) -> float:
    """Return the exponential of the smallest entropy of a group (Machanavajjhala et al. 2007).

    >>> entropy_l(_example())
    1.0
    """
    number = math.exp(min(map(_entropy, _least_diverse(values.worst))))
    # rounding may miss the logarithm of a whole number by a little
    return float(round(number)) if math.isclose(number, round(number), rel_tol=1e-14) else number


@formula(combine=sum)
def min_entropy(values: ValueCounts) -> float:
    """Return the smallest entropy of a group, in bits (Wei et al. 2024, Eq. 1 and 2).

    >>> min_entropy(_example())
    0.0
    """
    return float(_entropies(values).min() / np.log(2))


@formula("l", combine=min)
def frequency_l(values: ValueCounts) -> float:
    """Return the smallest |g| / count of the most frequent value (Dewri et al. 2011, Definition 4).

    >>> frequency_l(_example())
    1.0
    """
    return float((values.sizes / _largest(values)).min())


@formula()
def weighted_l(counts: Counts) -> float:
    """Return the mean over records of their group's ℓ, the least over the sensitive attributes.

    >>> counts = Counts(np.array([2, 2]), {"s": _example()})
    >>> weighted_l(counts)
    1.0
    """
    if not counts.sensitive:
        raise AuditError("weighted_l: name at least one sensitive attribute")
    diversity = np.full(counts.n_groups, np.inf)
    for values in counts.sensitive.values():
        diversity = np.minimum(diversity, values.sizes / _largest(values))
    return float((counts.sizes * diversity).sum() / counts.n_records)


@formula(combine=max)
def alpha(values: ValueCounts) -> float:
    """Return the largest relative frequency of a value in a group (Wong et al. 2006, (α,k)-anonymity).

    >>> alpha(_example())
    1.0
    """
    return float((_largest(values) / values.sizes).max())


@formula(combine=min)
def recursive_l(values: ValueCounts, c: float) -> float:
    """Return the largest ℓ with r₁ < c(r_ℓ+…+r_m) in every group, 0 if none (Machanavajjhala et al.).

    Args:
        values: The counts of one attribute.
        c: The factor.

    >>> recursive_l(_example(), c=2)
    1.0
    """
    if not c > 0:
        raise AuditError(f"c: expected a number above 0, got {c!r}")
    values = values.worst
    order = np.lexsort((-values.count, values.group))
    count = values.count[order]
    ends = np.cumsum(values.sizes)
    tail = ends[values.group] - (np.cumsum(count) - count)
    largest = count[values.starts][values.group]
    holds = largest < c * tail
    # tails shrink with ℓ, so the number of ℓ that hold is the largest that holds
    return float(np.add.reduceat(holds.astype(np.int64), values.starts).min())


@formula(combine=max)
def t(values: ValueCounts, distance: str = "equal", reference: str = "released") -> float:
    """Return the largest earth mover's distance between a group and the reference (Li et al. 2007).

    The hierarchical distance charges λ/H for what passes a node of level λ. Summed over the tree
    this is the mean, over the levels below the root, of the equal distance between the nodes.

    Args:
        values: The counts of one attribute.
        distance: `"equal"`, `"ordered"` or `"hierarchical"`.
        reference: The distribution in the `"released"` or in the `"original"` table.

    >>> t(_example()), t(_example(), distance="ordered")
    (0.5, 0.5)
    """
    distances = ["equal", "ordered", "hierarchical"]
    if distance not in distances:
        raise AuditError(
            f"distance: expected one of {distances}, got {distance!r}{nearest(distance, distances)}"
        )
    values = values.present
    q = _reference(values, reference)
    if not len(values.sizes):
        return 0.0
    if distance == "equal":
        return float(_equal(values, q).max())
    if distance == "ordered":
        return float(_ordered_distance(values, q).max())
    levels = [values.at_level(level) for level in range(values.height)]
    total = sum(_equal(v, _reference(v, reference)) for v in levels)
    return float(np.max(total / len(levels)))


@formula(combine=max)
def beta(values: ValueCounts, enhanced: bool = False, reference: str = "released") -> float:
    """Return the largest relative gain (p−q)/q of a value (Cao & Karras 2012).

    Enhanced β-likeness also bounds the gain by −ln q; if a gain is larger, no β holds, and the
    largest gain that a table of that size could have (its records − 1) is returned instead.

    Args:
        values: The counts of one attribute.
        enhanced: Whether to require the second bound.
        reference: The distribution in the `"released"` or in the `"original"` table.

    >>> beta(_example())
    1.0
    """
    values = values.present
    q = _reference(values, reference)[values.value]
    gain = (values.share - q) / q
    if enhanced and (gain[gain > 0] > -np.log(q[gain > 0])).any():
        return float(_reference_counts(values, reference).sum() - 1)
    return max(0.0, float(gain.max(initial=0.0)))


@formula(combine=max)
def delta(values: ValueCounts, reference: str = "released") -> float:
    """Return the largest |log₂(p/q)| of a value present in a group (Brickell & Shmatikov 2008, ARX).

    Args:
        values: The counts of one attribute.
        reference: The distribution in the `"released"` or in the `"original"` table.

    >>> delta(_example())
    1.0
    """
    values = values.present
    q = _reference(values, reference)[values.value]
    return float(np.abs(np.log2(values.share / q)).max(initial=0.0))


def _example() -> ValueCounts:
    """Return two groups, {x, x} and {y, y}."""
    two = np.array([2, 2])
    return ValueCounts("s", two, np.array([0, 1]), np.array([0, 1]), two, 2)


def _entropies(values: ValueCounts) -> FloatArray:
    """Return the natural-log entropy of every group."""
    values = values.worst
    p = values.share
    sums = np.add.reduceat(-p * np.log(p), values.starts)
    return np.maximum(sums, 0.0)


def _least_diverse(values: ValueCounts) -> list[IntArray]:
    """Return the counts of the groups with the smallest entropy up to rounding, equal groups once."""
    entropies = _entropies(values)
    distinct, groups = np.unique(entropies, return_index=True)
    stops = np.append(values.starts[1:], len(values.count))
    return [
        values.count[values.starts[g] : stops[g]] for g in groups[distinct < distinct[0] + 1e-9]
    ]


def _entropy(counts: IntArray) -> float:
    """Return the natural-log entropy of one group; the sum is rounded once."""
    n = int(counts.sum())
    return max(0.0, math.fsum(c / n * math.log(n / c) for c in counts.tolist()))


def _largest(values: ValueCounts) -> IntArray:
    """Return the count of the most frequent value of every group."""
    values = values.worst
    return np.maximum.reduceat(values.count, values.starts)


def _reference_counts(values: ValueCounts, reference: str) -> IntArray:
    if reference == "released":
        return values.released
    if reference != "original":
        raise AuditError(f"reference: expected 'released' or 'original', got {reference!r}")
    if values.original is None:
        raise AuditError(
            f"reference: 'original' needs the original values of {str(values.name)!r}; "
            f"give them as original="
        )
    return values.original


def _reference(values: ValueCounts, reference: str) -> FloatArray:
    """Return q(v), the frequency of every value in the reference."""
    totals = _reference_counts(values, reference)
    return np.asarray(totals / max(totals.sum(), 1), dtype=np.float64)


def _equal(values: ValueCounts, q: FloatArray) -> FloatArray:
    """Return ½Σ|p−q| of every group, as the sum of the gains: both distributions sum to one."""
    gain = np.maximum(values.share - q[values.value], 0.0)
    return np.add.reduceat(gain, values.starts)


def _ordered_distance(values: ValueCounts, q: FloatArray) -> FloatArray:
    """Return Σᵢ|Σ_{j≤i}(pⱼ−qⱼ)|/(M−1) of every group, over the M values of the reference."""
    present = q > 0
    m = int(present.sum())
    if m == 1:
        return np.zeros(len(values.sizes))
    position = (np.cumsum(present) - 1)[values.value]
    cumulative_q = np.cumsum(q[present])
    area = np.concatenate([[0.0], np.cumsum(cumulative_q)])
    starts = values.starts
    running_sum = np.cumsum(values.count)
    before_group = running_sum[starts] - values.count[starts]
    # between two of its values a group's cumulative share is a constant a, and cumulative_q rises:
    # Σ|a − Q| splits at the place where Q passes a
    a = (running_sum - before_group[values.group]) / values.sizes[values.group]
    stop = np.append(position[1:], m)
    stop[np.append(starts[1:], len(position)) - 1] = m
    cross = np.clip(np.searchsorted(cumulative_q, a), position, stop)
    below = a * (cross - position) - (area[cross] - area[position])
    above = (area[stop] - area[cross]) - a * (stop - cross)
    # before a group's first value its cumulative share is 0
    head = area[position[starts]]
    return np.asarray((head + np.add.reduceat(below + above, starts)) / (m - 1))
