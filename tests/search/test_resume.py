"""Runs that were killed: continued from their log they give the front of an uninterrupted run."""

from __future__ import annotations

import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privmoo.data.table import Table
from privmoo.errors import CheckpointError
from privmoo.front.front import Front
from privmoo.hierarchy import Hierarchy
from privmoo.measures import GeneralLoss, KAnonymity, RecordsAtRisk
from privmoo.problems import Cuts
from privmoo.search.budgets import Generations, RunBudget, Seconds
from privmoo.search.log import RunLog
from privmoo.search.optimization import optimize
from privmoo.suppression import Budget

SCRIPT = """
import itertools, os, signal, sys
import numpy as np, pandas as pd
from privmoo.hierarchy import Hierarchy
from privmoo.search.optimization import optimize
from privmoo.problems import Cuts
from privmoo.suppression import Budget
from privmoo.data.table import Table

rng = np.random.default_rng(0)
frame = pd.DataFrame({"age": rng.integers(20, 35, 200), "job": rng.choice(list("abcdef"), 200)})
tree = Hierarchy.tree({"x": ["a", "b"], "y": ["c", "d", "e"], "z": ["f"]})
table = Table(frame, quasi_identifiers={"age": Hierarchy.ordered(), "job": tree})
problem = Cuts(table, suppression=Budget(0.1))
problem.default_population = 20
count = itertools.count(1)

def die(X, out):
    if next(count) == 7:
        os.kill(os.getpid(), signal.SIGKILL)

problem.callback = die
optimize(problem, budget=15, seed=4, progress=False, checkpoint=sys.argv[1])
"""


def table(rows: int = 200) -> Table:
    rng = np.random.default_rng(0)
    df = pd.DataFrame({"age": rng.integers(20, 35, rows), "job": rng.choice(list("abcdef"), rows)})
    tree = Hierarchy.tree({"x": ["a", "b"], "y": ["c", "d", "e"], "z": ["f"]})
    return Table(df, quasi_identifiers={"age": Hierarchy.ordered(), "job": tree})


def problem(**options: Any) -> Cuts:
    made = Cuts(
        options.pop("table", table()),
        suppression=options.pop("suppression", Budget(0.1)),
        **options,
    )
    made.default_population = 20
    return made


def run(path: Path | None = None, budget: int | RunBudget = 15, seed: int | None = 4) -> Front:
    return optimize(problem(), budget=budget, seed=seed, progress=False, checkpoint=path)


def counted(made: Cuts) -> tuple[Cuts, Callable[[], int]]:
    """The problem, and how many candidates it really evaluates from now on."""
    sizes: list[int] = []
    evaluate = made.evaluator.engine.map

    def counting(candidates: Any, function: Any) -> Any:
        sizes.append(len(candidates))
        return evaluate(candidates, function)

    made.evaluator.engine.map = counting  # type: ignore[method-assign]
    return made, lambda: sum(sizes)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_in_the_middle_and_continued_gives_the_same_front(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    killed = subprocess.run([sys.executable, "-c", SCRIPT, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    logged = path.stat().st_size
    assert logged > 1000
    whole, all_evaluations = counted(problem())
    uninterrupted = optimize(whole, budget=15, seed=4, progress=False)
    continued, evaluations = counted(problem())
    front = optimize(continued, budget=15, seed=4, progress=False, checkpoint=path)
    assert front == uninterrupted
    assert front.run["reproducible"] and front.run["generations"] == 15
    assert 0 < evaluations() < all_evaluations() * 0.7
    again, none = counted(problem())
    assert optimize(again, budget=15, seed=4, progress=False, checkpoint=path) == front
    assert none() == 0


def test_a_finished_run_can_be_extended_and_its_seed_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    first = run(path, budget=5, seed=None)
    seed = first.run["seed"]
    longer = run(path, budget=12, seed=None)
    assert longer.run["seed"] == seed
    assert longer == run(budget=12, seed=seed)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Front]:
    path = tmp_path_factory.mktemp("log") / "run.log"
    front = run(path, budget=6)
    return path.read_bytes(), front


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1))
def test_a_torn_end_is_dropped(tmp_path: Path, finished: tuple[bytes, Front], share: float) -> None:
    content, front = finished
    path = tmp_path / "torn.log"
    path.write_bytes(content[: int(share * len(content))])
    assert run(path, budget=6) == front
    assert run(path, budget=6) == front
    path.write_bytes(content + b"\0" * int(share * 100))
    assert run(path, budget=6) == front


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_changed_byte_never_changes_the_front(
    tmp_path: Path, finished: tuple[bytes, Front], share: float, flip: int
) -> None:
    content, front = finished
    place = int(share * len(content))
    path = tmp_path / "changed.log"
    path.write_bytes(content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :])
    try:
        found = run(path, budget=6)
    except CheckpointError:
        return
    assert found == front


def test_damage_in_the_middle_is_told(tmp_path: Path, finished: tuple[bytes, Front]) -> None:
    content, _ = finished
    path = tmp_path / "bad.log"
    middle = len(content) // 2
    path.write_bytes(content[:middle] + b"#" + content[middle + 1 :])
    with pytest.raises(CheckpointError, match=r"bad.log' is damaged: .*; delete it to start anew"):
        run(path, budget=6)
    assert path.read_bytes()[middle : middle + 1] == b"#"  # nothing was written


