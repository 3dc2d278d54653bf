"""A scanned table is the table: distinct tuples, weights, counts, checks, messages and fronts."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo import Hierarchy, Table
from privmoo.errors import PrivmooError, TableError
from tests.scenery.optional import need
from tests.scenery.parameters import first_in_make_test
from tests.scenery.scanning import roles_of, same, scans

pytest.importorskip("duckdb")

TEXTS = st.sampled_from(
    ["a", "b", "c ", " d", "ü", 'q"q', "x,y", "two\nlines", "NA", "007", "*", "'"]
)
NUMBERS = st.one_of(st.integers(-20, 20), st.sampled_from([0.5, -0.0, 1e15, 12.25]))
VALUES = {
    "text": st.one_of(TEXTS, st.none()),
    "digits": st.sampled_from(["1", "02", "3", "10"]),
    "whole": st.integers(-5, 30),
    "holes": st.one_of(st.integers(0, 6), st.none()),
    "real": st.one_of(NUMBERS.map(float), st.none()),
    "bool": st.booleans(),
    "maybe": st.one_of(st.booleans(), st.none()),
    "date": st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 9)).map(pd.Timestamp),
}


@st.composite
def tables(draw: st.DrawFn, kinds: tuple[str, ...]) -> tuple[pd.DataFrame, dict[str, Any]]:
    n = draw(st.integers(2, 25))
    columns = draw(st.lists(st.sampled_from(kinds), min_size=2, max_size=5))
    cells = [draw(st.lists(VALUES[kind], min_size=n, max_size=n)) for kind in columns]
    frame = pd.DataFrame({f"{kind} {i}": cells[i] for i, kind in enumerate(columns)})
    names = list(frame)
    cut = draw(st.integers(1, len(names)))
    target = draw(st.sampled_from([None, *names]))
    roles = {
        "quasi_identifiers": names[:cut],
        "sensitive": names[cut : cut + draw(st.integers(0, 3))],
        "target": target,
        "missing": draw(st.sampled_from(["value", "drop"])),
        "others": draw(st.sampled_from(["identifying", "insensitive"])),
    }
    return frame, roles


def outcome(make: Any) -> Table | str:
    try:
        table: Table = make()
    except PrivmooError as error:
        return f"{type(error).__name__}: {error}"
    return table


def compare(path: Path, read: Any, roles: dict[str, Any]) -> None:
    expected = outcome(lambda: read(path, **roles))
    found = outcome(lambda: Table.scan(path, **roles))
    if isinstance(expected, str):
        assert found == expected
        return
    assert not isinstance(found, str), found
    same(found, expected)


@pytest.mark.filterwarnings("ignore::privmoo.errors.TableWarning")
@settings(deadline=None, max_examples=60)
@given(tables(tuple(VALUES)))
def test_parquet_is_the_table_in_memory(drawn: tuple[pd.DataFrame, dict[str, Any]]) -> None:
    frame, roles = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        frame.to_parquet(path, index=False)
        compare(path, Table.read_parquet, roles)


@pytest.mark.filterwarnings("ignore::privmoo.errors.TableWarning")
@settings(deadline=None, max_examples=60)
@given(tables(tuple(VALUES)))
def test_csv_is_the_table_in_memory(drawn: tuple[pd.DataFrame, dict[str, Any]]) -> None:
    frame, roles = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        frame.to_csv(path, index=False)
        compare(path, Table.read_csv, roles)


COLUMNS: dict[str, Any] = {
    "category": pd.Categorical(["b", "a", None, "b", "c", "a"], categories=["c", "b", "a"]),
    "order": pd.Categorical(
        ["b", "a", "c", "b", "c", "a"], categories=["c", "b", "a"], ordered=True
    ),
    "numbers as categories": pd.Categorical([3, 1, 2, 3, 1, None]),
    "nullable": pd.array([1, None, 3, 1, 2, 2], dtype="Int64"),
    "nullable bool": pd.array([True, None, False, True, True, False], dtype="boolean"),
    "decimal": [decimal.Decimal(text) for text in ("1.50", "2.25", "1.50", "3.00", "2.25", "9.99")],
    "date": [dt.date(2020, 1, day) for day in (1, 2, 2, 3, 1, 5)],
    "moment": pd.to_datetime(["2020-01-01 10:00", "2020-01-02"] * 3, format="mixed"),
    "zoned": pd.to_datetime(["2020-01-01 10:00", "2020-07-02"] * 3, format="mixed").tz_localize(
        "Europe/Berlin"
    ),
    "short": np.array([0.1, 0.2, 0.1, 0.5, 0.2, 1.0], dtype=np.float32),
    "small": np.array([1, 2, 3, 1, 2, 255], dtype=np.uint8),
    "not a number": [1.5, np.nan, 2.5, np.nan, -0.0, 0.0],
    "large": [2**60, 2**60 + 1, 5, 5, 2**60, 1],
    "time": [dt.time(hour) for hour in (1, 2, 3, 1, 2, 3)],
    "infinite": [1.0, 2.0, np.inf, 1.0, 2.0, 3.0],
    "list": [[1], [2], [1], [2], [1], [3]],
}


@pytest.mark.parametrize("missing", ["value", "drop"])
@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive"])
@pytest.mark.parametrize("name", list(COLUMNS))
def test_types_of_parquet(name: str, role: str, missing: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({'odd "name"': [1, 1, 2, 2, 1, None], name: COLUMNS[name]})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, index=False)
    names = list(frame)
    roles: dict[str, Any] = {"quasi_identifiers": names[:1], "missing": missing}
    if role == "sensitive":
        roles["sensitive"] = names[1:]
    else:
        roles["quasi_identifiers"] = {names[0]: None, names[1]: Hierarchy.ordered()}
    compare(path, Table.read_parquet, roles)


def test_an_index_is_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 2, 2]}, index=pd.Index(["x", "y", "z"], name="who"))
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    compare(path, Table.read_parquet, {"quasi_identifiers": ["age"]})


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("zip;age\n02139;31\n2140;45\n02139;31\n", {}),
        ("zip\tage\n1\t 2\n1\t2 \n", {}),
        ("\ufeffzip,age\r\n1,2\r\n\r\n1,?\r\n3,2\r\n", {"missing_values": ("?", "NA")}),
        ("zip,age\n1,\n1,2\n3,2\n", {"missing_values": ()}),
        ("zip,age\n1.50,1\n1.5,1\n2,1\n", {}),
        ("zip,age\n-0,1\n0,1\n2,2\n", {}),
        ("zip,age\n1e3,1\n1000,1\n2,2\n", {}),
        ('zip,"age, in ""years"""\n1,1\n2,2\n2,2\n', {}),
        ("zip|age\n1|2\n1|3\n", {"separator": "|"}),
        ("zip,age\nü,2\nö,3\n", {"encoding": "latin-1"}),
        ("zip\n1\n\n2\n2\n", {}),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_csv_as_in_memory(text: str, options: dict[str, Any], packed: bool, tmp_path: Path) -> None:
    data = text.encode(options.get("encoding", "utf-8"))
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    compare(
        path, Table.read_csv, {"quasi_identifiers": ["zip"], "others": "insensitive", **options}
    )


