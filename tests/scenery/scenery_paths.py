"""Where things are: the project's root, its tests, and the evaluation data beside it."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
TOP = TESTS.parent
SCENERY = TESTS / "scenery"
SHARED = TOP.parent / "shared" / "data"
