"""Partly decided cuts: the groups that all completions refine, and what an open switch would leave out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "CLOSED",
    "OPEN",
    "UNDECIDED",
    "Blocks",
    "CutAim",
    "CutTable",
    "Openings",
    "PartialGroups",
    "is_available",
    "number_groups",
    "tally_openings",
    "write_blocks",
]

UNDECIDED, OPEN, CLOSED = 0, 1, 2


class CutTable(NamedTuple):
    """Records and the switches of their cuts. The leaves of all columns stand in one row of places."""

    codes: NDArray[np.int64]
    """Distinct tuples × columns: places of leaves."""
    weights: NDArray[np.int64]
    """Records of every tuple."""
    columns: NDArray[np.int64]
    """Where the leaves of every column begin, and their number."""
    switches: NDArray[np.int64]
    """Where the switches of every column begin, and their number."""
    after: NDArray[np.int64]
    """By leaf: the switch that keeps it apart from the next; -1 for the last leaf of a column."""
    parents: NDArray[np.int64]
    """By switch: the one that must be open for this one to be open; -1 if there is none."""
    first_bits: NDArray[np.int64]
    """By switch: the leaf before its first bit."""
    n_bits: NDArray[np.int64]
    """By switch: its bits."""
    first: NDArray[np.int64]
    """By switch: the first leaf below it."""
    last: NDArray[np.int64]
    """By switch: the last leaf below it."""
    in_tree: NDArray[np.bool_]
    """By column: whether its cuts come from a tree; otherwise every bit is free."""
    costs: NDArray[np.float64]
    """From where a column begins: what a record loses in a block of one leaf, of two, and so on."""
    price: float
    """What a suppressed record loses; no less than any other."""


class CutAim(NamedTuple):
    """What a cut must reach.

    Attributes:
        level: The least records of a published group, or the least sum of squares of all groups.
        squares: Whether it is the latter.
        most_suppressed: The largest number of suppressed records; 0 for squares.
    """

    level: int
    squares: bool
    most_suppressed: int


class Blocks(NamedTuple):
    """The blocks of a cut, by leaf: the first and the last leaf of its block, and what a record loses."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    costs: NDArray[np.float64]


class PartialGroups(NamedTuple):
    """Groups of tuples: the group of every tuple, their records, and their tuples in order."""

    of_tuples: NDArray[np.int64]
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    order: NDArray[np.int64]
    slots: NDArray[np.int64]


class Openings(NamedTuple):
    """What is lost if single switches are opened, by switch.

    Attributes:
        lost: The records that must then be suppressed, or the squares that are lost.
        costs: What these records then lose in addition.
        shared: The same records; one that several switches would suppress is divided among them.
        shared_costs: What they lose in addition to any loss in blocks, divided in the same way.
    """

    lost: NDArray[np.int64]
    costs: NDArray[np.float64]
    shared: NDArray[np.float64]
    shared_costs: NDArray[np.float64]


class _Rows(NamedTuple):
    """The records of one group by leaf, and its pieces that are too small."""

    records: NDArray[np.int64]
    rests: NDArray[np.float64]
    crowds: NDArray[np.int64]
    shares: NDArray[np.float64]
    share_costs: NDArray[np.float64]
    pieces: NDArray[np.int64]


@compiled()
def write_blocks(cuts: CutTable, status: NDArray[np.uint8], finest: bool, blocks: Blocks) -> None:
    """Write the blocks of the finest or the coarsest completion of a partial cut."""
    for j in range(len(cuts.columns) - 1):
        begin = cuts.columns[j]
        start = begin
        for leaf in range(begin, cuts.columns[j + 1]):
            switch = cuts.after[leaf]
            if switch >= 0:
                is_open = status[switch] == OPEN
                if not is_open and not (finest and status[switch] == UNDECIDED):
                    continue
            cost = cuts.costs[begin + leaf - start]
            for place in range(start, leaf + 1):
                blocks.first[place], blocks.last[place] = start, leaf
                blocks.costs[place] = cost
            start = leaf + 1


