"""Front: the trade-offs that a run found, to be filtered, asked, drawn and chosen from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated
from privmoo.data.table import Table
from privmoo.errors import InfeasibleError, ProblemError
from privmoo.front import advice, choice, marginal_rates, preferences, questions, views
from privmoo.front.archive import feasible_rows, share_of_box
from privmoo.front.quantities import RECORDS_SUPPRESSED, Quantity, find, quantities_of
from privmoo.front.solution import Solution

if TYPE_CHECKING:
    from privmoo.evaluation.evaluator import Evaluation
    from privmoo.front.gap import Gap
    from privmoo.problem import AnonymizationProblem
    from privmoo.recodings.recoding import Recoding

__all__ = ["Front"]


@dataclass(frozen=True, eq=False, repr=False)
class Front:
    """Feasible, non-dominated, distinct solutions, sorted by the first objective; immutable.

    Made by `optimize`, `Front.of` (decision vectors), `Front.from_result` (pymoo) or `Front.load`.

    Attributes:
        quantities: What is recorded of every solution: objectives first.
        n_objectives: How many of them are objectives.
        values: Solutions × quantities, in their natural sense (k up, loss down).
        X: The decision vectors.
        run: Algorithm, seed, generations, whether the run can be repeated, versions …
        description: The problem as plain data.
        dominated: Objective values of some evaluated candidates that are not on the front.
        infeasible: Those of some that broke a constraint; not kept in a file.
        problem: What was solved; None if the front was loaded without it.
        table: The records; None if the front was loaded without them.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> front = Front.of(problem, [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
    >>> front
    Front of 3 solutions: k 1 … 6, loss 0 % … 100 %
    >>> front.best("k"), front.where(max_loss=0.5)[-1], len(front[:2])
    (Solution 2 of 3: k = 6, 100 % loss, Solution 1 of 2: k = 3, 40 % loss, 2)
    """

    quantities: tuple[Quantity, ...]
    n_objectives: int
    values: NDArray[np.float64]
    X: NDArray[Any]
    run: Mapping[str, Any]
    description: Mapping[str, Any]
    dominated: NDArray[np.float64]
    problem: AnonymizationProblem | None = None
    table: Table | None = None
    recodings: tuple[Mapping[str, Any] | None, ...] | None = field(default=None)
    """Recodings as plain data, where the front was loaded, or where they were found elsewhere."""
    infeasible: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 1)))

    def __post_init__(self) -> None:
        for array in (self.values, self.X, self.dominated, self.infeasible):
            array.setflags(write=False)
        object.__setattr__(self, "run", MappingProxyType(dict(self.run)))
        object.__setattr__(self, "description", MappingProxyType(dict(self.description)))

    # Making one

    @classmethod
    def of(
        cls,
        problem: AnonymizationProblem,
        X: NDArray[Any] | Sequence[Any] = (),
        *,
        known: Sequence[Recoding] = (),
        run: Mapping[str, Any] | None = None,
        dominated: NDArray[np.float64] | None = None,
    ) -> Front:
        """Return the front of decision vectors: feasible, non-dominated and distinct ones only.

        Args:
            problem: What they are decisions of.
            X: One row per candidate; they are evaluated.
            known: Recodings that were found elsewhere, such as baselines, as further candidates.
            run: Facts about the search.
            dominated: Minimised objective values of other candidates, for the picture.
        """
        rows = np.array(X, copy=True)
        evaluation = problem.evaluator.evaluate(rows) if len(rows) else None
        return cls.judged(problem, evaluation, known=known, run=run, dominated=dominated)

    @classmethod
    def judged(
        cls,
        problem: AnonymizationProblem,
        evaluation: Evaluation | None,
        *,
        known: Sequence[Recoding] = (),
        run: Mapping[str, Any] | None = None,
        dominated: NDArray[np.float64] | None = None,
    ) -> Front:
        """Return the front of candidates that were judged already.

        Args:
            problem: What they are decisions of.
            evaluation: The judged candidates; None if there are none.
            known: Recodings that were found elsewhere, such as baselines, as further candidates.
            run: Facts about the search.
            dominated: Minimised objective values of other candidates, for the picture.
        """
        rows: NDArray[Any] = np.empty(0) if evaluation is None else evaluation.X
        known = [problem.adopt(recoding) for recoding in known]
        if not len(rows) + len(known):
            raise ProblemError("front: no candidates were given")
        quantities = quantities_of(problem)
        keys = problem.evaluator.names
        parts = [] if evaluation is None else [evaluation]
        recodings = [None] * len(rows) + [r.to_json() for r in known]
        if known:
            parts.append(problem.evaluator.judge_recodings(known))
            encoded = np.stack([problem.encode(recoding) for recoding in known])
            rows = np.concatenate([rows, encoded]) if len(rows) else encoded
        F, G, measured = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("F", "G", "values")
        )
        feasible = feasible_rows(F, G)
        if not len(feasible):
            raise InfeasibleError(nothing_feasible(problem, len(rows)))
        best = feasible[non_dominated(F[feasible])]
        values = measured[best][:, [keys.index(q.key) for q in quantities]]
        order = np.lexsort(values[:, : problem.n_obj].T[::-1])
        best, values = best[order], values[order]
        beside = np.empty((0, problem.n_obj)) if dominated is None else problem.minimised(dominated)
        return cls(
            quantities=quantities,
            n_objectives=problem.n_obj,
            values=values,
            X=rows[best],
            run=run or {},
            description=problem.describe(),
            dominated=beside,
            problem=problem,
            table=problem.table,
            recodings=tuple(recodings[i] for i in best) if known else None,
        )

    @classmethod
    def from_result(cls, problem: AnonymizationProblem, res: Any) -> Front:
        """The front of a plain pymoo result: what `pymoo.optimize.minimize` returned."""
        if res.X is None:
            raise InfeasibleError(
                nothing_feasible(problem, len(res.pop) if res.pop is not None else 0)
            )
        rows = np.atleast_2d(res.X)
        if res.pop is not None and len(res.pop):
            rows = np.concatenate([rows, res.pop.get("X")])
        algorithm = getattr(res, "algorithm", None)
        facts = {"algorithm": type(algorithm).__name__, "seed": algorithm.seed} if algorithm else {}
        return cls.of(problem, rows, run=facts)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the front to a file: arrays and JSON, no code; see `load`."""
        from privmoo.front.saving import save

        save(self, path, force=force)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        table: Table | None = None,
        problem: AnonymizationProblem | None = None,
    ) -> Front:
        """Read a front that `save` wrote.

        Args:
            path: The file.
            table: The table it was computed on, to explain and release solutions.
            problem: The problem it is a front of; needed where the problem has own parts.
        """
        from privmoo.front.saving import load

        return load(path, table=table, problem=problem)

    def merge(self, *fronts: Front) -> Front:
        """The front of several fronts of the same problem."""
        from privmoo.front.saving import plain

        for other in fronts:
            if not isinstance(other, Front):
                raise ProblemError(f"merge: takes fronts, got {type(other).__name__}")
            if plain(other.description) != plain(self.description):
                raise ProblemError(
                    "merge: the fronts are of different problems or tables; merge those of one problem"
                )
        everyone = (self, *fronts)
        values = np.concatenate([f.values for f in everyone])
        signs = np.array([q.sign for q in self.objectives])
        keep = np.flatnonzero(non_dominated(values[:, : self.n_objectives] * signs))
        keep = keep[np.lexsort(values[keep, : self.n_objectives].T[::-1])]
        recodings = None
        if any(f.recodings is not None for f in everyone):
            joined = [r for f in everyone for r in f.recodings or [None] * len(f)]
            recodings = tuple(joined[i] for i in keep)
        owner = next((f for f in everyone if f.problem is not None), self)
        return replace(
            self,
            values=values[keep],
            X=np.concatenate([f.X for f in everyone])[keep],
            run={"merged": [dict(f.run) for f in everyone]},
            dominated=np.concatenate([f.dominated for f in everyone]),
            problem=owner.problem,
            table=owner.table,
            recodings=recodings,
        )

    # A sequence of solutions

    @property
    def objectives(self) -> tuple[Quantity, ...]:
        """The quantities that were optimised."""
        return self.quantities[: self.n_objectives]

    @property
    def F(self) -> NDArray[np.float64]:  # noqa: N802  # pymoo's name
        """Objective values, minimised, as pymoo sees them."""
        signs = np.array([q.sign for q in self.objectives])
        return np.asarray(self.values[:, : self.n_objectives] * signs)

    def column(self, name: str) -> NDArray[np.float64]:
        """One recorded quantity of all solutions."""
        return self.values[:, self._place(name)]

    def _place(self, name: str) -> int:
        return self.quantities.index(find(self.quantities, name))

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Solution: ...
    @overload
    def __getitem__(self, index: slice) -> Front: ...
    def __getitem__(self, index: int | slice) -> Solution | Front:
        if isinstance(index, slice):
            return self.rows(np.arange(len(self))[index])
        try:
            return Solution(self, range(len(self))[index])
        except IndexError:
            raise IndexError(
                f"front: there is no solution {index}; it has {len(self):,}, counted from 0"
            ) from None

    def __iter__(self) -> Iterator[Solution]:
        return (self[i] for i in range(len(self)))

    def rows(self, rows: NDArray[np.intp]) -> Front:
        """Some of the solutions, by their places."""
        recodings = None if self.recodings is None else tuple(self.recodings[i] for i in rows)
        run = dict(self.run)
        if len(rows) < len(self):  # what is left out is missing: no longer a proven front
            for fact in ("proven", "proven_solutions", "bound"):
                run.pop(fact, None)
        return replace(self, values=self.values[rows], X=self.X[rows], recodings=recodings, run=run)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Front):
            return NotImplemented
        from privmoo.front.saving import plain

        return (
            plain(self.description) == plain(other.description)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.X, other.X)
        )

    def __hash__(self) -> int:
        return hash((self.values.tobytes(), self.n_objectives))

    def to_frame(self) -> pd.DataFrame:
        """Objectives, other measures and suppressed records, one row per solution."""
        frame = pd.DataFrame(
            {q.key: self.values[:, i] for i, q in enumerate(self.quantities)},
            index=pd.RangeIndex(len(self), name="solution"),
        )
        return frame.astype({RECORDS_SUPPRESSED: np.int64})

    # Choosing

    def where(self, **limits: float) -> Front:
        """The solutions within limits, such as `where(max_loss=0.25, min_k=5)`.

        Every recorded quantity can be limited by `max_` and `min_` before its name.
        """
        kept = choice.within(self, limits)
        if not kept.any():
            raise ProblemError(choice.nothing_within(self, limits))
        return self.rows(np.flatnonzero(kept))

    def best(self, name: str) -> Solution:
        """The best solution in one recorded quantity; of equal ones the best in the other objectives."""
        return self[choice.best(self, name)]

    @property
    def proven(self) -> bool:
        """Whether no solution can be missing: it was found by `exact_front`, to the end."""
        return self.run.get("proven") is True

    def gap(self, exact: Front | pd.DataFrame) -> Gap:
        """How far this front is from an exact one, or from a bound; see `privmoo.front.gap.gap`."""
        from privmoo.front.gap import gap

        return gap(self, exact)

    def knee(self) -> Solution:
        """The solution that bulges most towards the ideal point.

        Objectives are scaled from 0 (best of the front) to 1 (worst), on the axes of `plot`: by their
        logarithm where they spread over more than two decades. The knee is farthest below the plane
        through the extremes, that is, it has the least sum of scaled objectives (for two objectives
        Das 1999's characterisation).
        """
        return self[choice.knee(self)]

    def compromise(self, weights: Mapping[str, float] | None = None) -> Solution:
        """The solution closest to the ideal point in the augmented weighted Chebyshev distance.

        It minimises max(wᵢ·fᵢ) + 0.001·Σ wᵢ·fᵢ (Steuer and Choo 1983) over objectives fᵢ scaled as in
        `knee`; a larger weight makes an objective count more.

        Args:
            weights: By objective; those not named have 0. All have 1 by default.
        """
        return self[choice.compromise(self, weights)]

    def hypervolume(self, ref: Mapping[str, float] | Sequence[float] | None = None) -> float:
        """The share of the box between the best possible values and a reference point that is dominated.

        Args:
            ref: Objective values in their natural sense, by name or in order; the worst possible
                values by default.
        """
        worst = choice.reference_point(self.objectives, ref)
        signs = np.array([q.sign for q in self.objectives])
        ideal = signs * np.array([q.best for q in self.objectives])
        return share_of_box(self.F, ideal, signs * worst)

    # A publisher's questions, and help with deciding

    best_within = questions.best_within
    cheapest_with = questions.cheapest_with
    flat_regions = questions.flat_regions
    near = preferences.near
    pseudo_weights = preferences.pseudo_weights
    best_by_weights = preferences.best_by_weights
    high_trade_off = preferences.high_trade_off
    rates = marginal_rates.rates
    next_step = marginal_rates.next_step
    advice = advice.advice

    # Showing

    plot = views.plot
    plot_3d = views.plot_3d
    plot_parallel = views.plot_parallel
    plot_trade_off = views.plot_trade_off
    plot_rates = views.plot_rates
    explore = views.explore
    report = views.report

    def __repr__(self) -> str:
        from privmoo.front.text import summary

        return summary(self)

    def _repr_html_(self) -> str:
        from privmoo.front.text import as_html

        return as_html(self)


def nothing_feasible(problem: AnonymizationProblem, n: int) -> str:
    """The sentence for a search that found nothing."""
    said = ", ".join(map(repr, problem.constraints)) or "a release that is not empty"
    return (
        f"front: nothing feasible among {n:,} candidates, which must have {said}; relax a constraint, "
        "allow more suppression or search longer"
    )
