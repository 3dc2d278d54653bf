"""Levels and suppression of Jahan, Ge, Kabir and Wang (2025): vectors A and B in one individual."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.measures import GeneralLoss, KAnonymity, SuppressedShare, Transparency
from privmoo.operators import (
    BestThreshold,
    EliteSteps,
    HashDuplicates,
    LevelCrossover,
    LevelMutation,
    LevelSampling,
    NewLevels,
)
from privmoo.problem import AnonymizationProblem
from privmoo.problems.levels import announce_stairs
from privmoo.recodings.blocks import BlockRecoding, level_recoding
from privmoo.recodings.candidates import Candidates
from privmoo.spaces.levels import Elite, LevelSpace, Stairs, stairs_of
from privmoo.suppression import ExplicitRecords

__all__ = ["LevelsAndSuppression"]


class LevelsAndSuppression(AnonymizationProblem):
    """More anonymity degree (k of what is published) and more transparency degree.

    Decision variables are vector A, a level per quasi-identifier, and vector B, a bit per record: 1
    publishes it. For given levels the best B is known for every k, namely all groups of at least k
    records; with `stairs` every evaluated A is therefore followed by all its thresholds, which are
    considered for the front without counting as evaluations. The paper's algorithm does without
    (`stairs=False`, `paper_operators()`).

    The paper sets k = 2 but draws AD = 1: `min_k=1` gives its figure, `min_k=2` its criterion.

    Args:
        table: The records; every quasi-identifier needs a hierarchy.
        min_k: The least k of a release.
        stairs: Whether every vector of levels is followed by all its thresholds.
        threads: For the evaluation; all cores by default.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> problem = LevelsAndSuppression(table)
    >>> measured = problem.evaluate_measures(np.array([[1, 1, 1, 0]]))
    >>> measured["k"].tolist(), measured["transparency"].tolist()
    ([2.0], [1.0])
    """

    default_population = 30

    def __init__(
        self, table: Table, *, min_k: int = 2, stairs: bool = True, threads: int | None = None
    ) -> None:
        if not isinstance(table, Table):
            raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
        table.need_records(
            type(self).__name__,
            "use Levels(table, max_suppression=…), whose threshold says which records are published",
        )
        whole_number("min_k", min_k)
        if min_k > table.n_persons:
            raise ProblemError(
                f"min_k: {min_k} is more than the table has ({table.n_persons}); choose a smaller one"
            )
        self.lattice = LevelSpace(table)
        self.min_k, self.stairs = int(min_k), stairs
        self.elite = Elite()
        low = np.concatenate([self.lattice.lowest, np.zeros(table.n_records, np.int64)])
        high = np.concatenate([self.lattice.highest, np.ones(table.n_records, np.int64)])
        super().__init__(
            table,
            objectives=(KAnonymity(), Transparency()),
            constraints=(KAnonymity() >= min_k,),
            suppression=ExplicitRecords(),
            extras=(GeneralLoss(), SuppressedShare()),
            threads=threads,
            n_var=len(low),
            xl=low.astype(np.float64),
            xu=high.astype(np.float64),
            vtype=int,
        )

    @property
    def default_generations(self) -> int:  # type: ignore[override]
        """The paper's budget: quasi-identifiers × records evaluations, in populations of 30."""
        return max(1, -(-self.table.n_qis * self.table.n_records // self.default_population))

    max_suppression: float = 1.0

    def bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Vector B of decision vectors: which records are published."""
        tail = np.atleast_2d(np.asarray(X))[:, self.table.n_qis :]
        return np.asarray(tail.astype(np.float64) >= 0.5)

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Blocks of levels, and the published records."""
        blocks = self.lattice.blocks(self.lattice.levels(X))
        return Candidates(blocks=blocks, published=self.bits(X))

    def published(self, x: NDArray[Any]) -> NDArray[np.bool_]:
        """Vector B."""
        return np.asarray(self.bits(x)[0])

    def recoding(self, x: NDArray[Any]) -> BlockRecoding:
        """Vector A."""
        return level_recoding(self.table, self.lattice.levels(np.asarray(x))[0].tolist())

    def from_levels(
        self, levels: NDArray[np.int64], threshold: float | None = None
    ) -> NDArray[np.int64]:
        """The decision vector of levels that publishes all groups of at least the threshold."""
        smallest = np.array([1.0 if threshold is None else threshold])
        return np.asarray(self.publishing(np.atleast_2d(levels), smallest)[0])

    def publishing(
        self, levels: NDArray[np.int64], thresholds: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Decision vectors, each of its levels and of all groups of at least its threshold."""
        levels = np.asarray(levels, dtype=np.int64)
        self.lattice.check(levels)
        found = stairs_of(self.engine, self.lattice, levels)
        sizes = np.stack([stairs.of_tuples for stairs in found])[:, self.table.row_tuple]
        return np.concatenate([levels, sizes >= thresholds[:, None]], axis=1)

    def stair_rows(
        self, levels: NDArray[np.int64], sizes: NDArray[np.int64], stairs: Stairs
    ) -> NDArray[np.int64]:
        """The decision vectors of all thresholds of a vector of levels."""
        of_record = stairs.of_tuples[self.table.row_tuple]
        bits = (of_record >= sizes[:, None]).astype(np.int64)
        return np.concatenate([np.tile(levels, (len(sizes), 1)), bits], axis=1)

    def _evaluate(self, X: NDArray[Any], out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        super()._evaluate(X, out)
        if self.stairs and self.callback is not None:
            announce_stairs(self, self.lattice.levels(X), 1.0)

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Levels and bits."""
        levels, bits = self.lattice.levels(X), np.packbits(self.bits(X), axis=1)
        return [a.tobytes() + b.tobytes() for a, b in zip(levels, bits, strict=True)]

    def parameters(self) -> dict[str, Any]:
        """The least k, and whether levels are followed by their thresholds."""
        return {"min_k": self.min_k, "stairs": self.stairs}

    def default_operators(self) -> dict[str, Any]:
        """Steps up and down in the lattice, records by the best threshold of the levels."""
        return {
            "sampling": LevelSampling(),
            "crossover": LevelCrossover(),
            "mutation": BestThreshold(EliteSteps(LevelMutation(step=0.7))),
            "eliminate_duplicates": NewLevels(self.lattice) if self.stairs else HashDuplicates(),
        }

    def paper_operators(self) -> dict[str, Any]:
        """As in the paper: random first population, any level and any bit mutated with 0.1."""
        return {
            "sampling": LevelSampling(ends=False),
            "crossover": LevelCrossover(prob=1.0),
            "mutation": LevelMutation(rate=0.1, step=0.0),
            "eliminate_duplicates": HashDuplicates(),
        }
