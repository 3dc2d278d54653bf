"""Long work reports to the standard logger, which is silent by default and holds no values of people."""

from __future__ import annotations

import logging
from pathlib import Path

import pandas as pd
import pytest

import privmoo as pm
from tests.scenery.jobs import call

PEOPLE = pd.DataFrame(
    {
        "age": [20, 21, 22, 40, 41, 60] * 3,
        "city": ["Springfield", "Shelbyville"] * 9,
        "ill": ["scurvy", "gout", "flu"] * 6,
    }
)
QIS = {"age": pm.Hierarchy.ordered(), "city": pm.Hierarchy.flat()}


def table() -> pm.Table:
    return pm.Table(PEOPLE, quasi_identifiers=QIS, sensitive="ill")


def messages(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.name, record.getMessage()) for record in caplog.records]


def test_a_search_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="privmoo"):
        pm.optimize(pm.problems.Cuts(table()), budget=10, seed=1, progress=False)
    lines = [text for name, text in messages(caplog) if name == "privmoo.search"]
    assert lines[0] == "NSGA2: the search begins" and "the search ends after" in lines[-1]
    assert lines[1].startswith("NSGA2: generation 2 (20 %), front ")
    assert 3 <= len(lines) <= 7  # a few, however many generations there are


def test_the_log_does_not_change_the_front(caplog: pytest.LogCaptureFixture) -> None:
    quiet = pm.optimize(pm.problems.Cuts(table()), budget=10, seed=1, progress=False)
    with caplog.at_level(logging.INFO, logger="privmoo"):
        loud = pm.optimize(pm.problems.Cuts(table()), budget=10, seed=1, progress=False)
    assert (quiet.F == loud.F).all() and (quiet.values == loud.values).all()


def test_all_long_work_is_logged_without_values(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with caplog.at_level(logging.INFO, logger="privmoo"):
        problem = pm.problems.Cuts(table())
        front = pm.exact_front(problem, progress=False)
        front.where(min_k=3).best("loss").release().write(tmp_path / "public.csv")
        pm.compare(problem, solvers=["nsga2"], seeds=2, budget=200, jobs=1, progress=False)
    lines = messages(caplog)
    assert {name for name, _ in lines} >= {
        "privmoo.search",
        "privmoo.exact",
        "privmoo.release",
        "privmoo.study",
    }
    text = "\n".join(line for _, line in lines)
    assert "18 rows were written, read back and audited" in text
    assert not any(value in text for value in ("Springfield", "scurvy", "gout"))


def test_it_is_silent_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    pm.optimize(pm.problems.Cuts(table()), budget=3, seed=1, progress=False)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""
    assert any(
        isinstance(handler, logging.NullHandler)
        for handler in logging.getLogger("privmoo").handlers
    )


def test_the_command_line_tells_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    logger = logging.getLogger("privmoo")
    handlers, level = list(logger.handlers), logger.level
    try:
        assert call("init", "people.csv", monkeypatch=monkeypatch) == 0
        job = Path("privmoo.toml").read_text("utf-8")
        job = job.replace("\n# generations = 200", "\ngenerations = 2")
        Path("privmoo.toml").write_text(job, "utf-8")
        command = ["run", "privmoo.toml", "-o", "out", "--quiet"]
        assert call("--verbose", *command, monkeypatch=monkeypatch) == 0
    finally:
        logger.handlers[:] = handlers
        logger.setLevel(level)
    assert "privmoo.search: " in capfd.readouterr().err
