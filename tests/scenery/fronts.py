"""A small table whose cuts are all known, with its two fronts, for the tests of fronts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

from privmoo.data.table import Table
from privmoo.front import Front
from privmoo.front.quantities import Quantity
from privmoo.hierarchy import Hierarchy
from privmoo.measures import FrequencyDiversity, GeneralLoss, KAnonymity
from privmoo.problems import Cuts
from privmoo.suppression import Budget


def made_table(**options: Any) -> Table:
    rng = np.random.default_rng(1)
    df = pd.DataFrame(
        {
            "age": rng.integers(20, 30, 150),
            "job": rng.choice(["baker", "miller", "judge", "clerk"], 150),
            "ill": rng.choice(list("abc"), 150, p=[0.6, 0.3, 0.1]),
        }
    )
    tree = Hierarchy.tree({"food": ["baker", "miller"], "law": ["judge", "clerk"]})
    return Table(
        df,
        quasi_identifiers={"age": Hierarchy.ordered(), "job": tree},
        sensitive="ill",
        **options,
    )


TABLE = made_table()
PROBLEM = Cuts(TABLE, suppression=Budget(0.1))
TREE_CUTS = [(0, 0, 0), (0, 1, 0), (1, 1, 0), (0, 1, 1), (1, 1, 1)]
EVERY = np.array(
    [(*age, *job) for age in itertools.product((0, 1), repeat=9) for job in TREE_CUTS], dtype=bool
)
FRONT = Front.of(PROBLEM, EVERY)
THREE = Front.of(
    Cuts(
        TABLE,
        objectives=(KAnonymity(), FrequencyDiversity(), GeneralLoss()),
        suppression=Budget(0.1),
    ),
    EVERY,
)


def toy(k: list[float], loss: list[float], **others: list[float]) -> Front:
    """A front of given values, without a problem."""
    quantities = [
        Quantity("k", "k", "max", 1000.0, 1.0),
        Quantity("loss", "loss", "min", 0.0, 1.0),
        *(Quantity(name, name, "max", 10.0, 1.0) for name in others),
        Quantity("records_suppressed", "records_suppressed", "min", 0.0, 1000.0),
    ]
    columns = [k, loss, *others.values(), [0.0] * len(k)]
    return Front(
        quantities=tuple(quantities),
        n_objectives=2 + len(others),
        values=np.column_stack(columns).astype(float),
        X=np.arange(len(k), dtype=float)[:, None],
        run={},
        description={},
        dominated=np.empty((0, 2 + len(others))),
    )
