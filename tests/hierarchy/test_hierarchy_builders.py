"""Hierarchies: what the builders build, and columns of any type."""

from __future__ import annotations

import datetime as dt
import itertools
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmoo.errors import HierarchyError
from privmoo.hierarchy import MISSING, Hierarchy
from privmoo.hierarchy.canonical import canonical
from tests.scenery.paths import SHARED as DATA

ARX = sorted(DATA.glob("*/hierarchies/*.csv.gz")) + sorted(DATA.glob("adult_hierarchies_full/*.gz"))


def numbers_of(hierarchy: Hierarchy) -> list[float]:
    assert hierarchy.numbers is not None
    return list(hierarchy.numbers)


def test_tree_of_uneven_depth_keeps_a_shallow_leaf_below_its_parent() -> None:
    h = Hierarchy.tree({"gov": ["federal", {"near": ["local", "state"]}], "none": None})
    assert h.rows() == [
        ["federal", "federal", "gov", "*"],
        ["local", "near", "gov", "*"],
        ["state", "near", "gov", "*"],
        ["none", "none", "none", "*"],
    ]


def test_tree_names_unnamed_lists_by_their_leaves_and_takes_a_root() -> None:
    h = Hierarchy.tree([["a", "b"], "c"], root="any")
    assert (h.label(0, 2), h.label(0, 3)) == ("{a, b}", "any")
    assert Hierarchy.tree({"any": ["a", "b"]}, root="any").n_levels == 2


def test_same_label_under_two_parents_is_told_apart() -> None:
    h = Hierarchy.tree({"north": {"Other": ["a", "b"]}, "south": {"Other": ["c", "d"]}})
    assert h.level_labels(1) == ("Other (a–b)", "Other (c–d)")


def test_a_label_made_different_never_tells_the_only_value_of_a_node() -> None:
    h = Hierarchy.levels({"rare": ["*", "*"], "b": ["x", "*"], "c": ["x", "*"]})
    assert h.level_labels(1) == ("* (1)", "x")
    assert h.level_labels(2) == ("*",)


def test_leaves_are_numeric_if_that_keeps_nodes_together() -> None:
    together = {"10": "high", "2": "low", "11": "high", "1": "low"}
    apart = {"10": "x", "2": "y", "1": "x"}
    assert Hierarchy.levels(together).leaves == ("1", "2", "10", "11")
    assert Hierarchy.levels(apart).leaves == ("10", "1", "2")
    assert numbers_of(Hierarchy.levels(together)) == [1, 2, 10, 11]
    assert Hierarchy.tree([["a", "1"]]).numbers is None


def test_levels_that_repeat_are_kept_and_a_root_is_added() -> None:
    h = Hierarchy.levels({"a": ["x", "x"], "b": ["y", "y"]})
    assert h.n_levels == 4 and h.level_labels(3) == ("*",)


