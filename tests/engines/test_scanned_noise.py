"""The hybrid scheme on scanned tables: noise batch by batch, whole tuples, a true certificate."""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo import HybridScheme, Table
from privmoo.audit import audit, audit_sizes
from privmoo.data.noise import RowNoise, partition_draws
from privmoo.engines.duckdb.noise import NoiseColumn, noise_sql
from privmoo.errors import ProblemError, TableError
from privmoo.hybrid import clustering, find_patterns, member_clusters
from privmoo.hybrid.units import units_of
from privmoo.kernels.growth_by_width import grow_members
from privmoo.recodings.nodes import numeric_columns
from tests.scenery.cells import random_table
from tests.scenery.scanning import roles_of, scans

duckdb = pytest.importorskip("duckdb")
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
seeds = st.integers(0, 2**32 - 1)
ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age", "pay", "race", "sex"],
    "sensitive": "ill",
    "others": "insensitive",
}


def people(n: int = 30_000) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "pay": np.round(rng.integers(10, 30, n) * 0.1, 1),
            "race": rng.choice(list("wabo"), n, p=[0.9, 0.06, 0.03, 0.01]),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(list("xyz"), n),
            "row": np.arange(n),
        }
    )


def scheme(table: Table, **options: Any) -> HybridScheme:
    bounds = {"age": (20, 59), "pay": (1.0, 2.9)}
    return HybridScheme(table, **{"k": 5, "patterns": ["race"], "bounds": bounds, **options})


def read(path: Path) -> pd.DataFrame:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    how = pd.read_parquet if path.suffix == ".parquet" else pd.read_csv
    return pd.concat([how(file) for file in files], ignore_index=True)


def write(own: HybridScheme, path: Path, seed: int | None = 1, **options: Any) -> pd.DataFrame:
    own.write(path, seed=seed, **options)
    return read(path)


def told(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.with_suffix(".certificate.json").read_text())
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people")
    people().to_parquet(path / "all.parquet", index=False)
    return path


def test_noise_is_laplace_of_the_right_scale_rounded_and_within_bounds(folder: Path) -> None:
    epsilons = {"epsilon_violating": 0.7, "epsilon_other": 1.5}
    own = scheme(Table.scan(folder / "all.parquet", **ROLES), sensitivity={"pay": 0.2}, **epsilons)
    rows = write(own, folder / "noise.parquet").sort_values("row").reset_index(drop=True)
    before = people()
    assert (
        not rows["row"].equals(pd.Series(rows.index[::-1])) and (rows["row"] == before["row"]).all()
    )
    violating = (before["race"] != "w").to_numpy()
    for name, delta, step, ends in (("age", 1.0, 1.0, (20, 59)), ("pay", 0.2, 0.1, (1.0, 2.9))):
        inner = before[name].between(ends[0] + 8 * step, ends[1] - 8 * step)
        assert rows[name].between(*ends).all() and rows[name].dtype == before[name].dtype
        assert np.array_equal(rows[name].round(1), rows[name])
        for part, epsilon in ((violating, 0.7), (~violating, 1.5)):
            off = np.rint((rows[name] - before[name])[part & inner] / step).astype(int)
            share = Counter(off.tolist())
            for steps in range(-3, 4):
                edges = [abs(steps) - 0.5, abs(steps) + 0.5]
                tails = [math.exp(-e * step * epsilon / delta) for e in edges]
                expected = 1 - tails[1] if steps == 0 else (tails[0] - tails[1]) / 2
                spread = math.sqrt(expected * (1 - expected) / len(off))
                assert share[steps] / len(off) == pytest.approx(expected, abs=5 * spread), steps
    noise = [np.asarray(rows[name] - before[name], float) for name in ("age", "pay")]
    assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 0.03
    assert set(rows.loc[~violating, "race"]) == {"w"} and (rows["ill"] == before["ill"]).all()


