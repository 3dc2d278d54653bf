"""optimize: one seeded run of any pymoo algorithm, which can be stopped and continued, to a Front."""

from __future__ import annotations

import copy
import hashlib
import secrets
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.core.sampling import Sampling
from pymoo.termination.max_gen import MaximumGenerationTermination

from privmoo import registry
from privmoo._util.checks import flag, whole_number
from privmoo._util.dominance import share_of_box
from privmoo._util.stopwatch import Stopwatch
from privmoo._util.versions import versions
from privmoo.errors import InfeasibleError, PrivmooError, ProblemError
from privmoo.evaluation.evaluator import Observer
from privmoo.front.archive import Archive
from privmoo.front.front import Front, nothing_feasible
from privmoo.front.quantities import quantities_of
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.base import Recoding, recodings_in
from privmoo.search.algorithms import (
    check_algorithm,
    describe_algorithm,
    make_algorithm,
    why_not_reproducible,
)
from privmoo.search.budgets import Generations, RunBudget, RunState, as_budget
from privmoo.search.log import RunLog
from privmoo.search.polish import Polish
from privmoo.search.progress import Progress
from privmoo.search.slices import Focus, read_focus

__all__ = ["optimize", "possible_focus"]

FIRST_POLISHED = 20
"""After so many generations, every second one is a batch of the local search."""

_under_way: set[int] = set()
_lock = threading.Lock()


def optimize(
    problem: AnonymizationProblem,
    algorithm: str | Algorithm | None = None,
    budget: int | RunBudget | None = None,
    *,
    seed: int | None = None,
    progress: bool | Progress = True,
    checkpoint: str | Path | None = None,
    start: Front | NDArray[Any] | Sequence[Recoding] | None = None,
    polish: bool | None = None,
    focus: Focus | None = None,
) -> Front:
    """Search for the front of a problem.

    Every feasible candidate that the run evaluates and no other dominates is on the front, whether the
    algorithm kept it or not. Ctrl-C ends the run after the current generation and returns what was
    found; a second Ctrl-C raises.

    A recoding counts as one evaluation, with all thresholds within its budget, whether the algorithm, the
    local search or the start brought it. A generation or batch that is begun is completed. The operators of
    regions and free classes search locally while they make a child; `front.run["passes"]` says how often
    they went over the table, which is what an evaluation does once. Free classes compute only what a move
    of a record changes, so a move is no evaluation: `front.run["moves"]` says how many they tried, and as
    many moves as there are units are a pass. The local search over cuts finds the best cut of one column
    after the other without evaluating the others; its passes count too.

    Args:
        problem: The problem to solve.
        algorithm: A name of `algorithm_names()` or a pymoo algorithm with its own operators. By
            default NSGA-II (GA for one objective, SMS-EMOA for `AnySuppression`) with the problem's
            operators and population; `privmoo.search.algorithms` says when to take another.
        budget: A number of generations, or `Generations(…)`, `Evaluations(…)`, `Seconds(…)`,
            `Stalled(…)`, or several joined by `|`. By default the problem's.
        seed: Makes the run repeatable; if not given, one is drawn and recorded in `front.run`.
        progress: Whether to show front size, hypervolume and time left; or where to show it, if the
            search is a part of a longer one.
        checkpoint: A file to log evaluations in. The same call with the same file continues a run
            that was stopped or killed, with the same front as if it had not been.
        start: A front, decision vectors or recodings such as baselines to start from: they are all
            considered for the front, and up to half of the first population is taken from them.
        polish: Whether half of the budget, from generation 21 on, goes to a local search around the best
            trade-offs so far. By default it does where the algorithm is the default one and the space
            knows moves.
        focus: The values of objectives that matter most, such as `{"k": (3, 50)}`: the local search spends
            most of its effort on them; regions are made more often for values of k, and free classes for
            values of k and minimum entropy. A focus that nothing would hold is refused. By default k from
            2 to 100 and ℓ from 1.5 to 5. It turns the local search on for any algorithm.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> front = optimize(problem, budget=20, seed=1, progress=False)
    >>> front.to_frame()[["k", "loss"]].round(3).values.tolist()
    [[1.0, 0.0], [2.0, 0.2], [3.0, 0.4], [6.0, 1.0]]
    """
    if not isinstance(problem, AnonymizationProblem):
        raise ProblemError(
            f"problem: must be an AnonymizationProblem such as Cuts(table, …), got "
            f"{type(problem).__name__}"
        )
    limits = read_focus(problem, focus)
    if algorithm is None and start is None and "families" in problem.space.kinds:
        search: Callable[..., Front] = registry.load("views", "search_families")
        return search(
            problem, budget=budget, seed=seed, progress=progress, checkpoint=checkpoint, focus=focus
        )
    limit = Generations(problem.default_generations) if budget is None else as_budget(budget)
    # What matters most is held by the local search, whatever the algorithm.
    polish = algorithm is None or bool(limits) if polish is None else flag("polish", polish)
    if algorithm is None or isinstance(algorithm, str):
        algorithm = make_algorithm(problem, algorithm)
    check_algorithm(algorithm, problem)
    rows, recodings = read_start(problem, start)
    if seed is None:
        logged_seed = None if checkpoint is None else RunLog.seed_in(checkpoint)
        seed = secrets.randbits(32) if logged_seed is None else logged_seed
    seed = whole_number("seed", seed, at_least=0)
    # A copy, because runs leave their state in an algorithm, and in default operators that pymoo's
    # algorithms share.
    run = _Run(problem, copy.deepcopy(algorithm), limit.fresh(), seed, rows, recodings)
    run.focus = limits
    if polish and _has_moves(problem):
        size = _batch_size(run.algorithm, problem)
        run.polish = Polish(problem, run.archive, seed=seed, batch=size, focus=limits)
    if run.polish is None:
        _check_aims(problem, limits, polish=polish)
    return run.front(progress=progress, checkpoint=checkpoint)