@compiled()
def number_groups(cuts: CutTable, blocks: Blocks, groups: PartialGroups) -> int:
    """Group the tuples by their blocks. Returns how many groups there are."""
    n, n_columns = cuts.codes.shape
    last_slot = len(groups.slots) - 1
    groups.slots[:] = -1
    columns = np.empty(n_columns, np.int64)
    n_divided = 0
    for j in range(n_columns):
        begin = cuts.columns[j]
        if blocks.last[begin] < cuts.columns[j + 1] - 1:
            columns[n_divided] = j
            n_divided += 1
    columns = columns[:n_divided]
    count = 0
    for t in range(n):
        key: Any = np.int64(0)
        for column in columns:
            key = (key ^ blocks.first[cuts.codes[t, column]]) * np.int64(-7046029254386353131)
        place = (key >> 29) & last_slot
        while groups.slots[place] >= 0:
            other = groups.slots[place]
            is_same = True
            for column in columns:
                if blocks.first[cuts.codes[t, column]] != blocks.first[cuts.codes[other, column]]:
                    is_same = False
                    break
            if is_same:
                break
            place = (place + 1) & last_slot
        if groups.slots[place] < 0:
            groups.slots[place] = t
            groups.of_tuples[t] = count
            groups.sizes[count], groups.starts[count] = 0, 0
            count += 1
        else:
            groups.of_tuples[t] = groups.of_tuples[groups.slots[place]]
        groups.sizes[groups.of_tuples[t]] += cuts.weights[t]
        groups.starts[groups.of_tuples[t]] += 1
    total: Any = 0
    for g in range(count):
        total, groups.starts[g] = total + groups.starts[g], total
    for t in range(n):
        g = groups.of_tuples[t]
        groups.order[groups.starts[g]] = t
        groups.starts[g] += 1
    for g in range(count, 0, -1):
        groups.starts[g] = groups.starts[g - 1]
    groups.starts[0] = 0
    return count


@compiled()
def is_available(cuts: CutTable, status: NDArray[np.uint8], switch: Any) -> bool:
    """Whether a switch is the next to decide: undecided, with an open parent or none."""
    above = cuts.parents[switch]
    return bool(status[switch] == UNDECIDED and (above < 0 or status[above] == OPEN))


@compiled()
def tally_openings(
    cuts: CutTable,
    aim: CutAim,
    status: NDArray[np.uint8],
    finest: Blocks,
    coarsest: Blocks,
    groups: PartialGroups,
    openings: Openings,
) -> None:
    """Write what is lost if single switches are opened, from the groups of the coarsest completion.

    A piece of a group that an open switch leaves with too few records is suppressed in every completion
    with that switch open. It then loses the price, and not what the finest completion costs it. If
    several switches are opened, the pieces of all of them are suppressed; so a record counts once if it
    is divided among the switches that would suppress it. A completion that closes others may cost it
    more than the finest does, but no more than the coarsest; the rest to the price is certainly lost.
    """
    n_leaves, n_columns = len(cuts.after), cuts.codes.shape[1]
    openings.lost[:], openings.costs[:] = 0, 0.0
    openings.shared[:], openings.shared_costs[:] = 0.0, 0.0
    rows = _Rows(
        np.zeros(n_leaves, np.int64),
        np.zeros(n_leaves),
        np.zeros(n_leaves + 1, np.int64),
        np.zeros(n_leaves + 1),
        np.zeros(n_leaves + 1),
        np.empty(6 * n_leaves, np.int64),
    )
    n_groups = groups.of_tuples.max() + 1
    for g in range(n_groups):
        if not aim.squares and groups.sizes[g] < aim.level:
            continue
        rows.records[:], rows.rests[:] = 0, 0.0
        members = groups.order[groups.starts[g] : groups.starts[g + 1]]
        for t in members:
            rest = cuts.price
            for j in range(n_columns):
                rest -= finest.costs[cuts.codes[t, j]]
            for j in range(n_columns):
                rows.records[cuts.codes[t, j]] += cuts.weights[t]
                rows.rests[cuts.codes[t, j]] += cuts.weights[t] * rest
        n_pieces = _pieces_of_group(cuts, aim, status, coarsest, rows, openings)
        if n_pieces:
            _share_pieces(cuts, coarsest, members, n_pieces, rows, openings)