@pytest.mark.faults
def test_the_same_seed_is_the_same_file_in_any_number_of_threads(folder: Path) -> None:
    files = []
    for threads in (1, 2):
        table = Table.scan(folder / "all.parquet", threads=threads, **ROLES)
        write(scheme(table), folder / f"threads{threads}.csv")
        files.append((folder / f"threads{threads}.csv").read_bytes())
    assert files[0] == files[1]
    table = Table.scan(folder / "all.parquet", **ROLES)
    drawn = {
        name: write(own, folder / f"{name}.parquet", seed).set_index("row")["age"].sort_index()
        for name, own, seed in (
            ("one", scheme(table), 1),
            ("two", scheme(table), 2),
            ("nobody", scheme(table), None),
            ("other", scheme(table, epsilon_other=1, epsilon_violating=1), 1),
            ("weaker", scheme(table, epsilon_other=2, epsilon_violating=2), 1),
        )
    }
    before = people()["age"]
    inner = before.between(30, 50)
    for a, b in (("one", "two"), ("one", "nobody"), ("other", "weaker"), ("one", "other")):
        noise = [np.asarray((drawn[name] - before)[inner], float) for name in (a, b)]
        assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 0.05, (
            a,
            b,
        )  # twice the same could be undone


def test_noise_on_dask_does_not_depend_on_who_computes(folder: Path) -> None:
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    frame, found = people(3000), []
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            table = Table.scan(dd.from_pandas(frame, npartitions=5), **ROLES)
            path = folder / f"{scheduler}.parquet"
            write(scheme(table), path)
        found.append([file.read_bytes() for file in sorted(path.iterdir())])
        check_certificate(path, table)
    assert found[0] == found[1]
    rows = read(path).sort_values("row").reset_index(drop=True)
    assert rows["age"].between(20, 59).all()
    same = (rows["age"] == frame["age"])[frame["race"] == "w"].mean()
    assert same == pytest.approx(1 - math.exp(-2.5), abs=0.03)


def check_certificate(path: Path, table: Table) -> None:
    """What is certified is what pandas finds in the file."""
    rows, said = read(path), told(path)
    own = [numbers is None for numbers in numeric_columns(table)]
    exact = [name for name, text in zip(table.qi_names, own, strict=True) if text]
    sensitive = list(table.sensitive)
    found = audit(rows, quasi_identifiers=table.qi_names).to_dict()
    rest = audit(rows, quasi_identifiers=exact, sensitive=sensitive).to_dict()
    privacy = said["privacy"]
    assert json.loads(json.dumps({key: privacy[key] for key in found})) == close(found)
    assert privacy["on_those_without_noise"] == close(rest)
    assert list(privacy["k_on"].values()) == [found["k"], rest["k"]]
    assert said["release"]["records"] == len(rows) == table.n_records


def close(value: Any) -> Any:
    """Numbers that may differ in their last digits."""
    if isinstance(value, dict):
        return {key: close(own) for key, own in value.items()}
    if isinstance(value, list):
        return [close(own) for own in value]
    return pytest.approx(value, rel=1e-12)


@pytest.mark.faults
@given(seeds, st.sampled_from(["parquet", "csv"]), st.sampled_from(["parquet", "csv"]))
@settings(max_examples=25)
def test_random_tables_are_certified_as_they_are(seed: int, kind: str, ending: str) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(20, 80)))
    roles = roles_of(table)
    if kind == "csv":
        del roles["quasi_identifiers"]["zip"]  # a CSV file does not know that it is text
    with tempfile.TemporaryDirectory() as folder:
        scanned = Table.scan(scans(table.frame, Path(folder))[kind], **roles)
        own = HybridScheme(scanned, 2, patterns=["sex"], thresholds=(0.55, 0.1, 0.05))
        if 0 < own.split.n_violating < 2:
            return
        path = Path(folder) / f"out.{ending}"
        rows = write(own, path)
        check_certificate(path, scanned)
        # What is not noised is what the tuples say, and numbers stay in their domain.
        assert rows["age"].between(18, 30).all() and rows["pay"].between(0, 1).all()
        assert Counter(rows["ill"]) == Counter(table.frame["ill"])
        if own.split.n_other:
            plain = rows[rows["sex"] != "*"]
            assert len(plain) >= own.split.n_other


