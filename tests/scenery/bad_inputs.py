"""Files that no command can use: damaged, foreign, gigantic, contradictory."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from tests.scenery.cli import JOB, people

Spoil = Callable[[Path], None]


def _text(content: str | bytes) -> Spoil:
    """The records replaced by something else."""

    def write(folder: Path) -> None:
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / "people.csv").write_bytes(raw)

    return write


def _as(name: str, content: bytes) -> Spoil:
    """Records of another kind of file."""

    def write(folder: Path) -> None:
        (folder / name).write_bytes(content)
        (folder / "people.csv").unlink()
        _job('"people.csv"', f'"{name}"')(folder)

    return write


def _job(old: str, new: str) -> Spoil:
    def write(folder: Path) -> None:
        text = (folder / "job.toml").read_text()
        assert old in text
        (folder / "job.toml").write_text(text.replace(old, new))

    return write


def _tree(content: str | bytes) -> Spoil:
    def write(folder: Path) -> None:
        (folder / "job.csv").write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )

    return write


def _no(name: str) -> Spoil:
    return lambda folder: (folder / name).unlink()


def _folder(name: str) -> Spoil:
    def make(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return make


def _pipe(name: str) -> Spoil:
    def make(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return make


def _closed(name: str) -> Spoil:
    return lambda folder: (folder / name).chmod(0)


def _whole(content: str | bytes) -> Spoil:
    def write(folder: Path) -> None:
        (folder / "job.toml").write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )

    return write


CSV = people().to_csv(index=False)
RAW = CSV.encode()
JUNK = np.random.default_rng(3).bytes(20_000)
LATIN = CSV.replace("flu", "grippe à").encode("latin-1")

# Wrong for every command that reads the records.
DATA: dict[str, Spoil] = {
    "missing": _no("people.csv"),
    "a folder": _folder("people.csv"),
    "a pipe": _pipe("people.csv"),
    "empty": _text(""),
    "blank lines": _text("\n\n\n"),
    "only a header": _text("name,age,job,sex,ill\n"),
    "binary": _text(JUNK),
    "binary zeros": _text(bytes(5000)),
    "a NUL byte": _text(RAW[:2000] + b"\0" + RAW[2000:]),
    "a gigantic field": _text(RAW + b"x," + b"y" * 50_000_000 + b",a,f,flu\n"),
    "a gigantic quoted field": _text(RAW + b'x,"' + b"y\n" * 25_000_000 + b'",a,f,flu\n'),
    "a gigantic line without end": _text(b"y" * 50_000_000),
    "latin-1": _text(LATIN),
    "UTF-16": _text(CSV.encode("utf-16")),
    "UTF-16 without mark": _text(CSV.encode("utf-16-le")),
    "UTF-32": _text(CSV.encode("utf-32")),
    "open quotes": _text(CSV + 'x,"31,a,f,flu\n'),
    "quotes inside": _text(CSV + 'x,"3"1,a,f,flu\n'),
    "a short row": _text(CSV + "x,31\n"),
    "a long row": _text(CSV + "x,31,a,f,flu,more\n"),
    "one column": _text("name\n" + "x\n" * 50),
    "names twice": _text(CSV.replace("name,age", "age,age", 1)),
    "no names": _text(CSV.replace("name,age,job,sex,ill", ",,,,", 1)),
    "other columns": _text(CSV.replace("age", "years", 1)),
    "ten thousand columns, names twice": _text(
        ",".join(f"c{i % 9999}" for i in range(10_000)) + "\n" + ",".join(["1"] * 10_000) + "\n"
    ),
    "truncated gzip": _as("people.csv.gz", gzip.compress(RAW)[:-900]),
    "gzip without its end": _as("people.csv.gz", gzip.compress(RAW)[:-4]),
    "changed gzip": _as(
        "people.csv.gz", gzip.compress(RAW)[:300] + b"#" + gzip.compress(RAW)[301:]
    ),
    "no gzip": _as("people.csv.gz", RAW),
    "no Parquet": _as("people.parquet", RAW),
    "empty Parquet": _as("people.parquet", b""),
    "Parquet only in name": _as("people.parquet", b"PAR1" + JUNK + b"PAR1"),
}


def _truncated_parquet(folder: Path) -> None:
    people().to_parquet(folder / "whole.parquet")
    content = (folder / "whole.parquet").read_bytes()
    _as("people.parquet", content[: len(content) // 2] + content[-8:])(folder)


def _nested_parquet(folder: Path) -> None:
    frame = people()
    frame["age"] = pd.Series([[int(age)] for age in frame["age"]], dtype=object)
    (folder / "people.csv").unlink()
    frame.to_parquet(folder / "people.parquet")
    _job('"people.csv"', '"people.parquet"')(folder)


DATA["truncated Parquet"] = _truncated_parquet
DATA["lists in Parquet"] = _nested_parquet
if os.name == "posix" and os.geteuid() != 0:  # nothing is closed to the superuser
    DATA["closed"] = _closed("people.csv")

# Wrong for commands that read the job.
JOBS: dict[str, Spoil] = {
    "one row": _text("\n".join(CSV.splitlines()[:2]) + "\n"),
    "job missing": _no("job.toml"),
    "job a folder": _folder("job.toml"),
    "job a pipe": _pipe("job.toml"),
    "job empty": _whole(""),
    "job binary": _whole(JUNK),
    "job UTF-16": _whole(JOB.encode("utf-16")),
    "job huge": _whole(JOB + "#" * 5_000_000),
    "job of a thousand columns": _whole(
        JOB.replace(
            "[search]", "\n".join(f'c{i} = "sensitive"' for i in range(1000)) + "\n[search]"
        )
    ),
    "job nested": _whole("a = " + "[" * 100_000),
    "job no TOML": _whole(JOB + "\nseed = = 3\n"),
    "job key twice": _whole(JOB + "\nseed = 3\n"),
    "unknown key": _job("seed = 7", "sed = 7"),
    "unknown table": _whole(JOB + "\n[serch]\nseed = 1\n"),
    "unknown role": _job('"sensitive"', '"secret"'),
    "unknown hierarchy": _job('"flat"', '"flt"'),
    "unknown problem": _whole(JOB + '\n[problem]\nname = "Cut"\n'),
    "NUL in the name of a file": _job('"people.csv"', '"people\\u0000.csv"'),
    "NUL in the name of a hierarchy": _job('"job.csv"', '"job\\u0000.csv"'),
    "file far away": _job('"people.csv"', '"' + "x" * 300 + '.csv"'),
    "data a number": _whole("data = 3\n"),
    "columns a list": _whole('columns = [1]\n[data]\nfile = "people.csv"\n'),
    "encoding unknown": _job('"people.csv"', '"people.csv"\nencoding = "utf-9"'),
    "encoding no text": _job('"people.csv"', '"people.csv"\nencoding = "hex"'),
    "encoding NUL": _job('"people.csv"', '"people.csv"\nencoding = "a\\u0000b"'),
    "encoding undefined": _job('"people.csv"', '"people.csv"\nencoding = "undefined"'),
    "encoding idna": _job('"people.csv"', '"people.csv"\nencoding = "idna"'),
    "separator a quote": _job('"people.csv"', '"people.csv"\nseparator = "\\""'),
    "separator a line end": _job('"people.csv"', '"people.csv"\nseparator = "\\n"'),
    "separator NUL": _job('"people.csv"', '"people.csv"\nseparator = "\\u0000"'),
    "hierarchy missing": _no("job.csv"),
    "hierarchy a folder": _folder("job.csv"),
    "hierarchy a pipe": _pipe("job.csv"),
    "hierarchy empty": _tree(""),
    "hierarchy binary": _tree(JUNK),
    "hierarchy latin-1": _tree("à;x;*\n".encode("latin-1")),
    "hierarchy with a cycle": _tree("a;b;*\nb;a;*\nc;x;*\nd;x;*\ne;x;*\nf;x;*\n"),
    "hierarchy with a longer cycle": _tree(
        "a;x;y;*\nb;y;x;*\nc;x;y;*\nd;x;y;*\ne;y;x;*\nf;x;y;*\n"
    ),
    "hierarchy not a tree": _tree("a;x;u\nb;x;v\nc;x;u\nd;x;u\ne;x;u\nf;x;u\n"),
    "hierarchy without a root": _tree("a;x\nb;y\nc;x\nd;x\ne;x\nf;x\n"),
    "hierarchy with a value twice": _tree("a;x;*\na;y;*\nb;x;*\nc;x;*\nd;x;*\ne;x;*\nf;x;*\n"),
    "hierarchy uneven": _tree("a;x;*\nb;*\nc;x;*\nd;x;*\ne;x;*\nf;x;*\n"),
    "hierarchy not covering": _tree("a;x;*\nb;x;*\n"),
    "hierarchy open quotes": _tree('a;"x;*\n'),
    "hierarchy with a gigantic field": _tree("a;" + "x" * 50_000_000 + ";*\n"),
    "hierarchy of ten thousand levels": _tree(";".join(["a"] * 10_000) + "\n"),
    "intervals beside the data": _job(
        'hierarchy = "ordered"',
        'hierarchy = { kind = "intervals", low = 0, high = 30, widths = [5] }',
    ),
    "intervals without end": _job(
        'hierarchy = "ordered"',
        'hierarchy = { kind = "intervals", low = 0, high = 1e300, widths = [5] }',
    ),
    "intervals of nan": _job(
        'hierarchy = "ordered"',
        'hierarchy = { kind = "intervals", low = nan, high = inf, widths = [5] }',
    ),
    "a huge seed": _job("seed = 7", f"seed = {10**400}"),
    "a huge population": _job("population = 20", "population = 10000000000000"),
    "no generations": _job("generations = 12", "generations = 0"),
    "seconds of nan": _job("generations = 12", "seconds = nan"),
    "seconds of inf": _job("generations = 12", "seconds = inf"),
}
_WRONG = {
    "text": '"x"',
    "number": "-3",
    "float": "1e400",
    "nan": "nan",
    "true": "true",
    "list": '[1, "a", []]',
    "table": "{ a = 1 }",
    "date": "2020-01-01",
    "time": "07:32:00",
}
for _key in (
    "file",
    "separator",
    "encoding",
    "missing_values",
    "missing",
    "others",
    "domain",
    "target",
    "subject",
):
    for _kind, _value in _WRONG.items():
        JOBS[f"data {_key} {_kind}"] = (
            _job('file = "people.csv"', f"file = {_value}")
            if _key == "file"
            else _job('file = "people.csv"', f'file = "people.csv"\n{_key} = {_value}')
        )
for _key in ("role", "hierarchy", "weight", "min_level", "max_level", "fixed_cuts"):
    for _kind, _value in _WRONG.items():
        _old = {"role": '"quasi-identifying"', "hierarchy": '"ordered"'}.get(_key)
        _line = 'age = { role = "quasi-identifying", hierarchy = "ordered" }'
        _new = (
            _line.replace(_old, _value) if _old else _line.replace(" }", f", {_key} = {_value} }}")
        )
        JOBS[f"column {_key} {_kind}"] = _job(_line, _new)
for _key in ("algorithm", "population", "generations", "evaluations", "seconds", "seed"):
    for _kind, _value in _WRONG.items():
        _lines = {
            "population": "population = 20",
            "generations": "generations = 12",
            "seed": "seed = 7",
        }
        _line = _lines.get(_key, "[search]")
        JOBS[f"search {_key} {_kind}"] = _job(
            _line, f"{'[search]' if _key not in _lines else ''}\n{_key} = {_value}\n"
        )
for _key in (
    "name",
    "max_suppression",
    "privacy",
    "loss",
    "objectives",
    "constraints",
    "extras",
    "threads",
):
    for _kind, _value in _WRONG.items():
        JOBS[f"problem {_key} {_kind}"] = _whole(f"{JOB}\n[problem]\n{_key} = {_value}\n")
FINE = ("encoding idna", "hierarchy without a root")
"""Jobs among them that are not wrong after all."""
