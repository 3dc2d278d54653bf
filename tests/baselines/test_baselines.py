"""Baselines: what each of them guarantees, slow obvious versions beside them, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import privmoo as pm
from privmoo import baselines
from privmoo.baselines.common import Kinds
from privmoo.baselines.k_member import grown_labels
from privmoo.baselines.mdav import mdav_labels
from privmoo.baselines.mondrian import mondrian_classes
from privmoo.data.points import Space
from privmoo.errors import ProblemError
from privmoo.recodings.classes import PartitionRecoding, cluster_recoding

TREE = {"warm": {"red": ["r1", "r2"], "yellow": ["y1"]}, "cold": ["b1", "b2"]}
SCALES = st.sampled_from(["raw", "standard", "minmax"])


@st.composite
def tables(draw: st.DrawFn, *, whole: bool = True) -> pm.Table:
    """Small tables of numbers, categories with and without a tree, ordered values, two secrets."""
    n = draw(st.integers(4, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([1, 3, 40]))
    numbers = rng.integers(0, spread, n)
    frame = pd.DataFrame(
        {
            "age": numbers if whole else numbers + rng.normal(size=n),
            "size": rng.integers(0, 4, n) * 2,
            "colour": rng.choice(["r1", "r2", "y1", "b1", "b2"], n),
            "kind": rng.choice(list("abcde"), n),
            "grade": rng.choice(list("ABCD"), n),
            "ill": rng.choice(list("uvwx"), n),
            "job": rng.choice(list("pqr"), n),
        }
    )
    # every secret occurs twice at least, so that l = 2 is always possible
    frame.loc[:3, "ill"] = list("uuvv")
    frame.loc[:3, "job"] = list("ppqq")
    known: dict[str, Any] = dict.fromkeys(("age", "size", "kind"))
    known |= {"colour": pm.Hierarchy.tree(TREE), "grade": pm.Hierarchy.ordered()}
    chosen = draw(st.lists(st.sampled_from(sorted(known)), min_size=1, max_size=4, unique=True))
    return pm.Table(
        frame,
        quasi_identifiers={name: pm.QuasiIdentifier(hierarchy=known[name]) for name in chosen},
        sensitive=["ill", "job"],
    )


def check_partition(table: pm.Table, recoding: PartitionRecoding, k: int, diversity: int) -> None:
    """Every record is in one class of at least k records and l values of each secret."""
    assert recoding.labels.shape == (table.n_records,)
    released = recoding.apply(table, np.arange(table.n_records))
    released["ill"], released["job"] = table.frame["ill"], table.frame["job"]
    groups = released.groupby(table.qi_names, observed=True)
    assert groups.size().min() >= k
    assert groups["ill"].nunique().min() >= diversity
    assert groups["job"].nunique().min() >= diversity
    assert groups.ngroups == recoding.n_classes


@settings(max_examples=40)
@given(tables(whole=False), st.integers(2, 4), st.integers(1, 2), SCALES)
def test_every_class_is_large_and_diverse(
    table: pm.Table, k: int, diversity: int, scale: Any
) -> None:
    make: Callable[[], PartitionRecoding]
    for make in (
        lambda: baselines.k_member(table, k, l=diversity, scale=scale),
        lambda: baselines.zheng(table, k, diversity, scale=scale),
        lambda: baselines.zheng(table, k, diversity, scale=scale, start="nearest"),
        lambda: baselines.ward(table, k, l=diversity, scale=scale),
        lambda: baselines.mondrian(table, k, l=diversity),
        lambda: baselines.mondrian(table, k, l=diversity, strict=False),
        lambda: baselines.mondrian(table, k, l=diversity, strict=False, release="mean"),
    ):
        recoding = make()
        check_partition(table, recoding, k, diversity)
        assert recoding.key() == make().key()  # the same again
    check_partition(table, baselines.mdav(table, k, scale=scale), k, 1)


@settings(max_examples=60)
@given(tables(whole=False), st.integers(2, 6), SCALES)
def test_mdav_groups_have_k_to_2k_minus_1_records(table: pm.Table, k: int, scale: Any) -> None:
    k = min(k, table.n_records)
    sizes = np.bincount(mdav_labels(table, k, scale=scale))
    assert sizes.min() >= k and sizes.max() <= 2 * k - 1


@settings(max_examples=40)
@given(tables(), st.integers(2, 5))
def test_clusters_grow_to_k_and_all_but_the_rest_stay_there(table: pm.Table, k: int) -> None:
    k = min(k, table.n_records)
    sizes = np.bincount(grown_labels(table, k))
    assert len(sizes) == table.n_records // k
    assert sizes.min() >= k and (sizes - k).sum() == table.n_records % k


@settings(max_examples=40)
@given(tables(), st.integers(2, 4), st.integers(1, 2))
def test_equal_records_stay_together(table: pm.Table, k: int, diversity: int) -> None:
    """Strict Mondrian and ward label tuples; a class of relaxed Mondrian is about half as large."""
    for recoding in (
        baselines.mondrian(table, k, l=diversity),
        baselines.ward(table, k, l=diversity),
    ):
        assert not recoding.splits
    if diversity == 1 and all(qi.numbers is not None for qi in table.qis):
        labels = mondrian_classes(table, k, strict=False).labels
        for label in np.unique(labels):
            own = table.tuples[table.row_tuple[labels == label]]
            assert len(own) < 2 * k or len(np.unique(own, axis=0)) == 1


# Slow obvious versions ----------------------------------------------------------------------------


def distance(space: Space, points: NDArray[Any], centre: NDArray[Any]) -> NDArray[np.float64]:
    gaps = np.where(space.numeric, (points - centre) ** 2, points != centre)
    return np.asarray(gaps.sum(axis=1), dtype=np.float64)


def centre_of(space: Space, points: NDArray[Any]) -> NDArray[np.float64]:
    codes = np.where(space.numeric, 0, points).astype(np.int64)
    modes = [np.bincount(column).argmax() for column in codes.T]
    return np.where(space.numeric, points.sum(axis=0) / len(points), modes)


def spread(space: Space, points: NDArray[Any]) -> float:
    return float(distance(space, points, centre_of(space, points)).sum())


def slow_mdav(space: Space, points: NDArray[Any], k: int) -> list[NDArray[Any]]:
    """Record by record; `points` are sorted by tuple."""
    groups = []

    def gather(row: NDArray[Any]) -> None:
        nonlocal points
        order = np.argsort(distance(space, points, row), kind="stable")
        groups.append(points[order[:k]])
        points = points[np.sort(order[k:])]

    while len(points) >= 3 * k:
        first = points[distance(space, points, centre_of(space, points)).argmax()]
        gather(first)
        gather(points[distance(space, points, first).argmax()])
    if len(points) >= 2 * k:
        gather(points[distance(space, points, centre_of(space, points)).argmax()])
    return [*groups, points]


def multiset(groups: list[NDArray[Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(sorted(map(tuple, group.tolist()))) for group in groups)


def groups_of(rows: NDArray[Any], labels: NDArray[Any]) -> list[NDArray[Any]]:
    return [rows[labels == label] for label in np.unique(labels)]


@settings(max_examples=60)
@given(tables(), st.integers(2, 5))
def test_mdav_over_tuples_is_mdav_over_records(table: pm.Table, k: int) -> None:
    k = min(k, table.n_records)
    space = Space.of(table, "raw")  # whole numbers: sums are exact, in any order
    slow = slow_mdav(space, space.points[np.sort(table.row_tuple)], k)
    fast = groups_of(space.points[table.row_tuple], mdav_labels(table, k, scale="raw"))
    assert multiset(slow) == multiset(fast)


class Slow:
    """One class: its records, with mean and value counts kept as records come in."""

    def __init__(self, space: Space, point: NDArray[Any], rows: list[int]) -> None:
        self.space, self.rows = space, rows
        self.mean = point.copy()
        self.counts = [Counter({value: len(rows)}) for value in point.tolist()]

    def price(self, other: Slow) -> float:
        """By how much the spread grows if both are one."""
        a, b, squares, differing = len(self.rows), len(other.rows), 0.0, 0.0
        for j, is_number in enumerate(self.space.numeric):
            if is_number:
                squares += (self.mean[j] - other.mean[j]) ** 2
            else:
                both = self.counts[j] + other.counts[j]
                most = [max(c.values()) for c in (self.counts[j], other.counts[j], both)]
                differing += most[0] + most[1] - most[2]
        return float(squares * (a * b / (a + b)) + differing)

    def take(self, other: Slow) -> None:
        a, b = len(self.rows), len(other.rows)
        self.mean = (other.mean * b + self.mean * a) / (a + b)
        self.counts = [c + d for c, d in zip(self.counts, other.counts, strict=True)]
        self.rows = self.rows + other.rows


@settings(max_examples=30)
@given(tables(whole=False), SCALES)
def test_the_price_is_the_increase_of_spread(table: pm.Table, scale: Any) -> None:
    space = Space.of(table, scale)
    points = space.points[table.row_tuple]
    rows = [Slow(space, points[i], [i]) for i in range(table.n_records)]
    for other in rows[1:]:
        before = spread(space, points[rows[0].rows]) + spread(space, points[other.rows])
        price = rows[0].price(other)
        rows[0].take(other)
        assert np.isclose(price, spread(space, points[rows[0].rows]) - before, atol=1e-7)


def slow_growth(
    space: Space, kinds: Kinds, k: int, diversity: int, *, by_increase: bool, near: bool
) -> list[Slow]:
    """Clusters of kinds, before the leftovers."""
    left = np.repeat(np.arange(len(kinds.tuples)), kinds.weights).tolist()
    points = space.points[kinds.tuples]
    last = points[0]
    clusters = []

    def missing(own: list[int]) -> int:
        return max((diversity - len(set(c)) for c in kinds.sensitive[own].T), default=0)

    def brings(own: list[int], unit: int) -> bool:
        columns = zip(kinds.sensitive[own].T, kinds.sensitive[unit], strict=True)
        return any(len(set(c)) < diversity and value not in c for c, value in columns)

    def price(own: Slow, unit: int) -> float:
        if by_increase:
            return own.price(Slow(space, points[unit], [unit]))
        return float(distance(space, points[[unit]], points[own.rows[0]])[0])

    while len(left) >= k and missing(left) <= 0:
        far = distance(space, points[left], last) * (-1 if near else 1)
        unit = left.pop(int(far.argmax()))
        own = Slow(space, points[unit], [unit])
        while len(own.rows) < k or missing(own.rows) > 0:
            only_new = 0 < missing(own.rows) >= k - len(own.rows)
            allowed = [unit for unit in left if not only_new or brings(own.rows, unit)]
            unit = min(allowed, key=lambda unit: (price(own, unit), unit))
            own.take(Slow(space, points[unit], [unit]))
            left.remove(unit)
        last = points[unit]
        clusters.append(own)
    return clusters


@settings(max_examples=60)
@given(tables(), st.integers(2, 4), st.integers(1, 2), st.booleans(), st.booleans())
def test_growth_is_the_obvious_one(
    table: pm.Table, k: int, diversity: int, by_increase: bool, near: bool
) -> None:
    space, kinds = Space.of(table), Kinds.of(table, sensitive=diversity > 1)
    slow = slow_growth(space, kinds, k, diversity, by_increase=by_increase, near=near)
    labels = grown_labels(table, k, l=diversity, by_increase=by_increase, near_start=near)
    assert len(slow) == labels.max() + 1
    for kind in range(len(kinds.tuples)):
        found = labels[kinds.of_row == kind].tolist()
        for number, own in enumerate(slow):
            for _ in range(own.rows.count(kind)):
                assert found.pop(0) == number
        # What is left over of a kind comes last, and went where it cost least at that time.
        for label in found:
            alone = Slow(space, space.points[kinds.tuples[kind]], [kind])
            prices = [own.price(alone) for own in slow]
            assert prices[label] <= min(prices) + 1e-9
            slow[label].take(Slow(space, space.points[kinds.tuples[kind]], [-1]))


def slow_ward(table: pm.Table, space: Space, k: int, diversity: int) -> NDArray[np.int64]:
    classes = {
        t: Slow(space, space.points[t], np.flatnonzero(table.row_tuple == t).tolist())
        for t in range(table.n_tuples)
    }
    secrets = [a.row_codes for a in table.sensitive.values()]

    def is_open(rows: list[int]) -> bool:
        return len(rows) < k or any(len(set(codes[rows].tolist())) < diversity for codes in secrets)

    while unfinished := [a for a, own in classes.items() if is_open(own.rows)]:
        _, a, b = min(
            (classes[a].price(classes[b]), a, b) for a in unfinished for b in classes if a != b
        )
        classes[b].take(classes.pop(a))
    labels = np.empty(table.n_records, np.int64)
    for t, own in classes.items():
        labels[own.rows] = t
    return labels


@settings(max_examples=60)
@given(tables(), st.integers(2, 5), st.integers(1, 2))
def test_ward_makes_the_cheapest_merges(table: pm.Table, k: int, diversity: int) -> None:
    k = min(k, table.n_records)
    slow = slow_ward(table, Space.of(table), k, diversity)
    assert baselines.ward(table, k, l=diversity).key() == cluster_recoding(table, slow).key()


@pytest.mark.parametrize(
    ("columns", "k"), [(["x", "y"], 3), (["x", "s", "y"], 3), (["n", "s"], 15), (["x", "s"], 40)]
)
def test_ward_with_many_tuples(columns: list[str], k: int) -> None:
    """Enough of them for a tree, and enough merges to use up the room for counts."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=80), "y": 2 * rng.normal(size=80)})
    frame["n"], frame["s"] = rng.integers(0, 40, 80), rng.choice(list("abcd"), 80)
    table = pm.Table(frame, quasi_identifiers=columns)
    slow = slow_ward(table, Space.of(table), k, 1)
    assert baselines.ward(table, k).key() == cluster_recoding(table, slow).key()


