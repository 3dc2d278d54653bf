"""Runs of a comparison on disk, and studies in files."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.errors import CheckpointError
from tests.scenery.compare import CHANCE, SMALL, THREE, good, hopeless, raising, study
from tests.scenery.runs import small


@pytest.fixture(scope="module")
def two() -> pm.Study:
    return study(
        {"small": SMALL, "chance": CHANCE, "own": good, "none": hopeless},
        {"cuts": small(), "three": THREE},
    )


def test_finished_runs_are_kept_and_failed_ones_done_again(
    tmp_path: Path,
) -> None:
    first = study([SMALL, raising], folder=tmp_path / "runs")
    files = sorted((tmp_path / "runs").iterdir())
    assert len(files) == 5
    times = [f.stat().st_mtime_ns for f in files]
    again = study([SMALL, raising], folder=tmp_path / "runs")
    assert [f.stat().st_mtime_ns for f in files] == times
    pd.testing.assert_frame_equal(
        first.frame.drop(columns="seconds"), again.frame.drop(columns="seconds")
    )
    # Other seeds, budgets, problems and solvers are other runs; another name is not.
    study({"renamed": SMALL}, folder=tmp_path / "runs", seeds=[0])
    assert len(list((tmp_path / "runs").iterdir())) == 5
    study(SMALL, folder=tmp_path / "runs", seeds=[9])
    study(SMALL, folder=tmp_path / "runs", seeds=[0], budget=61)
    study(SMALL, small(extras=[pm.Discernibility()]), folder=tmp_path / "runs", seeds=[0])
    other = pm.Solver.algorithm("nsga2", population=11)
    study(other, folder=tmp_path / "runs", seeds=[0])
    assert len(list((tmp_path / "runs").iterdir())) == 9
    files[0].write_bytes(files[0].read_bytes()[:100])  # half a file is done again
    third = study([SMALL, raising], folder=tmp_path / "runs")
    assert third.to_markdown() == first.to_markdown()
    assert zipfile.is_zipfile(files[0])


def test_only_the_publisher_can_read_runs_and_studies(tmp_path: Path) -> None:
    result = study(SMALL, seeds=1, folder=tmp_path / "runs")
    result.save(tmp_path / "study.zip")
    files = [*(tmp_path / "runs").iterdir(), tmp_path / "study.zip"]
    assert len(files) == 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "runs").stat().st_mode) == 0o700


def test_functions_are_told_apart_by_their_code_and_what_is_bound(tmp_path: Path) -> None:
    def with_rows(n: int) -> Any:
        return lambda problem, seed, budget: np.ones((n, problem.n_var), bool)

    for n, files in ((1, 1), (1, 1), (2, 2)):
        study({"f": with_rows(n)}, seeds=1, folder=tmp_path)
        assert len(list(tmp_path.iterdir())) == files


def test_saved_and_loaded(two: pm.Study, tmp_path: Path) -> None:
    path = tmp_path / "a.study"
    two.save(path)
    again = pm.Study.load(path)
    pd.testing.assert_frame_equal(again.frame, two.frame)
    assert again.to_latex() == two.to_latex() and again.verdict() == two.verdict()
    assert again.settings["seeds"] == [0, 1, 2] and "pymoo" in again.settings["versions"]
    assert again.solvers == two.solvers
    pd.testing.assert_frame_equal(again.convergence("epsilon"), two.convergence("epsilon"))
    with pytest.raises(pm.errors.FileError, match="exists already"):
        two.save(path)
    with zipfile.ZipFile(path) as archive:
        assert not [n for n in archive.namelist() if not n.endswith((".npy", ".json"))]
    with pytest.raises(CheckpointError, match="there is no file"):
        pm.Study.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("scale", "cubic"),
        ("problems", []),
        ("problems", [{"name": 3}]),
        ("solvers", [{"name": "x", "deterministic": 1, "settings": {}}]),
        ("settings", {}),
        ("settings", {"evaluations": None, "seconds": None}),
        ("settings", {"evaluations": 10**400, "seconds": None}),
        ("runs", []),
        ("runs", 4),
    ],
)
def test_damaged_studies_are_refused(two: pm.Study, tmp_path: Path, part: str, value: Any) -> None:
    path, bad = tmp_path / "a.study", tmp_path / "b.study"
    two.save(path)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(bad, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "study.json":
                content = json.dumps({**json.loads(content), part: value}).encode()
            other.writestr(name, content)
    with pytest.raises(CheckpointError, match=r"b\.study' is damaged or not a study"):
        pm.Study.load(bad)


@pytest.mark.parametrize(
    "entry",
    [
        {"seed": 2**70},
        {"seed": -1},
        {"facts": {"over_budget": "much"}},
        {"facts": {"evaluations": [1]}},
        {"facts": {"seconds": "long"}},
        {"facts": {"reproducible": "no"}},
        {"facts": {"proven": 1}},
    ],
)
def test_false_facts_of_a_run_are_refused(
    two: pm.Study, tmp_path: Path, entry: dict[str, Any]
) -> None:
    path, bad = tmp_path / "a.study", tmp_path / "b.study"
    two.save(path)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(bad, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "study.json":
                head = json.loads(content)
                head["runs"][0] |= entry
                content = json.dumps(head).encode()
            other.writestr(name, content)
    with pytest.raises(CheckpointError, match=r"b\.study' is damaged or not a study"):
        pm.Study.load(bad)


def test_a_false_history_is_refused(two: pm.Study, tmp_path: Path) -> None:
    path, bad = tmp_path / "a.study", tmp_path / "b.study"
    two.save(path)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(bad, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "spans.npy":  # points that leave the front before they enter it
                spans = np.frombuffer(content[128:], np.int64)
                content = content[:128] + (-spans).tobytes()
            other.writestr(name, content)
    with pytest.raises(CheckpointError, match="its parts do not fit together"):
        pm.Study.load(bad)
