"""Plug-ins: a real package that is built, installed and used; and what goes wrong."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

import privmoo as pm
from privmoo import problems, registry
from privmoo.errors import MeasureError, PluginError, ProblemError
from privmoo.operators import CutMutation, NewLevels
from privmoo.testing import check_baseline, check_operator, check_problem, example_table
from tests.scenery.paths import TESTS as HERE
from tests.scenery.paths import environment

USE = """
import warnings
import numpy as np
import privmoo as pm
from privmoo.operators import NewLevels
from privmoo.testing import check_baseline, check_measure, check_operator, check_problem

with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    found = pm.registry.plugins()
(warning,) = heard
assert issubclass(warning.category, pm.registry.PluginWarning)
sentence = (
    "measures: 'broken' of the package 'privmoo-example' cannot be imported (RuntimeError: this "
    "plug-in is out of order)")
assert str(warning.message) == sentence + "; it is left out", warning.message
assert set(found["package"]) == {"privmoo-example"} and set(found["version"]) == {"1.2.3"}
assert found["name"].tolist() == [
    "broken", "largest_group", "lonely", "Pairs", "Halves", "FlipOne", "all_in_one", "villagers"]
assert found["error"].tolist() == [sentence, *[""] * 7]
assert found["object"][0] is None

lonely = pm.measures.measure_by_name("lonely", below=4)
assert lonely.below == 4
largest = pm.measures.measure_by_name("largest_group")
check_measure(lonely)
check_measure(largest)
table = pm.registry.load("datasets", "villagers")()
problem = pm.registry.load("problems", "Halves")(table, extras=[largest])
check_problem(problem)
check_operator(pm.registry.load("operators", "FlipOne")(), problem)
check_baseline(pm.baselines.by_name("all_in_one"))
front = pm.optimize(problem, budget=5, seed=1, progress=False)
assert "largest_group" in front.to_frame().columns

from privmoo_example import Lonely  # plain import works as well
clusters = pm.problems.Clusters(pm.Table(table.frame, quasi_identifiers=["age"]), n_clusters=4, k=3)
study = pm.compare(clusters, [pm.Solver.baseline("all_in_one", k=3)], budget=10, jobs=1, progress=False)
assert study.frame["status"].tolist() == ["ok"]
for name, error in (("broken", pm.errors.PluginError), ("lonley", pm.errors.MeasureError)):
    try:
        pm.measures.measure_by_name(name)
    except error as problem:
        print(problem)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source") / "plugin_package"
    shutil.copytree(HERE / "plugin_package", source, ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path_factory.mktemp("target")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-index"]
    command += ["--no-build-isolation", "--no-deps", "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_a_package_that_is_built_installed_and_used(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", USE],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=environment(installed),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    broken, misspelt = done.stdout.splitlines()
    assert "'broken' of the package 'privmoo-example' cannot be imported" in broken
    assert misspelt == "measure: 'lonley' is not known; did you mean 'lonely'?"


@pytest.mark.faults
def test_the_command_lists_them_and_a_job_uses_them(installed: Path, tmp_path: Path) -> None:
    from tests.scenery import jobs

    env = environment(installed)

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "privmoo.cli", *words]
        return subprocess.run(line, capture_output=True, text=True, check=False, env=env)

    listed = command("plugins")
    assert listed.returncode == 0
    rows = [line.split() for line in listed.stdout.splitlines()]
    assert ["measures", "lonely", "privmoo-example", "1.2.3", "works"] in rows
    assert ["measures", "broken", "privmoo-example", "1.2.3", "cannot", "be", "used"] in rows
    assert "cannot be imported" in listed.stderr
    own = '[problem]\nname = "Halves"\nextras = [{ measure = "lonely", below = 5, name = "few" }]\n'
    text = jobs.JOB[: jobs.JOB.index("[problem]")] + own + "[search]\ngenerations = 2\n"
    done = command("run", str(jobs.job_in(tmp_path, text)), "-o", str(tmp_path / "out"), "-q")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "front.csv").read_text().startswith("solution,k,lonely,few")


def points(*given: tuple[str, str, str]) -> Any:
    made = EntryPoints(EntryPoint(name, value, f"privmoo.{kind}") for kind, name, value in given)
    return lambda *, group: made.select(group=group)