# Mondrian by hand, and what is refused ----------------------------------------------------------------


def mondrian_of(values: list[Any], k: int, **options: Any) -> list[str]:
    """What every record of a table with one quasi-identifier is published as."""
    hierarchy = options.pop("hierarchy", None)
    table = pm.Table(
        pd.DataFrame({"a": values}),
        quasi_identifiers={"a": pm.QuasiIdentifier(hierarchy=hierarchy)},
    )
    recoding = baselines.mondrian(table, k, **options)
    return [str(value) for value in recoding.apply(table, np.arange(len(values)))["a"]]


def test_mondrian_by_hand() -> None:
    assert mondrian_of([1, 2, 3, 4], 2) == ["1–2", "1–2", "3–4", "3–4"]
    # the cut goes beside the median's value, on the more even side
    assert mondrian_of([1, 2, 2, 2, 3, 4], 2) == ["1–2"] * 4 + ["3–4"] * 2
    assert mondrian_of([1, 1, 2, 2, 2, 3], 2) == ["1"] * 2 + ["2–3"] * 4
    # on the other side if only that leaves k records
    assert mondrian_of([0, 1, 2, 2, 2, 2, 3], 2) == ["0–1"] * 2 + ["2–3"] * 5
    # relaxed, both halves get records of the median's value
    assert mondrian_of([1, 2, 2, 2], 2, strict=False) == ["*", "*", "2", "2"]
    assert mondrian_of([1, 2, 2, 2], 2) == ["*"] * 4
    # a tree is cut into the children of the lowest node above all
    tree = pm.Hierarchy.tree(TREE)
    colours = ["r1", "r1", "r2", "r2", "b1", "b2"]
    assert mondrian_of(colours, 2, hierarchy=tree) == ["r1", "r1", "r2", "r2", "cold", "cold"]
    assert mondrian_of(colours[1:], 2, hierarchy=tree) == ["warm"] * 3 + ["cold"] * 2
    tight = mondrian_of(colours[1:], 2, hierarchy=tree, publish="tight")
    assert tight == ["red"] * 3 + ["cold"] * 2  # the lowest node above the members
    assert mondrian_of(list("aabbc"), 2) == ["a", "a", "{b, c}", "{b, c}", "{b, c}"]


