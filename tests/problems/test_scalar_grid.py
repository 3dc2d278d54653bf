"""MO-OBAM as published: the weighed loss by hand, swarms that keep k, and grids of them."""

from __future__ import annotations

import importlib
import math
from collections import Counter
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

import privmoo as pm
from privmoo.data.table import Table
from privmoo.errors import CheckpointError, MeasureError, ProblemError
from privmoo.evaluation.engine import Engine
from privmoo.plot.heat_maps import plot_heat_maps
from privmoo.problems import MOOBAM, ScalarMOOBAM, WeighedLoss, scalar_grid
from privmoo.recodings.candidates import Candidates
from privmoo.testing import check_problem, valid_rows
from tests.scenery.clusters import people, spread_of, tables

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
TABLE = people(60, 4, qis=["age", "sex"], sensitive=["ill", "debt"])


def entropy(values: Any) -> float:
    counts = np.array(list(Counter(values).values()), dtype=float)
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def slowly(
    table: Table,
    labels: NDArray[Any],
    lam: float,
    *,
    least_loss: float | None = None,
) -> float:
    """Eq. 18 of the 2024 paper, or the sum of the 2025 one, from the records of every class."""
    frame = table.frame
    classes = [own for _, own in frame.groupby(labels)]
    total = spread_of(table, np.zeros(len(frame)))
    loss = spread_of(table, labels) / total if total else 0.0
    least = sum(min(entropy(own[name]) for own in classes) for name in table.sensitive)
    if least_loss is not None:
        most = sum(entropy(frame[name]) for name in table.sensitive)
        loss = 1 - least_loss / loss
        least /= most
    return loss - lam * least


def measured(table: Table, labels: NDArray[Any], loss: WeighedLoss) -> float:
    """The measure of classes of distinct tuples."""
    engine = Engine(table, needs=loss.needs, threads=1)
    candidates = Candidates(labels=np.asarray(labels, np.int32)[None])
    return float(loss.values(engine.groups(candidates)[1])[0])


@settings(max_examples=60)
@given(data=st.data())
def test_the_weighed_loss_is_the_published_one(data: st.DataObject) -> None:
    table = data.draw(tables())
    if not table.sensitive:
        return
    n = table.n_tuples
    labels = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    labels = np.unique(labels, return_inverse=True)[1]
    lam = data.draw(st.sampled_from([0.0, 0.001, 0.3, 1.0]))
    own = labels[table.row_tuple]
    assert measured(table, labels, WeighedLoss(lam)) == pytest.approx(
        slowly(table, own, lam), abs=1e-9
    )
    if spread_of(table, own) > 1e-9:
        least = data.draw(st.sampled_from([0.0, 0.01, 0.2]))
        assert measured(table, labels, WeighedLoss(lam, least_loss=least)) == pytest.approx(
            slowly(table, own, lam, least_loss=least), abs=1e-9
        )


def test_no_loss_is_never_worse_than_some() -> None:
    df = pd.DataFrame({"a": [1, 1, 2, 2, 2.001, 2.001, 9, 9], "ill": list("xyxyxyxy")})
    table = Table(df, quasi_identifiers=["a"], sensitive="ill")
    loss = WeighedLoss(0.0, least_loss=0.1)
    assert measured(table, [0, 1, 2, 3], loss) <= measured(table, [0, 1, 1, 2], loss)


