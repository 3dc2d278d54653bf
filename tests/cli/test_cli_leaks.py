"""Nothing leaks: markers that are planted in a table turn up nowhere that they should not."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from privmoo._util.reading import read_csv, read_strings
from privmoo.audit import audit
from privmoo.config import Config
from tests.scenery.cli import CommandLine, here, small_job
from tests.scenery.markers import INDEX, NAMES, RARE, SECRET, Planted, everything, markers, planted
from tests.scenery.parameters import first_in_make_test

Tried = Callable[[str], None]
FEW = settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=[Phase.generate],  # to make a failing table smaller would take an hour
)
MANY = settings(FEW, max_examples=60)


def through_all_verbs(case: Planted, tried: Tried) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "job"
        case.write(folder)
        given_files = {path.name for path in folder.iterdir()}
        said = ""
        best = ["--best", "loss", "--min-k", "2"]
        for verb in (
            ["check", "job.toml"],
            ["run", "job.toml", "-o", "out"],
            ["choose", "out"],
            ["choose", "out", *best],
            ["release", "out", *best, "-o", "public.csv"],
            ["release", "out", *best, "-o", "other.parquet"],
            ["release", "out", *best, "-o", "safe.csv", "--csv-safe", "--report", "page.html"],
        ):
            ended = here(folder, *verb)
            if ended.code == 3:  # nothing keeps k >= 2
                assert not markers(ended.said, NAMES, RARE, SECRET, INDEX)
                return
            assert ended.code == 0, ended.err
            said += ended.said
            tried("inputs: tables with markers")
        Config.load(folder / "job.toml").optimize(progress=False, checkpoint=folder / "check.log")
        assert not markers(said, NAMES, RARE, SECRET, INDEX)
        written = {
            file: text for file, text in everything(folder).items() if file not in given_files
        }
        assert len(written) == 19, sorted(written)
        for file, text in written.items():
            # Rare values stand alone, and every solution has groups of two: they are in no file at all.
            assert not markers(text, NAMES, RARE, INDEX), file
            rows = file in ("public.csv", "other.parquet", "safe.csv")
            assert rows or not markers(text, SECRET), file
        # Sensitive values are released, but not those of suppressed records.
        table = Config.load(folder / "job.toml").table
        for file in ("public.csv", "safe.csv", "other.parquet"):
            path = folder / file
            frame = pd.read_parquet(path) if path.suffix == ".parquet" else read_csv(path)
            assert list(frame.columns) == ["city", "age", "ill"]
            known = tuple(map(str, frame["ill"]))  # in a Parquet file other bytes may follow
            assert all(found.startswith(known) for found in markers(written[file], SECRET))
            assert len(frame) <= table.n_records
        schema = pq.read_schema(folder / "other.parquet")
        assert schema.names == ["city", "age", "ill"]
        index = json.loads(schema.metadata[b"pandas"])["index_columns"]
        assert all(isinstance(entry, dict) and entry["kind"] == "range" for entry in index)
        private(folder / "out")
        no_pickles(folder / "out" / "front.npz")


def no_pickles(path: Path) -> None:
    """Arrays of numbers and JSON, nothing else."""
    with np.load(path, allow_pickle=False) as parts:
        assert parts.files
        for name in parts.files:
            part = parts[name]
            assert json.loads(part) if isinstance(part, bytes) else part.dtype != object


def private(out: Path) -> None:
    """Only its owner can read what is made from the data."""
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    for path in out.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


@FEW
@given(case=planted())
def test_markers_turn_up_nowhere(case: Planted, tried: Tried) -> None:
    through_all_verbs(case, tried)


@pytest.mark.slow
@MANY
@given(case=planted())
def test_markers_turn_up_nowhere_in_many_tables(case: Planted, tried: Tried) -> None:
    through_all_verbs(case, tried)


def test_a_checkpoint_is_private_and_has_no_values(tmp_path: Path) -> None:
    case = planted_once()
    case.write(tmp_path / "job")
    log = tmp_path / "check.log"
    Config.load(tmp_path / "job" / "job.toml").optimize(progress=False, checkpoint=log)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert not markers(log.read_bytes().decode("latin-1"), NAMES, RARE, SECRET, INDEX)


def planted_once(rows: int = 100) -> Planted:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "person": [f"{NAMES}{i}" for i in range(rows)],
            "city": [f"{RARE}0", *rng.choice(["town0", "town1"], rows - 1)],
            "age": rng.integers(18, 90, rows),
            "ill": [f"{SECRET}0", *rng.choice(["flu", "cold"], rows - 1)],
        }
    )
    return Planted(frame, f"town0;south;*\ntown1;north;*\n{RARE}0;south;*\n", parquet=False)


@pytest.mark.faults
def test_a_study_has_no_values(tmp_path: Path, command: CommandLine) -> None:
    folder = tmp_path / "job"
    planted_once().write(folder)
    ended = command(
        folder, "compare", "job.toml", "-o", "study", "--seeds", 2, "--evaluations", 30,
        "--solvers", "nsga2,random", "--jobs", 1,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert stat.S_IMODE((folder / "study").stat().st_mode) == 0o700
    texts = everything(folder / "study")
    assert "study.zip" in texts
    for file, text in {**texts, "output": ended.said}.items():
        assert not markers(text, NAMES, RARE, SECRET, INDEX), file


def test_a_front_with_k_1_is_for_its_publisher_only(tmp_path: Path) -> None:
    """Solutions that publish values as they are name them in front.html: hence its rights."""
    folder = tmp_path / "job"
    planted_once().write(folder, constraints='["k >= 1"]')
    assert here(folder, "run", "job.toml", "-o", "out", "-q").code == 0
    texts = everything(folder / "out")
    for file, text in texts.items():
        assert not markers(text, NAMES, SECRET, INDEX), file
    private(folder / "out")
    ended = here(folder, "release", "out", "--best", "loss", "--min-k", "2", "-o", "public.csv")
    assert ended.code == 0, ended.err
    for path in folder.glob("public.*"):
        assert not markers(path.read_text(), NAMES, RARE, INDEX), path.name


def test_releases_have_an_order_of_their_own(tmp_path: Path) -> None:
    folder, rows = tmp_path / "job", 4000
    case = planted_once(rows)
    frame = case.frame.assign(ill=np.where(np.arange(rows) < rows // 2, "flu", "cold"))
    frame.loc[0, "city"] = "town0"
    frame["visit"] = np.arange(rows)
    Planted(frame, case.tree, parquet=True).write(folder)
    job = folder / "job.toml"
    job.write_text(job.read_text().replace("[problem]", 'visit = "insensitive"\n[problem]'))
    assert here(folder, "run", "job.toml", "-o", "out", "-q").code == 0
    orders = []
    for name in ("a.csv", "b.csv", "c.parquet"):
        ended = here(folder, "release", "out", "--best", "k", "-o", name)
        assert ended.code == 0 and "visit" in ended.err  # that it is nearly unique is told
        path = folder / name
        made = pd.read_parquet(path) if name.endswith("parquet") else pd.read_csv(path)
        visits = made["visit"].to_numpy()
        order = np.argsort(np.argsort(visits))
        place = np.arange(len(order))
        assert abs(np.corrcoef(place, order)[0, 1]) < 6 / np.sqrt(len(order))
        assert (np.diff(order) == 1).mean() < 0.01
        orders.append(visits.tolist())
    assert orders[0] != orders[1] and orders[1] != orders[2]


SPOILED = {
    "not in the hierarchy": ("city", "valuemark", "city"),
    "not in an interval": ("age", "987654", "age"),
    "not a number": ("age", "valuemark", "age"),
}


@pytest.mark.parametrize("why", SPOILED)
@pytest.mark.parametrize("verb", [["check", "job.toml"], ["run", "job.toml", "-o", "out"]])
def test_messages_name_the_place_and_not_the_value(
    tmp_path: Path, why: str, verb: list[str], tried: Tried
) -> None:
    column, value, told = SPOILED[why]
    folder = tmp_path / "job"
    case = planted_once()
    frame = case.frame.astype({column: object})
    frame.loc[17, column] = value
    Planted(frame, case.tree, parquet=False).write(folder)
    ended = here(folder, *verb)
    tried("inputs: values that messages must not show")
    assert ended.is_one_sentence(), ended
    assert f"{told!r}" in ended.err and "17" in ended.err
    assert value not in ended.said and not markers(ended.said, NAMES, RARE, SECRET)
    ended = here(folder, "--show-values", *verb)
    assert ended.is_one_sentence(), ended
    assert value in ended.err and not markers(ended.said, NAMES, RARE, SECRET)


@pytest.mark.parametrize("start", first_in_make_test("=+-@\t'"))
def test_cells_that_spreadsheets_would_execute(tmp_path: Path, start: str, tried: Tried) -> None:
    folder = tmp_path / "job"
    small_job(folder)
    frame = pd.read_csv(folder / "people.csv")
    frame["job"] = start + frame["job"]
    frame["ill"] = start + frame["ill"]
    frame.to_csv(folder / "people.csv", index=False)
    tree = (folder / "job.csv").read_text().splitlines()
    (folder / "job.csv").write_text("".join(f"{start}{line}\n" for line in tree))
    assert here(folder, "run", "job.toml", "-o", "out", "-q").code == 0
    unique = "--allow-unique"  # the least loss is that of values as they are
    for options, file in ([], "plain.csv"), (["--csv-safe"], "safe.csv"):
        ended = here(folder, "release", "out", "--best", "loss", "-o", file, unique, *options)
        tried("inputs: cells like formulas")
        assert ended.code == 0, ended.err
    plain, safe = (read_strings(folder / name, separator=",") for name in ("plain.csv", "safe.csv"))
    for column in safe:
        assert not safe[column].str.startswith(("=", "+", "-", "@", "\t", "\r")).any()
        back = safe[column].str.replace(r"^'(?=[=+@'\t\r-])", "", regex=True)
        assert sorted(back) == sorted(plain[column])
    stated = json.loads((folder / "safe.certificate.json").read_text())
    k = [audit(t, quasi_identifiers=["age", "job", "sex"], sensitive=[]).k for t in (plain, safe)]
    assert k[0] == k[1] == stated["privacy"]["k"]


def test_files_hold_no_pickles(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    small_job(folder, generations=3)
    assert here(folder, "run", "job.toml", "-o", "out", "-q").code == 0
    no_pickles(folder / "out" / "front.npz")
    assert not [p for p in folder.rglob("*") if p.suffix in (".pkl", ".pickle")]
    assert os.access(folder / "out" / "run.json", os.R_OK)
