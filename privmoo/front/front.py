"""Front: the trade-offs that a search found, to filter, question, draw and choose from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo import registry
from privmoo._util.dominance import feasible_rows, non_dominated
from privmoo._util.packing import plain
from privmoo.data.table import Table
from privmoo.errors import InfeasibleError, ProblemError, nearest
from privmoo.evaluation.evaluator import Evaluation, join_evaluations
from privmoo.front import (
    affordable_columns,
    choice,
    flat_regions,
    hypervolume,
    knees,
    limits,
    marginal_rates,
    pseudo_weights,
    questions,
    reference_point,
    representation,
    saving,
    weighting,
)
from privmoo.front.advice import remarks
from privmoo.front.answer import Answer
from privmoo.front.choices import Choices, choices
from privmoo.front.gap import Gap, gap
from privmoo.front.proven_gap import ProvenGap, proven_gap
from privmoo.front.quantities import RECORDS_SUPPRESSED, Quantity, find, quantities_of
from privmoo.front.solution import Solution
from privmoo.problem import AnonymizationProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmoo.explorer.widget import Explorer
    from privmoo.recodings.base import Recoding
    from privmoo.release.release import Release

__all__ = ["Front", "thresholds_of"]


@dataclass(frozen=True, eq=False, repr=False)
class Front:
    """The feasible, non-dominated, distinct solutions of a problem, sorted by the first objective.

    A front is immutable. `optimize`, `Front.of` (from decision vectors), `Front.from_result` (from pymoo)
    and `Front.load` return one.

    Attributes:
        quantities: The quantities that are recorded for every solution, objectives first.
        n_objectives: How many of them are objectives.
        values: Solutions × quantities, in their natural sense (k up, loss down).
        X: The decision vectors.
        run: Algorithm, seed, generations, whether the run can be repeated, versions …
        description: The problem as plain data.
        dominated: Minimised objective values of evaluated candidates that are not on the front.
        problem: The problem that was solved; None if the front was loaded without it.
        table: The records; None if the front was loaded without them.
        recodings: The recodings as plain data if the front was loaded or they come from elsewhere.
        families: The family of recodings of every solution if the front has several; otherwise None.
        infeasible: Minimised objective values of candidates that broke a constraint; not saved.
        thresholds: Solutions × thresholds if a solution is a step of the staircase of its decision
            vector; NaN if the policy decides. None if no solution is a step.
        filters: How these solutions were selected from a larger front: the names of limited quantities,
            `"family"`, or `"choice"` if they were selected by their places. A public report needs them.
        numbers: The number of every solution: its place on the whole front. A part of a front keeps
            the numbers, so they identify solutions; a front that is not a part counts from 0.
        n_whole: The number of solutions of the whole front.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> front = Front.of(problem, [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
    >>> front
    Front of 3 solutions: k 1 … 6, loss 0 % … 100 %
    >>> front.best("k"), front.where(max_loss=0.5)[-1], len(front[:2])
    (Solution 2 of 3: k = 6, 100 % loss, Solution 1 of 3: k = 3, 40 % loss, 2)
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
    recodings: tuple[Mapping[str, Any] | None, ...] | None = None
    families: tuple[str, ...] | None = None
    infeasible: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 1)))
    thresholds: NDArray[np.float64] | None = None
    filters: frozenset[str] = frozenset()
    numbers: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    n_whole: int = 0

    def __post_init__(self) -> None:
        if not self.n_whole:
            object.__setattr__(self, "numbers", np.arange(len(self.values)))
            object.__setattr__(self, "n_whole", len(self.values))
        for array in (self.values, self.X, self.dominated, self.infeasible, self.numbers):
            array.setflags(write=False)
        if self.thresholds is not None and np.isnan(self.thresholds).any(axis=1).all():
            object.__setattr__(self, "thresholds", None)  # no solution is a step
        object.__setattr__(self, "run", MappingProxyType(dict(self.run)))
        object.__setattr__(self, "description", MappingProxyType(dict(self.description)))

    # Construction and files

    @classmethod
    def of(
        cls,
        problem: AnonymizationProblem,
        X: NDArray[Any] | Sequence[Any] = (),
        *,
        known: Sequence[Recoding] = (),
        run: Mapping[str, Any] | None = None,
        dominated: NDArray[np.float64] | None = None,
        stairs: bool = False,
    ) -> Front:
        """Evaluate candidates, and make a front from the feasible, non-dominated and distinct ones.

        Args:
            problem: The problem that the candidates solve.
            X: Decision vectors, one row per candidate.
            known: Recodings from elsewhere, such as those of baselines, to add as candidates.
            run: Facts about the search that found the candidates. Without them, a public report has no
                curve, because the candidates may have been selected by their sensitive values.
            dominated: Minimised objective values of other candidates, for the picture.
            stairs: Whether all thresholds of every decision vector are candidates too.

        Raises:
            InfeasibleError: No candidate is feasible.
        """
        rows = np.array(X, copy=True)
        evaluation = problem.evaluator.evaluate(rows, stairs=stairs) if len(rows) else None
        return cls.from_evaluation(problem, evaluation, known=known, run=run, dominated=dominated)

    @classmethod
    def from_evaluation(
        cls,
        problem: AnonymizationProblem,
        evaluation: Evaluation | None,
        *,
        known: Sequence[Recoding] = (),
        run: Mapping[str, Any] | None = None,
        dominated: NDArray[np.float64] | None = None,
    ) -> Front:
        """Make a front from candidates that were already evaluated.

        Args:
            problem: The problem that the candidates solve.
            evaluation: The evaluated candidates; None if there are none.
            known: Recodings from elsewhere, such as those of baselines, to add as candidates.
            run: Facts about the search.
            dominated: Minimised objective values of other candidates, for the picture.

        Raises:
            InfeasibleError: No candidate is feasible.
        """
        if evaluation is not None and evaluation.companions is not None:
            evaluation = join_evaluations(evaluation, evaluation.companions)
        rows: NDArray[Any] = np.empty(0) if evaluation is None else evaluation.X
        steps = None if evaluation is None else evaluation.thresholds
        further = [problem.adopt(recoding) for recoding in known]
        if not len(rows) + len(further):
            raise ProblemError("front: no candidates were given")
        quantities = quantities_of(problem)
        keys = problem.evaluator.names
        parts = [] if evaluation is None else [evaluation]
        recodings = [None] * len(rows) + [r.to_json() for r in further]
        if further:
            parts.append(problem.evaluator.judge_recodings(further))
            vectors = np.stack([problem.encode(recoding) for recoding in further])
            rows = np.concatenate([rows, vectors]) if len(rows) else vectors
        F, G, all_values = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("F", "G", "values")
        )
        feasible = feasible_rows(F, G)
        if not len(feasible):
            raise InfeasibleError(nothing_feasible(problem, len(rows)))
        best = feasible[non_dominated(F[feasible])]
        values = all_values[best][:, [keys.index(q.key) for q in quantities]]
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
            recodings=tuple(recodings[i] for i in best) if further else None,
            thresholds=None if steps is None else _thresholds(steps, len(rows))[best],
        )

    @classmethod
    def from_result(cls, problem: AnonymizationProblem, res: Any) -> Front:
        """Make a front from a plain pymoo result.

        Args:
            problem: The problem that was solved.
            res: What `pymoo.optimize.minimize` returned.

        Raises:
            InfeasibleError: The result has no feasible solution.
            ProblemError: The arguments are not a problem and a result, in this order.
        """
        if not isinstance(problem, AnonymizationProblem):
            raise ProblemError(
                f"problem: must be an AnonymizationProblem, got {type(problem).__name__}; write "
                "Front.from_result(problem, res)"
            )
        if not (hasattr(res, "X") and hasattr(res, "pop")):
            raise ProblemError(
                f"res: must be what pymoo's minimize returned, got {type(res).__name__}; write "
                "Front.from_result(problem, res)"
            )
        if res.X is None:
            raise InfeasibleError(
                nothing_feasible(problem, len(res.pop) if res.pop is not None else 0)
            )
        rows = np.atleast_2d(res.X)
        if res.pop is not None and len(res.pop):
            rows = np.concatenate([rows, res.pop.get("X")])
        algorithm = getattr(res, "algorithm", None)
        facts = {"algorithm": type(algorithm).__name__, "seed": algorithm.seed} if algorithm else {}
        return cls.of(problem, rows, run=facts, stairs=True)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the front to a file of arrays and JSON, without code, that `load` reads.

        The file is for the publisher only, and only its owner may read it (mode 0600): it holds the values
        of every solution, recodings of single records and a fingerprint by which a guess of the table can
        be confirmed.

        Args:
            path: The file.
            force: Whether a file that exists is replaced.
        """
        saving.save(self, path, force=force)

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
            table: The table that the front was computed on; needed to explain and release solutions.
            problem: The problem that the front belongs to; needed if it uses unregistered measures or
                policies.

        Raises:
            CheckpointError: The file is missing or damaged, or belongs to another table or problem.
        """
        return cls(**saving.read(path, table=table, problem=problem))

    def merge(self, *fronts: Front) -> Front:
        """Return the joint front of this front and others of the same problem."""
        for front in fronts:
            if not isinstance(front, Front):
                raise ProblemError(f"merge: takes fronts, got {type(front).__name__}")
            if plain(front.description) != plain(self.description):
                raise ProblemError(
                    "merge: the fronts belong to different problems or tables; merge those of one problem"
                )
        everyone = (self, *fronts)
        values = np.concatenate([f.values for f in everyone])
        signs = np.array([q.sign for q in self.objectives])
        keep = np.flatnonzero(non_dominated(values[:, : self.n_objectives] * signs))
        keep = keep[np.lexsort(values[keep, : self.n_objectives].T[::-1])]
        recodings = None
        if any(f.recodings is not None for f in everyone):
            all_recodings = [r for f in everyone for r in f.recodings or [None] * len(f)]
            recodings = tuple(all_recodings[i] for i in keep)
        families = None
        if all(f.families is not None for f in everyone):
            names = [name for f in everyone for name in f.families or ()]
            families = tuple(names[i] for i in keep)
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
            thresholds=thresholds_of(everyone, keep),
            families=families,
            filters=frozenset().union(*(f.filters for f in everyone)),
            n_whole=0,  # a new front, with numbers of its own
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
        """Return one recorded quantity of all solutions."""
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

    def rows(self, rows: NDArray[np.intp], *, by: Iterable[str] = ("choice",)) -> Front:
        """Return the front of some of the solutions.

        Args:
            rows: Their places on this front.
            by: The names of the quantities that decided, for `filters`.
        """
        recodings = None if self.recodings is None else tuple(self.recodings[i] for i in rows)
        run = dict(self.run)
        if len(rows) < len(self):  # what is left out is missing: no longer a proven front
            for fact in ("proven", "proven_solutions", "bound"):
                run.pop(fact, None)
        return replace(
            self,
            values=self.values[rows],
            X=self.X[rows],
            recodings=recodings,
            families=None if self.families is None else tuple(self.families[i] for i in rows),
            run=run,
            thresholds=None if self.thresholds is None else self.thresholds[rows],
            filters=self.filters.union(by),
            numbers=self.numbers[rows],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Front):
            return NotImplemented
        return (
            plain(self.description) == plain(other.description)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.X, other.X)
        )

    def __hash__(self) -> int:
        return hash((self.values.tobytes(), self.n_objectives))

    def to_frame(self) -> pd.DataFrame:
        """Return objectives, other measures and suppressed records, one row per number of a solution."""
        frame = pd.DataFrame(
            {q.key: self.values[:, i] for i, q in enumerate(self.quantities)},
            index=pd.Index(self.numbers, name="solution"),
        )
        return frame.astype({RECORDS_SUPPRESSED: np.int64})

    # Choice of a solution

    def choices(
        self, k: Sequence[float] | float | None = None, **steps: Sequence[float] | float
    ) -> Choices:
        """Return what k = 3, 5, 10, 20 and 50 would cost, side by side: the place to begin.

        Each choice is the cheapest solution with at least that k. The table shows its number, its figures,
        how many people are left out, the error of counts made on it, what happens to each column in a few
        words, and what the next step costs. If a front does not record k, the steps are those of ℓ, of t,
        or of its first maximised objective.

        Args:
            k: Other values of k, such as `[5, 25]`.
            steps: Steps of another recorded quantity instead: `l=[2, 3]`, `t=0.2`.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
        >>> front = pm.Front.of(pm.problems.Cuts(table), cuts)
        >>> front.choices()
                         k ≥ 3               k ≥ 5
        solution         1                   2
        k-anonymity      3                   6
        loss             40 %                100 %
        left out         nobody              nobody
        error of counts  0 %                 0 %
        age              ranges of 3 to 21   *
        next step        k ≥ 5: +60 points of loss
        >>> front.choices().suggested, front.choices(k=4)[0].solution
        (Solution 2 of 3: k = 6, 100 % loss, Solution 2 of 3: k = 6, 100 % loss)
        """
        return choices(self, steps if k is None else {"k": k, **steps})

    def where(self, *, family: str | None = None, **bounds: float) -> Front:
        """Return the front of the solutions within limits.

        Args:
            family: The family of the recodings, such as `"cuts"`, on a front of several families.
            bounds: Limits such as `max_loss=0.25, min_k=5`: every recorded quantity can be limited by
                `max_` and `min_` before its name.

        Raises:
            ProblemError: No solution is within the limits.
        """
        selection = self
        if family is not None:
            selection = self.rows(self._places_of_family(family), by=["family"])
        places = selection.places_within(**bounds)
        demands = limits.read_limits(self, bounds, "where").values()
        return selection.rows(places, by=[demand.quantity.key for demand in demands])

    def _places_of_family(self, family: str) -> NDArray[np.intp]:
        """Return the places of the solutions of a family."""
        names = sorted(set(self.families or ()))
        if family not in names:
            raise ProblemError(
                f"where: this front has no solutions of the family {family!r}; "
                + (
                    f"it has {', '.join(names)}"
                    if names
                    else "it has only one family; leave the argument out"
                )
                + nearest(family, names)
            )
        return np.flatnonzero(np.array(self.families) == family)

    def places_within(self, **bounds: float) -> NDArray[np.intp]:
        """Return the places on this front of the solutions within limits.

        Args:
            bounds: Limits as for `where`.

        Raises:
            ProblemError: No solution is within the limits.
        """
        demands = limits.read_limits(self, bounds, "where").values()
        inside = limits.within(self, demands)
        if demands and not inside.any():
            raise ProblemError(limits.nothing_within(self, demands, "where"))
        return np.flatnonzero(inside)

    def best(self, name: str) -> Solution:
        """Return the solution that is best in one recorded quantity.

        Args:
            name: The quantity; the other objectives decide between equal solutions.
        """
        return self[choice.best(self, name)]

    def knee(self) -> Solution:
        """Return the solution that bulges most towards the ideal point, among those that protect people.

        Objectives are scaled from 0 (best of the front) to 1 (worst), on the axes of `plot`: by their
        logarithm if they spread over more than two decades. The knee is farthest below the plane through
        the extremes, that is, it has the smallest sum of scaled objectives (for two objectives, this is the
        characterisation of Das 1999). Solutions with k = 1 are left out, unless there are no others. A knee
        depends on the range of the front, so ask for it within limits: `front.where(max_k=50).knee()`. It
        is a property of the curve, not a recommendation; see `choices`.
        """
        return self[knees.knee(self)]

    def compromise(self, weights: Mapping[str, float] | None = None) -> Solution:
        """Return the solution closest to the ideal point in the augmented weighted Chebyshev distance.

        It minimises max(wᵢ·fᵢ) + 0.001·Σ wᵢ·fᵢ (Steuer and Choo 1983) over objectives fᵢ scaled as in
        `knee`; a larger weight makes an objective count more.

        Args:
            weights: The weight of each objective; 0 for those not named. By default all have 1.
        """
        return self[choice.compromise(self, weights)]

    def pseudo_weights(self) -> pd.DataFrame:
        """Return how strongly each solution favours each objective.

        The pseudo-weight of objective i is wᵢ = (1 - fᵢ) / Σⱼ (1 - fⱼ), over objectives scaled from 0
        (best of the front) to 1 (worst) as in `knee` (Deb 2001, Multi-Objective Optimization Using
        Evolutionary Algorithms, the pseudo-weight vector approach). The best solution in one objective
        and the worst in the other has the weights 1 and 0. An objective in which all solutions are equal
        has no weight.

        Returns:
            A row per solution, a column per objective; every row adds up to 1.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
        >>> pm.Front.of(pm.problems.Cuts(table), cuts).pseudo_weights()
                    k  loss
        solution
        0         0.0   1.0
        1         0.4   0.6
        2         1.0   0.0
        """
        return pseudo_weights.pseudo_weights(self)

    def best_by_weights(self, weights: Mapping[str, float]) -> Solution:
        """Return the solution whose pseudo-weights are nearest to the given weights.

        The distance is the sum of the differences. Unlike a weighted sum, it finds solutions in every
        part of a front, even where the front is not convex.

        Args:
            weights: The weight of each objective, with any sum; 0 for those not named.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
        >>> pm.Front.of(pm.problems.Cuts(table), cuts).best_by_weights({"k": 0.7, "loss": 0.3})
        Solution 1 of 3: k = 3, 40 % loss
        """
        return self[pseudo_weights.best_by_weights(self, weights)]

    def with_weights(self, weights: Mapping[str, float]) -> Front:
        """Return the front that other weights of the columns leave, without a search.

        Every solution is measured again: it is the same release, and what its columns lose counts by the
        new weights. Those that another one dominates now are left out; the others keep their numbers. A
        search with these weights may find better ones: continue with `refine`.

        Args:
            weights: Weights by quasi-identifier, such as `{"age": 3}`; those that are not named stay.

        Raises:
            ProblemError: The weights decide what the solutions publish, so that only a search can tell.

        >>> import pandas as pd, privmoo as pm
        >>> frame = pd.DataFrame({"age": [20, 20, 20, 30, 30, 30], "sex": list("fmmfmm")})
        >>> table = pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.ordered(),
        ...                                            "sex": pm.Hierarchy.flat()})
        >>> front = pm.Front.of(pm.problems.Levels(table), [[0, 0], [1, 0], [0, 1], [1, 1]])
        >>> front[1], front.with_weights({"sex": 3})[1]
        (Solution 1 of 3: k = 3, 50 % loss, Solution 1 of 3: k = 3, 75 % loss)
        """
        return weighting.with_weights(self, weights)

    def refine(
        self,
        near: Mapping[str, float] | None = None,
        *,
        seconds: float | None = None,
        budget: Any = None,
        seed: int | None = None,
        progress: bool = True,
    ) -> Front:
        """Continue the search near some values, and return the joint front of old and new solutions.

        The search starts from the nearest solutions, and concentrates on the values around the wishes. This
        front stays as it is, so there is nothing to undo.

        Args:
            near: Values by objective, such as `{"k": 10, "loss": 0.2}`; everywhere by default.
            seconds: How long to search.
            budget: A budget to use instead, as for `optimize`, so that a seeded search can be repeated.
            seed: Makes the search repeatable; drawn if not given.
            progress: Whether to show a progress bar.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
        >>> front.refine({"k": 3}, budget=5, seed=1, progress=False).cheapest_with(min_k=3).solution
        Solution 2 of 4: k = 3, 40 % loss
        """
        front: Front = registry.load("views", "refine")(
            self, near, seconds=seconds, budget=budget, seed=seed, progress=progress
        )
        return front

    # Quality

    @property
    def proven(self) -> bool:
        """Whether no solution can be missing, because an exact search ran to its end."""
        return self.run.get("proven") is True

    @overload
    def gap(self, exact: None = None) -> ProvenGap: ...
    @overload
    def gap(self, exact: Front | pd.DataFrame) -> Gap: ...
    def gap(self, exact: Front | pd.DataFrame | None = None) -> Gap | ProvenGap:
        """Return how far this front is from an exact one, or from a bound.

        Args:
            exact: The result of `exact_front` or `lower_bound`. Without it, the answer is what the exact
                search behind this front has proven: for every k, the best value that was found, and the
                best that is still possible.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> front = pm.exact_front(pm.problems.Cuts(table), progress=False)
        >>> front.gap()
        ProvenGap: none, the front is proven for every k from 1 to 6
        >>> front.gap().at(3)
        'at k = 3 the best recoding of this kind has 40 % loss: proven'
        """
        return proven_gap(self) if exact is None else gap(self, exact)

    def hypervolume(self, ref: Mapping[str, float] | Sequence[float] | None = None) -> float:
        """Compute the dominated share of the box between the best possible values and a reference point.

        Args:
            ref: Objective values in their natural sense, by name or in order; the worst possible
                values by default.
        """
        return hypervolume.hypervolume(self, ref)

    # A publisher's questions (Dewri et al. 2011), and help with deciding

    def best_within(
        self, *, maximise: str | Sequence[str] | None = None, **bounds: float
    ) -> Answer:
        """Answer how much privacy is possible within limits (questions 1, 2 and 4 of the paper).

        `front.best_within(max_loss=0.25, maximise="k")` answers with numbers and with the runner-up just
        outside the limit: "k = 14 at 24.9 % loss; allowing 26 % loss would give k = 17". With several
        names the answer is the solution within the limits that balances them (see `compromise`).

        Args:
            maximise: The quantity to maximise; by default, the first objective that is maximised. To
                minimise a quantity, see `cheapest_with`.
            bounds: Limits such as `max_loss=0.25`, as for `where`.
        """
        return questions.best_within(self, maximise, bounds)

    def cheapest_with(self, *, minimise: str | None = None, **bounds: float) -> Answer:
        """Answer whether demands can be met together, and at what cost (question 3 of the paper).

        `front.cheapest_with(min_k=5, min_l=3)` answers "possible: k = 6 and ℓ = 3.2 at 18 % loss; …".

        Args:
            minimise: The quantity to minimise; by default, the first objective that is minimised.
            bounds: Demands such as `min_k=5`, as for `where`.
        """
        return questions.cheapest_with(self, minimise, bounds)

    def near(self, **wishes: float) -> Answer:
        """Answer which solution comes closest to wishes such as "about k = 20 and 20 % loss".

        Wishes are a reference point. The answer minimises the achievement scalarising function
        maxᵢ (fᵢ - zᵢ) / rᵢ (Wierzbicki 1980) of the wishes zᵢ, on the axes of `plot`, where rᵢ is the range
        of the front; among equal solutions, the smallest sum decides, which is the augmented function with
        a vanishing factor. If all wishes can be met together, the solution exceeds them as far as possible;
        otherwise it falls short of them evenly. Objectives without a wish are as good as the wishes allow.

        Args:
            wishes: Values by recorded quantity, such as `k=20, loss=0.2`.

        Returns:
            The solution, whether it meets the wishes or by how much it misses them, and for each missed
            wish a solution that would meet it.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
        >>> front = pm.Front.of(pm.problems.Cuts(table), cuts)
        >>> front.near(k=2, loss=0.5)
        reached: k = 3 and 40 % loss
        >>> front.near(k=4, loss=0.3)
        not reached: the closest is k = 3 (1 too low) and 40 % loss (10 points too high); with k ≥ 4 it
        would be k = 6 and 100 % loss; with loss ≤ 30 % it would be k = 1 and 0 % loss
        """
        return reference_point.near(self, wishes)

    def flat_regions(
        self,
        *,
        gain: str | None = None,
        cost: str | None = None,
        steepness: float = 2.0,
        min_gain: float = 0.03,
    ) -> pd.DataFrame:
        """Return where much is gained for little loss (Dewri et al. 2011, section 7.2).

        On the axes of `plot`, gain and cost go from 0 to 1 over the front, so that the gain per cost is
        1 on average. A region is flat while gain exceeds `steepness` times the cost. On a front of three
        objectives, only solutions that are not dominated in gain and cost count.

        Args:
            gain: What is gained; the first objective that is maximised by default.
            cost: What is paid; the first objective that is minimised by default.
            steepness: The least gain per cost, as a multiple of the front's average.
            min_gain: The least gain of a region, as a share of the front's whole range.

        Returns:
            A row per region in the order of the cost: cost and gain at both ends, the numbers of the two
            solutions, and the steepness.
        """
        return flat_regions.flat_regions(
            self, gain=gain, cost=cost, steepness=steepness, min_gain=min_gain
        )

    def high_trade_off(self, *, radius: float = 0.1, min_worth: float = 1.0) -> pd.DataFrame:
        """Return local knees: solutions from which every step to a neighbour loses more than it gains.

        Going from a solution to another loses Σ max(0, Δfᵢ) and gains Σ max(0, -Δfᵢ), over objectives
        scaled as in `knee`. The worth of a solution is the least loss per gain among its neighbours
        (Rachmawati and Srinivasan 2009, IEEE Trans. Evol. Comput. 13(4), the trade-off metric µ; Branke et
        al. 2004 proposed to prefer such solutions). The neighbours are all solutions within `radius` and,
        for every objective, the nearest solution that is better in it. Solutions that are best in some
        objective are ends of the front and are left out. If all solutions are neighbours, only the knee
        loses more than it gains in every direction.

        Args:
            radius: How far neighbours may differ in any scaled objective.
            min_worth: The worth above which a solution is listed.

        Returns:
            A row per local knee, by its number: its objectives and its `worth`, the largest first.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> cuts = [[1, 1, 1, 1, 1], [0, 1, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
        >>> list(pm.Front.of(pm.problems.Cuts(table), cuts).high_trade_off().columns)
        ['k', 'loss', 'worth']
        """
        return knees.high_trade_off(self, radius=radius, min_worth=min_worth)

    def rates(
        self, *, gain: str | None = None, cost: str | None = None, step: float | None = None
    ) -> pd.DataFrame:
        """Return the marginal rates of substitution: every step along a trade-off and what it buys.

        Steps go from each solution to the next more expensive one, among those that no other beats in
        gain and cost. The rate of a step is |Δ gain| / |Δ cost| (Miettinen 1999, Nonlinear Multiobjective
        Optimization: the trade-off of two objectives, with the front's own neighbours for the
        derivative), counted as axes are: per percentage point if the cost is a fraction.

        Args:
            gain: What is bought; the first objective that is maximised by default.
            cost: What is paid; the first objective that is minimised by default.
            step: The amount of cost that the sentences are about; see `next_step`.

        Returns:
            A row per step, by the number of its first solution: `next_solution`, cost and gain before
            the step, their changes (`…_step`), the `rate`, and what `next_step` says there.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
        >>> front = pm.Front.of(pm.problems.Cuts(table), cuts)
        >>> front.rates()[["next_solution", "loss_step", "k_step", "rate"]].round(3)
                  next_solution  loss_step  k_step  rate
        solution
        0                     1        0.4     2.0  0.05
        1                     2        0.6     3.0  0.05
        """
        return marginal_rates.rates(self, gain=gain, cost=cost, step=step)

    def next_step(
        self,
        solution: Solution | int,
        *,
        gain: str | None = None,
        cost: str | None = None,
        step: float | None = None,
    ) -> Answer:
        """Answer what a little more of the cost buys, seen from one solution.

        The answer is the best solution that costs at most `step` more: "the next 1 point of loss buys k
        +6". If there is none, it is the next better one, whatever it costs.

        Args:
            solution: A solution of the front, or its number.
            gain: What is bought; the first objective that is maximised by default.
            cost: What is paid; the first objective that is minimised by default.
            step: The amount of cost, 0.01 by default if it is a fraction (one percentage point),
                otherwise a round hundredth of the front's range.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
        >>> front = pm.Front.of(pm.problems.Cuts(table), cuts)
        >>> front.next_step(0)
        the next 1 point of loss buys nothing; 40 points more loss buys k +2: k = 3 at 40 % loss
        >>> front.next_step(0, step=0.5)
        the next 50 points of loss buys k +2: k = 3 at 40 % loss
        >>> front.next_step(2)
        more loss buys nothing: k = 6 is the most
        """
        return marginal_rates.next_step(self, solution, gain=gain, cost=cost, step=step)

    def for_a_little_more(self, solution: Solution | int, *, at_most: float = 0.05) -> list[Answer]:
        """Answer which columns a little more of the cost would keep as they are.

        "2 % more people left out keeps 'roof' as it is": each answer is a solution of this front that is no
        worse in any other objective and costs at most `at_most` more.

        Args:
            solution: A solution of the front, or its number.
            at_most: The largest additional cost: 0.05 means five percentage points if the cost is a
                fraction, and otherwise 5 % of the front's range.

        >>> import pandas as pd, privmoo as pm
        >>> frame = pd.DataFrame({"age": [20, 20, 30, 30, 40, 40, 50], "roof": list("ttttsst")})
        >>> table = pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.ordered(),
        ...                                            "roof": pm.Hierarchy.flat()})
        >>> problem = pm.problems.Levels(table, suppression=pm.BelowThreshold(2))
        >>> front = pm.Front.of(problem, [[1, 0], [0, 0], [1, 1]])
        >>> front.for_a_little_more(0, at_most=1.0)
        []
        """
        return affordable_columns.for_a_little_more(self, solution, at_most)

    def advice(self) -> str:
        """Describe what the front offers, where it is worth looking, and which questions to ask.

        `plot_trade_off` shows the same sentences next to its picture: the choices and where to begin, the
        range, the knee and the marginal rate there, flat regions, other local knees, and questions that
        fit this front.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
        >>> print(pm.Front.of(pm.problems.Cuts(table), cuts).advice())
        The choices: k ≥ 3 at 40 % loss (solution 1), k ≥ 5 at 100 % loss (solution 2); begin with
        solution 2, k = 6 and 100 % loss.
        The range: 3 solutions, from k = 1 at 0 % loss to k = 6 at 100 % loss.
        To ask: front.choices(), front.best_within(max_loss=1), front.cheapest_with(min_k=5),
        front.near(k=5, loss=1), front.next_step(2), front.rates(), front.plot_trade_off().
        """
        return "\n".join(f"{title}: {text}" for title, text in remarks(self))

    # Pictures, the explorer and its file

    def plot(
        self,
        pick: Solution | None = None,
        ax: Axes | None = None,
        *,
        objectives: Sequence[str] | None = None,
    ) -> Any:
        """Draw the front with dominated candidates in grey, and mark the knee and one solution.

        Args:
            pick: The solution to mark; by default, the one that `choices` suggests.
            ax: Where to draw; a new figure by default.
            objectives: The objectives to draw; all by default.

        Returns:
            The axes; an array of axes, one per pair, if there are three or more objectives.
        """
        return registry.load("views", "plot_front")(self, pick=pick, ax=ax, objectives=objectives)

    def plot_3d(self, **options: Any) -> Any:
        """Draw three objectives in space.

        Args:
            options: Arguments of `privmoo.plot.plot_front_3d`.
        """
        return registry.load("views", "plot_front_3d")(self, **options)

    def plot_parallel(self, **options: Any) -> Axes:
        """Draw all objectives as parallel coordinates, one line per solution.

        Args:
            options: Arguments of `privmoo.plot.plot_parallel`.
        """
        axes: Axes = registry.load("views", "plot_parallel")(self, **options)
        return axes

    def plot_trade_off(self, **options: Any) -> Axes:
        """Draw what is gained at which cost, with flat regions magnified.

        Args:
            options: Arguments of `privmoo.plot.plot_trade_off`.
        """
        axes: Axes = registry.load("views", "plot_trade_off")(self, **options)
        return axes

    def plot_rates(self, **options: Any) -> Axes:
        """Draw what each step along the trade-off buys.

        Args:
            options: Arguments of `privmoo.plot.plot_rates`.
        """
        axes: Axes = registry.load("views", "plot_rates")(self, **options)
        return axes

    def explore(self, pick: Solution | None = None) -> Explorer:
        """Show the explorer in JupyterLab, Notebook 7 or VS Code: linked views of all solutions.

        Its state can be read and set from Python: see `privmoo.explorer.widget.Explorer`.
        `privmoo.explore` shows several fronts at once.

        Args:
            pick: A solution to mark.
        """
        explorer: Explorer = registry.load("views", "explore")(self, pick=pick)
        return explorer

    def report(
        self,
        path: str | Path,
        *,
        pick: Solution | None = None,
        release: Release | None = None,
        public: bool = False,
        force: bool = False,
        exploration: Mapping[str, Any] | str | Path | None = None,
    ) -> None:
        """Write a report on the front as one HTML file that loads nothing else.

        By default it is the explorer of all solutions, **for the publisher only**: together with a release,
        labels and counts of the other solutions reveal what the release hides. Only its owner may read the
        file (mode 0600).

        With `public=True` it is a page about the pick that may go out with the release: it contains
        only what anybody can count in the released rows and, if that is harmless, a rounded curve of
        the trade-off. See `privmoo.explorer.write_report`.

        Args:
            path: The file.
            pick: The solution to publish: its rows and certificate go into the explorer; a public report is
                about this solution only.
            release: The release of the pick; by default, it is made now.
            public: Whether the report may be passed on.
            force: Whether a file that exists is replaced.
            exploration: Limits, order of the axes, shortlist and comments to begin with, as
                `Explorer.exploration` or a file that the explorer saved.
        """
        write_report = registry.load("views", "report")
        options = {"public": public, "force": force, "exploration": exploration}
        write_report(self, path, pick=pick, release=release, **options)

    def __repr__(self) -> str:
        return representation.summary(self)

    def _repr_html_(self) -> str:
        return representation.as_html(self)


def _thresholds(steps: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the thresholds of n solutions, of which only the first may be steps."""
    missing = np.full((n - len(steps), steps.shape[1]), np.nan)
    return np.concatenate([steps, missing])


def thresholds_of(fronts: Sequence[Front], keep: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Return the thresholds of solutions of several fronts in a row; None if there are none.

    Args:
        fronts: The fronts.
        keep: The places of the solutions, counted through all fronts.
    """
    widths = [f.thresholds.shape[1] for f in fronts if f.thresholds is not None]
    if not widths:
        return None
    nothing = np.empty((0, widths[0]))
    parts = [_thresholds(nothing if f.thresholds is None else f.thresholds, len(f)) for f in fronts]
    return np.asarray(np.concatenate(parts)[keep])


def nothing_feasible(problem: AnonymizationProblem, n: int) -> str:
    """Return the error sentence for a search without a feasible candidate.

    Args:
        problem: The problem.
        n: How many candidates were evaluated.
    """
    demand = ", ".join(map(repr, problem.constraints)) or "a release that is not empty"
    return (
        f"front: nothing feasible among {n:,} candidates, which must have {demand}; relax a constraint, "
        "allow more suppression or search longer"
    )
