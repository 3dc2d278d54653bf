"""Random small tables for the tests of cuts, and the obvious exact front: every cut, every size."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.hierarchy import Hierarchy
from privmoo.problems import Cuts
from privmoo.suppression import Budget

TREES = [
    [["a", "b"], ["c", "d", "e"]],
    [["a", "b", "c"], [["d", "e"], "f"]],
    ["a", "b", "c"],
    [[["a", "b"], "c"], "d"],
]


def random_cuts(rng: np.random.Generator, *, most: int = 16) -> Cuts:
    """A problem of cuts: trees, orders or both, some bits fixed, some levels, weights, suppression."""
    n = int(rng.integers(2, most + 1))
    frame, columns = {}, {}
    for j in range(int(rng.integers(1, 4))):
        name = f"q{j}"
        if rng.random() < 0.5:
            tree = TREES[int(rng.integers(len(TREES)))]
            hierarchy = Hierarchy.tree(tree)
            leaves = [c for c in "abcdef" if c in str(tree)]
            frame[name] = rng.choice(leaves, n)
            options: dict[str, Any] = {"min_level": int(rng.integers(0, 2))} if j == 2 else {}
        else:
            width = int(rng.integers(2, 8 if j == 0 else 5))
            frame[name] = rng.integers(0, width, n)
            frame[name][0], frame[name][-1] = width - 1, 0  # one value would be nothing to search
            hierarchy = Hierarchy.ordered()
            beginnings = np.unique(frame[name])[1:]
            options = {}
            if rng.random() < 0.3 and len(beginnings):
                options["fixed_cuts"] = [int(rng.choice(beginnings))]
        weight = float(rng.choice([1.0, 1.0, 0.5, 3.0]))
        columns[name] = QuasiIdentifier(hierarchy=hierarchy, weight=weight, **options)
    table = Table(pd.DataFrame(frame), quasi_identifiers=columns)
    limit = float(rng.choice([0.0, 0.0, 0.1, 0.3, 1.0]))
    return Cuts(table, suppression=Budget(limit) if limit else None)


def every_cut(problem: Cuts) -> list[tuple[float, float]]:
    """k, negated, and loss of every valid cut with every size as threshold, within the budget."""
    table, space = problem.table, problem.space
    limit = int(getattr(problem.suppression, "fraction", 0) * table.n_records + 1e-9)
    codes = table.tuples[table.row_tuple]
    shares = np.array([qi.weight for qi in table.qis])
    shares = shares / shares.sum()
    points = []
    for bits in itertools.product([False, True], repeat=space.n_bits):
        if not space.valid([bits])[0]:
            continue
        lost, labels = np.zeros(table.n_records), []
        for j, qi in enumerate(table.qis):
            own = np.array(bits[space.offsets[j] : space.offsets[j + 1]], dtype=int)
            blocks = np.concatenate([[0], np.cumsum(own)]).astype(int)
            leaves = np.bincount(blocks)[blocks]
            lost += shares[j] * ((leaves - 1) / max(qi.n_leaves - 1, 1))[codes[:, j]]
            labels.append(blocks[codes[:, j]])
        _, group = np.unique(np.column_stack(labels), axis=0, return_inverse=True)
        sizes = np.bincount(group.ravel())[group.ravel()]
        for size in np.unique(sizes):
            kept = sizes >= size
            if (~kept).sum() <= limit:
                points.append((-float(size), (lost[kept].sum() + (~kept).sum()) / len(sizes)))
    return points