def test_mondrian_cuts_the_widest_first() -> None:
    # a is cut first of equals; within its halves b is wider, as a share of the table's range
    frame = pd.DataFrame({"a": [0, 1, 2, 3, 10, 11, 12, 13], "b": [0, 5, 1, 4] * 2})
    table = pm.Table(frame, quasi_identifiers=["a", "b"])
    labels = baselines.mondrian(table, 2).labels
    assert labels.tolist() == [0, 1, 0, 1, 2, 3, 2, 3]


def example(**roles: Any) -> pm.Table:
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "s": list("uvuv"), "who": [1, 1, 2, 3]})
    return pm.Table(frame, quasi_identifiers=["a"], **roles)


def test_refused_in_one_sentence() -> None:
    table = example(sensitive="s")
    with_gap = pm.Table(pd.DataFrame({"a": [1.0, 2.0, None]}), quasi_identifiers=["a"])
    calls: list[tuple[str, Any]] = [
        ("k: must be a whole number of at least 2, got 1", lambda: baselines.mdav(table, 1)),
        ("k: must be a whole", lambda: baselines.ward(table, 2.0)),
        ("k: must be a whole", lambda: baselines.ward(table, True)),
        (
            "k: must be at most 4, the number of records, got 5",
            lambda: baselines.k_member(table, 5),
        ),
        ("l: must be a whole number of at least 1", lambda: baselines.zheng(table, 2, 0)),
        ("'s' has 2 values, so no class can have 3", lambda: baselines.mondrian(table, 2, l=3)),
        (
            "l: 2 values .* the table has no such attribute",
            lambda: baselines.ward(example(), 2, l=2),
        ),
        ("several rows per person", lambda: baselines.mdav(example(subject="who"), 2)),
        ("scale: must be", lambda: baselines.mdav(table, 2, scale="rwa")),
        ("release: must be", lambda: baselines.mdav(table, 2, release="x")),
        ("start: must be", lambda: baselines.zheng(table, 2, 1, start="far")),
        ("did you mean 'mdav'", lambda: baselines.by_name("mdva")),
        *(
            ("missing", lambda make=make: make(with_gap, 2))
            for make in (baselines.mdav, baselines.k_member, baselines.mondrian, baselines.ward)
        ),
    ]
    for words, call in calls:
        with pytest.raises(ProblemError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", baselines.names())
@pytest.mark.parametrize("values", [[5] * 6, list("aabbcc"), [1, 1, 2, 2, 9, 9]])
def test_one_column_of_any_kind(name: str, values: list[Any]) -> None:
    frame = pd.DataFrame({"a": values, "s": list("uvuvuv")})
    table = pm.Table(frame, quasi_identifiers=["a"], sensitive="s")
    more = (2,) if name == "zheng" else ()
    recoding: Any = baselines.by_name(name)(table, 2, *more)
    assert recoding.n_classes == len(set(values))
    assert np.bincount(recoding.labels).min() >= 2
