"""A Dask DataFrame is the table: whatever its partitions, as in memory and as by DuckDB."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo import Table
from privmoo.errors import PrivmooError, TableError
from tests.engines.test_scanned_release import ROLES, people
from tests.engines.test_scanning import VALUES, outcome, tables
from tests.scenery.scanning import roles_of, same

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("duckdb")


@pytest.fixture(autouse=True, scope="module")
def _one_after_the_other() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def cut(frame: pd.DataFrame, cuts: list[int], *, as_is: bool = False) -> Any:
    """Partitions that end where it is said, also empty ones; as they are, or with Dask's own texts."""
    ends = [0, *sorted(min(c, len(frame)) for c in cuts), len(frame)]
    pieces = [frame.iloc[a:b] for a, b in itertools.pairwise(ends)]
    if as_is:
        return dd.from_map(lambda i: pieces[i], range(len(pieces)), meta=frame.iloc[:0])
    return dd.from_delayed(
        [dask.delayed(piece) for piece in pieces], meta=frame.iloc[:0], verify_meta=False
    )


CUTS = st.lists(st.integers(0, 25), max_size=3)


@settings(deadline=None, max_examples=60)
@given(tables(tuple(VALUES)), CUTS)
def test_it_is_the_table_in_memory(
    drawn: tuple[pd.DataFrame, dict[str, Any]], cuts: list[int]
) -> None:
    frame, roles = drawn
    source = cut(frame, cuts)
    expected = outcome(lambda: Table(source.compute(), **roles))
    found = outcome(lambda: Table.scan(source, **roles))
    if isinstance(expected, str):
        assert found == expected
        return
    assert not isinstance(found, str), found
    same(found, expected)


@settings(deadline=None, max_examples=25)
@given(tables(tuple(VALUES)), CUTS)
def test_it_is_what_duckdb_reads(
    drawn: tuple[pd.DataFrame, dict[str, Any]], cuts: list[int]
) -> None:
    frame, roles = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        frame.to_parquet(path, index=False)
        frame = pd.read_parquet(path)
        expected = outcome(lambda: Table.scan(path, **roles))
        # Else Dask makes texts of all objects.
        with dask.config.set({"dataframe.convert-string": False}):
            found = outcome(lambda: Table.scan(cut(frame, cuts, as_is=True), **roles))
    if isinstance(expected, str):
        assert found == expected
        return
    assert not isinstance(found, str), found
    same(found, expected)


ODD = [1, 1.0, True, 0, False, "a", "1", None, [1], float("nan"), 2.5, pd.Timestamp("2020-01-01")]


@pytest.mark.faults
@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(ODD), min_size=2, max_size=12), CUTS)
def test_mixed_types_are_refused_alike(cells: list[Any], cuts: list[int]) -> None:
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": range(len(cells))})
    with dask.config.set({"dataframe.convert-string": False}):
        source = cut(frame, cuts, as_is=True)
        assert source["a"].dtype == object
    for roles in ({"quasi_identifiers": ["a"]}, {"quasi_identifiers": ["b"], "sensitive": "a"}):
        expected = outcome(lambda roles=roles: Table(source.compute(), **roles))
        found = outcome(lambda roles=roles: Table.scan(source, **roles))
        if isinstance(expected, str):
            assert found == expected
        else:
            assert not isinstance(found, str), found
            same(found, expected)


@pytest.mark.parametrize("ordered", [True, False])
def test_categories_are_united(ordered: bool) -> None:
    whole = pd.Categorical(list("cabbacab"), categories=list("cab"), ordered=ordered)
    frame = pd.DataFrame({"a": whole, "b": range(8), "s": pd.Categorical(list("xyxyzzzz"))})
    roles = {"quasi_identifiers": ["a", "b"], "sensitive": "s"}
    same(Table.scan(cut(frame, [3, 3]), **roles), Table(frame, **roles))
    if not ordered:
        pieces = [frame.iloc[:4].copy(), frame.iloc[4:].copy()]
        for piece in pieces:
            piece["s"] = piece["s"].cat.remove_unused_categories()
        source = dd.from_map(lambda i: pieces[i], range(2), meta=frame.iloc[:0])
        same(Table.scan(source, **roles), Table(source.compute(), **roles))


