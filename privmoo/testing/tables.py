"""A small table for the hybrid scheme: most records share a race and a country."""

from __future__ import annotations

import numpy as np
import pandas as pd

from privmoo.data.table import Table
from privmoo.hierarchy import Hierarchy

__all__ = ["example_hybrid_table"]


def example_hybrid_table(n_records: int = 200, *, seed: int = 1) -> Table:
    """Ages, pays with cents, sexes, races and countries; sensitive and target is the illness.

    >>> example_hybrid_table().qi_names
    ['age', 'pay', 'sex', 'race', 'country']
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n_records),
            "pay": rng.gamma(4.0, 500.0, n_records).round(2),
            "sex": rng.choice(["f", "m"], n_records),
            "race": rng.choice(["w", "x", "y", "z"], n_records, p=[0.85, 0.09, 0.04, 0.02]),
            "country": rng.choice(["here", "near", "far", "away"], n_records, p=[0.88, 0.06, 0.04, 0.02]),
            "illness": rng.choice(["flu", "cold", "ulcer"], n_records, p=[0.6, 0.3, 0.1]),
        }
    )  # fmt: skip
    countries = {"close": ["here", "near"], "distant": ["far", "away"]}
    return Table(
        frame,
        quasi_identifiers={
            "age": Hierarchy.intervals(18, 80, widths=[10, 20]),
            "pay": None,
            "sex": Hierarchy.flat(),
            "race": Hierarchy.flat(),
            "country": Hierarchy.tree(countries),
        },
        sensitive="illness",
        target="illness",
    )
