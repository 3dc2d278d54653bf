"""Where things are: the project's root, its tests, and the evaluation data beside it."""

from __future__ import annotations

import os
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
TOP = TESTS.parent
SHARED = TOP.parent / "shared" / "data"


def environment(*folders: Path | str, **variables: str) -> dict[str, str]:
    """Return the environment of a process that imports this tree's privmoo, and modules of folders.

    Args:
        folders: Further folders to import from.
        variables: Further variables.
    """
    path = os.pathsep.join(map(str, [TOP, *folders]))
    return {**os.environ, "PYTHONPATH": path, **variables}
