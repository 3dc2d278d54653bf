"""Hybrid: the parameters of the hybrid scheme as decision variables."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.front import Front
from privmoo.hybrid.checks import check_numbers, check_pair, check_table
from privmoo.hybrid.patterns import Patterns, find_patterns
from privmoo.hybrid.space import HybridParameters, HybridSpace
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
from privmoo.operators import (
    HashDuplicates,
    ParameterCrossover,
    ParameterMutation,
    ParameterSampling,
)
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.base import Caution
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.nodes import node_cells
from privmoo.spaces.parameters import Parameter, ParameterSpace
from privmoo.suppression import Suppression

__all__ = ["Hybrid"]


class Hybrid(AnonymizationProblem):
    """Laplace noise and k-member clusters: which parameters give which trade-off?

    A step beyond Majeed and Hwang 2023, who fix them. Variables are k, both ε, the diversity threshold,
    and for every categorical quasi-identifier the level in diverse clusters and the level in the others.

    Objectives are those of the very noise that a release of the solution will have, so that the release
    keeps what the front promises. All candidates share the draws of that noise, which ε only scale
    (common random numbers), so they are compared alike; still the search fits these draws a little, by
    up to about a standard deviation. `spread` says what other draws would give. Publish one solution of
    a front only: the difference of two would undo the noise that they share.

    Args:
        table: The records, with a categorical quasi-identifier and a sensitive attribute.
        objectives: Measures to optimise; originality and mean disclosure risk by default. Others that
            fit are `Distortion`, `InformationLoss`, `DisclosureRisk(known=[…])`, `KAnonymity` (with
            `strict`), and `pm.learning.ForestAccuracy`, which is slow.
        constraints: Such as `KAnonymity() >= 5` (with `strict`).
        suppression: Which records are left out; none by default.
        extras: Further measures to record; distortion, IL, k and the largest disclosure risk by default.
        k: Smallest and largest k of clusters; 2 to 50 by default, or as far as the records reach.
        epsilon: Smallest and largest ε, of both partitions.
        strict: Whether every cluster publishes one label per quasi-identifier, in both partitions.
        patterns: The pattern-friendly quasi-identifiers; found by a random forest by default.
        split: The violating and other records, instead of patterns.
        thresholds: See `privmoo.hybrid.value_classes`.
        non_violating: See `privmoo.hybrid.split_records`.
        sensitivity: Δf of the noise, for all numbers or by quasi-identifier.
        bounds: Smallest and largest number, by quasi-identifier.
        weight: How much diversity counts against similarity in clusters.
        noise_seed: Of the noise; it is mixed with the data, so that it alone does not undo the noise.
        threads: For the evaluation; all cores by default.

    >>> import privmoo as pm
    >>> problem = Hybrid(pm.testing.example_hybrid_table(), patterns=["race"])
    >>> problem.parameter_space.names[:4]
    ['k', 'epsilon_violating', 'epsilon_other', 'diversity']
    >>> front = pm.optimize(problem, budget=3, seed=1, progress=False)
    >>> front.objectives[0].key, front.objectives[1].key
    ('originality', 'disclosure_risk')
    """

    default_population = 50
    default_generations = 40
    chunk = 8

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
        noise_seed: int = 0,
        threads: int | None = None,
    ) -> None:
        check_table(table)
        if split is not None and patterns is not None:
            raise ProblemError(
                "split: the records are split already, so patterns would not be used"
            )
        check_numbers(table, sensitivity, bounds, weight)
        whole_number("noise_seed", noise_seed, at_least=0)
        if split is None:
            found = find_patterns(table) if patterns is None else patterns
            names = found.friendly if isinstance(found, Patterns) else found
            split = split_by_patterns(
                table, names, thresholds=thresholds, non_violating=non_violating
            )
        elif not isinstance(split, Split):
            raise ProblemError(f"split: must be a Split, got {type(split).__name__}")
        self.hybrid_space = HybridSpace(
            table,
            split,
            strict=strict,
            sensitivity=sensitivity,
            bounds=bounds,
            weight=weight,
            cautions=[Caution("shared_noise")],
        )
        self.noise_seed = noise_seed
        self.parameter_space = ParameterSpace(_parameters(self.hybrid_space, k, epsilon))
        own = objectives if objectives is not None else (Originality(), DisclosureRisk())
        if extras is None:
            extras = _usual_extras([*own, *(getattr(c, "measure", c) for c in constraints)])
        view = table.split(np.arange(table.n_records))
        self._record = np.empty(table.n_records, np.int64)  # the record of every tuple of the view
        self._record[view.row_tuple] = np.arange(table.n_records)
        super().__init__(
            table,
            objectives=own,
            constraints=constraints,
            suppression=suppression,
            extras=extras,
            threads=threads,
            view=view,
            n_var=len(self.parameter_space),
            xl=self.parameter_space.low,
            xu=self.parameter_space.high,
            vtype=float,
        )

    def scheme_parameters(self, x: NDArray[Any]) -> HybridParameters:
        """What a decision vector sets."""
        row = self._clean(np.atleast_2d(x))[0]
        n = len(self.hybrid_space.categorical)
        return HybridParameters(
            k=int(row[0]),
            epsilon_violating=float(row[1]),
            epsilon_other=float(row[2]),
            diversity=float(row[3]),
            least=tuple(int(level) for level in row[4 : 4 + n]),
            average=tuple(int(level) for level in row[4 + n :]),
        )

    def _clean(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Rows as the scheme reads them: the average level is never below the least."""
        rows = self.parameter_space.clean(X)
        n = len(self.hybrid_space.categorical)
        rows[:, 4 + n :] = np.maximum(rows[:, 4 + n :], rows[:, 4 : 4 + n])
        return rows

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """What decision vectors publish, as the engine groups it."""
        return self._candidates(X, 0)

    def _candidates(self, X: NDArray[Any], repeat: int) -> Candidates:
        cells = [self._published(x, repeat) for x in X]
        labels = np.stack([own.labels[self._record] for own in cells])
        return Candidates(labels=labels, cells=cells)

    def recoding(self, x: NDArray[Any]) -> CellRecoding:
        """What a decision vector publishes."""
        return self._published(x)

    def _published(self, x: NDArray[Any], repeat: int = 0) -> CellRecoding:
        return self.hybrid_space.recoding(self.scheme_parameters(x), self.noise_seed, repeat)

    def spread(self, X: NDArray[Any] | Front, *, repeats: int = 20) -> pd.DataFrame:
        """How much the measures of some solutions change under other noise.

        Args:
            X: Decision vectors, or a front.
            repeats: How many other draws of the noise.

        Returns:
            A row per solution and measure: its value with the noise that is released, and mean, standard
            deviation, smallest and largest value under the other draws.
        """
        whole_number("repeats", repeats, at_least=2)
        rows = np.atleast_2d(X.X if isinstance(X, Front) else np.asarray(X))
        if rows.dtype == object or rows.ndim != 2 or rows.shape[1] != self.n_var:
            raise ProblemError(f"spread: takes a front or rows of {self.n_var} variables")
        own = self.evaluate_measures(rows)
        tables = []
        for repeat in range(1, repeats + 1):
            parts = [
                self.engine.map(self._candidates(rows[i : i + 1], repeat), self._measure)
                for i in range(len(rows))
            ]
            tables.append(np.concatenate([part for found in parts for part in found]))
        values = np.stack(tables)
        names = [m.key for m in self.measures]
        return pd.DataFrame(
            [
                {
                    "solution": i,
                    "measure": name,
                    "released": own[name][i],
                    "mean": values[:, i, j].mean(),
                    "std": values[:, i, j].std(ddof=1),
                    "min": values[:, i, j].min(),
                    "max": values[:, i, j].max(),
                }
                for i in range(len(rows))
                for j, name in enumerate(names)
            ]
        )

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """One key per decision vector, equal where the scheme reads it alike."""
        return [
            hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in self._clean(X) + 0.0
        ]

    def parameters(self) -> dict[str, Any]:
        """What makes a recoding of parameters; the seed of the noise is not told."""
        space = self.hybrid_space
        return {
            "strict": space.strict,
            "split_by": {name: list(values) for name, values in space.split.values.items()},
            "records_violating": space.split.n_violating,
            "sensitivity": dict(
                zip((self.table.qi_names[j] for j in space.numeric), space.sensitivity, strict=True)
            ),
            "bounds": dict(
                zip(
                    (self.table.qi_names[j] for j in space.numeric),
                    map(list, space.bounds),
                    strict=True,
                )
            ),
            "weight": space.weight,
            "ranges": {p.name: [p.low, p.high] for p in self.parameter_space.parameters},
            "noise": self._noise_id(),
        }

    def _noise_id(self) -> str:
        """A few characters that differ for other noise, and tell nothing of it."""
        draws = self.hybrid_space.draws(self.noise_seed)
        return hashlib.blake2b(draws.tobytes(), digest_size=8).hexdigest()

    def default_operators(self) -> dict[str, Any]:
        """Parameters spread evenly, blended and moved on their scales."""
        return {
            "sampling": ParameterSampling(),
            "crossover": ParameterCrossover(),
            "mutation": ParameterMutation(),
            "eliminate_duplicates": HashDuplicates(),
        }


