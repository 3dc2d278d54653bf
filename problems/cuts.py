"""Cuts: one bit between each two neighbouring leaves of every quasi-identifier (Iyengar 2002)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.measures import (
    Constraint,
    FrequencyDiversity,
    GeneralizationLoss,
    GeneralLoss,
    KAnonymity,
    Measure,
    SuppressedShare,
    WeightedK,
)
from privmoo.operators import CutMutation, CutSampling, HashDuplicates, LunacekCrossover
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.blocks import BlockRecoding
from privmoo.recodings.candidates import Candidates
from privmoo.spaces.cuts import CutSpace
from privmoo.suppression import Suppression

__all__ = ["Cuts"]


class Cuts(AnonymizationProblem):
    """Any cut of every quasi-identifier's domain: the general problem behind Dewri's four.

    Decision variables are bits: 1 keeps two neighbouring leaves apart, 0 merges them. Attributes with a
    tree are constrained to nodes of the tree, ordered ones take any cut. Loss is counted in leaves of the
    hierarchy; an attribute granulated by `Hierarchy.ordered(step=5)` has base intervals as leaves.

    Args:
        table: The records; every quasi-identifier needs a hierarchy.
        objectives: Measures to optimise; k and general loss by default.
        constraints: Such as `KAnonymity() >= 5`.
        suppression: Which records are left out; none by default.
        extras: Further measures to record; k, ℓ, weighted-k and the parts of the loss by default.
        threads: For the evaluation; all cores by default.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = Cuts(table)
    >>> measured = problem.evaluate_measures(np.array([[False, True, False]]))
    >>> measured["k"].tolist(), measured["loss"].round(3).tolist()
    ([2.0], [0.333])
    """

    def __init__(
        self,
        table: Table,
        *,
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        suppression: Suppression | None = None,
        extras: Iterable[Measure] | None = None,
        threads: int | None = None,
    ) -> None:
        if not isinstance(table, Table):
            raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
        self.space = CutSpace(table)
        if self.space.n_bits == 0:
            raise ProblemError(
                "table: every quasi-identifier has a single value, so there is nothing to generalise"
            )
        if extras is None:
            extras = [
                KAnonymity(),
                WeightedK(),
                GeneralLoss(),
                GeneralizationLoss(),
                SuppressedShare(),
            ]
            if table.sensitive:
                extras.append(FrequencyDiversity())
            parts = (*(objectives or ()), *(getattr(c, "measure", c) for c in constraints))
            wanted = {getattr(part, "key", None) for part in parts}
            extras = [extra for extra in extras if extra.key not in wanted]
        super().__init__(
            table,
            objectives=objectives if objectives is not None else (KAnonymity(), GeneralLoss()),
            constraints=constraints,
            suppression=suppression,
            extras=extras,
            threads=threads,
            n_var=self.space.n_bits,
            xl=0,
            xu=1,
            vtype=bool,
        )

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Blocks of leaves from bits."""
        return Candidates(blocks=self.space.blocks(self.space.bits(X)))

    def valid(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether every block is a node of its tree, within the bounds of its attribute."""
        return self.space.valid(self.space.bits(X))

    def recoding(self, x: NDArray[Any]) -> BlockRecoding:
        """The cut of every quasi-identifier."""
        blocks = self.space.blocks(self.space.bits(np.asarray(x)[None, :]))[0]
        offsets = np.cumsum([0, *(qi.n_leaves for qi in self.table.qis)])
        parts = [blocks[a:b] for a, b in pairwise(offsets)]
        return BlockRecoding(self.table.qis, parts)

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """The bits themselves: different cuts are different recodings."""
        packed = np.packbits(self.space.bits(X), axis=1)
        return [row.tobytes() for row in packed]

    def default_operators(self) -> dict[str, Any]:
        """Tree-aware sampling, Lunacek crossover, valid mutation, duplicates by hash."""
        return {
            "sampling": CutSampling(),
            "crossover": LunacekCrossover(),
            "mutation": CutMutation(),
            "eliminate_duplicates": HashDuplicates(),
        }
