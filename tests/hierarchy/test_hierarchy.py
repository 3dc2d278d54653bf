"""Hierarchies: structure against slow versions, and files."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmoo.errors import HierarchyError
from privmoo.hierarchy import MISSING, Hierarchy
from tests.scenery.paths import SHARED as DATA

Block = tuple[int, int]  # the first leaf, and one after the last
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
def specs(draw: st.DrawFn, min_leaves: int = 1) -> tuple[Any, list[str]]:
    """A random nested specification and its leaves in order."""
    leaves = draw(st.lists(texts, min_size=min_leaves, max_size=9, unique=True))

    def nest(part: list[str], depth: int) -> Any:
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


def all_blocks(h: Hierarchy) -> list[Block]:
    return list(itertools.combinations(range(h.n_leaves + 1), 2))


def blocks_of(bits: Sequence[int]) -> list[Block]:
    inner = [i + 1 for i, bit in enumerate(bits) if bit]
    return list(itertools.pairwise([0, *inner, len(bits) + 1]))


def obvious_nodes(h: Hierarchy) -> set[Block]:
    """Every set of leaves that some level puts together."""
    found = set()
    for row in h.level_blocks.tolist():
        for block in set(row):
            members = [i for i, b in enumerate(row) if b == block]
            assert members == list(range(members[0], members[-1] + 1))
            found.add((members[0], members[-1] + 1))
    return found


def has_label(h: Hierarchy, block: Block) -> bool:
    return not h.constrained or block in obvious_nodes(h)


@given(hierarchies)
def test_levels_are_nested_ranges_from_the_leaves_to_one_root(h: Hierarchy) -> None:
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
def test_nodes_are_the_distinct_blocks_and_know_their_parent(h: Hierarchy) -> None:
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
def test_a_cut_is_valid_exactly_if_every_block_is_a_node(h: Hierarchy, data: st.DataObject) -> None:
    bits = data.draw(st.lists(st.booleans(), min_size=h.n_leaves - 1, max_size=h.n_leaves - 1))
    expected = not h.constrained or set(blocks_of(bits)) <= obvious_nodes(h)
    assert h.is_valid_cut(bits) is expected
    assert h.is_valid_cut(np.array(bits, dtype=np.uint8)) is expected


@given(hierarchies)
def test_the_cut_of_every_level_is_valid_and_gives_its_blocks(h: Hierarchy) -> None:
    for level in range(h.n_levels):
        bits = h.cut_of_level(level)
        assert h.is_valid_cut(bits)
        assert np.concatenate(([0], np.cumsum(bits))).tolist() == h.level_blocks[level].tolist()


@given(hierarchies)
def test_labels_of_different_blocks_differ(h: Hierarchy) -> None:
    labels = [h.label(*block) for block in all_blocks(h) if has_label(h, block)]
    assert len(set(labels)) == len(labels)


@given(hierarchies)
def test_a_label_of_a_level_stands_for_one_set_of_leaves(h: Hierarchy) -> None:
    meaning = {leaf: {i} for i, leaf in enumerate(h.leaves)}
    for level in range(h.n_levels):
        row = h.level_blocks[level].tolist()
        for block, name in enumerate(h.level_labels(level)):
            leaves = {i for i, b in enumerate(row) if b == block}
            assert meaning.setdefault(name, leaves) == leaves
            assert h.leaves_under(name) == tuple(h.leaves[i] for i in sorted(leaves))


@given(hierarchies)
def test_level_of_is_the_lowest_level_with_that_node(h: Hierarchy) -> None:
    for start, stop in all_blocks(h):
        if not h.constrained:
            assert h.level_of(start, stop) == (0 if stop - start == 1 else h.height)
        elif (start, stop) in obvious_nodes(h):
            level = h.level_of(start, stop)
            rows = h.level_blocks.tolist()
            together = [r.count(r[start]) == stop - start and r[start] == r[stop - 1] for r in rows]
            assert together.index(True) == level
        else:
            with pytest.raises(HierarchyError, match="not a node"):
                h.level_of(start, stop)
            with pytest.raises(HierarchyError, match="not a node"):
                h.label(start, stop)


@given(hierarchies)
def test_json_and_pickle_give_the_same_hierarchy_back(h: Hierarchy) -> None:
    again = Hierarchy.from_json(json.loads(json.dumps(h.to_json())))
    for other in (again, pickle.loads(pickle.dumps(h))):  # noqa: S301
        assert other == h and hash(other) == hash(h) and other.fingerprint == h.fingerprint
        assert np.array_equal(other.level_blocks, h.level_blocks)
        for block in all_blocks(h):
            if has_label(h, block):
                assert other.label(*block) == h.label(*block)


@given(trees, st.sampled_from([";", ","]))
def test_csv_round_trip(h: Hierarchy, delimiter: str) -> None:
    file = io.StringIO(newline="")
    h.to_csv(file, delimiter=delimiter)
    again = Hierarchy.read_csv(io.BytesIO(file.getvalue().encode()))
    # numbers may be put into numeric order, everything else stays
    assert sorted(again.leaves) == sorted(h.leaves)
    assert again.n_levels == h.n_levels
    assert sorted(again.rows()) == sorted(h.rows())


@given(trees, st.randoms())
def test_levels_from_a_frame_or_a_mapping_in_any_order_is_the_same_tree(
    h: Hierarchy, random: Random
) -> None:
    rows = h.rows()
    random.shuffle(rows)
    for again in (
        Hierarchy.levels(pd.DataFrame(rows)),
        Hierarchy.levels({r[0]: r[1:] for r in rows}),
    ):
        assert sorted(again.rows()) == sorted(rows)


@given(specs(min_leaves=2), st.data())
def test_observed_keeps_the_tree_over_the_values_that_occur(
    found: tuple[Any, list[str]], data: st.DataObject
) -> None:
    h = Hierarchy.tree(found[0])
    seen = data.draw(st.lists(st.sampled_from(h.leaves), min_size=1))
    pruned = h.observed(seen)
    assert pruned.leaves == tuple(leaf for leaf in h.leaves if leaf in seen)
    assert pruned.n_levels == h.n_levels
    full = {row[0]: row for row in h.rows()}
    for row in pruned.rows():
        assert row == full[row[0]]


@given(st.one_of(trees, orders), st.data())
def test_encode_gives_each_row_its_leaf(h: Hierarchy, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.sampled_from(h.leaves), min_size=1))
    assert [h.leaves[code] for code in h.encode(rows)] == rows


@given(st.lists(st.integers(-300, 300), min_size=1), st.sampled_from([1, 0.1, 2.5, 7]))
def test_an_interval_holds_its_numbers(tenths: list[int], step: float) -> None:
    values = [v / 10 for v in tenths]
    h = Hierarchy.ordered(step=step).bind(values)
    low, high = np.array(h.to_json()["bounds"])[:, h.encode(values)]
    assert ((low <= values) & (values < high)).all()
    assert [h.code_of(v) for v in values] == h.encode(values).tolist()
    assert h.code_of(1e6) is None


@given(trees)
def test_missing_joins_under_the_root_and_changes_nothing_else(h: Hierarchy) -> None:
    both = h.with_missing()
    assert MISSING in both.leaves
    if MISSING in h.leaves:
        assert both is h
        return
    assert both.leaves == (*h.leaves, MISSING)
    assert np.array_equal(both.level_blocks[: h.n_levels, :-1], h.level_blocks)
    assert both.encode([None]).tolist() == [h.n_leaves]


@pytest.mark.skipif(not ARX, reason="the shared data are not here")
@pytest.mark.parametrize("path", ARX, ids=lambda path: path.name)
def test_arx_files_mean_what_they_say(path: Path) -> None:
    h = Hierarchy.read_csv(path)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    rows = list(csv.reader(io.StringIO(text), delimiter=";" if ";" in text else ","))
    assert sorted(h.rows()) == sorted(rows)
    assert h.source == path.name and h.constrained
    assert {h.label(0, h.n_leaves)} == {
        row[-1] for row in rows
    }  # not every file has "*" at the top


@pytest.mark.skipif(not (DATA / "arx_adult").exists(), reason="the shared data are not here")
def test_arx_hierarchies_cover_the_arx_table() -> None:
    table = pd.read_csv(DATA / "arx_adult" / "adult.csv.gz", sep=";")
    for name in table.columns:
        path = DATA / "arx_adult" / "hierarchies" / f"adult_hierarchy_{name}.csv.gz"
        h = Hierarchy.read_csv(path).bind(table[name])
        codes = h.encode(table[name])
        assert (np.array(h.leaves)[codes] == table[name].astype(str).to_numpy()).all()


@pytest.mark.parametrize("name", ["h.csv", "h.csv.gz"])
def test_files_on_disk(tmp_path: Path, name: str) -> None:
    h = Hierarchy.tree({"x; y": ['say "a"', "b\nc"], "z, w": ["d", "é"]})
    h.to_csv(tmp_path / name)
    again = Hierarchy.read_csv(tmp_path / name)
    assert again == h and again.source == name
    assert (name.endswith("gz")) == (tmp_path / name).read_bytes().startswith(b"\x1f\x8b")


def test_read_csv_takes_bom_duplicates_blank_lines_crlf_and_one_column() -> None:
    text = '\ufeffa;"x";*\r\na;x;*\r\n\r\nb;y;*\r\n'
    assert Hierarchy.read_csv(io.BytesIO(text.encode())).rows() == [
        ["a", "x", "*"],
        ["b", "y", "*"],
    ]
    assert Hierarchy.read_csv(io.StringIO("a\nb\n")).rows() == [["a", "*"], ["b", "*"]]
