"""Cuts at round numbers: where a cut lies follows from the domain, not from the people beside it."""

from __future__ import annotations

from privmoo.kernels.compiled import compiled

__all__ = ["round_cut"]

_LARGEST_STEP = 10**15


@compiled()
def round_cut(last: int, first: int, origin: int) -> int:
    """Return the roundest place for a cut between two leaves: the first leaf of its upper side.

    Multiples of 5 are rounder than other numbers, then multiples of 10, of 50, and so on; of equally round
    ones the middle one is taken. A cut that lies beside a person, or halfway between two, would tell a
    value of theirs.

    Args:
        last: The last leaf that must be on the lower side.
        first: The first leaf that must be on the upper side.
        origin: The number that the first leaf of the domain stands for.

    >>> round_cut(18, 33, 0), round_cut(1, 16, 17), round_cut(3, 4, 0)
    (20, 3, 4)
    """
    cut, step, factor = first, 1, 5
    while step < _LARGEST_STEP:  # 0 is a multiple of every step
        lowest = (last + origin) // step + 1
        highest = (first + origin) // step
        if lowest > highest:
            break
        cut = (lowest + highest) // 2 * step - origin
        step *= factor
        factor = 7 - factor  # 5, 10, 50, 100, ...
    return cut
