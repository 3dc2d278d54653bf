"""Hypervolume: the share of the space of possible trade-offs that a front dominates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo._util.dominance import share_of_box
from privmoo.errors import ProblemError
from privmoo.front.quantities import Quantity, find

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["hypervolume"]


def hypervolume(front: Front, ref: Mapping[str, float] | Sequence[float] | None) -> float:
    """Compute the dominated share of a box, for `Front.hypervolume`.

    Args:
        front: The front.
        ref: The worst corner of the box, by objective or in order; the worst possible values if None.
    """
    worst = _reference_point(front.objectives, ref)
    signs = np.array([q.sign for q in front.objectives])
    ideal = signs * np.array([q.best for q in front.objectives])
    return share_of_box(front.F, ideal, signs * worst)


def _reference_point(
    objectives: Sequence[Quantity], ref: Mapping[str, float] | Sequence[float] | None
) -> NDArray[np.float64]:
    """Return the worst corner of the box, in the natural sense of the objectives."""
    for q in objectives:
        if not q.bounded:
            raise ProblemError(
                f"hypervolume: {q.key!r} has no bounds; declare them in @measure(bounds=…)"
            )
    # An objective that cannot vary is left out: whatever its width, every solution fills it.
    worst = {q.key: q.worst if q.worst != q.best else q.best + q.sign for q in objectives}
    if isinstance(ref, Mapping):
        for name in ref:
            find(objectives, name, what="ref")
        worst |= ref
    elif ref is not None:
        if np.ndim(ref) != 1 or len(ref) != len(worst):
            raise ProblemError(
                f"ref: must have one value for each of {', '.join(worst)}, got {ref!r}"
            )
        worst = dict(zip(worst, ref, strict=True))
    try:
        point = np.array(list(worst.values()), dtype=np.float64)
    except (TypeError, ValueError):
        point = np.array([np.nan])
    if not np.isfinite(point).all():
        raise ProblemError(f"ref: must be of finite numbers, got {ref!r}")
    return point
