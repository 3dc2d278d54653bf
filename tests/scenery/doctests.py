"""Doctests of the package: each runs in the module that the package itself imports.

Without this plug-in of pytest, a module that its package imports as well is imported a second time, and
what the first one registered is not found in the second.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tests.scenery.paths import TOP

_ROOT = TOP / "privmoo"


def pytest_collect_file(file_path: Path) -> None:
    """Import a module by its name before pytest imports it by its path."""
    if file_path.suffix != ".py" or file_path.stem == "__main__" or _ROOT not in file_path.parents:
        return
    # Not before the tests' conftest has set the number of threads and the plotting backend.
    from privmoo.registry import load_object

    names = ["privmoo", *file_path.relative_to(_ROOT).with_suffix("").parts]
    with suppress(ImportError):  # pytest imports it again, and reports what is wrong
        load_object(".".join(names).removesuffix(".__init__") + ":__name__")
