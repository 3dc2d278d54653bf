"""Pictures: what they show, on which axes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.front.front import Front
from privmoo.front.knees import marked_knee
from privmoo.hierarchy import Hierarchy
from privmoo.measures import FrequencyDiversity, GeneralLoss, KAnonymity, WeightedK
from privmoo.plot import picture_of, thumbnail
from privmoo.problems import Cuts
from privmoo.search.optimization import optimize
from privmoo.suppression import Budget


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def solved(*objectives: Any, rows: int = 400) -> Front:
    rng = np.random.default_rng(2)
    df = pd.DataFrame(
        {
            "age": rng.integers(20, 40, rows),
            "zip": rng.integers(0, 9, rows),
            "ill": rng.choice(list("abcd"), rows),
        }
    )
    table = Table(
        df,
        quasi_identifiers={"age": Hierarchy.ordered(), "zip": Hierarchy.ordered()},
        sensitive="ill",
    )
    problem = Cuts(table, objectives=objectives, suppression=Budget(0.1))
    problem.default_population = 40
    return optimize(problem, budget=15, seed=1, progress=False)


TWO = solved(KAnonymity(), GeneralLoss())
THREE = solved(KAnonymity(), FrequencyDiversity(), GeneralLoss())


def labels(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(ax: Any, label: str) -> Any:
    return next(c.get_offsets() for c in ax.collections if c.get_label() == label)


def test_two_objectives() -> None:
    pick = TWO.where(max_loss=0.5).best("k")
    ax = TWO.plot(pick=pick)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("k-anonymity", "loss (%)")
    assert ax.get_xscale() == "log" and ax.get_yscale() == "linear"
    assert labels(ax) == ["dominated", "front", "knee", "pick"]
    assert np.allclose(points(ax, "front"), TWO.values[:, :2] * [1, 100])
    assert np.allclose(points(ax, "pick"), [[pick.k, pick.loss * 100]])
    knee = TWO.knee()
    assert np.allclose(points(ax, "knee"), [[knee.k, knee.loss * 100]])
    assert len(points(ax, "dominated")) == len(TWO.dominated) > 20


def test_the_axis_is_linear_where_the_range_is_small() -> None:
    ax = TWO.where(max_k=20).plot()
    assert ax.get_xscale() == "linear"
    assert "pick" not in labels(ax)


def test_given_axes_are_used_and_given_back() -> None:
    _, ax = plt.subplots()
    assert TWO.plot(ax=ax) is ax
    assert THREE.plot(ax=ax) is ax


def test_three_objectives_pairwise() -> None:
    panels = THREE.plot(pick=THREE.best("l"))
    names = [(ax.get_xlabel(), ax.get_ylabel()) for ax in panels]
    shown = ["k-anonymity", "ℓ-diversity", "loss (%)"]
    assert names == list(itertools.combinations(shown, 2))
    assert all(ax.get_legend() is None for ax in panels)
    assert all(len(points(ax, "pick")) == 1 for ax in panels)
    (legend,) = panels[0].figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["dominated", "front", "knee", "pick"]
    panels[0].figure.canvas.draw()
    below = legend.get_window_extent()
    assert all(below.y1 <= ax.get_window_extent().y0 for ax in panels)
    one = THREE.plot(objectives=("l", "loss"))
    assert (one.get_xlabel(), one.get_ylabel()) == ("ℓ-diversity", "loss (%)")


def test_one_objective_is_drawn_among_all_candidates() -> None:
    front = solved(GeneralLoss())
    ax = front.plot(pick=front[0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("loss (%)", "candidates")
    assert labels(ax) == ["candidates", "front", "pick"]
    drawn = sum(patch.get_height() for patch in ax.patches if isinstance(patch, Rectangle))
    assert drawn == len(front.dominated) + 1
    assert TWO.plot(objectives=("k",)).get_xscale() == "log"


def test_of_many_objectives_the_first_three_are_drawn() -> None:
    panels = solved(KAnonymity(), FrequencyDiversity(), GeneralLoss(), WeightedK()).plot()
    assert [ax.get_xlabel() for ax in panels] == ["k-anonymity", "k-anonymity", "ℓ-diversity"]
    title = panels[0].figure.get_suptitle()
    assert "k-anonymity against ℓ-diversity and loss (the first 3 of 4 objectives)" in title


def test_few_group_sizes_have_whole_ticks() -> None:
    frame = pd.DataFrame({"age": [1] * 2 + [2] * 3 + [3] * 5})
    table = Table(frame, quasi_identifiers={"age": Hierarchy.ordered()})
    ax = Front.of(Cuts(table), [[1, 1]])[0].plot_group_sizes()
    assert ax.get_xticks().tolist() == [2, 3, 4, 5] and ax.get_ylabel() == "records"
    assert all(float(tick).is_integer() for tick in ax.get_yticks())


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(ProblemError, match="the front is empty"):
        TWO[:0].plot()
    with pytest.raises(ProblemError, match="one to three objectives, got 4"):
        THREE.plot(objectives=("k", "l", "loss", "suppression"))
    with pytest.raises(ProblemError, match="one to three objectives, got 0"):
        TWO.plot(objectives=())
    with pytest.raises(ProblemError, match="did you mean 'loss'"):
        TWO.plot(objectives=("k", "los"))
    with pytest.raises(ProblemError, match="the pick is not on this front"):
        TWO[1:].plot(pick=TWO[0])


def test_the_data_of_a_picture_without_matplotlib() -> None:
    picture = picture_of(THREE, pick=THREE[2])
    assert [axis.logarithmic for axis in picture.axes] == [True, False, False]
    assert picture.pick == 2 and picture.knee == marked_knee(THREE)
    assert picture_of(TWO[:2]).knee is None


def test_group_sizes_are_drawn_with_every_record() -> None:
    for solution in (TWO.where(max_loss=0.4).best("k"), TWO[0], TWO[-1]):
        ax = solution.plot_group_sizes()
        drawn = sum(patch.get_height() for patch in ax.patches if isinstance(patch, Rectangle))
        assert drawn == 400 - solution.records_suppressed
        assert f"smallest group: {solution.k:,.0f}" in labels(ax)[0]


def test_thumbnails_are_small_pngs_and_leave_no_figure() -> None:
    for front in (TWO, THREE, TWO[:1]):
        content = thumbnail(front)
        assert content.startswith(b"\x89PNG") and len(content) < 60_000
    assert not plt.get_fignums()
