"""Targets for fuzzing: whatever the bytes, only errors of privmoo's own come out.

Inputs are small files with pieces of good ones in them, and good ones with bytes changed. By Hypothesis
alone: atheris has wheels for a few systems only, and what the tests need must install everywhere.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from privmoo.cli.run_folder import RunFolder
from privmoo.config import Config
from privmoo.data.table import Table
from privmoo.errors import PrivmooError
from privmoo.front import Front
from privmoo.hierarchy import Hierarchy
from privmoo.search.log import RunLog
from privmoo.study import Study, compare
from tests.scenery.cli import JOB, TREE, here, people, small_job

_WORDS = [
    "*",
    ";",
    ",",
    '"',
    "\n",
    "\r",
    "\t",
    "\0",
    "\ufeff",
    "a",
    "1",
    "-1",
    "1e999",
    "nan",
    "'",
    "é",
    "=",
    "\\",
]
_TOML = [
    "[data]\n", "[columns]\n", "[problem]\n", "[search]\n", "[columns.age]\n", 'file = "people.csv"\n',
    'role = "quasi-identifying"\n', 'hierarchy = "flat"\n', 'hierarchy = { kind = "intervals", ',
    "low = 0, high = 9", "widths = [1, 2]", " }\n", 'name = "Cuts"\n', "seed = 1\n", "seed = nan\n",
    "population = ", "generations = ", "9" * 30, "-1", "inf", "true", "[]", "{}", '""', "1979-05-27",
    'objectives = ["k", "loss"]\n', 'constraints = ["k >= 2"]\n', 'suppression = { policy = "Budget" }\n',
    'age = "quasi-identifying"\n', "weight = ", "max_level = ", "fixed_cuts = ", "[[", "]]", ".", "=", "#",
]  # fmt: skip


def texts(pieces: list[str]) -> st.SearchStrategy[bytes]:
    """Texts of known pieces and any letters, in several encodings."""
    piece = st.one_of(st.sampled_from(pieces), st.text(max_size=6))
    text = st.lists(piece, max_size=30).map("".join)
    return st.one_of(
        text.map(lambda t: t.encode("utf-8", "surrogatepass")),
        text.map(lambda t: t.encode("utf-16", "surrogatepass")),
        st.binary(max_size=200),
    )


def changed(good: bytes) -> st.SearchStrategy[bytes]:
    """A good file, some bytes of which are others, missing or twice."""

    def change(edits: list[tuple[int, int, bytes]]) -> bytes:
        content = good
        for place, length, new in edits:
            at = place % (len(content) + 1)
            content = content[:at] + new + content[at + length :]
        return content

    edit = st.tuples(st.integers(0, 1 << 30), st.integers(0, 12), st.binary(max_size=6))
    word = st.sampled_from([w.encode() for w in (*_WORDS, *_TOML)])
    worded = st.tuples(st.integers(0, 1 << 30), st.integers(0, 12), word)
    return st.lists(st.one_of(edit, worded), min_size=1, max_size=4).map(change)


def only_own_errors(function: Callable[[], object]) -> None:
    said = "nothing"
    try:
        function()
    except PrivmooError as error:
        said = str(error)
    assert said and "\n" not in said


def read_hierarchy(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "tree.csv")
        path.write_bytes(content)
        only_own_errors(lambda: Hierarchy.read_csv(path))


def read_job(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        small_job(Path(name))
        path = Path(name, "job.toml")
        path.write_bytes(content)
        only_own_errors(lambda: Config.load(path).problem)


def read_records(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "people.csv")
        path.write_bytes(content)
        roles = {"age": Hierarchy.ordered(), "job": Hierarchy.flat()}
        only_own_errors(lambda: Table.read_csv(path, quasi_identifiers=roles, sensitive="ill"))
        only_own_errors(lambda: Table.read_csv(path, quasi_identifiers=["a"]))


def read_parquet(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "people.parquet")
        path.write_bytes(content)
        only_own_errors(lambda: Table.read_parquet(path, quasi_identifiers=["age"]))


def read_front(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "front.npz")
        path.write_bytes(content)
        only_own_errors(lambda: Front.load(path))


def read_study(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "study.zip")
        path.write_bytes(content)
        only_own_errors(lambda: Study.load(path))


def read_log(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "checkpoint.log")
        path.write_bytes(content)
        only_own_errors(lambda: RunLog.seed_in(path))
        only_own_errors(lambda: RunLog(path, {"seed": 7}, width=2).close())


def read_facts(content: bytes) -> None:
    """What stands in run.json and released.json, and in the head of a front."""
    with tempfile.TemporaryDirectory() as name:
        folder = RunFolder(name)
        for file in ("run.json", "released.json"):
            Path(name, file).write_bytes(content)
        only_own_errors(folder.facts)
        only_own_errors(folder.load)
        only_own_errors(folder.releases)


@cache
def good_run() -> Path:
    folder = Path(tempfile.mkdtemp())
    small_job(folder, generations=2)
    assert here(folder, "run", "job.toml", "-o", "out", "-q").code == 0
    return folder / "out"


@cache
def good_study() -> Path:
    folder = Path(tempfile.mkdtemp())
    problem = Config.load(small_job(folder)).problem
    solvers = {"random": "random"}
    study = compare({"p": problem}, solvers, seeds=2, budget=200, jobs=1, progress=False)
    study.save(folder / "study.zip")
    return folder / "study.zip"


def fronts() -> st.SearchStrategy[bytes]:
    good = good_run() / "front.npz"
    return st.one_of(changed(good.read_bytes()), _parts(good), st.binary(max_size=100))


def studies() -> st.SearchStrategy[bytes]:
    return st.one_of(changed(good_study().read_bytes()), _parts(good_study()))


def logs() -> st.SearchStrategy[bytes]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "checkpoint.log")
        with RunLog(path, {"seed": 7}, width=2) as log:
            log.add([b"a", b"b"], np.array([[1.0, 2.0], [3.0, 4.0]]))
            log.end_generation(1, 0.5)
        return st.one_of(changed(path.read_bytes()), st.binary(max_size=100))


def _parts(good: Path) -> st.SearchStrategy[bytes]:
    """A whole archive with a part of it changed: its checksums are right."""

    def made(part: tuple[int, bytes]) -> bytes:
        with tempfile.TemporaryDirectory() as name:
            target = Path(name, "changed")
            with zipfile.ZipFile(good) as old, zipfile.ZipFile(target, "w") as new:
                names = old.namelist()
                for i, file in enumerate(names):
                    content = part[1] if i == part[0] % len(names) else old.read(file)
                    new.writestr(file, content)
            return target.read_bytes()

    with zipfile.ZipFile(good) as archive:
        parts = [archive.read(name) for name in archive.namelist()]
    return st.integers(0, len(parts) - 1).flatmap(
        lambda i: st.tuples(st.just(i), changed(parts[i])).map(made)
    )


def facts() -> st.SearchStrategy[bytes]:
    good = (good_run() / "run.json").read_bytes()
    plain = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=8,
    )
    keys = st.sampled_from(["format", "config", "inputs", "files"])
    entries = st.dictionaries(keys, plain).map(
        lambda d: json.dumps({"format": "privmoo run 1", **d}).encode()
    )
    return st.one_of(changed(good), entries, plain.map(lambda d: json.dumps(d).encode()))


def records() -> st.SearchStrategy[bytes]:
    small = people(12).to_csv(index=False).encode()
    return st.one_of(changed(small), texts([*_WORDS, "age", "job", "ill", "a,b\n1,2\n", "x\n"]))


def parquet() -> st.SearchStrategy[bytes]:
    with tempfile.TemporaryDirectory() as name:
        pd.DataFrame({"age": [1, 2, 3], "job": list("aab")}).to_parquet(Path(name, "a.parquet"))
        return changed(Path(name, "a.parquet").read_bytes())


TARGETS: dict[str, tuple[Callable[[bytes], None], Callable[[], st.SearchStrategy[bytes]]]] = {
    "hierarchy": (read_hierarchy, lambda: st.one_of(changed(TREE.encode()), texts(_WORDS))),
    "job": (read_job, lambda: st.one_of(changed(JOB.encode()), texts(_TOML))),
    "records": (read_records, records),
    "parquet": (read_parquet, parquet),
    "front": (read_front, fronts),
    "study": (read_study, studies),
    "checkpoint": (read_log, logs),
    "run": (read_facts, facts),
}
