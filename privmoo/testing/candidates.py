"""Random candidates, and measures and policies on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.evaluation.engine import Engine
from privmoo.groups.groups import GroupBatch, Segments
from privmoo.hierarchy import Hierarchy
from privmoo.measures.base import Measure
from privmoo.recodings.candidates import Candidates, leaf_blocks
from privmoo.suppression import Suppression

__all__ = ["evaluate", "groups_of", "random_blocks", "random_labels", "shuffle_groups"]

Values = NDArray[np.float64]


def evaluate(
    measure: Measure,
    table: Table,
    candidates: Candidates,
    suppression: Suppression | None = None,
) -> Values:
    """Return the value of a measure for every candidate, at the measure's own stage.

    Args:
        measure: The measure.
        table: The records.
        candidates: The candidates.
        suppression: The policy; none by default.

    >>> import pandas as pd
    >>> from privmoo.measures import KAnonymity
    >>> table = Table(pd.DataFrame({"a": [1, 2, 2]}), quasi_identifiers=["a"])
    >>> evaluate(KAnonymity(), table, Candidates(blocks=np.array([[0, 1], [0, 0]], np.uint32)))
    array([1., 3.])
    """
    return measure.values(groups_of(measure, table, candidates, suppression))


def groups_of(
    measure: Measure, table: Table, candidates: Candidates, suppression: Suppression | None = None
) -> GroupBatch:
    """Return the groups of candidates at the stage that a measure reads.

    Args:
        measure: The measure, whose needs are computed.
        table: The records.
        candidates: The candidates.
        suppression: The policy; none by default.
    """
    engine = Engine(table, suppression=suppression, needs=measure.needs, threads=1)
    before, after = engine.groups(candidates)
    return before if measure.stage == "before" else after


def random_blocks(table: Table, n: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """Return random valid recodings as blocks of leaves: untouched, all merged, levels and cuts.

    Args:
        table: The records.
        n: How many.
        rng: The source of randomness.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"a": [1, 2, 3]}), quasi_identifiers={"a": Hierarchy.ordered()})
    >>> random_blocks(table, 2, np.random.default_rng(0)).tolist()
    [[0, 1, 2], [0, 0, 0]]
    """
    rows = []
    for i in range(n):
        columns = []
        for qi in table.qis:
            hierarchy = qi.hierarchy or Hierarchy.flat(qi.leaves)
            level = {0: 0, 1: hierarchy.height}.get(i, int(rng.integers(hierarchy.n_levels)))
            if hierarchy.constrained or i < 2:
                columns.append(hierarchy.level_blocks[level])
            else:
                bits = rng.random(qi.n_leaves - 1) < rng.random()
                columns.append(np.concatenate([[0], np.cumsum(bits)]))
        rows.append(np.concatenate(columns))
    return leaf_blocks([np.stack(rows)])


def random_labels(table: Table, n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return random clusters of the distinct tuples: each alone, all in one, then at random.

    Args:
        table: The records.
        n: How many.
        rng: The source of randomness.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"a": [1, 2, 3]}), quasi_identifiers=["a"])
    >>> random_labels(table, 2, np.random.default_rng(0)).tolist()
    [[0, 1, 2], [0, 0, 0]]
    """
    rows = [np.arange(table.n_tuples), np.zeros(table.n_tuples, np.int64)]
    rows += [rng.integers(1 + rng.integers(table.n_tuples), size=table.n_tuples) for _ in range(n)]
    return np.stack(rows[:n]).astype(np.int32)


def shuffle_groups(groups: GroupBatch, rng: np.random.Generator) -> GroupBatch:
    """Return the same groups in another order; suppressed groups stay behind the others.

    Args:
        groups: The groups of a chunk of candidates.
        rng: The source of randomness.
    """
    order = np.arange(len(groups.records))
    labels = None if groups.labels is None else groups.labels.copy()
    for c, (low, high) in enumerate(zip(groups.starts, groups.stops, strict=True)):
        moves = rng.permutation(high - low)
        order[low:high] = low + moves
        if labels is not None:
            places = np.arange(groups.table.n_tuples + 1)
            places[moves] = np.arange(high - low)
            labels[c] = places[labels[c]]
    segments = {
        name: Segments(s.starts[order], s.stops[order], s.values, s.counts)
        for name, s in groups.segments.items()
    }
    arrays: dict[str, Any] = {
        name: getattr(groups, name)[order] for name in ("sizes", "records", "losses", "firsts")
    }
    return replace(groups, segments=segments, labels=labels, **arrays)
