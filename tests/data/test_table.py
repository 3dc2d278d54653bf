"""Table: roles, encoding, missing values, subjects, and what it refuses."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import privmoo as pm
from privmoo.errors import AuditError, ColumnError, HierarchyError, TableError

PEOPLE = pd.DataFrame(
    {
        "name": ["Ann", "Bob", "Cid", "Dee"],
        "age": [31, 31, 45, 52],
        "sex": ["f", "m", "m", "f"],
        "ill": ["flu", "flu", "cold", "flu"],
        "note": ["w", "x", "y", "z"],
    }
)

ROLES_OF_PEOPLE: dict[str, Any] = {
    "quasi_identifiers": ["age"],
    "sensitive": "ill",
    "insensitive": "note",
}


def table(**changes: object) -> pm.Table:
    roles: dict[str, object] = {
        "quasi_identifiers": {"age": pm.Hierarchy.ordered(), "sex": pm.Hierarchy.flat()},
        "sensitive": "ill",
        "identifiers": "name",
    }
    return pm.Table(PEOPLE, **{**roles, **changes})


def test_roles_and_what_is_released() -> None:
    t = table()
    assert t.columns_of("identifying") == [
        "name",
        "note",
    ]  # columns without a role are not released
    assert t.released_columns == ["age", "sex", "ill"]
    assert table(others="insensitive").released_columns == ["age", "sex", "ill", "note"]
    assert table(insensitive=["note"]).released_columns == ["age", "sex", "ill", "note"]
    with_target = table(target="ill")
    assert with_target.target is with_target.sensitive["ill"]
    assert table(target="note").columns_of("insensitive") == ["note"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([1, 2, 5, 9]),
            st.sampled_from("ab"),
            st.sampled_from([None, 0.5, 1.5]),
            st.sampled_from("xyz"),
        ),
        min_size=2,
        max_size=30,
    ).filter(lambda rows: len({r[3] for r in rows}) > 1 and any(r[2] is not None for r in rows))
)
def test_distinct_tuples_equal_a_group_by(rows: list[tuple[object, ...]]) -> None:
    df = pd.DataFrame(rows, columns=["a", "b", "c", "s"])
    df["c"] = df["c"].astype(float)
    t = pm.Table(df, quasi_identifiers=["a", "b", "c"], sensitive=["s"])
    expected = df.groupby(["a", "b", "c"], dropna=False).size()
    assert t.n_tuples == len(expected)
    assert sorted(t.weights) == sorted(expected)
    for row in range(len(df)):
        words = [
            qi.leaves[code] for qi, code in zip(t.qis, t.tuples[t.row_tuple[row]], strict=True)
        ]
        values = [pm.hierarchy.canonical(v) for v in df.loc[row, ["a", "b", "c"]]]
        assert words == values
    s = t.sensitive["s"]
    for number in range(t.n_tuples):
        own = {
            s.values[s.codes[e]]: s.counts[e]
            for e in range(s.offsets[number], s.offsets[number + 1])
        }
        assert own == df["s"][t.row_tuple == number].value_counts().to_dict()
    assert s.totals.sum() == len(df)
    # Tuples are sorted by the attribute with most leaves: its blocks are runs.
    assert (np.diff(t.tuples[:, t.sort_order[0]].astype(int)) >= 0).all()


def test_all_kinds_of_columns() -> None:
    df = pd.DataFrame(
        {
            "integer": [3, 1, 3],
            "float": [0.5, np.nan, 0.5],
            "text": ["b", "a", None],
            "category": pd.Categorical(
                ["lo", "hi", "lo"], categories=["lo", "mid", "hi"], ordered=True
            ),
            "bool": [True, False, True],
            "nullable": pd.array([1, None, 2], dtype="Int64"),
            "date": pd.to_datetime(["2020-01-02", "2021-05-06", "2020-01-02"]),
        }
    )
    t = pm.Table(df, quasi_identifiers=list(df.columns))
    leaves = {qi.name: qi.leaves for qi in t.qis}
    assert leaves["integer"] == ("1", "3")
    assert leaves["float"] == ("0.5", "missing")
    assert leaves["text"] == ("a", "b", "missing")
    assert leaves["bool"] == ("False", "True")
    assert leaves["nullable"] == ("1", "2", "missing")
    assert leaves["date"] == ("2020-01-02", "2021-05-06")
    assert t.qis[0].numbers is not None and t.qis[0].numbers.tolist() == [1, 3]


def test_missing_values_are_kept_or_dropped_on_request() -> None:
    df = PEOPLE.assign(age=pd.Series([31, None, 45, 52]))
    roles = {"quasi_identifiers": ["age", "sex"], "sensitive": "ill"}
    kept = pm.Table(df, **roles)
    assert kept.n_records == 4 and "missing" in kept.qis[0].leaves
    dropped = pm.Table(df, missing="drop", **roles)
    assert dropped.n_records == 3 and dropped.n_dropped == 1
    assert "rows dropped for missing values: 1" in repr(dropped)


def test_frozen_and_fingerprint() -> None:
    df = PEOPLE.copy()
    roles = {"quasi_identifiers": ["age", "sex"], "sensitive": "ill", "insensitive": "note"}
    t = pm.Table(df, **roles)
    before = t.fingerprint
    df.loc[0, "age"] = 99
    assert t.frame.loc[0, "age"] == 31
    with pytest.raises(ValueError, match="read-only"):
        t.weights[0] = 7
    assert pm.Table(PEOPLE, **roles).fingerprint == before
    assert pm.Table(df, **roles).fingerprint != before
    assert pm.Table(PEOPLE.iloc[::-1], **roles).fingerprint != before
    other = PEOPLE.assign(note=["w", "x", "y", "q"])
    assert pm.Table(other, **roles).fingerprint != before
    weighted = {"age": pm.QI(weight=2.0), "sex": None}
    assert pm.Table(PEOPLE, **{**roles, "quasi_identifiers": weighted}).fingerprint != before


def test_subjects_are_persons_not_rows() -> None:
    df = pd.DataFrame({"who": ["a", "a", "b", None, None], "zip": [1, 2, 1, 2, 1]})
    t = pm.Table(df, quasi_identifiers={"zip": pm.Hierarchy.flat()}, subject="who")
    assert t.n_persons == 3  # rows without a subject could all be one person
    assert pm.group(t).sizes.tolist() == [3, 2]
    assert pm.group(t).records.tolist() == [3, 2]
    whole = pm.recodings.level_recoding(t, [1]).candidate(t)
    assert pm.group(t, whole).sizes.tolist() == [3]
    assert pm.group(t, whole).records.tolist() == [5]
    assert "who" not in t.released_columns


def test_bounds_of_a_quasi_identifier() -> None:
    tree = pm.Hierarchy.intervals(30, 59, widths=[10])
    t = pm.Table(
        PEOPLE,
        quasi_identifiers={
            "age": pm.QI(hierarchy=tree, weight=2, min_level=1, max_level=1, fixed_cuts=[40])
        },
    )
    (age,) = t.qis
    assert (age.weight, age.min_level, age.max_level, age.fixed_cuts) == (2.0, 1, 1, (9,))
    with pytest.raises(HierarchyError, match="0 <= min_level <= max_level <= 2"):
        pm.Table(PEOPLE, quasi_identifiers={"age": pm.QI(hierarchy=tree, max_level=7)})
    with pytest.raises(HierarchyError, match="fixed cut 99"):
        pm.Table(PEOPLE, quasi_identifiers={"age": pm.QI(hierarchy=tree, fixed_cuts=[99])})
    with pytest.raises(TableError, match="weight must be"):
        pm.QI(weight=-1)


def test_two_hundred_quasi_identifiers_work() -> None:
    rng = np.random.default_rng(0)
    df = pd.DataFrame({f"q{j}": rng.integers(0, 7, 300) for j in range(200)})
    t = pm.Table(df, quasi_identifiers={str(c): pm.Hierarchy.ordered() for c in df})
    assert t.n_tuples == 300
    top = pm.recodings.level_recoding(t, [0] + [1] * 199).candidate(t)
    assert sorted(pm.group(t, top).sizes) == sorted(df["q0"].value_counts())


def refused(sentence: str, error: type[Exception] = TableError, **changes: object) -> None:
    with pytest.raises(error, match=sentence) as caught:
        table(**changes)
    assert "\n" not in str(caught.value)


def test_refused_roles() -> None:
    refused(
        "'agee' is not in the data; did you mean 'age'", ColumnError, quasi_identifiers=["agee"]
    )
    refused("column 'ill' is not in the data|is already", quasi_identifiers=["ill"])
    refused("'age' is already quasi-identifying", identifiers=["age"])
    refused("there are none", quasi_identifiers=[])
    refused("named twice", quasi_identifiers=["age", "age"])
    refused("needs a Hierarchy", quasi_identifiers={"age": 5})
    refused("target: column 'nam' is not", ColumnError, target="nam")
    refused("target: column 'name' is identifying", target="name")
    refused("subject: column 'age' is quasi-identifying", subject="age")
    refused("missing: must be one of 'unknown', 'value', 'drop'", missing="keep")
    refused("others: must be", others="sensitive")
    refused("domain: must be", domain="all")


def test_refused_data() -> None:
    roles = {"quasi_identifiers": ["age"]}
    with pytest.raises(TableError, match="0 rows; at least two"):
        pm.Table(PEOPLE.head(0), **roles)
    with pytest.raises(TableError, match="1 row; at least two"):
        pm.Table(PEOPLE.head(1), **roles)
    with pytest.raises(TableError, match=r"must be a data frame .*, got list"):
        pm.Table([1, 2], **roles)
    with pytest.raises(TableError, match="column names must be strings, got 3"):
        pm.Table(PEOPLE.rename(columns={"note": 3}), **roles)
    with pytest.raises(TableError, match="'age' occurs more than once"):
        pm.Table(PEOPLE.rename(columns={"note": "age"}), **roles)
    with pytest.raises(TableError, match="all values of column 'age' are missing"):
        pm.Table(PEOPLE.assign(age=None), **roles)
    with pytest.raises(TableError, match="'age', row 2"):
        pm.Table(PEOPLE.assign(age=[1.0, 2.0, np.inf, 3.0]), **roles)
    with pytest.raises(TableError, match="column 'age'"):
        pm.Table(PEOPLE.assign(age=pd.Series([1, "two", 3, 4], dtype=object)), **roles)
    with pytest.raises(TableError, match="'ill' has a single value in all 4 rows"):
        pm.Table(PEOPLE.assign(ill="flu"), sensitive="ill", **roles)
    granulated = {"age": pm.Hierarchy.ordered(step=10)}
    with pytest.raises(TableError, match="has intervals as leaves"):
        pm.Table(PEOPLE, sensitive=granulated, quasi_identifiers=["sex"])
    with pytest.raises(TableError, match="0 rows after dropping 4"):
        pm.Table(PEOPLE.assign(age=None), missing="drop", **roles)


def test_messages_do_not_quote_people() -> None:
    tree = pm.Hierarchy.tree({"young": ["31"], "old": ["45"]})
    with pytest.raises(HierarchyError) as caught:
        pm.Table(PEOPLE, quasi_identifiers={"age": tree})
    assert "'age', row 3" in str(caught.value)
    assert "52" not in str(caught.value)
    assert caught.value.value_in(PEOPLE) == 52  # on request
    # Rows are those of the data that was given, also where some were dropped.
    gaps = PEOPLE.assign(sex=pd.Series([None, "m", "m", "f"]))
    with pytest.raises(HierarchyError, match="'age', row 3"):
        pm.Table(gaps, quasi_identifiers={"age": tree, "sex": None}, missing="drop")


def test_csv_and_parquet(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("zip,country,age\n02139,NA,31\n02139,DE,\n10115,DE,45\n", encoding="utf-8")
    t = pm.Table.read_csv(path, quasi_identifiers=["zip", "country", "age"])
    assert {qi.name: qi.leaves for qi in t.qis} == {
        "zip": ("02139", "10115"),
        "country": ("DE", "NA"),
        "age": ("31", "45", "missing"),
    }
    t.frame.to_parquet(tmp_path / "people.parquet")
    again = pm.Table.read_parquet(
        tmp_path / "people.parquet", quasi_identifiers=["zip", "country", "age"]
    )
    assert again.tuples.tolist() == t.tuples.tolist()
    with gzip.open(tmp_path / "people.csv.gz", "wt") as packed:
        packed.write(path.read_text())
    packed_table = pm.Table.read_csv(
        tmp_path / "people.csv.gz", quasi_identifiers=["zip", "country", "age"]
    )
    assert packed_table.fingerprint == t.fingerprint


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2,3\n", "row 1 after the header has 3 cells"),
        (b"a,b\n1\n2,3\n", "row 1 after the header has 1 cells"),
        (b"a,a\n1,2\n", "'a' occurs more than once"),
        (b"a,b\n\xff\xfe,2\n", "is not utf-8 text; convert it"),
    ],
)
def test_hostile_csv(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=sentence):
        pm.Table.read_csv(path, quasi_identifiers=["a"])


def test_other_files_of_text(tmp_path: Path) -> None:
    path = tmp_path / "tabs.csv"
    path.write_bytes('stra\u00dfe\t"two\nlines"\na\t1\nb\t2\n'.encode("latin-1"))
    t = pm.Table.read_csv(path, encoding="latin-1", quasi_identifiers=["straße", "two\nlines"])
    assert t.n_records == 2
    with pytest.raises(TableError, match="is a folder"):
        pm.Table.read_csv(tmp_path, quasi_identifiers=["a"])
    with pytest.raises(TableError, match="Python does not know 'nonsense'"):
        pm.Table.read_csv(path, encoding="nonsense", quasi_identifiers=["a"])


def test_nothing_can_be_set() -> None:
    t = table()
    frame = t.frame
    frame.loc[0, "age"] = 99
    assert t.frame.loc[0, "age"] == 31
    with pytest.raises(AttributeError, match="a Table is frozen"):
        t.n_records = 77


def test_wrong_types_of_roles() -> None:
    assert table(identifiers=None).columns_of("identifying") == ["name", "note"]
    refused("expected names of columns or a mapping, got int", quasi_identifiers=3)
    refused("expected names of columns, got int", identifiers=3)
    refused("'ill' needs a Hierarchy or None, got str", sensitive={"ill": "x"})
    with pytest.raises(TableError, match="all weights are 0"):
        pm.Table(PEOPLE, quasi_identifiers={"age": pm.QI(weight=0)})


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no such file"):
        pm.Table.read_csv(tmp_path / "none.csv", quasi_identifiers=["a"])
    with pytest.raises(TableError, match="no such file"):
        pm.Table.read_parquet(tmp_path / "none.parquet", quasi_identifiers=["a"])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(TableError, match="not a readable Parquet"):
        pm.Table.read_parquet(tmp_path / "bad.parquet", quasi_identifiers=["a"])


def test_repr_escapes(tmp_path: Path) -> None:
    df = pd.DataFrame({"<script>": [1, 2], "b": [1, 1]})
    t = pm.Table(df, quasi_identifiers=["<script>", "b"])
    assert "<script>" not in t._repr_html_()
    assert "&lt;script&gt;" in t._repr_html_()


def test_encoding_a_million_rows_stays_below_three_times_the_frame() -> None:
    import tracemalloc

    rng = np.random.default_rng(0)
    n = 1_000_000
    df = pd.DataFrame({f"c{j}": rng.integers(0, 10 + 9 * j, n) for j in range(10)})
    size = int(df.memory_usage(deep=True).sum())
    tracemalloc.start()
    pm.Table(df, quasi_identifiers=[f"c{j}" for j in range(9)], sensitive="c9")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size + peak < 3 * size


@pytest.mark.parametrize("name", ["a\0b", "a\rb", "a\ud800", "\ufeffa"])
def test_names_that_no_file_keeps_are_refused(name: str) -> None:
    frame = pd.DataFrame({0: [1, 2], 1: [1, 2]})
    frame.columns = pd.Index(["q", name], dtype=object)
    with pytest.raises(TableError, match=r"^data: the name of column 2 has a character that files"):
        pm.Table(frame, quasi_identifiers=["q"])


@pytest.mark.parametrize("kind", ["str", "object", "category"])
@pytest.mark.parametrize("column", ["age", "ill", "note"])
def test_a_text_with_nul_is_refused(column: str, kind: str) -> None:
    texts = pd.Series(["a", "b\0", "a", "c"], dtype=kind)
    with pytest.raises(TableError, match=f"column '{column}', row 1 .*has a NUL"):
        pm.Table(PEOPLE.assign(**{column: texts}), **ROLES_OF_PEOPLE)


@pytest.mark.parametrize("column", ["age", "ill", "note"])
def test_nested_columns_of_arrow_are_refused(column: str) -> None:
    pa = pytest.importorskip("pyarrow")
    lists = pa.array([[1], [2], [1], [2]])
    structs = pa.array([{"a": 1}, {"a": 2}, {"a": 1}, {"a": 2}])
    for nested in (lists, structs):
        frame = PEOPLE.assign(**{column: pd.arrays.ArrowExtensionArray(nested)})
        with pytest.raises(TableError, match=f"column '{column}' holds lists or structures"):
            pm.Table(frame, **ROLES_OF_PEOPLE)
        with pytest.raises(AuditError, match=f"column '{column}' holds values that cannot be"):
            pm.audit.audit(frame, quasi_identifiers=[column])


@pytest.mark.parametrize("column", ["q", "s", "other"])
def test_half_of_a_surrogate_pair_is_refused(column: str) -> None:
    frame = pd.DataFrame({"q": list("ab"), "s": list("xy"), "other": list("mn")}, dtype=object)
    frame[column] = pd.Series(["ä", "a\ud800"], dtype=object)
    with pytest.raises(TableError, match=f"column '{column}', row 1 .*half of a surrogate pair"):
        pm.Table(frame, quasi_identifiers=["q"], sensitive="s", insensitive="other")


@pytest.mark.parametrize("name", ["a\"b'c", "a\nb", "x" * 3000, " ", "a.b;--", "SELECT", "{a}"])
def test_odd_names_work_on_disk_too(name: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    frame = pd.DataFrame({name: [1, 1, 2, 2], "s": list("xyxy")})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    roles: dict[str, Any] = {"quasi_identifiers": [name], "sensitive": "s"}
    scanned = pm.Table.scan(tmp_path / "t.parquet", **roles)
    assert scanned.audit().to_dict() == pm.Table(frame, **roles).audit().to_dict()
