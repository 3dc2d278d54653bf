"""Cuts of ordered domains: blocks of leaves, validity, and the nearest valid cut.

A switch holds the bits between the children of one tree node: it is open when its children are kept
apart. A cut is valid when all bits of a switch agree and an open switch has an open parent. A bit of an
unconstrained attribute is a switch of its own, without parent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "Switches",
    "blocks_of",
    "cross_cuts",
    "grow_cuts",
    "mutate_cuts",
    "nearest_cuts",
    "valid_cuts",
]


class Switches(NamedTuple):
    """The switches of all attributes, numbered in pre-order.

    Attributes:
        fixed_one: Bits that are always 1.
        fixed_zero: Bits that are always 0.
        owner: The switch of every bit.
        first: The first bit of every switch.
        parent: The switch that must be open for this one to be open; -1 if there is none.
        begin: The first bit at or below every switch.
        stop: One past the last bit at or below it.
        offsets: Where the switches of every attribute begin, and their number.
        bit_offsets: Where the bits of every attribute begin, and their number.
    """

    fixed_one: NDArray[np.bool_]
    fixed_zero: NDArray[np.bool_]
    owner: NDArray[np.int64]
    first: NDArray[np.int64]
    parent: NDArray[np.int64]
    begin: NDArray[np.int64]
    stop: NDArray[np.int64]
    offsets: NDArray[np.int64]
    bit_offsets: NDArray[np.int64]


@compiled()
def blocks_of(bits: NDArray[Any], offsets: NDArray[np.int64], blocks: NDArray[np.uint32]) -> None:
    """The block of every leaf, numbered from 0 within each attribute."""
    for row in range(len(bits)):
        leaf = 0
        for j in range(len(offsets) - 1):
            block = np.uint32(0)
            blocks[row, leaf] = block
            leaf += 1
            for bit in range(offsets[j], offsets[j + 1]):
                if bits[row, bit]:
                    block += np.uint32(1)
                blocks[row, leaf] = block
                leaf += 1


@compiled()
def valid_cuts(bits: NDArray[Any], switches: Switches, valid: NDArray[Any]) -> None:
    """Which rows are valid cuts that respect the fixed bits."""
    fixed_one, fixed_zero = switches.fixed_one, switches.fixed_zero
    owner, first, parent = switches.owner, switches.first, switches.parent
    for row in range(len(bits)):
        x = bits[row]
        good = True
        for bit in range(len(owner)):
            if (x[bit] and fixed_zero[bit]) or (fixed_one[bit] and not x[bit]):
                good = False
                break
            switch = owner[bit]
            if x[bit] != x[first[switch]]:
                good = False
                break
            if x[bit] and parent[switch] >= 0 and not x[first[parent[switch]]]:
                good = False
                break
        valid[row] = good


@compiled()
def nearest_cuts(bits: NDArray[Any], switches: Switches, result: NDArray[Any]) -> None:
    """The valid cut with the fewest changed bits; between equally near ones, the coarser.

    Bottom-up over the tree: closing a switch costs all ones below it; opening it costs its own
    zeros and, for every child, the cheaper of both.
    """
    fixed_one, fixed_zero = switches.fixed_one, switches.fixed_zero
    owner, first, parent = switches.owner, switches.first, switches.parent
    n = len(first)
    close = np.empty(n, np.int64)
    open_ = np.empty(n, np.int64)
    state = np.empty(n, np.bool_)
    for row in range(len(bits)):
        close[:] = 0
        open_[:] = 0
        for bit in range(len(owner)):
            if bits[row, bit]:
                close[owner[bit]] += 1
            else:
                open_[owner[bit]] += 1
        for switch in range(n - 1, -1, -1):
            above = parent[switch]
            if above < 0:
                continue
            close[above] += close[switch]
            bit = first[switch]
            if fixed_zero[bit] or (close[switch] <= open_[switch] and not fixed_one[bit]):
                open_[above] += close[switch]
            else:
                open_[above] += open_[switch]
        for switch in range(n):
            bit = first[switch]
            above = parent[switch]
            if fixed_zero[bit] or (above >= 0 and not state[above]):
                state[switch] = False
            else:
                state[switch] = fixed_one[bit] or open_[switch] < close[switch]
        for bit in range(len(owner)):
            result[row, bit] = state[owner[bit]]


@compiled()
def grow_cuts(
    open_probability: NDArray[np.float64],
    uniform: NDArray[np.float64],
    switches: Switches,
    result: NDArray[Any],
) -> None:
    """Random valid cuts from the root down: a switch may open where its parent is open."""
    fixed_one, fixed_zero = switches.fixed_one, switches.fixed_zero
    owner, first, parent = switches.owner, switches.first, switches.parent
    state = np.empty(len(first), np.bool_)
    for row in range(len(result)):
        for j in range(len(switches.offsets) - 1):
            for switch in range(switches.offsets[j], switches.offsets[j + 1]):
                bit = first[switch]
                above = parent[switch]
                if fixed_zero[bit] or (above >= 0 and not state[above]):
                    state[switch] = False
                else:
                    opens = uniform[row, switch] < open_probability[row, j]
                    state[switch] = fixed_one[bit] or opens
        for bit in range(len(owner)):
            result[row, bit] = state[owner[bit]]


@compiled()
def cross_cuts(
    parents: NDArray[Any],
    point: NDArray[np.float64],
    swap: NDArray[Any],
    offsets: NDArray[np.int64],
    constrained: NDArray[Any],
    children: NDArray[Any],
) -> None:
    """Exchange what lies behind one point of each attribute; in trees a point where both have a 1.

    Parents and children are 2 × matings × bits. The attribute's two ends are points as well.
    """
    for mating in range(parents.shape[1]):
        mother, father = parents[0, mating], parents[1, mating]
        for j in range(len(offsets) - 1):
            start, stop = offsets[j], offsets[j + 1]
            if constrained[j]:
                shared = 0
                for bit in range(start, stop):
                    shared += mother[bit] and father[bit]
                rank = np.int64(point[mating, j] * (shared + 2))
                at = start  # the first end; the shared ones follow in order, then the other end
                if rank > shared:
                    at = stop
                elif rank > 0:
                    at = start - 1
                    while rank > 0:
                        at += 1
                        rank -= mother[at] and father[at]
            else:
                at = start + np.int64(point[mating, j] * (stop - start + 1))
            for bit in range(start, stop):
                straight = (bit < at) != swap[mating, j]
                children[0, mating, bit] = mother[bit] if straight else father[bit]
                children[1, mating, bit] = father[bit] if straight else mother[bit]


@compiled()
def _flip(x: NDArray[Any], choice: float, j: int, switches: Switches) -> None:
    """Flip one of an attribute's switches that may change; closing one closes all below."""
    fixed_one, fixed_zero = switches.fixed_one, switches.fixed_zero
    first, parent = switches.first, switches.parent
    free = np.empty(switches.offsets[j + 1] - switches.offsets[j], np.int64)
    n_free = 0
    for switch in range(switches.offsets[j], switches.offsets[j + 1]):
        bit, above = first[switch], parent[switch]
        if not (fixed_one[bit] or fixed_zero[bit]) and (above < 0 or x[first[above]]):
            free[n_free] = switch
            n_free += 1
    if n_free == 0:
        return
    switch = free[np.int64(choice * n_free)]
    opens = not x[first[switch]]
    for bit in range(switches.begin[switch], switches.stop[switch]):
        x[bit] = opens and switches.owner[bit] == switch


