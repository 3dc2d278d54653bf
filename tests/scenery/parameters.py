"""Parameters of which `make test` tries the first and `make test-faults` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_in_make_test(values: Iterable[Any], n: int = 1) -> list[Any]:
    """Mark all values but the first as `faults`.

    Args:
        values: The parameters of a test; tuples are several arguments.
        n: How many are left unmarked.
    """
    parameters = []
    for place, value in enumerate(values):
        arguments = value if isinstance(value, tuple) else (value,)
        marks = [pytest.mark.faults] if place >= n else []
        parameters.append(pytest.param(*arguments, marks=marks))
    return parameters
