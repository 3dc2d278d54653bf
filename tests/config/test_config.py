"""Jobs in TOML files: everything reachable, every mistake one sentence that names its place."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import privmoo as pm
from privmoo import registry
from privmoo.config.problems import parameters_of, problem_class, problem_names
from privmoo.errors import ConfigError, HierarchyError, PrivmooError
from tests.scenery.jobs import JOB, PEOPLE, job_in


def test_a_job_is_what_python_would_have_written(tmp_path: Path) -> None:
    config = pm.Config.load(job_in(tmp_path))
    table = pm.Table.read_csv(
        tmp_path / "people.csv",
        quasi_identifiers={
            "age": pm.Hierarchy.intervals(0, 99, widths=[5, 10, 20]),
            "zip": pm.Hierarchy.masking(),
        },
        sensitive="ill",
        identifiers="name",
    )
    assert config.table.fingerprint == table.fingerprint
    problem = pm.problems.BudgetSuppression(table, max_suppression=0.2)
    algorithm = pm.search.make_algorithm(problem, population=10)
    assert config.optimize(progress=False) == pm.optimize(
        problem, algorithm, 5, seed=1, progress=False
    )
    assert [path.name for path in config.inputs] == ["privmoo.toml", "people.csv"]


def test_little_is_needed(tmp_path: Path) -> None:
    text = '[data]\nfile = "people.csv"\n[columns]\nage = "quasi-identifying"\n'
    config = pm.Config.load(job_in(tmp_path, text))
    assert config.table.columns_of("identifying") == ["name", "zip", "ill"]
    assert config.problem_name == "TradeOff" and config.search.budget() is None
    problem = config.problem
    assert isinstance(problem, pm.problems.TradeOff)
    assert problem.families == ("regions",) and problem.max_suppression == 0.05  # no hierarchy


HIERARCHIES = {
    "flat": ('"flat"', pm.Hierarchy.flat()),
    "ordered": ('{ kind = "ordered", step = 10 }', pm.Hierarchy.ordered(step=10)),
    "masking": (
        '{ kind = "masking", steps = [1, 2], symbol = "x", side = "left" }',
        pm.Hierarchy.masking([1, 2], symbol="x", side="left"),
    ),
    "intervals": (
        '{ kind = "intervals", low = 0, high = 99, edges = [[50]], open_ends = true }',
        pm.Hierarchy.intervals(0, 99, edges=[[50]], open_ends=True),
    ),
}


@pytest.mark.parametrize("kind", HIERARCHIES)
def test_hierarchies(tmp_path: Path, kind: str) -> None:
    stated, meant = HIERARCHIES[kind]
    text = f'[data]\nfile = "people.csv"\n[columns.age]\nrole = "quasi-identifying"\nhierarchy = {stated}'
    qi = pm.Config.load(job_in(tmp_path, text)).table.qis[0]
    expected = pm.Table.read_csv(tmp_path / "people.csv", quasi_identifiers={"age": meant}).qis[0]
    assert qi.hierarchy == expected.hierarchy


def test_a_tree_and_a_file(tmp_path: Path) -> None:
    text = """
    [data]
    file = "people.csv"
    [columns.ill]
    role = "quasi-identifying"
    weight = 2
    max_level = 1
    hierarchy = { kind = "tree", tree = { lung = ["flu", "asthma"], other = ["gout"] } }
    [columns.zip]
    role = "quasi-identifying"
    hierarchy = "zips/zip.csv"
    """
    zips = sorted({line.split(",")[2] for line in PEOPLE.splitlines()[1:]})
    (tmp_path / "zips").mkdir()
    lines = [f"{z};{z[0]};*" for z in zips]
    (tmp_path / "zips" / "zip.csv").write_text("\n".join(lines) + "\n")
    config = pm.Config.load(job_in(tmp_path, text))
    ill, zip_code = config.table.qis
    assert ill.leaves == ("flu", "asthma", "gout") and (ill.weight, ill.max_level) == (2.0, 1)
    assert zip_code.hierarchy is not None and zip_code.hierarchy.level_labels(1) == ("1", "9")
    assert config.inputs[-1] == tmp_path / "zips" / "zip.csv"


def test_measures_constraints_and_policies(tmp_path: Path) -> None:
    problem = """
    [problem]
    name = "Levels"
    objectives = ["k", { measure = "at_risk", tau = 0.5, name = "risky" }]
    constraints = ["k >= 2", { measure = "loss", at_most = 0.9 }]
    extras = ["weighted_k"]
    suppression = { policy = "Budget", fraction = 0.1 }
    """
    text = JOB[: JOB.index("[problem]")] + problem
    made = pm.Config.load(job_in(tmp_path, text)).problem
    assert made.objective_names == ["k", "risky"]
    assert [str(c) for c in made.constraints] == ["k >= 2", "loss <= 0.9"]
    assert made.suppression == pm.Budget(0.1)


def test_every_policy_is_stated_by_its_name(tmp_path: Path) -> None:
    stated = {
        "BelowAverage": pm.BelowAverage(),
        "BelowThreshold": pm.BelowThreshold(2),
        "Budget": pm.Budget(0.1),
        "JointBudget": pm.JointBudget(0.1),
        "KLBudget": pm.KLBudget(0.1),
        "NoSuppression": pm.NoSuppression(),
        "Thresholds": pm.Thresholds(k=2, l=1.5),
        "ViolatingGroups": pm.ViolatingGroups(
            pm.KAnonymity() >= 2, pm.TCloseness(reference="original") <= 0.9
        ),
    }
    parameters = {
        "BelowThreshold": ", k = 2",
        "Budget": ", fraction = 0.1",
        "JointBudget": ', fraction = 0.1, by = ["k", "l"]',
        "KLBudget": ", fraction = 0.1",
        "Thresholds": ", k = 2, l = 1.5",
        "ViolatingGroups": ', constraints = ["k >= 2", '
        '{ measure = "t", reference = "original", at_most = 0.9 }]',
    }
    assert {*stated, "ExplicitRecords"} == set(registry.names("policies"))
    for name, policy in stated.items():
        entry = f'suppression = {{ policy = "{name}"{parameters.get(name, "")} }}'
        text = JOB[: JOB.index("[problem]")] + f'[problem]\nname = "Cuts"\n{entry}\n'
        assert pm.Config.load(job_in(tmp_path, text)).problem.suppression == policy


VALUES: dict[str, Any] = {
    "objectives": '["k", "loss"]',
    "constraints": '["k >= 2"]',
    "extras": '["weighted_k"]',
    "suppression": '{ policy = "Budget", fraction = 0.2 }',
    "max_suppression": "0.2",
    "privacy": '"k"',
    "loss": '"generalization"',
    "prefer": '"l"',
    "threads": "1",
    "min_k": "2",
    "stairs": "false",
    "index": "true",
    "n_clusters": "2",
    "k": "2",
    "scale": '"standard"',
    "loss_scale": '"raw"',
    "release": '"mean"',
    "assignment": '"balanced"',
    "split": "4",
    "lam": "0.1",
    "scaled": "false",
    "least_loss": "0.1",
    "epsilon": "[0.1, 5.0]",
    "strict": "true",
    "patterns": '["zip"]',
    "thresholds": "[0.3, 0.1, 0.05]",
    "non_violating": '["super-major", "major"]',
    "sensitivity": "1.0",
    "bounds": "{ age = [0, 99] }",
    "weight": "0.4",
    "noise_seed": "3",
    "means": "{ step = 5 }",
    "families": '["cuts", "regions"]',
    "publish": '"tight"',
    "consistent": '["zip"]',
}
OTHERS = {("Hybrid", "k"): "[2, 3]", ("Hybrid", "objectives"): '["originality", "disclosure_risk"]'}


@pytest.mark.parametrize("name", problem_names())
def test_every_parameter_of_every_problem_is_reachable(tmp_path: Path, name: str) -> None:
    made = problem_class(name, "here")
    known = parameters_of(made)
    left = set(inspect.signature(made).parameters) - set(known) - {"table"}
    assert left <= {"split"}, "a parameter that no file can state needs a reason"
    stated = {p: OTHERS.get((name, p), VALUES[p]) for p in known}
    if "max_suppression" in stated and "suppression" in stated:
        del stated["suppression"]  # Levels takes one of the two
    if name in ("MOOBAM", "Clusters"):
        del stated["objectives"]
    people = PEOPLE + PEOPLE.split("\n", 1)[1] * 3
    people = people.replace(",14", ",z14").replace(",90", ",z90")  # a word, which Hybrid needs
    lines = "\n".join(f"{key} = {value}" for key, value in stated.items())
    text = JOB[: JOB.index("[problem]")] + f'[problem]\nname = "{name}"\n{lines}\n'
    problem = pm.Config.load(job_in(tmp_path, text, people)).problem
    assert type(problem) is made
    for key, value in problem.parameters().items():
        if key in ("min_k", "max_suppression", "stairs", "prefer", "index", "lam"):
            assert str(value).lower() == stated[key].strip('"')


WRONG = {
    "no table": ("", r"'data' is missing; it must be a table"),
    "a table too many": (JOB + "[serch]\n", r"unknown key 'serch'; did you mean 'search'"),
    "a wrong key": (JOB + "sed = 2\n", r"\[search\]: unknown key 'sed'; did you mean 'seed'"),
    "a wrong type": (JOB.replace("seed = 1", "seed = true"), r"'seed' must be a whole number"),
    "a wrong role": (
        JOB.replace('"sensitive"', '"sensible"'),
        r"\[columns\], 'ill': 'role' is 'sensible', .* did you mean 'sensitive'",
    ),
    "no quasi-identifier": (
        '[data]\nfile = "people.csv"\n[columns]\nill = "sensitive"',
        "none is quasi-identifying",
    ),
    "a wrong hierarchy": (
        JOB.replace('"masking"', '"maskin"'),
        r"'zip': hierarchy 'maskin' is not one of .* did you mean 'masking'",
    ),
    "a hierarchy of nothing": (
        JOB.replace('hierarchy = "masking"', "hierarchy = 3"),
        r"'hierarchy' must be",
    ),
    "a key of the hierarchy": (
        JOB.replace("widths =", "width ="),
        r"'age', hierarchy: unknown key 'width'; did you mean 'widths'",
    ),
    "widths that do not nest": (JOB.replace("[5, 10, 20]", "[5, 7]"), r"'age': .*widths"),
    "a hierarchy of an identifier": (
        JOB.replace('name = "identifying"', 'name = { role = "identifying", hierarchy = "flat" }'),
        "an identifying column has no hierarchy",
    ),
    "a weight of a sensitive column": (
        JOB.replace('ill = "sensitive"', 'ill = { role = "sensitive", weight = 2 }'),
        "'weight' is for quasi-identifying columns",
    ),
    "a wrong problem": (
        JOB.replace("BudgetSuppression", "BudgetSupression"),
        r"the problem 'BudgetSupression' is not one of .* did you mean 'BudgetSuppression'",
    ),
    "a wrong parameter": (
        JOB.replace("max_suppression", "max_supression"),
        r"\[problem\]: BudgetSuppression has no parameter 'max_supression'; did you mean",
    ),
    "a missing parameter": (
        JOB.replace('"BudgetSuppression"\nmax_suppression = 0.2', '"MOOBAM"\nk = 2'),
        "MOOBAM needs 'n_clusters'",
    ),
    "a wrong algorithm": (
        JOB + 'algorithm = "nsga"\n',
        r"'algorithm' is 'nsga', which is not one of .* did you mean",
    ),
    "no generations": (JOB.replace("generations = 5", "generations = 0"), r"\[search\]: "),
    "a population of one": (JOB.replace("population = 10", "population = 1"), "at least 2"),
    "a negative seed": (JOB.replace("seed = 1", "seed = -1"), "at least 0"),
    "a file of another kind": (
        JOB.replace("people.csv", "people.xlsx"),
        "must be a name ending in",
    ),
    "a population of nobody": (
        JOB + 'algorithm = "exact"\n',
        "'population' has no meaning for the ex",
    ),
    "no TOML": ("[data\n", r"privmoo.toml is not valid TOML: .*line 1"),
    "a target that is not released": (
        JOB.replace('file = "people.csv"', 'file = "people.csv"\ntarget = "name"'),
        "the target 'name' is identifying",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_told_with_their_place(tmp_path: Path, what: str) -> None:
    text, said = WRONG[what]
    path = job_in(tmp_path, text)
    with pytest.raises(ConfigError, match=said) as raised:
        pm.Config.load(path)
    assert "\n" not in str(raised.value) and str(raised.value).startswith("privmoo.toml")


@pytest.mark.parametrize("scan", ["", "scan = true\n"], ids=["in memory", "scanned"])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "columns.age",
            "columns.aeg",
            r"^privmoo.toml, \[columns\]: column 'aeg' is not in the data; did",
        ),
        ("ill =", "sick =", r"^privmoo.toml, \[columns\]: column 'sick' is not in the data"),
        (
            "[columns]",
            'target = "il"\n[columns]',
            r"^privmoo.toml, \[data\], 'target': column 'il' is",
        ),
    ],
)
def test_columns_that_are_not_in_the_data(
    tmp_path: Path, scan: str, old: str, new: str, said: str
) -> None:
    if scan:
        pytest.importorskip("duckdb")
    text = JOB.replace(old, new, 1).replace("[data]\n", f"[data]\n{scan}")
    config = pm.Config.load(job_in(tmp_path, text))
    with pytest.raises(ConfigError, match=said):
        _ = config.table


LATER = {
    "a measure": ('objectives = ["k", "los"]', r"objectives: measure: 'los' is not known; did you"),
    "a parameter of a measure": (
        'objectives = ["k", { measure = "at_risk", tua = 1 }]',
        "takes the parameters",
    ),
    "no list": ('objectives = "k"', "must be a list in brackets"),
    "a sentence": ('constraints = ["k > 5"]', "must be like 'k >= 5'"),
    "a bound": ('constraints = [{ measure = "k" }]', "either at_least or at_most; 'k' has neither"),
    "two bounds": ('constraints = [{ measure = "k", at_least = 1, at_most = 2 }]', "has both"),
    "a number": ('constraints = ["k >= --"]', "is not a number"),
    "a policy": ('suppression = "Budge"', r"'policy' is 'Budge', .* did you mean 'Budget'"),
    "a policy's parameter": (
        'suppression = { policy = "Budget", fracton = 1 }',
        "Budget has no parameter 'fracton'; did you mean 'fraction'",
    ),
    "a policy without": ('suppression = "Budget"', "Budget needs the parameter 'fraction'"),
    "a policy of candidates": (
        'suppression = "ExplicitRecords"',
        "whose candidates choose records",
    ),
    "a policy without constraints": (
        'suppression = { policy = "ViolatingGroups", constraints = "k >= 5" }',
        "takes a list of constraints",
    ),
    "a policy's constraint": (
        'suppression = { policy = "ViolatingGroups", constraints = ["t <= 0.2"] }',
        "use reference='original'",
    ),
    "a policy's value": ('suppression = { policy = "Budget", fraction = 2 }', "suppression: "),
    "a type": ('threads = "many"', r"\[problem\]"),
    "an objective of nothing": ("objectives = [3]", "must be a name in quotes"),
}


@pytest.mark.parametrize("what", LATER)
def test_mistakes_in_problems(tmp_path: Path, what: str) -> None:
    line, said = LATER[what]
    text = JOB[: JOB.index("[problem]")] + f'[problem]\nname = "Cuts"\n{line}\n'
    config = pm.Config.load(job_in(tmp_path, text))
    with pytest.raises(PrivmooError, match=said) as raised:
        _ = config.problem
    assert "\n" not in str(raised.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing.toml: no such file$"):
        pm.Config.load(tmp_path / "nothing.toml")
    with pytest.raises(ConfigError, match="is not a plain file"):
        pm.Config.load(tmp_path)
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        pm.Config.load(tmp_path / "a.toml")
    (tmp_path / "b.toml").write_bytes(b"#" * 5_000_000)
    with pytest.raises(ConfigError, match="is larger than 4 MB"):
        pm.Config.load(tmp_path / "b.toml")
    (tmp_path / "c.toml").write_text("a = " + "[" * 50_000)
    with pytest.raises(ConfigError, match=r"nested too deeply|is not valid TOML"):
        pm.Config.load(tmp_path / "c.toml")
    text = JOB.replace('"masking"', '"zip.csv"')
    with pytest.raises(
        (ConfigError, HierarchyError), match=r"'zip': hierarchy 'zip.csv' cannot be"
    ):
        pm.Config.load(job_in(tmp_path, text))


@pytest.mark.parametrize(
    "bomb",
    [
        "\n".join(".".join(["a"] * 400) + f".b{i} = 1" for i in range(100)),
        "\n".join("[" + ".".join([f'"k{i}"'] * 400) + "]" for i in range(50)),
        "x = {" + " . ".join(["'k'"] * 400) + " = 1}",
        "x = " + "[" * 100_000,
    ],
    ids=["keys", "tables", "inline", "lists"],
)
def test_deep_keys_are_refused_before_they_fill_the_memory(bomb: str, tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    file.write_text(bomb, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^job\.toml is nested too deeply to be a job$"):
        pm.Config.load(file)


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 400, "0x" + "f" * 5000, str(2**63)])
def test_numbers_of_thousands_of_digits_are_refused(number: str, tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    file.write_text(f"[search]\nseed = {number}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^job\.toml has a whole number of more than 64 bits"):
        pm.Config.load(file)


def test_dots_in_texts_and_comments_are_not_keys(tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    dots = ".".join("abcdefghijkl")
    file.write_text(
        f'# {dots}\n[data]\nfile = "{dots}.csv"\n[columns.age]\nrole = "quasi-identifying"\n',
        encoding="utf-8",
    )
    assert pm.Config.load(file).data["file"] == f"{dots}.csv"


def test_the_focus_of_a_job_is_that_of_the_search(tmp_path: Path) -> None:
    text = JOB.replace("generations = 5", "generations = 24")
    config = pm.Config.load(job_in(tmp_path, text + "focus = { k = [2, 4] }\n"))
    front = config.optimize(progress=False)
    assert front.run["polish"]["marks"] == {"k": [2, 3, 4]}
    assert front.run["generations"] == 24
    assert config.search.to_dict()["focus"] == {"k": [2, 4]}
    other = config.optimize(progress=False, focus={"k": (3, 5)})
    assert other.run["polish"]["marks"] == {"k": [3, 4, 5]}


@pytest.mark.parametrize(
    ("focus", "message"),
    [
        ("{ age = [1, 2] }", "focus: 'age' is not an objective"),
        ("{ k = [5, 2] }", "must be two numbers, the smaller first"),
        ("3", "'focus'"),
    ],
)
def test_a_wrong_focus_of_a_job_is_refused(tmp_path: Path, focus: str, message: str) -> None:
    with pytest.raises(PrivmooError, match=message):
        pm.Config.load(job_in(tmp_path, JOB + f"focus = {focus}\n")).optimize(progress=False)