@pytest.mark.parametrize("release", ["centroid", "mean"])
@pytest.mark.parametrize("options", [{}, {"scaled": True, "least_loss": 0.1}, {"scale": "minmax"}])
def test_contract(release: Any, options: dict[str, Any]) -> None:
    check_problem(ScalarMOOBAM(TABLE, 6, 3, 0.3, release=release, **options))


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_a_swarm_never_returns_small_classes(lam: float) -> None:
    problem = ScalarMOOBAM(TABLE, 8, 5, lam)
    problem.default_population = 12
    front = pm.optimize(problem, budget=6, seed=1, progress=False)
    assert len(front) == 1 and front[0].values["k"] >= 5
    release = front[0].release()
    assert release.certificate.privacy["k"] >= 5
    assert release.certificate.utility["il"] == pytest.approx(front[0].values["il"])
    weighed = front[0].values["il"] - lam * front[0].values["min_entropy"]
    assert front[0].values["weighed_loss"] == pytest.approx(weighed)
    assert front.run["algorithm"] == "PSO"
    k = problem.evaluate_measures(valid_rows(problem, 40))["k"]
    assert k.min() < 5  # there was something to keep out


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"lam": -0.1}, "lam: must be a number from 0 to 1, got -0.1"),
    ({"lam": 1.1}, "lam: must be a number from 0 to 1, got 1.1"),
    ({"lam": math.nan}, "lam: must be a number from 0 to 1, got nan"),
    ({"lam": "0.1"}, "lam: must be a number from 0 to 1, got '0.1'"),
    ({"lam": True}, "lam: must be a number from 0 to 1, got True"),
    (
        {"scaled": True},
        "least_loss: the scaled form needs the best information loss at lam=0 for the same n_clusters "
        "and k; scalar_grid(..., scaled=True) finds it",
    ),
    (
        {"scaled": True, "least_loss": -0.1},
        "least_loss: must be a number of at least 0, got -0.1",
    ),
    (
        {"n_clusters": 21},
        "n_clusters: 21 clusters of at least 3 need 63 records, the table has 60; choose at most 20",
    ),
    ({"n_clusters": 0}, "n_clusters: must be a whole number of at least 1, got 0"),
    ({"k": 1}, "k: must be a whole number of at least 2, got 1"),
    ({"k": 61}, "k: 61 is more than the 60 records of the table; choose a smaller k"),
    ({"scale": "z"}, "scale: must be one of 'raw', 'standard', 'minmax', got 'z'"),
    ({"release": "mode"}, "release: must be one of 'mean', 'centroid', got 'mode'"),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG)
def test_impossible_parameters(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProblemError) as caught:
        ScalarMOOBAM(TABLE, **{"n_clusters": 5, "k": 3, "lam": 0.1, **options})
    assert str(caught.value).startswith(sentence) and "\n" not in str(caught.value)


def test_tables_without_sensitive_values() -> None:
    bare = people(30, sensitive=[])
    with pytest.raises(MeasureError, match=r"^weighed_loss: the table has no sensitive attribute"):
        ScalarMOOBAM(bare, 4, 3, 0.1)
    with pytest.raises(ProblemError, match=r"^table: must be a privmoo Table, got DataFrame$"):
        ScalarMOOBAM(bare.frame, 4, 3, 0.1)


# Grids

SMALL: dict[str, Any] = {"particles": 6, "iterations": 4, "progress": False}


def values_of(frame: pd.DataFrame) -> pd.DataFrame:
    """What does not depend on the clock."""
    return frame.drop(columns="seconds").reset_index(drop=True)


def test_a_cell_does_not_depend_on_the_others() -> None:
    whole = scalar_grid(TABLE, n_clusters=[2, 5], k=[3, 5], lam=[0.001, 1.0], **SMALL)
    assert len(whole.frame) == 8 and whole.frame["feasible"].any()
    for at in (1, 4, 7):
        cell = whole.frame.iloc[at]
        alone = scalar_grid(
            TABLE, n_clusters=[cell.n_clusters], k=[cell.k], lam=[cell.lam], **SMALL
        )
        pd.testing.assert_frame_equal(
            values_of(alone.frame), values_of(whole.frame.iloc[[at]]), check_dtype=False
        )
        if cell.feasible:
            assert alone.recodings[0].key() == whole.recodings[at].key()
    other = scalar_grid(TABLE, n_clusters=[2, 5], k=[3], lam=[0.001], seed=1, **SMALL)
    assert not values_of(other.frame).equals(values_of(whole.frame.iloc[[0, 2]]))
    for at, recoding in whole.recodings.items():
        sizes = np.bincount(recoding.labels)
        assert sizes.min() >= whole.frame["k"][at] and len(sizes) == whole.frame["classes"][at]


