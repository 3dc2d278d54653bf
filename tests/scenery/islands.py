"""Searches that fail or are slow, for the tests of islands."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from pymoo.algorithms.moo.nsga2 import NSGA2

from tests.scenery.runs import small


class Moody(NSGA2):  # type: ignore[misc]
    """Fails with seed 1, and takes its process along with seed 2."""

    def setup(self, problem: Any, **kwargs: Any) -> Any:
        if kwargs.get("seed") == 1:
            raise ValueError("tired")
        if kwargs.get("seed") == 2:
            os._exit(7)
        return super().setup(problem, **kwargs)


class Slow(NSGA2):  # type: ignore[misc]
    """Takes its time in every generation but with seed 0, and announces that in a file."""

    def _advance(self, *args: Any, **kwargs: Any) -> Any:
        if self.seed:
            Path(os.environ["SLOW_SEARCH_BEGAN"]).touch()
            time.sleep(0.5)
        return super()._advance(*args, **kwargs)


def algorithm(kind: type[NSGA2]) -> NSGA2:
    return kind(pop_size=20, **small().default_operators())
