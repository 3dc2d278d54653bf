"""What all tests share: reproducible Hypothesis runs, no windows, the optional evaluation data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Set before anything imports privmoo or matplotlib. Two threads, on any machine, are enough to see
# a race, and two test processes of two threads do not choke a small runner.
os.environ.setdefault("PRIVMOO_THREADS", "2")
os.environ.setdefault("MPLBACKEND", "Agg")

from hypothesis import settings

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of evaluation data that may not be committed; without it the test is skipped."""
    if not SHARED.is_dir():
        pytest.skip("needs the evaluation data in ../shared/data")
    return SHARED


@pytest.fixture(autouse=True)
def _no_earlier_releases() -> None:
    """Each test publishes as if it were the first: no warning of releases by other tests."""

    from privmoo import certifying

    certifying._made.clear()
