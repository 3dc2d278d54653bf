"""Cuts of ordered domains: blocks of leaves, validity, and the nearest valid cut.

A switch holds the bits between the children of one tree node (`owner[bit]` names it): it is open
when its children are kept apart. A cut is valid when all bits of a switch agree and an open switch
has an open parent. Switches are numbered in pre-order; the bits at and below one are
`begin[switch] … stop[switch] - 1`. A bit of an unconstrained attribute is a switch of its own,
without parent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["blocks_of", "cross_cuts", "grow_cuts", "mutate_cuts", "nearest_cuts", "valid_cuts"]


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
def valid_cuts(
    bits: NDArray[Any],
    fixed_one: NDArray[Any],
    fixed_zero: NDArray[Any],
    owner: NDArray[np.int64],
    first: NDArray[np.int64],
    parent: NDArray[np.int64],
    valid: NDArray[Any],
) -> None:
    """Which rows are valid cuts that respect the fixed bits."""
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
def nearest_cuts(
    bits: NDArray[Any],
    fixed_one: NDArray[Any],
    fixed_zero: NDArray[Any],
    owner: NDArray[np.int64],
    first: NDArray[np.int64],
    parent: NDArray[np.int64],
    result: NDArray[Any],
) -> None:
    """The valid cut with the fewest changed bits; between equally near ones, the coarser.

    Bottom-up over the tree: closing a switch costs all ones below it; opening it costs its own
    zeros and, for every child, the cheaper of both.
    """
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
    fixed_one: NDArray[Any],
    fixed_zero: NDArray[Any],
    owner: NDArray[np.int64],
    first: NDArray[np.int64],
    parent: NDArray[np.int64],
    switch_offsets: NDArray[np.int64],
    result: NDArray[Any],
) -> None:
    """Random valid cuts from the root down: a switch may open where its parent is open."""
    state = np.empty(len(first), np.bool_)
    for row in range(len(result)):
        for j in range(len(switch_offsets) - 1):
            for switch in range(switch_offsets[j], switch_offsets[j + 1]):
                bit = first[switch]
                above = parent[switch]
                if fixed_zero[bit] or (above >= 0 and not state[above]):
                    state[switch] = False
                else:
                    drawn = uniform[row, switch] < open_probability[row, j]
                    state[switch] = fixed_one[bit] or drawn
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
                left = np.int64(point[mating, j] * (shared + 2))
                at = start  # the first end; the shared ones follow in order, then the other end
                if left > shared:
                    at = stop
                elif left > 0:
                    at = start - 1
                    while left > 0:
                        at += 1
                        left -= mother[at] and father[at]
            else:
                at = start + np.int64(point[mating, j] * (stop - start + 1))
            for bit in range(start, stop):
                straight = (bit < at) != swap[mating, j]
                children[0, mating, bit] = mother[bit] if straight else father[bit]
                children[1, mating, bit] = father[bit] if straight else mother[bit]


@compiled()
def _may_change(
    switch: int,
    x: NDArray[Any],
    fixed_one: NDArray[Any],
    fixed_zero: NDArray[Any],
    first: NDArray[np.int64],
    parent: NDArray[np.int64],
) -> bool:
    bit = first[switch]
    if fixed_one[bit] or fixed_zero[bit]:
        return False
    return bool(parent[switch] < 0 or x[first[parent[switch]]])


@compiled()
def _flip(
    x: NDArray[Any],
    chosen: float,
    switches: range,
    fixed_one: NDArray[Any],
    fixed_zero: NDArray[Any],
    owner: NDArray[np.int64],
    first: NDArray[np.int64],
    parent: NDArray[np.int64],
    begin: NDArray[np.int64],
    stop: NDArray[np.int64],
) -> None:
    """Flip one of the switches that may change; closing one closes all below."""
    free = 0
    for switch in switches:
        free += _may_change(switch, x, fixed_one, fixed_zero, first, parent)
    left = np.int64(chosen * free)
    for switch in switches:
        if not _may_change(switch, x, fixed_one, fixed_zero, first, parent):
            continue
        if left == 0:
            opens = not x[first[switch]]
            for bit in range(begin[switch], stop[switch]):
                x[bit] = opens and owner[bit] == switch
            return
        left -= 1


@compiled()
def _shift(
    x: NDArray[Any],
    chosen: float,
    step: int,
    start: int,
    stop: int,
    fixed_one: NDArray[Any],
    fixed_zero: NDArray[Any],
) -> bool:
    """Move one boundary of the bits start … stop - 1; False if it cannot go there."""
    ones = 0
    for bit in range(start, stop):
        ones += x[bit] and not fixed_one[bit]
    if ones == 0:
        return False
    left = np.int64(chosen * ones)
    at = start - 1
    while left >= 0:
        at += 1
        left -= x[at] and not fixed_one[at]
    to = at + step
    if to < start or to >= stop or x[to] or fixed_zero[to]:
        return False
    x[at] = False
    x[to] = True
    return True


@compiled()
def mutate_cuts(
    bits: NDArray[Any],
    touched: NDArray[Any],
    chosen: NDArray[np.float64],
    steps: NDArray[np.int64],
    offsets: NDArray[np.int64],
    switch_offsets: NDArray[np.int64],
    fixed_one: NDArray[Any],
    fixed_zero: NDArray[Any],
    owner: NDArray[np.int64],
    first: NDArray[np.int64],
    parent: NDArray[np.int64],
    begin: NDArray[np.int64],
    stop: NDArray[np.int64],
) -> None:
    """Change, in place, the touched attributes of every row by one move.

    A step other than 0 moves a boundary that far; where it cannot, or where the step is 0, one
    switch is flipped.
    """
    for row in range(len(bits)):
        x = bits[row]
        for j in range(len(offsets) - 1):
            if not touched[row, j]:
                continue
            u = chosen[row, j]
            step = steps[row, j]
            if step != 0 and _shift(x, u, step, offsets[j], offsets[j + 1], fixed_one, fixed_zero):
                continue
            switches = range(switch_offsets[j], switch_offsets[j + 1])
            _flip(x, u, switches, fixed_one, fixed_zero, owner, first, parent, begin, stop)
