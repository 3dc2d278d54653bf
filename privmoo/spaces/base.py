"""SearchSpace: decision vectors, the recodings that they mean, and the operators that search them."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.evaluation.evaluator import Evaluation, Evaluator
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import Suppression

__all__ = ["SearchSpace", "row_keys"]


class SearchSpace:
    """The decision vectors of a problem and what they mean.

    A space of your own defines `bounds`, `candidates`, `recoding` and `operators`;
    `AnonymizationProblem(table, space=..., objectives=[...])` then is a problem that any pymoo algorithm
    can solve.

    Args:
        table: The records.

    Attributes:
        kinds: What the variables are, such as `("cuts",)`: operators ask for the kind that they work on.
        variable_type: `bool`, `int` or `float`.
        chunk: How many decision vectors become candidates at once, where candidates are large; None for
            all of a population.
        view: The table as candidates group it, which is finer than the table where candidates split
            equal records.
    """

    kinds: ClassVar[tuple[str, ...]] = ()
    variable_type: ClassVar[type] = float
    chunk: int | None = None

    def __init__(self, table: Table) -> None:
        if not isinstance(table, Table):
            raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
        self.table = table
        self.view = table

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
        """Return which decision vectors are recodings at all; the others are infeasible."""
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
        raise ProblemError(
            f"start: a search over {self.kinds[0] if self.kinds else type(self).__name__} cannot start "
            "from recodings; give decision vectors or a front"
        )

    def published(self, x: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return which records a decision vector publishes; None if the policy decides."""
        return None

    def policy(self, x: NDArray[Any]) -> Suppression | None:
        """Return the suppression policy that a decision vector chooses; None if it chooses none."""
        return None

    def companions(self, X: NDArray[Any], evaluator: Evaluator) -> Evaluation | None:
        """Return the candidates that can be judged along with decision vectors at no cost.

        Args:
            X: The decision vectors that were evaluated.
            evaluator: What judges the companions.
        """
        return None

    def begin_run(self) -> None:
        """Forget what the space remembers of an earlier run."""

    def limit_threads(self, threads: int) -> None:
        """Use this many threads from now on."""

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that reproduce the space, as plain data.

        Saved fronts and checkpoints tell spaces of one class apart by them.
        """
        return {}

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
