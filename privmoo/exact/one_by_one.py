"""The exact front of a problem whose recodings must be evaluated one by one."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.exact.choices import PartitionChoices
from privmoo.exact.stopwatch import Stopwatch
from privmoo.front.archive import Archive
from privmoo.operators.space import space_of
from privmoo.problem import AnonymizationProblem
from privmoo.suppression.staircase import Staircase, most_suppressed

__all__ = ["evaluate_all"]

_CHUNK = 4096
_SMALL_CHUNK = 256  # so that the clock is looked at often


def evaluate_all(
    problem: AnonymizationProblem, choices: PartitionChoices, watch: Stopwatch, bar: Any
) -> tuple[Archive, int]:
    """Evaluate every recoding, with every threshold if that is a variable, until the time is over.

    Args:
        problem: The problem.
        choices: What its recodings choose from.
        watch: The time.
        bar: The progress bar.

    Returns:
        What is feasible and not dominated, and how many recodings were evaluated.
    """
    archive = Archive(problem.n_obj)
    nodes = product(*map(range, choices.sizes))
    n_visited, size = 0, _SMALL_CHUNK if watch.seconds is not None else _CHUNK
    while n_visited < choices.n_nodes and not watch.is_over():
        chunk = np.array(list(islice(nodes, size)))
        for part in _decision_vectors(problem, choices, chunk, size):
            if isinstance(problem.suppression, Staircase):
                archive.on_evaluation(problem.evaluator.evaluate(part, stairs=True))
            else:
                archive.on_evaluation(problem.evaluator.judge(part, keep=False))
        n_visited += len(chunk)
        bar.update(len(chunk))
    return archive, n_visited


def _decision_vectors(
    problem: AnonymizationProblem, choices: PartitionChoices, nodes: NDArray[np.int64], size: int
) -> list[NDArray[Any]]:
    """Return the decision vectors of some recodings, with every threshold they choose, in chunks."""
    share = getattr(problem.space, "max_suppression", None)
    if share is None:
        return [np.stack([choices.row(node) for node in nodes])]
    rows = []
    space = space_of(problem, "levels")
    limit = most_suppressed(float(share), problem.table.n_records)
    staircases = problem.evaluator.engine.stairs(space.blocks(space.lowest + nodes))
    for node, stairs in zip(nodes, staircases, strict=True):
        rows += [choices.row(node, int(k)) for k in stairs.within(limit)]
    return [np.stack(rows[low : low + size]) for low in range(0, len(rows), size)]
