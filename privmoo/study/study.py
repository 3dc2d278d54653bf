"""Study: the runs of several solvers on several problems, with tables, tests and pictures of them."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo import registry
from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError, nearest
from privmoo.front.front import Front
from privmoo.stats.medians import interquartile_range, median
from privmoo.stats.pairwise import pairwise
from privmoo.stats.rank_tests import check_alpha
from privmoo.stats.ranking import Ranking, rank
from privmoo.study import convergence, saving, tables, verdicts
from privmoo.study.indicators import INDICATORS, Box, Scale, better
from privmoo.study.outcomes import Outcome
from privmoo.study.participants import StudiedProblem, StudiedSolver

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Study"]

_FACTS = ("evaluations", "seconds", "infeasible", "reproducible", "over_budget", "over_seconds")


@dataclass(frozen=True)
class Study:
    """The runs of a comparison of solvers, made by `compare` or `Study.load`.

    Attributes:
        problems: The problems.
        solvers: The solvers.
        outcomes: The runs.
        settings: Seeds, budget, versions, machine.
        scale: How objectives are scaled for the indicators; see `scaled`.
    """

    problems: tuple[StudiedProblem, ...]
    solvers: tuple[StudiedSolver, ...]
    outcomes: tuple[Outcome, ...]
    settings: Mapping[str, Any]
    scale: Scale = "linear"

    # Numbers

    @cached_property
    def boxes(self) -> dict[str, Box]:
        """By problem: how its fronts are scaled, and the front they are compared with.

        A problem without any feasible run has none.
        """
        boxes = {}
        for problem in self.problems:
            runs = [o for o in self.outcomes if o.problem == problem.name and o.status == "ok"]
            exact = next((o.F for o in runs if o.facts.get("proven") is True), None)
            if runs:
                boxes[problem.name] = Box.of(
                    [o.F for o in runs],
                    problem.objectives,
                    np.array(problem.worst),
                    exact=exact,
                    scale=self.scale,
                )
        return boxes

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per run: status, indicators, size of the front, evaluations, seconds.

        A run that found nothing feasible has no hypervolume and is infinitely far from the reference; one
        that failed has no values at all.
        """
        rows = []
        for o in self.outcomes:
            box = self.boxes.get(o.problem)
            has_value = o.status != "failed" and box is not None
            F = o.F if o.status == "ok" else np.empty((0, 1))
            rows.append(
                {
                    "problem": o.problem,
                    "solver": o.solver,
                    "seed": o.seed,
                    "status": o.status,
                    **{
                        name: box.measure(name, F) if has_value and box is not None else np.nan
                        for name in INDICATORS
                    },
                    "front": len(o.F),
                    **{name: o.facts.get(name) for name in _FACTS},
                    "error": o.error,
                }
            )
        columns = ["problem", "solver", "seed", "status", *INDICATORS, "front", *_FACTS, "error"]
        frame = pd.DataFrame(rows, columns=columns)
        integer_columns = ["seed", "evaluations", "infeasible", "over_budget"]
        return frame.astype(dict.fromkeys(integer_columns, "Int64") | {"reproducible": "boolean"})

    def values(self, problem: str, indicator: str) -> dict[str, NDArray[np.float64]]:
        """Return an indicator's values of the runs on a problem, by solver, without failed runs.

        Args:
            problem: The name of the problem.
            indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
        """
        better(indicator)
        self.problem(problem)
        runs = self.frame[(self.frame["problem"] == problem) & (self.frame["status"] != "failed")]
        return {
            s.name: runs.loc[runs["solver"] == s.name, indicator].dropna().to_numpy(np.float64)
            for s in self.solvers
        }

    def summary(self) -> pd.DataFrame:
        """Return runs, failures, and medians of indicators with their spread, by problem and solver."""
        rows = []
        for problem in self.problems:
            by_indicator = {name: self.values(problem.name, name) for name in INDICATORS}
            for solver in self.solvers:
                runs = self.frame[
                    (self.frame["problem"] == problem.name) & (self.frame["solver"] == solver.name)
                ]
                row: dict[str, Any] = {
                    "problem": problem.name,
                    "solver": solver.name,
                    "runs": int((runs["status"] != "failed").sum()),
                    "failed": int((runs["status"] == "failed").sum()),
                }
                for name, values in by_indicator.items():
                    row[name] = median(values[solver.name])
                    row[f"{name}_iqr"] = interquartile_range(values[solver.name])
                rows.append(row)
        return pd.DataFrame(rows)

    def pairwise(self, indicator: str = "hypervolume", *, alpha: float = 0.05) -> pd.DataFrame:
        """Compare every pair of solvers on every problem: tests, Holm's correction over the pairs, A12.

        Args:
            indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
            alpha: The level of significance.

        Returns:
            A row per problem and pair. `better` is the solver that is significantly better, or better
            where both are deterministic; it is empty where no difference is shown.
        """
        larger = better(indicator) > 0
        check_alpha(alpha)
        constant = [s.name for s in self.solvers if s.deterministic]
        parts = []
        for problem in self.problems:
            values = self.values(problem.name, indicator)
            part = pairwise(values, larger=larger, constant=constant)
            part.insert(0, "problem", problem.name)
            parts.append(part)
        frame = pd.concat(parts, ignore_index=True)
        differ = (frame["p_holm"] < alpha) | ((frame["test"] == "none") & frame["a12"].notna())
        first = np.where(frame["a12"] > 0.5, frame["first"], frame["second"])
        frame["better"] = np.where(differ & (frame["a12"] != 0.5), first, "")
        return frame

    def ranking(self, indicator: str = "hypervolume", *, alpha: float = 0.05) -> Ranking:
        """Rank solvers over problems by the median of their runs, with Nemenyi's critical difference.

        Only problems count on which every solver has a run that did not fail.

        Args:
            indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
            alpha: The level of significance.
        """
        wide = self.summary().pivot(index="problem", columns="solver", values=indicator)
        wide = wide.reindex([p.name for p in self.problems])[[s.name for s in self.solvers]]
        return rank(wide.dropna(), larger=better(indicator) > 0, alpha=alpha)

    @property
    def failures(self) -> pd.DataFrame:
        """The runs that failed, and why."""
        frame = self.frame[self.frame["status"] == "failed"]
        return frame[["problem", "solver", "seed", "error"]].reset_index(drop=True)

    def convergence(
        self, indicator: str = "hypervolume", problem: str | None = None
    ) -> pd.DataFrame:
        """Return an indicator over evaluations, or over seconds where these are the budget.

        A deterministic solver has its value from the beginning; one whose search could not be watched,
        such as a grid of swarms, only at the end.

        Args:
            indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
            problem: The name of the problem; all problems by default.

        Returns:
            One row per run and step.
        """
        return convergence.convergence(self, indicator, problem)

    def verdict(self, indicator: str = "hypervolume", *, alpha: float = 0.05) -> str:
        """Return what the runs show at a level of significance, for each problem and over all problems.

        Args:
            indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
            alpha: The level, after Holm's correction over the pairs of a problem.
        """
        return verdicts.verdict(self, indicator, alpha)

    def to_markdown(
        self, indicators: Sequence[str] = tuple(INDICATORS), *, alpha: float = 0.05
    ) -> str:
        """Return the summary as a Markdown table, one row per problem and solver.

        Args:
            indicators: The indicators, one column each.
            alpha: The level of significance of the marks.
        """
        return tables.to_markdown(self, indicators, alpha)

    def to_latex(
        self, indicators: Sequence[str] = tuple(INDICATORS), *, alpha: float = 0.05
    ) -> str:
        """Return the summary as a LaTeX table (package booktabs), one row per problem and solver.

        Args:
            indicators: The indicators, one column each.
            alpha: The level of significance of the marks.
        """
        return tables.to_latex(self, indicators, alpha)

    def scaled(self, scale: Scale) -> Study:
        """Return the same runs with another scale of the objectives.

        Args:
            scale: `"linear"`, or `"decades"`: objectives that span more than two decades, such as k, by
                their logarithm, so that small k count as much as large ones.
        """
        if scale not in ("linear", "decades"):
            raise ProblemError(f"scale: must be 'linear' or 'decades', got {scale!r}")
        return replace(self, scale=scale)

    # Fronts and pictures

    def problem(self, name: str | None = None) -> StudiedProblem:
        """Return a problem by its name; the only one if no name is given."""
        by_name = {p.name: p for p in self.problems}
        if name is None and len(by_name) == 1:
            return self.problems[0]
        if name not in by_name:
            what = "name one of" if name is None else f"{name!r} is not one of"
            raise ProblemError(f"problem: {what} {', '.join(by_name)}{nearest(name, by_name)}")
        return by_name[name]

    def fronts(self, problem: str | None = None) -> dict[str, list[Front]]:
        """Return the fronts of all runs on a problem by solver, as values: to draw, not to release.

        To release a solution, run `optimize` with the same algorithm, budget and seed.

        Args:
            problem: The name of the problem; the only one by default.
        """
        entry = self.problem(problem)
        fronts: dict[str, list[Front]] = {s.name: [] for s in self.solvers}
        for o in self.outcomes:
            if o.problem == entry.name and o.status == "ok":
                fronts[o.solver].append(
                    Front(
                        quantities=entry.quantities,
                        n_objectives=entry.n_objectives,
                        values=o.values,
                        X=np.empty((len(o.values), 0)),
                        run={"algorithm": o.solver, "seed": o.seed, **o.facts},
                        description=entry.description,
                        dominated=np.empty((0, entry.n_objectives)),
                    )
                )
        return {name: runs for name, runs in fronts.items() if runs}

    @property
    def _colours(self) -> dict[str, int]:
        """The colour of every solver, the same in all pictures, even if another solver is missing."""
        return {solver.name: i for i, solver in enumerate(self.solvers)}

    def plot_convergence(
        self,
        problem: str | None = None,
        *,
        indicator: str = "hypervolume",
        ax: Axes | None = None,
    ) -> Axes:
        """Draw an indicator over the budget; see `privmoo.plot.plot_convergence`.

        Args:
            problem: The name of the problem; the only one by default.
            indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
            ax: Where to draw; a new figure by default.
        """
        return _draw("plot_convergence", self, problem, indicator=indicator, ax=ax)

    def plot_indicator(
        self,
        problem: str | None = None,
        *,
        indicator: str = "hypervolume",
        ax: Axes | None = None,
    ) -> Axes:
        """Draw boxes of an indicator, one per solver; see `privmoo.plot.plot_indicator`.

        Args:
            problem: The name of the problem; the only one by default.
            indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
            ax: Where to draw; a new figure by default.
        """
        return _draw("plot_indicator", self, problem, indicator=indicator, ax=ax)

    def plot_attainment(
        self,
        problem: str | None = None,
        *,
        objectives: Sequence[str] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw what the runs of every solver attain; see `privmoo.plot.plot_attainment`.

        Args:
            problem: The name of the problem; the only one by default.
            objectives: Two objectives; the first two by default.
            ax: Where to draw; a new figure by default.
        """
        fronts = self.fronts(problem)
        return _draw("plot_attainment", fronts, objectives=objectives, colours=self._colours, ax=ax)

    def plot_attainment_difference(
        self,
        first: str,
        second: str,
        problem: str | None = None,
        *,
        objectives: Sequence[str] | None = None,
    ) -> list[Axes]:
        """Draw where one solver attains more often than another.

        See `privmoo.plot.plot_attainment_difference`.

        Args:
            first: The name of one solver.
            second: The name of the other.
            problem: The name of the problem; the only one by default.
            objectives: Two objectives; the first two by default.
        """
        fronts = self.fronts(problem)
        for name in (first, second):
            if name not in fronts:
                raise ProblemError(
                    f"solver: {name!r} has no front; there are those of {', '.join(fronts)}"
                    f"{nearest(name, fronts)}"
                )
        pair = {name: fronts[name] for name in (first, second)}
        draw = registry.load("views", "plot_attainment_difference")
        axes: list[Axes] = draw(pair, objectives=objectives, colours=self._colours)
        return axes

    def plot_ranking(
        self, *, indicator: str = "hypervolume", alpha: float = 0.05, ax: Axes | None = None
    ) -> Axes:
        """Draw mean ranks over problems; see `privmoo.plot.plot_ranking`.

        Args:
            indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
            alpha: The level of significance.
            ax: Where to draw; a new figure by default.
        """
        return _draw("plot_ranking", self.ranking(indicator, alpha=alpha), ax=ax)

    # Files

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the study to a file of arrays and JSON, without code, that `load` reads.

        The file is for the publisher only, and only its owner may read it (mode 0600): it holds the values
        of all solutions and a fingerprint by which a guess of the table can be confirmed.

        Args:
            path: The file.
            force: Whether a file that exists is replaced.
        """
        saving.save(self, path, force=force)

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """Read a study that `save` wrote.

        Args:
            path: The file.

        Raises:
            CheckpointError: The file is missing or damaged.
        """
        return cls(**saving.read(path))

    def __repr__(self) -> str:
        return (
            f"Study of {count_noun(len(self.solvers), 'solver')} on "
            f"{count_noun(len(self.problems), 'problem')}: {count_noun(len(self.outcomes), 'run')}, "
            f"{len(self.failures):,} failed"
        )

    def _repr_html_(self) -> str:
        lines = str(self.verdict()).splitlines()
        verdict = "".join(f"<div>{html.escape(line)}</div>" for line in lines)
        summary = self.summary().to_html(index=False)
        return f"<div>{html.escape(repr(self))}</div>{summary}{verdict}"


def _draw(view: str, *content: Any, **options: Any) -> Axes:
    """Draw a view of the registry and return its axes."""
    axes: Axes = registry.load("views", view)(*content, **options)
    return axes