@compiled()
def _shift(x: NDArray[Any], choice: float, step: int, j: int, switches: Switches) -> bool:
    """Move one boundary of an attribute; False if it cannot go there."""
    fixed_one, fixed_zero = switches.fixed_one, switches.fixed_zero
    start, stop = switches.bit_offsets[j], switches.bit_offsets[j + 1]
    ones = 0
    for bit in range(start, stop):
        ones += x[bit] and not fixed_one[bit]
    if ones == 0:
        return False
    rank = np.int64(choice * ones)
    at = start - 1
    while rank >= 0:
        at += 1
        rank -= x[at] and not fixed_one[at]
    to = at + step
    if to < start or to >= stop or x[to] or fixed_zero[to]:
        return False
    x[at] = False
    x[to] = True
    return True


@compiled()
def mutate_cuts(
    bits: NDArray[Any],
    hits: NDArray[Any],
    choice: NDArray[np.float64],
    steps: NDArray[np.int64],
    switches: Switches,
) -> None:
    """Change, in place, the attributes of every row that are hit by one move.

    A step other than 0 moves a boundary that far; where it cannot, or where the step is 0, one
    switch is flipped.
    """
    for row in range(len(bits)):
        x = bits[row]
        for j in range(len(switches.bit_offsets) - 1):
            if not hits[row, j]:
                continue
            u = choice[row, j]
            step = steps[row, j]
            if step == 0 or not _shift(x, u, step, j, switches):
                _flip(x, u, j, switches)
