"""Levels and suppression of Jahan, Ge, Kabir and Wang (2025): vectors A and B in one individual."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, get_args

from pymoo.operators.survival.rank_and_crowding import RankAndCrowding

from privmoo._util.checks import choice, whole_number
from privmoo.data.table import Table, check_table
from privmoo.errors import ProblemError
from privmoo.measures import (
    Constraint,
    GeneralLoss,
    KAnonymity,
    Measure,
    SuppressedShare,
    Transparency,
)
from privmoo.operators import HashDuplicates, LevelCrossover, LevelMutation, LevelSampling
from privmoo.problem import AnonymizationProblem
from privmoo.search import DominationCount, RandomPairs
from privmoo.spaces.levels import RecordLevelSpace
from privmoo.suppression import ExplicitRecords

__all__ = ["LevelsAndSuppression"]

Selection = Literal["crowding", "domination count"]
Pairing = Literal["tournament", "everybody"]


class LevelsAndSuppression(AnonymizationProblem):
    """More anonymity degree (k of what is published) and more transparency degree.

    Decision variables are vector A, a level per quasi-identifier, and vector B, a bit per record: 1
    publishes it. For given levels, the best B for a given k publishes all groups of at least k records.
    With `stairs`, all thresholds of every evaluated A are therefore considered for the front; they do not
    count as evaluations. The paper's algorithm does not do this (`stairs=False`, `paper_operators()`).

    The paper sets k = 2 but draws AD = 1: `min_k=1` gives its figure, `min_k=2` its criterion.

    Args:
        table: The records; every quasi-identifier needs a hierarchy.
        objectives: Measures to optimise; k (the paper's AD) and transparency (TD) by default.
        constraints: Bounds besides k, such as `SuppressedShare() <= 0.1`.
        min_k: The least k of a release.
        stairs: Whether all thresholds of every vector of levels are considered.
        extras: Further measures to record; loss and suppression by default.
        threads: The number of threads of the evaluation; all cores by default.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> problem = LevelsAndSuppression(table)
    >>> measured = problem.evaluate_measures(np.array([[1, 1, 1, 0]]))
    >>> measured["k"].tolist(), measured["transparency"].tolist()
    ([2.0], [1.0])
    """

    space: RecordLevelSpace
    parameter_names: ClassVar[tuple[str, ...]] = ("min_k", "stairs")
    default_population = 30

    def __init__(
        self,
        table: Table,
        *,
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        min_k: int = 2,
        stairs: bool = True,
        extras: Iterable[Measure] | None = None,
        threads: int | None = None,
    ) -> None:
        check_table(table)
        table.need_records(
            type(self).__name__,
            "use Levels(table, max_suppression=…), whose threshold says which records are published",
        )
        whole_number("min_k", min_k)
        if min_k > table.n_persons:
            raise ProblemError(
                f"min_k: must be at most {table.n_persons}, the number of persons in the table, got {min_k}"
            )
        self.min_k, self.stairs = int(min_k), stairs
        super().__init__(
            table,
            space=RecordLevelSpace(table, stairs=stairs),
            objectives=objectives,
            constraints=(KAnonymity() >= min_k, *constraints),
            suppression=ExplicitRecords(),
            extras=extras,
            threads=threads,
        )

    def default_objectives(self) -> Sequence[Measure]:
        """Return the paper's two: k and transparency."""
        return KAnonymity(), Transparency()

    def default_extras(self) -> Sequence[Measure]:
        """Return loss and suppression."""
        return GeneralLoss(), SuppressedShare()

    @property
    def default_generations(self) -> int:  # type: ignore[override]
        """The paper's budget: quasi-identifiers × records evaluations, in populations of 30."""
        return max(1, -(-self.table.n_qis * self.table.n_records // self.default_population))

    def paper_operators(
        self, *, selection: Selection = "crowding", pairing: Pairing = "tournament"
    ) -> dict[str, Any]:
        """Return the paper's operators, for pymoo's NSGA-II with a population of 30.

        A uniformly random first population, levels of either parent, records that either parent
        publishes, and levels and bits that change with 0.1, levels to any other one.

        Of selection and mating, the paper gives two accounts (sections 5.2 and 5.4), which are the options.

        Args:
            selection: `"crowding"`, NSGA-II's ranks and crowding distances, or `"domination count"`: first
                those whom fewest others dominate, among equals those with the largest k.
            pairing: `"tournament"` of two for every parent, or `"everybody"`: the population is divided
                into 15 pairs, and each pair has one child.
        """
        choice("selection", selection, get_args(Selection))
        choice("pairing", pairing, get_args(Pairing))
        in_pairs = pairing == "everybody"
        operators = {
            "sampling": LevelSampling(ends=False, spread=False),
            "crossover": LevelCrossover(prob=1.0, children=1 if in_pairs else 2),
            "mutation": LevelMutation(rate=0.1, step=0.0),
            "eliminate_duplicates": HashDuplicates(),
            "survival": RankAndCrowding() if selection == "crowding" else DominationCount(),
        }
        if in_pairs:
            operators |= {"selection": RandomPairs(), "n_offsprings": self.default_population // 2}
        return operators
