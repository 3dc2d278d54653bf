"""Jobs on the disk, and the command line called as a person calls it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from privmoo.cli import main as command
from privmoo.cli.console import state

PEOPLE = """name,age,zip,ill
Ada,31,14260,flu
Ben,32,14221,flu
Cem,33,14228,asthma
Dana,45,14301,flu
Eva,46,14304,asthma
Finn,47,14304,gout
Gül,61,90210,gout
Hugo,62,90213,flu
Ines,63,90291,asthma
Jan,64,90210,flu
"""

JOB = """
[data]
file = "people.csv"

[columns]
name = "identifying"
ill = "sensitive"

[columns.age]
role = "quasi-identifying"
hierarchy = { kind = "intervals", low = 0, high = 99, widths = [5, 10, 20] }

[columns.zip]
role = "quasi-identifying"
hierarchy = "masking"

[problem]
name = "BudgetSuppression"
max_suppression = 0.2

[search]
population = 10
generations = 5
seed = 1
"""


def job_in(folder: Path, text: str = JOB, people: str = PEOPLE) -> Path:
    """A job and its records in a folder."""
    (folder / "people.csv").write_text(people, encoding="utf-8")
    path = folder / "privmoo.toml"
    path.write_text(text, encoding="utf-8")
    return path


def call(*arguments: object, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a command, in this process."""
    monkeypatch.setattr(sys, "argv", ["privmoo", *map(str, arguments)])
    monkeypatch.setattr(state, "show_values", False)
    monkeypatch.setattr(state, "data", None)
    return command.outcome()