@given(seeds)
@settings(max_examples=40)
def test_tuples_stay_whole_and_clusters_have_k(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(6, 80)))
    with tempfile.TemporaryDirectory() as folder:
        own = Table.scan(scans(table.frame, Path(folder))["parquet"], **roles_of(table))
    tuples = np.flatnonzero(rng.random(own.n_tuples) < 0.8)
    records = int(own.weights[tuples].sum())
    if records < 2:
        return
    k = int(rng.integers(2, records + 1))
    clusters = member_clusters(own, k, tuples, weight=float(rng.random()))
    assert sorted(set(clusters.labels)) == list(range(len(clusters)))
    assert len(clusters.labels) == len(tuples)
    assert clusters.sizes.min() >= k and clusters.sizes.sum() == records
    for c in range(len(clusters)):
        members = table.frame[np.isin(table.row_tuple, tuples[clusters.labels == c])]
        entropies = []
        for name in ("ill", "town"):
            shares = [n / len(members) for n in Counter(members[name]).values()]
            entropies.append(-sum(p * math.log(p) for p in shares))
        assert clusters.entropy[c] == pytest.approx(min(entropies), abs=1e-12)


@given(seeds)
@settings(max_examples=40)
def test_tuples_of_one_record_are_clustered_as_in_memory(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = random_table(rng, 80).frame
    names = ["age", "pay", "job", "sex"]
    frame = frame.drop_duplicates(names)[[*names, "ill", "town"]].reset_index(drop=True)
    roles: dict[str, Any] = {"quasi_identifiers": names, "sensitive": ["ill", "town"]}
    table = Table(frame, **roles)
    with tempfile.TemporaryDirectory() as folder:
        own = Table.scan(scans(frame, Path(folder))["parquet"], **roles)
    k, weight = int(rng.integers(2, 6)), float(rng.random())
    mine, other = (member_clusters(one, k, weight=weight) for one in (own, table))
    assert np.array_equal(mine.labels[table.row_tuple], other.labels)
    assert np.allclose(mine.entropy, other.entropy)


def test_frequent_tuples_are_clusters_of_their_own() -> None:
    """Whole tuples are taken until k records are there."""
    frame = pd.DataFrame({"n": [1, 2, 3, 50, 51], "c": list("aaabb"), "s": list("xyxyx")})
    frame = frame.loc[frame.index.repeat([9, 2, 3, 4, 4])].reset_index(drop=True)
    with tempfile.TemporaryDirectory() as folder:
        path = scans(frame, Path(folder))["parquet"]
        own = Table.scan(path, quasi_identifiers=["n", "c"], sensitive="s")
    clusters = member_clusters(own, 5, weight=0.0)
    numbers = np.asarray(own.qis[0].numbers)[own.tuples[:, 0]]
    found = {tuple(numbers[clusters.labels == c].tolist()) for c in range(len(clusters))}
    assert found == {(1.0,), (2.0, 3.0), (50.0, 51.0)}
    kinds = clustering._kinds(own, units_of(own), np.arange(5))[1]
    given_, _ = grow_members(kinds, np.arange(5), 5, 0.0, True)
    assert sorted(given_.tolist()) == [0, 1, 2, 3, 4]


def test_sql_and_numpy_add_the_same_noise() -> None:
    rng = np.random.default_rng(1)
    for step, low, high, whole in ((1.0, 0.0, 50.0, True), (0.01, -1.5, 2.25, False)):
        values = np.round(rng.uniform(low, high, 40) / step) * step
        salts = rng.integers(0, 2**63, 40).astype(np.uint64)
        own = RowNoise(rng.uniform(0.1, 5, 40), salts, step, low, high, whole)
        place = np.arange(40)
        keys = [hashlib.new("md5", f"secret|2|{salts[i]}|{i}".encode()).digest() for i in place]  # noqa: S324
        upper = np.array([int.from_bytes(key[:8], "big") for key in keys], np.uint64)
        lower = np.array([int.from_bytes(key[:8], "little") for key in keys], np.uint64)
        frame = pd.DataFrame({"v": values, "n2": own.scales, "h2": salts, "p": place})
        query = noise_sql(own, NoiseColumn(2, "v", "t", "p"), "secret")
        with duckdb.connect() as connection:
            connection.register("t", frame)
            found = connection.sql(f"SELECT {query} FROM t ORDER BY p").df().iloc[:, 0]  # noqa: S608
        expected = []
        for key in (upper, lower):  # the order of bytes is the engine's own
            u = ((key >> np.uint64(11)) + 0.5) / 2.0**53
            drawn = np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u)))
            expected.append(own.add(values, place, drawn))
        assert any(np.array_equal(found.to_numpy(), one) for one in expected)
        assert (found.dtype.kind == "i") == whole


