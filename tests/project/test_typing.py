"""A user's script is type-checked: public names have types, none is Any."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scenery.paths import TOP

SCRIPT = """
from typing import assert_type

import pandas as pd

import privmoo as pm

frame = pd.DataFrame({"age": [20, 21, 40, 41], "ill": list("abab")})
table = pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.ordered()}, sensitive="ill")
k = pm.KAnonymity()
assert_type(k, pm.KAnonymity)
assert_type(k >= 5, pm.measures.Constraint)
assert_type(pm.GeneralLoss(), pm.GeneralLoss)
assert_type(pm.measures.measure_by_name("k"), pm.Measure)
assert_type(table.n_records, int)
problem = pm.problems.Cuts(table, objectives=[k, pm.GeneralLoss()], suppression=pm.Budget(0.1))
front = pm.optimize(problem, budget=pm.Generations(5), seed=1)
assert_type(front, pm.Front)
assert_type(front[0], pm.Solution)
assert_type(front.where(min_k=2), pm.Front)
assert_type(front.best("loss"), pm.Solution)
assert_type(front.knee(), pm.Solution)
assert_type(front.to_frame(), pd.DataFrame)
assert_type(front[0].release(), pm.Release)
assert_type(pm.__version__, str)
assert_type(pm.registry.names("measures"), list[str])


@pm.measure(sense="min", bounds=(0, 1), label="small groups", percent=True)
def small(groups: pm.groups.Grouping) -> float:
    return float((groups.sizes < 3).mean())


assert_type(small, pm.measures.FunctionMeasure)
"""
WRONG = {
    "import privmoo as pm\npm.KAnonymity(5)\n": "Too many positional arguments",
    "import privmoo as pm\npm.KAnonimity()\n": 'has no attribute "KAnonimity"',
    "import privmoo as pm\npm.Budget('much')\n": "incompatible type",
    "import privmoo as pm\npm.measure(sense='min', labl='x')\n": 'argument "labl"',
}


def check(tmp_path: Path, *scripts: str) -> subprocess.CompletedProcess[str]:
    for number, script in enumerate(scripts):
        (tmp_path / f"script_{number}.py").write_text(script)
    settings = tmp_path / "mypy.ini"
    # As a user has it: strict, and pymoo without types.
    settings.write_text(
        "[mypy]\nstrict = true\n[mypy-pymoo.*,numba.*,moocore.*,sklearn.*,tqdm.*,pyarrow.*,scipy.*,"
        "dask.*,distributed.*,cloudpickle.*,duckdb.*]\nignore_missing_imports = true\n"
        "follow_imports = skip\n[mypy-privmoo.*]\nignore_errors = true\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings)]
    command += ["--cache-dir", str(TOP / ".mypy_cache" / "scripts"), "--no-error-summary"]
    command += [str(tmp_path / f"script_{number}.py") for number in range(len(scripts))]
    env = {**os.environ, "MYPYPATH": str(TOP)}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=env, cwd=tmp_path
    )


@pytest.mark.faults
def test_a_script_of_a_user_is_typed(tmp_path: Path) -> None:
    result = check(tmp_path, SCRIPT, *WRONG)
    for number, sentence in enumerate(WRONG.values(), start=1):
        lines = [line for line in result.stdout.splitlines() if f"script_{number}.py" in line]
        assert any(sentence in line for line in lines), result.stdout
    assert "script_0.py" not in result.stdout, result.stdout
