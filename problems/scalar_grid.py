"""The papers' experiment: one particle swarm for every number of clusters, k and λ."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from privmoo._util.checks import whole_number
from privmoo.data.points import Scale
from privmoo.data.table import Table
from privmoo.errors import InfeasibleError, ProblemError
from privmoo.front import Front
from privmoo.problem import AnonymizationProblem
from privmoo.problems.scalar_mo_obam import ScalarMOOBAM
from privmoo.recodings.classes import PartitionRecoding
from privmoo.registry import load
from privmoo.search import make_algorithm, optimize

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ScalarGrid", "scalar_grid"]

_KEYS = ("k", "n_clusters", "lam")
_MEASURED = ("il", "min_entropy", "at_risk_05", "at_risk_075", "at_risk_10", "homogeneity")
_COLUMNS = (*_KEYS, "feasible", *_MEASURED, "classes", "seconds", "evaluations", "least_loss")


@dataclass(frozen=True)
class ScalarGrid:
    """The results of the swarms; made by `scalar_grid`.

    Attributes:
        frame: One row per swarm: k, the number of centroids, λ, the values of its best solution, and
            whether any solution was feasible (otherwise the values are missing).
        recodings: The best solution of every swarm that found a feasible one, by row.
    """

    frame: pd.DataFrame
    recodings: dict[int, PartitionRecoding] = field(repr=False)

    def front(self, problem: AnonymizationProblem) -> Front:
        """Return the front of all solutions, by the objectives of a problem such as `MOOBAM`."""
        if not self.recodings:
            raise ProblemError("grid: no swarm found a feasible solution, so there is no front")
        evaluations = int(self.frame["evaluations"].sum())
        facts = {"algorithm": "grid of PSO", "evaluations": evaluations}
        return Front.of(problem, known=list(self.recodings.values()), run=facts)

    def plot(
        self, k: int | None = None, values: Sequence[str] = ("il", "at_risk_05", "homogeneity")
    ) -> Figure:
        """Draw heat maps over number of clusters and λ (Wei et al. 2025, Figure 3), one per value.

        Args:
            k: The smallest class size whose swarms are drawn; a row of maps for every k by default.
            values: The columns of `frame` to draw.
        """
        swarms = self.frame if k is None else self.frame[self.frame["k"] == k]
        if swarms.empty:
            raise ProblemError(f"k: the grid has no swarms for k = {k}")
        rows = "k" if swarms["k"].nunique() > 1 else None
        plot_heat_maps: Callable[..., Figure] = load("views", "plot_heat_maps")
        return plot_heat_maps(swarms, x="n_clusters", y="lam", values=values, rows=rows)


def scalar_grid(
    table: Table,
    *,
    n_clusters: Sequence[int],
    k: Sequence[int],
    lam: Sequence[float] = (0.0001, 0.001, 0.01, 0.1, 1.0),
    scaled: bool = False,
    scale: Scale = "raw",
    release: Literal["centroid", "mean"] = "centroid",
    particles: int = 50,
    iterations: int = 100,
    seed: int = 0,
    progress: bool = True,
    checkpoint: str | Path | None = None,
    threads: int | None = None,
) -> ScalarGrid:
    """Solve `ScalarMOOBAM` for every combination of n_clusters, k and λ.

    A swarm's result does not depend on the others of the grid. Ctrl-C ends the grid after the current
    iteration and returns the finished swarms.

    Args:
        table: The records.
        n_clusters: Numbers of centroids.
        k: Smallest class sizes.
        lam: Weights of the entropy.
        scaled: Whether to use the scaled form of 2024; one more swarm at λ = 0 per n_clusters and k finds
            its least loss (1 if nothing is feasible), and its evaluations count for the first λ.
        scale: The scale of distances.
        release: `"centroid"` or `"mean"`.
        particles: The number of particles of every swarm.
        iterations: The number of iterations of every swarm.
        seed: The seed of the grid, to repeat it.
        progress: Whether to show a bar.
        checkpoint: A folder for the logs of the swarms. To continue a grid that was stopped, repeat the
            call.
        threads: The number of threads of the evaluation; all cores by default.

    >>> import privmoo as pm
    >>> grid = scalar_grid(pm.datasets.german_credit(), n_clusters=[4], k=[5], lam=[0.1], particles=10,
    ...                    iterations=5, progress=False)
    >>> grid.frame[["k", "n_clusters", "lam", "evaluations", "feasible"]].to_numpy().tolist()
    [[5, 4, 0.1, 50, True]]
    """
    lists: dict[str, Any] = {"n_clusters": n_clusters, "k": k, "lam": lam}
    for name, numbers in lists.items():
        if isinstance(numbers, str) or not isinstance(numbers, Sequence) or not len(numbers):
            raise ProblemError(f"{name}: give a list of at least one number, got {numbers!r}")
    whole_number("seed", seed, at_least=0)
    common: dict[str, Any] = {"scale": scale, "release": release, "threads": threads}
    cells = list(product(k, n_clusters, lam))
    for size, number, weight in cells:  # a mistake shows before hours of work, not after
        ScalarMOOBAM(table, number, size, weight, **common)
    folder = None if checkpoint is None else Path(checkpoint)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    recodings: dict[int, PartitionRecoding] = {}
    smallest_losses: dict[tuple[int, int], tuple[float, int]] = {}
    with _bar(len(cells), disable=not progress) as bar:
        for size, number, weight in cells:
            bar.set_postfix_str(f"k = {size}, {number} clusters, λ = {weight:g}")
            swarm = _Swarm(table, number, size, common, particles, iterations, seed, folder)
            extra = 0
            if scaled and (number, size) not in smallest_losses:
                first = swarm.run(0.0, None)
                if first.stopped:
                    break
                smallest_losses[number, size] = (first.loss, first.evaluations)
                extra = first.evaluations
            loss = smallest_losses[number, size][0] if scaled else None
            outcome = swarm.run(weight, loss)
            if outcome.stopped:
                break
            if outcome.recoding is not None:
                recodings[len(rows)] = outcome.recoding
            facts = {**outcome.row, "evaluations": outcome.evaluations + extra, "least_loss": loss}
            rows.append({"k": size, "n_clusters": number, "lam": weight, **facts})
            bar.update()
    return ScalarGrid(pd.DataFrame(rows, columns=_COLUMNS), recodings)


def _bar(total: int, *, disable: bool) -> Any:
    with warnings.catch_warnings():
        # Without ipywidgets, tqdm falls back to text and says so at length.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm(total=total, disable=disable, unit="swarm")


@dataclass(frozen=True)
class _Outcome:
    row: dict[str, Any]
    evaluations: int
    recoding: PartitionRecoding | None = None
    stopped: bool = False

    @property
    def loss(self) -> float:
        value = self.row["il"]
        return 1.0 if math.isnan(value) else float(value)


@dataclass(frozen=True)
class _Swarm:
    table: Table
    n_clusters: int
    k: int
    common: dict[str, Any]
    particles: int
    iterations: int
    seed: int
    folder: Path | None

    def run(self, lam: float, least_loss: float | None) -> _Outcome:
        problem = ScalarMOOBAM(
            self.table,
            self.n_clusters,
            self.k,
            lam,
            scaled=least_loss is not None,
            least_loss=least_loss,
            **self.common,
        )
        algorithm = make_algorithm(problem, "pso", population=self.particles, adaptive=False)
        weight = int(np.float64(lam).view(np.uint64))
        words = [self.seed, self.k, self.n_clusters, weight, least_loss is not None]
        seed = int(np.random.SeedSequence(words).generate_state(1)[0])
        log = None
        if self.folder is not None:
            form = "scaled" if least_loss is not None else "plain"
            log = self.folder / f"k{self.k}-c{self.n_clusters}-lam{lam!r}-{form}-{self.seed}.log"
        began = time.perf_counter()
        budget = self.particles * self.iterations
        try:
            front = optimize(
                problem, algorithm, self.iterations, seed=seed, progress=False, checkpoint=log
            )
        except InfeasibleError:
            nothing = dict.fromkeys((*_MEASURED, "classes"), math.nan)
            seconds = time.perf_counter() - began
            return _Outcome({"feasible": False, **nothing, "seconds": seconds}, budget)
        except KeyboardInterrupt:
            return _Outcome({}, 0, stopped=True)
        best = front[0]
        recoding = problem.space.recoding(best.x)
        row = {name: best.values[name] for name in _MEASURED}
        seconds = time.perf_counter() - began
        return _Outcome(
            {"feasible": True, **row, "classes": recoding.n_classes, "seconds": seconds},
            int(front.run["evaluations"]),
            recoding,
            stopped=bool(front.run["stopped_by_hand"]),
        )
