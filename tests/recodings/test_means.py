"""Means of classes: whoever knows the others computes the last one, unless means are not exact."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.errors import ProblemError, RecodingError
from privmoo.problems import Clusters
from privmoo.recodings import Means, PartitionRecoding
from privmoo.recodings.base import from_json
from privmoo.recodings.classes import cluster_recoding
from privmoo.release.release import make_release
from privmoo.testing import check_problem

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


def people(n: int = 300, seed: int = 0) -> pm.Table:
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "pay": rng.integers(100, 9000, n) / 4,
            "sex": rng.choice(["f", "m"], n),
        }
    )
    return pm.Table(df, quasi_identifiers=["age", "pay", "sex"])


def last_members(table: pm.Table, recoding: PartitionRecoding, column: str) -> np.ndarray[Any, Any]:
    """What somebody computes as the number of the last member of every class, minus the true one."""
    released = recoding.apply(table, np.arange(table.n_records))[column].to_numpy()
    numbers = table.frame[column].to_numpy()
    errors = []
    for c in range(recoding.n_classes):
        members = np.flatnonzero(recoding.labels == c)
        *others, last = members
        computed = len(members) * released[last] - numbers[others].sum()
        errors.append(computed - numbers[last])
    return np.array(errors)


def test_the_last_member_follows_from_an_exact_mean_and_not_from_another() -> None:
    table = people()
    exact = pm.baselines.mdav(table, 3)
    assert np.abs(last_members(table, exact, "pay")).max() < 1e-4
    assert np.abs(last_members(table, exact, "age")).max() < 1e-4
    rounded = pm.baselines.mdav(table, 3, means=Means(step={"pay": 50}))
    errors = np.abs(last_members(table, rounded, "pay"))
    assert (errors > 1e-4).mean() > 0.9
    assert (errors <= rounded.sizes.max() * 25 + 1e-6).all()
    assert np.abs(last_members(table, rounded, "age")).max() < 1e-4  # not named, so exact
    noised = pm.baselines.mdav(table, 3, means=Means(noise=10.0))
    for column in ("age", "pay"):
        assert (np.abs(last_members(table, noised, column)) > 1e-4).mean() > 0.99


def test_the_cost_is_in_the_information_loss_and_the_audit_agrees() -> None:
    table = people()
    loss = pm.InformationLoss(scale="standard")
    claimed = []
    for means in (None, Means(step=20), Means(step=200), Means(noise=200.0, seed=1)):
        recoding = pm.baselines.mdav(table, 3, means=means)
        release = make_release(table, recoding, measures=[loss, pm.KAnonymity()])
        claims = {claim.measure: claim for claim in release.certificate.claims}
        assert claims["il"].audited == pytest.approx(claims["il"].claimed, rel=1e-9)
        claimed.append(claims["il"].claimed)
    assert claimed[0] < claimed[1] < claimed[2] and claimed[0] < claimed[3]


def test_the_certificate_says_how_means_are_published() -> None:
    table = people(60)
    texts = {}
    for name, means in {
        "exact": None,
        "rounded": Means(step={"age": 5, "pay": 0.5}),
        "noised": Means(noise=3.0, seed=77),
    }.items():
        certificate = make_release(table, pm.baselines.mdav(table, 3, means=means)).certificate
        texts[name] = certificate.to_text() + certificate.to_json()
    assert "compute the last one exactly" in texts["exact"]
    assert "'age': 5, 'pay': 0.5" in texts["rounded"] and "± n/2" in texts["rounded"]
    assert "last one exactly" not in texts["rounded"] + texts["noised"]
    assert "noise of n times the scale (3 for all numbers)" in texts["noised"]
    assert "scale of Laplace noise: 3" in texts["noised"]
    assert "77" not in texts["noised"].split("Utility")[0]
    assert "The noise was drawn with a seed that was set by hand" in texts["noised"]
    ranges = make_release(table, pm.baselines.mdav(table, 3, release="range")).certificate
    assert "last one" not in ranges.to_text()


def test_noise_is_secret_unless_seeded_and_read_back_as_it_is() -> None:
    table = people(60)
    labels = np.arange(60) % 12
    noised = [cluster_recoding(table, labels, means=Means(noise=1.0)) for _ in range(2)]
    assert noised[0].key() != noised[1].key()
    seeded = [cluster_recoding(table, labels, means=Means(noise=1.0, seed=4)) for _ in range(2)]
    assert seeded[0].key() == seeded[1].key()
    for recoding in (*noised, *seeded, cluster_recoding(table, labels, means=Means(step=5))):
        stored = json.dumps(recoding.to_json())
        again = from_json(table, json.loads(stored))
        assert "seed" not in stored and again.key() == recoding.key()
        cautions = {caution.code for caution in recoding.cautions()}
        assert ("seeded_noise" in cautions) == any(recoding is other for other in seeded)
        assert again.facts() == recoding.facts() and again.cautions() == recoding.cautions()


def test_rounded_means_that_are_equal_are_one_class() -> None:
    table = pm.Table(pd.DataFrame({"age": [20, 22, 23, 24, 70]}), quasi_identifiers=["age"])
    recoding = cluster_recoding(table, [0, 0, 1, 1, 2], means=Means(step=5))
    assert recoding.apply(table, np.arange(5))["age"].tolist() == [20.0, 20.0, 25.0, 25.0, 70.0]
    recoding = cluster_recoding(table, [0, 0, 1, 1, 2], means=Means(step=50))
    assert recoding.n_classes == 2 and recoding.sizes.tolist() == [4, 1]
    tenths = cluster_recoding(table, [0, 0, 0, 0, 1], means=Means(step=0.1))
    assert tenths.centres[:, 0].tolist() == [22.2, 70.0]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "give a step, a noise or both"),
    ({"step": 0}, "step must be a number above 0"),
    ({"step": "5"}, "step must be a number above 0"),
    ({"step": {}}, "step must be a number above 0"),
    ({"noise": {"age": float("inf")}}, "noise must be a number above 0"),
    ({"noise": 1, "seed": -1}, "seed: must be a whole number of at least 0, got -1"),
    (
        {"step": {"agee": 5}},
        "step names 'agee', which is not a numeric quasi-identifier; did you mean",
    ),
    ({"step": {"sex": 5}}, "step names 'sex', which is not a numeric quasi-identifier"),
    ({"step": {"age": 1e-12}}, "the step of 'age' is finer than the digits of its means"),
]


@pytest.mark.parametrize(("arguments", "reason"), WRONG)
def test_other_means_are_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(RecodingError, match=r"^means: ") as error:
        cluster_recoding(people(20), np.arange(20) % 4, means=Means(**arguments))
    assert reason in str(error.value)


def test_means_go_with_means_only() -> None:
    table = people(20)
    with pytest.raises(RecodingError, match=r"^means: centres are published as they are"):
        cluster_recoding(table, [0] * 20, centres=[[30, 500, 0]], means=Means(step=5))
    for make in (pm.baselines.mdav, pm.baselines.mondrian):
        with pytest.raises(ProblemError, match=r"^means: ranges are published"):
            make(table, 2, release="range", means=Means(step=5))
    with pytest.raises(ProblemError, match=r"^means: centroids are published"):
        Clusters(table, 3, release="centroid", means=Means(step=5))
    with pytest.raises(ProblemError, match=r"^means: a search would choose among the draws"):
        Clusters(table, 3, means=Means(noise=5))
    with pytest.raises(RecodingError, match=r"^means: must be Means"):
        Clusters(table, 3, means={"steps": 5})
    with pytest.raises(RecodingError, match=r"^means: step names 'agee'"):
        Clusters(table, 3, means={"step": {"agee": 5}})


@pytest.mark.parametrize("make", ["mdav", "ward", "k_member", "zheng", "mondrian"])
def test_every_baseline_rounds_its_means(make: str) -> None:
    rng = np.random.default_rng(3)
    df = pd.DataFrame({"age": rng.integers(18, 90, 80), "ill": rng.choice(list("xyz"), 80)})
    table = pm.Table(df, quasi_identifiers=["age"], sensitive="ill")
    of_baseline: dict[str, dict[str, Any]] = {"zheng": {"l": 2}, "mondrian": {"release": "mean"}}
    options = of_baseline.get(make, {})
    recoding = getattr(pm.baselines, make)(table, 4, means=Means(step=10), **options)
    assert (recoding.centres % 10 == 0).all() and recoding.sizes.min() >= 4


@pytest.mark.parametrize("split", [0, 8])
def test_clusters_are_searched_with_the_means_that_they_publish(split: int) -> None:
    table = people(60)
    problem = Clusters(table, 8, k=4, split=split, means={"step": 10})
    assert problem.parameters()["means"] == {"step": 10}
    assert "means" not in Clusters(table, 8, k=4).parameters()
    check_problem(problem)
    front = pm.optimize(problem, budget=1, seed=1, progress=False)
    for solution in front:
        recoding = solution.recoding
        assert isinstance(recoding, PartitionRecoding)
        assert (recoding.centres[:, :2] % 10 == 0).all()
        solution.release()  # raises if the audit disagrees
    start = pm.baselines.mdav(table, 4)
    adopted = problem.adopt(start)
    assert isinstance(adopted, PartitionRecoding) and adopted.means == Means(step=10)
    assert problem.measure(start)["il"] > Clusters(table, 8, k=4).measure(start)["il"]
