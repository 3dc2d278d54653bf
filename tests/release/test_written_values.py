"""What a written file holds: the values of released rows, and no other, wherever one looks."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import pickle
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo import Hierarchy, Table
from privmoo._util.spreadsheets import plain_text
from privmoo.audit import audit
from privmoo.data.frame_files import write_frame
from privmoo.errors import AuditError, PrivmooError, ReleaseError
from tests.engines.test_scanning import VALUES, tables
from tests.scenery.markers import unpacked

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

ENGINES = [
    "memory",
    pytest.param(
        "duckdb",
        marks=pytest.mark.skipif(importlib.util.find_spec("duckdb") is None, reason="no DuckDB"),
    ),
    pytest.param(
        "dask",
        marks=pytest.mark.skipif(importlib.util.find_spec("dask") is None, reason="no Dask"),
    ),
]
GONE = ("goneill", "gonenote", "goneplace", "gonename", "goneidle")


def people(kind: str) -> pd.DataFrame:
    """Forty people, and one who is alone: all of their values begin with "gone"."""
    n = 40
    frame = pd.DataFrame(
        {
            "name": [f"gonename{i}" for i in range(n + 1)],
            "place": [*["north", "south"] * (n // 2), "goneplace"],
            "ill": [*["flu", "cold", "flu", "ulcer"] * (n // 4), "goneill"],
            "note": [*["a", "b"] * (n // 2), "gonenote"],
        }
    )
    for name in ("place", "ill", "note"):
        values = frame[name]
        categories = [*sorted(set(values)), f"goneidle{name}"]
        if kind == "category":
            frame[name] = pd.Categorical(values, categories=categories)
        elif kind == "ordered":
            frame[name] = pd.Categorical(values, categories=categories[::-1], ordered=True)
        elif kind == "arrow":
            codes = pa.array(pd.Categorical(values, categories=categories).codes, pa.int32())
            array = pa.DictionaryArray.from_arrays(codes, pa.array(categories))
            frame[name] = pd.Series(pd.array(array, dtype=pd.ArrowDtype(array.type)))
    frame.attrs = {"source": "gonename"}
    return frame


def table_of(engine: str, frame: pd.DataFrame, folder: Path, **roles: Any) -> Table:
    """The same people by one of the engines."""
    roles = {
        "quasi_identifiers": {"place": Hierarchy.flat()},
        "sensitive": ["ill"],
        "insensitive": ["note"],
        "identifiers": ["name"],
        **roles,
    }
    if engine == "memory":
        return Table(frame, **roles)
    if engine == "duckdb":
        folder.mkdir()
        pq.write_table(pa.Table.from_pandas(frame), folder / "in.parquet")
        return Table.scan(folder / "in.parquet", **roles)
    import dask.dataframe as dd

    return Table.scan(dd.from_pandas(frame, npartitions=2), **roles)


def solution(table: Table, **options: Any) -> Any:
    """Everybody as they are; who is alone is left out."""
    problem = pm.problems.Levels(
        table,
        suppression=pm.BelowThreshold(2),
        objectives=[pm.KAnonymity(), pm.GeneralLoss()],
        **options,
    )
    return pm.Front.of(problem, [[0] * table.n_qis])[0]


def content(path: Path) -> bytes:
    """All that files say: raw, unpacked, dictionaries, statistics and metadata."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    parts = []
    for file in files:
        parts.append(unpacked(file))
        if file.suffix == ".parquet":
            with pq.ParquetFile(file) as parquet:
                facts, names = parquet.metadata, parquet.schema_arrow.names
            parts.append(json.dumps(facts.to_dict(), default=str).encode())
            parts.append(repr(facts.metadata).encode())
            table = pq.read_table(file, read_dictionary=names)
            chunks = [chunk for column in table.columns for chunk in column.chunks]
            dictionaries = [c.dictionary for c in chunks if pa.types.is_dictionary(c.type)]
            parts += [repr(array.to_pylist()).encode() for array in dictionaries]
    return b"\n".join(parts)


def others(values: bytes) -> list[str]:
    return [text for text in GONE if text.encode() in values]


