"""Files that version 0.1 wrote: they load, are released, continued and run with the same results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privmoo as pm
from privmoo._util.packing import plain
from privmoo.errors import PrivmooError
from tests.scenery.cli import here
from tests.scenery.earlier_files import PROBLEMS, digest_of_release, search, study
from tests.scenery.paths import TOP

FILES = TOP / "tests" / "compatibility" / "files_0_1"
DIGESTS = json.loads((FILES / "releases.json").read_text(encoding="utf-8"))

# Every test publishes the same records again, which a publisher should not.
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


# Since version 0.2 all thresholds within a budget are considered, not the largest one alone.
BETTER_TODAY = {"cuts"}
MEASURED_ANEW = {"hybrid"}  # disclosure risk is that of an attacker who knows the noise
MUTATED_ANEW = {"levels_records"}  # a mutated level is another one


def at_least_as_good(front: pm.Front, other: pm.Front) -> bool:
    """Whether every solution of the other front is equalled or dominated."""
    return all((row >= front.F).all(axis=1).any() for row in other.F)


def same_up_to_rounding(front: pm.Front, other: pm.Front) -> bool:
    """Whether two fronts are equal but for the last bits, which processors round differently."""
    return (
        plain(front.description) == plain(other.description)
        and np.array_equal(front.X, other.X)
        and np.allclose(front.values, other.values, rtol=1e-12, atol=0.0, equal_nan=True)
    )


def test_the_folder_has_a_front_of_every_formulation_and_stays_small() -> None:
    assert {path.stem for path in FILES.glob("*.front")} == set(PROBLEMS) == set(DIGESTS)
    assert sum(path.stat().st_size for path in FILES.rglob("*") if path.is_file()) < 200_000


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_front_loads_alone_and_is_what_the_search_finds_today(name: str) -> None:
    front = pm.Front.load(FILES / f"{name}.front")
    if name in BETTER_TODAY:
        assert at_least_as_good(search(name), front)
    elif name in MUTATED_ANEW:
        today = search(name)
        assert plain(today.description) == plain(front.description)
        assert today.hypervolume() >= 0.97 * front.hypervolume()
    elif name in MEASURED_ANEW:
        today = search(name)
        assert today.objectives == front.objectives and today.description != front.description
    else:
        assert same_up_to_rounding(front, search(name))
    assert front[0].explain() and len(front.to_frame()) == len(front)


@pytest.mark.parametrize("by", ["table", "problem"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_solution_is_released_with_the_same_rows(name: str, by: str) -> None:
    problem = PROBLEMS[name]()
    origin: dict[str, Any] = {by: problem if by == "problem" else problem.table}
    front = pm.Front.load(FILES / f"{name}.front", **origin)
    if (name, by) == ("levels_records", "table"):  # its file does not say which records to publish
        with pytest.raises(PrivmooError, match=r"use Front\.load\(path, problem="):
            digest_of_release(front)
    else:
        assert digest_of_release(front) == DIGESTS[name]


@pytest.mark.parametrize("name", ["cuts", "clusters"])
def test_a_search_that_ended_early_is_continued_to_the_same_front(
    name: str, tmp_path: Path
) -> None:
    log = tmp_path / "run.log"
    shutil.copy(FILES / f"{name}.log", log)
    length = log.stat().st_size
    front = search(name, checkpoint=log)
    saved = pm.Front.load(FILES / f"{name}.front")
    assert front == saved or (name in BETTER_TODAY and at_least_as_good(front, saved))
    assert front.run["generations"] == 6
    assert "continued with other versions" in front.run["why_not_reproducible"]
    assert log.stat().st_size > length  # appended to, not begun anew
    assert log.read_bytes()[:length] == (FILES / f"{name}.log").read_bytes()


def test_a_study_loads_and_is_computed_again_beside_its_kept_runs(tmp_path: Path) -> None:
    saved = pm.Study.load(FILES / "small.study")
    assert saved.verdict() and set(saved.frame["solver"]) == {"small", "mine"}
    folder = tmp_path / "runs"
    shutil.copytree(FILES / "runs", folder)
    (run,) = folder.iterdir()
    written = run.stat().st_mtime_ns
    continued = study(folder=folder)
    # Runs of other versions are left alone and computed again; a budget gives more trade-offs today.
    assert run.stat().st_mtime_ns == written and len(list(folder.iterdir())) == 1 + len(saved.frame)
    for name, fronts in saved.fronts().items():
        for front, today in zip(fronts, continued.fronts()[name], strict=True):
            assert at_least_as_good(today, front)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A copy of the folder of jobs, where commands may write."""
    return Path(shutil.copytree(FILES / "job", tmp_path / "job"))


def front_in(folder: Path) -> pm.Front:
    return pm.Front.load(folder / "front.npz")


def test_a_job_is_checked_and_run(job: Path) -> None:
    assert here(job, "check", "privmoo.toml").code == 0
    ended = here(job, "run", "privmoo.toml", "-o", "again", "--quiet")
    assert ended.code == 0, ended.said
    assert at_least_as_good(front_in(job / "again"), front_in(job / "out"))
    assert pm.Config.load(job / "levels.toml").optimize(progress=False).proven


def test_a_guessed_job_is_run(job: Path) -> None:
    ended = here(job, "check", "guessed/privmoo.toml")
    assert ended.code == 0, ended.said
    config = pm.Config.load(job / "guessed" / "privmoo.toml")
    assert config.table.qi_names == ["age", "job", "sex"]


def test_an_interrupted_run_is_resumed(job: Path) -> None:
    ended = here(job, "run", "privmoo.toml", "-o", "stopped", "--resume", "--quiet")
    assert ended.code == 0, ended.said
    assert at_least_as_good(front_in(job / "stopped"), front_in(job / "out"))


def test_a_folder_of_results_is_chosen_from_and_released(job: Path) -> None:
    chosen = here(job, "choose", "out", "--max-loss", "0.5", "--best", "k")
    assert chosen.code == 0, chosen.said
    ended = here(job, "release", "out", "--max-loss", "0.5", "--best", "k", "-o", "public.csv")
    assert ended.code == 0, ended.said
    assert (job / "public.csv").is_file()