def test_the_front_of_a_grid() -> None:
    grid = scalar_grid(TABLE, n_clusters=[2, 4, 6], k=[4], lam=[0.001, 0.1, 1.0], **SMALL)
    problem = MOOBAM(TABLE, 10, 4)
    front = grid.front(problem)
    F = front.F
    for i in range(len(F)):
        rest = np.delete(F, i, axis=0)
        assert not ((F[i] >= rest).all(axis=1) & (F[i] > rest).any(axis=1)).any()
    feasible = grid.frame[grid.frame["feasible"]]
    found = {(round(a, 9), round(b, 9)) for a, b in feasible[["il", "min_entropy"]].to_numpy()}
    assert {(round(a, 9), round(-b, 9)) for a, b in F} <= found
    assert front.run["evaluations"] == 9 * 24
    for solution in front:
        assert solution.release().certificate.privacy["k"] >= 4
    with pytest.raises(ProblemError, match=r"^k: the grid has no swarms for k = 9$"):
        grid.plot(9)
    figure = grid.plot(4, values=["il"])
    assert len(figure.axes) == 2


def test_a_grid_goes_on_from_its_folder(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"n_clusters": [2, 5], "k": [3], "lam": [0.01, 1.0], "scaled": True}
    whole = scalar_grid(TABLE, **asked, **SMALL)
    part = {**asked, "n_clusters": [2]}
    scalar_grid(TABLE, **part, **SMALL, checkpoint=tmp_path / "grid")
    logs = {path.name: path.stat().st_size for path in (tmp_path / "grid").iterdir()}
    assert len(logs) == 3  # two λ and the one of the least loss
    again = scalar_grid(TABLE, **asked, **SMALL, checkpoint=tmp_path / "grid")
    pd.testing.assert_frame_equal(values_of(again.frame), values_of(whole.frame))
    assert {r: a.key() for r, a in again.recodings.items()} == {
        r: a.key() for r, a in whole.recodings.items()
    }
    for name, size in logs.items():
        assert (tmp_path / "grid" / name).stat().st_size == size, "a finished swarm ran again"
    assert whole.frame["least_loss"].nunique() == 2
    with pytest.raises(CheckpointError):
        scalar_grid(TABLE, **asked, **SMALL, scale="minmax", checkpoint=tmp_path / "grid")


def test_swarms_without_a_feasible_particle_are_marked() -> None:
    ages = people(60, 5, qis=["age"], spread=200)
    grid = scalar_grid(
        ages, n_clusters=[2, 20], k=[3], lam=[0.1], particles=3, iterations=2, progress=False
    )
    good, bad = grid.frame.iloc[0], grid.frame.iloc[1]
    assert good.feasible and not bad.feasible and list(grid.recodings) == [0]
    assert math.isnan(bad.il) and math.isnan(bad.classes) and bad.evaluations == 6
    figure = grid.plot(3)
    assert len(figure.axes) == 6
    figure.canvas.draw()
    none = scalar_grid(
        ages, n_clusters=[20], k=[3], lam=[0.1], particles=3, iterations=2, progress=False
    )
    none.plot(3).canvas.draw()
    with pytest.raises(
        ProblemError, match=r"^grid: no swarm found a feasible solution, so there is"
    ):
        none.front(MOOBAM(ages, 10, 3))


