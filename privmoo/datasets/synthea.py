"""Synthea's synthetic patients and their care plans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from privmoo._util.checks import choice
from privmoo.datasets._files import files_in, read_strings
from privmoo.errors import TableError, nearest

__all__ = ["load_synthea"]

DATES = ("BIRTHDATE", "DEATHDATE", "START", "STOP")
NUMBERS = ("LAT", "LON", "HEALTHCARE_EXPENSES", "HEALTHCARE_COVERAGE", "INCOME")
PATIENT_COLUMNS = ("Id", "BIRTHDATE", "GENDER", "RACE", "ETHNICITY")
PLAN_COLUMNS = ("PATIENT", "START", "CODE", "DESCRIPTION")


def load_synthea(
    source: str | Path | Sequence[str | Path],
    *,
    careplans: bool = True,
    without_plan: Literal["keep", "drop"] = "keep",
) -> pd.DataFrame:
    r"""Read Synthea's patients, joined with their care plans: one row per plan.

    A patient with several plans has several rows, so pass `subject="Id"` to `Table`: k then counts
    patients. The columns of a plan are called `PLAN_…`; dates become dates, and ZIP, FIPS and SNOMED codes
    stay texts (ZIP and FIPS with their leading zeros). Empty cells are missing.

    Args:
        source: A folder with `patients.csv` and `careplans.csv` (names that contain these words,
            compressed or not), or the patients' file, or both files.
        careplans: Whether to join the care plans; without them there is one row per patient.
        without_plan: Whether to keep patients without a care plan, as one row each.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "patients.csv").write_text(
    ...         "Id,BIRTHDATE,GENDER,RACE,ETHNICITY,ZIP\na,1993-07-09,M,asian,hispanic,2139\n")
    ...     _ = Path(folder, "careplans.csv").write_text(
    ...         "Id,START,STOP,PATIENT,CODE,DESCRIPTION\np,2018-10-14,,a,53950000,Therapy\n")
    ...     frame = load_synthea(folder)
    >>> frame[["Id", "ZIP", "PLAN_DESCRIPTION"]].to_dict("records")
    [{'Id': 'a', 'ZIP': '02139', 'PLAN_DESCRIPTION': 'Therapy'}]
    """
    choice("without_plan", without_plan, ("keep", "drop"), error=TableError)
    patients_file, plans_file = _files(source, careplans=careplans)
    patients = read_strings(patients_file)
    _require(patients_file, patients, PATIENT_COLUMNS)
    doubtful = patients["Id"].isna() | patients["Id"].duplicated()
    _check(patients_file, "Id", doubtful, "a key of its own: it is empty or used before")
    patients = _convert_types(patients_file, patients)
    if plans_file is None:
        return patients
    plans = read_strings(plans_file)
    _require(plans_file, plans, PLAN_COLUMNS)
    stray = ~plans["PATIENT"].isin(patients["Id"])
    _check(plans_file, "PATIENT", stray, f"the Id of a patient in {patients_file.name}")
    plans = _convert_types(plans_file, plans)
    plans = plans.rename(columns={name: f"PLAN_{name.upper()}" for name in plans.columns})
    how: Literal["left", "inner"] = "left" if without_plan == "keep" else "inner"
    people = patients.merge(plans, how=how, left_on="Id", right_on="PLAN_PATIENT")
    return people.drop(columns="PLAN_PATIENT")


def _files(
    source: str | Path | Sequence[str | Path], *, careplans: bool
) -> tuple[Path, Path | None]:
    if isinstance(source, str | Path):
        path = Path(source)
        files = files_in(path if path.is_dir() or not path.is_file() else path.parent)
        if path.is_file():
            files = [path, *(file for file in files if "careplan" in file.name.lower())]
    else:
        files = [Path(file) for file in source]
    where = source if isinstance(source, str | Path) else ", ".join(str(file) for file in files)
    file_of: dict[str, Path] = {}
    for word in ("patients", "careplans") if careplans else ("patients",):
        fitting = [file for file in files if word in file.name.lower()]
        if len(fitting) != 1:
            what = "no file" if not fitting else f"{len(fitting)} files"
            raise TableError(f"{where}: {what} named …{word}….csv; exactly one is needed")
        file_of[word] = fitting[0]
    return file_of["patients"], file_of.get("careplans")


def _require(path: Path, frame: pd.DataFrame, names: Sequence[str]) -> None:
    for name in names:
        if name not in frame.columns:
            raise TableError(
                f"{path}: column {name!r} is missing, so this is not a Synthea file of this kind"
                f"{nearest(name, frame.columns)}"
            )


def _convert_types(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    for name in DATES:
        if name in frame.columns:
            dates = pd.to_datetime(frame[name], format="ISO8601", errors="coerce", utc=True)
            _check(path, name, dates.isna() & frame[name].notna(), "a date")
            frame[name] = dates.dt.tz_localize(None)
    for name in NUMBERS:
        if name in frame.columns:
            numbers = pd.to_numeric(frame[name], errors="coerce")
            wrong = (numbers.isna() & frame[name].notna()) | numbers.abs().eq(float("inf"))
            _check(path, name, wrong, "a finite number")
            frame[name] = numbers.astype("float64")
    for name in ("ZIP", "FIPS"):
        if name in frame.columns:
            frame[name] = frame[name].str.zfill(5)
    return frame


def _check(path: Path, name: str, wrong: pd.Series[bool], kind: str) -> None:
    if wrong.any():
        raise TableError(
            f"{path}: column {name!r}, row {int(wrong.to_numpy().argmax()) + 1} "
            f"after the header is not {kind}"
        )
