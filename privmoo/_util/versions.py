"""Versions of Python and packages, stored with a result."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

__all__ = ["versions"]


def versions(
    packages: Sequence[str] = ("privmoo", "pymoo", "numpy", "moocore"),
) -> dict[str, str]:
    """Return the versions of Python and of packages; by default those that a run depends on.

    >>> sorted(versions(["numpy", "no-such-package"]))
    ['no-such-package', 'numpy', 'python']
    """
    numbers = {"python": platform.python_version()}
    for name in packages:
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            numbers[name] = "unknown"
    return numbers
