"""Jobs whose records stay on the disk: the same verbs, the same front."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import privmoo as pm
from privmoo.errors import ConfigError
from tests.scenery.jobs import JOB, call, job_in

SCAN = JOB.replace('file = "people.csv"', 'file = "people.csv"\nscan = true')
Said = pytest.CaptureFixture[str]


def test_the_same_front_and_a_release_from_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    job = job_in(tmp_path, SCAN)
    assert call("check", job, monkeypatch=monkeypatch) == 0
    scanned = capsys.readouterr().out
    out = tmp_path / "out"
    assert call("run", job, "-o", out, "-q", monkeypatch=monkeypatch) == 0
    public = tmp_path / "public.csv"
    words = ["release", out, "--min-k", 2, "--best", "loss", "-o", public, "--csv-safe"]
    assert call(*words, monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    stated = json.loads((tmp_path / "public.certificate.json").read_text())
    rows = pd.read_csv(public)
    assert list(rows) == ["age", "zip", "ill"]
    assert stated["privacy"]["k"] == rows.groupby(["age", "zip"]).size().min() >= 2
    assert call(*words, monkeypatch=monkeypatch) == 2
    assert "exists already" in capsys.readouterr().err
    alone = ["release", out, "--solution", 0, "-o", tmp_path / "other.csv"]
    if pd.read_csv(out / "front.csv")["k"][0] == 1:
        assert call(*alone, monkeypatch=monkeypatch) == 2
        assert "--allow-unique" in capsys.readouterr().err
    job_in(tmp_path)
    assert call("check", job, monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out == scanned
    assert call("run", job, "-o", tmp_path / "memory", "-q", monkeypatch=monkeypatch) == 0
    assert (tmp_path / "memory/front.csv").read_bytes() == (out / "front.csv").read_bytes()


def test_a_folder_of_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    job = job_in(tmp_path, SCAN.replace("people.csv", "parts"))
    people = pd.read_csv(tmp_path / "people.csv")
    (tmp_path / "parts").mkdir()
    for i in range(2):
        people.iloc[i::2].to_parquet(tmp_path / "parts" / f"{i}.parquet", index=False)
    out = tmp_path / "out"
    assert call("run", job, "-o", out, "-q", monkeypatch=monkeypatch) == 0
    inputs = json.loads((out / "run.json").read_text())["inputs"]
    assert sorted(inputs) == ["parts/0.parquet", "parts/1.parquet", "privmoo.toml"]
    people.to_parquet(tmp_path / "parts" / "2.parquet", index=False)
    assert call("choose", out, "--knee", monkeypatch=monkeypatch) == 2
    assert "parts/2.parquet has changed since the run" in capsys.readouterr().err


def test_what_a_job_says_of_its_scan(tmp_path: Path) -> None:
    more = SCAN.replace("scan = true", 'scan = true\nmemory = "200MB"\nmax_tuples = 5')
    with pytest.raises(pm.errors.TableError, match="max_tuples"):
        _ = pm.Config.load(job_in(tmp_path, more)).table
    for line in ('memory = "1GB"', "max_tuples = 9", 'temporary = "."'):
        text = JOB.replace('file = "people.csv"', f'file = "people.csv"\n{line}')
        with pytest.raises(ConfigError, match="needs scan = true"):
            pm.Config.load(job_in(tmp_path, text))
    wrong = SCAN.replace("scan = true", 'scan = true\ntemporary = "none"')
    with pytest.raises(pm.errors.TableError, match=r"temporary: there is no folder .*none"):
        _ = pm.Config.load(job_in(tmp_path, wrong)).table
    wrong = SCAN.replace("scan = true", 'scan = true\nmemory = "much"')
    with pytest.raises(pm.errors.TableError, match="memory: must be a size"):
        _ = pm.Config.load(job_in(tmp_path, wrong)).table


def test_a_ranking_needs_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    assert call("analyse", job_in(tmp_path, SCAN), monkeypatch=monkeypatch) == 2
    assert "analyse: needs single records" in capsys.readouterr().err


@pytest.mark.parametrize("job", [JOB, SCAN])
def test_records_are_not_written_over(
    job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    out, records = tmp_path / "out", tmp_path / "people.csv"
    assert call("run", job_in(tmp_path, job), "-o", out, "-q", monkeypatch=monkeypatch) == 0
    before = records.read_bytes()
    words = ["release", out, "--min-k", 2, "--best", "loss", "-o", records, "--force"]
    assert call(*words, monkeypatch=monkeypatch) == 2
    assert "people.csv: the run has read this file" in capsys.readouterr().err
    assert records.read_bytes() == before


def test_clusters_from_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    own = 'name = "MOOBAM"\nn_clusters = 4\nk = 2\nassignment = "nearest"'
    text = SCAN.replace('name = "BudgetSuppression"\nmax_suppression = 0.2', own)
    job = job_in(tmp_path, text.replace('assignment = "nearest"', ""))
    assert call("run", job, "-o", tmp_path / "none", "-q", monkeypatch=monkeypatch) == 2
    assert "use assignment='nearest', or split=0" in " ".join(capsys.readouterr().err.split())
    for folder, words in (("scanned", text), ("memory", text.replace("scan = true\n", ""))):
        job = job_in(tmp_path, words)
        out = tmp_path / folder
        assert call("run", job, "-o", out, "-q", monkeypatch=monkeypatch) == 0
        public = ["release", out, "--solution", 0, "-o", tmp_path / f"{folder}.csv"]
        assert call(*public, monkeypatch=monkeypatch) == 0
    fronts = [(tmp_path / name / "front.csv").read_bytes() for name in ("scanned", "memory")]
    assert fronts[0] == fronts[1]
    rows = [pd.read_csv(tmp_path / f"{name}.csv") for name in ("scanned", "memory")]
    columns = list(rows[0])
    assert (
        rows[0]
        .sort_values(columns, ignore_index=True)
        .equals(rows[1].sort_values(columns, ignore_index=True))
    )


def test_a_folder_of_parts_is_audited_as_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    job_in(tmp_path)
    frame = pd.read_csv(tmp_path / "people.csv", dtype={"zip": str})
    parts = tmp_path / "parts"
    parts.mkdir()
    for i, rows in enumerate((frame[:7], frame[7:])):
        rows.to_csv(parts / f"part-{i}.csv", index=False)
    words = ["--qi", "age,zip", "--sensitive", "ill", "--json"]
    said = []
    for data in ([tmp_path / "people.csv"], [tmp_path / "people.csv", "--scan"], [parts]):
        assert call("audit", *data, *words, monkeypatch=monkeypatch) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1] == said[2]


def test_every_family_from_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SCAN[: SCAN.index("[problem]")] + "[search]\ngenerations = 2\nseed = 1\n"
    for folder, job in (("scanned", text), ("memory", text.replace("scan = true\n", ""))):
        out = tmp_path / folder
        assert call("run", job_in(tmp_path, job), "-o", out, "-q", monkeypatch=monkeypatch) == 0
    fronts = [(tmp_path / name / "front.csv").read_bytes() for name in ("scanned", "memory")]
    assert fronts[0] == fronts[1]
    job_in(tmp_path, text)
    words = ["release", tmp_path / "scanned", "--min-k", 2, "--best", "loss"]
    assert call(*words, "-o", tmp_path / "public.csv", monkeypatch=monkeypatch) == 0
    assert len(pd.read_csv(tmp_path / "public.csv"))
