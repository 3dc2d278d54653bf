"""A small table and two problems on it, for the tests of runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.operators.repair.rounding import RoundingRepair
from pymoo.operators.sampling.rnd import IntegerRandomSampling

from privmoo.data.table import Table
from privmoo.hierarchy import Hierarchy
from privmoo.measures import GeneralLoss, KAnonymity
from privmoo.problem import AnonymizationProblem
from privmoo.problems import Cuts
from privmoo.recodings.blocks import BlockRecoding, level_recoding
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import Budget


def small_table(rows: int = 240, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "age": rng.integers(20, 32, rows),
            "job": rng.choice(["baker", "miller", "judge", "clerk", "nurse"], rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["a", "b", "c", "d"], rows, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )
    tree = Hierarchy.tree(
        {"food": ["baker", "miller"], "office": ["judge", "clerk"], "care": ["nurse"]}
    )
    return Table(
        df,
        quasi_identifiers={"age": Hierarchy.ordered(), "job": tree, "sex": Hierarchy.flat()},
        sensitive="ill",
    )


TABLE = small_table()


def small(**options: Any) -> Cuts:
    problem = Cuts(TABLE, suppression=Budget(0.1), **options)
    problem.default_population = 20
    return problem


class Levels(AnonymizationProblem):
    """A formulation that privmoo does not bring: one level for each whole column."""

    def __init__(self, table: Table, **options: Any) -> None:
        heights = np.array([qi.hierarchy.height for qi in table.qis if qi.hierarchy is not None])
        super().__init__(
            table,
            objectives=(KAnonymity(), GeneralLoss()),
            n_var=len(heights),
            xl=np.zeros(len(heights)),
            xu=heights,
            vtype=int,
            **options,
        )

    default_population = 12

    def recoding(self, x: NDArray[Any]) -> BlockRecoding:
        return level_recoding(self.table, [int(level) for level in x])

    def candidates(self, X: NDArray[Any]) -> Candidates:
        rows = [self.recoding(x).candidate(self.table).blocks for x in X]
        return Candidates(blocks=np.concatenate([row for row in rows if row is not None]))

    def default_operators(self) -> dict[str, Any]:
        return {
            "sampling": IntegerRandomSampling(),
            "crossover": SBX(repair=RoundingRepair(), vtype=float),
            "mutation": PM(prob=1.0, repair=RoundingRepair(), vtype=float),
        }
