"""How many distinct tuples a table has, estimated from a sample before anything is counted."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.columns import QuasiIdentifier
from privmoo.data.source import Source
from privmoo.errors import PrivmooError, TableError

__all__ = ["check_fits", "default_max_tuples", "estimate_distinct"]

SAMPLE = 200_000
_BYTES = 250


def default_max_tuples(n_qis: int) -> int:
    """Return the number of distinct tuples that fit into a quarter of the machine's memory.

    >>> default_max_tuples(4) > default_max_tuples(20) > 10_000
    True
    """
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):  # not every system says
        memory = 2**33
    return max(memory // 4 // (_BYTES + 60 * n_qis), 100_000)


def estimate_distinct(codes: NDArray[np.int64], n_rows: int) -> int:
    """Estimate the number of distinct values from a sample (GEE, Charikar et al. 2000).

    Values seen once stand for √(n/sample) others; no estimator from a sample has a smaller worst-case
    error.

    Args:
        codes: The codes of the values in the sample.
        n_rows: The number of all rows.

    >>> estimate_distinct(np.array([0, 0, 1, 2]), 16)
    5
    """
    counts = np.bincount(codes)
    once, often = int((counts == 1).sum()), int((counts > 1).sum())
    return min(n_rows, round(math.sqrt(n_rows / len(codes)) * once) + often)


def check_fits(
    source: Source, quasi_identifiers: Mapping[str, QuasiIdentifier], max_tuples: int
) -> None:
    """Raise if the distinct tuples will not fit into memory, and name the column to granulate.

    Args:
        source: The records.
        quasi_identifiers: The description of every quasi-identifier.
        max_tuples: The largest number of distinct tuples.

    Raises:
        TableError: There are more, by an estimate from a sample.
    """
    names, n_rows = list(quasi_identifiers), source.n_rows
    if n_rows is not None and n_rows <= max_tuples:
        return
    sample = source.sample(names, min(SAMPLE, 4 * max_tuples))
    if sample.complete or not len(sample.frame):
        n_rows = len(sample.frame)
    elif n_rows is None:
        # If the number of rows is unknown (packed CSV), the sample counts as a hundredth of them.
        n_rows = sample.n_rows or 100 * len(sample.frame)
    if n_rows <= max_tuples:
        return
    codes = pd.DataFrame({n: _codes(sample.frame[n]) for n in names})
    about = _tuples(codes, n_rows)
    if about <= max_tuples:
        return
    values = {name: estimate_distinct(codes[name].to_numpy(), n_rows) for name in names}
    without = {name: _tuples(codes.drop(columns=name), n_rows) for name in names}
    widest = min(names, key=lambda name: (without[name], -values[name]))
    levels = _levels(sample.frame[widest], quasi_identifiers[widest], codes, widest, n_rows)
    by_level = "".join(
        f", about {n:,} with the values of level {level} of its hierarchy instead"
        for level, n in levels
    )
    raise TableError(
        f"{source.name} has about {about:,} distinct combinations of quasi-identifiers, and at most "
        f"{max_tuples:,} would fit; granulate {widest!r} (about {values[widest]:,} values): there would be "
        f"about {without[widest]:,} combinations without it{by_level}; or give a larger max_tuples"
    )


def _codes(column: pd.Series) -> NDArray[np.int64]:
    try:
        return pd.factorize(column, use_na_sentinel=False)[0].astype(np.int64)
    except TypeError:  # lists and other values that the exact count will refuse
        return pd.factorize(column.map(repr))[0].astype(np.int64)


def _tuples(codes: pd.DataFrame, n_rows: int) -> int:
    if codes.columns.empty:
        return 1
    numbers = codes.groupby(list(codes.columns), sort=False).ngroup().to_numpy(dtype=np.int64)
    return estimate_distinct(np.asarray(numbers, np.int64), n_rows)


def _levels(
    column: pd.Series, qi: QuasiIdentifier, codes: pd.DataFrame, name: str, n_rows: int
) -> list[tuple[int, int]]:
    """Return the first level of a hierarchy that makes a difference, and the tuples it leaves."""
    if qi.hierarchy is None:
        return []
    try:
        bound = qi.hierarchy.bind(column)
        leaves = bound.encode(column)
    except PrivmooError:
        return []
    before = _tuples(codes, n_rows)
    for level in range(1, bound.height):
        codes_at_level = codes.assign(**{name: bound.level_blocks[level][leaves]})
        n_tuples = _tuples(codes_at_level, n_rows)
        if n_tuples < 0.9 * before:
            return [(level, n_tuples)]
    return []
