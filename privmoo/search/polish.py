"""Polish: a Pareto local search around the archive, which takes turns with the algorithm of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.population import Population

from privmoo.evaluation.evaluator import Evaluation, Observer
from privmoo.front.archive import Archive
from privmoo.problem import AnonymizationProblem
from privmoo.search.slices import (
    Focus,
    Slice,
    best_of_slices,
    limits_of,
    marks_of,
    most_left_out,
    nearest_to_limits,
)

__all__ = ["Polish"]

_LARGEST = 1 << 22
_LONGEST_WALK = 4
_NEAR = 4
_SETTLED = 32
"""One of so many of a batch is settled: finding it costs about as much as so many others."""
_OF_SLICES = 0.75


class Polish(Observer):
    """Evaluates neighbours of the best trade-offs so far, those of new ones first.

    The space says what the neighbours of a decision vector are: all that one small move leads to. Every
    recoding on the archive gets its turn, and those with the fewest tried neighbours come first. Where all
    neighbours have been tried, those of a neighbour come next, and from farther away where that is nothing
    new. Nothing is evaluated that the run has evaluated before.

    Where the archive is large, a quarter of a batch each are neighbours of the best for each k and ℓ that
    people publish, and their children by the operators of the problem.

    What is many moves away is reached by decision vectors that are settled, one of 32: after some random
    moves from one of the archive, one part after the other, such as the cut of one column, gets the best
    choice for some k and ℓ while the other parts stay, until none can be better. Where the space knows no
    best choice, another quarter of a batch are walks of a few moves from the best.

    Args:
        problem: The problem, whose space offers neighbours.
        archive: The best trade-offs, which go on being collected by observing.
        seed: Seeds the order of the neighbours.
        batch: How many are evaluated at once.
        focus: Limits of objectives that matter most.

    Attributes:
        kinds: The mechanisms that make decision vectors: `"neighbours"`, `"children"`, and `"settled"` or
            `"walks"`.
        evaluations: How many recodings were evaluated.
        rounds: In how many batches.
    """

    def __init__(
        self,
        problem: AnonymizationProblem,
        archive: Archive,
        *,
        seed: int,
        batch: int,
        focus: Focus | None = None,
    ) -> None:
        self.problem = problem
        self.archive = archive
        self.batch = batch
        self.marks = marks_of(problem, focus or {})
        self.evaluations = 0
        self.rounds = 0
        self._random = np.random.default_rng([seed, 0x706F6C])
        self._seen: set[bytes] = set()
        self._waiting: dict[bytes, list[NDArray[Any]]] = {}
        self._tried: dict[bytes, int] = {}
        self._moves: dict[bytes, int] = {}
        self._most_left_out = most_left_out(problem) if problem.space.settles else None
        third = "walks" if self._most_left_out is None else "settled"
        self.kinds = ("neighbours", "children", third)

    def describe(self) -> dict[str, Any]:
        """Return what makes one polish differ from another, as plain data."""
        names = self.problem.objective_names
        return {
            "batch": self.batch,
            "kinds": list(self.kinds),
            "marks": {names[place]: list(marks) for place, marks in self.marks.items()},
        }

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Remember what was evaluated."""
        self._seen.update(self.problem.stair_keys(evaluation.X))

    def next(self) -> bool:
        """Evaluate one batch of neighbours; False if there is none left."""
        rows = self._batch()
        if not rows:
            return False
        self.problem.evaluator.evaluate(np.array(rows))
        self.evaluations += len(rows)
        self.rounds += 1
        return True

    def _batch(self) -> list[NDArray[Any]]:
        """Return new decision vectors: as many as a batch has, or all that remain."""
        rows = self.archive.rows
        keys = self.problem.stair_keys(np.array(rows))
        everyone = dict(zip(keys, rows, strict=True))
        for key in list(self._waiting):
            if key not in everyone:  # no longer among the best
                del self._waiting[key]
        slices = best_of_slices(self.problem, self.archive.F, self.marks)
        preferred = {keys[of_slice.place]: rows[of_slice.place] for of_slice in slices}
        batch: list[NDArray[Any]] = []
        if self._most_left_out is not None:
            batch += self._settled(slices, -(-self.batch // _SETTLED), self._most_left_out)
        share = (self.batch - len(batch)) // 4
        if len(everyone) > self.batch and preferred:
            batch += self._around(preferred, share)
            if "walks" in self.kinds:
                batch += self._walks(list(preferred.values()), share)
            batch += self._children(np.array(list(preferred.values())), share)
        return batch + self._around(everyone, self.batch - len(batch))

    def _settled(self, slices: list[Slice], tries: int, left_out: int) -> list[NDArray[Any]]:
        """Return new decision vectors that no part can improve by itself, near those of the archive.

        Three quarters of the tries are for the k and ℓ of a slice, the others for those of a trade-off.
        Each starts from a trade-off with other k and ℓ, one of the nearest more often than a far one.
        """
        archive, problem = self.archive, self.problem
        rows: list[NDArray[Any]] = []
        for _ in range(tries):
            if slices and self._random.random() < _OF_SLICES:
                values = slices[self._random.integers(len(slices))].marks
            else:
                of_one = problem.minimised(archive.F[self._random.integers(len(archive))])
                values = dict(enumerate(of_one.tolist()))
            limits = limits_of(problem, values, left_out)
            nearest = nearest_to_limits(problem, archive.F, limits)
            start = nearest[int(len(nearest) ** self._random.random()) - 1]
            row = problem.space.settled(archive.rows[start], limits, self._random)
            rows += [] if row is None else self._new(row[None])
        return rows

    def _walks(self, centres: list[NDArray[Any]], most: int) -> list[NDArray[Any]]:
        """Return new ends of random walks, from all of some decision vectors in turn."""
        rows = []
        for place in self._random.permutation(np.arange(most) % len(centres)):
            moves = int(self._random.integers(2, _LONGEST_WALK, endpoint=True))
            rows += self._new(self._walked(centres[place], moves)[None])
        return rows

    def _children(self, parents: NDArray[Any], most: int) -> list[NDArray[Any]]:
        """Return new children of random pairs of decision vectors, which are near each other in their list.

        Neighbouring slices have much in common, so that a child of them is more often good.
        """
        if len(parents) < 2 or most < 1:
            return []
        operators = self.problem.default_operators()
        first = self._random.integers(len(parents), size=-(-most // 2))
        step = self._random.integers(1, _NEAR, size=len(first), endpoint=True)
        step *= self._random.choice([-1, 1], size=len(first))
        second = np.clip(first + step, 0, len(parents) - 1)
        second = np.where(second == first, first - np.sign(step), second)
        pairs = np.column_stack([first, second])
        children = Population.new(X=parents)
        children = operators["crossover"].do(
            self.problem, children, pairs, random_state=self._random
        )
        for name in ("mutation", "repair"):
            if operators.get(name) is not None:
                children = operators[name].do(self.problem, children, random_state=self._random)
        return self._new(children.get("X")[:most])

    def _around(self, centres: dict[bytes, NDArray[Any]], most: int) -> list[NDArray[Any]]:
        """Return new neighbours of all of some decision vectors in turn."""
        keys = list(centres)
        rows: list[NDArray[Any]] = []
        share = max(1, most // max(1, len(keys)))
        progress = True
        while progress and len(rows) < most:
            progress = False
            order = self._random.permutation(len(keys))
            for i in sorted(order, key=lambda i: self._tried.get(keys[i], 0)):
                key = keys[i]
                neighbours = self._neighbours(key, centres[key], min(share, most - len(rows)))
                progress |= bool(neighbours)
                rows += neighbours
                if len(rows) >= most:
                    break
        return rows

    def _neighbours(self, key: bytes, x: NDArray[Any], most: int) -> list[NDArray[Any]]:
        """Return some new neighbours of a decision vector, or what is farther away if there are none."""
        if key not in self._waiting:
            self._waiting[key] = self._shuffled(x) if key not in self._tried else []
        if not self._waiting[key]:
            moves = self._moves.setdefault(key, 1)
            self._waiting[key] = self._shuffled(self._walked(x, moves))
            self._moves[key] += not self._waiting[key]
        waiting, neighbours = self._waiting[key], list[NDArray[Any]]()
        while waiting and len(neighbours) < most:
            neighbours += self._new(waiting.pop()[None])
        self._tried[key] = self._tried.get(key, 0) + max(1, len(neighbours))
        return neighbours

    def _new(self, rows: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the decision vectors that were not evaluated yet, each once."""
        new_rows = []
        for row, key in zip(rows, self.problem.stair_keys(rows), strict=True):
            if key not in self._seen:
                self._seen.add(key)
                new_rows.append(row)
        return new_rows

    def _shuffled(self, x: NDArray[Any]) -> list[NDArray[Any]]:
        """Return neighbours that were not evaluated yet, in a random order; not all if they are huge."""
        rows = self.problem.neighbours(x)
        keys = self.problem.stair_keys(rows) if len(rows) else []
        rows = rows[[key not in self._seen for key in keys]]
        order = self._random.permutation(len(rows))
        return list(rows[order[: max(1, _LARGEST // max(1, rows[:1].nbytes))]])

    def _walked(self, x: NDArray[Any], moves: int) -> NDArray[Any]:
        """Return where some random moves lead to."""
        for _ in range(moves):
            neighbours = self.problem.neighbours(x)
            if len(neighbours):
                x = neighbours[self._random.integers(len(neighbours))]
        return x