def possible_focus(problem: AnonymizationProblem, focus: Focus | None) -> Focus:
    """Return the part of a focus that a search of a problem can hold.

    Args:
        problem: The problem.
        focus: By objective, the values that matter most; None for none.
    """
    if not focus or _has_moves(problem):
        return focus or {}
    return {name: pair for name, pair in focus.items() if name in problem.space.aims}


def _check_aims(problem: AnonymizationProblem, focus: Focus, *, polish: bool) -> None:
    """Refuse a focus that neither operators nor a local search around the front can hold."""
    aims = problem.space.aims
    for name in focus:
        if aims and name not in aims:
            raise ProblemError(
                f"focus: the operators of this problem aim at {' or '.join(aims)}, not at {name!r}; leave "
                f"{name!r} out"
            )
        if not aims:
            reason = "its space knows no moves" if polish else "polish=False turns that off"
            raise ProblemError(f"focus: the local search holds it, but {reason}; leave focus out")


def _has_moves(problem: AnonymizationProblem) -> bool:
    return len(problem.neighbours(_somewhere(problem))) > 0


class _Run:
    """One run: its parts, and where it stands."""

    def __init__(
        self,
        problem: AnonymizationProblem,
        algorithm: Algorithm,
        budget: RunBudget,
        seed: int,
        start: NDArray[Any] | None,
        recodings: Sequence[Recoding] = (),
    ) -> None:
        self.problem = problem
        self.algorithm = algorithm
        self.budget = budget
        self.seed = seed
        self.start = start
        self.recodings = recodings
        self.archive = Archive(problem.n_obj)
        self.description = describe_algorithm(algorithm)
        self.polish: Polish | None = None
        self.focus: Focus = {}
        self.stopped = False
        self._box: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    def front(self, *, progress: bool | Progress, checkpoint: str | Path | None) -> Front:
        with ExitStack() as open_things:
            self._stopwatch = open_things.enter_context(Stopwatch())
            open_things.enter_context(_alone(self.problem))
            open_things.callback(setattr, self.problem.space, "focus", self.problem.space.focus)
            self.problem.space.focus = self.focus
            self.problem.space.passes, self.problem.space.moves = 0.0, 0
            log = None
            observers: list[Observer] = [self.archive]
            if checkpoint is not None:
                log = open_things.enter_context(self._log(checkpoint))
                observers.append(log)
                if "polish" not in log.header:  # begun without, as by version 0.1: so it goes on
                    self.polish = None
            if self.polish is not None:
                observers.append(self.polish)
            open_things.enter_context(self.problem.evaluator.observed_by(*observers))
            if log is not None:
                self.problem.evaluator.recall_stairs(log.stairs)
            # pymoo's NSGA-III silences all warnings of the process; undo that.
            open_things.enter_context(warnings.catch_warnings())
            if isinstance(progress, Progress):
                display = progress
            else:
                display = Progress(shown=progress, what=type(self.algorithm).__name__)
                open_things.callback(display.close)
            fraction = self._search(display, log)
            seconds = self._stopwatch.seconds
        if not len(self.archive) and not self.recodings:
            if self.stopped:
                raise KeyboardInterrupt
            raise InfeasibleError(nothing_feasible(self.problem, self._evaluations))
        facts = self._facts(seconds, fraction, log)
        archive = self.archive
        front = Front.from_evaluation(
            self.problem,
            archive.evaluation(),
            known=self.recodings,
            run=facts,
            dominated=archive.dominated(),
        )
        return replace(front, infeasible=self.problem.minimised(archive.infeasible()))

    def _search(self, display: Progress, log: RunLog | None) -> float:
        self._set_up()
        fraction = 0.0
        with _stop_on_signal(display.stop):
            while True:
                if not self._polished():
                    self.algorithm.next()
                state = self._state(log)
                if log is not None:
                    log.end_generation(state.generation, state.seconds)
                fraction = self.budget.fraction(state)
                self._mirror.fraction = fraction
                display.update(
                    fraction,
                    generation=state.generation,
                    front=len(self.archive),
                    hypervolume=self._hypervolume,
                )
                if fraction >= 1 or self.algorithm.termination.has_terminated():
                    return fraction
                if display.stop.is_set():
                    self.stopped = True
                    display.say(f"stopped by hand after generation {state.generation}")
                    return fraction

    def _polished(self) -> bool:
        """Evaluate a batch of neighbours of the archive, if it is time for that and there are any."""
        if self.polish is None or not len(self.archive):
            return False
        # By the number of the generation alone: a longer run begins like a shorter one.
        coming = self._generations + 1
        return coming > FIRST_POLISHED and coming % 2 == 0 and self.polish.next()

    def _set_up(self) -> None:
        self._mirror = _Mirror(
            self.budget.number
            if isinstance(self.budget, Generations)
            else self.problem.default_generations
        )
        if self.start is not None:
            _start_from(self.algorithm, self.start, self.problem)
        try:
            self.algorithm.setup(
                self.problem, termination=self._mirror, seed=self.seed, verbose=False
            )
        except PrivmooError:
            raise
        except Exception as error:
            name = type(self.algorithm).__name__
            raise ProblemError(f"algorithm: {name} cannot solve this problem: {error}") from error
        if self.start is not None:
            self.problem.evaluate(self.start, return_as_dictionary=True)

    def _state(self, log: RunLog | None) -> RunState:
        generation = self._generations
        elapsed = self._stopwatch.seconds
        if log is not None:
            seconds = log.seconds
            if generation <= self._replayed:
                # What an earlier part of the run has used; the replay itself costs nothing.
                elapsed = seconds[generation - 1]
                self._offset = elapsed - self._stopwatch.seconds
            else:
                elapsed += self._offset
        return RunState(generation, self._evaluations, elapsed, self._hypervolume)

    @property
    def _generations(self) -> int:
        """Generations of the algorithm, and batches of the local search."""
        rounds = 0 if self.polish is None else self.polish.rounds
        return int(self.algorithm.n_iter or 1) - 1 + rounds

    @property
    def _evaluations(self) -> int:
        """Recodings that were evaluated, those of the start too; all thresholds of one count once."""
        polished = 0 if self.polish is None else self.polish.evaluations
        started = 0 if self.start is None else len(self.start)
        return int(self.algorithm.evaluator.n_eval) + polished + started

    def _hypervolume(self) -> float:
        F = self.archive.F
        if not len(F):
            return 0.0
        if self._box is None:
            objectives = quantities_of(self.problem)[: self.problem.n_obj]
            signs = np.array([q.sign for q in objectives])
            ideal = signs * np.array([q.best for q in objectives])
            worst = signs * np.array([q.worst for q in objectives])
            worst = np.where(worst > ideal, worst, ideal + 1)  # one that cannot vary
            # Measures without bounds are counted in the range of the first front.
            free = np.array([not q.bounded for q in objectives])
            low, high = F.min(axis=0), F.max(axis=0)
            span = np.where(high > low, high - low, 1.0)
            self._box = np.where(free, low - span, ideal), np.where(free, high + span, worst)
        return share_of_box(F, *self._box)

    def _log(self, path: str | Path) -> RunLog:
        problem, space = self.problem, self.problem.space
        secret = RunLog.secret_in(path)
        if secret is not None and space is not None:
            space.resume(secret)
        secret = None if space is None else space.secret
        identity = {
            "table": problem.table.fingerprint,
            "problem": problem.describe(),
            "measures": [m.key for m in problem.measures],
            "algorithm": self.description,
            "seed": self.seed,
            "start": None if self.start is None else _digest(self.start),
            "known": [recoding.key().hex() for recoding in self.recodings],
            "versions": versions(),
            **({} if secret is None else {"secret": secret}),
        }
        if self.polish is not None:
            identity["polish"] = self.polish.describe()
        elif self.focus:
            identity["focus"] = {name: list(pair) for name, pair in self.focus.items()}
        log = RunLog(path, identity, width=problem.evaluator.cache.width)
        self._replayed, self._offset = len(log.seconds), 0.0
        problem.evaluator.recall(log.keys, log.values)
        return log

    def _facts(self, seconds: float, fraction: float, log: RunLog | None) -> dict[str, Any]:
        reason = why_not_reproducible(self.algorithm, self.archive.n_infeasible)
        generations = self._generations
        if reason is None and self.stopped:
            reason = f"it was stopped by hand; repeat it with Generations({generations})"
        if reason is None and not self.budget.reproducible:
            reason = f"it ended by time; repeat it with Generations({generations})"
        if reason is None and log is not None and log.header.get("versions") != versions():
            reason = "it was continued with other versions than it was begun with"
        return {
            "algorithm": type(self.algorithm).__name__,
            "settings": self.description,
            "seed": self.seed,
            "budget": repr(self.budget),
            "generations": generations,
            "evaluations": self._evaluations,
            **({"passes": round(passes)} if (passes := self.problem.space.passes) else {}),
            **({"moves": moves} if (moves := self.problem.space.moves) else {}),
            "polish": None if self.polish is None else self.polish.describe(),
            "infeasible": self.archive.n_infeasible,
            "seconds": round(seconds, 3),
            "stopped_by_hand": self.stopped,
            "exhausted": fraction < 1 and not self.stopped,
            "reproducible": reason is None,
            "why_not_reproducible": reason,
            "versions": versions(),
        }