def test_a_measure_of_a_higher_room_has_a_name() -> None:
    accuracy = pm.measures.measure_by_name("accuracy", trees=3)
    assert isinstance(accuracy, pm.learning.ForestAccuracy) and accuracy.trees == 3


def test_nothing_is_imported_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        registry, "entry_points", points(("measures", "x", "no_such_module_at_all:X"))
    )
    assert registry.names("measures")[-1] == "x"
    assert pm.measures.measure_by_name("k").name == "k"
    with pytest.warns(
        registry.PluginWarning, match="'x' of the package '' cannot be imported .*Module"
    ):
        assert registry.plugins()["object"][0] is None


@pytest.mark.parametrize(
    ("given", "asked", "sentence"),
    [
        (
            [("measures", "x", "os:getpid")],
            ("measures", "x"),
            "must be a Measure, got an object of",
        ),
        ([("problems", "x", "os:getpid")], ("problems", "x"), "must be a class derived from Anon"),
        ([("policies", "x", "os:getpid")], ("policies", "x"), "must be a class derived from Supp"),
        ([("operators", "x", "os:path")], ("operators", "x"), "must be a class derived from pymoo"),
        ([("datasets", "x", "os:sep")], ("datasets", "x"), "must be a function that returns a T"),
        (
            [("measures", "x", "privmoo.measures:KAnonymity")],
            ("measures", "x"),
            "calls itself 'k'; .* register it under that name",
        ),
        (
            [("baselines", "x", "os:getpid"), ("baselines", "x", "os:getcwd")],
            ("baselines", "x"),
            "baselines: 'x' is provided by '' and ''; uninstall one",
        ),
        (
            [("baselines", "mine", "os:x")],
            ("baselines", "mien"),
            "baselines: 'mien' is not known; did you mean 'mine'",
        ),
        ([], ("measure", "x"), "'measure' is not one of measures, .*did you mean 'measures'"),
    ],
)
def test_what_cannot_be_used_is_said(
    monkeypatch: pytest.MonkeyPatch, given: Any, asked: tuple[str, str], sentence: str
) -> None:
    monkeypatch.setattr(registry, "entry_points", points(*given))
    with pytest.raises(PluginError, match=sentence):
        registry.load(*asked)


def test_a_plug_in_cannot_take_the_name_of_a_built_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", points(("measures", "k", "os:getpid")))
    assert registry.load("measures", "k") is pm.KAnonymity
    with pytest.warns(registry.PluginWarning, match="has the name of a built-in object"):
        assert registry.plugins()["object"][0] is None


def test_a_program_cannot_take_the_name_of_a_plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", points(("baselines", "mine", "os:getpid")))
    with pytest.raises(PluginError, match="'mine' is already provided by another plug-in"):
        registry.register("baselines", "mine", lambda table, k: None)


def test_objects_of_a_program_are_registered_with_the_same_checks() -> None:
    class Fives(pm.Budget):
        pass

    registry.register("policies", "Fives", Fives)
    try:
        assert registry.load("policies", "Fives") is Fives
        assert registry.names("policies")[-1] == "Fives"
        with pytest.raises(PluginError, match=r"'Fives' is registered already; .* unregister"):
            registry.register("policies", "Fives", Fives)
    finally:
        registry.unregister("policies", "Fives")
    assert "Fives" not in registry.names("policies")
    with pytest.raises(PluginError, match="'Budget' is already provided by privmoo itself"):
        registry.register("policies", "Budget", Fives)
    with pytest.raises(PluginError, match="must be a class derived from Suppression"):
        registry.register("policies", "x", 3)
    with pytest.raises(PluginError, match="'Sixes' calls itself 'Fives'"):
        registry.register("policies", "Sixes", Fives)


def test_a_registered_string_is_imported_when_it_is_used() -> None:
    registry.register("baselines", "later", "no_such_module:baseline")
    try:
        assert "later" in registry.names("baselines")
        with pytest.raises(PluginError, match=r"'later' cannot be imported \(ModuleNot"):
            pm.baselines.by_name("later")
    finally:
        registry.unregister("baselines", "later")


