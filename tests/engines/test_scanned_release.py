"""A scanned table is released like one in memory: the same rows, the same certificate."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo import Hierarchy, Table
from privmoo.audit import canonical
from privmoo.errors import AuditError, FileError, PrivmooError, ReleaseError
from tests.scenery.parameters import first_in_make_test
from tests.scenery.scanning import roles_of, scans

pytest.importorskip("duckdb")
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


def people(n: int = 400, seed: int = 1) -> pd.DataFrame:
    """Every kind of column, with holes, a key, and texts that are awkward in CSV."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(20, 40, n),
            "zip": rng.choice(["02139", "02140", "10115", "10117"], n),
            "size": rng.choice([1.5, 1.75, 2.0], n),
            "ill": rng.choice(["flu", "cold", 'a "bad", one', "=1+1", "two\nlines"], n),
            "grade": rng.choice([10, 9, 8], n),
            "note": rng.choice(["x", "'y", "-z", None], n),
            "cost": rng.choice([1.5, 2.0, np.nan], n),
            "works": rng.choice([True, False], n),
        }
    )
    frame.loc[rng.random(n) < 0.05, "zip"] = None
    return frame


ROLES: dict[str, Any] = {
    "quasi_identifiers": {
        "age": Hierarchy.intervals(20, 40, widths=[5, 10]),
        "zip": Hierarchy.masking(),
        "size": Hierarchy.ordered(),
    },
    "sensitive": ["ill", "grade"],
    "identifiers": ["name"],
    "target": "works",
    "others": "insensitive",
}


