"""Local search and MO-OBAM reach what special-purpose programs reached."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.data.points import Space
from privmoo.problems import MOOBAM
from privmoo.recodings.classes import PartitionRecoding

pytestmark = pytest.mark.slow
K = (3, 4, 5, 10)
TO_BEAT = {"tarragona": (14.54, 17.23, 20.20, 30.30), "census": (4.75, 6.16, 7.50, 11.77)}
TOLERANCE = 1.003  # processors round differently, and Tarragona at k = 3 varies by half a per cent


def squared_loss(table: pm.Table, recoding: PartitionRecoding) -> float:
    """100·SSE/SST on standardised columns."""
    points = Space.of(table, "standard").points[table.row_tuple]
    labels, sizes = recoding.labels, recoding.sizes
    means = np.column_stack([np.bincount(labels, weights=x) / sizes for x in points.T])
    around_all = ((points - points.mean(axis=0)) ** 2).sum()
    return float(100 * ((points - means[labels]) ** 2).sum() / around_all)


@pytest.fixture(params=sorted(TO_BEAT))
def reference(request: pytest.FixtureRequest, shared_data: Path) -> tuple[str, pm.Table]:
    frame = pd.read_csv(shared_data / "casc" / f"{request.param}.csv.gz")
    return request.param, pm.Table(frame, quasi_identifiers=list(frame.columns))


@pytest.mark.parametrize("k", K)
def test_local_search_reaches_the_best_of_a_special_program(
    reference: tuple[str, pm.Table], k: int
) -> None:
    name, table = reference
    limit = TO_BEAT[name][K.index(k)]
    recoding = pm.baselines.local_search(table, k, steps=150_000_000, seed=1)
    assert recoding.sizes.min() >= k
    assert squared_loss(table, recoding) <= limit * TOLERANCE


@pytest.mark.parametrize("k", K)
def test_ward_with_local_search_is_no_worse_than_mdav(
    reference: tuple[str, pm.Table], k: int
) -> None:
    _, table = reference
    start = pm.baselines.ward(table, k, scale="standard")
    recoding = pm.baselines.local_search(table, k, start=start)
    assert squared_loss(table, recoding) <= squared_loss(table, pm.baselines.mdav(table, k))


@pytest.mark.parametrize(
    ("name", "n_clusters", "k", "limits"),
    [
        ("german", 30, 5, {3.2: 0.0181, 3.3: 0.0324}),
        ("german", 200, 5, {3.0: 0.01012}),
        ("adult", 100, 20, {3.04: 0.0057, 3.3: 0.0148}),
    ],
)
def test_moobam_beats_intervals_of_age(
    name: str, n_clusters: int, k: int, limits: dict[float, float]
) -> None:
    table = pm.datasets.german_credit() if name == "german" else pm.datasets.adult("wei")
    problem = MOOBAM(table, n_clusters, k)
    front = pm.optimize(problem, seed=1, progress=False).to_frame()
    for entropy, limit in limits.items():
        assert front.il[front.min_entropy >= entropy].min() <= limit
