"""Columns that are unique only together, against every combination."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from privmoo.audit import nearly_unique, unique_together


def differ(df: pd.DataFrame, columns: tuple[str, ...]) -> bool:
    """Count combinations the slow way; missing is a value."""
    rows = {tuple(str(value) for value in row) for row in df[list(columns)].to_numpy().tolist()}
    return len(rows) >= 0.9 * len(df)


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(0, 6))
def test_as_by_every_combination(seed: int, n: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {f"c{j}": rng.integers(0, int(rng.integers(1, 12)), n) for j in range(width)}
    ).astype(object)
    if width:
        df.loc[rng.random(n) < 0.1, "c0"] = None
    columns = list(df.columns)
    together = unique_together(df, columns)
    alone = nearly_unique(df, columns)
    others = tuple(name for name in columns if name not in alone)
    if len(others) < 2 or not differ(df, others):
        assert not together
        return
    assert together and differ(df, tuple(map(str, together))) and not {*together} & {*alone}
    for fewer in itertools.combinations(together, len(together) - 1):
        assert not fewer or not differ(df, tuple(map(str, fewer))) or len(together) == 1