def test_intervals_of_whole_numbers() -> None:
    h = Hierarchy.intervals(17, 90, widths=[5, 10, 20]).bind(pd.Series([20, 90, 17]), column="age")
    assert h.leaves == tuple(str(v) for v in range(17, 91)) and h.n_levels == 5
    for width, level in ((5, 1), (10, 2), (20, 3)):
        assert h.level_blocks[level].tolist() == [v // width - 17 // width for v in range(17, 91)]
    assert h.level_labels(1)[:2] == ("17–19", "20–24")
    assert h.level_labels(3) == ("17–19", "20–39", "40–59", "60–79", "80–90")
    assert (
        Hierarchy.intervals(17, 90, widths=[5], origin=17).bind([20]).level_labels(1)[0] == "17–21"
    )


def test_intervals_of_fractions_take_the_values_that_occur() -> None:
    h = Hierarchy.intervals(0, 1, widths=[0.1, 0.5]).bind([0.3, 0.25, 1.0, 0.3])
    assert h.leaves == ("0.25", "0.3", "1")
    assert h.level_labels(1) == ("[0.2, 0.3)", "[0.3, 0.4)", "[1, 1]")
    assert h.level_labels(2) == ("[0, 0.5)", "[1, 1]")


def test_intervals_by_edges() -> None:
    h = Hierarchy.intervals(0, 9, edges=[[0, 3, 5, 9], [5]]).bind([1])
    assert h.level_labels(1) == ("0–2", "3–4", "5–9")
    assert h.level_labels(2) == ("0–4", "5–9")


def test_open_ends_have_their_own_leaves() -> None:
    h = Hierarchy.intervals(18, 20, widths=[2], open_ends=True).bind([3, 19, 99, 100])
    assert h.leaves == ("<18", "18", "19", "20", ">20")
    assert h.encode([3, 99, 100, 18]).tolist() == [0, 4, 4, 1]
    assert numbers_of(h) == [18, 18, 19, 20, 20]
    assert h.level_labels(1) == ("<18", "18–19", "20–20", ">20")
    again = Hierarchy.from_json(h.to_json())
    assert again.encode([3, 99]).tolist() == [0, 4]


def test_masking_zip_codes_from_both_sides() -> None:
    right = Hierarchy.masking().bind(["14260", "14221", "90210"])
    assert right.rows()[0] == ["14221", "1422*", "142**", "14***", "1****", "*"]
    left = Hierarchy.masking([2, 4], symbol="#", side="left").bind(["1234", "5634"])
    assert left.rows() == [["1234", "##34", "*"], ["5634", "##34", "*"]]
    uneven = Hierarchy.masking().bind(["1", "12", "123"])
    assert [row[1:3] for row in uneven.rows()] == [["* (1)", "* (1)"], ["1*", "**"], ["12*", "1**"]]


@pytest.mark.parametrize(
    "values",
    [
        ["1987-03-05", "1987-03-07", "1991-01-01"],
        [dt.date(1987, 3, 5), dt.date(1987, 3, 7), dt.date(1991, 1, 1)],
        pd.to_datetime(["1987-03-05", "1987-03-07", "1991-01-01"]),
    ],
)
def test_masking_dates_hides_day_then_month_then_digits_of_the_year(values: Any) -> None:
    h = Hierarchy.masking().bind(pd.Series(values))
    assert h.rows()[0] == [
        "1987-03-05",
        "1987-03-**",
        "1987-**-**",
        "198*-**-**",
        "19**-**-**",
        "*",
    ]


def test_masking_hides_the_time_first() -> None:
    h = Hierarchy.masking().bind(
        pd.Series(pd.to_datetime(["1987-03-05 10:00", "1987-03-05 11:00"]))
    )
    assert h.rows()[0][:3] == ["1987-03-05T10:00:00", "1987-03-05", "1987-03-**"]


def test_ordered_sorts_numbers_as_numbers_and_keeps_a_given_order() -> None:
    assert Hierarchy.ordered().bind([10, 9, 100]).leaves == ("9", "10", "100")
    h = Hierarchy.ordered(["low", "mid", "high"])
    assert h.label(0, 2) == "low–mid" and not h.constrained and h.n_levels == 2
    assert Hierarchy.ordered(["b", "a"], labels="set").with_missing().label(0, 2) == "{b, a}"
    kind = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    assert Hierarchy.ordered().bind(pd.Series(["high", "low"], dtype=kind)).leaves == (
        "low",
        "high",
    )


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["a–b", "c", "a", "b–c"], "range"),
        (["a, b", "c", "a", "b, c"], "set"),
        (["90 or missing", "90", MISSING], "range"),
    ],
)
def test_values_that_look_like_labels_do_not_confuse_blocks(values: Any, labels: Any) -> None:
    h = Hierarchy.ordered(values, labels=labels)
    found = [h.label(*block) for block in itertools.combinations(range(h.n_leaves + 1), 2)]
    assert len(set(found)) == len(found)


def test_ordered_with_a_step_makes_intervals_the_leaves() -> None:
    h = Hierarchy.ordered(step=5).bind([16, 29, 17])
    assert h.leaves == ("15–19", "20–24", "25–29")
    assert numbers_of(h) == [17, 22, 27]
    assert h.label(0, 2) == "15–24" and h.label(0, 3) == "*"
    assert h.encode([29, 16, 20]).tolist() == [2, 0, 1]
    assert h.observed([16, 29]).encode([29]).tolist() == [1]
    fine = Hierarchy.ordered(step=0.1, start=0).bind([0.05, 0.3, 0.29])
    assert fine.leaves == ("[0, 0.1)", "[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)")
    assert fine.encode([0.3]).tolist() == [3]
    assert Hierarchy.ordered(step=10).bind([-3, 4]).leaves == ("-10–-1", "0–9")
    assert h.bind([15, None]).label(1, 4) == "20–29 or missing"


