"""Which problems of levels the sweep of the lattice understands, and what releases cost in them."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.exact.stages import Price
from privmoo.measures import GeneralLoss, KAnonymity, Measure, SuppressedShare, Transparency
from privmoo.spaces.levels import LevelSpace, most_suppressed
from privmoo.suppression import ExplicitRecords, NoSuppression

__all__ = ["Wish", "has_threshold", "space_of", "wish_of"]


class Wish(NamedTuple):
    """A problem as the sweep understands it: more k against less of one additive cost."""

    measure: Measure
    price: Price
    most_suppressed: int
    least_k: int
    all_limits: bool = False
    """Whether fewer suppressed records are a third objective."""


def space_of(problem: Any) -> LevelSpace:
    """The lattice of a problem, or one sentence that it has none."""
    space = getattr(problem, "lattice", None)
    if not isinstance(space, LevelSpace) or not hasattr(problem, "from_levels"):
        raise ProblemError(
            f"lattice: works on problems of levels such as Levels, got {type(problem).__name__}"
        )
    return space


def has_threshold(problem: Any) -> bool:
    """Whether the least size of a published group is a decision of the candidate."""
    return getattr(problem, "max_suppression", None) is not None


def wish_of(problem: Any) -> Wish | None:
    """The problem as the sweep understands it; None if it must be evaluated candidate by candidate."""
    table = problem.table
    if table.subjects is not None:
        return None
    k = [m for m in problem.objectives if isinstance(m, KAnonymity) and m.stage == "after"]
    share = [m for m in problem.objectives if isinstance(m, SuppressedShare)]
    other = [m for m in problem.objectives if m not in k and m not in share]
    if len(k) != 1 or len(other) != 1:
        return None
    price = _price_of(problem, other[0])
    kinds = (NoSuppression, ExplicitRecords)
    if price is None or not isinstance(problem.suppression, kinds):
        return None
    most = table.n_records if has_threshold(problem) else 0
    least_k = 1
    for c in problem.constraints:
        if isinstance(c.measure, KAnonymity) and c.measure.stage == "after" and c.relation == ">=":
            least_k = max(least_k, math.ceil(c.bound))
        elif isinstance(c.measure, SuppressedShare) and c.relation == "<=":
            most = min(most, most_suppressed(float(c.bound), table.n_records))
        else:
            return None
    return Wish(other[0], price, min(most, table.n_records - 1), least_k, bool(share))


def _price_of(problem: Any, m: Measure) -> Price | None:
    table = problem.table
    blocks: list[list[NDArray[np.float64]]] = []
    weights = np.array([qi.weight for qi in table.qis])
    weights = weights / weights.sum()
    kind: Literal["loss", "transparency"]
    if isinstance(m, GeneralLoss) and m.aggregate == "arithmetic" and m.stage == "after":
        kind = "loss"
    elif isinstance(m, Transparency) and m.stage == "after":
        kind = "transparency"
    else:
        return None
    for j, hierarchy in enumerate(problem.lattice.hierarchies):
        own = []
        for level in hierarchy.level_blocks:
            leaves = np.bincount(level)
            if kind == "loss":
                own.append(weights[j] * (leaves - 1) / max(hierarchy.n_leaves - 1, 1))
            else:
                own.append(1 - 1 / leaves)
        blocks.append(own)
    gone = weights.tolist() if kind == "loss" else [1.0] * table.n_qis
    return Price(blocks, gone)
