"""Baselines: algorithms from the literature that make one anonymised table, to compare fronts with."""

from __future__ import annotations

from collections.abc import Callable

from privmoo import registry
from privmoo.baselines.k_member import k_member
from privmoo.baselines.local_search import local_search
from privmoo.baselines.local_suppression import local_suppression
from privmoo.baselines.mdav import mdav
from privmoo.baselines.mondrian import mondrian
from privmoo.baselines.univariate import univariate
from privmoo.baselines.ward import ward
from privmoo.baselines.zheng import zheng
from privmoo.errors import ProblemError, nearest
from privmoo.recodings.base import Recoding

__all__ = [
    "by_name",
    "k_member",
    "local_search",
    "local_suppression",
    "mdav",
    "mondrian",
    "names",
    "univariate",
    "ward",
    "zheng",
]


def names() -> list[str]:
    """Return the names of the built-in baselines, in order.

    >>> names()
    ['k_member', 'local_search', 'local_suppression', 'mdav', 'mondrian', 'univariate', 'ward', 'zheng']
    """
    return registry.built_in_names("baselines")


def by_name(name: str) -> Callable[..., Recoding]:
    """Return the baseline with a name: a built-in one, or one of a plug-in.

    Raises:
        ProblemError: If there is no such baseline.

    >>> by_name("mdav").__name__
    'mdav'
    """
    if not registry.contains("baselines", name):
        known_names = registry.names("baselines")
        raise ProblemError(
            f"baseline: {name!r} is not one of {', '.join(known_names)}{nearest(name, known_names)}"
        )
    baseline: Callable[..., Recoding] = registry.load("baselines", name)
    return baseline
