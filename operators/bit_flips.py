"""Bit flips in the attributes without a tree: the mutation of Dewri et al. 2011."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction
from privmoo.operators.space import space_of

__all__ = ["BitFlips"]


class BitFlips(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation that flips each bit of an unconstrained attribute with the same probability.

    Attributes with a tree stay as they are (Dewri et al. 2011, section 6.5), and so do bits that the
    table fixes. `CutMutation` changes trees too, makes fewer changes per child, and finds better fronts.

    Args:
        rate: The probability that a bit is flipped; 0.1 in the paper.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Cuts
    >>> df = pd.DataFrame({"age": [1, 2, 3], "job": ["a", "b", "a"]})
    >>> table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered(),
    ...                                         "job": pm.Hierarchy.tree(["a", "b"])})
    >>> BitFlips(1.0)._do(Cuts(table), np.array([[True, False, True]]), random_state=1).tolist()
    [[False, True, True]]
    """

    def __init__(self, rate: float = 0.1) -> None:
        super().__init__()
        fraction("rate", rate)
        self.rate = rate

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
        bits = space.bits(X)
        in_tree = np.repeat(space.constrained, np.diff(space.offsets))
        may_flip = ~(in_tree | space.fixed_one | space.fixed_zero)
        return bits ^ ((rng.random(bits.shape) < self.rate) & may_flip)