def test_every_k_has_a_row_of_maps_in_the_same_shades() -> None:
    runs = pd.DataFrame(
        {
            "k": [3, 3, 5, 5],
            "n_clusters": [4, 8, 4, 8],
            "lam": 0.1,
            "il": [0.2, 0.1, 0.4, np.nan],
        }
    )
    figure = plot_heat_maps(runs, x="n_clusters", y="lam", values=["il"], rows="k")
    figure.canvas.draw()
    first, second, bar = figure.axes
    assert [ax.get_ylabel() for ax in (first, second)] == ["k = 3\nλ", "k = 5\nλ"]
    pictures = [ax.images[0] for ax in (first, second)]
    assert [picture.get_clim() for picture in pictures] == [(0, 0.4), (0, 0.4)]
    assert np.ma.asarray(pictures[0].get_array()).tolist() == [[0.2, 0.1]]
    assert np.ma.asarray(pictures[1].get_array()).tolist() == [[0.4, None]]
    assert bar.get_title() == ""
    with pytest.raises(ProblemError, match=r"^values: 'kk' is not a column of the runs"):
        plot_heat_maps(runs, x="n_clusters", y="lam", values=["il"], rows="kk")


def test_a_grid_of_several_k_draws_them_all() -> None:
    grid = scalar_grid(TABLE, n_clusters=[2, 4], k=[3, 5], lam=[0.1], **SMALL)
    assert len(grid.plot().axes) == 2 * 3 + 3
    assert len(grid.plot(5, values=["il"]).axes) == 2


@pytest.mark.parametrize("swarm", [0, 2])
def test_a_grid_that_is_stopped_has_what_was_finished(
    swarm: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("privmoo.problems.scalar_grid")
    calls: list[Any] = []

    def until(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        if len(calls) > swarm:
            raise KeyboardInterrupt
        return pm.optimize(*args, **kwargs)

    monkeypatch.setattr(module, "optimize", until)
    grid = scalar_grid(TABLE, n_clusters=[2, 3], k=[3], lam=[0.1, 1.0], **SMALL)
    assert len(grid.frame) == swarm and len(calls) == swarm + 1
    if not swarm:
        with pytest.raises(ProblemError, match=r"^grid: no swarm"):
            grid.front(MOOBAM(TABLE, 10, 3))


@pytest.mark.parametrize("name", ["n_clusters", "k", "lam"])
@pytest.mark.parametrize("given_value", [[], "345", 5, None, {3}])
def test_lists_are_needed(name: str, given_value: Any) -> None:
    asked = {"n_clusters": [3], "k": [3], "lam": [0.1], name: given_value}
    with pytest.raises(ProblemError) as caught:
        scalar_grid(TABLE, **asked, **SMALL)
    assert str(caught.value) == (f"{name}: give a list of at least one number, got {given_value!r}")


def test_a_mistake_in_the_last_cell_shows_before_the_first_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a swarm ran")

    module = importlib.import_module("privmoo.problems.scalar_grid")
    monkeypatch.setattr(module, "optimize", never)
    for wrong in ({"lam": [0.1, 2.0]}, {"n_clusters": [3, 60]}, {"k": [3, 1]}):
        with pytest.raises(ProblemError):
            scalar_grid(TABLE, **{"n_clusters": [3], "k": [3], "lam": [0.1], **wrong}, **SMALL)


def test_near_lambdas_have_their_own_logs(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"n_clusters": [3], "k": [3], "lam": [0.1234567, 0.1234568]}
    assert len(scalar_grid(TABLE, **asked, **SMALL, checkpoint=tmp_path).frame) == 2


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_wrong_seeds(seed: Any) -> None:
    with pytest.raises(ProblemError, match=r"^seed: must be a whole number of at least 0, got "):
        scalar_grid(TABLE, n_clusters=[3], k=[3], lam=[0.1], seed=seed, **SMALL)


def test_heat_maps_say_what_they_cannot_draw() -> None:
    runs = pd.DataFrame({"n_clusters": [4, 8], "lam": [0.1, 0.1], "il": [0.2, np.nan]})
    plot_heat_maps(runs, x="n_clusters", y="lam", values=["il", "il"]).canvas.draw()
    with pytest.raises(ProblemError, match=r"^values: 'ill' is not a column of the runs.*'il'"):
        plot_heat_maps(runs, x="n_clusters", y="lam", values=["ill"])
    with pytest.raises(ProblemError, match=r"^values: name at least one column to draw$"):
        plot_heat_maps(runs, x="n_clusters", y="lam", values=[])
