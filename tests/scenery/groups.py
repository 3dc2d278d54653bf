"""Small random tables, and the QI-groups that pandas finds in them: for tests of grouping and policies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.groups.groups import Grouping
from privmoo.hierarchy import Hierarchy


def make_table(
    rng: np.random.Generator, *, n: int = 60, m: int = 3, width: int = 5, **roles: Any
) -> Table:
    frame = pd.DataFrame({f"q{j}": rng.integers(0, width, n) for j in range(m)})
    frame["s"] = rng.integers(0, 4, n)
    frame["u"] = rng.integers(0, 3, n)
    frame["who"] = rng.choice(["ann", "bob", "cid", None, *map(str, range(n // 2))], n)
    frame.loc[:1, ["s", "u"]] = [[0, 0], [1, 1]]
    frame.loc[0, "who"] = "ann"
    qis = {
        f"q{j}": QuasiIdentifier(hierarchy=Hierarchy.ordered(range(width)), weight=1 + j % 2)
        for j in range(m)
    }
    return Table(frame, quasi_identifiers=qis, sensitive=["s", "u"], **roles)


def keys_of(table: Table, blocks: np.ndarray[Any, Any]) -> pd.Series[Any]:
    """Of every row, the blocks of its values."""
    offsets = np.concatenate([[0], np.cumsum([qi.n_leaves for qi in table.qis])])
    codes = table.tuples[table.row_tuple].astype(int)
    return pd.Series([tuple(row) for row in blocks[codes + offsets[:-1]].tolist()])


def members(found: Grouping) -> list[frozenset[int]]:
    """Rows of every group, in the order of the groups."""
    of_row = found.labels[found.table.row_tuple]
    return [frozenset(np.flatnonzero(of_row == g)) for g in range(found.n_groups)]


def expected_members(keys: pd.Series[Any]) -> set[frozenset[int]]:
    return {frozenset(rows) for rows in keys.groupby(keys).indices.values()}
