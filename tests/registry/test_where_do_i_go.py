"""Where do I go? One new file per kind, as `.github/CONTRIBUTING.md` says, used for real.

Each test puts a file (or a folder) into a room by extending the path of its package, and touches nothing
else: no list, no `__init__`, no command line.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo import registry
from privmoo.audit.formulas import OF_GROUPS
from privmoo.explorer.data import gather
from privmoo.testing import (
    check_baseline,
    check_measure,
    check_operator,
    check_policy,
    check_problem,
    check_recoding,
    example_table,
)
from tests.scenery.jobs import JOB, job_in
from tests.scenery.paths import TOP

# Tests release one table several times, which a publisher should not.
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

AddFile = Callable[[str, str], None]
KIND_OF = {
    "measures": "measures",
    "suppression": "policies",
    "recodings": "recodings",
    "spaces": "spaces",
    "operators": "operators",
    "problems": "problems",
    "baselines": "baselines",
    "datasets": "datasets",
    "engines": "engines",
}


@pytest.fixture
def add_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AddFile]:
    """Put a source file into a room, such as `suppression/mine.py`; it is gone after the test."""
    modules = set(sys.modules)

    def add(place: str, source: str) -> None:
        room = place.partition("/")[0]
        path = tmp_path / "rooms" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        package = importlib.import_module(f"privmoo.{room}")
        monkeypatch.setattr(
            package, "__path__", [*package.__path__, str(tmp_path / "rooms" / room)]
        )
        importlib.invalidate_caches()
        registry._built_in.cache_clear()

    yield add
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
            package, _, attribute = name.rpartition(".")
            vars(sys.modules[package]).pop(attribute, None)
    registry._built_in.cache_clear()


def problem_job(*lines: str) -> str:
    return JOB[: JOB.index("[problem]")] + "\n".join(["[problem]", 'name = "Cuts"', *lines, ""])


MEASURE = """
    import numpy as np
    from privmoo.measures.base import Measure

    __all__ = ["PairedShare"]

    class PairedShare(Measure):
        name = "paired_share"
        sense = "min"
        audited = True
        label = "records in pairs"
        symbol = "♊"
        percent = True

        def batch(self, groups):
            pairs = np.where(groups.sizes == 2, groups.records, 0)
            return groups.reduce(pairs) / np.maximum(groups.reduce(groups.records), 1)

        def range(self, table):
            return 0.0, 1.0
"""


def test_a_measure_is_a_file_and_a_formula_of_the_audit(
    add_file: AddFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_file("measures/paired_share.py", MEASURE)
    monkeypatch.setitem(OF_GROUPS, "paired_share", lambda counts: pairs_of(counts.sizes))
    measure = pm.measures.measure_by_name("paired_share")
    check_measure(measure)
    job = problem_job('objectives = ["k", "paired_share"]', 'constraints = ["paired_share <= 0.9"]')
    problem = pm.Config.load(job_in(tmp_path, job)).problem
    front = pm.optimize(problem, budget=3, seed=1, progress=False)
    assert "paired_share" in front.to_frame()
    quantity = front.objectives[1]
    assert quantity.label == "records in pairs (%)" and quantity.phrase(0.25) == "25 % ♊"
    shown = gather(front).to_json()["quantities"][1]
    assert (shown["label"], shown["words"], shown["percent"]) == (quantity.label, "♊", True)
    front.save(tmp_path / "a.front")
    loaded = pm.Front.load(tmp_path / "a.front", table=problem.table)
    assert loaded.objectives[1].label == quantity.label
    claims = {claim.measure: claim for claim in loaded[0].release().certificate.claims}
    assert claims["paired_share"].audited == claims["paired_share"].claimed


def pairs_of(sizes: Any) -> float:
    return float(sizes[sizes == 2].sum() / sizes.sum())


POLICY = """
    from dataclasses import dataclass
    from privmoo.suppression.base import Suppression

    __all__ = ["NoGiants"]

    @dataclass(frozen=True)
    class NoGiants(Suppression):
        size: int = 3

        def keep(self, groups):
            return groups.sizes <= self.size
