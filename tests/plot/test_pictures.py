"""Pictures beyond the front: what their data objects hold, and what stands on their axes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import privmoo as pm
from privmoo import plot
from privmoo.errors import ProblemError
from privmoo.front.front import Front
from privmoo.front.knees import marked_knee
from privmoo.plot.attainment import staircase
from tests.scenery.clusters import people
from tests.scenery.fronts import FRONT, TABLE, THREE, toy
from tests.scenery.optional import figure_of, need

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

CHOICE = max(FRONT, key=lambda solution: solution.records_suppressed)
BULGE = toy([1, 2, 3, 50, 51, 52, 53], [0.0, 0.3, 0.31, 0.32, 0.6, 0.8, 1.0])


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def runs(n: int = 4, seed: int = 0) -> list[Front]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        steps = rng.integers(1, 9, (6, 2))
        k = np.cumsum(steps[:, 0]) + rng.integers(1, 5)
        loss = (np.cumsum(steps[:, 1]) + rng.integers(0, 5)) / 100
        found.append(toy(k.tolist(), loss.tolist()))
    return found


EVERY: dict[str, Callable[[], Any]] = {
    "front": lambda: FRONT.plot(pick=CHOICE),
    "panels": THREE.plot,
    "one": lambda: FRONT.plot(objectives=("k",)),
    "space": THREE.plot_3d,
    "parallel": lambda: THREE.plot_parallel(pick=THREE[3]),
    "trade-off": lambda: BULGE.plot_trade_off(pick=BULGE[2]),
    "trade-off without words": lambda: THREE.plot_trade_off(words=False),
    "rates": FRONT.plot_rates,
    "attainment": lambda: plot.plot_attainment({"one": runs(), "two": runs(seed=1)}),
    "group sizes": CHOICE.plot_group_sizes,
    "loss": CHOICE.plot_loss,
    "age": lambda: plot.plot_before_after(TABLE, CHOICE.release(seed=1), "age"),
    "ill": lambda: plot.plot_before_after(TABLE, CHOICE.release(seed=1), "ill"),
    "heat map": lambda: plot.plot_heat_maps(
        pd.DataFrame({"n_clusters": [4, 8], "lam": [0.1, 0.1], "il": [0.2, 0.1]}),
        x="n_clusters",
        y="lam",
        values=["il"],
    ),
    "distribution": lambda: plot.plot_distribution(pm.analysis.analyse(TABLE.frame, ["age"])),
    "suppression": lambda: plot.plot_suppression(
        pm.analysis.suppression_needed(TABLE.frame, ["age"])
    ),
}


@pytest.mark.parametrize("name", EVERY)
def test_every_picture_has_a_title_and_names_on_its_axes(name: str) -> None:
    drawn = EVERY[name]()
    figure = drawn if isinstance(drawn, Figure) else np.ravel(drawn)[0].get_figure()
    assert figure.get_suptitle() or figure.axes[0].get_title()
    for ax in figure.axes:
        if ax.axison and ax.get_label() != "<colorbar>":
            assert ax.get_xlabel() or ax.get_xticklabels()[0].get_text()
            assert ax.get_ylabel(), ax
    figure.canvas.draw()


def test_every_picture_is_in_one_room() -> None:
    for name in plot.__all__:
        assert getattr(pm.plot, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'plot_nothing'"):
        pm.plot.plot_nothing  # type: ignore[attr-defined]  # noqa: B018


# The trade-off


def test_flat_regions_are_marked_and_magnified() -> None:
    picture = plot.trade_off_of(BULGE, pick=BULGE[2])
    (region,) = picture.regions
    assert (region.letter, region.first, region.last) == ("A", 2, 3)
    assert region.sentence == "k 3 → 50 for 1 point more loss"
    assert picture.title == "What k-anonymity costs in loss: 7 solutions, 1 flat region marked"
    assert (picture.knee, picture.pick) == (3, 2)
    assert "\n".join(f"{title}: {text}" for title, text in picture.words) == BULGE.advice()
    ax = BULGE.plot_trade_off()
    main, words, zoom = figure_of(ax).axes
    assert main is ax and zoom.get_title() == "A: k 3 → 50 for 1 point more loss"
    low, high = zoom.get_xlim()
    assert low < 3 and 50 < high < 80 and zoom.get_ylim()[0] > 30
    said = words.texts[0].get_text().replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ")
    assert "The knee: solution 3, k = 50 and 32 % loss" in said
    assert len(figure_of(BULGE.plot_trade_off(words=False)).axes) == 2
    assert len(figure_of(BULGE.plot_trade_off(regions=0, words=False)).axes) == 1


def test_the_largest_of_many_flat_regions_are_marked() -> None:
    k, loss = [1, 2, 12, 13, 17, 18, 48, 50], [0.0, 0.2, 0.21, 0.4, 0.41, 0.7, 0.72, 1.0]
    front = toy(k, loss)
    assert front.flat_regions()["k_from"].tolist() == [2, 13, 18]
    for most, starts in ((1, [18]), (2, [2, 18]), (5, [2, 13, 18])):
        picture = plot.trade_off_of(front, regions=most)
        assert [k[region.first] for region in picture.regions] == starts
        assert [region.letter for region in picture.regions] == list("ABC"[: len(starts)])


def test_of_three_objectives_some_solutions_are_beside_the_trade_off() -> None:
    picture = plot.trade_off_of(THREE)
    assert 2 < len(picture.along) < len(THREE)
    pair = THREE.to_frame()[["k", "loss"]]
    for i in picture.along:
        own = pair.loc[i]
        assert not ((pair["k"] > own["k"]) & (pair["loss"] <= own["loss"])).any()
    names = [t.get_text() for t in need(THREE.plot_trade_off().get_legend()).get_texts()]
    assert "better elsewhere" in names


def test_words_beside_a_picture_do_not_leave_it() -> None:
    figure = figure_of(THREE.plot_trade_off())
    figure.canvas.draw()
    words = next(ax for ax in figure.axes if not ax.axison)
    box = words.texts[0].get_window_extent()
    assert box.x1 <= figure.bbox.x1 and box.y0 >= 0
    assert box.x0 >= figure.axes[0].get_window_extent().x1


def test_given_axes_are_used() -> None:
    _, ax = plt.subplots()
    for draw in (BULGE.plot_trade_off, BULGE.plot_rates, BULGE.plot_parallel):
        assert draw(ax=ax) is ax
        ax.clear()
    assert plot.plot_attainment(runs(), ax=ax) is ax and CHOICE.plot_loss(ax=ax) is ax
    assert len(figure_of(ax).axes) == 1


# Rates


@settings(max_examples=40)
@given(
    steps=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12),
    reverse=st.booleans(),
)
def test_the_area_of_the_rates_is_what_is_bought(
    steps: list[tuple[int, int]], reverse: bool
) -> None:
    k = np.cumsum([1, *(a for a, _ in steps)]).astype(float)
    loss = np.cumsum([0, *(b for _, b in steps)]) / 200
    front = toy(k.tolist(), loss.tolist())
    picture = plot.rates_of(front, **({"gain": "loss", "cost": "k"} if reverse else {}))
    widths = np.diff(picture.costs)
    assert (widths > 0).all() and len(picture.rates) == len(steps)
    bought = 100 * np.ptp(loss) if reverse else np.ptp(k)
    assert picture.rates @ widths == pytest.approx(bought)
    assert picture.average == pytest.approx(bought / widths.sum())
    assert sorted(picture.rates) == pytest.approx(
        sorted(front.rates(gain="loss", cost="k")["rate"] if reverse else front.rates()["rate"])
    )


# Parallel coordinates


def test_heights_and_ticks_of_parallel_axes_agree() -> None:
    picture = plot.parallel_of(THREE, objectives=["k", "l", "loss", "records_suppressed"])
    for axis, name in zip(picture.axes, ["k", "l", "loss", "records_suppressed"], strict=True):
        quantity = next(q for q in THREE.quantities if q.key == name)
        values = quantity.shown(THREE.column(name))
        written = [float(text.replace(",", "")) for text in axis.texts]
        assert axis.ticks[0] == 0 and axis.ticks[-1] == 1
        better = values.max() if quantity.sense == "max" else values.min()
        assert written[-1] == pytest.approx(better, rel=0.01, abs=0.01)
        order = np.argsort(axis.heights)
        assert (np.diff(-quantity.sign * values[order]) >= 0).all()
        at = np.log10(written) if quantity.logarithmic(THREE.column(name)) else written
        assert np.allclose(np.diff(at) / np.diff(axis.ticks), (at[-1] - at[0]), rtol=0.05, atol=0.6)
    assert picture.knee == marked_knee(THREE)
    flat = plot.parallel_of(toy([2, 5], [0.1, 0.2], l=[3, 3])).axes[2]
    assert (flat.heights == 0.5).all() and flat.label == "ℓ-diversity (the same for all)"


# Attainment


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 5))
def test_surfaces_by_the_definition_of_attainment(seed: int, n: int) -> None:
    fronts = runs(n, seed)
    (group,) = plot.attainment_of(fronts).groups
    assert group.n_runs == n
    points = [list(zip(f.column("k"), 100 * f.column("loss"), strict=True)) for f in fronts]
    levels = {"best": 1, "median": -(-n // 2), "worst": n}
    for k in range(0, 60, 4):
        for loss in range(0, 60, 4):
            reached = sum(any(a >= k and b <= loss for a, b in found) for found in points)
            for name, least in levels.items():
                surface = getattr(group, name)
                inside = bool(((surface[:, 0] >= k) & (surface[:, 1] <= loss)).any())
                assert inside == (reached >= least), (name, k, loss)


def test_outlines_go_from_edge_to_edge() -> None:
    picture = plot.attainment_of({"a": runs(), "b": runs(seed=3)}, objectives=("k", "loss"))
    assert [group.name for group in picture.groups] == ["a", "b"]
    everything = np.concatenate([f.values[:, :2] * [1, 100] for f in [*runs(), *runs(seed=3)]])
    assert picture.corner == (everything[:, 0].min(), everything[:, 1].max())
    for group in picture.groups:
        outline = staircase(group.median, picture.corner)
        assert outline[0, 1] == picture.corner[1] and outline[-1, 0] == picture.corner[0]
        step = np.diff(outline, axis=0)
        assert ((step == 0).sum(axis=1) >= 1).all()
    legend = plot.plot_attainment({"a": runs(), "b": runs(3)}).get_legend()
    assert [t.get_text() for t in need(legend).get_texts()][:2] == [
        "a: median of 4 runs",
        "b: median of 3 runs",
    ]


# One solution and one release


def test_losses_are_drawn_in_order_with_their_mean() -> None:
    picture = plot.loss_of(CHOICE)
    assert dict(zip(picture.names, picture.losses, strict=True)) == pytest.approx(
        CHOICE.loss_per_attribute().to_dict()
    )
    assert (np.diff(picture.losses) <= 0).all() and picture.mean == pytest.approx(CHOICE.loss)
    ax = CHOICE.plot_loss()
    bars = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
    assert [bar.get_width() for bar in bars] == pytest.approx(100 * picture.losses)
    assert [t.get_text() for t in ax.get_yticklabels()] == list(picture.names)


def test_what_has_no_loss_per_attribute_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: object) -> None:
        raise ProblemError("loss_per_attribute: this recoding has no generalised values")

    monkeypatch.setattr(type(CHOICE), "loss_per_attribute", refuse)
    with pytest.raises(ProblemError, match="has no generalised values"):
        CHOICE.plot_loss()
    assert not plt.get_fignums()


def test_a_label_is_shared_out_over_what_it_stands_for() -> None:
    release = CHOICE.release(seed=1)
    picture = plot.before_after_of(TABLE, release, "age")
    assert picture.before.tolist() == [
        (TABLE.frame["age"] == int(age)).sum() for age in picture.labels
    ]
    expected = dict.fromkeys(picture.labels, 0.0)
    for label in release.frame["age"]:
        leaves = release.meanings["age"][str(label)]
        for leaf in leaves:
            expected[leaf] += 1 / len(leaves)
    assert picture.after == pytest.approx(list(expected.values()))
    suppressed = TABLE.n_records - len(release)
    assert f"150 records, {suppressed} suppressed, released as" in picture.title
    with pytest.raises(ProblemError, match="column: 'ag' is not released; did you mean 'age'"):
        plot.before_after_of(TABLE, release, "ag")


def test_other_columns_are_counted_by_value() -> None:
    release = CHOICE.release(seed=1)
    picture = plot.before_after_of(TABLE, release, "ill")
    assert dict(zip(picture.labels, picture.before, strict=True)) == (
        TABLE.frame["ill"].value_counts().to_dict()
    )
    assert picture.after.sum() == len(release) and picture.edges is None


def test_means_of_clusters_are_drawn_as_numbers_beside_the_original() -> None:
    table = people(300, spread=40)
    release = pm.make_release(table, pm.baselines.mdav(table, 5))
    picture = plot.before_after_of(table, release, "age")
    assert picture.edges is not None and len(picture.edges) == len(picture.before) + 1
    assert picture.before.sum() == picture.after.sum() == 300
    by_name = plot.before_after_of(table, release, "job")
    assert set(by_name.labels) == {"baker", "clerk", "judge"} and by_name.after.sum() == 300
    drawn = plot.plot_before_after(table, release, "age")
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("age", "records")
    ranges = pm.make_release(table, pm.baselines.mondrian(table, 5))
    assert plot.before_after_of(table, ranges, "age").after.sum() == pytest.approx(300)


def test_many_values_are_limited_to_the_most_frequent() -> None:
    rng = np.random.default_rng(0)
    df = pd.DataFrame(
        {"age": rng.integers(0, 5, 500), "town": rng.integers(0, 60, 500).astype(str)}
    )
    table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered()}, insensitive=["town"])
    release = pm.make_release(table, pm.recodings.identity_recoding(table))
    picture = plot.before_after_of(table, release, "town")
    assert len(picture.labels) == 20 and picture.labels[-1] == "41 others"
    assert picture.before.sum() == picture.after.sum() == 500


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda: FRONT[:0].plot_parallel(), "plot_parallel: the front is empty"),
        (
            lambda: FRONT.plot_parallel(objectives=["k"]),
            "plot_parallel: draws two or more quantities, got 1; choose from k, loss",
        ),
        (
            lambda: FRONT.plot_3d(),
            "plot_front_3d: needs three objectives, got 2; use plot_front",
        ),
        (
            lambda: toy([5], [0.5]).plot_rates(),
            "plot_rates: needs two solutions, of which one costs more than the other",
        ),
        (lambda: FRONT[:0].plot_trade_off(), "plot_trade_off: the front is empty"),
        (
            lambda: plot.plot_attainment([]),
            "plot_attainment: give the fronts of at least one run of every solver",
        ),
        (
            lambda: plot.plot_attainment({"a": [FRONT], "b": []}),
            "plot_attainment: give the fronts of at least one run of every solver",
        ),
        (
            lambda: plot.plot_attainment([FRONT, FRONT[:0]]),
            "plot_attainment: one of the fronts is empty",
        ),
        (
            lambda: plot.plot_attainment([THREE], objectives=("k", "l", "loss")),
            "plot_attainment: draws two objectives, got 3",
        ),
        (
            lambda: FRONT[1:].plot_trade_off(pick=FRONT[0]),
            "plot_trade_off: the pick is not on this front",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(draw: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ProblemError) as raised:
        draw()
    assert str(raised.value).startswith(sentence)
    assert not plt.get_fignums()


def test_a_dollar_in_a_name_is_a_dollar() -> None:
    name = "a$\\frac$" + "long" * 30
    frame = pd.DataFrame({name: [1, 2, 3, 4]})
    table = pm.Table(frame, quasi_identifiers={name: pm.Hierarchy.ordered()})
    front = Front.of(pm.problems.Cuts(table), [[0, 1, 0], [1, 1, 1]])
    release = front[0].release()
    for ax in (front[0].plot_loss(), plot.plot_before_after(table, release, name)):
        figure_of(ax).savefig(io.BytesIO())
    plt.close("all")