def other_table() -> Cuts:
    return problem(table=table(180))


@pytest.mark.parametrize(
    ("make", "arguments", "what"),
    [
        (other_table, {}, "another table"),
        (lambda: problem(suppression=Budget(0.2)), {}, "another problem"),
        (lambda: problem(extras=[GeneralLoss(), KAnonymity()]), {}, "other measures"),
        (problem, {"seed": 5}, r"another seed \(4, not 5\)"),
        (problem, {"algorithm": "spea2"}, "another algorithm"),
        (problem, {"start": np.ones((1, 19), dtype=bool)}, "another start"),
    ],
)
def test_a_checkpoint_of_something_else(
    tmp_path: Path,
    finished: tuple[bytes, Front],
    make: Callable[[], Cuts],
    arguments: dict[str, Any],
    what: str,
) -> None:
    content, _ = finished
    path = tmp_path / "run.log"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=f"belongs to .*{what}"):
        optimize(make(), budget=6, progress=False, checkpoint=path, **({"seed": 4} | arguments))
    assert path.read_bytes() == content


def test_a_checkpoint_of_another_constraint(tmp_path: Path) -> None:
    def constrained(tau: float) -> Cuts:
        return problem(constraints=[RecordsAtRisk(tau=tau) <= 0.2])

    path = tmp_path / "run.log"
    front = optimize(constrained(0.5), budget=3, seed=4, progress=False, checkpoint=path)
    with pytest.raises(CheckpointError, match="belongs to another problem"):
        optimize(constrained(0.05), budget=3, seed=4, progress=False, checkpoint=path)
    again = optimize(constrained(0.5), budget=3, seed=4, progress=False, checkpoint=path)
    assert again == front


def test_files_that_are_no_logs(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, this is no run log.")
    with pytest.raises(CheckpointError, match="is not a run log of this version"):
        run(path)
    assert path.read_text().startswith("Dear")
    with pytest.raises(CheckpointError, match="cannot be written"):
        run(tmp_path / "no" / "folder" / "run.log")
    with pytest.raises(CheckpointError, match="cannot be written"):
        run(tmp_path)


def test_a_hostile_length_does_not_take_memory(tmp_path: Path) -> None:
    import struct

    path = tmp_path / "run.log"
    with RunLog(path, {"seed": 1}, width=2) as log:
        log.add([b"a"], np.ones((1, 2)))
    content = path.read_bytes()
    start = struct.pack("<cQI", b"E", 1 << 60, 0)
    path.write_bytes(content + start + struct.pack("<I", zlib.crc32(start)))
    with RunLog(path, {"seed": 1}, width=2) as log:
        assert log.keys == [b"a"]
    inner = struct.pack("<II", 1 << 31, 1 << 31)
    start = struct.pack("<cQI", b"E", len(inner), zlib.crc32(inner))
    path.write_bytes(content + start + struct.pack("<I", zlib.crc32(start)) + inner)
    with pytest.raises(CheckpointError, match="wrong size"):
        RunLog(path, {"seed": 1}, width=2)


def test_keys_of_several_lengths_are_kept(tmp_path: Path) -> None:
    keys = [b"a", b"bb", b"cc", b"d"]
    values = np.arange(8.0).reshape(4, 2)
    for _ in range(2):
        with RunLog(tmp_path / "log", {"seed": 1}, width=2) as log:
            log.add(keys, values)
    with RunLog(tmp_path / "log", {"seed": 1}, width=2) as log:
        assert log.keys == keys * 2
        assert np.array_equal(log.values, np.tile(values, (2, 1)))


def test_the_generations_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    assert RunLog.generations_in(path) == 0
    path.write_bytes(b"")
    assert RunLog.generations_in(path) == 0
    run(path, budget=5)
    assert RunLog.generations_in(path) == 5
    run(path, budget=3)
    assert RunLog.generations_in(path) == 5


def test_two_runs_cannot_share_a_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with (
        RunLog(tmp_path / "log", {"seed": 1}, width=2),
        pytest.raises(CheckpointError, match="in use by another run"),
    ):
        RunLog(tmp_path / "log", {"seed": 1}, width=2)


def test_a_time_budget_is_stored_as_generations(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    first = run(path, budget=Seconds(0.2))
    generations = first.run["generations"]
    again = run(path, budget=Seconds(0.2))
    assert again.run["generations"] == generations and again == first
    assert run(budget=Generations(generations)) == first
    longer = Seconds(RunLog.seconds_in(path) + 60) | Generations(generations + 1)
    assert run(path, budget=longer).run["generations"] == generations + 1


def test_otherversions_are_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.log"
    run(path, budget=3)
    import privmoo.search.optimization as module

    monkeypatch.setattr(module, "versions", lambda: {"pymoo": "0.0"})
    front = run(path, budget=4)
    assert front.run["reproducible"] is False
    assert "other versions" in front.run["why_not_reproducible"]


def test_a_start_is_continued_too(tmp_path: Path) -> None:
    start = run(budget=10, seed=9)

    def begin(path: Path | None, budget: int) -> Front:
        return optimize(
            problem(), budget=budget, seed=4, progress=False, checkpoint=path, start=start
        )

    begin(tmp_path / "run.log", 3)
    assert begin(tmp_path / "run.log", 8) == begin(None, 8)
