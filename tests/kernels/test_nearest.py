"""Nearest centroids against a look at every centroid; the space of distances; tables with split tuples."""

from __future__ import annotations

from collections import Counter
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

import privmoo as pm
from privmoo.data.points import Space
from privmoo.data.table import Table
from privmoo.errors import AuditError, PrivmooError, ProblemError, TableError
from privmoo.kernels.nearest import nearest_centroids
from privmoo.measures import InformationLoss
from privmoo.recodings.classes import cluster_recoding
from privmoo.release.release import make_release
from privmoo.spaces.centroids import CentroidSpace
from tests.scenery.clusters import people


def slowly(
    points: NDArray[np.float64], numeric: NDArray[np.bool_], centroids: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Every distance, column by column in the order of the definition; of ties the first."""
    total = np.zeros((len(points), len(centroids)))
    for j in np.flatnonzero(numeric):
        total += (points[:, None, j] - centroids[None, :, j]) ** 2
    for j in np.flatnonzero(~numeric):
        total += points[:, None, j] != centroids[None, :, j]
    return np.asarray(total.argmin(axis=1))


def quickly(
    points: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    lead: int,
    centroids: NDArray[np.float64],
) -> NDArray[np.int32]:
    labels = np.full(len(points), -7, np.int32)
    nearest_centroids(points, numeric, lead, centroids, labels)
    return labels


COARSE = st.integers(-3, 3).map(float)  # many ties
FINE = st.floats(-100, 100, allow_subnormal=False)


@st.composite
def cases(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    numeric = np.array(draw(st.lists(st.booleans(), min_size=1, max_size=4)))
    kinds = [draw(st.sampled_from([COARSE, FINE])) if n else COARSE for n in numeric]

    def rows(most: int) -> NDArray[np.float64]:
        given = draw(st.lists(st.tuples(*kinds), min_size=1, max_size=most))
        return np.array(given, dtype=np.float64).reshape(len(given), len(numeric))

    points, centroids = rows(12), rows(9)
    if draw(st.booleans()):  # centroids that are records, and the same one twice
        centroids = np.concatenate([centroids, points[:2], centroids[:1]])
    if draw(st.booleans()):  # a column where nothing differs
        points[:, 0] = centroids[:, 0] = 5.0
    return points, numeric, centroids


@settings(max_examples=150)
@given(case=cases())
def test_all_leads_find_what_looking_at_all_finds(
    case: tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]],
) -> None:
    points, numeric, centroids = case
    expected = slowly(points, numeric, centroids)
    for lead in [*np.flatnonzero(numeric).tolist(), -1]:
        assert np.array_equal(quickly(points, numeric, lead, centroids), expected), lead


def test_many_points_and_centroids() -> None:
    rng = np.random.default_rng(3)
    points = np.column_stack(
        [rng.normal(size=800), rng.integers(0, 9, 800), rng.integers(0, 4, 800)]
    ).astype(np.float64)
    centroids = np.concatenate([points[rng.integers(800, size=60)], points[:20] + 0.25])
    numeric = np.array([True, True, False])
    for lead in (0, 1, -1):
        assert np.array_equal(
            quickly(points, numeric, lead, centroids), slowly(points, numeric, centroids)
        )


def test_one_centroid_takes_all_and_of_equal_ones_the_first_does() -> None:
    points = np.array([[1.0, 0.0], [9.0, 1.0], [5.0, 2.0]])
    numeric = np.array([True, False])
    assert quickly(points, numeric, 0, np.array([[100.0, 3.0]])).tolist() == [0, 0, 0]
    twice = np.array([[9.0, 1.0], [5.0, 2.0], [9.0, 1.0], [5.0, 2.0]])
    assert quickly(points, numeric, 0, twice).tolist() == [1, 0, 1]
    between = np.array([[6.0, 2.0], [4.0, 2.0]])  # both 1 away from the last point
    assert quickly(points, numeric, 0, between).tolist() == [1, 0, 0]


def mixed(**options: object) -> Table:
    df = pd.DataFrame(
        {
            "age": [20, 20, 40, 60, 60, 60],
            "pay": [1000.0, 1000.0, 1500.0, 3000.0, 3000.0, 9000.0],
            "sex": list("ffmmfm"),
            "same": [7] * 6,
        }
    )
    return Table(df, quasi_identifiers=["age", "pay", "sex", "same"], **options)


@pytest.mark.parametrize("scale", ["raw", "standard", "minmax"])
def test_points_are_records_in_units_of_the_records(scale: str) -> None:
    table = mixed()
    space = Space.of(table, scale)
    frame = table.frame
    assert space.numeric.tolist() == [True, True, False, True]
    for j, name in enumerate(["age", "pay", "same"]):
        column = frame[name].to_numpy(dtype=float)
        unit = {"raw": 1.0, "standard": column.std(), "minmax": np.ptp(column)}[scale] or 1.0
        at = [0, 1, 3][j]
        assert space.units[at] == pytest.approx(unit)
        assert space.points[table.row_tuple, at] == pytest.approx(column / unit)
        assert space.low[at] == pytest.approx(column.min() / unit)
        assert space.high[at] == pytest.approx(column.max() / unit)
    assert space.units[2] == 1.0
    codes = space.points[table.row_tuple, 2]
    assert [table.qis[2].leaves[int(c)] for c in codes] == frame["sex"].tolist()


@pytest.mark.parametrize("scale", ["raw", "standard", "minmax"])
def test_centroids_take_the_records_nearest_in_the_scale(scale: str) -> None:
    table = mixed()
    centroids = CentroidSpace(table, 3, k=2, scale=scale, assignment="nearest")
    chosen = np.array([[20.0, 2000.0, 0, 7], [60.0, 1000.0, 1, 7], [40.0, 9000.0, 1, 7]])
    [classes] = centroids.decode(centroids.from_centres(chosen)[None], release="centroid")
    space = Space.of(table, scale)
    expected = slowly(space.points, space.numeric, chosen / space.units)
    assert classes.labels.tolist() == expected.tolist()


def test_a_category_of_numbers_in_text_is_a_number_only_if_all_are() -> None:
    df = pd.DataFrame({"zip": ["01", "1", "20", "3"], "code": ["01", "1", "x", "3"]})
    space = Space.of(Table(df, quasi_identifiers=["zip", "code"]))
    assert space.numeric.tolist() == [True, False]
    assert sorted(space.points[:, 0].tolist()) == [1.0, 1.0, 3.0, 20.0]


def test_missing_numbers_and_unknown_scales_are_refused_in_one_sentence() -> None:
    table = Table(pd.DataFrame({"age": [20, None, 40]}), quasi_identifiers=["age"])
    with pytest.raises(ProblemError) as caught:
        Space.of(table)
    assert str(caught.value) == (
        "quasi_identifiers: column 'age' has missing values, which have no mean and no distance; leave "
        "those rows out (missing = 'drop')"
    )
    with pytest.raises(ProblemError) as caught:
        Space.of(people(20), "standrd")
    assert str(caught.value).startswith(
        "scale: must be one of 'raw', 'standard', 'minmax', got 'standrd'"
    )
    assert "'standard'?" in str(caught.value)
    with pytest.raises(ProblemError, match="got \\['raw'\\]"):
        Space.of(people(20), ["raw"])


def slow_split(table: Table, parts: NDArray[Any]) -> list[int]:
    return sorted(Counter(zip(table.row_tuple.tolist(), parts.tolist(), strict=True)).values())


def test_a_split_table_has_the_same_records_in_more_tuples() -> None:
    table = people(60, 3, subject="who", target="debt")
    parts = np.random.default_rng(0).integers(0, 4, 60)
    view = table.split(parts)
    assert sorted(view.weights.tolist()) == slow_split(table, parts)
    assert (view.tuples[view.row_tuple] == table.tuples[table.row_tuple]).all()
    for name, a in view.sensitive.items():
        assert a.totals.tolist() == table.sensitive[name].totals.tolist()
        for t in range(view.n_tuples):
            entries = slice(a.offsets[t], a.offsets[t + 1])
            own = Counter(a.row_codes[view.row_tuple == t].tolist())
            assert dict(zip(a.codes[entries], a.counts[entries], strict=True)) == own
    assert view.target is view.sensitive["debt"] and view.n_persons == table.n_persons
    assert view.split(np.zeros(60, np.int8)).n_tuples == view.n_tuples
    assert table.n_tuples < view.n_tuples
    for wrong in (parts[:-1], parts - 1, parts * 0.5):
        with pytest.raises(
            TableError, match=r"^split: expected a whole number from 0 for each of 60"
        ):
            table.split(wrong)


def test_parts_may_be_any_whole_numbers() -> None:
    table = Table(pd.DataFrame({"a": list(range(8)) * 2}), quasi_identifiers=["a"])
    assert table.split(np.arange(16) % 3 * 1000).n_tuples == len(
        slow_split(table, np.arange(16) % 3)
    )


@pytest.mark.parametrize("kind", [np.uint64, np.int64])
def test_parts_may_be_large_or_unsigned(kind: type[Any]) -> None:
    table = Table(pd.DataFrame({"a": list(range(8)) * 2}), quasi_identifiers=["a"])
    view = table.split((np.arange(16) // 8 * (2**63 - 9)).astype(kind))
    assert view.n_tuples == 16
    assert (view.tuples[view.row_tuple] == table.tuples[table.row_tuple]).all()


FAR = [145 + np.random.default_rng(0).normal(size=40) * 0.01, 1e12 + np.arange(40.0)]


@pytest.mark.parametrize("column", FAR, ids=["degrees", "identifiers"])
def test_means_of_numbers_far_from_zero_are_confirmed(column: NDArray[np.float64]) -> None:
    table = Table(pd.DataFrame({"a": column}), quasi_identifiers=["a"])
    recoding = cluster_recoding(table, np.argsort(np.argsort(column)) // 4)
    make_release(table, recoding, measures=[InformationLoss(), pm.KAnonymity()])


@pytest.mark.parametrize("unit", [1e-310, 1e200, 1e307])
def test_very_small_and_very_large_numbers(unit: float) -> None:
    """They are released as any others, or refused in one sentence without warnings of numpy."""
    table = Table(pd.DataFrame({"a": np.arange(1, 17) * unit}), quasi_identifiers=["a"])
    try:
        recoding = cluster_recoding(table, np.arange(16) // 4)
        release = make_release(table, recoding, measures=[InformationLoss()])
    except PrivmooError as error:
        assert not isinstance(error, AuditError) and "NaN" not in str(error)  # noqa: PT017
    else:
        assert np.isfinite(release.frame["a"]).all() and release.certificate.privacy["k"] == 4
