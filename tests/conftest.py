"""What all tests share: reproducible Hypothesis runs, no windows, the optional evaluation data."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenery.paths import SHARED

# Set before anything imports privmoo or matplotlib. Two threads, on any machine, are enough to see
# a race, and two test processes of two threads do not choke a small runner.
os.environ.setdefault("PRIVMOO_THREADS", "2")
os.environ.setdefault("MPLBACKEND", "Agg")

from hypothesis import settings

# A shell starts background jobs (`make test &`) with Ctrl-C ignored, and every child inherits that.
# Tests of Ctrl-C need the usual handler, here and in the processes that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
# `make test` only glances at every property; `make test-faults` tries as many examples as it asks for.
settings.register_profile("few", settings(), max_examples=10)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With the profile `few`, also limit tests that state a number of examples themselves."""
    if settings.get_current_profile_name() != "few":
        return
    stated = "_hypothesis_internal_use_settings"
    for item in items:
        function = getattr(item, "obj", None)
        if own := getattr(function, stated, None):
            most = min(own.max_examples, settings().max_examples)
            setattr(function, stated, settings(own, max_examples=most))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of evaluation data that may not be committed; without it the test is skipped."""
    if not SHARED.is_dir():
        pytest.skip("needs the evaluation data in ../shared/data")
    return SHARED


@pytest.fixture(autouse=True)
def _no_earlier_releases() -> None:
    """Each test publishes as if it were the first: no warning of releases by other tests."""

    from privmoo.release import evidence

    evidence._releases.clear()


@pytest.fixture(scope="session")
def command() -> Iterator[Any]:
    """The command line, every command in a process of its own."""
    from tests.scenery.cli import CommandLine

    made = CommandLine()
    yield made
    made.close()


@pytest.fixture
def tried(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Counts a fault or an input that was tried; the sums stand at the end of the test run."""

    def count(what: str) -> None:
        for place, (name, value) in enumerate(request.node.user_properties):
            if name == f"tried {what}":
                request.node.user_properties[place] = (name, value + 1)
                return
        request.node.user_properties.append((f"tried {what}", 1))

    return count


def pytest_terminal_summary(terminalreporter: Any) -> None:
    counted: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                for name, value in report.user_properties:
                    if name.startswith("tried "):
                        counted[name.removeprefix("tried ")] += value
    for kind in ("faults", "inputs"):
        own = {
            k.removeprefix(f"{kind}: "): n for k, n in counted.items() if k.startswith(f"{kind}: ")
        }
        if own:
            parts = ", ".join(f"{name} {n:,}" for name, n in sorted(own.items()))
            terminalreporter.write_line(f"{kind} tried: {sum(own.values()):,} ({parts})")


@pytest.fixture
def short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let operators of classes search for a hundredth of the time; a contract does not ask how well."""
    for name in ("class_sampling", "class_search"):
        module = f"privmoo.operators.{name}"
        monkeypatch.setattr(f"{module}.search_steps", lambda space, per_unit: per_unit)
