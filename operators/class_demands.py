"""Demands on the classes of a child, from what a problem asks for and what its parent has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.class_state import Demands

if TYPE_CHECKING:
    from privmoo.spaces.classes import ClassSpace

__all__ = ["Aims", "aims_of", "drawn_demands", "varied_demands"]


class Aims(NamedTuple):
    """What a problem asks of classes besides little loss."""

    sizes: bool
    """Whether larger classes are better."""
    values: bool
    """Whether sensitive values matter."""


def aims_of(problem: Any) -> Aims:
    """Return what the objectives and constraints of a problem read of classes."""
    objectives = list(getattr(problem, "objectives", ()))
    constraints = [c.measure for c in getattr(problem, "constraints", ())]
    return Aims(
        sizes=any(m.needs == {"sizes"} for m in objectives),
        values=any("counts" in m.needs for m in (*objectives, *constraints)),
    )


def drawn_demands(space: ClassSpace, aims: Aims, rng: np.random.Generator) -> Demands:
    """Return demands at random, of which small ones are as likely as large ones.

    Args:
        space: The space.
        aims: What the problem asks for.
        rng: The source of randomness.
    """
    one_class = space.demands_of(np.zeros(space.n_units, np.int64))
    k, entropy = space.k, np.zeros(len(one_class.entropy))
    if aims.sizes:
        largest = max(space.k, space.table.n_records // 2)
        low, high = _limits_of_k(space, largest, rng)
        k = round(low * (high / low) ** rng.random())
    if aims.values and rng.random() < 0.9:
        # The share of the table's entropy that may be missing, divided among the attributes.
        missing = np.exp(rng.uniform(np.log(0.002), 0.0))
        entropy = one_class.entropy * (1 - missing * rng.random(len(entropy)))
        if "min_entropy" in space.focus and rng.random() < 0.75:
            entropy = _divided(rng.uniform(*space.focus["min_entropy"]), one_class.entropy, rng)
    return Demands(k, 1, entropy)


def _divided(
    total: float, most: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return least entropies of the attributes that sum up to `total`, or to all there is."""
    missing = max(most.sum() - total, 0.0)
    for _ in range(3):  # no attribute can miss more than it has
        parts = rng.dirichlet(np.ones(len(most))) * missing
        if (parts <= most).all():
            return np.asarray(most - parts)
    return np.asarray(most * (1 - missing / max(most.sum(), 1e-300)))


def _limits_of_k(space: ClassSpace, largest: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return between which sizes one is drawn: three times out of four in the focus of the run."""
    if "k" not in space.focus or rng.random() >= 0.75:
        return space.k, largest
    low, high = np.clip(space.focus["k"], space.k, largest)
    return float(low), float(high)


def _is_outside(space: ClassSpace, demands: Demands, aims: Aims) -> bool:
    """Return whether classes lie outside of what matters most in the run."""
    focus = space.focus
    if aims.sizes and "k" in focus and not focus["k"][0] <= demands.k <= focus["k"][1]:
        return True
    if not aims.values or "min_entropy" not in focus or not len(demands.entropy):
        return False
    low, high = focus["min_entropy"]
    return not low <= demands.entropy.sum() <= high


def varied_demands(
    space: ClassSpace, demands: Demands, aims: Aims, rng: np.random.Generator
) -> Demands:
    """Return demands near those that a parent meets; half of the time others if it is out of focus.

    Args:
        space: The space.
        demands: What the classes of the parent have.
        aims: What the problem asks for.
        rng: The source of randomness.
    """
    if _is_outside(space, demands, aims) and rng.random() < 0.5:
        return drawn_demands(space, aims, rng)
    k, diversity, entropy = demands
    if aims.sizes and rng.random() < 0.5:
        k = max(space.k, k + int(rng.choice([-1, 1])) * int(rng.integers(1, 2 + k // 4)))
        k = min(k, space.table.n_records)
    if aims.values and rng.random() < 0.7:
        one_class = space.demands_of(np.zeros(space.n_units, np.int64)).entropy
        reach = np.exp(rng.uniform(np.log(0.002), np.log(0.2)))
        step = (
            rng.uniform(-1, 1, len(entropy))
            * reach
            * np.maximum(one_class - entropy, 0.02 * one_class)
        )
        entropy = np.clip(entropy + step, 0.0, one_class)
        diversity = 1
    return Demands(k, diversity, entropy)
