"""Study: the runs of several solvers on several problems, and what can be said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError, nearest
from privmoo.front.front import Front
from privmoo.front.quantities import Quantity
from privmoo.stats import tests as statistics
from privmoo.study import tables, verdicts, views
from privmoo.study.convergence import convergence
from privmoo.study.indicators import INDICATORS, Box, Scale, better
from privmoo.study.outcomes import Outcome

if TYPE_CHECKING:
    from privmoo.stats.tests import Ranking

__all__ = ["StudiedProblem", "StudiedSolver", "Study"]

_FACTS = ("evaluations", "seconds", "infeasible", "reproducible", "over_budget", "over_seconds")


@dataclass(frozen=True)
class StudiedProblem:
    """What a study keeps of a problem.

    Attributes:
        name: How tables call it.
        quantities: What is recorded of every solution, objectives first.
        n_objectives: How many are objectives.
        worst: The worst values of the objectives, as minimised.
        description: The problem as plain data.
    """

    name: str
    quantities: tuple[Quantity, ...]
    n_objectives: int
    worst: tuple[float, ...]
    description: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def objectives(self) -> tuple[Quantity, ...]:
        """The quantities that are optimised."""
        return self.quantities[: self.n_objectives]


@dataclass(frozen=True)
class StudiedSolver:
    """What a study keeps of a solver: its name, whether chance is in it, and its settings by problem."""

    name: str
    deterministic: bool
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Study:
    """The runs of a comparison; made by `compare` or `Study.load`.

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

        Problems for which no run found anything have none.
        """
        found = {}
        for problem in self.problems:
            own = [o for o in self.outcomes if o.problem == problem.name and o.status == "ok"]
            exact = next((o.F for o in own if o.facts.get("proven") is True), None)
            if own:
                found[problem.name] = Box.of(
                    [o.F for o in own],
                    problem.objectives,
                    np.array(problem.worst),
                    exact=exact,
                    scale=self.scale,
                )
        return found

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per run: status, indicators, size of the front, evaluations, seconds.

        A run that found nothing feasible has no hypervolume and is infinitely far from the reference; one
        that failed has no values at all.
        """
        rows = []
        for o in self.outcomes:
            box = self.boxes.get(o.problem)
            known = o.status != "failed" and box is not None
            F = o.F if o.status == "ok" else np.empty((0, 1))
            rows.append(
                {
                    "problem": o.problem,
                    "solver": o.solver,
                    "seed": o.seed,
                    "status": o.status,
                    **{
                        name: box.measure(name, F) if known and box is not None else np.nan
                        for name in INDICATORS
                    },
                    "front": len(o.F),
                    **{name: o.facts.get(name) for name in _FACTS},
                    "error": o.error,
                }
            )
        columns = ["problem", "solver", "seed", "status", *INDICATORS, "front", *_FACTS, "error"]
        frame = pd.DataFrame(rows, columns=columns)
        whole = ["seed", "evaluations", "infeasible", "over_budget"]
        return frame.astype(dict.fromkeys(whole, "Int64") | {"reproducible": "boolean"})

    def values(self, problem: str, indicator: str) -> dict[str, NDArray[np.float64]]:
        """The indicator's values of the runs on a problem, by solver; without runs that failed."""
        better(indicator)
        self.problem(problem)
        own = self.frame[(self.frame["problem"] == problem) & (self.frame["status"] != "failed")]
        return {
            s.name: own.loc[own["solver"] == s.name, indicator].dropna().to_numpy(np.float64)
            for s in self.solvers
        }

    def summary(self) -> pd.DataFrame:
        """Per problem and solver: runs, failures, and median and interquartile range of each indicator."""
        rows = []
        for problem in self.problems:
            by_indicator = {name: self.values(problem.name, name) for name in INDICATORS}
            for solver in self.solvers:
                own = self.frame[
                    (self.frame["problem"] == problem.name) & (self.frame["solver"] == solver.name)
                ]
                row: dict[str, Any] = {
                    "problem": problem.name,
                    "solver": solver.name,
                    "runs": int((own["status"] != "failed").sum()),
                    "failed": int((own["status"] == "failed").sum()),
                }
                for name, values in by_indicator.items():
                    row[name] = statistics.median(values[solver.name])
                    row[f"{name}_iqr"] = _spread(values[solver.name])
                rows.append(row)
        return pd.DataFrame(rows)

    def pairwise(self, indicator: str = "hypervolume", *, alpha: float = 0.05) -> pd.DataFrame:
        """Every pair of solvers on every problem: tests, Holm's correction over the pairs, A12.

        `better` is the solver that is significantly better, or, where neither has chance in it, better;
        empty where no difference is shown.
        """
        larger = better(indicator) > 0
        statistics.check_alpha(alpha)
        constant = [s.name for s in self.solvers if s.deterministic]
        parts = []
        for problem in self.problems:
            own = statistics.pairwise(
                self.values(problem.name, indicator), larger=larger, constant=constant
            )
            own.insert(0, "problem", problem.name)
            parts.append(own)
        frame = pd.concat(parts, ignore_index=True)
        shown = (frame["p_holm"] < alpha) | ((frame["test"] == "none") & frame["a12"].notna())
        first = np.where(frame["a12"] > 0.5, frame["first"], frame["second"])
        frame["better"] = np.where(shown & (frame["a12"] != 0.5), first, "")
        return frame

    def ranking(self, indicator: str = "hypervolume", *, alpha: float = 0.05) -> Ranking:
        """Mean ranks over problems by the median of the runs, with Nemenyi's critical difference.

        Only problems count on which every solver has a run that did not fail.
        """
        wide = self.summary().pivot(index="problem", columns="solver", values=indicator)
        wide = wide.reindex([p.name for p in self.problems])[[s.name for s in self.solvers]]
        return statistics.rank(wide.dropna(), larger=better(indicator) > 0, alpha=alpha)

    @property
    def failures(self) -> pd.DataFrame:
        """The runs that failed, and why."""
        frame = self.frame[self.frame["status"] == "failed"]
        return frame[["problem", "solver", "seed", "error"]].reset_index(drop=True)

    convergence = convergence
    verdict = verdicts.verdict
    to_markdown = tables.to_markdown
    to_latex = tables.to_latex

    def scaled(self, scale: Scale) -> Study:
        """The same runs with objectives scaled otherwise.

        Args:
            scale: `"linear"`, or `"decades"`: objectives that span more than two decades, such as k, by
                their logarithm, so that small k count as much as large ones.
        """
        if scale not in ("linear", "decades"):
            raise ProblemError(f"scale: must be 'linear' or 'decades', got {scale!r}")
        return replace(self, scale=scale)

    # Fronts and pictures

    def problem(self, name: str | None = None) -> StudiedProblem:
        """A problem by name; the only one if none is named."""
        known = {p.name: p for p in self.problems}
        if name is None and len(known) == 1:
            return self.problems[0]
        if name not in known:
            what = "name one of" if name is None else f"{name!r} is none of"
            raise ProblemError(f"problem: {what} {', '.join(known)}{nearest(name, known)}")
        return known[name]

    def fronts(self, problem: str | None = None) -> dict[str, list[Front]]:
        """The fronts of all runs on a problem by solver, as values: to draw, not to release.

        To release a solution, run `optimize` with the same algorithm, budget and seed.
        """
        own = self.problem(problem)
        found: dict[str, list[Front]] = {s.name: [] for s in self.solvers}
        for o in self.outcomes:
            if o.problem == own.name and o.status == "ok":
                found[o.solver].append(
                    Front(
                        quantities=own.quantities,
                        n_objectives=own.n_objectives,
                        values=o.values,
                        X=np.empty((len(o.values), 0)),
                        run={"algorithm": o.solver, "seed": o.seed, **o.facts},
                        description=own.description,
                        dominated=np.empty((0, own.n_objectives)),
                    )
                )
        return {name: runs for name, runs in found.items() if runs}

    plot_convergence = views.plot_convergence
    plot_indicator = views.plot_indicator
    plot_attainment = views.plot_attainment
    plot_attainment_difference = views.plot_attainment_difference
    plot_ranking = views.plot_ranking

    # Files

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the study to a file: arrays and JSON, no code."""
        from privmoo.study.saving import save

        save(self, path, force=force)

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """Read a study that `save` wrote."""
        from privmoo.study.saving import load

        return load(path)

    def __repr__(self) -> str:
        return (
            f"Study of {count_noun(len(self.solvers), 'solver')} on "
            f"{count_noun(len(self.problems), 'problem')}: {count_noun(len(self.outcomes), 'run')}, "
            f"{len(self.failures):,} failed"
        )

    def _repr_html_(self) -> str:
        import html

        said = "".join(
            f"<div>{html.escape(line)}</div>" for line in str(self.verdict()).splitlines()
        )
        return f"<div>{html.escape(repr(self))}</div>{self.summary().to_html(index=False)}{said}"


def _spread(values: NDArray[np.float64]) -> float:
    """The interquartile range, as boxes are drawn; infinite where a quarter of the runs is."""
    if not len(values):
        return float("nan")
    if np.isfinite(values).all():
        low, high = np.quantile(values, [0.25, 0.75])
    else:
        low, high = np.quantile(values, [0.25, 0.75], method="inverted_cdf")
    return float(high - low) if low < high else 0.0


def check_name(name: object, what: str) -> None:
    """Raise where a name does not fit in a cell of a table."""
    if not isinstance(name, str) or not name.strip() or len(name) > 80 or not name.isprintable():
        raise ProblemError(f"{what}: a name must be a short text in one line, got {name!r}")


def check_names(names: Sequence[str], what: str) -> None:
    """Raise where two have one name, or one has a name that does not fit in a table."""
    for name in names:
        check_name(name, what)
        if list(names).count(name) > 1:
            raise ProblemError(f"{what}: two are called {name!r}; give them names: {{'one': …}}")
