"""Measures, problems and baselines on a scanned table: as in memory, or one sentence why not."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo import Hierarchy, Table, baselines, measures, problems
from privmoo.errors import PrivmooError, TableError
from privmoo.measures.base import Measure
from privmoo.problem import AnonymizationProblem
from tests.engines.test_scanned_release import ROLES, people
from tests.scenery.parameters import first_in_make_test
from tests.scenery.scanning import scans

SENTENCE = "needs single records, and a scanned table has only counts; "
ARGUMENTS: dict[str, dict[str, Any]] = {
    "RecursiveDiversity": {"c": 2},
    "RecordsAtRisk": {"tau": 0.1},
    "Skewness": {"factor": 1.5},
    "Similarity": {"level": 1},
    "JournalistRisk": {"sampling_fraction": 0.5},
    "MarketerRisk": {"sampling_fraction": 0.5},
    "PSensitivity": {},
}
NEEDS_RECORDS = {"DisclosureRisk"}
OF_CLUSTERS = {"InformationLoss"}
MEASURES = sorted(
    name
    for name in measures.__all__
    if inspect.isclass(getattr(measures, name))
    and issubclass(getattr(measures, name), Measure)
    and name not in ("Measure", "FunctionMeasure")
)
BY_TUPLES = {"Clusters", "MOOBAM"}
ON_COUNTS = BY_TUPLES | {
    "AnySuppression",
    "BudgetSuppression",
    "Cuts",
    "KLSafe",
    "Levels",
    "Regions",
    "ScalarMOOBAM",
    "TradeOff",
    "ZeroSuppression",
}
PROBLEMS = sorted(
    name
    for name in problems.__all__
    if inspect.isclass(getattr(problems, name))
    and issubclass(getattr(problems, name), AnonymizationProblem)
)

pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scans(people(200), tmp_path_factory.mktemp("parts"))["parquet"]


def two_tables(path: Path, **more: Any) -> tuple[Table, Table]:
    roles = {**ROLES, "sensitive": {"ill": pm.Hierarchy.flat(), "grade": None}, **more}
    return Table.read_parquet(path, **roles), Table.scan(path, **roles)


@pytest.fixture(scope="module")
def both(path: Path) -> tuple[Table, Table]:
    return two_tables(path)


@pytest.fixture(scope="module")
def whole(path: Path) -> tuple[Table, Table]:
    return two_tables(path, missing="drop")  # what is missing has no distance


@pytest.mark.parametrize("name", MEASURES)
def test_measures(name: str, both: tuple[Table, Table], whole: tuple[Table, Table]) -> None:
    make = getattr(measures, name)
    table, scanned = whole if name in OF_CLUSTERS else both
    measure = make(**ARGUMENTS.get(name, {}))
    if name in NEEDS_RECORDS:
        with pytest.raises(TableError, match=SENTENCE):
            problems.Cuts(scanned, objectives=[measure])
        return

    def make_problem(own: Table) -> AnonymizationProblem:
        if name in OF_CLUSTERS:
            own_clusters = {"assignment": "nearest", "objectives": [measure], "k": 2}
            return problems.Clusters(own, 5, suppression=pm.Budget(0.1), **own_clusters)
        return problems.Cuts(own, objectives=[measure], suppression=pm.Budget(0.1))

    for distance in ("equal", "ordered") if name == "TCloseness" else ("",):
        measure = make(distance=distance) if distance else measure
        values = []
        for own in (table, scanned):
            problem = make_problem(own)
            if name in OF_CLUSTERS:
                X: Any = np.random.default_rng(1).uniform(
                    problem.xl, problem.xu, (20, problem.n_var)
                )
            else:
                X = np.random.default_rng(1).random((20, problem.n_var)) < 0.5
                X = problem.repair(X) if hasattr(problem, "repair") else X
            values.append(problem.evaluate(X.astype(float), return_values_of=["F"]))
        assert np.array_equal(values[0], values[1], equal_nan=True)


@pytest.mark.parametrize("name", first_in_make_test(PROBLEMS, 4))
def test_problems(name: str, both: tuple[Table, Table], whole: tuple[Table, Table]) -> None:
    make = getattr(problems, name)
    more = {"Clusters": (4,), "MOOBAM": (4, 5), "ScalarMOOBAM": (4, 5, 0.5)}.get(name, ())
    table, scanned = whole if more else both
    if name in BY_TUPLES:
        with pytest.raises(TableError, match=r"only counts; use assignment='nearest', or split=0"):
            make(scanned, *more)
        make = partial(make, assignment="nearest")
    if name not in ON_COUNTS:
        with pytest.raises(TableError, match=SENTENCE):
            make(scanned, *more)
        return
    fronts = [
        pm.optimize(make(t, *more), budget=pm.Evaluations(300), seed=5, progress=False)
        for t in (table, scanned)
    ]
    assert np.array_equal(fronts[0].X, fronts[1].X)
    assert np.array_equal(fronts[0].values, fronts[1].values)
    assert fronts[0][0].explain() == fronts[1][0].explain()


def test_the_exact_front(both: tuple[Table, Table]) -> None:
    fronts = [pm.exact_front(problems.Levels(t), progress=False) for t in both]
    assert np.array_equal(fronts[0].values, fronts[1].values)


@pytest.mark.parametrize("name", baselines.names())
def test_baselines(name: str, both: tuple[Table, Table]) -> None:
    with pytest.raises(TableError, match=SENTENCE):
        baselines.by_name(name)(both[1], 5, **({"l": 2} if name == "zheng" else {}))


def test_single_records_are_not_there(both: tuple[Table, Table]) -> None:
    scanned = both[1]
    with pytest.raises(TableError, match=SENTENCE):
        scanned.frame  # noqa: B018
    with pytest.raises(TableError, match=SENTENCE):
        scanned.row_tuple  # noqa: B018
    with pytest.raises(TableError, match=SENTENCE):
        scanned.sensitive["ill"].row_codes  # noqa: B018
    with pytest.raises(TableError, match=SENTENCE):
        pm.make_release(scanned, pm.recodings.identity_recoding(scanned))
    with pytest.raises(TableError, match="subject: needs single records"):
        Table.scan(scanned.source.name, subject="name", **ROLES)


def test_fingerprints_tell_tables_apart(tmp_path: Path) -> None:
    one, other = (scans(people(100, seed), tmp_path / str(seed)) for seed in (1, 2))
    prints = [Table.scan(p["parquet"], **ROLES).fingerprint for p in (one, one, other)]
    assert prints[0] == prints[1] != prints[2]
    roles = {**ROLES, "sensitive": ["ill"]}
    assert Table.scan(one["parquet"], **roles).fingerprint != prints[0]
    fewer = Table.scan(one["parquet"], **roles)
    assert fewer.content == Table.scan(one["parquet"], **ROLES).content


def test_fronts_are_saved_and_loaded(both: tuple[Table, Table], tmp_path: Path) -> None:
    scanned = both[1]
    problem = problems.Cuts(scanned)
    front = pm.optimize(problem, budget=pm.Evaluations(200), seed=5, progress=False)
    front.save(tmp_path / "front")
    loaded = pm.Front.load(tmp_path / "front", table=scanned)
    loaded[0].write(tmp_path / "out.csv")
    with pytest.raises(PrivmooError):
        pm.Front.load(tmp_path / "front", table=both[0])


def test_a_search_outlives_the_files(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"age": [1, 2, 1, 2]}).to_parquet(path, index=False)
    table = Table.scan(path, quasi_identifiers={"age": Hierarchy.flat()})
    path.unlink()
    front = pm.optimize(pm.problems.Levels(table), budget=3, seed=1, progress=False)
    with pytest.raises(TableError, match=r"t.parquet cannot be read"):
        front[0].write(tmp_path / "public.csv")