def test_fronts_are_those_of_memory_and_of_duckdb(tmp_path: Path) -> None:
    table = pm.datasets.adult("dewri-kl")
    path = tmp_path / "adult.parquet"
    table.frame.to_parquet(path, index=False)
    roles = roles_of(table)
    source = dd.from_pandas(table.frame, npartitions=4)
    found = [Table.scan(source, **roles), Table.scan(path, **roles), table]
    same(found[0], found[1])
    same(found[0], table)
    for name in ("ZeroSuppression", "KLSafe"):
        budget = {"max_suppression": 0.1} if name == "KLSafe" else {}
        fronts = [
            pm.optimize(
                getattr(pm.problems, name)(own, **budget),
                budget=pm.Evaluations(500),
                seed=3,
                progress=False,
            )
            for own in found
        ]
        for other in fronts[1:]:
            assert np.array_equal(fronts[0].X, other.X)
            assert np.array_equal(fronts[0].values, other.values)


def test_measures_on_counts_are_those_of_memory() -> None:
    frame = people()
    tables = Table(frame, **ROLES), Table.scan(dd.from_pandas(frame, npartitions=3), **ROLES)
    measures = [pm.KAnonymity(), pm.GeneralLoss(), pm.Discernibility(), pm.TCloseness()]
    values = []
    for own in tables:
        problem = pm.problems.Cuts(own, objectives=measures, suppression=pm.Budget(0.1))
        X = np.random.default_rng(1).random((30, problem.n_var)) < 0.5
        values.append(problem.evaluate(X.astype(float), return_values_of=["F"]))
    assert np.array_equal(values[0], values[1], equal_nan=True)


def test_fingerprints_do_not_depend_on_partitions() -> None:
    frame = people(100)
    prints = [
        Table.scan(dd.from_pandas(own, npartitions=n), **ROLES).fingerprint
        for own, n in ((frame, 1), (frame, 3), (people(100, 2), 3))
    ]
    assert prints[0] == prints[1] != prints[2]


def failing(frame: pd.DataFrame) -> pd.DataFrame:
    if len(frame) and "person 250" in set(frame["name"]):
        raise ValueError("the secret of person 250")
    return frame


def test_a_partition_that_cannot_be_read_is_named() -> None:
    source = dd.from_pandas(people(), npartitions=5)
    source = source.map_partitions(failing, meta=source._meta)
    with pytest.raises(
        TableError, match=r"^the Dask DataFrame: partition 3 \(counted .*ValueError"
    ) as caught:
        Table.scan(source, **ROLES)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("converted", [True, False])
@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_half_of_a_surrogate_pair_is_told_in_a_sentence(
    role: str, converted: bool, tmp_path: Path
) -> None:
    import dask
    import dask.dataframe as dd

    frame = pd.DataFrame({"age": [1, 1, 2, 2]})
    frame["ill"] = pd.Series(["flu", "a\ud800b", "flu", "cold"], dtype=object)
    roles: dict[str, Any] = {"quasi_identifiers": {"age": pm.Hierarchy.flat()}, role: ["ill"]}

    def release() -> None:
        table = Table.scan(dd.from_pandas(frame, npartitions=2), **roles)
        pm.Front.of(pm.problems.Cuts(table), [[1]])[0].write(tmp_path / "public.csv")

    sentence = r"half of a surrogate pair|a file cannot hold"
    converting = dask.config.set({"dataframe.convert-string": converted})
    with converting, pytest.raises(PrivmooError, match=sentence) as error:
        release()
    assert "\ud800" not in str(error.value) and not list(tmp_path.iterdir())


def test_what_is_not_there_or_too_much_is_said() -> None:
    frame = people(300)
    source = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(TableError, match="granulate 'age'"):
        Table.scan(source, max_tuples=20, **ROLES)
    with pytest.raises(TableError, match="more than 190 distinct combinations"):
        Table.scan(source, max_tuples=190, **ROLES)
    with pytest.raises(TableError, match="memory is for files"):
        Table.scan(source, memory="2GB", **ROLES)
    with pytest.raises(TableError, match="got a Dask Series"):
        Table.scan(source["age"], **ROLES)
    with pytest.raises(TableError, match="has columns but no rows"):
        Table.scan(source[source["age"] > 99], **ROLES)
