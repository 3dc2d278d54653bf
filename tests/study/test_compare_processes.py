"""Runs of a comparison in other processes: the same results, deaths, kills, clusters."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest

import privmoo as pm
from privmoo.errors import ProblemError
from tests.scenery.compare import SMALL, dying, endless, good, raising, slow, study
from tests.scenery.paths import environment

SCRIPT = """
import sys
from pathlib import Path
from tests.scenery.compare import endless, study
study({"endless": endless}, seeds=7, jobs=2, folder=Path(sys.argv[1]))
"""


def same(one: pm.Study, two: pm.Study) -> None:
    columns = ["seconds", "error"]
    pd.testing.assert_frame_equal(one.frame.drop(columns=columns), two.frame.drop(columns=columns))
    pd.testing.assert_frame_equal(one.convergence(), two.convergence())


def test_processes_give_what_one_process_gives_and_die_alone() -> None:
    def mine(problem: Any, seed: int, budget: Any) -> Any:  # not importable anywhere
        assert os.environ["PRIVMOO_THREADS"] == os.environ["NUMBA_NUM_THREADS"] == "1"
        assert problem.evaluator.engine.threads == 1
        return np.ones((1, problem.n_var), bool)

    solvers = {"small": SMALL, "raising": raising, "mine": mine}
    found = study({**solvers, "dying": dying}, jobs=2)
    failures = found.failures.set_index(["solver", "seed"])["error"]
    assert sorted(failures.index) == [("dying", 1), ("raising", 1)]
    assert failures["dying", 1] == "its process ended without an answer (exit code 7)"
    assert failures["raising", 1].startswith("ValueError: tired (in raising")
    assert found.fronts()["mine"] and len(found.fronts()["dying"]) == 2
    same(study([SMALL, raising, good], jobs=2), study([SMALL, raising, good]))
    children = psutil.Process().children()  # other tests may have some, of other commands
    assert not [child for child in children if "study.worker" in " ".join(child.cmdline())]


def test_what_cannot_be_sent_is_said() -> None:
    lock = threading.Lock()

    def locked(problem: Any, seed: int, budget: Any) -> Any:
        with lock:
            return good(problem, seed, budget)

    with pytest.raises(ProblemError, match=r"solver 'locked' cannot be sent .*; pass jobs=1"):
        study({"locked": locked}, jobs=2)
    assert not len(study({"locked": locked}).failures)


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.faults)]
)
def test_a_stopped_study_leaves_no_processes_and_is_continued(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    process = subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL)
    workers: list[psutil.Process] = []
    while len(list(tmp_path.glob("[!.]*.run"))) < 3 or len(workers) != 2:  # two that do not end
        assert process.poll() is None
        time.sleep(0.02)
        workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    assert process.wait(timeout=120) == -number
    _, alive = psutil.wait_procs(workers, timeout=120)
    assert not alive
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("[!.]*.run")}
    assert len(kept) == 3
    monkeypatch.setenv("MAY_END", "1")
    whole = study({"endless": endless}, seeds=7, jobs=2, folder=tmp_path)
    assert all(path.stat().st_mtime_ns == then for path, then in kept.items())
    assert len(list(tmp_path.glob("[!.]*.run"))) == 7
    expected = study({"endless": good}, seeds=7)
    assert whole.to_markdown() == expected.to_markdown()


# Dask's own closing of loops and sockets is not ours to judge.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.slow  # a cluster of processes, one of them killed: half a minute on a busy machine
def test_on_a_cluster_of_which_a_worker_is_killed(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    solvers = {"slow": slow, "small": SMALL, "raising": raising}
    options: dict[str, Any] = {"seeds": 4}
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    killed = []
    with cluster, distributed.Client(cluster) as client:
        pids = list(client.run(os.getpid).values())

        def kill_one() -> None:
            while not list(tmp_path.glob("[!.]*.run")):
                time.sleep(0.02)
            time.sleep(0.1)
            os.kill(pids[0], signal.SIGKILL)
            killed.append(len(list(tmp_path.glob("[!.]*.run"))))

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        found = study(solvers, client=client, folder=tmp_path, **options)
        killer.join(timeout=10)
        assert killed and killed[0] < 11  # in the middle
        later = list(client.run(os.getpid).values())
        deadly = study({"dying": dying, "small": SMALL}, client=client)
    assert pids[0] not in later
    same(found, study(solvers, **options))
    assert found.failures["solver"].tolist() == ["raising"]
    # A run that takes its worker along, and the problem that lay there, is the only one that fails.
    assert deadly.failures[["solver", "seed"]].to_numpy().tolist() == [["dying", 1]]
    assert "worker" in deadly.failures["error"][0].lower()