"""


def test_a_policy_is_one_file(add_file: AddFile, tmp_path: Path) -> None:
    add_file("suppression/no_giants.py", POLICY)
    policy = registry.load("policies", "NoGiants")(4)
    check_policy(policy)
    job = problem_job('suppression = { policy = "NoGiants", size = 4 }')
    problem = pm.Config.load(job_in(tmp_path, job)).problem
    assert problem.suppression == policy
    front = pm.optimize(problem, budget=3, seed=1, progress=False)
    front.save(tmp_path / "a.front")
    loaded = pm.Front.load(tmp_path / "a.front", table=problem.table)
    assert loaded[0].suppression == policy
    assert loaded[0].release(seed=1).frame.equals(front[0].release(seed=1).frame)


RECODING = """
    import numpy as np
    from privmoo.recodings.blocks import BlockRecoding

    __all__ = ["HalvedRecoding"]

    class HalvedRecoding(BlockRecoding):
        name = "halved"

        @classmethod
        def of(cls, table):
            sizes = [qi.n_leaves for qi in table.qis]
            return cls(table.qis, [np.arange(n) >= n // 2 for n in sizes])

        def to_json(self):
            return {"kind": self.name}

        @classmethod
        def from_json(cls, table, data):
            return cls.of(table)
"""


def test_a_recoding_is_one_file(add_file: AddFile, tmp_path: Path) -> None:
    add_file("recodings/halved.py", RECODING)
    frame = pd.DataFrame({"age": np.arange(40) // 2, "ill": list("abcd") * 10})
    table = pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.ordered()}, sensitive="ill")
    recoding = registry.load("recodings", "halved").of(table)
    check_recoding(recoding, table)
    stored = pm.recodings.from_json(table, recoding.to_json())
    release = pm.make_release(table, stored, measures=[pm.KAnonymity(), pm.GeneralLoss()])
    assert release.certificate.claims[0].audited == 20
    assert set(release.frame["age"]) == {"0–9", "10–19"}
    release.to_csv(tmp_path / "a.csv")
    assert pm.audit.audit(pd.read_csv(tmp_path / "a.csv"), quasi_identifiers=["age"]).k == 20


BASELINE = """
    import numpy as np
    from privmoo.recodings.classes import cluster_recoding

    __all__ = ["all_in_one"]

    def all_in_one(table, k):
        return cluster_recoding(table, np.zeros(table.n_records, np.int64))
"""


def test_a_baseline_is_one_file_and_a_solver(add_file: AddFile) -> None:
    add_file("baselines/all_in_one.py", BASELINE)
    check_baseline(pm.baselines.by_name("all_in_one"))
    problem = pm.problems.Clusters(example_table(), 4, k=3)
    solvers = [pm.Solver.baseline("all_in_one", k=3)]
    study = pm.compare(problem, solvers, budget=10, jobs=1, progress=False)
    assert study.frame["status"].tolist() == ["ok"]


PROBLEM = """
    from privmoo.measures import AverageClassSize, KAnonymity
    from privmoo.problems.cuts import Cuts

    __all__ = ["Halves"]

    class Halves(Cuts):
        def __init__(self, table, **options):
            super().__init__(table, objectives=[KAnonymity(), AverageClassSize()], **options)
"""
OPERATOR = """
    import numpy as np
    from pymoo.core.mutation import Mutation

    __all__ = ["FlipOne"]

    class FlipOne(Mutation):
        def _do(self, problem, X, *args, random_state, **kwargs):
            children = X.copy()
            at = random_state.integers(X.shape[1], size=len(X))
            children[np.arange(len(X)), at] ^= True
            return children
"""


def test_a_problem_and_an_operator_are_one_file_each(add_file: AddFile, tmp_path: Path) -> None:
    add_file("problems/halves.py", PROBLEM)
    add_file("operators/flip_one.py", OPERATOR)
    job = problem_job().replace('"Cuts"', '"Halves"')
    problem = pm.Config.load(job_in(tmp_path, job)).problem
    assert problem.objective_names == ["k", "aecs"]
    check_problem(registry.load("problems", "Halves")(example_table()))
    ages = pm.Table(
        pd.DataFrame({"age": range(20)}), quasi_identifiers={"age": pm.Hierarchy.ordered()}
    )
    check_operator(registry.load("operators", "FlipOne")(), pm.problems.Cuts(ages))


SPACE = """
    import numpy as np
    from privmoo.operators import HashDuplicates
    from privmoo.recodings import Candidates, cut_recoding
    from privmoo.spaces.base import SearchSpace
    from pymoo.operators.crossover.ux import UniformCrossover
    from pymoo.operators.mutation.bitflip import BitflipMutation
    from pymoo.operators.sampling.rnd import BinaryRandomSampling

    __all__ = ["AllOrNothingSpace"]

    class AllOrNothingSpace(SearchSpace):
        kinds = ("switches",)
        variable_type = bool

        @property
        def bounds(self):
            return np.zeros(self.table.n_qis), np.ones(self.table.n_qis)

        def recoding(self, x):
            cuts = [np.full(qi.n_leaves - 1, on) for qi, on in zip(self.table.qis, x)]
            return cut_recoding(self.table, cuts)

        def candidates(self, X):
            blocks = [self.recoding(x).candidate(self.table).blocks for x in X]
            return Candidates(blocks=np.concatenate(blocks))

        def operators(self):
            return {
                "sampling": BinaryRandomSampling(),
                "crossover": UniformCrossover(),
                "mutation": BitflipMutation(),
                "eliminate_duplicates": HashDuplicates(),
            }
"""


def test_a_space_is_one_file(add_file: AddFile) -> None:
    add_file("spaces/all_or_nothing.py", SPACE)
    table = example_table()
    space = registry.load("spaces", "AllOrNothingSpace")(table)
    objectives = [pm.KAnonymity(), pm.GeneralLoss()]
    problem = pm.AnonymizationProblem(table, space=space, objectives=objectives)
    check_problem(problem)
    front = pm.optimize(problem, budget=5, seed=1, progress=False)
    assert len(front[0].release()) == table.n_records


DATASET = '''
    import pandas as pd

    __all__ = ["villagers"]

    def villagers():
        """Load forty villagers."""
        return pd.DataFrame({"age": range(40)})
'''
ENGINE = """
    from privmoo.data.source import ScanEngine

    __all__ = ["ParcelEngine"]

    class ParcelEngine(ScanEngine):
        name = "parcels"
        reads = "a parcel"

        def accepts(self, source):
            return hasattr(source, "parcel")

        def open(self, source, options):
            from privmoo.engines.duckdb import DuckDBEngine

            return DuckDBEngine().open(source.parcel, options)
"""


class Parcel:
    """Something that only the new engine reads."""

    def __init__(self, parcel: Path) -> None:
        self.parcel = parcel


def test_an_engine_is_one_folder(add_file: AddFile, tmp_path: Path) -> None:
    add_file("engines/parcels/__init__.py", ENGINE)
    frame = pd.DataFrame({"age": np.arange(40) // 4, "ill": ["a", "b"] * 20})
    frame.to_parquet(tmp_path / "a.parquet")
    roles: dict[str, Any] = {
        "quasi_identifiers": {"age": pm.Hierarchy.ordered()},
        "sensitive": "ill",
    }
    table = pm.Table.scan(Parcel(tmp_path / "a.parquet"), **roles)
    assert (table.n_records, table.n_tuples) == (40, 10)
    with pytest.raises(pm.errors.TableError, match="or a parcel, got int"):
        pm.Table.scan(3, **roles)


COMMAND = '''
    from privmoo.cli.command import Command
    from privmoo.cli.console import say

    def _greet(name: str) -> None:
        """Greet somebody."""
        say(f"Hello {name}")

    command = Command(_greet, order=1)
'''


def test_a_command_and_a_data_set_are_one_file_each(tmp_path: Path) -> None:
    for place, source in (("commands/greet.py", COMMAND), ("datasets/villagers.py", DATASET)):
        path = tmp_path / place
        path.parent.mkdir()
        path.write_text(textwrap.dedent(source), encoding="utf-8")
    start = (
        "import sys, privmoo.cli.commands as commands, privmoo.datasets as datasets\n"
        f"commands.__path__.append({str(tmp_path / 'commands')!r})\n"
        f"datasets.__path__.append({str(tmp_path / 'datasets')!r})\n"
        "from privmoo.cli.main import main\n"
        "main()\n"
    )

    def privmoo(*words: str) -> str:
        command = [sys.executable, "-c", start, *words]
        env = {**os.environ, "PYTHONPATH": str(TOP)}
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, env=env, cwd=tmp_path
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    assert privmoo("greet", "Ada") == "Hello Ada\n"
    assert "Greet somebody." in privmoo("--help")
    assert "Load forty villagers." in privmoo("datasets")
    privmoo("datasets", "villagers", "-o", "v.csv")
    assert len(pd.read_csv(tmp_path / "v.csv")) == 40


def test_the_guide_names_every_kind() -> None:
    guide = (TOP / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(KIND_OF.values()) == set(registry.KINDS)
    for room in KIND_OF:
        assert f"{room}/" in guide, f"the guide does not say where {KIND_OF[room]} go"
