"""A short fuzz of all that is read from files; `make fuzz` does it for longer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings

from tests.scenery.fuzz import TARGETS


@pytest.mark.faults
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore")
def test_only_own_errors_come_out(name: str, tried: Callable[[str], None]) -> None:
    function, strategy = TARGETS[name]

    @settings(max_examples=200, suppress_health_check=list(HealthCheck), database=None)
    @given(content=strategy())
    def fuzz(content: bytes) -> None:
        tried(f"inputs: fuzzed {name}")
        function(content)

    fuzz()
