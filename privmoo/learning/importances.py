"""Importances: the columns that decision trees rely on, in the original and in releases."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.learning.experiment import Method, Split, prepare, run_all
from privmoo.release.release import Release

__all__ = ["importances"]


def importances(
    table: Table,
    releases: Mapping[str, Release],
    *,
    repeats: int = 10,
    test_size: float = 0.3,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Compute the importances of the columns in decision trees (Wei et al. 2025, Tables C8 and C9).

    Trees are trained as in `scores`, on the training records of the same splits. The importance of a
    column is the share of the trees' gain in purity that its features have together.

    Args:
        table: The original, with a target.
        releases: Releases by method.
        repeats: The number of splits; shares are means over them.
        test_size: The share of records that are not trained on.
        seed: The seed of the splits and trees.
        jobs: The number of processes; PRIVMOO_THREADS, or one per core, by default.
        progress: Whether to show a progress bar.

    Returns:
        One row per method and column: role, share, std, rank (1 is the most important; equal shares
        in the table's order) and change, the difference from the original's share.

    >>> import privmoo as pm
    >>> df = pd.DataFrame({"age": list(range(40)), "sex": list("FM") * 20,
    ...                    "y": ["a"] * 20 + ["b"] * 20})
    >>> table = pm.Table(df, quasi_identifiers=["age"], target="y", others="insensitive")
    >>> importances(table, {}, repeats=2, jobs=1)[["column", "share", "rank"]].values.tolist()
    [['age', 1.0, 1], ['sex', 0.0, 2]]
    """
    learning = prepare(table, releases, repeats=repeats, test_size=test_size, seed=seed)
    columns = list(dict.fromkeys(learning.columns))
    position = np.array([columns.index(name) for name in learning.columns], dtype=np.intp)
    tasks = [
        (method, split, position, seed) for method in learning.methods for split in learning.splits
    ]
    results = run_all(_shares, tasks, jobs=jobs, progress=progress, title="growing trees")
    shares = np.reshape(results, (len(learning.methods), repeats, len(columns)))
    baseline = shares[0].mean(axis=0)
    rows = []
    for method, by_split in zip(learning.methods, shares, strict=True):
        mean = by_split.mean(axis=0)
        spread = by_split.std(axis=0, ddof=1) if repeats > 1 else np.full(len(columns), np.nan)
        order = np.argsort(-mean, kind="stable")
        rows += [
            (
                method.name,
                columns[i],
                table.roles[columns[i]],
                float(mean[i]),
                float(spread[i]),
                rank,
                float(mean[i] - baseline[i]),
            )
            for rank, i in enumerate(order, 1)
        ]
    names = ["method", "column", "role", "share", "std", "rank", "change"]
    return pd.DataFrame(rows, columns=names)


def _shares(
    method: Method, split: Split, position: NDArray[np.intp], seed: int
) -> NDArray[np.float64]:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(random_state=seed).fit(*method.training(split))
    gains = np.bincount(position, weights=tree.feature_importances_)
    return np.asarray(gains / gains.sum() if gains.sum() else gains)  # a tree may be a single leaf
