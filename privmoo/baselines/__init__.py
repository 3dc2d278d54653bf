"""Baselines: algorithms of the literature that make one anonymised table, to compare fronts with."""

from __future__ import annotations

from collections.abc import Callable

from privmoo.baselines.k_member import k_member
from privmoo.baselines.mdav import mdav
from privmoo.baselines.mondrian import mondrian
from privmoo.baselines.ward import ward
from privmoo.baselines.zheng import zheng
from privmoo.errors import ProblemError, nearest
from privmoo.recodings.base import Recoding

__all__ = [
    "by_name",
    "k_member",
    "mdav",
    "mondrian",
    "names",
    "ward",
    "zheng",
]

_ALL: dict[str, Callable[..., Recoding]] = {
    "mdav": mdav,
    "zheng": zheng,
    "k_member": k_member,
    "mondrian": mondrian,
    "ward": ward,
}


def names() -> list[str]:
    """The baselines' names.

    >>> names()
    ['mdav', 'zheng', 'k_member', 'mondrian', 'ward']
    """
    return list(_ALL)


def by_name(name: str) -> Callable[..., Recoding]:
    """The baseline of a name: one of privmoo's own, or one of a plug-in.

    >>> by_name("mdav").__name__
    'mdav'
    """
    if name in _ALL:
        return _ALL[name]
    from privmoo.registry import plugin, plugin_names

    others = plugin_names("baselines")
    if name in others:
        found: Callable[..., Recoding] = plugin("baselines", name)
        return found
    known = [*_ALL, *others]
    raise ProblemError(f"baseline: {name!r} is none of {', '.join(known)}{nearest(name, known)}")
