"""Baselines beside the rows that Wei et al. (2025, Tables 5 and 6) publish, and what differs.

Where the rows agree and where not:

- MDAV: the printed numbers of clusters, of records at risk and of homogeneous records are about
  those of released centroids with *whole* ages (1,232 of Adult at k = 5 are 1,765 with exact means).
  Rounded, cut off or the median gives nearly the same, so which was used cannot be told; other
  orders of equally distant records move them by as much as they differ from the print.
- MDAV's IL agrees on Adult, with age in standard deviations (of the sample or the population: next
  to no difference), and closer with exact means than with whole ages. On German credit ours is
  lower, at k = 20 by a third. Of the other readings tried, absolute instead of squared differences
  of ages come closest there (0.0158, 0.0318, 0.0421, 0.0551) but miss Adult (0.0011, 0.0025, 0.0039,
  0.0053); so does counting a differing category twice. Nothing is changed for it.
- One MDAV number cannot be right: with k = 15 the records at risk are in groups of exactly 15, and
  4,167 is not a multiple of 15.
- Zheng et al.: 101 clusters of at least 10 among 1,000 records are not possible either, and at
  k = 20 ten records are in groups of fewer than 14. Our reading keeps k and l everywhere; the
  better of its two starts has a lower IL in 12 rows and about the same in 4.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import privmoo as pm
from privmoo import baselines, datasets
from privmoo.baselines.mdav import mdav_labels
from privmoo.recodings.classes import PartitionRecoding, cluster_recoding

SIZES = (5, 10, 15, 20)
# classes, IL, records at risk at 0.05, 0.075 and 0.1, homogeneous records
MDAV: dict[tuple[str, int], tuple[int, float, int, int, int, int]] = {
    ("german", 5): (149, 0.0166, 940, 790, 570, 50),
    ("german", 10): (90, 0.0255, 810, 810, 0, 0),
    ("german", 15): (63, 0.0408, 885, 0, 0, 0),
    ("german", 20): (49, 0.0545, 0, 0, 0, 0),
    ("adult", 5): (1232, 0.0010, 5925, 4590, 3050, 5),
    ("adult", 10): (930, 0.0022, 5080, 5080, 0, 0),
    ("adult", 15): (774, 0.0034, 4167, 0, 0, 0),
    ("adult", 20): (673, 0.0045, 0, 0, 0, 0),
}
# IL for each k
ZHENG: dict[tuple[str, int], tuple[float, ...]] = {
    ("german", 2): (0.0061, 0.0106, 0.0141, 0.0164),
    ("german", 4): (0.0209, 0.0190, 0.0190, 0.0195),
    ("adult", 2): (0.0006, 0.0013, 0.0019, 0.0025),
    ("adult", 14): (0.1189, 0.1251, 0.1201, 0.1251),
}


@cache
def data(name: str) -> pm.Table:
    return datasets.german_credit() if name == "german" else datasets.adult("wei")


def facts(table: pm.Table, recoding: PartitionRecoding) -> tuple[int, float, list[int], int]:
    """Classes, IL, at risk, homogeneous: counted in the released table, without the engine."""
    released = recoding.apply(table, np.arange(table.n_records))
    total = loss = 0.0
    for name in table.qi_names:
        own, new = table.frame[name], released[name]
        if pd.api.types.is_numeric_dtype(own):
            total += float(((own - own.mean()) ** 2).sum())
            loss += float(((own - new) ** 2).sum())
        else:
            total += int((own != own.mode()[0]).sum())
            loss += int((own.astype(str) != new).sum())
    groups = released.groupby(table.qi_names).ngroup().to_numpy()
    sizes = np.bincount(groups)
    alone = np.zeros(len(sizes), bool)
    for name in table.sensitive:
        alone |= table.frame[name].groupby(groups).nunique().to_numpy() == 1
    risk = [int(sizes[1 / sizes > tau].sum()) for tau in (0.05, 0.075, 0.1)]
    return len(sizes), loss / total, risk, int(sizes[alone].sum())


def whole_ages(table: pm.Table, labels: NDArray[np.int64]) -> PartitionRecoding:
    """The classes' means and modes, with the age rounded to whole years."""
    exact = cluster_recoding(table, labels)
    return cluster_recoding(table, exact.labels, centres=np.round(exact.centres))


@pytest.mark.parametrize(("name", "k"), list(MDAV))
def test_mdav(name: str, k: int) -> None:
    table = data(name)
    classes, il, *risk, homogeneous = MDAV[name, k]
    labels = mdav_labels(table, k)
    assert labels.max() + 1 == table.n_records // k
    _, exact_il, _, _ = facts(table, cluster_recoding(table, labels))
    got = facts(table, whole_ages(table, labels))
    assert got[0] == pytest.approx(classes, rel=0.025)
    if (name, k) == ("adult", 15):
        assert risk[0] % k != 0  # not possible, see above
        assert got[2][0] % k == 0 and got[2][1:] == risk[1:]
    else:
        assert got[2] == pytest.approx(risk, rel=0.04)
    assert got[3] == homogeneous
    if name == "adult":
        assert exact_il == pytest.approx(il, abs=0.00015)
    else:
        assert 0.65 * il < exact_il < il


def test_mdav_has_more_classes_with_exact_means() -> None:
    assert facts(data("adult"), baselines.mdav(data("adult"), 5))[0] > 1.4 * 1232


@pytest.mark.parametrize(("name", "diversity"), list(ZHENG))
def test_zheng(name: str, diversity: int) -> None:
    table = data(name)
    lower = 0
    for k, published in zip(SIZES, ZHENG[name, diversity], strict=True):
        losses = []
        for start in ("farthest", "nearest"):
            recoding: Any = baselines.by_name("zheng")(table, k, diversity, start=start)
            _, il, risk, homogeneous = facts(table, recoding)
            assert homogeneous == 0
            assert np.bincount(recoding.labels).min() >= k
            assert not any(
                r for r, tau in zip(risk, (0.05, 0.075, 0.1), strict=True) if tau * k >= 1
            )
            losses.append(il)
        assert min(losses) < 1.03 * published
        lower += min(losses) < 0.9 * published
    assert lower == (0 if (name, diversity) == ("adult", 14) else 4)


def test_ward_loses_least_of_tuples_that_stay_together() -> None:
    for name, k, il in (
        ("german", 5, 0.00273),
        ("german", 10, 0.00662),
        ("adult", 5, 0.00017),
        ("adult", 10, 0.00037),
    ):
        table = data(name)
        recoding = baselines.ward(table, k)
        assert facts(table, recoding)[1] == pytest.approx(il, abs=0.00001)
        assert il < facts(table, baselines.mondrian(table, k, release="mean"))[1]


@pytest.mark.parametrize("name", ["german", "adult"])
def test_k_member_loses_less_than_mdav_in_standard_deviations(name: str) -> None:
    table = data(name)
    for k in SIZES:
        _, il, _, _ = facts(table, baselines.k_member(table, k))
        assert il < facts(table, baselines.mdav(table, k))[1]