def test_draws_of_a_partition_are_laplace_and_its_own() -> None:
    salts = np.repeat(np.arange(10, dtype=np.uint64), 5000)
    drawn = [partition_draws("s", column, part, salts) for column, part in ((0, 0), (0, 1), (1, 0))]
    for own in drawn:
        assert np.mean(own) == pytest.approx(0, abs=0.03)
        assert np.mean(np.abs(own)) == pytest.approx(1, abs=0.03)
        assert np.quantile(own, 0.9) == pytest.approx(-math.log(0.2), abs=0.06)
    assert np.abs(np.corrcoef(drawn) - np.eye(3)).max() < 0.02


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_an_audit_of_sizes_is_the_audit(sizes: list[int]) -> None:
    frame = pd.DataFrame({"a": np.repeat(np.arange(len(sizes)), sizes)})
    values, groups = np.unique(sizes, return_counts=True)
    assert audit_sizes(values, groups) == close(audit(frame, quasi_identifiers=["a"]).to_dict())


def test_other_people_at_the_same_places_get_other_noise(tmp_path: Path) -> None:
    """The same seed on the same records in another order: counts and sizes of files are equal."""
    dd = pytest.importorskip("dask.dataframe")
    before = people(4000)
    mixed = before.sample(frac=1, random_state=1).reset_index(drop=True)
    for kind in ("csv", "dask"):
        noise = []
        for frame in (before, mixed):
            frame.to_csv(tmp_path / "t.csv", index=False)
            source = dd.from_pandas(frame, npartitions=3) if kind == "dask" else tmp_path / "t.csv"
            own = scheme(Table.scan(source, **ROLES), epsilon_other=0.3, epsilon_violating=0.3)
            rows = write(own, tmp_path / f"{kind}.parquet", force=True).set_index("row")
            noise.append((rows["age"] - before.set_index("row")["age"]).loc[frame["row"]])
        other = noise[0].index.to_numpy() != noise[1].index.to_numpy()
        pairs = [own.to_numpy()[other] for own in noise]
        assert abs(np.corrcoef(*pairs)[0, 1]) < 0.06, kind


@pytest.mark.faults
@pytest.mark.parametrize("scanned", [True, False])
def test_nothing_is_used_twice(folder: Path, scanned: bool) -> None:
    table = Table.scan(folder / "all.parquet", **ROLES) if scanned else Table(people(), **ROLES)
    before = people().set_index("row")["age"]
    found = []
    for options in ({"patterns": ["race"]}, {"patterns": ["sex"]}, {"bounds": {"age": (10, 70)}}):
        own = scheme(table, epsilon_other=0.4, epsilon_violating=0.4, **options)
        rows = write(own, folder / "twice.parquet", force=True)
        inner = before[before.between(35, 45)].index
        found.append((rows["row"].to_numpy(), (rows.set_index("row")["age"] - before)[inner]))
    for i, j in ((0, 1), (0, 2)):
        assert (found[i][0] == found[j][0]).mean() < 0.01
        assert abs(np.corrcoef(found[i][1], found[j][1])[0, 1]) < 0.06


