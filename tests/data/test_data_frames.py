"""Data frames of other libraries enter a table, and releases come back as the same kind."""

from __future__ import annotations

import datetime
import os
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo._util.data_frames import as_pandas, backend_of, to_backend
from privmoo.errors import TableError
from tests.scenery.scanning import same

DAY = datetime.date(2020, 1, 2)
COLUMNS: dict[str, list[Any]] = {
    "age": [31, 31, 45, 45, 31, 45],
    "sex": ["f", "f", "m", "m", None, None],
    "born": [DAY, DAY, DAY, None, None, DAY],
    "ill": ["flu", "cold", "flu", "cold", "flu", "cold"],
    "number": [2**60 + 1, None, 3, 3, 3, 3],
    "member": [True, None, False, True, True, False],
}
ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age", "sex", "born"],
    "sensitive": "ill",
    "insensitive": ["number", "member"],
}


class Stream:
    """Hands out Arrow data, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def frames() -> dict[str, Any]:
    arrow = pa.table(COLUMNS)
    made: dict[str, Any] = {"pyarrow": arrow, "stream": Stream(arrow)}
    try:
        import polars
    except ImportError:
        return made
    return {**made, "polars": polars.from_arrow(arrow)}


@pytest.mark.parametrize("name", frames())
def test_a_table_is_the_same_from_every_library(name: str) -> None:
    native = frames()[name]
    table = pm.Table(native, **ROLES)
    # A file of Arrow is how the same records come from pandas.
    same(table, pm.Table(pd.DataFrame(COLUMNS), **ROLES))
    assert table.backend == ("pyarrow" if name == "stream" else name)
    assert table.frame["number"].dtype == "Int64" and table.frame["number"][0] == 2**60 + 1


@pytest.mark.parametrize("name", frames())
def test_a_release_comes_back_as_the_same_kind(name: str) -> None:
    native = frames()[name]
    table = pm.Table(native, **ROLES)
    release = pm.make_release(table, pm.recodings.identity_recoding(table), shuffle=False)
    rows = release.to_native()
    assert type(rows) is (pa.Table if name == "stream" else type(native))
    columns = {
        c: list(rows[c].to_pylist() if hasattr(rows[c], "to_pylist") else rows[c])
        for c in ("ill", "number", "member")
    }
    assert columns == {c: COLUMNS[c] for c in columns}


def test_pandas_stays_pandas() -> None:
    table = pm.Table(pd.DataFrame(COLUMNS), **ROLES)
    release = pm.make_release(table, pm.recodings.identity_recoding(table))
    assert release.to_native() is release.frame


def test_modin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "MODIN_ENGINE", "python")
    modin = pytest.importorskip("modin.pandas")
    frame = modin.DataFrame({"age": [31, 45]}, index=[7, 9])
    table = pm.Table(frame, quasi_identifiers=["age"])
    release = pm.make_release(table, pm.recodings.identity_recoding(table))
    assert table.backend == "modin" and isinstance(release.to_native(), modin.DataFrame)


def test_categories_keep_their_order() -> None:
    polars = pytest.importorskip("polars")
    sizes = polars.Enum(["small", "middle", "large"])
    frame = polars.DataFrame({"size": polars.Series(["large", "small"], dtype=sizes)})
    table = pm.Table(frame, quasi_identifiers={"size": pm.Hierarchy.ordered()})
    assert table.qis[0].leaves == ("small", "large") or table.qis[0].leaves == (
        "small",
        "middle",
        "large",
    )
    assert as_pandas(frame)["size"].cat.ordered


def test_what_is_not_a_frame() -> None:
    with pytest.raises(TableError, match=r"data: must be a data frame .*, got dict"):
        pm.Table({"age": [31]}, quasi_identifiers=["age"])
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"age": [31]})
    with pytest.raises(TableError, match="a lazy frame of polars has no rows yet; collect it"):
        pm.Table(lazy, quasi_identifiers=["age"])
    with pytest.raises(TableError, match="data: pandas cannot hold it"):
        pm.Table(lazy.collect()["age"], quasi_identifiers=["age"])


def test_a_lazy_frame_of_dask_is_scanned() -> None:
    dd = pytest.importorskip("dask.dataframe")
    with pytest.raises(TableError, match=r"scan it with Table\.scan"):
        pm.Table(dd.from_pandas(pd.DataFrame({"age": [31]})), quasi_identifiers=["age"])


def test_other_frames_are_read_too() -> None:
    arrow = pa.table({"leaf": ["a", "b"], "group": ["x", "x"]})
    assert pm.Hierarchy.levels(arrow).leaves == ("a", "b")
    assert pm.analysis.analyse(pa.table({"age": [31, 45, 45]}), "age").n_records == 3


VALUES = {
    "int16": st.integers(-(2**15), 2**15 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "string": st.text(st.characters(codec="utf-8"), max_size=3),
}


@given(st.data(), st.sampled_from(sorted(VALUES)), st.booleans())
def test_columns_come_back_with_type_and_values(data: Any, kind: str, optional: bool) -> None:
    value = VALUES[kind]
    values = data.draw(st.lists(st.none() | value if optional else value, min_size=1, max_size=5))
    table = pa.table({"a": pa.array(values, kind)})
    back = to_backend(as_pandas(table), backend_of(table))
    assert back.column("a").to_pylist() == values
    if any(v is not None for v in values):
        assert back.schema.field("a").type in (pa.type_for_alias(kind), pa.large_string())
