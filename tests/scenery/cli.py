"""The command line in processes of its own that can be killed, on a small job, for tests of faults.

A server imports privmoo once and forks for every command, so that many hundreds can be tried; what runs
in the fork is `privmoo.cli.main.main` and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from privmoo.cli.console import state
from privmoo.cli.main import main

_SERVER = """
import json, os, resource, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot, pandas, pyarrow.parquet, rich.table
import privmoo.audit, privmoo.baselines, privmoo.study, privmoo.config, privmoo.explorer.page
import privmoo.front, privmoo.plot, privmoo.release.release, privmoo.search, privmoo.cli.main
# What every command would do again: load Pillow, fonts, pydantic, and the compiler without its threads.
import contextlib, io, numba
matplotlib.pyplot.figure().savefig(io.BytesIO(), format="png")
matplotlib.pyplot.close("all")
numba.njit(lambda x: x + 1)(1)
sys.argv = ["privmoo", "check", "no/such/job.toml"]
with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
    privmoo.cli.main.main()
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, name in enumerate((os.devnull, asked["out"], asked["err"])):
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(handle, number)
            os.close(handle)
        os.chdir(asked["folder"])
        for name, value in asked["limits"].items():
            resource.setrlimit(getattr(resource, name), (value, resource.RLIM_INFINITY))
        sys.argv = ["privmoo", *asked["arguments"]]
        privmoo.cli.main.main()
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (below 0, a signal), and what it said."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def said(self) -> str:
        return self.out + self.err

    def is_one_sentence(self) -> bool:
        """Wrong input: exit code 2, one line on the standard error, no traceback."""
        lines = self.err.splitlines()
        told = [line for line in lines if line.startswith("privmoo: ")]
        return self.code == 2 and len(lines) == len(told) == 1 and len(lines[0]) < 2000


class CommandLine:
    """Commands in a folder, each in a process of its own."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    def _ask(self, request: dict[str, Any]) -> int:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-c", _SERVER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self._answer()
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return int(self._answer())

    def _answer(self) -> str:
        assert self._server is not None and self._server.stdout is not None
        line = self._server.stdout.readline()
        assert line, "the server of commands has died"
        return line.strip()

    def close(self) -> None:
        if self._server is not None:
            assert self._server.stdin is not None
            self._server.stdin.close()
            self._server.wait(60)
            assert self._server.stdout is not None
            self._server.stdout.close()
            self._server = None

    def __call__(
        self,
        folder: Path,
        *arguments: object,
        meanwhile: Callable[[int], None] | None = None,
        limits: dict[str, int] | None = None,
        out: str | None = None,
        err: str | None = None,
    ) -> Ended:
        """Run a command; `meanwhile` is called with its process id."""
        said = Path(tempfile.gettempdir()) / f"privmoo-said-{os.getpid()}"
        names = [out or f"{said}.out", err or f"{said}.err"]
        request = {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(folder),
            "out": names[0],
            "err": names[1],
            "limits": limits or {},
        }
        began = time.perf_counter()
        process = self._ask(request)
        if meanwhile is not None:
            meanwhile(process)
        code = int(self._answer())
        seconds = time.perf_counter() - began
        texts = []
        for name in names:
            regular = Path(name).is_file()
            texts.append(Path(name).read_text(encoding="utf-8") if regular else "")
            if regular:
                Path(name).unlink()
        return Ended(code, texts[0], texts[1], seconds)


def here(folder: Path, *arguments: object) -> Ended:
    """A command in this process: as quick as a call."""
    said, told = io.StringIO(), io.StringIO()
    typed, handler = sys.argv, signal.getsignal(signal.SIGTERM)
    state.data, state.show_values = None, False
    sys.argv = ["privmoo", *map(str, arguments)]
    try:
        with contextlib.chdir(folder), redirect_stdout(said), redirect_stderr(told):
            main()
    except SystemExit as end:
        return Ended(int(str(end.code)), said.getvalue(), told.getvalue(), 0)
    finally:
        sys.argv = typed
        signal.signal(signal.SIGTERM, handler)
        plt.close("all")
    raise AssertionError("a command ends with its exit code")


def after(seconds: float, number: int = signal.SIGKILL) -> Callable[[int], None]:
    """Send a signal after some time; a process that has ended by then is left alone."""

    def send(process: int) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not _is_dead(process):
            time.sleep(0.002)
        _send(process, number)

    return send


def when_there(
    folder: Path, pattern: str, delay: float = 0.0, number: int = signal.SIGKILL
) -> Callable[[int], None]:
    """Send a signal when a file appears in a folder."""

    def send(process: int) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end and Path(f"/proc/{process}/fd").exists():
            if any(folder.glob(pattern)):
                break
            if _is_dead(process):
                return
        time.sleep(delay)
        _send(process, number)

    return send


def _is_dead(process: int) -> bool:
    try:
        return " Z " in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return True


def _send(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return


JOB = """
[data]
file = "people.csv"

[columns]
name = "identifying"
ill = "sensitive"
sex = { role = "quasi-identifying", hierarchy = "flat" }
age = { role = "quasi-identifying", hierarchy = "ordered" }
job = { role = "quasi-identifying", hierarchy = "job.csv" }

[search]
population = 20
generations = 12
seed = 7
"""
TREE = "a;x;*\nb;x;*\nc;x;*\nd;y;*\ne;y;*\nf;y;*\n"


def people(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"person-{i}" for i in range(rows)],
            "age": rng.integers(20, 60, rows),
            "job": rng.choice(list("abcdef"), rows),
            "sex": rng.choice(list("fm"), rows),
            "ill": rng.choice(["flu", "cold", "none"], rows),
        }
    )


def small_job(folder: Path, *, generations: int = 12) -> Path:
    """A job that takes a second or two."""
    folder.mkdir(parents=True, exist_ok=True)
    people().to_csv(folder / "people.csv", index=False)
    (folder / "job.csv").write_text(TREE)
    job = folder / "job.toml"
    job.write_text(JOB.replace("generations = 12", f"generations = {generations}"))
    return job


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def state_of(folder: Path) -> dict[str, str]:
    """Every file below a folder, hidden ones too, by its hash."""
    return {str(p.relative_to(folder)): hash_of(p) for p in folder.rglob("*") if p.is_file()}


def check_run(out: Path) -> None:
    """A finished run is whole: run.json can be read, and what it names has the hash it says."""
    facts = json.loads((out / "run.json").read_text())
    for name, expected in facts["files"].items():
        assert hash_of(out / name) == expected, name


def check_release(target: Path) -> None:
    """A release that is there has its certificate, which is about it."""
    stated = json.loads(target.with_name(f"{target.stem}.certificate.json").read_text())
    assert stated["release"]["sha256"] == hash_of(target)
    text = target.with_name(f"{target.stem}.certificate.txt").read_text()
    assert stated["release"]["sha256"] in text
