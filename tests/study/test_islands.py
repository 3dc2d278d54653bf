"""Independent searches in several processes: one front, whoever searched."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import privmoo as pm
from privmoo.errors import InfeasibleError, ProblemError
from tests.scenery.islands import Moody, algorithm
from tests.scenery.parameters import first_in_make_test
from tests.scenery.paths import environment
from tests.scenery.runs import small

OPTIONS: dict[str, Any] = {"budget": pm.Generations(8), "seeds": [3, 1, 7], "progress": False}


def same(one: pm.Front, other: pm.Front) -> None:
    assert one == other
    assert np.array_equal(one.dominated, other.dominated)
    facts = [
        [{k: v for k, v in run.items() if k != "seconds"} for run in front.run["merged"]]
        for front in (one, other)
    ]
    assert facts[0] == facts[1]


def test_it_is_the_merge_of_single_searches() -> None:
    problem = small()
    found = pm.study.optimize_islands(problem, jobs=1, **OPTIONS)
    own = [pm.optimize(small(), budget=8, seed=seed, progress=False) for seed in (3, 1, 7)]
    merged = own[0].merge(*own[1:])
    assert found == merged
    assert found.problem is problem
    assert found.run["seeds"] == [run["seed"] for run in found.run["merged"]] == [3, 1, 7]
    assert found.run["evaluations"] == sum(front.run["evaluations"] for front in own)
    assert found.run["reproducible"] and not found.run["failed"]
    assert found.hypervolume() >= max(front.hypervolume() for front in own)
    assert found[0].release().certificate.privacy["k"] == found[0].values["k"]


def test_processes_do_not_matter() -> None:
    one, two = (pm.study.optimize_islands(small(), jobs=jobs, **OPTIONS) for jobs in (1, 2))
    same(one, two)


@pytest.mark.faults
def test_a_front_to_start_from_travels() -> None:
    problem = small()
    known = pm.optimize(problem, budget=3, seed=9, progress=False)
    one, two = (pm.study.optimize_islands(problem, jobs=n, start=known, **OPTIONS) for n in (1, 2))
    same(one, two)
    assert one.merge(known) == one


def test_a_failed_search_is_told_and_the_others_are_kept() -> None:
    options = {**OPTIONS, "seeds": [0, 1, 2, 3]}
    with pytest.warns(RuntimeWarning, match="the search with seed . failed"):
        found = pm.study.optimize_islands(small(), algorithm(Moody), jobs=2, **options)
    assert [one["seed"] for one in found.run["failed"]] == [1, 2]
    assert "tired" in found.run["failed"][0]["error"]
    assert "its process ended" in found.run["failed"][1]["error"]
    assert not found.run["reproducible"]
    kept = pm.study.optimize_islands(
        small(), algorithm(Moody), jobs=1, **{**OPTIONS, "seeds": [0, 3]}
    )
    assert found == kept
    with (
        pytest.warns(RuntimeWarning),
        pytest.raises(ProblemError, match=r"all searches failed, that with seed 1 with .*tired"),
    ):
        pm.study.optimize_islands(small(), algorithm(Moody), jobs=1, **{**OPTIONS, "seeds": [1]})


def test_mistakes_are_said_at_once() -> None:
    for options, said in (
        ({"seeds": []}, "seeds: at least one"),
        ({"seeds": [1, 1]}, "given twice"),
        ({"start": [pm.recodings.identity_recoding(small().table)]}, "start: .* cannot start from"),
        ({"jobs": 0}, "jobs: must be"),
        ({"budget": "long"}, "budget"),
        ({"algorithm": "nsga9"}, "nsga9"),
        ({"client": 5}, r"client: must be a dask\.distributed\.Client"),
    ):
        with pytest.raises(ProblemError, match=said):
            pm.study.optimize_islands(small(), progress=False, **{"seeds": 2, **options})
    with pytest.raises(ProblemError, match="problem: must be"):
        pm.study.optimize_islands(3)
    measures = pm.measures
    hopeless = small(constraints=[measures.KAnonymity() >= 200, measures.GeneralLoss() <= 0.01])
    with pytest.raises(InfeasibleError):
        pm.study.optimize_islands(hopeless, budget=2, seeds=2, jobs=1, progress=False)


SCRIPT = """
import sys
import privmoo as pm
from tests.scenery.islands import Slow, algorithm
from tests.scenery.runs import small
print("begin", flush=True)
front = pm.study.optimize_islands(
    small(), algorithm(Slow), 100, seeds=2, jobs=int(sys.argv[1]), progress=False
)
print(len(front) > 0, front.run["stopped_by_hand"], [r["seed"] for r in front.run["merged"]])
"""


@pytest.mark.parametrize(("jobs", "seeds"), first_in_make_test([(2, "[0]"), (1, "[0, 1]")]))
def test_ctrl_c_returns_what_ended(jobs: int, seeds: str, tmp_path: Path) -> None:
    began = tmp_path / "began"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(jobs)],
        env=environment(SLOW_SEARCH_BEGAN=str(began)),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "begin\n"
    # The quick search has ended when its process has, and the slow one is under way.
    expected_children = jobs - 1
    end = time.monotonic() + 300
    while not began.exists() or len(psutil.Process(process.pid).children()) != expected_children:
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=300)
    assert said == f"True True {seeds}\n"
