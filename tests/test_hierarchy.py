"""Hierarchies: structure against slow versions, builders, files, columns of any type, bad input."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import itertools
import json
import pickle
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmoo.canonical import canonical, distinct
from privmoo.errors import HierarchyError, TableError
from privmoo.hierarchy import MISSING, Hierarchy

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ARX = sorted(DATA.glob("*/hierarchies/*.csv.gz")) + sorted(DATA.glob("adult_hierarchies_full/*.gz"))

# Nasty on purpose: separators, quotes, line ends, the labels the builders make themselves.
texts = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),
    st.sampled_from(
        ["*", "a", "b", "a–b", "{a, b}", "1", "2", "10", "1.5", MISSING, "* (1)", "Other"]
    ),
)
names = texts.filter(bool)


@st.composite
def specs(draw, min_leaves=1):
    """A random nested specification and its leaves in order."""
    leaves = draw(st.lists(texts, min_size=min_leaves, max_size=9, unique=True))

    def nest(part, depth):
        if len(part) == 1 and draw(st.booleans()):
            return part[0]
        if depth == 0 or len(part) < 2:
            return list(part)
        inner = draw(st.sets(st.integers(1, len(part) - 1), max_size=3))
        cuts = [0, *sorted(inner), len(part)]
        pieces = [nest(part[a:b], depth - 1) for a, b in itertools.pairwise(cuts)]
        if draw(st.booleans()):
            return [
                {draw(names): piece} if isinstance(piece, list) and draw(st.booleans()) else piece
                for piece in pieces
            ]
        return pieces

    spec = nest(leaves, draw(st.integers(0, 4)))
    return spec, leaves


trees = specs().map(lambda found: Hierarchy.tree(found[0]))
orders = st.builds(
    lambda values, labels: Hierarchy.ordered(values, labels=labels),
    st.lists(texts, min_size=1, max_size=8, unique=True),
    st.sampled_from(["range", "set"]),
)
stepped = st.builds(
    lambda values, step: Hierarchy.ordered(step=step).bind(values),
    st.lists(st.integers(-30, 30), min_size=1, max_size=8),
    st.sampled_from([1, 5, 0.5, 2.5, 7]),
)
hierarchies = st.one_of(trees, orders, stepped)


def all_blocks(h):
    return list(itertools.combinations(range(h.n_leaves + 1), 2))


def blocks_of(bits):
    inner = [i + 1 for i, bit in enumerate(bits) if bit]
    return list(itertools.pairwise([0, *inner, len(bits) + 1]))


def obvious_nodes(h):
    """Every set of leaves that some level puts together."""
    found = set()
    for row in h.level_blocks.tolist():
        for block in set(row):
            members = [i for i, b in enumerate(row) if b == block]
            assert members == list(range(members[0], members[-1] + 1))
            found.add((members[0], members[-1] + 1))
    return found


def has_label(h, block):
    return not h.constrained or block in obvious_nodes(h)


# Structure ----------------------------------------------------------------------------------------


@given(hierarchies)
def test_levels_are_nested_ranges_from_the_leaves_to_one_root(h):
    blocks = h.level_blocks
    assert blocks.dtype == np.int32 and not blocks.flags.writeable
    assert blocks.shape == (h.n_levels, h.n_leaves) and h.height == h.n_levels - 1
    assert blocks[0].tolist() == list(range(h.n_leaves))
    assert not blocks[-1].any()
    for row, above in itertools.pairwise(blocks.tolist()):
        assert row[0] == 0 and all(b - a in (0, 1) for a, b in itertools.pairwise(row))
        for i, j in itertools.combinations(range(h.n_leaves), 2):
            assert row[i] != row[j] or above[i] == above[j]


@given(hierarchies)
def test_nodes_are_the_distinct_blocks_and_know_their_parent(h):
    nodes = h.nodes
    places = list(zip(nodes.start.tolist(), nodes.stop.tolist(), strict=True))
    assert sorted(places) == sorted(obvious_nodes(h))
    for i, (start, stop) in enumerate(places):
        first = next(
            level
            for level, row in enumerate(h.level_blocks.tolist())
            if [j for j, b in enumerate(row) if b == row[start]] == list(range(start, stop))
        )
        assert nodes.level[i] == first
        above = [
            (b - a, j)
            for j, (a, b) in enumerate(places)
            if a <= start and stop <= b and (a, b) != (start, stop)
        ]
        assert nodes.parent[i] == (min(above)[1] if above else -1)


@given(hierarchies, st.data())
def test_a_cut_is_valid_exactly_if_every_block_is_a_node(h, data):
    bits = data.draw(st.lists(st.booleans(), min_size=h.n_leaves - 1, max_size=h.n_leaves - 1))
    expected = not h.constrained or set(blocks_of(bits)) <= obvious_nodes(h)
    assert h.is_valid_cut(bits) is expected
    assert h.is_valid_cut(np.array(bits, dtype=np.uint8)) is expected


@given(hierarchies)
def test_the_cut_of_every_level_is_valid_and_gives_its_blocks(h):
    for level in range(h.n_levels):
        bits = h.cut_of_level(level)
        assert h.is_valid_cut(bits)
        assert np.concatenate(([0], np.cumsum(bits))).tolist() == h.level_blocks[level].tolist()


@given(hierarchies)
def test_labels_of_different_blocks_differ(h):
    labels = [h.label(*block) for block in all_blocks(h) if has_label(h, block)]
    assert len(set(labels)) == len(labels)


@given(hierarchies)
def test_a_label_of_a_level_stands_for_one_set_of_leaves(h):
    meaning = {leaf: {i} for i, leaf in enumerate(h.leaves)}
    for level in range(h.n_levels):
        row = h.level_blocks[level].tolist()
        for block, name in enumerate(h.level_labels(level)):
            leaves = {i for i, b in enumerate(row) if b == block}
            assert meaning.setdefault(name, leaves) == leaves
            assert h.leaves_under(name) == tuple(h.leaves[i] for i in sorted(leaves))


@given(hierarchies)
def test_level_of_is_the_lowest_level_with_that_node(h):
    for start, stop in all_blocks(h):
        if not h.constrained:
            assert h.level_of(start, stop) == (0 if stop - start == 1 else h.height)
        elif (start, stop) in obvious_nodes(h):
            level = h.level_of(start, stop)
            rows = h.level_blocks.tolist()
            together = [r.count(r[start]) == stop - start and r[start] == r[stop - 1] for r in rows]
            assert together.index(True) == level
        else:
            with pytest.raises(HierarchyError, match="no node"):
                h.level_of(start, stop)
            with pytest.raises(HierarchyError, match="no node"):
                h.label(start, stop)


@given(hierarchies)
def test_json_and_pickle_give_the_same_hierarchy_back(h):
    again = Hierarchy.from_json(json.loads(json.dumps(h.to_json())))
    for other in (again, pickle.loads(pickle.dumps(h))):  # noqa: S301
        assert other == h and hash(other) == hash(h) and other.fingerprint == h.fingerprint
        assert np.array_equal(other.level_blocks, h.level_blocks)
        for block in all_blocks(h):
            if has_label(h, block):
                assert other.label(*block) == h.label(*block)


@given(trees, st.sampled_from([";", ","]))
def test_csv_round_trip(h, delimiter):
    file = io.StringIO(newline="")
    h.to_csv(file, delimiter=delimiter)
    again = Hierarchy.read_csv(io.BytesIO(file.getvalue().encode()))
    # numbers may be put into numeric order, everything else stays
    assert sorted(again.leaves) == sorted(h.leaves)
    assert again.n_levels == h.n_levels
    assert sorted(again.rows()) == sorted(h.rows())


@given(trees, st.randoms())
def test_levels_from_a_frame_or_a_mapping_in_any_order_is_the_same_tree(h, random):
    rows = h.rows()
    random.shuffle(rows)
    for again in (
        Hierarchy.levels(pd.DataFrame(rows)),
        Hierarchy.levels({r[0]: r[1:] for r in rows}),
    ):
        assert sorted(again.rows()) == sorted(rows)


@given(specs(min_leaves=2), st.data())
def test_observed_keeps_the_tree_over_the_values_that_occur(found, data):
    h = Hierarchy.tree(found[0])
    seen = data.draw(st.lists(st.sampled_from(h.leaves), min_size=1))
    pruned = h.observed(seen)
    assert pruned.leaves == tuple(leaf for leaf in h.leaves if leaf in seen)
    assert pruned.n_levels == h.n_levels
    full = {row[0]: row for row in h.rows()}
    for row in pruned.rows():
        assert row == full[row[0]]


@given(st.one_of(trees, orders), st.data())
def test_encode_gives_each_row_its_leaf(h, data):
    rows = data.draw(st.lists(st.sampled_from(h.leaves), min_size=1))
    assert [h.leaves[code] for code in h.encode(rows)] == rows


@given(st.lists(st.integers(-300, 300), min_size=1), st.sampled_from([1, 0.1, 2.5, 7]))
def test_an_interval_holds_its_numbers(tenths, step):
    values = [v / 10 for v in tenths]
    h = Hierarchy.ordered(step=step).bind(values)
    low, high = np.array(h.to_json()["bounds"])[:, h.encode(values)]
    assert ((low <= values) & (values < high)).all()
    assert [h.code_of(v) for v in values] == h.encode(values).tolist()
    assert h.code_of(1e6) is None


@given(trees)
def test_missing_joins_under_the_root_and_changes_nothing_else(h):
    both = h.with_missing()
    assert MISSING in both.leaves
    if MISSING in h.leaves:
        assert both is h
        return
    assert both.leaves == (*h.leaves, MISSING)
    assert np.array_equal(both.level_blocks[: h.n_levels, :-1], h.level_blocks)
    assert both.encode([None]).tolist() == [h.n_leaves]


# Builders -----------------------------------------------------------------------------------------


def test_tree_of_uneven_depth_keeps_a_shallow_leaf_below_its_parent():
    h = Hierarchy.tree({"gov": ["federal", {"near": ["local", "state"]}], "none": None})
    assert h.rows() == [
        ["federal", "federal", "gov", "*"],
        ["local", "near", "gov", "*"],
        ["state", "near", "gov", "*"],
        ["none", "none", "none", "*"],
    ]


def test_tree_names_unnamed_lists_by_their_leaves_and_takes_a_root():
    h = Hierarchy.tree([["a", "b"], "c"], root="any")
    assert (h.label(0, 2), h.label(0, 3)) == ("{a, b}", "any")
    assert Hierarchy.tree({"any": ["a", "b"]}, root="any").n_levels == 2


def test_same_label_under_two_parents_is_told_apart():
    h = Hierarchy.tree({"north": {"Other": ["a", "b"]}, "south": {"Other": ["c", "d"]}})
    assert h.level_labels(1) == ("Other (a–b)", "Other (c–d)")


def test_a_label_made_different_never_tells_the_only_value_of_a_node():
    h = Hierarchy.levels({"rare": ["*", "*"], "b": ["x", "*"], "c": ["x", "*"]})
    assert h.level_labels(1) == ("* (1)", "x")
    assert h.level_labels(2) == ("*",)


def test_leaves_are_numeric_if_that_keeps_nodes_together():
    together = {"10": "high", "2": "low", "11": "high", "1": "low"}
    apart = {"10": "x", "2": "y", "1": "x"}
    assert Hierarchy.levels(together).leaves == ("1", "2", "10", "11")
    assert Hierarchy.levels(apart).leaves == ("10", "1", "2")
    assert Hierarchy.levels(together).numbers.tolist() == [1, 2, 10, 11]
    assert Hierarchy.tree([["a", "1"]]).numbers is None


def test_levels_that_repeat_are_kept_and_a_root_is_added():
    h = Hierarchy.levels({"a": ["x", "x"], "b": ["y", "y"]})
    assert h.n_levels == 4 and h.level_labels(3) == ("*",)


def test_intervals_of_whole_numbers():
    h = Hierarchy.intervals(17, 90, widths=[5, 10, 20]).bind(pd.Series([20, 90, 17]), column="age")
    assert h.leaves == tuple(str(v) for v in range(17, 91)) and h.n_levels == 5
    for width, level in ((5, 1), (10, 2), (20, 3)):
        assert h.level_blocks[level].tolist() == [v // width - 17 // width for v in range(17, 91)]
    assert h.level_labels(1)[:2] == ("17–19", "20–24")
    assert h.level_labels(3) == ("17–19", "20–39", "40–59", "60–79", "80–90")
    assert (
        Hierarchy.intervals(17, 90, widths=[5], origin=17).bind([20]).level_labels(1)[0] == "17–21"
    )


def test_intervals_of_fractions_take_the_values_that_occur():
    h = Hierarchy.intervals(0, 1, widths=[0.1, 0.5]).bind([0.3, 0.25, 1.0, 0.3])
    assert h.leaves == ("0.25", "0.3", "1")
    assert h.level_labels(1) == ("[0.2, 0.3)", "[0.3, 0.4)", "[1, 1]")
    assert h.level_labels(2) == ("[0, 0.5)", "[1, 1]")


def test_intervals_by_edges():
    h = Hierarchy.intervals(0, 9, edges=[[0, 3, 5, 9], [5]]).bind([1])
    assert h.level_labels(1) == ("0–2", "3–4", "5–9")
    assert h.level_labels(2) == ("0–4", "5–9")


def test_open_ends_have_their_own_leaves():
    h = Hierarchy.intervals(18, 20, widths=[2], open_ends=True).bind([3, 19, 99, 100])
    assert h.leaves == ("<18", "18", "19", "20", ">20")
    assert h.encode([3, 99, 100, 18]).tolist() == [0, 4, 4, 1]
    assert h.numbers.tolist() == [18, 18, 19, 20, 20]
    assert h.level_labels(1) == ("<18", "18–19", "20–20", ">20")
    again = Hierarchy.from_json(h.to_json())
    assert again.encode([3, 99]).tolist() == [0, 4]


def test_masking_zip_codes_from_both_sides():
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
def test_masking_dates_hides_day_then_month_then_digits_of_the_year(values):
    h = Hierarchy.masking().bind(pd.Series(values))
    assert h.rows()[0] == [
        "1987-03-05",
        "1987-03-**",
        "1987-**-**",
        "198*-**-**",
        "19**-**-**",
        "*",
    ]


def test_masking_hides_the_time_first():
    h = Hierarchy.masking().bind(
        pd.Series(pd.to_datetime(["1987-03-05 10:00", "1987-03-05 11:00"]))
    )
    assert h.rows()[0][:3] == ["1987-03-05T10:00:00", "1987-03-05", "1987-03-**"]


def test_ordered_sorts_numbers_as_numbers_and_keeps_a_given_order():
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
def test_values_that_look_like_labels_do_not_confuse_blocks(values, labels):
    h = Hierarchy.ordered(values, labels=labels)
    found = [h.label(*block) for block in all_blocks(h)]
    assert len(set(found)) == len(found)


def test_ordered_with_a_step_makes_intervals_the_leaves():
    h = Hierarchy.ordered(step=5).bind([16, 29, 17])
    assert h.leaves == ("15–19", "20–24", "25–29")
    assert h.numbers.tolist() == [17, 22, 27]
    assert h.label(0, 2) == "15–24" and h.label(0, 3) == "*"
    assert h.encode([29, 16, 20]).tolist() == [2, 0, 1]
    assert h.observed([16, 29]).encode([29]).tolist() == [1]
    fine = Hierarchy.ordered(step=0.1, start=0).bind([0.05, 0.3, 0.29])
    assert fine.leaves == ("[0, 0.1)", "[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)")
    assert fine.encode([0.3]).tolist() == [3]
    assert Hierarchy.ordered(step=10).bind([-3, 4]).leaves == ("-10–-1", "0–9")
    assert h.bind([15, None]).label(1, 4) == "20–29 or missing"


def test_flat_and_deferred_say_that_they_wait():
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


# Data ---------------------------------------------------------------------------------------------


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
def test_canonical(value, spelling):
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
def test_columns_of_every_type(values, leaves):
    h = Hierarchy.flat().bind(values, column="c")
    assert h.leaves == leaves
    spelled = [MISSING if pd.isna(v) else canonical(v) for v in np.asarray(values)]
    assert [h.leaves[code] for code in h.encode(values)] == spelled


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=1))
def test_encode_equals_a_dictionary_for_any_column_type(values):
    h = Hierarchy.ordered().bind(pd.Series(values, dtype="Int64"), column="c")
    expected = [h.leaves.index(canonical(v)) for v in values]
    for dtype in ("Int64", "float64", "object", "category"):
        assert h.encode(pd.Series(values, dtype=dtype)).tolist() == expected


def test_a_concrete_hierarchy_binds_to_itself_or_gains_the_missing_leaf():
    h = Hierarchy.tree([["a", "b"], "c"])
    assert h.bind(["a", "c"]) is h
    assert h.bind(["a", None]).rows()[-1] == [MISSING, MISSING, "*"]
    assert Hierarchy.tree("only").bind(["only", None]).n_levels == 2
    twice = Hierarchy.levels({"a": ["*", "*"], "b": ["*", "*"]}).with_missing()
    assert twice.level_labels(1) == ("*",)


# Files --------------------------------------------------------------------------------------------


@pytest.mark.skipif(not ARX, reason="the shared data are not here")
@pytest.mark.parametrize("path", ARX, ids=lambda path: path.name)
def test_arx_files_mean_what_they_say(path):
    h = Hierarchy.read_csv(path)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    rows = list(csv.reader(io.StringIO(text), delimiter=";" if ";" in text else ","))
    assert sorted(h.rows()) == sorted(rows)
    assert h.source == path.name and h.constrained and h.label(0, h.n_leaves) == "*"


@pytest.mark.skipif(not (DATA / "arx_adult").exists(), reason="the shared data are not here")
def test_arx_hierarchies_cover_the_arx_table():
    table = pd.read_csv(DATA / "arx_adult" / "adult.csv.gz", sep=";")
    for name in table.columns:
        path = DATA / "arx_adult" / "hierarchies" / f"adult_hierarchy_{name}.csv.gz"
        h = Hierarchy.read_csv(path).bind(table[name])
        codes = h.encode(table[name])
        assert (np.array(h.leaves)[codes] == table[name].astype(str).to_numpy()).all()


@pytest.mark.parametrize("name", ["h.csv", "h.csv.gz"])
def test_files_on_disk(tmp_path, name):
    h = Hierarchy.tree({"x; y": ['say "a"', "b\nc"], "z, w": ["d", "é"]})
    h.to_csv(tmp_path / name)
    again = Hierarchy.read_csv(tmp_path / name)
    assert again == h and again.source == name
    assert (name.endswith("gz")) == (tmp_path / name).read_bytes().startswith(b"\x1f\x8b")


def test_read_csv_takes_bom_duplicates_blank_lines_crlf_and_one_column():
    text = '\ufeffa;"x";*\r\na;x;*\r\n\r\nb;y;*\r\n'
    assert Hierarchy.read_csv(io.BytesIO(text.encode())).rows() == [
        ["a", "x", "*"],
        ["b", "y", "*"],
    ]
    assert Hierarchy.read_csv(io.StringIO("a\nb\n")).rows() == [["a", "*"], ["b", "*"]]


# Bad input ----------------------------------------------------------------------------------------

BAD_FILES = {
    b"": "has no values",
    b"a;x;*\nb;;*\n": "line 2: 'b' has no parent at level 1",
    b"a;x;*\nb;x\n": "line 2 has 2 levels, but hierarchy 'file', line 1 has 3",
    b"a;x;p;*\nb;x;q;*\n": "line 2: 'x' at level 1 is under 'q', but under 'p' in .* line 1",
    b"a;x;*\na;y;*\n": "line 2: 'a' has other parents than in .* line 1",
    b"a;x\n\xff;x\n": "line 2: the text is not UTF-8",
    b"a;x\nb\0;x\n": "line 2: there is a NUL byte",
    b'"a;x\n': "no CSV file",
    b";" * 200: "more than 100 levels",
    b'"' + b"x" * 200_000 + b'";*\n': "no CSV file",
}


@pytest.mark.parametrize("content", BAD_FILES)
def test_bad_files_are_named_with_their_line(content):
    with pytest.raises(HierarchyError, match=BAD_FILES[content]) as caught:
        Hierarchy.read_csv(io.BytesIO(content))
    assert "\n" not in str(caught.value)


@settings(max_examples=300)
@given(st.one_of(st.binary(max_size=60), st.text('ab;,"\n\r*', max_size=40).map(str.encode)))
def test_any_bytes_give_a_hierarchy_or_one_sentence(content):
    try:
        h = Hierarchy.read_csv(io.BytesIO(content))
    except HierarchyError as error:
        message = str(error)
    else:
        message = f"hierarchy 'file' of {h.n_leaves} leaves"
    assert message.startswith("hierarchy 'file'") and "\n" not in message


def test_unreadable_files(tmp_path):
    with pytest.raises(HierarchyError, match=r"'none.csv' cannot be read"):
        Hierarchy.read_csv(tmp_path / "none.csv")
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"a;x\n" * 100)[:-9])
    with pytest.raises(HierarchyError, match=r"'broken.gz' cannot be read"):
        Hierarchy.read_csv(tmp_path / "broken.gz")
    with pytest.raises(HierarchyError, match="larger than"):
        Hierarchy.read_csv(io.BytesIO(b"\n" * (64 * 1024 * 1024 + 1)))
    with pytest.raises(HierarchyError, match="NUL"):
        Hierarchy.flat(["a\0b"]).to_csv(tmp_path / "never.csv")
    assert not (tmp_path / "never.csv").exists()


cycle: list[object] = []
cycle.append(cycle)
RED, BIG = float("nan"), float("inf")

BAD_CALLS = [
    (lambda: Hierarchy.tree([]), "empty"),
    (lambda: Hierarchy.tree({"x": []}), "node 'x' of the tree has no values"),
    (lambda: Hierarchy.tree(["a", ["a"]]), "'a' is twice"),
    (lambda: Hierarchy.tree({"": ["a"]}), "empty label"),
    (lambda: Hierarchy.tree(cycle), "deeper than 100"),
    (lambda: Hierarchy.tree([BIG]), "infinite"),
    (lambda: Hierarchy.levels({}), "no values"),
    (lambda: Hierarchy.levels(3), "DataFrame or a mapping"),
    (lambda: Hierarchy.levels({"a": ["x"], "b": ["x", "y"]}), "'b' of the hierarchy has 3 levels"),
    (lambda: Hierarchy.levels(pd.DataFrame([["a", None]])), "row 0 .*'a' has no parent"),
    (lambda: Hierarchy.flat([]), "at least one"),
    (lambda: Hierarchy.ordered([1, 1.0]), "'1' is twice"),
    (lambda: Hierarchy.ordered(step=0), "greater than 0"),
    (lambda: Hierarchy.ordered(step=BIG), "finite"),
    (lambda: Hierarchy.ordered(start=1), "start needs a step"),
    (lambda: Hierarchy.ordered(labels="dots"), "'range' or 'set'"),
    (lambda: Hierarchy.intervals(9, 1, widths=[2]), "low <= high"),
    (lambda: Hierarchy.intervals(1, BIG, widths=[2]), "finite"),
    (lambda: Hierarchy.intervals(1, RED, widths=[2]), "finite"),
    (lambda: Hierarchy.intervals("a", 9, widths=[2]), "a number was expected"),
    (lambda: Hierarchy.intervals(1, 9), "either widths or edges"),
    (lambda: Hierarchy.intervals(1, 9, widths=[]), "greater than 0"),
    (lambda: Hierarchy.intervals(1, 9, widths=[5, 12]), "12 is no multiple of 5"),
    (lambda: Hierarchy.intervals(1, 9, widths=[10, 5]), "5 is no multiple of 10"),
    (lambda: Hierarchy.intervals(1, 9, edges=[[3], [4]]), "4 of level 2 is no edge of level 1"),
    (lambda: Hierarchy.intervals(1, 9, edges=[[5, 3]]), "must ascend"),
    (lambda: Hierarchy.intervals(1, 9, edges=[[12]]), "between"),
    (lambda: Hierarchy.masking([2, 1]), "must ascend"),
    (lambda: Hierarchy.masking(symbol="xx"), "one character"),
    (lambda: Hierarchy.masking(side="top"), "'left' or 'right'"),
    (lambda: Hierarchy.masking().bind(["x" * 101]), "give masking its steps"),
    (lambda: Hierarchy.flat(["a"]).cut_of_level(2), "levels 0 to 1"),
    (lambda: Hierarchy.flat(["a"]).label(0, 2), "start < stop"),
    (lambda: Hierarchy.flat(["a", "b"]).is_valid_cut([1, 1]), "has 1 bits"),
    (lambda: Hierarchy.flat(["a"]).leaves_under("q"), "no node 'q'"),
    (lambda: Hierarchy.flat(["a"]).observed([]), "at least one"),
    (lambda: Hierarchy.flat(["a"]).to_csv(io.StringIO(), delimiter="|"), "delimiter"),
    (lambda: Hierarchy.flat().bind([]), "is empty"),
]


@pytest.mark.parametrize(("call", "message"), BAD_CALLS, ids=[message for _, message in BAD_CALLS])
def test_bad_calls(call, message):
    with pytest.raises(HierarchyError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


SECRET = "Waldo"  # noqa: S105
BAD_DATA = [
    (
        Hierarchy.flat(["a", "b"]),
        ["a", SECRET, SECRET],
        r"column 'c', row 1 .*1 distinct values in 2 rows",
    ),
    (Hierarchy.flat(["a"]), ["a", 7], r"mixes types: row 1 .* is a number, row 0 a text"),
    (Hierarchy.flat(), [1, True], r"mixes types: row 1 .* is a bool"),
    (Hierarchy.flat(), [None, 1, SECRET], r"mixes types: row 2 .* is a text, row 1 a number"),
    (
        Hierarchy.flat(),
        pd.Categorical([1, SECRET, 1, SECRET]),
        r"mixes types: row 1 .* is a text, row 0 a number",
    ),
    (Hierarchy.flat(), [[1], [2]], r"row 0 .*type list"),
    (Hierarchy.flat(), [1.5, float("inf")], r"row 1 .*infinite"),
    (Hierarchy.intervals(1, 9, widths=[3]), [1, 77], r"row 1 .*outside the intervals from 1 to 9"),
    (Hierarchy.intervals(1, 9, widths=[3]), [SECRET], r"holds text values"),
    (Hierarchy.ordered(step=2, start=5), [77, 3], r"row 1 .*below start=5"),
    (Hierarchy.ordered(step=1e-9), [0, 1], r"take a larger step"),
    (Hierarchy.ordered(step=1e-300), [0, 1e300], r"step|too small"),
]


@pytest.mark.parametrize(("hierarchy", "values", "message"), BAD_DATA)
def test_bad_data_are_told_by_column_and_row_never_by_value(hierarchy, values, message):
    with pytest.raises((HierarchyError, TableError), match=message) as caught:
        hierarchy.bind(pd.Series(values), column="c")
    assert SECRET not in str(caught.value) and "77" not in str(caught.value)
    assert "'c'" in str(caught.value) or "step" in str(caught.value)


def test_encode_names_a_missing_value_that_has_no_leaf():
    with pytest.raises(HierarchyError, match=r"column 'c', row 1 .*missing"):
        Hierarchy.flat(["a"]).encode(pd.Series(["a", None], name="c"))


@given(st.data())
def test_damaged_json_is_refused_or_still_a_hierarchy(data):
    plain = Hierarchy.tree([["a", "b"], "c"]).to_json()
    key = data.draw(st.sampled_from(sorted(plain)))
    junk = st.one_of(
        st.none(), st.integers(-2, 5), st.text(max_size=3), st.lists(st.lists(st.integers(-2, 9)))
    )
    plain[key] = data.draw(junk)
    try:
        h = Hierarchy.from_json(plain)
    except HierarchyError:
        return
    assert set(obvious_nodes(h)) and h.label(0, h.n_leaves)


def test_json_without_a_part_is_refused():
    with pytest.raises(HierarchyError, match="no hierarchy written by to_json"):
        Hierarchy.from_json({"leaves": ["a"]})


def test_html_is_escaped():
    h = Hierarchy.tree({"<b>": ["<script>", "&"]})
    shown = h._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "<b>" not in shown
    assert "more leaves" in Hierarchy.ordered(range(30))._repr_html_()
    assert "&lt;" in Hierarchy.masking(symbol="<")._repr_html_()


def test_distinct_counts_used_categories_only():
    found = distinct(pd.Series(["b", None], dtype=pd.CategoricalDtype(["a", "b", "c"])), "c")
    assert found.values == ["b"] and found.codes.tolist() == [0, -1]
