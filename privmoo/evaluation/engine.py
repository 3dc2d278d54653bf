"""The engine: whole populations of candidates through grouping and suppression.

Candidates are processed in chunks, so memory depends on threads and chunk size, not on the population.
Threads run whole chunks, and every kernel releases the GIL.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from privmoo._util.threads import thread_count
from privmoo.data.table import Table
from privmoo.groups.grouper import Grouper
from privmoo.groups.groups import GroupBatch, Grouping
from privmoo.groups.layout import Workspace
from privmoo.recodings.candidates import Candidates
from privmoo.suppression.base import Suppression
from privmoo.suppression.no_suppression import NoSuppression
from privmoo.suppression.ranks import above_thresholds
from privmoo.suppression.removal import keep_groups, keep_records, repeat_groups
from privmoo.suppression.staircase import Staircase, Stairs, Steps, stairs_of

__all__ = ["Engine", "group"]

Result = TypeVar("Result")


class Engine:
    """Groups candidates of one table under one suppression policy, in threads.

    Args:
        table: The records.
        suppression: Which groups are left out.
        needs: What the measures will read beyond sizes and losses: `"counts"` (of sensitive
            attributes), `"target"` (counts of the target), `"labels"`.
        threads: The number of threads; all cores by default.
        staircase: What the steps of candidates are about, if not the policy.
    """

    def __init__(
        self,
        table: Table,
        *,
        suppression: Suppression | None = None,
        needs: Iterable[str] = (),
        threads: int | None = None,
        staircase: Staircase | None = None,
    ) -> None:
        self.table = table
        self.suppression = suppression or NoSuppression()
        if staircase is None and isinstance(self.suppression, Staircase):
            staircase = self.suppression
        self.staircase = staircase
        self.needs = frozenset(needs) | self.suppression.required
        self.threads = threads or thread_count()
        self.grouper = Grouper(table, self.needs)
        self._idle: list[Workspace] = []
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lock": None, "_idle": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    @property
    def chunk(self) -> int:
        """Candidates per chunk."""
        return self.grouper.chunk

    def map(
        self, candidates: Candidates, function: Callable[[GroupBatch, GroupBatch], Result]
    ) -> list[Result]:
        """Call a function on the groups of every chunk, in threads.

        Args:
            candidates: The whole population.
            function: Takes the groups of a chunk before and after suppression. The next chunk
                overwrites the memory of the groups, so it must return copies, not views.

        Returns:
            What the function returned for every chunk, in the order of the candidates.
        """
        return self._map(candidates, lambda part, memory: function(*self.groups(part, memory)))

    def map_with_stairs(
        self,
        candidates: Candidates,
        function: Callable[[GroupBatch, GroupBatch], Result],
        climb: Callable[[GroupBatch], Steps],
    ) -> tuple[list[Result], Steps]:
        """Call a function on the groups of every chunk, and find the steps of their staircases.

        Args:
            candidates: The whole population.
            function: As for `map`.
            climb: Returns the steps of a chunk from its groups before suppression.

        Returns:
            What the function returned for every chunk, and the steps with their place among the candidates.
        """

        def both(part: Candidates, memory: Workspace) -> tuple[Result, Steps, int]:
            before = self.grouper.group(part, memory)
            steps = climb(before)
            known_steps = steps if self.staircase is self.suppression else None
            return function(*self._suppress(part, before, memory, known_steps)), steps, len(part)

        results, staircases, begin = [], [], 0
        for result, steps, length in self._map(candidates, both):
            results.append(result)
            staircases.append(steps._replace(owners=steps.owners + begin))
            begin += length
        return results, Steps.join(staircases)

    def _map(
        self, candidates: Candidates, run_part: Callable[[Candidates, Workspace], Result]
    ) -> list[Result]:
        """Run a function on every chunk, in threads, each with working memory."""
        # As few rounds as the chunk allows, and the same number of parts for every thread.
        rounds = -(-len(candidates) // (self.chunk * self.threads))
        size = max(1, -(-len(candidates) // (max(1, rounds) * self.threads)))
        parts = candidates.chunks(size)

        def run(part: Candidates) -> Result:
            with self._lock:
                workspace = self._idle.pop() if self._idle else self.grouper.workspace()
            result = run_part(part, workspace)
            with self._lock:
                self._idle.append(workspace)
            return result

        if self.threads == 1 or len(parts) == 1:
            return [run(part) for part in parts]
        with ThreadPoolExecutor(max_workers=min(self.threads, len(parts))) as pool:
            return list(pool.map(run, parts))

    def groups(
        self, candidates: Candidates, workspace: Workspace | None = None
    ) -> tuple[GroupBatch, GroupBatch]:
        """Return the groups of a chunk before and after suppression.

        Args:
            candidates: A chunk of candidates.
            workspace: Memory to work in; new memory by default.
        """
        memory = workspace or self.grouper.workspace()
        return self._suppress(candidates, self.grouper.group(candidates, memory), memory)

    def _suppress(
        self,
        candidates: Candidates,
        before: GroupBatch,
        memory: Workspace,
        steps: Steps | None = None,
    ) -> tuple[GroupBatch, GroupBatch]:
        """Take out what the candidates or the policy leave out; the steps may be known already."""
        if candidates.steps is not None and self.staircase is not None:
            before = repeat_groups(before, [len(steps) for steps in candidates.steps])
            thresholds = np.concatenate(candidates.steps)
            return keep_groups(before, self.staircase.keep_at(before, thresholds), memory)
        if candidates.published is not None:
            return before, keep_records(before, candidates, self.grouper, memory)
        if candidates.thresholds is not None:
            keep: NDArray[np.bool_] | None = above_thresholds(before, candidates.thresholds)
        elif steps is not None and isinstance(self.suppression, Staircase):
            keep = self.suppression.keep_of(before, steps)
        else:
            keep = self.suppression.keep(before)
        if keep is None:
            return before, replace(before, stage="after")
        return keep_groups(before, keep, memory)

    def stairs(self, blocks: NDArray[np.uint32]) -> list[Stairs]:
        """Return the staircase of every candidate: all thresholds on the size of its groups."""
        # A threshold of 1 keeps every group, whatever the policy is.
        candidates = Candidates(blocks=blocks, thresholds=np.ones(len(blocks)))
        parts = self.map(candidates, lambda before, after: stairs_of(before))
        return [stairs for part in parts for stairs in part]


def group(table: Table, candidates: Candidates | None = None, **options: Any) -> Grouping:
    """Return the QI-groups of a table, as it is or under one candidate, after suppression.

    Args:
        table: The records.
        candidates: One candidate; the values as they are by default.
        options: Further arguments of `Engine`, such as `suppression`.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"a": [1, 1, 2]}), quasi_identifiers=["a"])
    >>> group(table).sizes.tolist()
    [2, 1]
    """
    if candidates is None:
        identity = [np.arange(qi.n_leaves, dtype=np.uint32) for qi in table.qis]
        candidates = Candidates(blocks=np.concatenate(identity)[None, :])
    needs = set(options.pop("needs", {"labels"}))
    needs |= {"counts"} if table.sensitive else set()
    needs |= {"target"} if table.target is not None else set()
    return Engine(table, needs=needs, **options).groups(candidates)[1][0]