def spelled(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """The rows, in any order."""
    cells = [frame[name].map(canonical).replace("missing", "") for name in frame]
    return sorted(zip(*cells, strict=True))


def solution(table: Table, policy: Any = None) -> Any:
    measures = [
        pm.KAnonymity(),
        pm.GeneralLoss(),
        pm.Discernibility(),
        pm.TCloseness(distance="ordered"),
    ]
    problem = pm.problems.Cuts(
        table, objectives=measures[:2], extras=measures[2:], suppression=policy or pm.Budget(0.1)
    )
    front = pm.optimize(problem, budget=pm.Evaluations(300), seed=1, progress=False)
    return front[len(front) // 2]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return scans(people(), tmp_path_factory.mktemp("people"))


def read(path: Path) -> pd.DataFrame:
    from privmoo._util.reading import read_csv

    return read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


@pytest.mark.parametrize("missing", ["value", "drop"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "kind", first_in_make_test(["csv parts", "parquet", "parquet parts", "csv"])
)
def test_rows_and_certificate_are_those_of_memory(
    paths: dict[str, Path], kind: str, ending: str, missing: str, tmp_path: Path
) -> None:
    own = Table.read_csv if kind.startswith("csv") else Table.read_parquet
    table = own(paths[kind.split()[0]], missing=missing, **ROLES)
    scanned = Table.scan(paths[kind], missing=missing, **ROLES)
    mine, other = solution(scanned), solution(table)
    assert np.array_equal(mine.x, other.x)
    written = mine.write(tmp_path / f"mine.{ending}", seed=4)
    expected = other.write(tmp_path / f"other.{ending}", seed=4)
    a, b = read(written[0]), read(expected[0])
    assert list(a) == list(b)
    assert "name" not in a
    assert spelled(a) == spelled(b)
    told, known = (json.loads(p[1].read_text()) for p in (written, expected))
    assert told["release"]["sha256"] == hashlib.sha256(written[0].read_bytes()).hexdigest()
    for one in (told, known):
        for key in ("file", "sha256"):
            one["release"].pop(key)
        one["source"].pop("created")
    assert list(told) == list(known)
    for section in ("source", "method", "release", "warnings", "not_guaranteed"):
        assert told[section] == known[section], section
    for section in ("privacy", "utility"):
        assert flat(told[section]) == pytest.approx(flat(known[section])), section
    assert [c["measure"] for c in told["claims"]] == [c["measure"] for c in known["claims"]]


def flat(data: Any, prefix: str = "") -> dict[str, float]:
    if isinstance(data, dict):
        return {
            k: v for key, inner in data.items() for k, v in flat(inner, f"{prefix}.{key}").items()
        }
    if isinstance(data, list):
        return flat(dict(enumerate(data)), prefix)
    return {prefix: data}


@pytest.mark.parametrize("kind", first_in_make_test(["parquet parts", "csv parts"]))
def test_a_seed_gives_one_order_and_no_seed_another(
    kind: str, paths: dict[str, Path], tmp_path: Path
) -> None:
    orders = []
    for i, (seed, threads) in enumerate([(1, 1), (1, 2), (2, 2), (None, 2), (None, 2)]):
        scanned = Table.scan(paths[kind], threads=threads, **ROLES)
        path = tmp_path / f"{i}.csv"
        solution(scanned).write(path, seed=seed)
        orders.append(path.read_bytes())
    assert orders[0] == orders[1]
    assert len(set(orders)) == 4


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_spreadsheets_are_safe(paths: dict[str, Path], ending: str, tmp_path: Path) -> None:
    table, scanned = (
        Table.read_parquet(paths["parquet"], **ROLES),
        Table.scan(paths["parquet"], **ROLES),
    )
    mine = solution(scanned).write(tmp_path / f"mine.{ending}", spreadsheets=True)
    other = solution(table).write(tmp_path / f"other.{ending}", spreadsheets=True)
    assert spelled(read(mine[0])) == spelled(read(other[0]))


def test_existing_files_and_odd_names_are_refused_alike(
    paths: dict[str, Path], tmp_path: Path
) -> None:
    table, scanned = (
        Table.read_parquet(paths["parquet"], **ROLES),
        Table.scan(paths["parquet"], **ROLES),
    )
    (tmp_path / "there.csv").write_text("mine")
    for name in ("there.csv", "release.xlsx", "no/folder.csv"):
        said = []
        for chosen in (solution(table), solution(scanned)):
            with pytest.raises((FileError, ReleaseError)) as caught:
                chosen.write(tmp_path / name)
            said.append(str(caught.value))
        assert said[0] == said[1]
    assert (tmp_path / "there.csv").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["there.csv"]


def test_a_wrong_claim_is_found_and_nothing_is_written(
    paths: dict[str, Path], tmp_path: Path
) -> None:
    from privmoo.release.copy import write_copy
    from privmoo.release.plan import Origin, ReleasePlan

    scanned = Table.scan(paths["parquet"], **ROLES)
    chosen = solution(scanned)
    plan = ReleasePlan.of(
        scanned,
        chosen.recoding,
        suppression=chosen.suppression,
        measures=[pm.KAnonymity()],
        origin=Origin(claims={"k": 99.0}),
    )
    with pytest.raises(AuditError, match="k: the optimiser claims 99"):
        write_copy(plan, tmp_path / "release.parquet")
    assert not list(tmp_path.iterdir())


def test_a_copy_that_lost_rows_is_found(
    paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privmoo.engines.duckdb.source import DuckSource

    scanned = Table.scan(paths["parquet"], **ROLES)
    copy = DuckSource.copy

    def lossy(self: Any, counted: Any, mapped: Any, path: Path) -> Any:
        result = copy(self, counted, mapped, path)
        frame = pd.read_parquet(path)
        frame.iloc[1:].to_parquet(path, index=False)
        return result

    monkeypatch.setattr(DuckSource, "copy", lossy)
    with pytest.raises(AuditError, match="can be read; nothing is released"):
        solution(scanned).write(tmp_path / "release.parquet")
    assert not list(tmp_path.iterdir())


def test_adult(tmp_path: Path) -> None:
    table = pm.datasets.adult("dewri-kl")
    path = scans(table.frame, tmp_path / "in")["parquet"]
    scanned = Table.scan(path, **roles_of(table))
    mine, other = solution(scanned), solution(table)
    out = tmp_path / "out"
    out.mkdir()
    mine.write(out / "mine.parquet")
    other.write(out / "other.parquet")
    assert spelled(read(out / "mine.parquet")) == spelled(read(out / "other.parquet"))


def test_records_are_not_released_from_memory(paths: dict[str, Path]) -> None:
    with pytest.raises(PrivmooError, match="scanned table has only counts"):
        solution(Table.scan(paths["parquet"], **ROLES)).release()


def test_clusters_of_a_table_with_hierarchies(paths: dict[str, Path], tmp_path: Path) -> None:
    """Numbers that are middles of intervals, a target, holes that are dropped, and awkward texts."""
    own = {"age": Hierarchy.ordered(step=3), "zip": None, "size": Hierarchy.ordered()}
    roles = {**ROLES, "quasi_identifiers": own, "missing": "drop"}
    told = []
    for name, table in (
        ("mine", Table.scan(paths["csv parts"], **roles)),
        ("other", Table.read_csv(paths["csv"], **roles)),
    ):
        assert not table.qis[0].exact
        problem = pm.problems.MOOBAM(
            table,
            6,
            5,
            assignment="nearest",
            suppression=pm.Budget(0.1),
            extras=[pm.Discernibility()],
        )
        front = pm.optimize(problem, budget=pm.Evaluations(200), seed=1, progress=False)
        chosen = front[len(front) // 2]
        written = chosen.write(tmp_path / f"{name}.csv", spreadsheets=True)
        stated = json.loads(written[1].read_text())
        figures = {k: flat(stated[k]) for k in ("privacy", "utility")}
        told.append((chosen.values, chosen.explain(), spelled(read(written[0])), figures))
    assert told[0][:3] == told[1][:3]
    for section, known in told[1][3].items():
        assert told[0][3][section] == pytest.approx(known), section
    assert "classification" in str(told[0][3])


def test_columns_may_be_called_as_ours_are(tmp_path: Path) -> None:
    frame = pd.DataFrame({"count": [1, 2, 1, 2, 1, 2], "records": list("xyzxyz")})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    for roles in (
        {"quasi_identifiers": {"count": Hierarchy.flat()}, "sensitive": ["records"]},
        {"quasi_identifiers": {"records": Hierarchy.flat()}, "sensitive": ["count"]},
    ):
        table: Any = Table.scan(tmp_path / "t.parquet", **roles)
        assert table.audit().measure("k") == table.weights.min()
        front = pm.optimize(pm.problems.Levels(table), budget=3, seed=1, progress=False)
        written = front[0].write(tmp_path / "public.csv", force=True)
        rows = pd.read_csv(written[0])
        names, sensitive = list(roles["quasi_identifiers"]), list(roles["sensitive"])
        found = pm.audit.audit(rows, quasi_identifiers=names, sensitive=sensitive).to_dict()
        told = json.loads(written[1].read_text())["privacy"]
        assert (told["k"], told["n_groups"]) == (found["k"], found["n_groups"])
        for name in sensitive:
            assert told["sensitive"][name] == pytest.approx(found["sensitive"][name])


def test_points_in_time_with_a_zone(tmp_path: Path) -> None:
    times = pd.to_datetime(["2020-01-01 10:00", "2020-07-02"] * 3, format="mixed")
    frame = pd.DataFrame({"when": times.tz_localize("Europe/Berlin"), "ill": list("xyzxyz")})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    table = Table.scan(
        tmp_path / "t.parquet", quasi_identifiers={"when": Hierarchy.flat()}, sensitive=["ill"]
    )
    front = pm.optimize(pm.problems.Levels(table), budget=3, seed=1, progress=False)
    written = front[0].write(tmp_path / "public.parquet")
    assert set(pd.read_parquet(written[0])["when"]) == set(times.tz_localize("Europe/Berlin"))


def test_missing_numbers_are_empty_in_csv(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    pay = pa.array([1.5, float("nan"), None, 2.5])
    parquet.write_table(pa.table({"age": [1, 1, 1, 1], "pay": pay}), tmp_path / "t.parquet")
    table = Table.scan(
        tmp_path / "t.parquet",
        quasi_identifiers={"age": Hierarchy.flat()},
        insensitive=["pay"],
    )
    front = pm.optimize(pm.problems.Levels(table), budget=3, seed=1, progress=False)
    written = front[0].write(tmp_path / "public.csv")
    assert "nan" not in written[0].read_text()


def test_a_missing_value_alone_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a\nx\ny\n""\nx\ny\n""\n')
    table = Table.scan(tmp_path / "t.csv", quasi_identifiers={"a": Hierarchy.flat()})
    front = pm.optimize(pm.problems.Levels(table), budget=3, seed=1, progress=False)
    written = front[0].write(tmp_path / "public.csv")
    assert len(pd.read_csv(written[0])) == 6


def test_the_records_are_not_overwritten_and_seeds_are_numbers(tmp_path: Path) -> None:
    people().to_parquet(tmp_path / "t.parquet", index=False)
    chosen = solution(Table.scan(tmp_path / "t.parquet", **ROLES))
    before = (tmp_path / "t.parquet").read_bytes()
    with pytest.raises(FileError, match="the table is read from this file"):
        chosen.write(tmp_path / "t.parquet", force=True)
    assert (tmp_path / "t.parquet").read_bytes() == before
    for own in (chosen, solution(Table(people(), **ROLES))):
        for wrong in ("x", -1, 1.5, True):
            with pytest.raises(ReleaseError, match="seed: must be a whole number of at least 0"):
                own.write(tmp_path / "public.csv", seed=wrong)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.parquet"]


def test_columns_that_are_unique_only_together_are_warned_of(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "age": [30, 31] * 10,
            "town": [f"town{i // 5}" for i in range(20)],
            "street": [f"street{i % 5}" for i in range(20)],
            "form": [f"form{i}" for i in range(20)],
            "land": ["here"] * 20,
        }
    )
    frame.to_parquet(tmp_path / "people.parquet")
    roles: dict[str, Any] = {
        "quasi_identifiers": {"age": Hierarchy.ordered()},
        "insensitive": ["town", "street", "form", "land"],  # form is unique alone
    }
    dd = pytest.importorskip("dask.dataframe")
    scans = (str(tmp_path / "people.parquet"), dd.from_pandas(frame, npartitions=2))
    for table in (Table(frame, **roles), *(Table.scan(source, **roles) for source in scans)):
        solution = pm.Front.of(pm.problems.Cuts(table), [[0]])[0]
        with pytest.warns(
            pm.release.ReleaseWarning, match="'town' and 'street' taken together are"
        ):
            solution.write(tmp_path / "public.csv", force=True)
        if (tmp_path / "public.csv").is_file():
            (tmp_path / "public.csv").unlink()
