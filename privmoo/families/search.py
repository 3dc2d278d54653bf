"""The search of a trade-off, family by family, with one budget, one progress bar and one front."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo._util.dominance import non_dominated
from privmoo._util.stopwatch import Stopwatch
from privmoo._util.versions import versions
from privmoo.errors import InfeasibleError, ProblemError, nearest
from privmoo.exact import exact_front, lattice_cost
from privmoo.front.front import Front, thresholds_of
from privmoo.front.quantities import quantities_of
from privmoo.front.representation import undivided_note
from privmoo.problem import AnonymizationProblem
from privmoo.problems.trade_off import TradeOff
from privmoo.search.budgets import RunBudget, RunState, as_budget
from privmoo.search.log import RunLog
from privmoo.search.optimization import optimize, possible_focus
from privmoo.search.progress import Progress

__all__ = ["FamilyBudget", "checkpoint_of", "search_families"]

_log = logging.getLogger("privmoo.search")

FamilyBudget = int | RunBudget | Mapping[str, int | RunBudget] | None
"""One budget for all families, or one for each by name."""
_QUICK = 10.0  # seconds: a lattice that takes less is searched exactly


def search_families(
    problem: TradeOff,
    *,
    budget: FamilyBudget = None,
    seed: int | None = None,
    progress: bool = True,
    checkpoint: str | Path | None = None,
    focus: Mapping[str, tuple[float, float]] | None = None,
) -> Front:
    """Search every family of a problem and join the fronts.

    Args:
        problem: The families.
        budget: The budget of all families together, or one of each by name.
        seed: The seed of every family's search.
        progress: Whether to show a progress bar.
        checkpoint: The file in which to log the first family; see `checkpoint_of` for the others.
        focus: The values of objectives that matter most; see `optimize`.

    Raises:
        InfeasibleError: If no family has a feasible solution.
    """
    if seed is None:
        seeds = [RunLog.seed_in(path) for path in _checkpoints(problem, checkpoint)]
        logged_seeds = [number for number in seeds if number is not None]
        seed = logged_seeds[0] if logged_seeds else secrets.randbits(32)
    seed = whole_number("seed", seed, at_least=0)
    fronts: dict[str, Front] = {}
    reasons: list[InfeasibleError] = []
    with Stopwatch() as stopwatch, closing(Progress(shown=progress, what="trade-off")) as display:
        is_exact = {name: _is_quick(part) for name, part in problem.space.parts.items()}
        purse = _Purse(
            budget, [name for name, quick in is_exact.items() if not quick], problem.families
        )
        purse.pay(seconds=stopwatch.seconds)
        for i, (name, part) in enumerate(problem.space.parts.items()):
            display.begin_part(name, i, len(is_exact))
            _log.info("family %s: %d of %d", name, i + 1, len(is_exact))
            start = stopwatch.seconds
            try:
                if is_exact[name]:
                    fronts[name] = exact_front(part, progress=False)
                    purse.pay(seconds=stopwatch.seconds - start)
                else:
                    fronts[name] = optimize(
                        part,
                        budget=purse.open(name),
                        seed=seed,
                        progress=display,
                        checkpoint=checkpoint_of(checkpoint, i),
                        focus=possible_focus(part, focus),
                    )
                    purse.pay(
                        fronts[name].run, seconds=_logged_seconds(checkpoint_of(checkpoint, i))
                    )
            except InfeasibleError as error:
                reasons.append(error)
                purse.pay(seconds=stopwatch.seconds - start)
                continue
            if fronts[name].run.get("stopped_by_hand"):
                break
        seconds = stopwatch.seconds
    if not fronts:
        raise reasons[0]
    facts = _facts(fronts, seed, budget, seconds)
    return _join_fronts(problem, fronts, facts)


def checkpoint_of(checkpoint: str | Path | None, number: int) -> Path | None:
    """Return the file in which the search of a family is logged; the first family has the plain name.

    Args:
        checkpoint: The file of the whole search; None if nothing is logged.
        number: The number of the family.

    >>> checkpoint_of("run.log", 0).name, checkpoint_of("run.log", 2).name
    ('run.log', 'run.log.2')
    """
    if checkpoint is None:
        return None
    path = Path(checkpoint)
    return path if number == 0 else path.with_name(f"{path.name}.{number}")


def _checkpoints(problem: TradeOff, checkpoint: str | Path | None) -> list[Path]:
    paths = [checkpoint_of(checkpoint, i) for i in range(len(problem.families))]
    return [path for path in paths if path is not None and path.exists()]


def _logged_seconds(path: Path | None) -> float:
    """Return the seconds that a search has logged, including those of an interrupted part."""
    return 0.0 if path is None else RunLog.seconds_in(path)


def _is_quick(part: AnonymizationProblem) -> bool:
    """Return whether the exact front of a family takes only seconds."""
    return "levels" in part.space.kinds and lattice_cost(part)["seconds"] < _QUICK


class _Purse:
    """The rest of a budget: each search gets an equal share, and later ones what earlier ones leave."""

    def __init__(
        self, budget: FamilyBudget, searches: Sequence[str], families: Sequence[str]
    ) -> None:
        self._own: dict[str, RunBudget] = {}
        self._rest: RunBudget | None = None
        self._searches = list(searches)
        if isinstance(budget, Mapping):
            for name, family_budget in budget.items():
                if name not in families:
                    raise ProblemError(
                        f"budget: {name!r} is not one of the families {', '.join(families)}"
                        f"{nearest(str(name), families)}"
                    )
                self._own[name] = as_budget(family_budget)
        elif budget is not None:
            self._rest = as_budget(budget)

    def open(self, name: str) -> RunBudget | None:
        """Return the budget of the next search; None for the default of its problem."""
        share = None if self._rest is None else self._rest.share(1 / len(self._searches))
        self._searches.remove(name)
        return self._own.get(name, share)

    def pay(self, run: Mapping[str, Any] | None = None, *, seconds: float = 0.0) -> None:
        """Deduct what a search has used.

        Args:
            run: The facts about the search; None for one that does not count generations.
            seconds: Its time, if that is longer than the facts say: a part may have run earlier.
        """
        if self._rest is not None:
            generations, evaluations = (
                int((run or {}).get(name, 0)) for name in ("generations", "evaluations")
            )
            seconds = max(seconds, float((run or {}).get("seconds", 0.0)))
            self._rest = self._rest.rest(RunState(generations, evaluations, seconds, float))


def _budget_text(budget: FamilyBudget) -> str:
    """Return a budget as the facts of a run state it."""
    if isinstance(budget, Mapping):
        return repr({name: as_budget(family_budget) for name, family_budget in budget.items()})
    return repr(None if budget is None else as_budget(budget))


def _facts(
    fronts: dict[str, Front], seed: int, budget: FamilyBudget, seconds: float
) -> dict[str, Any]:
    runs = {name: dict(front.run) for name, front in fronts.items()}
    reasons = [run.get("why_not_reproducible") for run in runs.values()]
    reason = next((text for text in reasons if text), None)
    remark = next((text for front in fronts.values() if (text := undivided_note(front))), None)
    return {
        "algorithm": "trade-off",
        "seed": seed,
        "budget": _budget_text(budget),
        "generations": sum(int(run.get("generations", 0)) for run in runs.values()),
        "evaluations": sum(int(run.get("evaluations", 0)) for run in runs.values()),
        "seconds": round(seconds, 3),
        "stopped_by_hand": any(run.get("stopped_by_hand") for run in runs.values()),
        "reproducible": reason is None,
        "why_not_reproducible": reason,
        **({} if remark is None else {"remark": remark}),
        "families": {
            name: {"run": runs[name], "objectives": front.F.tolist()}
            for name, front in fronts.items()
        },
        "versions": versions(),
    }


def _join_fronts(problem: TradeOff, fronts: dict[str, Front], facts: dict[str, Any]) -> Front:
    """Join the fronts of the families, without solutions that another family dominates."""
    space = problem.space
    numbers = [space.names.index(name) for name in fronts]
    X = np.concatenate(
        [space.outer(np.asarray(f.X), i) for f, i in zip(fronts.values(), numbers, strict=True)]
    )
    F: NDArray[np.float64] = np.concatenate([front.F for front in fronts.values()])
    quantities = quantities_of(problem)
    keys = [q.key for q in quantities]
    values = np.concatenate(
        [np.column_stack([front.column(key) for key in keys]) for front in fronts.values()]
    )
    best = np.flatnonzero(non_dominated(F))
    order = best[np.lexsort(values[best, : problem.n_obj].T[::-1])]
    others = np.setdiff1d(np.arange(len(F)), best)
    return Front(
        quantities=quantities,
        n_objectives=problem.n_obj,
        values=values[order],
        X=X[order],
        run=facts,
        description=problem.describe(),
        dominated=np.concatenate([F[others], *(front.dominated for front in fronts.values())]),
        problem=problem,
        table=problem.table,
        families=tuple(space.family(x) for x in X[order]),
        thresholds=thresholds_of(list(fronts.values()), order),
    )
