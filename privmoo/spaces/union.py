"""UnionSpace: the decision vectors of several problems of one table, side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.operators import FamilyCrossover, FamilyMutation, FamilySampling, HashDuplicates
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates, MixedCandidates
from privmoo.spaces.base import SearchSpace
from privmoo.suppression import Suppression

if TYPE_CHECKING:
    from privmoo.data.table import Table
    from privmoo.problem import AnonymizationProblem

__all__ = ["UnionSpace"]


class UnionSpace(SearchSpace):
    """The union of the search spaces of several problems, which are called families.

    A decision vector is the number of a family, the decision vector of that family, and zeros up to the
    length of the longest one.

    Args:
        table: The records.
        parts: The problems of the families, by name; all of the table.

    Attributes:
        parts: The problems of the families, by name.
    """

    kinds: ClassVar[tuple[str, ...]] = ("families",)
    variable_type: ClassVar[type] = float

    def __init__(self, table: Table, parts: Mapping[str, AnonymizationProblem]) -> None:
        super().__init__(table)
        self.parts = dict(parts)
        self._problems = list(self.parts.values())
        self.width = 1 + max(problem.n_var for problem in self._problems)

    @property
    def names(self) -> list[str]:
        """The names of the families, in the order of their numbers."""
        return list(self.parts)

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The number of the family, and the widest bounds of all families."""
        low, high = np.zeros(self.width), np.zeros(self.width)
        high[0] = len(self.parts) - 1
        for problem in self._problems:
            variables = slice(1, 1 + problem.n_var)
            lowest, highest = problem.bounds()
            low[variables] = np.minimum(low[variables], lowest)
            high[variables] = np.maximum(high[variables], highest)
        return low, high

    def numbers(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of the family of every decision vector."""
        numbers = np.clip(np.rint(np.asarray(X)[:, 0]), 0, len(self.parts) - 1)
        return np.asarray(numbers, dtype=np.int64)

    def inner(self, X: NDArray[Any], number: int) -> NDArray[Any]:
        """Return decision vectors of one family as that family takes them.

        Args:
            X: Decision vectors of the union.
            number: The number of the family.
        """
        problem = self._problems[number]
        rows = np.asarray(X)[:, 1 : 1 + problem.n_var]
        if problem.vtype is bool:
            return np.asarray(rows > 0.5)
        return np.rint(rows).astype(np.int64) if problem.vtype is int else rows.astype(np.float64)

    def outer(self, X: NDArray[Any], number: int) -> NDArray[np.float64]:
        """Return decision vectors of one family as decision vectors of the union.

        Args:
            X: Decision vectors of the family.
            number: The number of the family.
        """
        rows = np.zeros((len(X), self.width))
        rows[:, 0] = number
        rows[:, 1 : 1 + X.shape[1]] = X
        return rows

    def _family(self, x: NDArray[Any]) -> tuple[AnonymizationProblem, NDArray[Any]]:
        """Return the problem of a decision vector, and the vector as the problem takes it."""
        [number] = self.numbers(x[None])
        return self._problems[number], self.inner(x[None], int(number))[0]

    def clean(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the cleaned decision vectors of the families, filled up with zeros."""
        rows = np.zeros((len(X), self.width))
        numbers = self.numbers(X)
        for number, problem in enumerate(self._problems):
            places = np.flatnonzero(numbers == number)
            if len(places):
                cleaned = problem.space.clean(self.inner(X[places], number))
                rows[places] = self.outer(np.asarray(cleaned), number)
        return rows

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return a digest of the key in the family and the number of the family."""
        numbers = self.numbers(X)
        keys = [b""] * len(X)
        for number, problem in enumerate(self._problems):
            places = np.flatnonzero(numbers == number)
            if len(places):
                inner = problem.keys(self.inner(X[places], number))
                for place, key in zip(places.tolist(), inner, strict=True):
                    keys[place] = hashlib.blake2b(bytes([number]) + key, digest_size=16).digest()
        return keys

    def valid(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which decision vectors are valid recodings."""
        numbers = self.numbers(X)
        valid = np.zeros(len(X), np.bool_)
        for number, problem in enumerate(self._problems):
            places = np.flatnonzero(numbers == number)
            if len(places):
                valid[places] = problem.valid(self.inner(X[places], number))
        return valid

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return decision vectors as the engine groups them, in runs of one family."""
        numbers = self.numbers(X)
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        runs = [
            self._problems[numbers[rows[0]]].candidates(self.inner(X[rows], int(numbers[rows[0]])))
            for rows in np.split(np.arange(len(X)), starts[1:])
            if len(rows)
        ]
        return runs[0] if len(runs) == 1 else MixedCandidates(runs=tuple(runs))

    def recoding(self, x: NDArray[Any]) -> Recoding:
        """Return the recoding of one decision vector."""
        problem, inner = self._family(x)
        return problem.recoding(inner)

    def published(self, x: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return which records a decision vector publishes; None if the policy decides."""
        problem, inner = self._family(x)
        return problem.published(inner)

    def policy(self, x: NDArray[Any]) -> Suppression | None:
        """Return the suppression policy of a decision vector."""
        problem, inner = self._family(x)
        return problem.policy(inner)

    def family(self, x: NDArray[Any]) -> str:
        """Return the name of the family of a decision vector."""
        return self.names[int(self.numbers(x[None])[0])]

    def operators(self) -> dict[str, Any]:
        """Return operators that apply those of every family to its own decision vectors."""
        return {
            "sampling": FamilySampling(),
            "crossover": FamilyCrossover(),
            "mutation": FamilyMutation(),
            "eliminate_duplicates": HashDuplicates(),
        }

    def adopt(self, recoding: Recoding) -> Recoding:
        """Refuse recodings found elsewhere; pass them to the problem of their family.

        Raises:
            ProblemError: Always.
        """
        raise ProblemError(
            "start: a search over several families starts from nothing; search one family to start from "
            "a recoding"
        )

    def begin_run(self) -> None:
        """Forget what the spaces of the families remember of an earlier run."""
        for problem in self._problems:
            problem.begin_run()

    def limit_threads(self, threads: int) -> None:
        """Use this many threads from now on, in every family."""
        for problem in self._problems:
            problem.limit_threads(threads)
