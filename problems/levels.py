"""Levels: one generalization level for every whole column (full-domain generalization)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import fraction
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.measures import (
    Constraint,
    FrequencyDiversity,
    GeneralLoss,
    KAnonymity,
    Measure,
    SuppressedShare,
)
from privmoo.operators import (
    EliteSteps,
    HashDuplicates,
    LevelCrossover,
    LevelMutation,
    LevelSampling,
    NewLevels,
)
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.blocks import BlockRecoding, level_recoding
from privmoo.recodings.candidates import Candidates
from privmoo.spaces.levels import Elite, LevelSpace, Stairs, most_suppressed, stairs_of
from privmoo.suppression import BelowThreshold, Suppression

__all__ = ["Levels"]


class Levels(AnonymizationProblem):
    """One level per quasi-identifier, the same for the whole column.

    Records are left out by a policy; or, with `max_suppression`, by a threshold that is a decision
    variable too: groups smaller than it are left out. One evaluated vector of levels then yields all its
    thresholds at once, and all of them are considered for the front.

    Args:
        table: The records; every quasi-identifier needs a hierarchy.
        objectives: Measures to optimise; k and general loss by default.
        constraints: Such as `KAnonymity() >= 5`.
        suppression: Which records are left out; none by default.
        max_suppression: The largest share of records left out by a threshold, instead of a policy.
        extras: Further measures to record.
        threads: For the evaluation; all cores by default.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> problem = Levels(table, max_suppression=0.5)
    >>> measured = problem.evaluate_measures(np.array([[1, 2]]))
    >>> measured["k"].tolist(), measured["records_suppressed"].tolist()
    ([2.0], [1.0])
    """

    def __init__(
        self,
        table: Table,
        *,
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        suppression: Suppression | None = None,
        max_suppression: float | None = None,
        extras: Iterable[Measure] | None = None,
        threads: int | None = None,
    ) -> None:
        if not isinstance(table, Table):
            raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
        if suppression is not None and max_suppression is not None:
            raise ProblemError(
                "max_suppression: a threshold leaves records out already; give it or suppression"
            )
        self.lattice = LevelSpace(table)
        self.elite = Elite()
        self.max_suppression = max_suppression
        low, high = self.lattice.lowest, self.lattice.highest
        demands = tuple(constraints)
        if max_suppression is not None:
            share = fraction("max_suppression", max_suppression)
            demands = (*demands, SuppressedShare() <= share)
            low, high = np.append(low, 1), np.append(high, table.n_records)
        own = objectives if objectives is not None else (KAnonymity(), GeneralLoss())
        if extras is None:
            extras = [KAnonymity(), GeneralLoss(), SuppressedShare()]
            extras += [FrequencyDiversity()] if table.sensitive else []
            wanted = {m.key for m in own} | {c.measure.key for c in demands}
            extras = [extra for extra in extras if extra.key not in wanted]
        super().__init__(
            table,
            objectives=own,
            constraints=demands,
            suppression=suppression,
            extras=extras,
            threads=threads,
            n_var=len(low),
            xl=low.astype(np.float64),
            xu=high.astype(np.float64),
            vtype=int,
        )

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Blocks of levels, with the threshold where there is one."""
        blocks = self.lattice.blocks(self.lattice.levels(X))
        return Candidates(blocks=blocks, thresholds=self._thresholds(X))

    def _thresholds(self, X: NDArray[Any]) -> NDArray[np.float64] | None:
        if self.max_suppression is None:
            return None
        given = np.rint(np.asarray(X)[:, -1].astype(np.float64))
        return np.clip(given, 1, self.table.n_records)

    def recoding(self, x: NDArray[Any]) -> BlockRecoding:
        """The level of every quasi-identifier."""
        return level_recoding(self.table, self.lattice.levels(np.asarray(x))[0].tolist())

    def policy(self, x: NDArray[Any]) -> Suppression:
        """The policy, or the threshold of the decision vector."""
        thresholds = self._thresholds(np.asarray(x)[None])
        return self.suppression if thresholds is None else BelowThreshold(int(thresholds[0]))

    def from_levels(
        self, levels: NDArray[np.int64], threshold: float | None = None
    ) -> NDArray[np.int64]:
        """The decision vector of a vector of levels, and of a threshold where there is one."""
        self.lattice.check(np.atleast_2d(levels))
        if self.max_suppression is None:
            return np.asarray(levels, dtype=np.int64)
        return np.append(levels, 1 if threshold is None else int(threshold))

    def stair_rows(
        self, levels: NDArray[np.int64], sizes: NDArray[np.int64], stairs: Stairs
    ) -> NDArray[np.int64]:
        """The decision vectors of all thresholds of a vector of levels."""
        return np.column_stack([np.tile(levels, (len(sizes), 1)), sizes])

    def _evaluate(self, X: NDArray[Any], out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        super()._evaluate(X, out)
        if self.max_suppression is not None and self.callback is not None:
            announce_stairs(self, self.lattice.levels(X), float(self.max_suppression))

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """The levels and the threshold themselves."""
        rows = self.lattice.levels(X)
        thresholds = self._thresholds(X)
        if thresholds is not None:
            rows = np.column_stack([rows, thresholds.astype(np.int64)])
        return [row.tobytes() for row in np.ascontiguousarray(rows)]

    def parameters(self) -> dict[str, Any]:
        """The limit of suppression, where the threshold is a variable."""
        return {"max_suppression": self.max_suppression}

    def default_operators(self) -> dict[str, Any]:
        """Levels of all heights, gene by gene from either parent, steps up and down."""
        return {
            "sampling": LevelSampling(),
            "crossover": LevelCrossover(),
            "mutation": LevelMutation(step=0.7)
            if self.max_suppression is None
            else EliteSteps(LevelMutation(step=0.7)),
            "eliminate_duplicates": HashDuplicates()
            if self.max_suppression is None
            else NewLevels(self.lattice),
        }


def announce_stairs(problem: Any, levels: NDArray[np.int64], limit: float) -> None:
    """Tell who listens to a problem of every threshold of some vectors of levels, once per run.

    For fixed levels the best records to publish are known for every k: all groups of at least k. So one
    vector of levels gives a whole staircase of trade-offs, for the price of grouping once. Each is no
    evaluation of its own: `brought_by` tells listeners to which candidate of the next batch it belongs.
    """
    problem.elite.begin(problem.callback)
    unique, first = np.unique(levels, axis=0, return_index=True)
    nodes = problem.elite.new(unique)
    if not len(nodes):
        return
    place = {row.tobytes(): int(at) for row, at in zip(unique, first, strict=True)}
    most = most_suppressed(limit, problem.table.n_records)
    owners, thresholds, rows = [], [], []
    for i, stairs in enumerate(stairs_of(problem.engine, problem.lattice, nodes)):
        within = stairs.sizes[stairs.suppressed <= most]
        owners += [i] * len(within)
        thresholds += within.tolist()
        rows.append(problem.stair_rows(nodes[i], within, stairs))
    X = np.concatenate(rows)
    keys = problem.keys(X)
    new = problem.cache.missing(keys)
    if new:
        blocks = problem.lattice.blocks(nodes)[np.array(owners)[new]]
        asked = Candidates(blocks=blocks, thresholds=np.array(thresholds, dtype=np.float64)[new])
        parts = problem.engine.map(asked, problem._measure)
        problem.cache.store([keys[i] for i in new], np.concatenate(parts))
    F, G = problem._judge(problem.cache.values(keys), np.ones(len(X), dtype=np.bool_))
    brought_by = np.array([place[nodes[i].tobytes()] for i in owners])
    problem.callback(X, {"F": F, "G": G, "brought_by": brought_by})
    fine = (G <= 0).all(axis=1)
    problem.elite.add(problem.lattice.levels(X[fine]), F[fine])