def test_fine_and_coarse_numbers_and_numbers_as_text(tmp_path: Path) -> None:
    frame = people(2000).assign(pay=lambda f: f["pay"] * 1e-6 / 3)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(ProblemError, match="numbers of 'pay' differ by less than a thousandth"):
        HybridScheme(Table.scan(tmp_path / "t.parquet", **ROLES), 5, patterns=["race"]).space  # noqa: B018
    frame = frame.assign(age=frame["age"] * 1000, pay=people(2000)["pay"].astype("float32"))
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    own = HybridScheme(Table.scan(tmp_path / "t.parquet", **ROLES), 5, patterns=["race"])
    rows = write(own, tmp_path / "out.parquet")
    assert np.array_equal(rows["pay"].round(1), rows["pay"])  # not 0.10000000149
    said = told(tmp_path / "out.parquet")
    assert any("'age' are at least 1000 apart" in text for text in said["not_guaranteed"])
    assert any("None were declared for" in text for text in said["not_guaranteed"])
    joined = rows.merge(frame, on="row", suffixes=("", " before"))
    names = ["age", "pay", "race", "sex"]
    same = [np.isclose(joined[n], joined[f"{n} before"]) for n in names[:2]]
    same += [joined[n] == joined[f"{n} before"] for n in names[2:]]
    expected = said["utility"]["originality_expected"]
    assert np.mean(same) == pytest.approx(expected, abs=0.02)
    texts = frame.assign(pay=frame["pay"].astype(str))
    texts.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.warns(pm.release.ReleaseWarning, match="'pay' holds numbers as text"):
        own = HybridScheme(Table.scan(tmp_path / "t.parquet", **ROLES), 5, patterns=["race"])
    with pytest.raises(ProblemError, match="bounds: those of 'age' must lie within"):
        scheme(own.table, bounds={"age": (-math.inf, math.inf)})
    with pytest.raises(ProblemError, match="parameters: must be HybridParameters"):
        HybridScheme.like(own.table, None)


@pytest.mark.faults
def test_patterns_are_found_from_counts(folder: Path) -> None:
    table = Table.scan(folder / "all.parquet", **ROLES)
    mine, other = find_patterns(table), find_patterns(Table(people(), **ROLES))
    assert mine.friendly == other.friendly == ["race"]
    same = ["top_value", "top_two", "other_values", "categorical", "pattern_friendly"]
    pd.testing.assert_frame_equal(mine.frame[same], other.frame[same])
    assert mine.score == pytest.approx(other.score, abs=0.02)
    assert scheme(table, patterns=None).split.n_violating == scheme(table).split.n_violating


def test_what_needs_records_is_said(folder: Path) -> None:
    table = Table.scan(folder / "all.parquet", **ROLES)
    with pytest.raises(TableError, match="strict: needs single records"):
        scheme(table, strict=True)
    with pytest.raises(
        TableError, match=r"a release in memory: needs single .*; use write\(path\)"
    ):
        scheme(table).run()
    with pytest.raises(TableError, match="a front of the hybrid scheme: needs single records"):
        pm.problems.Hybrid(table, patterns=["race"])
    with pytest.raises(ProblemError, match="seed: must be a whole number"):
        scheme(table).write(folder / "no.csv", seed=-1)
    assert not (folder / "no.csv").exists()


def test_parameters_of_a_front_are_used_on_all_records(folder: Path) -> None:
    table = Table.scan(folder / "all.parquet", **ROLES)
    problem = pm.problems.Hybrid(table.sample(400, seed=1), patterns=["race"])
    front = pm.optimize(problem, budget=2, seed=1, progress=False)
    parameters = problem.scheme_parameters(front[0].x)
    own = HybridScheme.like(table, parameters, patterns=["race"])
    assert own.parameters == parameters
    write(own, folder / "like.parquet")
    check_certificate(folder / "like.parquet", table)
    short = HybridScheme(Table(people(400), **{**ROLES, "quasi_identifiers": ["age", "sex"]}), 5)
    with pytest.raises(ProblemError, match=r"levels for 1 categorical .* table has 2"):
        HybridScheme.like(table, short.parameters, patterns=["race"])
