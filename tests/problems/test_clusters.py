"""Problems of clusters: contract, what they refuse, warm starts, files, and a pinned run."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.data.table import Table
from privmoo.errors import MeasureError, ProblemError, RecodingError
from privmoo.front import Front
from privmoo.measures import InformationLoss, KAnonymity, MinimumEntropy
from privmoo.operators.space import space_of
from privmoo.problems import MOOBAM, Clusters, ClustersWarning, Cuts, ScalarMOOBAM
from privmoo.recodings.classes import PartitionRecoding, cluster_recoding, range_recoding
from privmoo.release.release import Origin
from privmoo.testing import check_problem, valid_rows
from tests.scenery.clusters import people

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
TABLE = people(120, 1)

RELEASES = ["mean", "centroid"]


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize("scale", ["raw", "standard", "minmax"])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("assignment", ["balanced", "nearest"])
def test_contract(assignment: Any, release: Any, scale: Any) -> None:
    check_problem(Clusters(TABLE, 12, k=3, assignment=assignment, release=release, scale=scale))


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize("policy", [pm.Budget(0.1), pm.BelowThreshold(5), pm.KLBudget(0.2)])
@pytest.mark.parametrize("assignment", ["free", "balanced", "nearest"])
def test_contract_with_suppression(assignment: Any, policy: Any) -> None:
    check_problem(Clusters(TABLE, 12, k=3, assignment=assignment, suppression=policy))


ODD = {
    "numbers": {"qis": ["age", "pay"]},
    "categories": {"qis": ["sex", "job"]},
    "one category": {"qis": ["sex"]},
    "a constant": {"qis": ["same"]},
    "a constant and a category": {"qis": ["same", "sex"]},
    "nothing sensitive": {"sensitive": []},
    "persons": {"subject": "who"},
    "a target": {"sensitive": "ill", "target": "debt"},
}


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize("table", ODD)
@pytest.mark.parametrize("assignment", ["free", "balanced", "nearest"])
def test_contract_on_odd_tables(assignment: Any, table: str) -> None:
    check_problem(Clusters(people(60, 2, **ODD[table]), 10, k=3, assignment=assignment))


@pytest.mark.usefixtures("short_searches")
def test_contract_of_the_published_model() -> None:
    check_problem(MOOBAM(TABLE, 10, 3))
    check_problem(MOOBAM(TABLE, 10, 3, assignment="nearest", split=0, scale="standard"))
    check_problem(MOOBAM(TABLE, 10, 3, objectives=[pm.RecordsAtRisk(0.2)]))
    check_problem(MOOBAM(TABLE, 10, 3, constraints=[pm.TCloseness(distance="equal") <= 0.9]))
    check_problem(Clusters(people(6, 2), 1, k=5))


def test_balanced_clusters_have_k_and_nearest_ones_need_not() -> None:
    problem = Clusters(TABLE, 20, k=6, assignment="balanced")
    rows = valid_rows(problem, 60)
    assert problem.evaluate_measures(rows)["k"].min() >= 6
    nearest = Clusters(TABLE, 20, k=6, assignment="nearest")
    rows = valid_rows(nearest, 60)
    k = nearest.evaluate_measures(rows)["k"]
    assert k.min() < 6
    G = nearest.evaluate(rows, return_values_of=["G"])
    assert ((G > 0).any(axis=1) == (k < 6)).all()


@pytest.mark.parametrize("assignment", ["balanced", "nearest"])
def test_released_centroids_are_what_was_measured(assignment: Any) -> None:
    problem = Clusters(
        TABLE, 12, k=3, release="centroid", assignment=assignment, suppression=pm.Budget(0.2)
    )
    rows = valid_rows(problem, 12)
    values = problem.evaluate_measures(rows)
    for i, x in enumerate(rows):
        claims = {name: float(column[i]) for name, column in values.items()}
        recoding = problem.space.recoding(x)
        release = pm.make_release(
            TABLE,
            recoding,
            suppression=problem.suppression,
            measures=problem.measures,
            origin=Origin(claims=claims),
        )
        assert len(release.certificate.claims) == len(problem.measures)
        centres = {tuple(c) for c in space_of(problem, "centroids").matrices(x)[0].round(6)}
        assert isinstance(recoding, PartitionRecoding)
        assert {tuple(c) for c in recoding.centres.round(6)} <= centres


def test_rows_that_mean_the_same_have_one_key() -> None:
    problem = Clusters(TABLE, 3, k=3, assignment="balanced")
    [x] = valid_rows(problem, 1)
    other = x.copy()
    other[2] += 0.3  # sex
    other[-1] -= 0.2
    assert problem.keys(np.stack([x, other]))[0] == problem.keys(other[None])[0]
    assert problem.recoding(x).key() == problem.recoding(other).key()


# What is refused


def test_more_clusters_than_records_allow_are_capped_with_a_warning() -> None:
    with pytest.warns(ClustersWarning) as caught:
        problem = Clusters(TABLE, 50, k=7)
    assert str(caught[0].message) == (
        "n_clusters: 50 clusters of at least 7 need 350 records, the table has 120; 17 clusters are "
        "searched instead"
    )
    assert caught[0].filename == __file__
    assert problem.n_clusters == 17 and problem.parameters()["n_clusters"] == 17
    with pytest.warns(ClustersWarning, match="17 clusters are searched") as caught:
        assert MOOBAM(TABLE, 50, 7, assignment="balanced").n_var == 17 * 4 + 3
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Clusters(TABLE, 17, k=7)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"n_clusters": 0}, "n_clusters: must be a whole number of at least 1, got 0"),
    ({"n_clusters": 2.0}, "n_clusters: must be a whole number of at least 1, got 2.0"),
    ({"n_clusters": True}, "n_clusters: must be a whole number of at least 1, got True"),
    ({"k": 1}, "k: must be a whole number of at least 2, got 1"),
    ({"k": "5"}, "k: must be a whole number of at least 2, got '5'"),
    ({"k": 121}, "k: 121 is more than the 120 records of the table; choose a smaller k"),
    ({"release": "means"}, "release: must be one of 'mean', 'centroid', got 'means'"),
    (
        {"assignment": "near"},
        "assignment: must be one of 'free', 'balanced', 'nearest', got 'near'",
    ),
    ({"split": -1}, "split: must be a whole number of at least 0, got -1"),
    ({"scale": "log"}, "scale: must be one of 'raw', 'standard', 'minmax', got 'log'"),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG)
@pytest.mark.parametrize("problem", [Clusters, MOOBAM])
def test_impossible_parameters(problem: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProblemError) as caught:
        problem(TABLE, **{"n_clusters": 5, "k": 3, **options})
    said = str(caught.value)
    assert said.startswith(sentence) and "\n" not in said


def test_tables_that_clusters_cannot_use() -> None:
    with pytest.raises(ProblemError, match=r"^table: must be a privmoo Table, got DataFrame$"):
        Clusters(TABLE.frame, 5)
    with pytest.raises(ProblemError) as caught:
        MOOBAM(people(20, sensitive=[]), 5, 2)
    assert str(caught.value) == (
        "sensitive: MO-OBAM maximises the entropy of sensitive values, but the table has none; name "
        "them in Table(..., sensitive=...), or use Clusters"
    )
    holes = Table(pd.DataFrame({"age": [1, 2, None, 4]}), quasi_identifiers=["age"])
    with pytest.raises(
        ProblemError, match=r"column 'age' has missing values, which have no mean and no distance"
    ):
        Clusters(holes, 2)
    with pytest.raises(RecodingError, match=r"column 'age' has missing values, which have no mean"):
        cluster_recoding(holes, [0, 0, 1, 1])
    with pytest.raises(MeasureError, match=r"^loss: needs generalised values"):
        Clusters(TABLE, 5, objectives=[pm.GeneralLoss()]).evaluate(
            valid_rows(Clusters(TABLE, 5), 2)
        )


# Starting from classes that are known


def by_age(table: Table, size: int) -> PartitionRecoding:
    """Classes of neighbours in age, each of at least so many records."""
    rank = np.argsort(np.argsort(table.frame["age"], kind="stable"))
    return cluster_recoding(table, np.minimum(rank // size, table.n_records // size - 1))


def small_problem(table: Table = TABLE, **options: Any) -> MOOBAM:
    problem = MOOBAM(table, 12, 5, assignment="balanced", **options)
    problem.default_population = 8
    return problem


GIVEN = [by_age(TABLE, size) for size in (2, 5, 6, 10, 30)]


def test_given_recodings_are_judged_as_their_releases_are() -> None:
    problem = small_problem(suppression=pm.Budget(0.05))
    judged = problem.evaluator.judge_recodings(GIVEN)
    F, G, values = judged.F, judged.G, judged.values
    assert (G[0] > 0).any() and not (G[1:] > 0).any()
    for i, recoding in enumerate(GIVEN):
        claims = dict(zip([m.key for m in problem.measures], values[i, :-1], strict=True))
        release = pm.make_release(
            TABLE,
            recoding,
            suppression=problem.suppression,
            measures=problem.measures,
            origin=Origin(claims=claims),
        )
        assert values[i, -1] == 120 - len(release.frame)
        assert problem.minimised(F[i]).tolist() == [claims["il"], claims["min_entropy"]]


def test_a_front_weakly_dominates_what_it_started_from(tmp_path: Path) -> None:
    problem = small_problem()
    front = pm.optimize(problem, budget=2, seed=1, progress=False, start=GIVEN)
    judged = problem.evaluator.judge_recodings(GIVEN)
    F, G = judged.F, judged.G
    for f, g in zip(F, G, strict=True):
        if not (g > 0).any():
            assert (f >= front.F).all(axis=1).any()
    keys = {recoding.key(): recoding for recoding in GIVEN}
    kept = [s for s in front if s.recoding.key() in keys]
    assert kept, "none of the given classes is on the front, so nothing is tested here"
    assert front.column("k").min() >= 5
    path = tmp_path / "warm.front"
    front.save(path)
    loaded = [Front.load(path, table=TABLE), Front.load(path, problem=problem)]
    merged = front.merge(pm.optimize(problem, budget=1, seed=2, progress=False))
    for other in (*loaded, front.rows(np.arange(len(front)))):
        assert other == front
        for a, b in zip(front, other, strict=True):
            assert a.recoding.key() == b.recoding.key()
    for solution in kept:
        labels = keys[solution.recoding.key()].labels
        for own in (front, *loaded):
            release = own[solution.index].release(seed=3)
            classes = release.frame.groupby(TABLE.qi_names).ngroup().to_numpy()
            pairs = set(zip(labels[release.rows].tolist(), classes.tolist(), strict=True))
            assert len(pairs) == len(set(labels)) == len(set(classes))
    assert [s.recoding.key() in keys for s in merged].count(True) <= len(kept)
    for solution in merged:
        solution.release()
    again = pm.optimize(problem, budget=1, seed=5, progress=False, start=loaded[1])
    assert all((f >= again.F).all(axis=1).any() for f in front.F)


def test_only_known_recodings_make_a_front_too() -> None:
    front = Front.of(small_problem(), known=GIVEN)
    assert 1 <= len(front) <= 4
    assert all(s.recoding.key() in {r.key() for r in GIVEN[1:]} for s in front)
    with pytest.raises(ProblemError, match=r"^front: nothing feasible among 1 candidates"):
        Front.of(small_problem(), known=GIVEN[:1])
    with pytest.raises(ProblemError, match=r"^front: no candidates were given$"):
        Front.of(small_problem())


def test_what_a_search_cannot_start_from() -> None:
    cuts = Cuts(Table(TABLE.frame, quasi_identifiers={"age": pm.Hierarchy.ordered()}))
    with pytest.raises(ProblemError) as caught:
        pm.optimize(cuts, budget=1, progress=False, start=GIVEN)
    assert str(caught.value) == (
        "start: a search over cuts cannot start from recodings; give decision vectors or a front"
    )
    cut = cuts.recoding(valid_rows(cuts, 1)[0])
    with pytest.raises(
        ProblemError, match=r"^start: expected classes such as baselines give, got B"
    ):
        pm.optimize(small_problem(), budget=1, progress=False, start=[cut])
    with pytest.raises(ProblemError, match=r"^start: must be a front or rows of 51 variables"):
        pm.optimize(small_problem(), budget=1, progress=False, start=[])


def test_a_search_starts_from_ranges() -> None:
    ranges = range_recoding(TABLE, GIVEN[1].labels)
    front = pm.optimize(small_problem(), budget=1, seed=1, progress=False, start=[ranges])
    assert front.column("k").min() >= 5


def test_recodings_of_another_table_are_refused_at_once() -> None:
    problem = small_problem()
    with pytest.raises(ProblemError, match=r"^start: "):
        pm.optimize(problem, budget=1, progress=False, start=[by_age(people(60, 3), 6)])
    assert not len(problem.evaluator.cache)


def test_no_text_names_a_value_of_suppressed_classes_only() -> None:
    df = pd.DataFrame({"c": [*["a"] * 6, *["b"] * 6, "rare"]})
    table = Table(df, quasi_identifiers=["c"])
    problem = Clusters(table, 3, k=2, suppression=pm.BelowThreshold(2))
    front = Front.of(problem, known=[cluster_recoding(table, [0] * 6 + [1] * 6 + [2])])
    release = front[0].release()
    assert "rare" not in release.certificate.to_text() + release.certificate.to_json()
    assert "rare" not in front[0].explain() + front[0]._repr_html_()


# The same again


def test_the_mean_never_loses_more_than_the_centroid() -> None:
    for assignment in ("balanced", "nearest"):
        options: dict[str, Any] = {"k": 3, "assignment": assignment}
        mean = Clusters(TABLE, 12, **options)
        rows = valid_rows(mean, 40)
        centroid = Clusters(TABLE, 12, release="centroid", **options)
        less = mean.evaluate_measures(rows)["il"]
        assert (less <= centroid.evaluate_measures(rows)["il"] + 1e-12).all()


PINNED = [
    [0.013366, 2.312925, 11.0],
    [0.014216, 2.387763, 18.0],
    [0.014955, 2.737301, 14.0],
    [0.01498, 2.853882, 18.0],
    [0.015011, 2.869108, 18.0],
    [0.016866, 3.000445, 19.0],
    [0.017466, 3.025852, 12.0],
    [0.022561, 3.049806, 39.0],
    [0.025492, 3.137852, 25.0],
    [0.029175, 3.19817, 51.0],
    [0.037432, 3.24531, 54.0],
    [0.045588, 3.29734, 59.0],
    [0.065427, 3.323798, 54.0],
    [0.089844, 3.342346, 89.0],
    [0.153725, 3.384352, 151.0],
    [0.187123, 3.432755, 79.0],
    [0.240912, 3.436366, 68.0],
    [0.314982, 3.466894, 274.0],
    [0.317463, 3.471436, 257.0],
    [1.0, 3.489781, 1000.0],
]


def test_a_seed_gives_the_same_front_with_any_threads_and_after_a_stop(tmp_path: Path) -> None:
    def run(threads: int, budget: int, log: Path | None = None) -> Front:
        problem = MOOBAM(pm.datasets.german_credit(), 20, 5, assignment="balanced", threads=threads)
        problem.default_population = 20
        return pm.optimize(problem, budget=budget, seed=11, progress=False, checkpoint=log)

    front = run(1, 5)
    assert front.to_frame()[["il", "min_entropy", "k"]].round(6).to_numpy().tolist() == PINNED
    assert run(2, 5) == front
    log = tmp_path / "german.log"
    assert run(1, 2, log) != front
    assert run(2, 5, log) == front
    release = front.knee().release()
    assert release.certificate.privacy["k"] >= 5


def test_a_started_run_continues_from_its_log(tmp_path: Path) -> None:
    whole = pm.optimize(small_problem(), budget=4, seed=2, progress=False, start=GIVEN)
    log = tmp_path / "a.log"
    for budget in (1, 4):
        front = pm.optimize(
            small_problem(), budget=budget, seed=2, progress=False, start=GIVEN, checkpoint=log
        )
    assert front == whole
    assert [s.recoding.key() for s in front] == [s.recoding.key() for s in whole]
    with pytest.raises(pm.errors.CheckpointError):
        pm.optimize(
            small_problem(), budget=4, seed=2, progress=False, start=GIVEN[1:], checkpoint=log
        )


def test_a_front_of_clusters_answers_and_draws() -> None:
    problem = Clusters(
        TABLE, 20, k=3, objectives=[InformationLoss(), KAnonymity(), MinimumEntropy()]
    )
    problem.default_population = 20
    front = pm.optimize(problem, budget=3, seed=1, progress=False)
    assert front.best_within(max_il=0.9, maximise="k") is not None
    assert "mean of each class" in front.knee().explain()
    assert 0 < front.hypervolume() <= 1
    assert ScalarMOOBAM(TABLE, 5, 3, 0.1).default_algorithm == "pso"
