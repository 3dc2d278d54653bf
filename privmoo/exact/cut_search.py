"""The least cost of a cut that reaches a given k, by branch and bound over switches."""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.exact.prices import Kind, cost_of_block, shares_of
from privmoo.kernels.cut_bounds import examine
from privmoo.kernels.partial_cuts import CLOSED, OPEN, UNDECIDED, CutAim, CutTable
from privmoo.spaces.cuts import CutSpace

__all__ = ["CutSearch", "DecidedCut", "cut_table", "undecided_cut"]

_ROUNDING = 1e-11


class DecidedCut(NamedTuple):
    """A cut that reaches an aim.

    Attributes:
        level: What it reaches: its k, or its sum of squares.
        cost: What it costs, added up over all records.
        status: Its switches.
    """

    level: int
    cost: float
    status: NDArray[np.uint8]


class CutSearch:
    """A best-first search for the cheapest cut that reaches an aim; it can be continued.

    It keeps partial cuts, in which some switches are open, some closed and the others undecided. The one
    whose completions may be the cheapest is examined (see `privmoo.kernels.cut_bounds.examine`) and
    divided by one switch. The least bound of those that are left bounds every cut. This is the idea of
    k-Optimize (Bayardo and Agrawal 2005), with general loss and a limit of suppressed records.

    Args:
        cuts: The records and switches.
        aim: What cuts must reach.
        start: The partial cut that all cuts complete.
        by_bound: How the next switch is chosen, see `privmoo.kernels.cut_bounds.examine`.

    Attributes:
        visited: The number of partial cuts that were examined.
    """

    def __init__(
        self, cuts: CutTable, aim: CutAim, start: NDArray[np.uint8], *, by_bound: bool
    ) -> None:
        self.cuts, self.aim, self.by_bound = cuts, aim, by_bound
        self.visited = 0
        self._open: list[tuple[float, int, bytes]] = [(0.0, 0, start.tobytes())]
        self._pruned = math.inf
        self._under_way = math.inf  # the bound of what is being examined
        self._order = 0

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left that may be cheaper than what was known last."""
        return not self._open and math.isinf(self._under_way)

    @property
    def bound(self) -> float:
        """What every cut that reaches the aim costs at least; infinite if there is none."""
        lowest = self._open[0][0] if self._open else math.inf
        return max(0.0, min(lowest, self._pruned, self._under_way)) * (1 - _ROUNDING)

    def step(self, floor: float) -> DecidedCut | None:
        """Examine the most promising partial cut; return a cut that costs less than `floor`, if it is one.

        Until a first cut is known, the search dives: it opens one switch after another.

        Args:
            floor: The cost of a cut that is known; only cheaper ones are searched.
        """
        # Ctrl-C may end this anywhere: what is taken off the heap is then still under way.
        self._under_way = self._open[0][0]
        lowest, _, code = heapq.heappop(self._open)
        cut = None
        if lowest >= floor * (1 - _ROUNDING):
            self._pruned, self._open = min(self._pruned, floor), []
        else:
            cut = self._divide(max(lowest, 0.0), np.frombuffer(code, np.uint8).copy(), floor)
        self._under_way = math.inf
        return cut

    def _divide(self, lowest: float, status: NDArray[np.uint8], floor: float) -> DecidedCut | None:
        """Examine a partial cut and divide it by a switch; return it if it is decided."""
        bound, switch, level = examine(self.cuts, self.aim, status, floor, self.by_bound)
        self.visited += 1
        # The completions that are left out cost no less than the floor.
        self._pruned = min(self._pruned, floor)
        if math.isinf(bound):
            return None
        if switch < 0:
            self._pruned = min(self._pruned, bound)
            return DecidedCut(int(level), float(bound), status)
        for decision in (CLOSED, OPEN):
            status[switch] = decision
            self._order -= 1
            dives = math.isinf(floor) and decision == OPEN
            entry = (-1.0 if dives else max(bound, lowest), self._order, status.tobytes())
            heapq.heappush(self._open, entry)
        return None


def cut_table(table: Table, space: CutSpace, kind: Kind) -> CutTable:
    """Return records and switches in the form of the kernels.

    Args:
        table: The records.
        space: Their cuts.
        kind: What is lost in blocks.
    """
    n_leaves = [qi.n_leaves for qi in table.qis]
    columns = np.concatenate([[0], np.cumsum(n_leaves)]).astype(np.int64)
    after = np.full(columns[-1], -1, np.int64)
    places = np.ones(columns[-1], np.bool_)
    places[columns[1:] - 1] = False
    after[places] = space.owner
    before_bits = np.flatnonzero(places)
    column_of = np.repeat(np.arange(len(n_leaves)), np.diff(space.switch_offsets))
    shares = shares_of(table, kind)
    costs = [
        cost_of_block(np.arange(1, n + 1), n, share, kind)
        for n, share in zip(n_leaves, shares, strict=True)
    ]
    return CutTable(
        codes=np.ascontiguousarray(table.tuples.astype(np.int64) + columns[:-1]),
        weights=table.weights.astype(np.int64),
        columns=columns,
        switches=space.switch_offsets.astype(np.int64),
        after=after,
        parents=space.parent.astype(np.int64),
        first_bits=before_bits[space.first].astype(np.int64),
        n_bits=np.bincount(space.owner, minlength=len(space.parent)).astype(np.int64),
        first=space.begin + column_of,
        last=space.stop + column_of,
        in_tree=np.ascontiguousarray(space.constrained, dtype=np.bool_),
        costs=np.concatenate(costs),
        price=float(math.fsum(shares)),
    )


def undecided_cut(space: CutSpace) -> NDArray[np.uint8]:
    """Return the partial cut that only what is fixed decides.

    Args:
        space: The cuts.
    """
    status = np.full(len(space.parent), UNDECIDED, np.uint8)
    status[space.fixed_one[space.first]] = OPEN
    status[space.fixed_zero[space.first]] = CLOSED
    return status
