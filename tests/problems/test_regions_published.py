"""Regions against the figures that other programs reach on Adult; the losses of ARX's on written rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privmoo as pm
from tests.scenery.written_loss import loss_of_rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning"),
]

KS = (5, 10, 25, 50, 100)
# Greedy splits with published bounds; greedy splits with tight ranges whose tuples then move one by one.
PROTOTYPES = {
    "region": (0.094, 0.117, 0.155, 0.189, 0.241),
    "tight": (0.04, 0.067, 0.111, 0.153, 0.204),
}
ARX = (0.0525, 0.0762, 0.1139, 0.1490, 0.1923)


@pytest.mark.parametrize("publish", PROTOTYPES)
def test_one_run_loses_less_than_the_prototypes_at_every_k(publish: Any) -> None:
    problem = pm.problems.Regions(pm.datasets.adult("dewri"), publish=publish)
    front = pm.optimize(problem, budget=20, seed=1, progress=False)
    for k, figure in zip(KS, PROTOTYPES[publish], strict=True):
        assert front.where(min_k=k).best("loss").loss <= figure, k


def test_written_rows_lose_about_what_local_recoding_by_arx_loses(
    shared_data: Path, tmp_path: Path
) -> None:
    folder = shared_data / "arx_adult"
    table = pm.datasets.load_arx(folder)
    problem = pm.problems.Regions(table, publish="tight")
    front = pm.optimize(problem, budget=8, seed=1, progress=False)
    for k, figure in zip(KS, ARX, strict=True):
        path = tmp_path / f"{k}.csv"
        front.where(min_k=k).best("loss").write(path)
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        assert len(rows) == table.n_records and rows.groupby(table.qi_names).size().min() >= k
        loss = loss_of_rows(rows, folder / "hierarchies", table.qi_names, table.n_records)
        assert loss <= 1.005 * figure, k
