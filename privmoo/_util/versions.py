"""Versions of what computes a result, kept with it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

__all__ = ["versions"]


def versions(
    packages: Sequence[str] = ("privmoo", "pymoo", "numpy", "moocore"),
) -> dict[str, str]:
    """The versions of Python and of packages; by default those that a run depends on.

    >>> sorted(versions(["numpy", "no-such-package"]))
    ['no-such-package', 'numpy', 'python']
    """
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
