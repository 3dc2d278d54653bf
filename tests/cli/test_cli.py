"""The verbs of the command line, as a person types them."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest

import privmoo as pm
from privmoo.cli.console import printable
from privmoo.cli.selection import parse_limits
from privmoo.errors import ProblemError
from tests.scenery.cli import here
from tests.scenery.jobs import JOB, PEOPLE, call, job_in

Said = pytest.CaptureFixture[str]
VERBS = (
    *("init", "check", "run", "choose", "release", "audit", "analyse", "compare", "demo"),
    *("datasets", "plugins"),
)


@pytest.fixture(scope="module")
def finished_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a job and the results of its run in `out`."""
    folder = tmp_path_factory.mktemp("finished")
    job_in(folder)
    assert here(folder, "run", "privmoo.toml", "-o", "out", "-q").code == 0
    return folder


@pytest.fixture
def done(tmp_path: Path, finished_job: Path) -> Path:
    """The folder of a finished run: a copy of one's own."""
    shutil.copytree(finished_job, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def test_help_needs_no_heavy_packages() -> None:
    # What takes long is importing pandas, numba and pymoo: time is measured by make bench, not here.
    code = (
        "import sys\n"
        "from privmoo.cli.main import outcome\n"
        f"for verb in ([], *([verb] for verb in {VERBS})):\n"
        "    sys.argv = ['privmoo', *verb, '--help']\n"
        "    assert outcome() == 0\n"
        "heavy = {'pandas', 'numpy', 'numba', 'pymoo', 'matplotlib', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(f"  {verb} " in shown.stdout for verb in VERBS)


def test_the_version(monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    assert call("--version", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out == f"privmoo {version('privmoo')}\n"


GREETING = """
from privmoo.cli.command import Command
def _greet(name: str) -> None:
    'Greet somebody.'
    print("Hello", name)
command = Command(_greet, order=15)
"""


def test_a_new_command_is_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "greet.py").write_text(GREETING)
    code = (
        "import sys, privmoo.cli.commands\n"
        f"privmoo.cli.commands.__path__.append({str(tmp_path)!r})\n"
        "from privmoo.cli.main import main\nmain()"
    )
    for words, expected in (["greet", "Ada"], "Hello Ada\n"), (["--help"], "Greet somebody."):
        line = [sys.executable, "-c", code, *words]
        ended = subprocess.run(line, capture_output=True, text=True, check=True)
        assert expected in ended.stdout
    assert (
        ended.stdout.index("  init ")
        < ended.stdout.index("  greet ")
        < ended.stdout.index("  run ")
    )


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    assert call(verb, "--help", monkeypatch=monkeypatch) == 0
    assert f"Usage: privmoo {verb}" in capsys.readouterr().out


def test_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    assert call("check", job_in(tmp_path), monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "10 records, " in said and "BudgetSuppression: objectives k, loss" in said
    assert "privmoo.check.txt" in said and "The job is valid" in said
    report = tmp_path / "privmoo.check.txt"
    figures = report.read_text(encoding="utf-8")
    assert (
        "share of records alone in their group " in figures and "How to read the figures" in figures
    )
    assert report.stat().st_mode & 0o077 == 0
    report.unlink()
    assert call("check", tmp_path / "privmoo.toml", "--all", monkeypatch=monkeypatch) == 0
    everything = capsys.readouterr().out
    assert "share of records alone in their group " in everything and not report.exists()
    for text in (said, figures, everything):
        assert "Ada" not in text and "14260" not in text


def test_run_writes_everything(done: Path) -> None:
    names = sorted(path.name for path in done.iterdir())
    files = ["PRIVATE.txt", "front.csv", "front.html", "front.npz", "front.png", "run.json"]
    assert names == files
    assert "for the publisher only" in (done / "PRIVATE.txt").read_text(encoding="utf-8")
    facts = json.loads((done / "run.json").read_text())
    assert facts["run"]["seed"] == 1 and "pymoo" in facts["run"]["versions"]
    assert sorted(facts["inputs"]) == ["people.csv", "privmoo.toml"]
    front = pd.read_csv(done / "front.csv")
    assert len(front) == facts["solutions"] and list(front)[:3] == ["solution", "k", "loss"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in done.iterdir())
    assert done.stat().st_mode & 0o077 == 0
    assert (done / "front.png").read_bytes()[:4] == b"\x89PNG"


def test_results_are_not_overwritten_unasked(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    job, before = tmp_path / "privmoo.toml", (done / "run.json").read_bytes()
    assert call("run", job, "-o", done, monkeypatch=monkeypatch) == 2
    assert "contains the results of a run; choose another folder" in capsys.readouterr().err
    assert (done / "run.json").read_bytes() == before
    assert call("run", job, "-o", done, "--resume", monkeypatch=monkeypatch) == 2
    assert "contains no run to resume; its run is finished" in capsys.readouterr().err
    assert call("run", job, "-o", tmp_path / "new", "--resume", monkeypatch=monkeypatch) == 2
    assert "contains no run to resume; start it without --resume" in capsys.readouterr().err
    assert call("run", job, "-o", done, "--force", "-q", monkeypatch=monkeypatch) == 0
    old, new = json.loads(before), json.loads((done / "run.json").read_text())
    assert old["files"]["front.csv"] == new["files"]["front.csv"]


def test_nothing_feasible_is_exit_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    problem = '[problem]\nname = "Cuts"\nconstraints = ["k >= 10", "loss <= 0.1"]\n'
    text = JOB[: JOB.index("[problem]")] + problem + "[search]\ngenerations = 2\n"
    out = tmp_path / "out"
    code = call("run", job_in(tmp_path, text), "-o", out, "-q", monkeypatch=monkeypatch)
    assert code == 3
    assert capsys.readouterr().err.startswith("privmoo: front: nothing feasible among")
    assert not (out / "run.json").exists()


def test_choose(done: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    frame = pd.read_csv(done / "front.csv")
    assert call("choose", done, "--max-loss", "0.9", "--best", "k", monkeypatch=monkeypatch) == 0
    within = frame[frame["loss"] <= 0.9]
    best = within.sort_values(["k", "loss"], ascending=[False, True]).iloc[0]
    said = capsys.readouterr().out
    assert said.startswith(f"Solution {int(best['solution'])} of {len(frame)}: ")
    assert f"--solution {int(best['solution'])} -o public.csv" in said
    assert call("choose", done, "--solution", 0, monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.startswith("Solution 0 of")
    assert call("choose", done, "--knee", monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert call("choose", done, "--min-k=2", monkeypatch=monkeypatch) == 0
    listed = capsys.readouterr().out.splitlines()[2:]
    numbers = [int(line.split()[0]) for line in listed if line.split()[0].isdigit()]
    assert set(numbers) <= set(frame.loc[frame["k"] >= 2, "solution"])


def test_choices_come_first_and_hints_protect_people(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    frame = pd.read_csv(done / "front.csv")
    assert call("choose", done, monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "k ≥ 3" in said and "left out" in said and "error of counts" in said
    number = int(said.rpartition("--solution ")[2])
    largest = frame["k"].max()
    level = next(k for k in (5, 3, 2) if k <= largest)
    choice = frame.loc[number]
    assert choice["k"] >= level
    assert choice["loss"] == frame.loc[frame["k"] >= level, "loss"].min()
    assert call("choose", done, "--all", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.split()[:2] == ["solution", "k"]


def test_a_column_that_is_nearly_constant_is_no_reason_to_search_for_l(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    frame = pd.read_csv(io.StringIO(PEOPLE), dtype=str)
    people = frame.assign(ill=["cold"] + ["flu"] * (len(frame) - 1)).to_csv(index=False)
    for name in ("BudgetSuppression", "KLSafe"):
        job = job_in(tmp_path, JOB.replace("BudgetSuppression", name), people)
        assert call("check", job, monkeypatch=monkeypatch) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "'ill' has nearly always the same value, so that l stays near 1" in said


WRONG = {
    "an unknown limit": (["--max-los", "1", "--best", "k"], "did you mean '--max-loss'"),
    "no limit": (["--loss", "1"], "--loss is not an option; limits look like --max-loss"),
    "no number": (["--max-loss", "little"], "--max-loss needs a number"),
    "nothing": (["--max-loss"], "--max-loss needs a number"),
    "twice": (["--min-k", "1", "--min-k", "2"], "is given twice"),
    "no such solution": (["--solution", "999"], "there is no solution 999; the numbers go from 0"),
    "a negative one": (["--solution", "-1"], "there is no solution -1"),
    "two ways": (["--solution", "0", "--knee"], "give only one of"),
    "a solution and limits": (["--solution", "0", "--min-k", "2"], "limits go with"),
    "not even a number": (["--solution", "abc"], "privmoo: --solution must be a whole number (see"),
    "a wrong measure": (["--best", "kk"], "did you mean 'k'"),
    "no measure": (
        ["--best", "foo"],
        "privmoo: --best: 'foo' is not recorded in this front; recorded",
    ),
    "a limit of nothing": (["--max-foo", "1"], "l, records_suppressed\n"),
    "nothing within": (["--min-k", "11", "--best", "k"], "no solution of the front has"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_choices(
    done: Path, what: str, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    arguments, said = WRONG[what]
    assert call("choose", done, *arguments, monkeypatch=monkeypatch) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and error.startswith("privmoo: ")


@pytest.mark.parametrize(
    ("number", "rule"), [("abc", "a whole number"), ("0", "at least 1")], ids=["text", "none"]
)
def test_wrong_numbers(
    number: str, rule: str, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    arguments = ("compare", "privmoo.toml", "-o", "study", "--seeds", number)
    assert call(*arguments, monkeypatch=monkeypatch) == 2
    error = capsys.readouterr().err
    assert error == f"privmoo: --seeds must be {rule} (see: privmoo compare --help)\n"


def test_release(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    public = tmp_path / "public.csv"
    arguments = ["release", done, "--best", "k", "--max-loss", "0.9", "-o", public]
    assert call(*arguments, monkeypatch=monkeypatch) == 0
    rows = pd.read_csv(public)
    assert list(rows) == ["age", "zip", "ill"]
    certificate = json.loads((tmp_path / "public.certificate.json").read_text())
    assert certificate["privacy"]["k"] == rows.groupby(["age", "zip"]).size().min()
    assert certificate["release"]["file"] == "public.csv"
    assert call(*arguments, monkeypatch=monkeypatch) == 2
    assert "public.csv exists already" in capsys.readouterr().err
    assert call(*arguments, "--force", monkeypatch=monkeypatch) == 0
    assert "can intersect them" not in capsys.readouterr().err
    other = ["release", done, "--solution", 0, "-o", tmp_path / "other.parquet"]
    assert call(*other, monkeypatch=monkeypatch) == 2
    assert "somebody is alone in a group (k = 1)" in capsys.readouterr().err
    assert not list(tmp_path.glob("other*"))
    assert call("choose", done, "--solution", 0, monkeypatch=monkeypatch) == 0
    assert "only written with --allow-unique" in capsys.readouterr().out
    assert call(*other, "--allow-unique", monkeypatch=monkeypatch) == 0
    noted = capsys.readouterr().err
    assert (
        "was released before: anyone who holds two different releases" in noted
        and "note: k is 1" in noted
    )
    assert (
        "note: 100 % of the records are in groups where all have the same value of 'ill'" in noted
    )
    assert len(pd.read_parquet(tmp_path / "other.parquet")) > 0
    assert call("release", done, "-o", tmp_path / "x.csv", monkeypatch=monkeypatch) == 2
    assert "choose a solution with --solution" in capsys.readouterr().err
    assert (
        call("release", done, "--solution", 0, "-o", tmp_path / "x.xls", monkeypatch=monkeypatch)
        == 2
    )


def test_a_release_with_a_page_that_may_be_passed_on(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    public, page = tmp_path / "public.csv", tmp_path / "public.html"
    arguments = ["release", done, "--best", "k", "--max-loss", "0.9", "-o", public, "--report"]
    assert call(*arguments, tmp_path / "page.csv", monkeypatch=monkeypatch) == 2
    assert "page.csv: a report is written as .html" in capsys.readouterr().err
    page.touch()
    assert call(*arguments, page, monkeypatch=monkeypatch) == 2
    assert "public.html exists already" in capsys.readouterr().err and not public.exists()
    page.unlink()
    assert call(*arguments, page, monkeypatch=monkeypatch) == 0
    assert "public.html" in capsys.readouterr().out
    assert "may be passed on" in page.read_text(encoding="utf-8")
    assert "solution" not in page.read_text(encoding="utf-8")


def test_a_release_after_one_added_row_is_noticed(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    arguments = ["release", done, "--best", "k", "-o", tmp_path / "public.csv", "--force"]
    assert call(*arguments, monkeypatch=monkeypatch) == 0
    record = done / "released.json"
    assert record.stat().st_mode & 0o077 == 0
    rows = (tmp_path / "people.csv").read_text(encoding="utf-8").rstrip("\n").split("\n")
    (tmp_path / "people.csv").write_text("\n".join([*rows, rows[3]]) + "\n", encoding="utf-8")
    job = tmp_path / "privmoo.toml"
    assert call("run", job, "-o", done, "-q", "--force", monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert call("choose", done, "--best", "k", monkeypatch=monkeypatch) == 0
    assert "can work out who was added or removed" in capsys.readouterr().out
    assert call(*arguments, monkeypatch=monkeypatch) == 0
    assert "nearly the same records was released before" in capsys.readouterr().err
    # A damaged or older record is no reason to fail.
    entries = json.loads(record.read_text(encoding="utf-8"))
    for table in (None, 7, {}, {"content": "x", "records": 3, "signs": 5}):
        record.write_text(json.dumps([entries[0] | {"table": table}]), encoding="utf-8")
        assert call("choose", done, "--best", "k", monkeypatch=monkeypatch) == 0


def test_a_release_of_an_earlier_run_is_not_forgotten(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    arguments = ["release", done, "--solution", 1, "-o", tmp_path / "public.csv", "--force"]
    assert call(*arguments, "--allow-unique", monkeypatch=monkeypatch) == 0
    job = job_in(tmp_path, JOB.replace("seed = 1", "seed = 2").replace("= 0.2", "= 0.1"))
    assert call("run", job, "-o", done, "-q", "--force", monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert call(*arguments, "--allow-unique", monkeypatch=monkeypatch) == 0
    assert "a solution of an earlier run in this folder was released" in capsys.readouterr().err


def test_what_is_proposed_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    folder = tmp_path / "my data"
    folder.mkdir()
    (folder / "people.csv").write_bytes("name;Größe\nAnn;170\n".encode("cp1252"))
    data = folder / "people.csv"
    assert call("init", data, monkeypatch=monkeypatch) == 2
    error = capsys.readouterr().err
    assert "with --encoding" in error and "read_csv" not in error
    data.write_text(PEOPLE)
    assert call("init", data, monkeypatch=monkeypatch) == 0
    assert f"privmoo check '{folder / 'privmoo.toml'}'" in capsys.readouterr().out
    assert call("init", data, monkeypatch=monkeypatch) == 2
    assert "replace it with --force" in capsys.readouterr().err


HINTS = {
    "a measure without its column": (
        JOB.replace('ill = "sensitive"', "").replace(
            'name = "BudgetSuppression"\nmax_suppression = 0.2',
            'name = "Cuts"\nobjectives = ["l", "loss"]',
        ),
        PEOPLE,
        'give a column the role "sensitive" in [columns]',
    ),
    "a number outside": (JOB, PEOPLE.replace("47", "147"), "set open_ends = true"),
}


@pytest.mark.parametrize("what", HINTS)
def test_hints_are_about_the_job(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    text, people, advice = HINTS[what]
    assert call("check", job_in(tmp_path, text, people), monkeypatch=monkeypatch) == 2
    error = capsys.readouterr().err
    assert advice in error and "Table" not in error and "pass " not in error


def test_risk_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    assert call("check", job_in(tmp_path), monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "are alone in their group: anyone who knows their quasi-identifiers finds them" in said
    assert "no objective or constraint considers ill" in said
    job = job_in(tmp_path, JOB.replace("BudgetSuppression", "KLSafe"))
    assert call("check", job, monkeypatch=monkeypatch) == 0
    assert "no objective or constraint" not in capsys.readouterr().out


def test_a_stopped_study_says_how_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("privmoo.study.compare", stopped)
    job = job_in(tmp_path)
    assert call("compare", job, "-o", tmp_path / "study", monkeypatch=monkeypatch) == 130
    assert "run the same command again" in capsys.readouterr().err


def test_spreadsheets_get_no_formulas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people = PEOPLE.replace("gout", "=1+1").replace("asthma", "@cmd").replace("flu", "'flu")
    job, out = job_in(tmp_path, people=people), tmp_path / "out"
    assert call("run", job, "-o", out, "-q", monkeypatch=monkeypatch) == 0
    public = tmp_path / "public.csv"
    command = ["release", out, "--best", "k", "-o", public, "--csv-safe"]
    assert call(*command, monkeypatch=monkeypatch) == 0
    assert set(pd.read_csv(public)["ill"]) <= {"'=1+1", "'@cmd", "''flu"}
    assert "apostrophe" in (tmp_path / "public.certificate.txt").read_text()


def test_what_has_changed_since_the_run_is_told(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE + "Kim,65,90210,flu\n")
    assert call("choose", done, "--knee", monkeypatch=monkeypatch) == 2
    assert "privmoo: people.csv has changed since the run" in capsys.readouterr().err
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "privmoo.toml").rename(tmp_path / "moved.toml")
    assert call("choose", done, "--knee", monkeypatch=monkeypatch) == 2
    assert "its job is no longer at" in capsys.readouterr().err
    (tmp_path / "moved.toml").rename(tmp_path / "privmoo.toml")
    (done / "front.npz").write_bytes(b"other")
    assert call("choose", done, "--knee", monkeypatch=monkeypatch) == 2
    assert "front.npz does not belong to run.json" in capsys.readouterr().err
    (done / "run.json").write_text('{"format": "privmoo run 1"}')
    assert call("choose", done, "--knee", monkeypatch=monkeypatch) == 2
    assert "was not written by privmoo run" in capsys.readouterr().err
    assert call("choose", tmp_path, "--knee", monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert (
        f"does not contain a finished run; compute one with privmoo run JOB -o {tmp_path}" in said
    )


def test_audit_and_analyse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    job, people = job_in(tmp_path), tmp_path / "people.csv"
    arguments = ["audit", people, "--qi", "age,zip", "--sensitive", "ill", "--json"]
    assert call(*arguments, monkeypatch=monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    frame = pd.read_csv(people)
    report = pm.audit.audit(frame, quasi_identifiers=["age", "zip"], sensitive=["ill"])
    assert found == json.loads(json.dumps(report.to_dict(), default=str)) and found["k"] == 1
    assert call("audit", people, "--qi", "age,zpi", monkeypatch=monkeypatch) == 2
    assert "did you mean 'zip'" in capsys.readouterr().err
    assert call("analyse", job, monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert said.index("left_out") < said.index("single out the most people")
    assert call("analyse", people, "--qi", "age,zip,ill", monkeypatch=monkeypatch) == 0
    assert call("analyse", people, "--qi", "age", monkeypatch=monkeypatch) == 2
    assert call("analyse", people, monkeypatch=monkeypatch) == 2
    assert "name the quasi-identifiers with --qi" in capsys.readouterr().err


def test_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    job, out = job_in(tmp_path), tmp_path / "study"
    arguments = ["compare", job, "-o", out, "--solvers", "nsga2,random", "--seeds", 2]
    arguments += ["--evaluations", 60, "--jobs", 1, "-q"]
    assert call(*arguments, monkeypatch=monkeypatch) == 0
    assert "BudgetSuppression, by hypervolume" in capsys.readouterr().out
    study = pm.Study.load(out / "study.zip")
    assert [s.name for s in study.solvers] == ["nsga2", "random"] and len(study.outcomes) == 4
    assert (out / "table.md").read_text() == study.to_markdown()
    assert (out / "table.tex").read_text() == study.to_latex()
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (out, *out.rglob("*"))}
    assert len(modes) > 10
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items()), modes
    assert call(*arguments, monkeypatch=monkeypatch) == 2
    assert "contains the results of a study" in capsys.readouterr().err
    arguments[5] = "nsga2,rndom"
    assert call(*arguments, "--force", monkeypatch=monkeypatch) == 2


def test_datasets_and_plugins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    assert call("datasets", monkeypatch=monkeypatch) == 0
    assert "german-credit" in capsys.readouterr().out
    file = tmp_path / "g.csv"
    assert call("datasets", "german-credit", "-o", file, monkeypatch=monkeypatch) == 0
    assert len(pd.read_csv(file)) == 1000
    assert call("datasets", "german-credit", "-o", file, monkeypatch=monkeypatch) == 2
    assert call("datasets", "german", monkeypatch=monkeypatch) == 2
    assert "did you mean 'german-credit'" in capsys.readouterr().err
    assert call("plugins", monkeypatch=monkeypatch) == 0
    assert "privmoo.measures" in capsys.readouterr().out


def test_without_a_verb_the_help_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    assert call("--help", monkeypatch=monkeypatch) == 0
    help_text = capsys.readouterr().out
    assert call(monkeypatch=monkeypatch) == 2
    shown = capsys.readouterr()
    assert shown.out.split() == help_text.split() and shown.err == ""


def test_ctrl_c_outside_the_search_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    def interrupted(self: pm.Config) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(pm.Config, "frame", interrupted)
    assert call("check", job_in(tmp_path), monkeypatch=monkeypatch) == 130
    assert capsys.readouterr().err == "privmoo: stopped\n"


def test_errors_are_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    assert call("chek", monkeypatch=monkeypatch) == 2
    assert "chek" in capsys.readouterr().err
    assert call("run", "x.toml", monkeypatch=monkeypatch) == 2
    assert "privmoo run --help" in capsys.readouterr().err
    assert call("check", tmp_path / "x.toml", monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err.endswith("x.toml: no such file\n")

    def broken(self: pm.Config) -> None:
        raise KeyError("Ada")

    monkeypatch.setattr(pm.Config, "frame", broken)
    assert call("check", job_in(tmp_path), monkeypatch=monkeypatch) == 1
    said = capsys.readouterr().err
    assert "internal error (KeyError in test_cli.py, line" in said and "Ada" not in said
    assert call("--show-values", "check", job_in(tmp_path), monkeypatch=monkeypatch) == 1
    assert "Ada" in capsys.readouterr().err


def test_values_are_shown_on_request_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    job = job_in(tmp_path, people=PEOPLE.replace("47", "147"))
    assert call("check", job, monkeypatch=monkeypatch) == 2
    said = capsys.readouterr().err
    assert "'age'" in said and "row 5" in said and "147" not in said
    assert call("--show-values", "check", job, monkeypatch=monkeypatch) == 2
    assert "(the value is 147)" in capsys.readouterr().err.replace("np.int64(147)", "147")


def test_limits() -> None:
    assert parse_limits([]) == {}
    assert parse_limits(["--max-at-risk-05", "3"]) == {"max_at_risk_05": 3.0}
    with pytest.raises(ProblemError):
        parse_limits(["max-loss", "3"])


def test_nothing_commands_the_terminal() -> None:
    assert printable("a\x1b]0;title\x07b\nc\r") == "a�]0;title�b\nc�"


@pytest.mark.skipif(os.name == "nt", reason="a pipe that closes is POSIX's")
def test_whoever_has_read_enough_is_not_complained_to(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    command = f"{sys.executable} -m privmoo.cli check {job} | head -1"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)  # noqa: S602
    assert shown.stdout.startswith("10 records, ") and shown.stderr == ""


def test_resuming_does_not_lose_generations(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    checkpoint = tmp_path / "out" / "checkpoint.log"
    checkpoint.parent.mkdir()
    pm.Config.load(job).optimize(progress=False, checkpoint=checkpoint)
    content = checkpoint.read_bytes()
    resume = ("run", "privmoo.toml", "-o", "out", "-q", "--resume")
    job_in(tmp_path, JOB.replace("generations = 5", "generations = 3"))
    refused = here(tmp_path, *resume)
    assert refused.is_one_sentence()
    assert "contains 5 generations, but the job now ends after 3; allow more in" in refused.err
    assert [path.name for path in checkpoint.parent.iterdir()] == ["checkpoint.log"]
    assert checkpoint.read_bytes() == content
    job_in(tmp_path)
    assert here(tmp_path, *resume).code == 0
    assert not checkpoint.exists()


def test_a_trade_off_is_resumed_from_the_logs_of_its_families(tmp_path: Path) -> None:
    text = JOB[: JOB.index("[problem]")] + (
        '[problem]\nname = "TradeOff"\nfamilies = ["cuts", "regions"]\n'
        "[search]\ngenerations = 2\nseed = 1\n"
    )
    job, out = job_in(tmp_path, text), tmp_path / "out"
    out.mkdir()
    pm.Config.load(job).optimize(progress=False, checkpoint=out / "checkpoint.log")
    assert {path.name for path in out.iterdir()} == {"checkpoint.log", "checkpoint.log.1"}
    (out / "checkpoint.log").unlink()
    refused = here(tmp_path, "run", "privmoo.toml", "-o", "out", "-q")
    assert "contains an interrupted run; continue it with --resume" in refused.err
    resumed = here(tmp_path, "run", "privmoo.toml", "-o", "out", "-q", "--resume")
    assert resumed.code == 0
    assert not list(out.glob("checkpoint.log*")) and (out / "front.npz").exists()


def test_a_job_without_a_problem_searches_every_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    text = JOB[: JOB.index("[problem]")] + "[search]\ngenerations = 1\nseed = 1\n"
    out = tmp_path / "out"
    assert call("run", job_in(tmp_path, text), "-o", out, "-q", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "TradeOff by trade-off" in said and "k ≥ 5" in said and "--solution " in said
    front = pm.Front.load(out / "front.npz")
    assert set(front.run["families"]) == {"levels", "cuts", "regions"}
    assert "families" in (out / "front.html").read_text(encoding="utf-8")


def test_interrupting_leaves_a_checkpoint(tmp_path: Path) -> None:
    text = JOB.replace("generations = 5", "seconds = 60")
    job, out = job_in(tmp_path, text), tmp_path / "out"
    command = [sys.executable, "-m", "privmoo.cli", "run", str(job), "-o", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not (out / "checkpoint.log").exists():
            time.sleep(0.05)
            assert process.poll() is None
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert "stopped; continue with: privmoo run" in said
    assert [path.name for path in out.iterdir()] == ["checkpoint.log"]
    assert (out / "checkpoint.log").stat().st_mode & 0o077 == 0


def test_an_interruption_while_modules_load_is_quiet(tmp_path: Path) -> None:
    """Python reads `sitecustomize` first; here it interrupts the first import of the command line."""
    (tmp_path / "sitecustomize.py").write_text(
        "import builtins\n"
        "usual = builtins.__import__\n"
        "def interrupted(name, *rest, **options):\n"
        "    if name == 'typer':\n"
        "        raise KeyboardInterrupt\n"
        "    return usual(name, *rest, **options)\n"
        "builtins.__import__ = interrupted\n"
    )
    places = os.pathsep.join([str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    command = [sys.executable, "-m", "privmoo.cli", "--help"]
    ended = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": places}, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_a_run_takes_a_focus(tmp_path: Path) -> None:
    job_in(tmp_path, JOB.replace("generations = 5", "generations = 24"))
    options = ("--focus", "k=2:4", "--focus", "loss=0.1:0.5")
    assert here(tmp_path, "run", "privmoo.toml", "-o", "out", "-q", *options).code == 0
    marks = pm.Front.load(tmp_path / "out" / "front.npz").run["polish"]["marks"]
    assert marks["k"] == [2, 3, 4] and marks["loss"][:: len(marks["loss"]) - 1] == [0.1, 0.5]


@pytest.mark.parametrize(
    ("focus", "message"),
    [
        ("k", "focus: must look like k=3:50"),
        ("k=3:many", "focus: must look like k=3:50"),
        ("k=50:3", "must be two numbers, the smaller first"),
        ("age=1:2", "focus: 'age' is not an objective"),
    ],
)
def test_a_wrong_focus_is_told(tmp_path: Path, focus: str, message: str) -> None:
    job_in(tmp_path)
    said = here(tmp_path, "run", "privmoo.toml", "-o", "out", "-q", "--focus", focus)
    assert said.code != 0 and message in said.err
