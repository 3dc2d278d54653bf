"""privmoo attack, as a publisher uses it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.scenery.jobs import call

Said = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a release in steps of five years, the people in it, and as many others."""
    rng = np.random.default_rng(0)
    for name in ("people", "others"):
        frame = pd.DataFrame(
            {
                "age": rng.integers(20, 60, 200),
                "job": rng.choice(["nurse", "doctor", "cook"], 200),
                "ill": rng.choice(list("abc"), 200),
            }
        )
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    people = pd.read_csv(tmp_path / "people.csv")
    low = people["age"] // 5 * 5
    people["age"] = [f"{a}–{a + 4}" for a in low]
    people["job"] = people["job"].map({"nurse": "care", "doctor": "care", "cook": "cook"})
    people.to_csv(tmp_path / "public.csv", index=False)
    (tmp_path / "job.csv").write_text("nurse;care;*\ndoctor;care;*\ncook;cook;*\n", "utf-8")
    return tmp_path


def words(files: Path, *more: str) -> tuple[str, ...]:
    paths = (str(files / "public.csv"), "--original", str(files / "people.csv"))
    control = ("--control", str(files / "others.csv"), "--qi", "age,job")
    return "attack", *paths, *control, "--hierarchy", f"job={files / 'job.csv'}", *more


def test_inference_is_found(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    assert call(*words(files, "--sensitive", "ill"), monkeypatch=monkeypatch) == 0
    text = capsys.readouterr().out
    assert "The release helps these attacks against people in the table: inference of ill" in text
    assert call(*words(files, "--sensitive", "ill", "--json"), monkeypatch=monkeypatch) == 0
    lines = json.loads(capsys.readouterr().out)
    assert lines[0]["gain"] == pytest.approx(lines[0]["success"] - lines[0]["control"])


def test_nothing_is_claimed_where_nothing_is_gained(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    assert call(*words(files), monkeypatch=monkeypatch) == 0
    assert "beyond chance. Other attacks may." in capsys.readouterr().out


def test_control_people_of_the_table_are_refused(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    people = pd.read_csv(files / "people.csv")
    for others in (people, people.sample(50, random_state=1)):
        others.to_csv(files / "others.csv", index=False)
        assert call(*words(files), monkeypatch=monkeypatch) == 2
        assert "pass people who are not in the table" in capsys.readouterr().err


def test_wrong_input_is_one_sentence(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    assert call(*words(files, "--hierarchy", "job"), monkeypatch=monkeypatch) == 2
    assert "must be COLUMN=FILE" in capsys.readouterr().err
    assert call(*words(files)[:-2], monkeypatch=monkeypatch) == 2
    assert "pass the hierarchy with --hierarchy COLUMN=FILE" in capsys.readouterr().err
    assert call(*words(files, "--sensitive", "age"), monkeypatch=monkeypatch) == 2
    assert "column 'age' is a quasi-identifier too" in capsys.readouterr().err
    assert call(*words(files, "--hierarchy", "jab=jab.csv"), monkeypatch=monkeypatch) == 2
    assert call(*words(files, "--seed", "-1"), monkeypatch=monkeypatch) == 2
    capsys.readouterr()
    assert call(*words(files, "--sensitive", "il"), monkeypatch=monkeypatch) == 2
    assert "column 'il' is not in it; did you mean 'ill'?" in capsys.readouterr().err
