"""VariableSpace: the search space of a problem that defines the meaning of its variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.spaces.base import SearchSpace

__all__ = ["VariableSpace"]


class VariableSpace(SearchSpace):
    """Variables as pymoo takes them; the methods of a problem define what they mean.

    `AnonymizationProblem` makes such a space for a subclass that defines `candidates`, `recoding` and
    `default_operators` itself.

    Args:
        table: The records.
        variables: The variables: `n_var` with `xl`, `xu` and `vtype`, or `vars`.
        methods: Those of the three methods that the problem defines, by name.
        owner: The name of the problem's class, for messages.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21]}), quasi_identifiers={"age": pm.Hierarchy.flat()})
    >>> VariableSpace(table, {"n_var": 2, "xl": 0, "xu": [1, 3]}, {}, owner="Mine").bounds
    (array([0., 0.]), array([1., 3.]))
    """

    def __init__(
        self,
        table: Table,
        variables: Mapping[str, Any],
        methods: Mapping[str, Callable[..., Any]],
        *,
        owner: str,
    ) -> None:
        super().__init__(table)
        if "n_var" not in variables and "vars" not in variables:
            raise ProblemError(
                "space: none given; pass a search space, or the variables as pymoo takes them (n_var, "
                "xl, xu, vtype)"
            )
        self.owner = owner
        self._variables = dict(variables)
        self._methods = dict(methods)

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and the largest value of every variable; infinite where there is none."""
        n = self._variables["n_var"] if "n_var" in self._variables else len(self._variables["vars"])
        low, high = (
            infinity if self._variables.get(name) is None else self._variables[name]
            for name, infinity in (("xl", -np.inf), ("xu", np.inf))
        )
        return (
            np.broadcast_to(np.asarray(low, np.float64), n).copy(),
            np.broadcast_to(np.asarray(high, np.float64), n).copy(),
        )

    def pymoo_variables(self) -> dict[str, Any]:
        """Return the variables as they were given."""
        return dict(self._variables)

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return decision vectors as the engine groups them."""
        candidates: Candidates = self._method("candidates", "X")(X)
        return candidates

    def recoding(self, x: NDArray[Any]) -> Recoding:
        """Return the recoding of one decision vector."""
        recoding: Recoding = self._method("recoding", "x")(x)
        return recoding

    def operators(self) -> dict[str, Any]:
        """Return sampling, crossover and mutation that fit the variables."""
        operators: dict[str, Any] = self._method("default_operators")()
        return operators

    def _method(self, name: str, parameter: str = "") -> Callable[..., Any]:
        if name not in self._methods:
            raise TypeError(f"{self.owner} must define {name}({parameter}), or be given a space")
        return self._methods[name]