def test_a_plug_in_that_exits_where_it_is_imported_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "no_licence.py").write_text("import sys\nsys.exit('no licence')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "entry_points", points(("measures", "x", "no_licence:X")))
    with pytest.warns(
        registry.PluginWarning, match=r"cannot be imported \(SystemExit: no licence\)"
    ):
        assert registry.plugins()["object"][0] is None


def test_what_is_no_plug_in_at_all_is_said_by_the_conformance_suite() -> None:
    problem = problems.Cuts(TABLE)
    check: Callable[[], None]
    for check, sentence in (
        (lambda: check_problem(problems.Cuts), "is not a privmoo.AnonymizationProblem; pass"),
        (lambda: check_operator(CutMutation, problem), "CutMutation'>: give an instance, not the"),
        (lambda: check_operator(3, problem), "int: must be one of pymoo's Sampling"),
        (lambda: check_operator(CutMutation(), TABLE), "is not a problem; pass one"),
        (lambda: check_baseline("mdav"), "'mdav' is not a function of table and k"),
    ):
        with pytest.raises(AssertionError, match=sentence):
            check()


def test_names_that_nobody_brings() -> None:
    with pytest.raises(PluginError, match="views: 'nope' is not known"):
        registry.load("views", "nope")
    with pytest.raises(
        PluginError, match="views: 'plot_fronts' is not known; did you mean 'plot_fr"
    ):
        registry.load("views", "plot_fronts")
    with pytest.raises(MeasureError, match="measure: 'lonely' is not known"):
        pm.measures.measure_by_name("lonely")
    with pytest.raises(ProblemError, match="baseline: 'one' is not one of k_member"):
        pm.baselines.by_name("one")
    assert registry.plugins().empty


@pytest.mark.parametrize("name", pm.baselines.names())
def test_built_in_baselines_conform(name: str) -> None:
    options = {"l": 2} if name == "zheng" else {}
    check_baseline(pm.baselines.by_name(name), **options)


def test_breaches_of_baselines_are_found() -> None:
    def small(table: pm.Table, k: int) -> Any:
        return pm.recodings.cluster_recoding(table, range(table.n_records))

    with pytest.raises(AssertionError, match="a QI-group has 1 persons, fewer than k = 2"):
        check_baseline(small)
    with pytest.raises(AssertionError, match="must return a Recoding, got int"):
        check_baseline(lambda table, k: k)
    seen: list[int] = []

    def moody(table: pm.Table, k: int) -> Any:
        seen.append(k)
        half = [i % 2 for i in range(table.n_records)]
        return pm.recodings.cluster_recoding(
            table, half if len(seen) % 2 else [0] * table.n_records
        )

    with pytest.raises(AssertionError, match="the same call must give the same recoding"):
        check_baseline(moody)


TABLE = example_table()
BUILT_IN: dict[str, Any] = {
    "Cuts": lambda: problems.Cuts(TABLE),
    "ZeroSuppression": lambda: problems.ZeroSuppression(TABLE),
    "BudgetSuppression": lambda: problems.BudgetSuppression(TABLE),
    "AnySuppression": lambda: problems.AnySuppression(TABLE),
    "KLSafe": lambda: problems.KLSafe(TABLE),
    "Levels": lambda: problems.Levels(TABLE, max_suppression=0.2),
    "LevelsAndSuppression": lambda: problems.LevelsAndSuppression(TABLE),
    "Clusters": lambda: problems.Clusters(TABLE, 8, k=3),
    "Regions": lambda: problems.Regions(TABLE, publish="tight"),
    "TradeOff": lambda: problems.TradeOff(TABLE),
    "MOOBAM": lambda: problems.MOOBAM(TABLE, 8, 3),
    "ScalarMOOBAM": lambda: problems.ScalarMOOBAM(TABLE, 8, 3, 0.1),
    "Hybrid": lambda: problems.Hybrid(TABLE, patterns=["sex"]),
}


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize("name", BUILT_IN)
def test_operators_of_every_built_in_problem_conform(name: str) -> None:
    problem = BUILT_IN[name]()
    assert type(problem).__name__ == name
    for operator in problem.default_operators().values():
        if not isinstance(operator, NewLevels):  # drops more than equal individuals
            check_operator(operator, problem)


def test_every_built_in_problem_is_among_them() -> None:
    own = {
        name
        for name in problems.__all__
        if inspect.isclass(getattr(problems, name))
        and issubclass(getattr(problems, name), pm.AnonymizationProblem)
    }
    assert own == set(BUILT_IN)
