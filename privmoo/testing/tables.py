"""Small tables with every role, for tests."""

from __future__ import annotations

import numpy as np
import pandas as pd

from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.hierarchy import Hierarchy

__all__ = ["example_hybrid_table", "example_table"]


def example_table(n_records: int = 60, *, seed: int = 1) -> Table:
    """Make a small table with all roles and missing values; its hierarchies are an order, a tree and flat.

    Args:
        n_records: How many records.
        seed: Equal seeds make equal records.

    >>> example_table().qi_names
    ['age', 'job', 'sex']
    """
    rng = np.random.default_rng(seed)
    illness = np.array(["flu", "cold", "ulcer", "gastritis"])
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 28, n_records),
            "job": rng.choice(["nurse", "doctor", "smith", "baker"], n_records),
            "sex": pd.Series(rng.choice(["f", "m"], n_records)).where(rng.random(n_records) > 0.1),
            "illness": illness[rng.choice(4, n_records, p=[0.4, 0.3, 0.2, 0.1])],
            "region": rng.choice(["north", "south", "west"], n_records),
            "pay": rng.choice(["high", "low"], n_records),
        }
    )
    frame.loc[:1, "illness"] = illness[:2]  # at least two values, however few the records
    jobs = Hierarchy.tree({"health": ["nurse", "doctor"], "craft": ["smith", "baker"]})
    illnesses = Hierarchy.tree({"lung": ["flu", "cold"], "stomach": ["ulcer", "gastritis"]})
    return Table(
        frame,
        quasi_identifiers={
            "age": Hierarchy.ordered(range(20, 28)),
            "job": QuasiIdentifier(hierarchy=jobs, weight=2.0),
            "sex": Hierarchy.flat(),
        },
        sensitive={"illness": illnesses, "region": Hierarchy.flat()},
        target="pay",
    )


def example_hybrid_table(n_records: int = 200, *, seed: int = 1) -> Table:
    """Make a table for the hybrid scheme: most records share a race and a country.

    The columns are age, pay with cents, sex, race and country; the illness is sensitive and the target.

    Args:
        n_records: How many records.
        seed: Equal seeds make equal records.

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
