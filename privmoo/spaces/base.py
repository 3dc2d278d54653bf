"""SearchSpace: decision vectors, the recodings that they mean, and the operators that search them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from privmoo._util.threads import thread_count
from privmoo.data.table import Table, check_table
from privmoo.errors import ProblemError
from privmoo.evaluation.evaluator import Evaluation
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import Suppression
from privmoo.suppression.staircase import Staircase

__all__ = ["NOISE", "SECRET", "Limits", "SearchSpace", "row_keys"]

Result = TypeVar("Result")
NOISE = "noise"
"""The parameter of a space that tells its noise apart."""
SECRET = "secret"  # noqa: S105  # a word, not a password
"""What that parameter begins with, where the seed of the noise is a secret."""


class Limits(NamedTuple):
    """What every group of a release has, and how many records a release may leave out."""

    k: int
    """The least size of a group."""
    diversity: float
    """The least size of a group, in times its most frequent sensitive value."""
    left_out: int


class SearchSpace:
    """The decision vectors of a problem and what they mean.

    A subclass defines `bounds`, `candidates`, `recoding` and `operators`.
    `AnonymizationProblem(table, space=..., objectives=[...])` is then a problem that any pymoo algorithm
    can solve.

    Args:
        table: The records.

    Attributes:
        kinds: The kinds of the variables, such as `("cuts",)`: operators ask for the kind that they
            work on.
        variable_type: `bool`, `int` or `float`.
        chunk: How many decision vectors become candidates at once if candidates are large; None for the
            whole population.
        view: The table as candidates group it; it is finer than the table if candidates split equal
            records.
        threads: How many threads decode and search; all cores by default.
        focus: By objective, the least and the largest value that matters most in the present run; operators
            aim there more often than elsewhere.
        passes: How often the local searches of operators have gone over the table in the present run,
            which an evaluation does once.
        moves: How many moves of one or two units these searches have tried, in spaces that compute only
            what a move changes; a pass is as many moves as there are units.
    """

    kinds: ClassVar[tuple[str, ...]] = ()
    variable_type: ClassVar[type] = float
    chunk: int | None = None
    aims: ClassVar[tuple[str, ...]] = ()
    """The objectives that operators of the space can aim at, if a run has its `focus` on them."""
    staircase: Staircase | None = None
    """What thresholds are about, where decision vectors choose them instead of a policy."""

    def __init__(self, table: Table) -> None:
        check_table(table)
        self.table = table
        self.view = table
        self.threads = thread_count()
        self.focus: Mapping[str, tuple[float, float]] = {}
        self.passes = 0.0
        self.moves = 0

    # What a space defines

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and the largest value of every variable."""
        raise TypeError(f"{type(self).__name__} must define bounds")

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return decision vectors as the engine groups them."""
        raise TypeError(f"{type(self).__name__} must define candidates(X)")

    def recoding(self, x: NDArray[Any]) -> Recoding:
        """Return the recoding of one decision vector."""
        raise TypeError(f"{type(self).__name__} must define recoding(x)")

    def operators(self) -> dict[str, Any]:
        """Return sampling, crossover and mutation that fit the variables, by pymoo's names for them.

        `eliminate_duplicates` and `repair` may be among them; pymoo's own are used otherwise.
        """
        raise TypeError(f"{type(self).__name__} must define operators()")

    # What a space may define

    def clean(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return decision vectors such that those with the same meaning are equal."""
        return np.asarray(X)

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return one key per decision vector, equal where the recoding is the same."""
        return row_keys(self.clean(X))

    def valid(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which decision vectors are valid recodings; the others are infeasible."""
        return np.ones(len(X), dtype=np.bool_)

    def adopt(self, recoding: Recoding) -> Recoding:
        """Return a recoding that was found elsewhere as this space would release it.

        Raises:
            ProblemError: The recoding does not fit the space.
        """
        return recoding

    def encode(self, recoding: Recoding) -> NDArray[Any]:
        """Return the decision vector nearest to a recoding that was found elsewhere.

        Raises:
            ProblemError: The space has no decision vectors for such recodings.
        """
        search = f"a search over {self.kinds[0]}" if self.kinds else "this search"
        raise ProblemError(
            f"start: {search} cannot start from recodings; give decision vectors or a front"
        )

    def published(self, x: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return which records a decision vector publishes; None if the policy decides."""
        return None

    def policy(self, x: NDArray[Any]) -> Suppression | None:
        """Return the suppression policy that a decision vector chooses; None if it chooses none."""
        return None

    def stair_keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return one key per decision vector, equal where all but the choice of records is the same."""
        return self.keys(X)

    def step_rows(
        self, X: NDArray[Any], thresholds: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return the steps of staircases as decision vectors, and the thresholds that these do not contain.

        Args:
            X: The decision vectors of the recodings, one row per step.
            thresholds: Steps × thresholds.
        """
        return X, thresholds

    def learn(self, steps: Evaluation) -> None:
        """Take note of the evaluated steps of a run."""

    def notice(self, X: NDArray[Any]) -> None:
        """Take note of the decision vectors that a run has evaluated."""

    def neighbours(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the decision vectors that are one small move away; none if the space has no moves."""
        return np.asarray(x)[None][:0]

    @property
    def settles(self) -> bool:
        """Whether the space can find the best of one part of a decision vector, while the others stay."""
        return False

    def settled(
        self, x: NDArray[Any], limits: Limits, rng: np.random.Generator
    ) -> NDArray[Any] | None:
        """Return a decision vector near another one that no part can improve by itself.

        Args:
            x: The other one.
            limits: What groups must have to stay, and how many records may be left out.
            rng: Draws the moves that come first, and the order of the parts.

        Returns:
            The decision vector; None if the limits were met nowhere.
        """
        raise TypeError(f"{type(self).__name__} must define settled(x, limits, rng)")

    def begin_run(self) -> None:
        """Forget what the space remembers of an earlier run."""

    def limit_threads(self, threads: int) -> None:
        """Use this many threads from now on."""
        self.threads = threads

    def each(self, function: Callable[..., Result], *arguments: Sequence[Any]) -> list[Result]:
        """Call a function for each of several arguments, in threads; results are in their order.

        Args:
            function: The function.
            *arguments: Its arguments, side by side.
        """
        if self.threads == 1 or len(arguments[0]) < 2:
            return list(map(function, *arguments))
        with ThreadPoolExecutor(max_workers=self.threads) as pool:
            return list(pool.map(function, *arguments))

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that reproduce the space, as plain data.

        They distinguish spaces of one class in saved fronts and checkpoints. An entry `NOISE` is for
        such files only: certificates and reports do not state it.
        """
        return {}

    def pymoo_variables(self) -> dict[str, Any]:
        """Return the variables as pymoo's `Problem` takes them."""
        low, high = self.bounds
        return {"n_var": len(low), "xl": low, "xu": high, "vtype": self.variable_type}

    @property
    def secret(self) -> str | None:
        """The secret that recodings depend on besides the decision vectors; None if there is none."""
        return None

    def resume(self, secret: str) -> None:
        """Take over the secret of a space whose run is continued."""
        raise ProblemError(
            f"checkpoint: the run was begun with secret noise, but {type(self).__name__} has none; give "
            "the problem that it was begun with"
        )

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.bounds[0])

    def __deepcopy__(self, memo: dict[int, Any]) -> SearchSpace:
        return self  # it holds data; pymoo copies operators, which may hold their space


def row_keys(rows: NDArray[Any]) -> list[bytes]:
    """Return a short digest of every row."""
    return [
        hashlib.blake2b(row.tobytes(), digest_size=16).digest()
        for row in np.ascontiguousarray(rows)
    ]
