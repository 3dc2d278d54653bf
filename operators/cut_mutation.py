"""Mutation that keeps cuts valid: flip a bit, expand or collapse a node, shift a boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction, whole_number
from privmoo.kernels.cuts import mutate_cuts
from privmoo.operators.space import space_of

if TYPE_CHECKING:
    from privmoo.spaces.cuts import CutSpace

__all__ = ["CutMutation"]


class CutMutation(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation by one small move in each chosen attribute; valid parents have valid children.

    A bit of an unconstrained attribute is flipped, or one of its boundaries is shifted. In a tree, one
    node is expanded into its children, or collapsed with everything below it; the paper leaves trees
    unmutated (Dewri et al. 2011, section 6.5).

    Args:
        prob: How likely an attribute of a child is changed, on average over the attributes. The default
            is the paper's mutation rate, 0.1, but per attribute instead of per bit: nine attributes
            give about one small change per child. An attribute with more choices is changed more often,
            in proportion to their square root; one without any, never.
        shift: How likely, in an unconstrained attribute, a boundary is moved instead of a bit flipped.
        reach: The farthest that a boundary moves, in leaves.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Cuts
    >>> table = pm.Table(pd.DataFrame({"age": [1, 2, 3, 4]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> parents = np.array([[False, True, False]])
    >>> children = CutMutation(1.0, shift=1.0, reach=1)._do(Cuts(table), parents, random_state=1)
    >>> int(children.sum()), bool(children[0, 1])
    (1, False)
    """

    def __init__(self, prob: float = 0.1, *, shift: float = 0.5, reach: int = 3) -> None:
        super().__init__()
        for name, value in (("prob", prob), ("shift", shift)):
            fraction(name, value)
        self.rate, self.shift, self.reach = prob, shift, whole_number("reach", reach)

    def _rates(self, space: CutSpace) -> NDArray[np.float64]:
        """Return how likely each attribute is to change."""
        free = ~(space.fixed_one | space.fixed_zero)[space.first]
        owners = np.repeat(np.arange(space.n_attributes), np.diff(space.switch_offsets))
        weight = np.sqrt(np.bincount(owners[free], minlength=space.n_attributes))
        return np.minimum(1.0, self.rate * weight / max(float(weight.mean()), 1e-300))

    def _do(
        self,
        problem: Problem,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.bool_]:
        space = space_of(problem, "cuts")
        rng = np.random.default_rng(random_state)
        shape = (len(X), space.n_attributes)
        hits = rng.random(shape) < self._rates(space)
        steps = rng.integers(1, self.reach + 1, shape) * rng.choice([-1, 1], shape)
        steps[(rng.random(shape) >= self.shift) | space.constrained] = 0
        children = space.bits(X).copy()
        mutate_cuts(children, hits, rng.random(shape), steps, space.switches)
        return children