def test_flat_and_deferred_say_that_they_wait() -> None:
    h = Hierarchy.flat()
    assert not h.is_bound and h == Hierarchy.flat() and "Flat" in repr(h)
    for use in (
        lambda: h.leaves,
        lambda: h.n_levels,
        lambda: h.encode(["a"]),
        lambda: h.label(0, 1),
    ):
        with pytest.raises(HierarchyError, match="bind"):
            use()
    assert pickle.loads(pickle.dumps(Hierarchy.masking([1]))) == Hierarchy.masking([1])  # noqa: S301
    assert h.bind(["b", "a", "b"]).leaves == ("a", "b")
    assert Hierarchy.flat(["x"]).n_levels == 2


@pytest.mark.parametrize(
    ("value", "spelling"),
    [
        (39, "39"),
        (39.0, "39"),
        (np.float32(0.1), "0.1"),
        (-0.0, "0"),
        (1e300, "1e+300"),
        (Decimal("2.50"), "2.5"),
        (True, "True"),
        (np.bool_(False), "False"),
        (" a ", " a "),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (pd.Timestamp("2020-01-02"), "2020-01-02"),
        (np.datetime64("2020-01-02T03:00"), "2020-01-02T03:00:00"),
        (None, MISSING),
        (float("nan"), MISSING),
        (pd.NA, MISSING),
        (pd.NaT, MISSING),
    ],
)
def test_canonical(value: object, spelling: str) -> None:
    assert canonical(value) == spelling


@pytest.mark.parametrize(
    ("values", "leaves"),
    [
        (pd.Series([3, 1, 2]), ("1", "2", "3")),
        (pd.Series([3.0, None, 1.5]), ("1.5", "3", MISSING)),
        (pd.Series(["b", None, "a"]), ("a", "b", MISSING)),
        (pd.Series(["b", "a", None], dtype="string"), ("a", "b", MISSING)),
        (pd.Series([1, None, 2], dtype="Int64"), ("1", "2", MISSING)),
        (pd.Series([True, None, False], dtype="boolean"), ("False", "True", MISSING)),
        (pd.Series([True, False]), ("False", "True")),
        (pd.Series([True, None], dtype=object), ("True", MISSING)),
        (pd.Series(["b", None, "a"], dtype="category"), ("a", "b", MISSING)),
        (pd.Series([2, 10, 2], dtype="category"), ("2", "10")),
        (pd.Series([dt.date(2021, 1, 1), None]), ("2021-01-01", MISSING)),
        (pd.to_datetime(pd.Series(["2021-01-01", None])), ("2021-01-01", MISSING)),
        (pd.cut(pd.Series([1, 7, 12]), [0, 5, 10, 15]), ("(0, 5]", "(5, 10]", "(10, 15]")),
        (pd.Series([1, 2.5, None], dtype=object), ("1", "2.5", MISSING)),
        (pd.Series([None, None], dtype=object), (MISSING,)),
        (pd.Series([1.5, 2], dtype="float64[pyarrow]"), ("1.5", "2")),
        (pd.Series([0.1, 2], dtype="float32"), ("0.1", "2")),
    ],
)
def test_columns_of_every_type(values: Any, leaves: Any) -> None:
    h = Hierarchy.flat().bind(values, column="c")
    assert h.leaves == leaves
    spelled = [MISSING if pd.isna(v) else canonical(v) for v in np.asarray(values)]
    assert [h.leaves[code] for code in h.encode(values)] == spelled


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=1))
def test_encode_equals_a_dictionary_for_any_column_type(values: Any) -> None:
    h = Hierarchy.ordered().bind(pd.Series(values, dtype="Int64"), column="c")
    expected = [h.leaves.index(canonical(v)) for v in values]
    for dtype in ("Int64", "float64", "object", "category"):
        assert h.encode(pd.Series(values, dtype=dtype)).tolist() == expected


def test_a_concrete_hierarchy_binds_to_itself_or_gains_the_missing_leaf() -> None:
    h = Hierarchy.tree([["a", "b"], "c"])
    assert h.bind(["a", "c"]) is h
    assert h.bind(["a", None]).rows()[-1] == [MISSING, MISSING, "*"]
    assert Hierarchy.tree("only").bind(["only", None]).n_levels == 2
    twice = Hierarchy.levels({"a": ["*", "*"], "b": ["*", "*"]}).with_missing()
    assert twice.level_labels(1) == ("*",)