@pytest.mark.parametrize("missing", ["value", "drop"])
@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive"])
def test_messages_name_the_row(role: str, missing: str, tmp_path: Path) -> None:
    """Of several values that a hierarchy lacks, the first in the file; with all of their rows."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 3, 500), "b": rng.choice(["x", "y", "z", "w"], 500)})
    frame.loc[[0, 1, 77], "a"] = None
    tree = Hierarchy.tree([["y", "z"], "v"])
    roles: dict[str, Any] = {"quasi_identifiers": {"a": None, "b": tree}, "missing": missing}
    if role == "sensitive":
        roles = {"quasi_identifiers": ["a"], "sensitive": {"b": tree}, "missing": missing}
    for kind, path in scans(frame, tmp_path).items():
        own = Table.read_csv if kind.startswith("csv") else Table.read_parquet
        expected = outcome(
            lambda own=own, kind=kind: own(scans(frame, tmp_path)[kind.split()[0]], **roles)
        )
        assert isinstance(expected, str)
        assert "rows are not" in expected
        assert outcome(lambda path=path: Table.scan(path, **roles)) == expected


@pytest.mark.parametrize("column", ["zip", "ill"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_text_with_nul_is_refused_as_in_memory(column: str, ending: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"zip": ["a", "b", "c", "b"], "ill": ["x", "y", "x", "z"]})
    frame.loc[2, column] = "c\0"
    path = tmp_path / f"people.{ending}"
    getattr(frame, f"to_{ending}")(path, index=False)
    roles: dict[str, Any] = {"quasi_identifiers": ["zip"], "sensitive": "ill"}
    sentence = f"column '{column}', row 2 .*has a NUL"
    with pytest.raises(TableError, match=sentence):
        Table(frame, **roles)
    with pytest.raises(TableError, match=sentence):
        Table.scan(path, **roles)


def test_names_that_duckdb_takes_for_one(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"Age": [1, 2], "age": [1, 2]}).to_parquet(path, index=False)
    with pytest.raises(TableError, match="'Age' and 'age' differ only in capital letters"):
        Table.scan(path, quasi_identifiers=["age"])


def test_a_folder_that_is_partitioned_by_names(tmp_path: Path) -> None:
    pd.DataFrame({"age": [1, 2, 1], "sex": list("fmf")}).to_parquet(
        tmp_path, partition_cols=["sex"]
    )
    for source in (tmp_path, tmp_path / "*" / "*.parquet"):
        with pytest.raises(TableError, match="'sex=…'"):
            Table.scan(source, quasi_identifiers=["age"])
    assert Table.scan(tmp_path / "sex=f" / "*.parquet", quasi_identifiers=["age"]).n_records == 2


def test_progress_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scans(pd.DataFrame({"age": [1, 2, 2]}), tmp_path)["csv"]
    Table.scan(path, quasi_identifiers=["age"], progress=True)
    assert "scan" in capsys.readouterr().err
    Table.scan(path, quasi_identifiers=["age"])
    assert not capsys.readouterr().err


def test_a_scanned_table_is_a_table_without_records(tmp_path: Path) -> None:
    path = scans(pd.DataFrame({"age": [1, 2, 2]}), tmp_path)["parquet"]
    scanned = Table.scan(path, quasi_identifiers=["age"])
    assert type(scanned) is Table and not scanned.has_records
    for name in ("records", "frame", "row_tuple"):
        with pytest.raises(TableError, match=rf"{name}: needs single records"):
            getattr(scanned, name)
    assert scanned.originals.weights is not None
    assert scanned.originals.frame["age"].tolist() == [1, 2]
    with pytest.raises(AttributeError, match="frozen"):
        scanned.n_records = 5


@pytest.mark.parametrize("kind", first_in_make_test(["parquet", "csv parts"]))
@pytest.mark.parametrize(
    "name", ["ZeroSuppression", "BudgetSuppression", "AnySuppression", "KLSafe"]
)
def test_fronts_of_adult_are_equal(kind: str, name: str, adult: Any) -> None:
    table, paths = adult
    scanned = Table.scan(paths[kind], **roles_of(table))
    same(scanned, table)
    make = getattr(pm.problems, name)
    budget = {"max_suppression": 0.1} if name in ("BudgetSuppression", "KLSafe") else {}
    mine, other = (
        pm.optimize(make(t, **budget), budget=pm.Evaluations(1500), seed=3, progress=False)
        for t in (scanned, table)
    )
    assert np.array_equal(mine.X, other.X)
    assert np.array_equal(mine.values, other.values)


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> Any:
    table = pm.datasets.adult("dewri-kl")
    return table, scans(table.frame, tmp_path_factory.mktemp("adult"))


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?", "it's"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "CSV", "PARQUET"])
def test_a_name_is_no_pattern(name: str, ending: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 2, 1]})
    for own, rows in ((name, frame), ("a1", frame[:2])):
        path = tmp_path / f"{own}.{ending}"
        if ending.lower() == "csv":
            rows.to_csv(path, index=False)
        else:
            rows.to_parquet(path, index=False)
    table = Table.scan(tmp_path / f"{name}.{ending}", quasi_identifiers=["age"])
    assert table.n_records == 3
    assert Table.scan(tmp_path, quasi_identifiers=["age"]).n_records == 5


def ordered_parts(folder: Path, orders: list[list[str]]) -> Path:
    folder.mkdir()
    for i, order in enumerate([["low"], *orders]):
        values = pd.Categorical(order[: 2 * i], categories=order, ordered=True)
        pd.DataFrame({"mark": values}).to_parquet(folder / f"{i}.parquet", index=False)
    return folder


def test_ordered_categories_of_several_files(tmp_path: Path) -> None:
    roles: dict[str, Any] = {"quasi_identifiers": {"mark": Hierarchy.ordered()}}
    good = ordered_parts(tmp_path / "good", [["low", "high"], ["low", "mid", "high"]])
    assert [str(leaf) for leaf in need(Table.scan(good, **roles).qis[0].hierarchy).leaves] == [
        "low",
        "mid",
        "high",
    ]
    for i, other in enumerate((["high", "low"], ["low", "high", "top"])):
        bad = ordered_parts(tmp_path / f"bad {i}", [["low", "mid", "high"], other])
        with pytest.raises(TableError, match=r"'mark' is an ordered category .* one order"):
            Table.scan(bad, **roles)


@pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
def test_zeros_of_both_signs_are_released_once(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [0.0, -0.0, 1.0, -0.0, 0.0, 1.0], "ill": list("xyxzyz")})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, index=False)
    table = Table.scan(path, quasi_identifiers={"a": Hierarchy.flat()}, sensitive=["ill"])
    front = pm.optimize(pm.problems.Levels(table), budget=3, seed=1, progress=False)
    written = front[0].write(tmp_path / "public.parquet")
    assert len(pd.read_parquet(written[0])) == 6


def test_a_column_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame({"age": [1, 2]}).to_csv(path)
    with pytest.raises(TableError, match="column 1 has no name"):
        Table.scan(path, quasi_identifiers=["age"])


def test_values_that_pandas_cannot_hold_are_not_quoted(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    from pyarrow import parquet

    parquet.write_table(pa.table({"when": pa.array([1, 1001], pa.time64("ns"))}), path)
    with pytest.raises(
        TableError, match=r"column 'when' \(time64\[ns\]\) cannot be held"
    ) as caught:
        Table.scan(path, quasi_identifiers=["when"])
    assert "1001" not in str(caught.value)


def test_types_that_the_engine_would_change_are_told(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2], "long": pd.to_timedelta([1, 2], "s")})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(
        TableError, match=r"'long' is of type duration\[.*\], which DuckDB does not"
    ):
        Table.scan(tmp_path / "t.parquet", quasi_identifiers=["a"], others="insensitive")
    assert Table.scan(tmp_path / "t.parquet", quasi_identifiers=["a"]).n_records == 2


def test_options_of_csv_are_for_csv(tmp_path: Path) -> None:
    pd.DataFrame({"a": ["1", "NA"]}).to_parquet(tmp_path / "t.parquet", index=False)
    for option in ({"separator": ";"}, {"missing_values": ["NA"]}):
        with pytest.raises(TableError, match=f"{next(iter(option))} is for CSV files"):
            Table.scan(tmp_path / "t.parquet", quasi_identifiers=["a"], **option)
    (tmp_path / "t.csv").write_text("a\nN\nA\n")
    for read in (Table.scan, Table.read_csv):
        with pytest.raises(TableError, match=r"missing_values: must be a list of texts"):
            read(tmp_path / "t.csv", quasi_identifiers=["a"], missing_values="NA")


COMMAS = {
    "real": st.sampled_from(["1,5", "1,50", "2", "0,25", "-3,0", ""]),
    "whole": st.sampled_from(["1", "2", "30", ""]),
    "points": st.sampled_from(["1.5", "2", "3,5"]),
    "thousands": st.sampled_from(["1,000,000", "2", "3,5"]),
    "zeros": st.sampled_from(["01,5", "2,5"]),
    "names": st.sampled_from(["Smith, Ann", "Lee, Bo", "1,5"]),
}


@given(st.data())
@settings(max_examples=20)
def test_decimal_commas_are_read_as_in_memory(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 12))
    kinds = data.draw(st.lists(st.sampled_from(list(COMMAS)), min_size=3, max_size=3))
    cells = [data.draw(st.lists(COMMAS[kind], min_size=n, max_size=n)) for kind in kinds]
    frame = pd.DataFrame({f"{kind} {i}": cells[i] for i, kind in enumerate(kinds)})
    first, second, third = frame
    # One number may be written in two ways: a column of one value has nothing to protect.
    assume(frame[second].str.replace("1,50", "1,5").nunique() > 1 and (frame[first] != "").any())
    roles: dict[str, Any] = {
        "quasi_identifiers": [first],
        "sensitive": [second],
        "insensitive": [third],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        frame.to_csv(path, sep=";", index=False)
        table = Table.read_csv(path, decimal=",", **roles)
        scanned = Table.scan(path, decimal=",", **roles)
        same(scanned, table)
        rows = scanned.sample(n, seed=1).frame
        expected = table.frame
        assert rows.dtypes.astype(str).to_dict() == expected.dtypes.astype(str).to_dict()
        assert sorted(map(repr, rows.to_numpy().tolist())) == sorted(
            map(repr, expected[list(rows)].to_numpy().tolist())
        )


def test_a_release_of_decimal_commas_has_points(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    rows = ["1,5;0,5;7", "1,5;0,25;8,5", "2,5;0,5;9", "2,5;1;7"] * 3
    path.write_text("\n".join(["dose;rate;weight", *rows]), "utf-8")
    roles: dict[str, Any] = {
        "quasi_identifiers": {"dose": Hierarchy.ordered()},
        "sensitive": "rate",
        "insensitive": "weight",
        "decimal": ",",
    }
    files = []
    for name, read in (("memory", Table.read_csv), ("scan", Table.scan)):
        table = read(path, **roles)
        solution = pm.Front.of(pm.problems.Cuts(table), [[1]])[0]
        files.append(tmp_path / f"{name}.csv")
        solution.write(files[-1], seed=1)
    frames = [pd.read_csv(file).sort_values(["dose", "rate", "weight"]) for file in files]
    assert frames[0].to_numpy().tolist() == frames[1].to_numpy().tolist()
    assert set(frames[0]["rate"]) == {0.25, 0.5, 1.0} and set(frames[0]["dose"]) == {1.5, 2.5}


def test_decimal_is_for_csv(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(TableError, match="decimal is for CSV files"):
        Table.scan(tmp_path / "a.parquet", decimal=",", quasi_identifiers=["a"])
    (tmp_path / "a.csv").write_text("a\n1\n2\n", "utf-8")
    with pytest.raises(TableError, match=r"decimal: must be '\.' or ','"):
        Table.scan(tmp_path / "a.csv", decimal=";", quasi_identifiers=["a"])
