"""Regions with published bounds against the best tree of splits, which dynamic programming finds."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pandas as pd

import privmoo as pm
from privmoo.kernels.round_cuts import round_cut

Box = tuple[tuple[int, int], ...]


def random_table(seed: int) -> pm.Table:
    """A few dozen records with two or three numeric columns, each with its whole domain."""
    rng = np.random.default_rng(seed)
    n, n_columns = int(rng.integers(15, 40)), int(rng.integers(2, 4))
    tops = rng.integers(4, 13, n_columns)
    frame = pd.DataFrame({f"c{j}": rng.integers(0, top, n) for j, top in enumerate(tops)})
    domains = {f"c{j}": pm.Hierarchy.ordered(range(int(top))) for j, top in enumerate(tops)}
    return pm.Table(frame, quasi_identifiers=domains)


def least_loss(table: pm.Table, k: int) -> float:
    """The loss of the best tree whose regions all have k records, with splits at round numbers."""
    codes = table.tuples[table.row_tuple]
    widths = [qi.n_leaves - 1 for qi in table.qis]

    @cache
    def best(box: Box) -> float:
        inside = np.ones(len(codes), np.bool_)
        for j, (low, high) in enumerate(box):
            inside &= (codes[:, j] >= low) & (codes[:, j] <= high)
        n_inside = int(inside.sum())
        if n_inside < k:
            return np.inf
        loss = n_inside * float(
            np.mean([(b - a) / w for (a, b), w in zip(box, widths, strict=True)])
        )
        for j, (low, high) in enumerate(box):
            values = np.unique(codes[inside, j])
            for last, first in itertools.pairwise(values):
                cut = round_cut(int(last), int(first), 0)
                below = (*box[:j], (low, cut - 1), *box[j + 1 :])
                above = (*box[:j], (cut, high), *box[j + 1 :])
                loss = min(loss, best(below) + best(above))
        return loss

    return best(tuple((0, width) for width in widths)) / len(codes)


def test_a_short_search_is_close_to_the_best_tree_and_never_below_it() -> None:
    ratios = []
    for seed in (1, 2, 3):
        table = random_table(seed)
        front = pm.optimize(pm.problems.Regions(table), budget=5, seed=1, progress=False)
        k, loss = front.column("k"), front.column("loss")
        ratios += [loss[k >= least].min() / least_loss(table, least) for least in (2, 3, 5)]
    assert min(ratios) > 1 - 1e-9
    assert np.mean(ratios) < 1.05 and max(ratios) < 1.25
