"""Which published tuples an attacker's knowledge fits, and what they tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["match_known"]


@compiled()
def match_known(
    known: NDArray[np.float64],
    known_kind: NDArray[np.int64],
    kinds: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    kind_starts: NDArray[np.int64],
    kind_low: NDArray[np.float64],
    kind_high: NDArray[np.float64],
    entry_starts: NDArray[np.int64],
    entry_values: NDArray[np.int64],
    entry_counts: NDArray[np.int64],
    asked_starts: NDArray[np.int64],
    asked_values: NDArray[np.int64],
    prior: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """For every known tuple and asked value, the share of fitting published records that have the value.

    A published tuple fits where every known coordinate lies within its cell. Tuples are ordered by
    their categories (their kind), so that kinds that do not fit are passed over as a whole. Where
    nothing fits, the share is the value's `prior`.

    Args:
        known: Known tuples × numbers.
        known_kind: The kind of every known tuple.
        kinds: Kinds of known tuples × categories.
        low: Published tuples × numbers, lower ends.
        high: Upper ends.
        kind_starts: Where the published tuples of each kind begin, and the end.
        kind_low: Kinds of published tuples × categories, first leaves.
        kind_high: Last leaves.
        entry_starts: Where the sensitive values of each published tuple begin, and the end.
        entry_values: The values.
        entry_counts: How many records have them.
        asked_starts: Where the values asked for each known tuple begin, and the end.
        asked_values: The values.
        prior: Share of every value in the whole release.
        out: One share for every asked value.
    """
    n_kinds = len(kind_low)
    fitting = np.empty(n_kinds, np.int64)
    tally = np.zeros(len(prior), np.int64)
    last_kind = -1
    n_fitting = 0
    for v in range(len(known)):
        if known_kind[v] != last_kind:
            last_kind = known_kind[v]
            n_fitting = 0
            for c in range(n_kinds):
                fits = True
                for j in range(kinds.shape[1]):
                    leaf = kinds[last_kind, j]
                    if leaf < kind_low[c, j] or leaf > kind_high[c, j]:
                        fits = False
                        break
                if fits:
                    fitting[n_fitting] = c
                    n_fitting += 1
        total = 0
        for i in range(n_fitting):
            c = fitting[i]
            for r in range(kind_starts[c], kind_starts[c + 1]):
                fits = True
                for j in range(known.shape[1]):
                    if known[v, j] < low[r, j] or known[v, j] > high[r, j]:
                        fits = False
                        break
                if fits:
                    for e in range(entry_starts[r], entry_starts[r + 1]):
                        tally[entry_values[e]] += entry_counts[e]
                        total += entry_counts[e]
        for a in range(asked_starts[v], asked_starts[v + 1]):
            value = asked_values[a]
            out[a] = tally[value] / total if total > 0 else prior[value]
        if total > 0:
            tally[:] = 0
