"""Clusters of whole tuples on a scanned table: classes, fronts, rows and certificates of memory."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo import Table
from privmoo.audit import class_utility, information_loss
from privmoo.errors import AuditError, PrivmooError, RecodingError, ReleaseError, TableError
from privmoo.operators import CentroidSampling
from privmoo.operators.space import space_of
from privmoo.problems import MOOBAM, Clusters, ScalarMOOBAM
from privmoo.problems.clusters import ClustersWarning
from privmoo.recodings.base import from_json
from tests.engines.test_dask_release import read_all
from tests.engines.test_scanned_release import flat, read, spelled
from tests.engines.test_scanning import outcome, tables
from tests.scenery.clusters import people
from tests.scenery.parameters import first_in_make_test
from tests.scenery.scanning import scans

pytest.importorskip("duckdb")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

Scan = Callable[[pd.DataFrame, Path], tuple[Any, Callable[..., Table]]]
ODD = st.sampled_from([0.1, 0.2, 0.7, 1 / 3, 1 / 7, 1e-3, 5.0, 123456.789])
KINDS = ("text", "digits", "whole", "holes", "real", "bool", "maybe")
POLICIES = [None, pm.BelowThreshold(2), pm.BelowAverage(), pm.Budget(0.3)]


@pytest.fixture(autouse=True, scope="module")
def _one_after_the_other() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def as_parquet(frame: pd.DataFrame, folder: Path) -> tuple[Any, Callable[..., Table]]:
    path = folder / "in.parquet"
    frame.to_parquet(path, index=False)
    return path, Table.read_parquet


def as_csv(frame: pd.DataFrame, folder: Path) -> tuple[Any, Callable[..., Table]]:
    path = folder / "in.csv"
    frame.to_csv(path, index=False)
    return path, Table.read_csv


def as_dask(frame: pd.DataFrame, folder: Path) -> tuple[Any, Callable[..., Table]]:
    source = dd.from_pandas(frame, npartitions=2)
    return source, lambda given, **roles: Table(given.compute(), **roles)


SCANS: dict[str, Scan] = {"parquet": as_parquet, "csv": as_csv, "dask": as_dask}


def rows_in(path: Path, *, texts: bool) -> list[tuple[str, ...]]:
    """The rows in any order; as they are spelled, or as values."""
    if path.is_dir():
        return sorted(row for part in path.iterdir() for row in read_all(part))
    return sorted(read_all(path)) if texts else spelled(read(path))


def same_release(mine: Any, other: Any, folder: Path, ending: str) -> None:
    """Assert that both solutions write the same rows and certificate, or fail in the same words."""
    folder.mkdir()
    said: list[str] = []
    for name, solution in (("mine", mine), ("other", other)):
        try:
            solution.write(folder / f"{name}.{ending}", seed=1)
        except ReleaseError as error:
            said.append(str(error))
    if said:
        assert len(set(said)) == 1 and len(said) == 2
        return
    files = [folder / f"{name}.{ending}" for name in ("mine", "other")]
    texts = files[0].is_dir()  # parts are read one by one, and types may differ
    assert rows_in(files[0], texts=texts) == rows_in(files[1], texts=texts)
    told, known = (json.loads(next(folder.glob(f"{f.stem}*.json")).read_text()) for f in files)
    for one in (told, known):
        for key in ("file", "sha256"):
            one["release"].pop(key)
        for key in ("created", "fingerprint"):
            one["source"].pop(key, None)
        earlier = ("this is release num", "a table with nearly the same")
        one["warnings"] = [w for w in one["warnings"] if not w.startswith(earlier)]
    for section in ("source", "method", "release", "warnings", "not_guaranteed"):
        assert told[section] == known[section], section
    for section in ("privacy", "utility"):
        assert flat(told[section]) == pytest.approx(flat(known[section]), abs=1e-12), section
    for a, b in zip(told["claims"], known["claims"], strict=True):
        assert (a["measure"], a["claimed"]) == (b["measure"], b["claimed"])
        assert a["audited"] == pytest.approx(b["audited"], abs=1e-12)


def same_front(mine: pm.Front, other: pm.Front) -> None:
    assert np.array_equal(mine.X, other.X)
    assert np.array_equal(mine.values, other.values)


def search(problem: Any, evaluations: int = 300, **options: Any) -> pm.Front:
    budget = pm.Evaluations(evaluations)
    return pm.optimize(problem, budget=budget, seed=5, progress=False, **options)


@pytest.mark.faults
@pytest.mark.parametrize("scan", SCANS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_whatever_the_values(scan: str, data: st.DataObject) -> None:
    frame, roles = data.draw(tables(KINDS))
    names = list(frame)
    if data.draw(st.booleans()):  # sums of which depend on their order
        frame[names[0]] = data.draw(st.lists(ODD, min_size=len(frame), max_size=len(frame)))
    options = {
        "assignment": data.draw(st.sampled_from(["nearest", "nearest", "balanced"])),
        "release": data.draw(st.sampled_from(["mean", "centroid"])),
        "scale": data.draw(st.sampled_from(["raw", "standard", "minmax"])),
        "suppression": data.draw(st.sampled_from(POLICIES)),
        "split": 0,
    }
    objectives = [pm.InformationLoss(scale=data.draw(st.sampled_from(["raw", "standard"])))]
    clusters, seed = data.draw(st.integers(1, 5)), data.draw(st.integers(0, 99))
    ending = data.draw(st.sampled_from(["csv", "parquet"]))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ClustersWarning)
        source, into_memory = SCANS[scan](frame, Path(folder))
        try:
            table, scanned = into_memory(source, **roles), Table.scan(source, **roles)
        except PrivmooError:
            return

        def make(own: Table) -> Any:
            more = [*objectives, pm.KAnonymity()]
            return Clusters(own, clusters, objectives=more, threads=1, **options)

        problem, expected = outcome(lambda: make(scanned)), outcome(lambda: make(table))
        if isinstance(expected, str):
            assert problem == expected
            return
        assert isinstance(problem, Clusters), problem
        assert isinstance(expected, Clusters)
        X = CentroidSampling("values")(expected, 4, to_numpy=True, random_state=seed)
        again = CentroidSampling("values")(problem, 4, to_numpy=True, random_state=seed)
        assert np.array_equal(X, again)
        found, wanted = problem.evaluate_measures(X), expected.evaluate_measures(X)
        assert list(found) == list(wanted)
        for name, values in wanted.items():
            assert np.array_equal(found[name], values), name
        mine, other = problem.recoding(X[0]), expected.recoding(X[0])
        assert mine.whole_tuples and other.whole_tuples
        assert mine.key() == other.key()
        assert repr(mine) == repr(other)
        assert mine.to_json() == other.to_json()
        assert from_json(scanned, mine.to_json()).key() == mine.key()
        assert np.array_equal(problem.encode(mine), expected.encode(other))
        space = space_of(expected, "centroids")
        X[-1] = space.from_centres(space.matrices(X[-1])[0, :1])  # has k
        fronts = pm.Front.of(problem, X), pm.Front.of(expected, X)
        same_front(*fronts)
        for i in range(len(fronts[0])):
            assert fronts[0][i].explain() == fronts[1][i].explain()
            same_release(fronts[0][i], fronts[1][i], Path(folder) / f"out {i}", ending)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, Table]:
    table = people(400, 2)
    roles = {"quasi_identifiers": table.qi_names, "sensitive": list(table.sensitive)}
    path = scans(table.frame, tmp_path_factory.mktemp("people"))["parquet parts"]
    return Table.scan(path, **roles), Table(table.frame, **roles)


PROBLEMS: dict[str, Callable[[Table], Any]] = {
    "nearest": lambda t: Clusters(t, 12, k=3, assignment="nearest"),
    "centroids": lambda t: Clusters(t, 12, k=3, assignment="nearest", release="centroid"),
    "standard": lambda t: MOOBAM(
        t, 9, 4, assignment="nearest", scale="standard", loss_scale="standard"
    ),
    "more objectives": lambda t: MOOBAM(
        t,
        9,
        4,
        assignment="nearest",
        objectives=[pm.Homogeneity(), pm.RecordsAtRisk(0.05)],
        constraints=[pm.TCloseness() <= 0.9],
        suppression=pm.Budget(0.1),
    ),
    "tuples in balance": lambda t: MOOBAM(t, 9, 4, split=0),
    "swarm": lambda t: ScalarMOOBAM(t, 5, 4, 0.1),
}


@pytest.mark.parametrize("name", first_in_make_test(PROBLEMS, 2))
def test_fronts_are_those_of_memory(name: str, both: tuple[Table, Table], tmp_path: Path) -> None:
    make = PROBLEMS[name]
    mine, other = (search(make(t)) for t in both)
    same_front(mine, other)
    chosen = len(mine) // 2
    assert mine[chosen].explain() == other[chosen].explain()
    same_release(mine[chosen], other[chosen], tmp_path / "out", "parquet")
    mine.save(tmp_path / "mine.front")
    loaded = pm.Front.load(tmp_path / "mine.front", table=both[0])
    assert loaded[chosen].recoding.key() == mine[chosen].recoding.key()
    same_release(loaded[chosen], other[chosen], tmp_path / "again", "csv")


def test_a_front_does_not_depend_on_the_order_of_the_records(both: tuple[Table, Table]) -> None:
    table = both[1]
    order = np.random.default_rng(1).permutation(table.n_records)
    roles = {"quasi_identifiers": table.qi_names, "sensitive": list(table.sensitive)}
    shuffled = Table(table.frame.iloc[order], **roles)
    same_front(*(search(PROBLEMS["nearest"](t)) for t in (table, shuffled)))
    same_front(*(search(PROBLEMS["swarm"](t)) for t in (table, shuffled)))


def test_records_are_drawn_as_often_as_they_are(both: tuple[Table, Table]) -> None:
    scanned, table = both
    for own in both:
        space = PROBLEMS["nearest"](own).space
        drawn = np.bincount(space.draw_records(np.random.default_rng(0), (100_000,)))
        share = table.weights / table.n_records
        assert np.abs(drawn / 100_000 - share).max() < 5 * np.sqrt(share.max() / 100_000)
    assert len(drawn) == scanned.n_tuples


def test_a_search_starts_from_given_classes(both: tuple[Table, Table]) -> None:
    labels = both[1].tuples[:, 0].astype(np.int64) // 2
    fronts = []
    for table in both:
        problem = PROBLEMS["nearest"](table)
        means = pm.recodings.cluster_recoding(table, labels, by="tuples")
        ranges = pm.recodings.range_recoding(table, labels, by="tuples")
        assert problem.adopt(ranges).key() == means.key()
        fronts.append(search(problem, 200, start=[means, ranges]))
    same_front(*fronts)


@pytest.mark.parametrize("make", [pm.recodings.cluster_recoding, pm.recodings.range_recoding])
def test_own_classes_are_released(make: Any, both: tuple[Table, Table], tmp_path: Path) -> None:
    from privmoo.release.copy import write_copy
    from privmoo.release.plan import ReleasePlan

    scanned, table = both
    labels = table.tuples[:, 0].astype(np.int64) // 3
    loss = pm.InformationLoss() if make is pm.recodings.cluster_recoding else pm.GeneralLoss()
    recoding = make(table, labels, by="tuples")
    expected = pm.make_release(table, recoding, measures=[loss, pm.KAnonymity()])
    for name, own in (("own", make(scanned, labels, by="tuples")), ("memory's", recoding)):
        path = tmp_path / f"{name}.parquet"
        write_copy(ReleasePlan.of(scanned, own, measures=[loss, pm.KAnonymity()]), path)
        assert spelled(pd.read_parquet(path)) == spelled(expected.frame)
        told = json.loads(path.with_suffix(".certificate.json").read_text())
        known = flat(dict(expected.certificate.published().utility))
        assert flat(told["utility"]) == pytest.approx(known)


def test_labels_of_records_are_read_back(both: tuple[Table, Table]) -> None:
    from privmoo._util.text_arrays import pack_numbers

    scanned, table = both
    labels = (table.tuples[:, 0] // 2).astype(np.int32)
    recoding = pm.recodings.cluster_recoding(table, labels, by="tuples")
    old = {"kind": "classes", "publishes": "means", "labels": pack_numbers(recoding.labels, "<i4")}
    assert from_json(table, old).key() == recoding.key()
    with pytest.raises(TableError, match=r"^by='records': needs single .*give labels of tuples"):
        from_json(scanned, old)
    with pytest.raises(RecodingError, match="stored for another number of records"):
        from_json(table, {**old, "by": "tuples"})
    split = pm.recodings.cluster_recoding(table, np.arange(table.n_records) % 2)
    assert split.splits and split.labels_of_tuples is None and not split.whole_tuples
    assert from_json(table, split.to_json()).key() == split.key()


def test_what_needs_single_records_says_so(both: tuple[Table, Table], tmp_path: Path) -> None:
    from privmoo.release.copy import write_copy
    from privmoo.release.plan import ReleasePlan

    scanned, table = both
    sentence = (
        r"^assignment='free': needs single records, and a scanned table has only counts; use "
        r"assignment='nearest', or split=0, which keep equal records together$"
    )
    make: Callable[[], object]
    for make in (lambda: Clusters(scanned, 5), lambda: MOOBAM(scanned, 5, 4, split=1)):
        with pytest.raises(TableError, match=sentence):
            make()
    own = pm.recodings.cluster_recoding(scanned, np.zeros(scanned.n_tuples, np.int64), by="tuples")
    with pytest.raises(TableError, match=r"^labels: needs single records"):
        own.labels  # noqa: B018
    with pytest.raises(TableError, match=r"^by='records': needs single records"):
        pm.recodings.cluster_recoding(scanned, np.zeros(scanned.n_records, np.int64))
    split = pm.recodings.cluster_recoding(table, np.arange(table.n_records) % 2)
    with pytest.raises(TableError, match=r"^PartitionRecoding: needs single records"):
        write_copy(ReleasePlan.of(scanned, split), tmp_path / "out.csv")
    problem = Clusters(scanned, 5, assignment="nearest")
    with pytest.raises(RecodingError, match="do not belong to the tuples of this scanned table"):
        problem.adopt(split)
    fewer = Table(table.frame.assign(age=1), quasi_identifiers=table.qi_names)
    other = pm.recodings.cluster_recoding(fewer, np.zeros(fewer.n_tuples, np.int64), by="tuples")
    with pytest.raises(RecodingError, match="do not belong to the tuples of this scanned table"):
        write_copy(ReleasePlan.of(scanned, other), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.faults
def test_adult(tmp_path: Path) -> None:
    table = pm.datasets.adult("wei")
    path = scans(table.frame, tmp_path / "in")["parquet parts"]
    roles = {"quasi_identifiers": table.qi_names, "sensitive": list(table.sensitive)}
    scanned, own = Table.scan(path, **roles), Table(table.frame, **roles)
    mine, other = (search(MOOBAM(t, 40, 5, assignment="nearest")) for t in (scanned, own))
    same_front(mine, other)
    for i in (0, len(mine) - 1):
        assert mine[i].explain() == other[i].explain()
        same_release(mine[i], other[i], tmp_path / f"out {i}", "parquet")


@pytest.mark.parametrize("value", first_in_make_test([1 / 3, 0.1, 0.3, 0.7]))
def test_a_column_of_one_number_loses_nothing(value: float, tmp_path: Path) -> None:
    """Whatever the rounding of its mean, which depends on how records are counted."""
    for n in (5, 10, 11, 29):
        frame = pd.DataFrame({"two": np.arange(n) // (n // 2), "ill": list("xy" * n)[:n]})
        frame["one"] = value
        path = tmp_path / f"{n}.parquet"
        frame.to_parquet(path)
        roles = {"quasi_identifiers": ["one", "two"], "sensitive": ["ill"]}
        solutions = []
        for table in (Table.scan(path, **roles), Table.read_parquet(path, **roles)):
            problem = MOOBAM(
                table, 2, 2, assignment="nearest", scale="standard", loss_scale="standard"
            )
            x = space_of(problem, "centroids").from_centres(np.array([[value, 0.0]]))
            front = pm.Front.of(problem, x[None])
            assert front[0].loss_per_attribute()["one"] == pytest.approx(0)
            solutions.append(front[0])
        same_release(solutions[0], solutions[1], tmp_path / f"out {n}", "csv")


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_the_audit_counts_rows_as_often_as_they_are(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    numbers = st.one_of(ODD, st.integers(-5, 5).map(float))

    def column(values: Any) -> list[Any]:
        drawn: list[Any] = data.draw(st.lists(values, min_size=n, max_size=n))
        return drawn

    original = pd.DataFrame({"a": column(numbers), "c": column(st.sampled_from("xyz"))})
    shown = pd.DataFrame({"a": column(numbers), "c": column(st.sampled_from("xyzw"))})
    records = np.array(column(st.integers(1, 5)))
    rows = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True)))
    kept = shown.iloc[rows].reset_index(drop=True)
    place = np.repeat(np.arange(n), records)  # the row of every record
    released = np.concatenate([np.flatnonzero(place == row) for row in rows])
    whole = original.iloc[place].reset_index(drop=True)
    out = shown.iloc[place[released]].reset_index(drop=True)
    for scale in ("raw", "standard"):
        kinds: dict[str, Any] = {"numeric": ["a"], "categorical": ["c"], "scale": scale}
        short = information_loss(original, kept, rows=rows, records=records, **kinds)
        assert short == pytest.approx(information_loss(whole, out, rows=released, **kinds))
    names = ["a", "c"]
    assert class_utility(
        original, kept, quasi_identifiers=names, rows=rows, records=records
    ) == class_utility(whole, out, quasi_identifiers=names)
    with pytest.raises(AuditError, match=r"^records: if rows stand for several, give rows="):
        class_utility(original, kept, quasi_identifiers=names, records=records)


@pytest.mark.parametrize("claim", ["il", "k", "min_entropy"])
def test_a_wrong_claim_is_found(claim: str, both: tuple[Table, Table], tmp_path: Path) -> None:
    from privmoo.release.copy import write_copy
    from privmoo.release.plan import Origin, ReleasePlan

    scanned = both[0]
    recoding = pm.recodings.cluster_recoding(
        scanned, np.arange(scanned.n_tuples) // 20, by="tuples"
    )
    measures = [pm.InformationLoss(), pm.KAnonymity(), pm.MinimumEntropy()]
    origin = Origin(claims={claim: 0.123})
    plan = ReleasePlan.of(scanned, recoding, measures=measures, origin=origin)
    with pytest.raises(AuditError, match=f"^{claim}: the optimiser claims 0.123"):
        write_copy(plan, tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())
