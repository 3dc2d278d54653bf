"""QI-groups of the engine against pandas: keys of any width, values, persons, threads."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmoo.data.table import Table
from privmoo.evaluation.engine import Engine
from privmoo.groups import grouper as grouper_module
from privmoo.groups import layout as layout_module
from privmoo.groups.groups import GroupBatch, Grouping
from privmoo.hierarchy import Hierarchy
from privmoo.measures import KAnonymity
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import (
    Budget,
    ExplicitRecords,
    KLBudget,
    NoSuppression,
    Suppression,
)
from privmoo.testing import random_blocks, random_labels
from tests.scenery.groups import expected_members, keys_of, make_table, members
from tests.scenery.optional import need

Rows = dict[tuple[int, ...], Any]


def tables(**options: Any) -> st.SearchStrategy[tuple[Table, np.random.Generator]]:
    def build(seed: int, n: int, m: int) -> tuple[Table, np.random.Generator]:
        rng = np.random.default_rng(seed)
        return make_table(rng, n=n, m=m, **options), rng

    return st.builds(build, st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 5))


def check_groups(found: Grouping, keys: pd.Series[Any]) -> None:
    """Same partition, and sizes and values that belong to it."""
    rows = members(found)
    assert len(set(rows)) == len(rows)
    assert set(rows) == expected_members(keys)
    assert found.records.tolist() == [len(r) for r in rows]
    for name in found.table.sensitive:
        values = found.table.frame[name].astype(str).tolist()
        for own, counts in zip(rows, found.counts(name), strict=True):
            assert counts == Counter(values[row] for row in own)
    firsts = found.batch.firsts[found.batch.starts[0] : found.batch.stops[0]]
    for first, own in zip(firsts, rows, strict=True):
        assert first in found.table.row_tuple[sorted(own)]


def slow_losses(table: Table, blocks: np.ndarray[Any, Any], rows: frozenset[int]) -> float:
    lost = total = 0.0
    start = 0
    row = table.row_tuple[min(rows)]
    for j, qi in enumerate(table.qis):
        own = blocks[start : start + qi.n_leaves]
        held = int((own == own[table.tuples[row, j]]).sum())
        lost += qi.weight * (held - 1) / (qi.n_leaves - 1)
        total += qi.weight
        start += qi.n_leaves
    return lost / total


def after_of(table: Table, candidates: Candidates, **options: Any) -> GroupBatch:
    needs = {"counts", "labels"}
    return Engine(table, needs=needs, threads=1, **options).groups(candidates)[1]


@settings(max_examples=25)
@given(tables())
def test_groups_of_cuts_equal_a_group_by(case: tuple[Table, np.random.Generator]) -> None:
    table, rng = case
    blocks = random_blocks(table, 6, rng)
    batch = after_of(table, Candidates(blocks=blocks))
    for c in range(len(blocks)):
        check_groups(batch[c], keys_of(table, blocks[c]))
        losses = [slow_losses(table, blocks[c], rows) for rows in members(batch[c])]
        assert np.allclose(batch[c].losses, losses)


@settings(max_examples=25)
@given(tables())
def test_groups_of_levels_equal_a_group_by(case: tuple[Table, np.random.Generator]) -> None:
    table, rng = case
    pairs = Hierarchy.levels({v: [v // 2, "*"] for v in range(5)})
    table = Table(
        table.frame, quasi_identifiers=dict.fromkeys(table.qi_names, pairs), sensitive="s"
    )
    blocks = random_blocks(table, 6, rng)
    batch = after_of(table, Candidates(blocks=blocks))
    for c in range(len(blocks)):
        check_groups(batch[c], keys_of(table, blocks[c]))


@settings(max_examples=25)
@given(tables())
def test_groups_of_labels_equal_a_group_by(case: tuple[Table, np.random.Generator]) -> None:
    table, rng = case
    labels = random_labels(table, 6, rng) * 7
    batch = after_of(table, Candidates(labels=labels))
    for c in range(len(labels)):
        check_groups(batch[c], pd.Series(labels[c][table.row_tuple]))


@pytest.mark.parametrize(("m", "width"), [(60, 12), (200, 5), (200, 40)])
def test_wide_keys(m: int, width: int) -> None:
    rng = np.random.default_rng(m)
    table = make_table(rng, n=150, m=m, width=width)
    blocks = random_blocks(table, 8, rng)
    blocks[3:] = np.minimum(blocks[3:], 1)  # fewer and larger groups
    batch = after_of(table, Candidates(blocks=blocks))
    for c in range(len(blocks)):
        check_groups(batch[c], keys_of(table, blocks[c]))


@pytest.mark.parametrize("cells", [1, 2, 37])
@pytest.mark.parametrize("m", [2, 6])
def test_dense_and_hashed_keys_agree(monkeypatch: pytest.MonkeyPatch, cells: int, m: int) -> None:
    rng = np.random.default_rng(cells)
    table = make_table(rng, n=300, m=m)
    blocks = random_blocks(table, 12, rng)
    dense = after_of(table, Candidates(blocks=blocks))
    monkeypatch.setattr(layout_module, "DENSE_CELLS", cells)
    hashed = after_of(table, Candidates(blocks=blocks))
    assert len(layout_module.working_memory(layout_module.lay_out(table)).cells) <= cells
    for c in range(len(blocks)):
        assert set(members(dense[c])) == set(members(hashed[c]))
        check_groups(hashed[c], keys_of(table, blocks[c]))
        assert sorted(dense[c].losses) == sorted(hashed[c].losses)


@pytest.mark.parametrize("cells", [1, 30])
def test_dense_and_sorted_counting_agree(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    rng = np.random.default_rng(cells)
    table = make_table(rng, n=200)
    blocks = random_blocks(table, 12, rng)
    monkeypatch.setattr(grouper_module, "ROW_CELLS", cells)
    batch = after_of(table, Candidates(blocks=blocks))
    for c in range(len(blocks)):
        check_groups(batch[c], keys_of(table, blocks[c]))
    published = rng.random((12, 200)) < 0.5
    chosen = after_of(table, Candidates(blocks=blocks, published=published))
    for c in range(len(blocks)):
        check_published(chosen[c], keys_of(table, blocks[c]), published[c])


def persons_of(keys: pd.Series[Any], who: pd.Series[Any]) -> list[int]:
    """Distinct persons of every group; all rows without a name are one person."""
    return sorted(who.fillna("nobody").groupby(keys).nunique())


@settings(max_examples=25)
@given(tables(subject="who"))
def test_persons_equal_nunique(case: tuple[Table, np.random.Generator]) -> None:
    table, rng = case
    blocks = random_blocks(table, 5, rng)
    labels = random_labels(table, 5, rng)
    batch = after_of(table, Candidates(blocks=blocks))
    clusters = after_of(table, Candidates(labels=labels))
    who = table.frame["who"]
    assert table.n_persons == who.nunique(dropna=False)
    for c in range(5):
        keys = keys_of(table, blocks[c])
        assert sorted(batch[c].sizes) == persons_of(keys, who)
        check_groups(batch[c], keys)
        assert KAnonymity()(batch[c]) == persons_of(keys, who)[0]
        of_cluster = pd.Series(labels[c][table.row_tuple])
        assert sorted(clusters[c].sizes) == persons_of(of_cluster, who)


def check_published(found: Grouping, keys: pd.Series[Any], published: Any) -> None:
    frame = found.table.frame[published].reset_index(drop=True)
    shown = keys[published].reset_index(drop=True)
    assert sorted(found.records) == sorted(shown.value_counts())
    assert found.n_suppressed == int((~published).sum())
    for name in found.table.sensitive:
        tallies: dict[Any, Counter[str]] = defaultdict(Counter)
        for key, value in zip(shown, frame[name].astype(str), strict=True):
            tallies[key][value] += 1
        expected = sorted(sorted(tally.items()) for tally in tallies.values())
        assert sorted(sorted(counts.items()) for counts in found.counts(name)) == expected
    if found.table.subject_name is not None:
        assert sorted(found.sizes) == persons_of(shown, frame["who"])
    # a tuple belongs to a released group exactly if that has a record left
    alive = set(shown)
    own = keys.groupby(found.table.row_tuple).first()
    assert [key in alive for key in own] == (found.labels >= 0).tolist()


@pytest.mark.parametrize("subject", [None, "who"])
@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_explicit_records(subject: str | None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = make_table(rng, n=40, subject=subject)
    blocks = random_blocks(table, 4, rng)
    published = rng.random((4, 40)) < rng.random((4, 1))
    published[0] = True
    chunk = Candidates(blocks=blocks, published=published)
    batch = after_of(table, chunk, suppression=ExplicitRecords())
    for c in range(4):
        check_published(batch[c], keys_of(table, blocks[c]), published[c])
        assert batch.kept is not None
        kept = np.bincount(table.row_tuple[published[c]], minlength=table.n_tuples)
        assert batch.kept[c].tolist() == kept.tolist()
    before, _ = Engine(table, needs={"counts"}, threads=1).groups(chunk)
    assert before.n_records.tolist() == [40] * 4


# Chunks and threads -------------------------------------------------------------------------------


def summary(before: GroupBatch, after: GroupBatch) -> list[Any]:
    return [
        (
            sorted(after[c].records.tolist()),
            before[c].losses.tolist(),
            [sorted(counts.items()) for counts in after[c].counts("s")],
            after[c].labels.tolist(),
        )
        for c in range(len(after))
    ]


@pytest.mark.parametrize("policy", [NoSuppression(), Budget(0.2), KLBudget(0.2)], ids=repr)
@pytest.mark.parametrize("bytes_per_chunk", [1, 3000, 1 << 23])
def test_threads_and_chunks_do_not_matter(
    monkeypatch: pytest.MonkeyPatch, policy: Suppression, bytes_per_chunk: int
) -> None:
    rng = np.random.default_rng(9)
    table = make_table(rng, n=80)
    candidates = Candidates(blocks=random_blocks(table, 41, rng))
    whole = Engine(table, suppression=policy, needs={"counts"}, threads=1)
    expected = summary(*whole.groups(candidates))
    monkeypatch.setattr(grouper_module, "_CHUNK_BYTES", bytes_per_chunk)
    for threads in (1, 3):
        engine = Engine(table, suppression=policy, needs={"counts"}, threads=threads)
        for _ in range(2):  # the second time in memory that was used before
            found = [row for part in engine.map(candidates, summary) for row in part]
            assert found == expected


def test_working_memory_is_left_clean() -> None:
    """Rows of counts are zero after counting, whichever way it went."""
    rng = np.random.default_rng(2)
    table = make_table(rng, n=100)
    engine = Engine(table, needs={"counts"}, threads=1)
    engine.map(Candidates(blocks=random_blocks(table, 20, rng)), lambda before, after: None)
    (workspace,) = engine._idle
    assert not need(workspace.zeros("rows", 1, np.int32).base).any()
    assert not workspace.scratch.cells.any() and not workspace.scratch.ranks.any()


def test_values_of_unpublished_records_do_not_count_in_a_chunk_of_one() -> None:
    df = pd.DataFrame({"a": [1, 1, 1, 2, 2, 2], "s": list("xxyxyy")})
    table = Table(df, quasi_identifiers={"a": Hierarchy.flat()}, sensitive="s")
    published = np.array([[1, 1, 0, 1, 1, 1]], dtype=bool)
    engine = Engine(table, suppression=ExplicitRecords(), needs={"counts"}, threads=1)
    identity = np.arange(2, dtype=np.uint32)[None, :]
    _, after = engine.groups(Candidates(blocks=identity, published=published))
    assert after[0].counts("s") == [{"x": 2}, {"x": 1, "y": 2}]
    labels = np.array([[0, 0]], dtype=np.int32)
    losses = np.array([[1.0, 0.0]])
    only_second = np.array([[0, 0, 0, 1, 1, 1]], dtype=bool)
    _, after = engine.groups(Candidates(labels=labels, losses=losses, published=only_second))
    assert after[0].losses.tolist() == [0.0]
