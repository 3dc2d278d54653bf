"""What pip would install: the content of wheel and sdist, and an import from a clean place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.scenery.paths import TOP

PACKED = {".py", ".pyi", ".gz", ".csv", ".md", ".js", ".css"}


def export(to: Path) -> Path:
    """Copy what a checkout of the working tree would contain, so that building leaves it clean."""
    to.mkdir(parents=True)
    if (TOP / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=TOP, capture_output=True, check=True).stdout.decode()
        for name in filter(None, listed.split("\0")):
            if os.path.lexists(TOP / name):  # deleted but not yet committed files are listed too
                (to / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(TOP / name, to / name, follow_symlinks=False)
    else:
        junk = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "demo")
        shutil.copytree(TOP, to, symlinks=True, dirs_exist_ok=True, ignore=junk)
    return to


def build(source: Path, out: Path, kind: str) -> Path:
    """Build one archive with the environment's own setuptools: offline, and much quicker."""
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", str(out)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (archive,) = out.iterdir()
    return archive


def modules(top: Path) -> set[str]:
    """Paths, inside the installed package, of all modules and data files of the source tree."""
    found = set()
    for folder in ("privmoo", "problems", "operators"):
        for path in (top / folder).rglob("*"):
            inside = path.relative_to(top)
            linked = any((top / parent).is_symlink() for parent in inside.parents)
            wanted = path.suffix in PACKED or path.name == "py.typed"
            if path.is_file() and wanted and not linked:
                prefix = "" if folder == "privmoo" else "privmoo/"
                found.add(prefix + inside.as_posix())
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("source") / "privmoo")


@pytest.fixture(scope="module")
def expected(source: Path) -> set[str]:
    return modules(source)


@pytest.fixture(scope="module")
def sdist(source: Path, expected: set[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(source, tmp_path_factory.mktemp("sdist"), "sdist")


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the unpacked sdist: what `pip install privmoo.tar.gz` would do."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (folder,) = unpacked.iterdir()
    return build(folder, tmp_path_factory.mktemp("wheel"), "wheel")


def test_expected_rooms_exist(expected: set[str]) -> None:
    assert {
        "privmoo/__init__.py",
        "privmoo/py.typed",
        "privmoo/problems/__init__.py",
        "privmoo/operators/__init__.py",
        "privmoo/measures/__init__.py",
        "privmoo/datasets/README.md",
        "privmoo/datasets/adult_train.csv.gz",
        "privmoo/explorer/1_base.js",
        "privmoo/explorer/explorer.css",
    } <= expected


def test_wheel_content(wheel: Path, expected: set[str]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    info = {name for name in names if ".dist-info/" in name}
    assert set(names) - info == expected
    assert len(names) == len(set(names))
    assert not [name for name in names if Path(name).name.startswith(("conftest", "test_"))]
    assert any(name.endswith("/licenses/LICENSE") for name in info)


def test_sdist_content(sdist: Path, expected: set[str]) -> None:
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    inside = {member.name.partition("/")[2] for member in members if member.isfile()}
    assert not [member.name for member in members if member.issym() or member.islnk()]
    # The two rooms lie at the top, once: not a second time behind the links of the checkout.
    home = {name.replace("privmoo/problems/", "problems/") for name in expected}
    home = {name.replace("privmoo/operators/", "operators/") for name in home}
    assert home | {"pyproject.toml", "README.md", "LICENSE"} <= inside
    assert not [
        name for name in inside if name.startswith(("privmoo/problems", "privmoo/operators"))
    ]
    extra = {"PKG-INFO", "setup.cfg", "pyproject.toml", "README.md", "LICENSE"}
    left = {name for name in inside - home - extra if not name.startswith("privmoo.egg-info/")}
    # setuptools adds the test modules to every sdist; nothing else may come along.
    assert not {name for name in left if not name.startswith("tests/test_")}


@pytest.mark.faults
def test_clean_install(wheel: Path, expected: set[str], tmp_path: Path) -> None:
    """The wheel alone works: privmoo comes from the new environment, only its dependencies do not.

    Downloading them again would take minutes, so a .pth file lends the running environment's
    site-packages. Its editable privmoo is not visible: .pth files in a lent folder are not read.
    """
    home = tmp_path / "clean"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    install += ["install", "--no-deps", "--no-index", str(wheel)]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (site,) = home.glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")

    names = sorted(
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in expected
        if name.endswith(".py") and not name.endswith("__main__.py")
    )
    code = (
        "import importlib, json, sys\n"
        "names = json.loads(sys.argv[1])\n"
        "files = [importlib.import_module(name).__file__ for name in names]\n"
        "import privmoo.datasets\n"
        "print(json.dumps([files, len(privmoo.datasets.adult_frame())]))\n"
    )
    done = subprocess.run(
        [str(python), "-I", "-c", code, json.dumps(names)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba"), "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    files, rows = json.loads(done.stdout.splitlines()[-1])
    assert all(Path(file).is_relative_to(site) for file in files)
    assert "privmoo.problems" in names and "privmoo.operators" in names
    assert rows == 32561


@pytest.mark.parametrize("room", ["problems", "operators"])
def test_rooms_refuse_a_top_level_name(room: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {room}"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(TOP)},
    )
    assert done.returncode == 1
    assert f"ImportError: the folder {room} is the package privmoo.{room}" in done.stderr


def test_a_search_imports_neither_learners_nor_plots() -> None:
    code = (
        "import sys\n"
        "import privmoo as pm\n"
        "pm.optimize(pm.problems.Cuts(pm.testing.example_table()), budget=1, seed=1, progress=False)\n"
        "late = {'matplotlib', 'scipy.stats', 'sklearn'} & set(sys.modules)\n"
        "assert not late, late"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