@pytest.mark.parametrize("kind", ["text", "category", "ordered", "arrow"])
@pytest.mark.parametrize("engine", ENGINES)
def test_no_value_of_a_suppressed_record_is_in_a_file(
    engine: str, kind: str, tmp_path: Path
) -> None:
    if (engine, kind) == ("dask", "arrow"):
        pytest.skip("Dask has no such columns")
    chosen = solution(table_of(engine, people(kind), tmp_path / "in"))
    out = tmp_path / "out"
    out.mkdir()
    for ending in ("csv", "parquet"):
        for spreadsheets in (False, True):
            chosen.write(out / f"public.{ending}", force=True, spreadsheets=spreadsheets)
            text = content(out / f"public.{ending}")
            assert b"flu" in text and others(text) == []
    if engine == "memory":
        release = chosen.release()
        release.to_csv(out / "rows.csv")
        release.to_parquet(out / "rows.parquet")
        release.to_parquet(out / "rows.pq")
        release.write(out / "again.parquet")
        rows = pd.read_parquet(out / "rows.parquet")
        assert rows["ill"].astype(str).tolist() == release.frame["ill"].astype(str).tolist()
        assert (out / "rows.pq").read_bytes() == (out / "rows.parquet").read_bytes()
    assert others(content(out)) == []


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "target", "insensitive"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ENGINES)
def test_ordered_categories_as_they_are(
    engine: str, ending: str, role: str, tmp_path: Path
) -> None:
    """Their order is not that of the alphabet, and no file has it."""
    rng = np.random.default_rng(3)
    n = 120
    grades = ["never", "low", "middle", "high", "unused"]
    frame = pd.DataFrame(
        {
            "age": rng.integers(1, 4, n),
            "ill": rng.choice(["flu", "cold", "ulcer"], n),
            "grade": pd.Categorical(
                rng.choice([*grades[:4], None], n), categories=grades, ordered=True
            ),
        }
    )
    roles: dict[str, Any] = {
        "quasi_identifiers": {"age": Hierarchy.flat()},
        "sensitive": ["ill"],
        "identifiers": [],
        "insensitive": [],
    }
    if role == "quasi-identifier":
        roles["quasi_identifiers"]["grade"] = Hierarchy.flat()
    elif role == "target":
        roles["target"] = "grade"
    else:
        roles[role] = ["grade"]
    table = table_of(engine, frame, tmp_path / "in", **roles)
    measures = [pm.TCloseness(distance="ordered"), pm.DistinctDiversity()]
    chosen = solution(table, extras=measures)
    written = chosen.write(tmp_path / f"public.{ending}", seed=1)
    stated = json.loads(written[1].read_text())
    expected = solution(Table(frame, **roles), extras=measures).release(seed=1).certificate
    assert stated["privacy"]["k"] == expected.privacy["k"]
    assert [claim["audited"] for claim in stated["claims"]] == pytest.approx(
        [claim.audited for claim in expected.claims]
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_written_is_audited(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that loses, repeats or changes a cell is found, whoever calls it."""
    frame = pd.DataFrame({"place": ["a", "b"] * 4, "ill": list("xxyyxxyy"), "who": range(8)})
    roles = {"quasi_identifiers": {"place": Hierarchy.flat()}, "sensitive": ["ill"]}
    tables = [Table(frame, **roles), Table(frame, subject="who", **roles)]

    def lost(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.iloc[1:]

    def repeated(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.iloc[[0] * len(frame)]

    def moved(frame: pd.DataFrame) -> pd.DataFrame:
        last = "b" if frame["place"].iloc[-1] == "a" else "a"
        return frame.assign(place=[*frame["place"].iloc[:-1], last])

    def all_ill(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(ill="x")

    for table in tables:
        chosen = solution(table, extras=[pm.DistinctDiversity()])
        release = chosen.release(seed=1)
        for change in (lost, repeated, moved, all_ill):

            def changed(
                rows: pd.DataFrame, path: Path, change: Any = change, **options: Any
            ) -> Any:
                write_frame(change(rows), path, **options)
                return write_frame(rows, path.with_name(f"unseen{path.suffix}"), **options)

            monkeypatch.setattr("privmoo.data.memory.write_frame", changed)
            rows = release.to_csv if ending == "csv" else release.to_parquet
            for attempt in (chosen.write, release.write, rows):
                with pytest.raises(AuditError, match="nothing is released"):
                    attempt(tmp_path / f"public.{ending}")
                assert not list(tmp_path.iterdir())
            monkeypatch.setattr("privmoo.data.memory.write_frame", write_frame)


@pytest.mark.filterwarnings("ignore::privmoo.errors.TableWarning")
def test_odd_values_read_back_as_they_are(tmp_path: Path) -> None:
    """Values whose texts look alike, or like something else, in every column of a CSV file."""
    frame = pd.DataFrame(
        {
            "place": ["01", "1", " 1", "1.0", "NA", "=1", "'=1", "\n"] * 2,
            "ill": ["1", "True", "x", "", "2020-01-01", " ", "y,z", '"'] * 2,
            "mixed": [1, True, "x", 2.5, None, pd.Timestamp("2020-01-01"), "y,z", '"'] * 2,
            "zero": pd.Series([0.0, -0.0, None, 1.5, 2.5, 3.5, 4.5, 5.5] * 2, dtype=object),
            "nullable": pd.Series([0.0, -0.0, None, 1.5, 2.5, 3.5, 4.5, 5.5] * 2, dtype="Float64"),
            "exact": [Decimal(text) for text in ("1", "1.0", "1.00", "2", "3", "4", "5", "6")] * 2,
            "small": pd.Series([0.1, 1 / 3, 1e-300, 5e-324, np.nan, -0.0, 1e22, 0.1 + 0.2] * 2),
            "large": pd.Series([2**63 - 1, None, 2**53 + 1, 0, -1, 5, 6, 7] * 2, dtype="Int64"),
            "when": pd.to_datetime(
                ["2020-01-01", "2020-01-01 10:00:00.000000001"] * 8, format="ISO8601"
            ),
            "seen": pd.to_datetime(["2020-01-01", None] * 8).tz_localize("Europe/Berlin"),
            "long": pd.to_timedelta(range(16), "h"),
            "month": pd.period_range("2020-01", periods=16, freq="M"),
        }
    )
    for name in ("ill", "zero", "nullable", "exact", "small", "large", "when", "seen"):
        rest = [other for other in frame if other not in ("place", name)]
        table = Table(
            frame, quasi_identifiers={"place": Hierarchy.flat()}, sensitive=[name], insensitive=rest
        )
        chosen = solution(table, extras=[pm.DistinctDiversity()])
        release = chosen.release(seed=2)
        for spreadsheets in (False, True):
            path = tmp_path / f"{name}{spreadsheets}.csv"
            chosen.write(path, seed=2, spreadsheets=spreadsheets)
            assert len(pd.read_csv(path, dtype=str, skip_blank_lines=False)) == 16
            stated = json.loads(path.with_suffix(".certificate.json").read_text())
            assert stated["privacy"] == json.loads(json.dumps(release.certificate.privacy))


@pytest.mark.parametrize("spreadsheets", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_carriage_returns_in_texts_are_released(
    engine: str, spreadsheets: bool, tmp_path: Path
) -> None:
    texts = pd.DataFrame(
        {
            "place": ["a\rb", "a\rb", "\r", "\r"] * 2,
            "ill": ["x\ry", "flu", "x\r\ny", "\r"] * 2,
            "note": [None, "\r,", "n", ""] * 2,
        }
    )
    table = table_of(engine, texts, tmp_path / "in", identifiers=[])
    path = tmp_path / "public.csv"
    solution(table).write(path, spreadsheets=spreadsheets)
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    rows = [
        tuple(str(plain_text(cell)) if spreadsheets else cell for cell in row)
        for file in files
        for row in list(csv.reader(io.StringIO(file.read_bytes().decode(), newline="")))[1:]
    ]
    assert sorted(rows) == sorted(texts.fillna("").itertuples(index=False, name=None))


def test_a_pickled_release_has_no_original_records(tmp_path: Path) -> None:
    chosen = solution(table_of("memory", people("text"), tmp_path))
    release = chosen.release(seed=1)
    assert release.draft is not None
    dumped = pickle.dumps(release)
    assert b"gonename" not in dumped and b"gonenote" not in dumped
    again = pickle.loads(dumped)  # noqa: S301  # made here
    assert (
        again.frame.equals(release.frame) and again.certificate == release.certificate.published()
    )
    assert len(release.rows) and release.recoding is not None and release.meanings
    # Nor the order of the original, nor the classes or values of people who are not in it.
    assert len(again.rows) == 0 and again.recoding is None and not again.meanings
    assert release.rows.tobytes() not in dumped
    with pytest.raises(ReleaseError, match="make it again"):
        again.write(tmp_path / "public.csv")
    assert not list(tmp_path.iterdir())


def test_categories_of_whole_numbers_with_holes(tmp_path: Path) -> None:
    numbers = pd.Series([1, 2, None, 2**60 + 1] * 5, dtype="Int64")
    frame = pd.DataFrame({"place": list("ab") * 10, "number": numbers.astype("category")})
    table = Table(frame, quasi_identifiers={"place": Hierarchy.flat()}, insensitive=["number"])
    path = tmp_path / "public.parquet"
    solution(table).write(path)
    written = pq.read_table(path).column("number").to_pylist()
    assert set(written) == {1, 2, None, 2**60 + 1}


KINDS = ("as it is", "category", "ordered", "nullable", "object")
MEASURES = [pm.KAnonymity(), pm.TCloseness(distance="ordered"), pm.DistinctDiversity()]


@pytest.mark.filterwarnings("ignore::privmoo.errors.TableWarning")
@settings(deadline=None, max_examples=60)
@given(tables(tuple(VALUES)), st.data())
def test_files_of_random_tables_are_what_is_certified(
    drawn: tuple[pd.DataFrame, dict[str, Any]], data: st.DataObject
) -> None:
    """Whatever the types are: figures are those of the rows, and a file is refused only with reason."""
    frame, roles = drawn
    for name in frame:
        kind = data.draw(st.sampled_from(KINDS))
        if kind in ("category", "ordered"):
            frame[name] = pd.Categorical(frame[name], ordered=kind == "ordered")
        elif kind == "nullable":
            frame[name] = frame[name].convert_dtypes()
        elif kind == "object":
            frame[name] = frame[name].astype(object)
    if len(roles["quasi_identifiers"]) < len(list(frame)):
        roles["subject"] = data.draw(st.sampled_from([None, list(frame)[-1]]))
    try:
        table = Table(frame, **roles)
    except PrivmooError:
        return
    measures = MEASURES if table.sensitive else MEASURES[:1]
    recoding = pm.recodings.identity_recoding(table)
    release = pm.make_release(table, recoding, measures=measures, seed=1)
    ending, spreadsheets = data.draw(st.sampled_from(["csv", "parquet"])), data.draw(st.booleans())
    subject = roles.get("subject")
    whose = None if subject is None else table.frame[subject].to_numpy()[release.rows]
    expected = audit(
        release.frame,
        quasi_identifiers=table.qi_names,
        sensitive=list(table.sensitive),
        subject=whose,
        target=None if table.target_name in table.qi_names else table.target_name,
        hierarchies={n: a.hierarchy.rows() for n, a in table.sensitive.items() if a.hierarchy},
        missing=table.missing_sensitive,
    ).to_dict()
    assert repr(release.certificate.privacy) == repr(expected)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"public.{ending}"
        try:
            release.write(path, spreadsheets=spreadsheets)
        except AuditError:  # in CSV an empty text is a missing value, and 1 is the text "1"
            assert ending == "csv"
            texts = release.frame.astype(object).map(lambda v: "" if pd.isna(v) else str(v))
            assert any(texts[n].nunique() < release.frame[n].nunique(dropna=False) for n in texts)
            assert not list(Path(folder).iterdir())
        else:
            stated = json.loads(path.with_suffix(".certificate.json").read_text())
            assert stated["privacy"] == json.loads(json.dumps(expected))
