"""Answer: a sentence about a front, with the solutions that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privmoo.front.solution import Solution

__all__ = ["Answer"]


@dataclass(frozen=True)
class Answer:
    """A sentence with the solutions that it is about; the answer is false if there is no solution.

    Attributes:
        sentence: The answer.
        solution: The solution within the limits; None if there is none.
        runners_up: For each limit, the next better solution just outside it.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> cuts = [[1, 1, 1, 1, 1], [0, 1, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> answer = pm.Front.of(problem, cuts).best_within(max_loss=0.5, maximise="k")
    >>> answer
    k = 3 at 40 % loss; allowing 100 % loss would give k = 6
    >>> answer.solution.recoding
    age: 20–22 | 40–60
    >>> pm.Front.of(problem, cuts).cheapest_with(min_k=2)
    possible: k = 3 at 40 % loss; with k = 1 it would be 0 % loss
    """

    sentence: str
    solution: Solution | None
    runners_up: Mapping[str, Solution]

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return self.sentence

    def __bool__(self) -> bool:
        return self.solution is not None
