"""Local suppression: a slow version, and what must hold of the released cells on any table."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import privmoo as pm
from privmoo.audit import audit
from privmoo.errors import ProblemError
from privmoo.testing import check_baseline

Row = tuple[str, ...]


@st.composite
def tables(draw: st.DrawFn, *, columns: int = 3) -> pm.Table:
    n = draw(st.integers(6, 20))
    rows = st.lists(st.tuples(*[st.sampled_from("abc")] * columns), min_size=n, max_size=n)
    names = [f"c{j}" for j in range(columns)]
    frame = pd.DataFrame(draw(rows), columns=names)
    weights = draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=columns, max_size=columns))
    return pm.Table(
        frame,
        quasi_identifiers={
            name: pm.QuasiIdentifier(weight=w) for name, w in zip(names, weights, strict=True)
        },
    )


def released(table: pm.Table, k: int) -> list[Row]:
    cells = pm.baselines.local_suppression(table, k).apply(table, np.arange(table.n_records))
    return [tuple(row) for row in cells.to_numpy().tolist()]


def slow(table: pm.Table, k: int) -> list[Row | None]:
    """Every set of columns by cost; None for the records that nothing settles."""
    rows = [tuple(row) for row in table.frame.to_numpy().tolist()]
    prices = [qi.weight for qi in table.qis]
    n = range(len(prices))
    subsets = list(chain.from_iterable(combinations(n, size) for size in range(len(prices) + 1)))
    result: list[Row | None] = [None] * len(rows)

    def common(subset: tuple[int, ...]) -> dict[int, Row]:
        blank = {
            i: tuple("*" if j in subset else row[j] for j in n)
            for i, row in enumerate(rows)
            if result[i] is None
        }
        counts = Counter(blank.values())
        return {i: row for i, row in blank.items() if counts[row] >= k}

    for cost in sorted({sum(prices[j] for j in subset) for subset in subsets}):
        alike = [s for s in subsets if sum(prices[j] for j in s) == cost]
        for subset in sorted(alike, key=lambda s: (-len(common(s)), s)):
            for i, row in common(subset).items():
                result[i] = row
    return result


@given(tables(), st.integers(2, 6))
def test_cells_equal_those_of_a_slow_version(table: pm.Table, k: int) -> None:
    expected, rows = slow(table, k), released(table, k)
    if None not in expected:  # the others join classes, which changes these
        assert rows == expected
    counts = Counter(rows)
    assert min(counts.values()) >= k
    for row, original in zip(rows, table.frame.to_numpy().tolist(), strict=True):
        assert all(cell in ("*", str(value)) for cell, value in zip(row, original, strict=True))


@given(tables(columns=2), st.integers(2, 6))
@pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
def test_the_audit_counts_k(table: pm.Table, k: int) -> None:
    release = pm.make_release(table, pm.baselines.local_suppression(table, k), seed=1)
    assert audit(release.frame, quasi_identifiers=table.qi_names).k >= k


def test_it_keeps_the_contract() -> None:
    check_baseline(pm.baselines.local_suppression)


def test_the_less_important_column_is_blanked() -> None:
    frame = pd.DataFrame({"a": list("xy"), "b": list("uv")}).iloc[[0, 0, 1, 1]]
    frame = frame.assign(b=list("uvuv"))
    for weights, kept in (((2.0, 1.0), "a"), ((1.0, 2.0), "b")):
        qis = {n: pm.QuasiIdentifier(weight=w) for n, w in zip("ab", weights, strict=True)}
        table = pm.Table(frame, quasi_identifiers=qis)
        cells = pm.baselines.local_suppression(table, 2).apply(table, np.arange(4))
        assert (cells == "*").all().to_dict() == {n: n != kept for n in "ab"}


def test_many_columns_and_bad_input() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 2, (60, 20)), columns=[f"c{j}" for j in range(20)])
    table = pm.Table(frame, quasi_identifiers=list(frame))
    assert min(Counter(released(table, 7)).values()) >= 7
    with pytest.raises(ProblemError, match="at most 60"):
        pm.baselines.local_suppression(table, 61)
    with pytest.raises(ProblemError, match="at least 2"):
        pm.baselines.local_suppression(table, 1)


def test_a_column_that_may_not_be_blanked_is_refused() -> None:
    df = pd.DataFrame({"age": [20, 20, 30, 31], "sex": list("ffmm")})
    sex = pm.QuasiIdentifier(hierarchy=pm.Hierarchy.flat(), max_level=0)
    table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.flat(), "sex": sex})
    with pytest.raises(ProblemError, match="column 'sex' has max_level=0 and may not be blanked"):
        pm.baselines.local_suppression(table, 2)
