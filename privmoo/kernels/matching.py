"""Which published records an attacker's knowledge fits, how well, and what they tell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["AttackerKnowledge", "Published", "match_known"]

# e^-40 of the best fit is lost in the rounding of a sum.
_NEGLIGIBLE = 40.0
_BLOCK = 64


class AttackerKnowledge(NamedTuple):
    """What an attacker knows of persons, ordered by their categories: by kind.

    Attributes:
        numbers: Known tuples × numbers.
        kind: The kind of every known tuple.
        leaves: Kinds × categories.
        starts: Where the values asked for each known tuple begin, and the end.
        values: The sensitive values asked for.
    """

    numbers: NDArray[np.float64]
    kind: NDArray[np.int64]
    leaves: NDArray[np.float64]
    starts: NDArray[np.int64]
    values: NDArray[np.int64]


class Published(NamedTuple):
    """What is published, ordered by categories (by kind), then by the lower end of the first number.

    Attributes:
        low: Published tuples × numbers: the lower ends of what is rounded to the published numbers.
        high: The upper ends.
        inverse: One over the scale of the noise; infinite where there is none.
        surprise: -log ½(1 - e^-w), where w is the width from low to high in scales.
        starts: Where the tuples of each kind begin, and the end.
        first: Kinds × categories: first leaves of the labels.
        last: Last leaves.
        entries: Where the sensitive values of each tuple begin, and the end.
        values: The values.
        counts: How many records have them.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    inverse: NDArray[np.float64]
    surprise: NDArray[np.float64]
    starts: NDArray[np.int64]
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    entries: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]


@compiled()
def _surprise(published: Published, r: int, point: NDArray[np.float64]) -> float:
    """-log P(the tuple's numbers | the known ones), by the Laplace distribution; inf if impossible.

    A known number beyond the ends, at a distance of d scales, has probability ½ e^-d (1 - e^-w). One
    between them, a scales from the lower and b from the upper end, has 1 - ½ e^-a - ½ e^-b.
    """
    total = 0.0
    for j in range(len(point)):
        below = published.low[r, j] - point[j]
        above = point[j] - published.high[r, j]
        inverse = published.inverse[r, j]
        gap = max(below, above)
        if gap > 0:
            total += gap * inverse + published.surprise[r, j]
        elif inverse < np.inf:
            total -= np.log(-0.5 * (np.expm1(below * inverse) + np.expm1(above * inverse)))
    return total


@compiled()
def match_known(
    knowledge: AttackerKnowledge,
    published: Published,
    prior: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """For every known tuple and asked value, the share of fitting records that have the value.

    A record fits where its labels cover the known categories; it counts the probability that noise takes
    the known numbers to the published ones. Where nothing fits, the share is the value's `prior`. Within
    a kind only tuples near the known number are looked at.
    """
    n_kinds = len(published.first)
    n_numbers = knowledge.numbers.shape[1]
    # The loudest noise of every kind, and the highest end of every block of tuples, bound the search.
    slowest = np.full(n_kinds, np.inf)
    highest = np.full(len(published.low) // _BLOCK + 1, -np.inf)
    for c in range(n_kinds if n_numbers else 0):
        for r in range(published.starts[c], published.starts[c + 1]):
            slowest[c] = min(slowest[c], published.inverse[r, 0])
            highest[r // _BLOCK] = max(highest[r // _BLOCK], published.high[r, 0])
    fitting = np.empty(n_kinds, np.int64)
    tally = np.zeros(len(prior))
    near = np.empty(len(published.low), np.int64)
    distance = np.empty(len(published.low))
    last_kind, n_fitting = -1, 0
    for v in range(len(knowledge.numbers)):
        if knowledge.kind[v] != last_kind:
            last_kind, n_fitting = knowledge.kind[v], 0
            for c in range(n_kinds):
                fits = True
                for j in range(knowledge.leaves.shape[1]):
                    leaf = knowledge.leaves[last_kind, j]
                    if leaf < published.first[c, j] or leaf > published.last[c, j]:
                        fits = False
                        break
                if fits:
                    fitting[n_fitting] = c
                    n_fitting += 1
        point = knowledge.numbers[v]
        best, n_near = np.inf, 0
        for i in range(n_fitting):
            c = fitting[i]
            begin, end = published.starts[c], published.starts[c + 1]
            middle = begin
            if n_numbers:
                middle += np.searchsorted(published.low[begin:end, 0], point[0], side="right")
            for r in range(middle, end):
                ahead = (published.low[r, 0] - point[0]) * slowest[c] if n_numbers else 0.0
                if ahead > best + _NEGLIGIBLE:
                    break
                d = _surprise(published, r, point)
                if d <= best + _NEGLIGIBLE and d < np.inf:
                    near[n_near], distance[n_near] = r, d
                    n_near += 1
                    best = min(best, d)
            r = middle - 1
            while r >= begin:
                if (point[0] - highest[r // _BLOCK]) * slowest[c] > best + _NEGLIGIBLE:
                    r = (r // _BLOCK) * _BLOCK - 1  # nothing in the block reaches so far
                    continue
                d = _surprise(published, r, point)
                if d <= best + _NEGLIGIBLE and d < np.inf:
                    near[n_near], distance[n_near] = r, d
                    n_near += 1
                    best = min(best, d)
                r -= 1
        total = 0.0
        for i in range(n_near):
            if distance[i] > best + _NEGLIGIBLE:
                continue
            weight = np.exp(best - distance[i])
            for e in range(published.entries[near[i]], published.entries[near[i] + 1]):
                tally[published.values[e]] += weight * published.counts[e]
                total += weight * published.counts[e]
        for a in range(knowledge.starts[v], knowledge.starts[v + 1]):
            value = knowledge.values[a]
            out[a] = tally[value] / total if total > 0 else prior[value]
        if total > 0:
            tally[:] = 0
