"""Suppression: the base of all policies, which decide which records a release leaves out."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from privmoo import registry
from privmoo.errors import ProblemError, nearest
from privmoo.groups.groups import GroupBatch

__all__ = ["BySize", "Suppression", "policy_from"]


class BySize(NamedTuple):
    """How a policy leaves out groups because they are small.

    Attributes:
        most: The largest number of records that it leaves out.
        below: Groups smaller than this are left out; None for any size that leaves out at most `most`
            records.
    """

    most: int
    below: float | None


class Suppression:
    """The base of all policies, which decide which QI-groups stay.

    A policy is a class with a `keep` method, usually a frozen dataclass of its parameters.

    Attributes:
        needs: Parts of the groups that must be computed for the policy, as for measures.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class OnlyPairs(Suppression):
    ...     def keep(self, groups):
    ...         return groups.sizes == 2
    >>> OnlyPairs().describe()
    {'policy': 'OnlyPairs'}
    """

    needs: ClassVar[frozenset[str]] = frozenset()

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_] | None:
        """Return whether each group stays, aligned with `groups.sizes`; None if all do."""
        raise TypeError(f"{type(self).__name__} must define keep(groups)")

    def by_size(self, n_records: int) -> BySize | None:
        """Return how the policy leaves out small groups; None if their size does not decide.

        A search that forms the groups itself can then put the records to leave out into small groups.
        """
        return None

    def describe(self) -> dict[str, Any]:
        """Return name and parameters as plain data, for reports and files."""
        return {"policy": type(self).__name__, **vars(self)}

    @classmethod
    def from_description(cls, parameters: Mapping[str, Any]) -> Self:
        """Make a policy from the parameters that `describe` returned, or that a job states.

        Raises:
            ProblemError: If the parameters are not those of the policy.
        """
        signature = inspect.signature(cls).parameters
        for name in parameters:
            if name not in signature:
                raise ProblemError(
                    f"suppression: {cls.__name__} has no parameter {name!r}{nearest(name, signature)}"
                )
        for name, parameter in signature.items():
            if parameter.default is parameter.empty and name not in parameters:
                raise ProblemError(f"suppression: {cls.__name__} needs the parameter {name!r}")
        return cls(**parameters)

    @property
    def required(self) -> frozenset[str]:
        """The needs of this policy with its parameters."""
        return self.needs


def policy_from(described: Mapping[str, Any]) -> Suppression:
    """Make the policy that `Suppression.describe` described: a built-in one, or one of a plug-in.

    Args:
        described: The name as `"policy"`, and the parameters.

    Raises:
        PluginError: If there is no policy of that name.
        ProblemError: If the parameters are not those of the policy.

    >>> policy_from({"policy": "Budget", "fraction": 0.1})
    Budget(fraction=0.1, by='k')
    """
    parameters = {name: value for name, value in described.items() if name != "policy"}
    policy: type[Suppression] = registry.load("policies", str(described.get("policy")))
    return policy.from_description(parameters)