@compiled()
def _pieces_of_group(
    cuts: CutTable,
    aim: CutAim,
    status: NDArray[np.uint8],
    coarsest: Blocks,
    rows: _Rows,
    openings: Openings,
) -> int:
    """Add what single open switches make of one group; list the pieces that are too small.

    Returns how many these are. Each is a switch, a first leaf and a last leaf.
    """
    n_pieces = 0
    leaf = 0
    while leaf < len(cuts.after):
        low, high = leaf, coarsest.last[leaf]
        leaf = high + 1
        total = np.int64(0)
        for place in range(low, high + 1):
            total += rows.records[place]
        if total == 0:
            continue
        before, rest_before = np.int64(0), 0.0
        for place in range(low, high):
            before += rows.records[place]
            rest_before += rows.rests[place]
            switch = cuts.after[place]
            if cuts.first_bits[switch] != place or not is_available(cuts, status, switch):
                continue
            # The pieces of this switch: the first ends here, each of the others at its next bit.
            records, rest, begin, at = before, rest_before, low, place
            squares = np.int64(0)
            is_enough = cuts.n_bits[switch] == 1 and total - before >= aim.level
            while True:
                if 0 < records < aim.level and not aim.squares:
                    openings.lost[switch] += records
                    openings.costs[switch] += rest
                    rows.pieces[3 * n_pieces] = switch
                    rows.pieces[3 * n_pieces + 1] = begin
                    rows.pieces[3 * n_pieces + 2] = at
                    n_pieces += 1
                squares += records * records
                if at == high:
                    break
                if is_enough and not aim.squares:
                    break  # the other piece is not too small
                begin, records, rest = at + 1, np.int64(0), 0.0
                while at < high:
                    at += 1
                    records += rows.records[at]
                    rest += rows.rests[at]
                    if cuts.after[at] == switch:
                        break
            if aim.squares:
                openings.lost[switch] += total * total - squares
    return n_pieces


@compiled()
def _share_pieces(
    cuts: CutTable,
    coarsest: Blocks,
    members: NDArray[np.int64],
    n_pieces: int,
    rows: _Rows,
    openings: Openings,
) -> None:
    """Divide the records of pieces that are too small among the switches that make them."""
    n_leaves, n_columns = len(cuts.after), cuts.codes.shape[1]
    rows.crowds[:], rows.shares[:], rows.share_costs[:] = 0, 0.0, 0.0
    for piece in range(n_pieces):
        rows.crowds[rows.pieces[3 * piece + 1]] += 1
        rows.crowds[rows.pieces[3 * piece + 2] + 1] -= 1
    for leaf in range(n_leaves):
        rows.crowds[leaf + 1] += rows.crowds[leaf]
    for t in members:
        n_switches, rest = np.int64(0), cuts.price
        for j in range(n_columns):
            n_switches += rows.crowds[cuts.codes[t, j]]
            rest -= coarsest.costs[cuts.codes[t, j]]
        if n_switches == 0:
            continue
        share = cuts.weights[t] / n_switches
        for j in range(n_columns):
            rows.shares[cuts.codes[t, j] + 1] += share
            rows.share_costs[cuts.codes[t, j] + 1] += share * max(rest, 0.0)
    for leaf in range(n_leaves):
        rows.shares[leaf + 1] += rows.shares[leaf]
        rows.share_costs[leaf + 1] += rows.share_costs[leaf]
    for piece in range(n_pieces):
        switch, begin = rows.pieces[3 * piece], rows.pieces[3 * piece + 1]
        stop = rows.pieces[3 * piece + 2] + 1
        openings.shared[switch] += rows.shares[stop] - rows.shares[begin]
        openings.shared_costs[switch] += rows.share_costs[stop] - rows.share_costs[begin]