def _parameters(
    space: HybridSpace, k: tuple[int, int] | None, epsilon: tuple[float, float]
) -> list[Parameter]:
    if k is None:
        clustered = [space.split.n_violating, *([space.split.n_other] if space.strict else [])]
        k = 2, max(2, min([50, *(n for n in clustered if n)]))
    for name, ends in (("k", k), ("epsilon", epsilon)):
        check_pair(name, ends)
    for end in k:
        space.check_k(end)
    table = space.table
    most = min(math.log(max(int((a.totals > 0).sum()), 2)) for a in table.sensitive.values())
    levels = []
    for what in ("least", "average"):
        for j in space.categorical:
            qi = table.qis[j]
            highest = min(qi.max_level, node_cells(table)[j].height)
            levels.append(Parameter(f"{what}_{qi.name}", qi.min_level, highest, whole=True))
    return [
        Parameter("k", k[0], k[1], whole=True, logarithmic=True),
        Parameter("epsilon_violating", *epsilon, logarithmic=True),
        Parameter("epsilon_other", *epsilon, logarithmic=True),
        Parameter("diversity", 0.0, most),
        *levels,
    ]


def _usual_extras(wanted: Sequence[Any]) -> list[Measure]:
    extras: list[Measure] = [
        Distortion(),
        InformationLoss(),
        KAnonymity(),
        DisclosureRisk(aggregate="max").named("disclosure_risk_max"),
    ]
    known = {getattr(m, "key", None) for m in wanted}
    return [extra for extra in extras if extra.key not in known]
