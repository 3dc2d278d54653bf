"""Hybrid: the parameters of the hybrid scheme as decision variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.front import Front
from privmoo.hybrid.cautions import of_seed
from privmoo.hybrid.checks import check_numbers, check_scheme_table
from privmoo.hybrid.mechanism import HybridMechanism, HybridParameters
from privmoo.hybrid.parameter_space import HybridParameterSpace
from privmoo.hybrid.patterns import Patterns, find_patterns
from privmoo.hybrid.splitting import Split, split_by_patterns
from privmoo.measures import (
    Constraint,
    DisclosureRisk,
    Distortion,
    InformationLoss,
    KAnonymity,
    Measure,
    Originality,
)
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.base import Caution
from privmoo.suppression import Suppression

__all__ = ["Hybrid"]


class Hybrid(AnonymizationProblem):
    """The trade-offs of Laplace noise and k-member clusters, by the parameters of the scheme.

    Majeed and Hwang 2023 fix these parameters; here they are searched. The variables are k, both ε, the
    diversity threshold and, for every categorical quasi-identifier, the level in diverse clusters and the
    level in the others.

    Objectives are measured with the noise that a release of the solution will have, so the release
    keeps what the front promises. All candidates share the draws of that noise, which ε only scales (common
    random numbers), so the comparison is fair. The search still adapts to these draws a little, by up to
    about one standard deviation. `spread` shows what other draws would give. Publish only one solution of a
    front: the difference between two would cancel the noise that they share.

    Args:
        table: The records, with a categorical quasi-identifier and a sensitive attribute.
        objectives: Measures to optimise; originality and mean disclosure risk by default. Others that
            fit are `Distortion`, `InformationLoss`, `DisclosureRisk(known=[…])`, `KAnonymity` (with
            `strict`), and `pm.learning.ForestAccuracy`, which is slow.
        constraints: Bounds such as `KAnonymity() >= 5` (with `strict`).
        suppression: Which records are left out; none by default.
        extras: Further measures to record; distortion, IL, k and the largest disclosure risk by default.
        k: The smallest and the largest k of clusters; 2 to 50 by default, or less for few records.
        epsilon: Smallest and largest ε, of both partitions.
        strict: Whether every cluster publishes one label per quasi-identifier, in both partitions.
        patterns: The pattern-friendly quasi-identifiers; by default a random forest determines them.
        split: A division into violating and other records, instead of patterns.
        thresholds: See `privmoo.hybrid.value_classes`.
        non_violating: See `privmoo.hybrid.split_records`.
        sensitivity: Δf of the noise, for all numbers or by quasi-identifier.
        bounds: Smallest and largest number, by quasi-identifier.
        weight: The weight of diversity relative to similarity in clusters.
        noise_seed: The seed of the noise, to repeat it; a secret one by default. Anyone who knows the seed
            can try out guesses of the records, so keep it secret. Runs without a seed can still be
            continued, because their checkpoint holds the secret.
        threads: The number of threads of the evaluation; all cores by default.

    >>> import privmoo as pm
    >>> problem = Hybrid(pm.testing.example_hybrid_table(), patterns=["race"])
    >>> problem.space.names[:4]
    ['k', 'epsilon_violating', 'epsilon_other', 'diversity']
    >>> front = pm.optimize(problem, budget=3, seed=1, progress=False)
    >>> front.objectives[0].key, front.objectives[1].key
    ('originality', 'disclosure_risk')
    """

    space: HybridParameterSpace
    default_population = 50
    default_generations = 40
    objects = ("split",)

    def __init__(
        self,
        table: Table,
        *,
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        suppression: Suppression | None = None,
        extras: Iterable[Measure] | None = None,
        k: tuple[int, int] | None = None,
        epsilon: tuple[float, float] = (0.1, 10.0),
        strict: bool = False,
        patterns: Sequence[str] | Patterns | None = None,
        split: Split | None = None,
        thresholds: tuple[float, float, float] = (0.25, 0.05, 0.01),
        non_violating: Sequence[str] = ("super-major",),
        sensitivity: float | Mapping[str, float] = 1.0,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        weight: float = 0.5,
        noise_seed: int | None = None,
        threads: int | None = None,
    ) -> None:
        check_scheme_table(table)
        check_numbers(table, sensitivity, bounds, weight)
        if noise_seed is not None:
            whole_number("noise_seed", noise_seed, at_least=0)
        if split is None:
            names = _friendly(table, patterns)
            split = split_by_patterns(
                table, names, thresholds=thresholds, non_violating=non_violating
            )
        elif patterns is not None:
            raise ProblemError(
                "split: patterns has no effect if split is given; pass only one of them"
            )
        elif not isinstance(split, Split):
            raise ProblemError(f"split: must be a Split, got {type(split).__name__}")
        scheme = HybridMechanism(
            table,
            split,
            strict=strict,
            sensitivity=sensitivity,
            bounds=bounds,
            weight=weight,
            cautions=[Caution("shared_noise"), *of_seed(noise_seed)],
        )
        super().__init__(
            table,
            space=HybridParameterSpace(scheme, k=k, epsilon=epsilon, noise_seed=noise_seed),
            objectives=objectives,
            constraints=constraints,
            suppression=suppression,
            extras=extras,
            threads=threads,
        )

    def scheme_parameters(self, x: NDArray[Any]) -> HybridParameters:
        """Return the parameters of the scheme that a decision vector sets."""
        return self.space.scheme_parameters(x)

    def default_objectives(self) -> Sequence[Measure]:
        """Return originality and the mean disclosure risk."""
        return Originality(), DisclosureRisk()

    def default_extras(self) -> Sequence[Measure]:
        """Return distortion, information loss, k and the largest disclosure risk."""
        return [
            Distortion(),
            InformationLoss(),
            KAnonymity(),
            DisclosureRisk(aggregate="max").named("disclosure_risk_max"),
        ]

    def spread(self, X: NDArray[Any] | Front, *, repeats: int = 20) -> pd.DataFrame:
        """Return how much the measures of solutions change under other noise.

        Args:
            X: Decision vectors, or a front.
            repeats: The number of other draws of the noise.

        Returns:
            A row per solution and measure: its value with the noise that is released, and the mean,
            standard deviation, smallest and largest value under the other draws.
        """
        whole_number("repeats", repeats, at_least=2)
        rows = np.atleast_2d(X.X if isinstance(X, Front) else np.asarray(X))
        if rows.dtype == object or rows.ndim != 2 or rows.shape[1] != self.n_var:
            raise ProblemError(f"spread: takes a front or rows of {self.n_var} variables")
        release_values = self.evaluate_measures(rows)
        values = np.stack(
            [
                np.concatenate(
                    [
                        self.evaluator.measure(self.space.candidates(row[None], repeat))
                        for row in rows
                    ]
                )
                for repeat in range(1, repeats + 1)
            ]
        )
        names = [m.key for m in self.measures]
        return pd.DataFrame(
            [
                {
                    "solution": i,
                    "measure": name,
                    "released": release_values[name][i],
                    "mean": values[:, i, j].mean(),
                    "std": values[:, i, j].std(ddof=1),
                    "min": values[:, i, j].min(),
                    "max": values[:, i, j].max(),
                }
                for i in range(len(rows))
                for j, name in enumerate(names)
            ]
        )


def _friendly(table: Table, patterns: Sequence[str] | Patterns | None) -> Sequence[str]:
    """Return the names of the pattern-friendly quasi-identifiers."""
    pattern_columns = find_patterns(table) if patterns is None else patterns
    return pattern_columns.friendly if isinstance(pattern_columns, Patterns) else pattern_columns
