"""Small tables for the tests of clusters, and the obvious versions of what kernels compute."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.table import Table

NUMBERS = ["age", "pay"]
CATEGORIES = ["sex", "job"]


def people(
    n: int = 120, seed: int = 0, *, qis: list[str] | None = None, spread: int = 8, **roles: Any
) -> Table:
    """Records with many equal ones: two numbers, two categories, two sensitive attributes."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "age": rng.integers(20, 20 + spread, n),
            "pay": rng.integers(0, spread, n) * 0.25 - 0.5,
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["baker", "clerk", "judge"], n),
            "same": 3,
            "ill": rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05]),
            "debt": rng.choice(["no", "yes"], n, p=[0.7, 0.3]),
            "who": np.arange(n) // 2,
        }
    )
    df.loc[[0, 1], "ill"], df.loc[[0, 1], "debt"] = ["a", "b"], ["no", "yes"]
    roles.setdefault("sensitive", ["ill", "debt"])
    return Table(df, quasi_identifiers=qis or [*NUMBERS, *CATEGORIES], **roles)


@st.composite
def tables(draw: st.DrawFn, *, most: int = 24) -> Table:
    """Tables of few values, so that equal records are many; with or without numbers."""
    qis = draw(
        st.sampled_from([["age"], ["sex"], ["age", "sex"], ["age", "pay"], ["sex", "job"], None])
    )
    return people(
        draw(st.integers(4, most)),
        draw(st.integers(0, 999)),
        qis=qis,
        spread=draw(st.sampled_from([1, 2, 5, 12])),
        sensitive=draw(st.sampled_from([["ill", "debt"], ["debt"], []])),
    )


def spread(frame: pd.DataFrame, numbers: list[str], labels: NDArray[Any]) -> float:
    """Squared distance of records to their class's mean, plus one per record that is not its mode."""
    total = 0.0
    for _, own in frame.groupby(np.asarray(labels)):
        for name in own.columns:
            if name in numbers:
                total += float(((own[name] - own[name].mean()) ** 2).sum())
            else:
                total += len(own) - int(own[name].value_counts().max())
    return total


def spread_of(table: Table, labels: NDArray[Any]) -> float:
    """The same for the quasi-identifiers of a table."""
    frame = table.frame[table.qi_names]
    numbers = [qi.name for qi in table.qis if qi.numbers is not None]
    return spread(frame, numbers, labels)
