"""Hierarchies: what is refused, in one sentence each."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmoo.errors import HierarchyError, TableError
from privmoo.hierarchy import Hierarchy
from privmoo.hierarchy.canonical import distinct
from tests.scenery.paths import SHARED as DATA

ARX = sorted(DATA.glob("*/hierarchies/*.csv.gz")) + sorted(DATA.glob("adult_hierarchies_full/*.gz"))


BAD_FILES = {
    b"": "has no values",
    b"a;x;*\nb;;*\n": "line 2: there is no parent at level 1",
    b"a;x;*\nb;x\n": "line 2 has 2 levels, but hierarchy 'file', line 1 has 3",
    b"a;x;p;*\nb;x;q;*\n": "line 2: the label at level 1 has another parent in .* line 1",
    b"a;x;*\na;y;*\n": "line 2: the same value has other parents in .* line 1",
    b"a;x\n\xff;x\n": "line 2: the text is not UTF-8",
    b"a;x\nb\0;x\n": "line 2: there is a NUL byte",
    b'"a;x\n': "not a CSV file",
    b";" * 200: "more than 100 levels",
    b'"' + b"x" * 200_000 + b'";*\n': "not a CSV file",
}


@pytest.mark.parametrize("content", BAD_FILES)
def test_bad_files_are_named_with_their_line(content: bytes) -> None:
    with pytest.raises(HierarchyError, match=BAD_FILES[content]) as caught:
        Hierarchy.read_csv(io.BytesIO(content))
    assert "\n" not in str(caught.value)


@settings(max_examples=300)
@given(st.one_of(st.binary(max_size=60), st.text('ab;,"\n\r*', max_size=40).map(str.encode)))
def test_any_bytes_give_a_hierarchy_or_one_sentence(content: bytes) -> None:
    try:
        h = Hierarchy.read_csv(io.BytesIO(content))
    except HierarchyError as error:
        message = str(error)
    else:
        message = f"hierarchy 'file' of {h.n_leaves} leaves"
    assert message.startswith("hierarchy 'file'") and "\n" not in message


def test_unreadable_files(tmp_path: Path) -> None:
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
    (
        lambda: Hierarchy.levels(pd.DataFrame([["a", None]])),
        "row 0.* there is no parent at level 1",
    ),
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
    (lambda: Hierarchy.intervals(1, 9, widths=[5, 12]), "12 is not a multiple of 5"),
    (lambda: Hierarchy.intervals(1, 9, widths=[10, 5]), "5 is not a multiple of 10"),
    (lambda: Hierarchy.intervals(1, 9, edges=[[3], [4]]), "4 of level 2 is not an edge of level 1"),
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
def test_bad_calls(call: Callable[[], object], message: str) -> None:
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
def test_bad_data_are_told_by_column_and_row_never_by_value(
    hierarchy: Hierarchy, values: Any, message: str
) -> None:
    with pytest.raises((HierarchyError, TableError), match=message) as caught:
        hierarchy.bind(pd.Series(values), column="c")
    assert SECRET not in str(caught.value) and "77" not in str(caught.value)
    assert "'c'" in str(caught.value) or "step" in str(caught.value)


def test_encode_names_a_missing_value_that_has_no_leaf() -> None:
    with pytest.raises(HierarchyError, match=r"column 'c', row 1 .*missing"):
        Hierarchy.flat(["a"]).encode(pd.Series(["a", None], name="c"))


@given(st.data())
def test_damaged_json_is_refused_or_still_a_hierarchy(data: st.DataObject) -> None:
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
    assert len(h.nodes.start) and h.label(0, h.n_leaves)


def test_json_without_a_part_is_refused() -> None:
    with pytest.raises(HierarchyError, match="not a hierarchy written by to_json"):
        Hierarchy.from_json({"leaves": ["a"]})


def test_html_is_escaped() -> None:
    h = Hierarchy.tree({"<b>": ["<script>", "&"]})
    shown = h._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "<b>" not in shown
    assert "more leaves" in Hierarchy.ordered(range(30))._repr_html_()
    assert "&lt;" in Hierarchy.masking(symbol="<")._repr_html_()


def test_distinct_counts_used_categories_only() -> None:
    found = distinct(pd.Series(["b", None], dtype=pd.CategoricalDtype(["a", "b", "c"])), "c")
    assert found.values == ["b"] and found.codes.tolist() == [0, -1]
