"""Evaluate a hybrid release: what it preserves of every column and does to every partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from privmoo.audit import mean_levels
from privmoo.data.table import Table
from privmoo.errors import ReleaseError
from privmoo.hybrid.splitting import Split
from privmoo.learning.values import Reading, check_release, read_original, read_released
from privmoo.recodings.nodes import numeric_columns
from privmoo.release.release import Release
from privmoo.release.utility import ReleasedRows

__all__ = ["by_partition", "preservation"]


def preservation(
    table: Table, release: Release, *, bounds: Mapping[str, tuple[float, float]] | None = None
) -> pd.DataFrame:
    """Return how much the distribution of every quasi-identifier changed (Majeed and Hwang 2023, IV-F.3).

    Args:
        table: The original.
        release: Any release of it.
        bounds: The smallest and largest number of a column's domain; those of its hierarchy and data by
            default.

    Returns:
        A row per quasi-identifier: the distance of both distributions (half the sum of absolute
        differences of shares, from 0 to 1; a label that stands for several values counts an equal part
        for each), mean and standard deviation before and after for numbers, and how many released
        numbers lie outside the original domain, which must be none.

    >>> import privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"sex": list("ffm")}), quasi_identifiers={"sex": pm.Hierarchy.flat()})
    >>> star = pm.make_release(table, pm.recodings.cut_recoding(table, [[0]]), seed=1)
    >>> preservation(table, star)["distance"].round(4).tolist()
    [0.1667]
    """
    check_release(table, release)
    rows = []
    for qi, numbers in zip(table.qis, numeric_columns(table), strict=True):
        before, after = read_original(table, qi.name), read_released(table, qi.name, release)
        values = [_shares(before), _shares(after)]
        shares = pd.concat(values, axis=1).fillna(0.0).to_numpy()
        row: dict[str, Any] = {"distance": 0.5 * float(np.abs(shares[:, 0] - shares[:, 1]).sum())}
        if numbers is not None:
            released_numbers = after.numbers()
            domain = np.append(numbers, [*np.asarray(qi.numbers), *(bounds or {}).get(qi.name, ())])
            row |= {
                "mean_before": numbers.mean(),
                "mean_after": released_numbers.mean(),
                "std_before": numbers.std(),
                "std_after": released_numbers.std(),
            }
            outside = (released_numbers < np.nanmin(domain)) | (
                released_numbers > np.nanmax(domain)
            )
            row["out_of_range"] = int(outside.sum())
        else:
            row["out_of_range"] = 0  # a label of its hierarchy, or it could not have been read
        rows.append(row)
    columns = ["distance", "mean_before", "mean_after", "std_before", "std_after", "out_of_range"]
    names = pd.Index(table.qi_names, name="quasi-identifier")
    return pd.DataFrame(rows, index=names).reindex(columns=columns)


def _shares(reading: Reading) -> pd.Series[float]:
    """Return the share of every value, by its number or name; a label's share goes to its values."""
    counts = np.bincount(reading.codes, minlength=len(reading.leaves)) / len(reading.codes)
    keys: list[Any] = []
    parts: list[float] = []
    names, numbers = reading.domain.leaves, reading.domain.numbers
    for share, leaves, number in zip(
        counts, reading.leaves, reading.numbers_of_values, strict=True
    ):
        if not len(leaves):
            keys.append(float(number))
            parts.append(float(share))
        for leaf in leaves:
            keys.append(names[leaf] if numbers is None else float(numbers[leaf]))
            parts.append(float(share) / len(leaves))
    return pd.Series(parts, index=keys, dtype=np.float64).groupby(level=0).sum()


def by_partition(table: Table, release: Release, split: Split) -> pd.DataFrame:
    """Return originality, distortion and disclosure risk of both partitions and of all records.

    All per record, recomputed from original and release: IL of the paper's Table VI is its distortion
    measure (Eq. 4), of unknown scale, so compare ranks.

    Args:
        table: The original.
        release: A release by the hybrid scheme.
        split: Which records are violating.

    >>> import privmoo as pm
    >>> table = pm.testing.example_hybrid_table()
    >>> scheme = pm.HybridScheme(table, 5, patterns=["race", "country"], strict=True)
    >>> by_partition(table, scheme.run(seed=1), scheme.split).index.tolist()
    ['violating', 'other', 'all']
    """
    check_release(table, release)
    recoding = release.recoding
    if recoding is None or any(column.scope != "record" for column in recoding.columns):
        raise ReleaseError(
            "release: it was not made by the hybrid scheme, which publishes cell by cell; use HybridScheme"
        )
    if len(split.violating) != table.n_records:
        raise ReleaseError(
            f"split covers {len(split.violating):,} records, but the table has {table.n_records:,}"
        )
    released_rows = ReleasedRows(table, release.frame, recoding, release.rows)
    unchanged = released_rows.unchanged_cells().to_numpy()
    risks = list(released_rows.disclosure().values())
    violating = split.violating[release.rows]
    weights = np.array([qi.weight for qi in table.qis])
    partitions = {}
    for name, rows in (("violating", violating), ("other", ~violating), ("all", violating | True)):
        if not rows.any():
            continue
        part = release.frame[rows]
        levels = mean_levels(part, recoding.relative_levels(), table.qi_names).to_numpy()
        partitions[name] = {
            "records": int(rows.sum()),
            "originality": float(unchanged[rows].mean()),
            "distortion": float(weights @ levels),
            "disclosure_risk": max(float(risk[rows].mean()) for risk in risks),
            "disclosure_risk_max": max(float(risk[rows].max()) for risk in risks),
        }
    return pd.DataFrame.from_dict(partitions, orient="index").astype({"records": np.int64})