class _Mirror(MaximumGenerationTermination):  # type: ignore[misc]  # pymoo has no types
    """Tells the algorithm how far the run is (RVEA asks) but never ends it: the loop does."""

    def __init__(self, generations: int) -> None:
        super().__init__(generations)
        self.fraction = 0.0

    def _update(self, algorithm: Any) -> float:
        return min(self.fraction, 0.999)


class _StartSampling(Sampling):  # type: ignore[misc]
    """Mixes given rows into what another sampling draws."""

    def __init__(self, rows: NDArray[Any], sampling: Any) -> None:
        super().__init__()
        self.rows = rows
        self.sampling = sampling

    def do(self, problem: Any, n_samples: int, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.sampling, Population):
            samples = self.sampling.get("X")
        elif isinstance(self.sampling, np.ndarray):
            samples = np.atleast_2d(self.sampling)
        else:
            samples = self.sampling.do(problem, n_samples, *args, **kwargs).get("X")
        n = min(len(self.rows), max(1, len(samples) // 2))
        spread = np.linspace(0, len(self.rows) - 1, n).round().astype(np.intp)
        mixed = samples.copy()
        mixed[-n:] = self.rows[spread].astype(samples.dtype)
        return Population.new(X=mixed)


def _somewhere(problem: AnonymizationProblem) -> NDArray[Any]:
    """Return some decision vector: the lowest bounds of all variables."""
    low, _ = problem.bounds()
    return np.zeros(problem.n_var) if low is None else np.asarray(low)


def _batch_size(algorithm: Algorithm, problem: AnonymizationProblem) -> int:
    size = getattr(algorithm, "pop_size", None)
    return int(size) if isinstance(size, int) and size > 0 else problem.default_population


def _start_from(algorithm: Algorithm, rows: NDArray[Any], problem: AnonymizationProblem) -> None:
    owner = getattr(algorithm, "initialization", None) or algorithm
    if not hasattr(owner, "sampling"):
        raise ProblemError(
            f"start: {type(algorithm).__name__} takes no first population; leave start out"
        )
    owner.sampling = _StartSampling(rows, owner.sampling)


def read_start(problem: AnonymizationProblem, start: Any) -> tuple[Any, list[Recoding]]:
    """Return decision vectors and recodings to start from; a mistake shows now, not after the search.

    Args:
        problem: The problem.
        start: What `optimize` takes as `start`.
    """
    recodings = [problem.adopt(recoding) for recoding in _known(start)]
    rows = _start_rows(problem, start)
    if recodings:
        problem.evaluator.judge_recodings(recodings)
    return rows, recodings


def _known(start: Any) -> list[Recoding]:
    """Return the recodings that a search starts from: those passed, or those of a front that was passed."""
    if isinstance(start, Front):
        return [s.recoding for s, r in zip(start, start.recodings or (), strict=False) if r]
    return recodings_in(start)


def _start_rows(problem: AnonymizationProblem, start: Any) -> NDArray[Any] | None:
    if start is None:
        return None
    if recodings := recodings_in(start):
        return np.stack([problem.encode(problem.adopt(recoding)) for recoding in recodings])
    rows = np.atleast_2d(start.X if isinstance(start, Front) else np.asarray(start))
    if not len(rows) or rows.ndim != 2 or rows.shape[1] != problem.n_var:
        raise ProblemError(
            f"start: must be a front or rows of {problem.n_var} variables, got shape {rows.shape}"
        )
    return rows


def _digest(rows: NDArray[Any]) -> str:
    return hashlib.blake2b(np.ascontiguousarray(rows).tobytes(), digest_size=16).hexdigest()


@contextmanager
def _alone(problem: AnonymizationProblem) -> Iterator[None]:
    """Keep a second run off the problem while this one is under way."""
    with _lock:
        if id(problem) in _under_way:
            raise ProblemError(
                "optimize: a run on this problem is under way already; wait for it, or make another "
                "problem for a second run at the same time"
            )
        _under_way.add(id(problem))
    try:
        yield
    finally:
        with _lock:
            _under_way.discard(id(problem))


@contextmanager
def _stop_on_signal(stop: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C set an event; the second raises as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_signal(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
